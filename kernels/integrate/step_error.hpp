// What steps of fixed size lose, from the states themselves.
//
// Over two equal steps h the states satisfy the equations of motion integrated by Simpson's rule,
//
//   v2 - v0 = h/3 (a0 + 4 a1 + a2),      the same for increments of q and their rates              (1)
//
// up to h^5/90 a''''. Inputs that jump between the two steps break (1). With a1 at the end of a step under
// the inputs of that step, coordinates that are numbers satisfy
//
//   q1 - q0 = h/2 (v0 + v1) + h^2/12 (a0 - a1)                                                     (2)
//
// up to h^5/720 a'''. On y'' = -rate^2 y, z = h rate, that is z^5/720 of the amplitude, and a step of rk4
// errs by z^5/120.
#pragma once

#include "integrate/end_of_step.hpp"

SARRUS_BEGIN

// States, a step h apart
struct Reached {
  const double *q[3], *v[3], *a[3];
  double h;
};
// What is missing in positions and in velocities, the largest entries without units
struct Lost {
  double moved, faster;
};

// What is missing in (1)   room: (4 nv)
SARRUS_FN Lost missing_in_two_steps(const Model<double>& m, const Reached& x, double* room) {
  double *ahead = room, *behind = room + m.nv, *rate0 = room + 2 * m.nv, *rate2 = room + 3 * m.nv;
  difference(m, x.q[1], x.q[0], behind);
  difference(m, x.q[1], x.q[2], ahead);
  increment_rate(m, behind, x.v[0], rate0);
  increment_rate(m, ahead, x.v[2], rate2);
  double third = x.h / 3;
  for (int j = 0; j < m.nv; ++j) {
    ahead[j] -= behind[j] + third * (rate0[j] + 4 * x.v[1][j] + rate2[j]);
    behind[j] = x.v[2][j] - x.v[0][j] - third * (x.a[0][j] + 4 * x.a[1][j] + x.a[2][j]);
  }
  return {largest(m, ahead), largest(m, behind)};
}

// What is missing in (2), from the states 0 and 1, the largest entry without units
SARRUS_FN double missing_in_one_step(const Model<double>& m, const Reached& x) {
  double most = 0;
  for (int i = 1; i < m.nn; ++i) {
    if (joint_nv(m.joint[i]) != 1) continue;
    int k = m.iv[i], j = m.iq[i];
    double rates = (x.v[0][k] + x.v[1][k]) / 2 + x.h / 12 * (x.a[0][k] - x.a[1][k]);
    double gap = abs_(x.q[1][j] - x.q[0][j] - x.h * rates) / m.unit[k];
    most = gap <= most ? most : gap;
  }
  return most;
}

// What a step of fixed size loses, from its two ends. The first end is kept here while the step is taken.
//
//   v1 - v0 = h/2 (a0 + a1)      up to h^3/12 a'', of the speed that is z^3/12                       (3)
//
// (3), and the same for positions, is what methods of low order lose. It also serves where (2) says nothing:
// for balls and free bodies, and next to singular poses, where a state between branches loses speed in a
// jump. Of short steps the stages know z, and z^5/120 costs nothing; adaptive steps lose what their tolerance
// allows, each.
template <class T>
struct StepLoss {
  static constexpr double SHORT_WAY = 0.1;  // radians or L: steps that go further are tested
  static constexpr double SHORT = 0.22;     // z of steps that are not tested: 4e-6
  static constexpr double OVER_CUBIC = 30;  // error of rk4 on linkages over what is missing in (2)
  static constexpr double REGULAR = 5e-2;   // pivots below are next to singular poses

  T *q0 = nullptr, *v0 = nullptr, *a0 = nullptr, *room = nullptr, *rate = nullptr;
  double t0 = 0, pivot0 = 0, error = 0;  // so far, relative to one radian or L and to the speed
  int rank0 = 0;
  long evaluations0 = 0;

  void bind(const Model<T>& m, Arena& arena, int ld) {
    arena.take(m.nq, q0);
    arena.take(ld, v0, a0, room, rate);
  }
  void begin(const auto& s) {
    copy(q0, s.q, s.m.nq);
    copy(v0, s.v, s.m.nv);
    copy(a0, s.a, s.m.nv);
    t0 = s.t, pivot0 = s.pivot, rank0 = s.rank, evaluations0 = s.evaluations;
  }
  // A part of the step has ended in the state of s.
  void end(auto& s) {
    if (s.rank == s.m.nv) return;
    if (s.o.method.adaptive) {
      error += s.o.rtol * steps_since(s);
      return;
    }
    double h = s.t - t0, speed = larger(largest(s.m, v0), largest(s.m, s.v));
    if (!(speed > 0)) return;
    bool regular = smaller(pivot0, s.pivot) > REGULAR && s.rank == rank0;
    double z = regular ? rate_of_stages(s, h, speed) : 1;
    if (z < SHORT) {
      error += z * z * z * z * z / 120;
      return;
    }
    if (s.t >= s.end && !accelerate_accepted(s, s.t, s.projects())) {
      s.status = StepStatus::FINE;
      error = NO_END;
      return;
    }
    error += regular ? missing_of_regular(s, h, speed) : lost_in_jump(s, h, speed);
    if (!(error < NO_END)) error = NO_END;
  }

 private:
  static constexpr double NO_END = 1e300;  // nothing can be said but that it is wrong

  // Steps since the beginning, those that were rejected included
  double steps_since(const auto& s) const {
    int stages = s.o.method.tableau.stages > 1 ? s.o.method.tableau.stages - 1 : 1;
    return larger(1., double(s.evaluations - evaluations0) / stages);
  }
  // z of a step h, from how far it goes and how much the accelerations of its stages differ; 1 of long steps
  double rate_of_stages(const auto& s, double h, double speed) {
    if (s.o.method.splitting.stages || h * speed > SHORT_WAY) return 1;
    double most = 0;
    for (int i = 1; i < s.o.method.tableau.stages; ++i) {
      set_difference(room, s.kv + i * s.w.ld, a0, s.m.nv);
      most = larger(most, largest(s.m, room));
    }
    return larger(h * speed, sqrt_(h * most / speed));
  }
  double missing_of_regular(const auto& s, double h, double speed) {
    if (s.o.method.order < 4) return larger(missing_in_way(s, h), missing_in_speed(s, h, speed));
    Reached two = {{q0, s.q}, {v0, s.v}, {a0, s.a}, h};
    double quickest = larger(largest(s.m, a0), largest(s.m, s.a));
    double found = OVER_CUBIC * missing_in_one_step(s.m, two) * (1 + quickest / (speed * speed));
    bool numbers = all_of(s.m.nn - 1, [&](int i) { return joint_nv(s.m.joint[i + 1]) <= 1; });
    if (numbers) return found;
    // z^5/120 where (3) misses z^3/12
    return larger(found, __builtin_pow(12 * missing_in_speed(s, h, speed), 5.0 / 3) / 120);
  }
  // What is missing in the increments integrated by the same rule: what methods of low order lose
  double missing_in_way(const auto& s, double h) {
    difference(s.m, q0, s.q, room);
    increment_rate(s.m, room, s.v, rate);
    for (int j = 0; j < s.m.nv; ++j) room[j] -= h / 2 * (v0[j] + rate[j]);
    return largest(s.m, room);
  }
  // What is missing in (3), of the speed
  double missing_in_speed(const auto& s, double h, double speed) {
    for (int j = 0; j < s.m.nv; ++j) room[j] = s.v[j] - v0[j] - h / 2 * (a0[j] + s.a[j]);
    return largest(s.m, room) / speed;
  }
  // The same next to singular poses, where accelerations are uncertain: a velocity that stays where it was
  // has not jumped
  double lost_in_jump(const auto& s, double h, double speed) {
    set_difference(room, s.v, v0, s.m.nv);
    double jump = largest(s.m, room) / speed;
    return smaller(jump, missing_in_speed(s, h, speed));
  }
};

SARRUS_END
