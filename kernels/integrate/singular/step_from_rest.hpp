// The first step from rest at a singular pose.
//
// Errors made near the tip of the tangent cone grow like a power of t over the time at which they were made,
// and next to the tip rounding makes them. So no stage may lie there, as those of explicit methods do, and
// short steps are the bad ones. With a of integrate/singular/acceleration_at_rest.hpp at the beginning and
// the accelerations am, a1 in the middle and at the end, which have to be found together,
//
//   v(h/2) = h (5 a + 8 am - a1) / 24,      v(h) = h (a + 4 am + a1) / 6                                  (1)
//   u(h/2) = h^2 (7 a + 6 am - a1) / 96,    u(h) = h^2 (a + 2 am) / 6                                     (2)
//
// are the integrals of the parabola through them: Lobatto IIIA, order 4 [Hairer1996] sec. IV.5.
#pragma once

#include "integrate/end_of_step.hpp"

SARRUS_BEGIN

constexpr double FIRST_STEP = 1e-3;  // where it is free to be chosen, in 1/sqrt(largest |a|)
constexpr int LOBATTO_PASSES = 4;    // through (1) and (2), each a power of h better

// Whether the state is at rest at a singular pose, with the acceleration of
// integrate/singular/acceleration_at_rest.hpp.
SARRUS_HD bool rests_at_singular(const auto& s) {
  return s.projects() && s.held_rank > s.rank && !moving(s.v, s.m.nv);
}

// Whether it stays there: rigid to second order, solve/rigid_rows.hpp (1).
SARRUS_HD bool stays_at_rest(const auto& s) { return rests_at_singular(s) && s.held_rank == s.m.nv; }

// The same pose at time t, with forces evaluated there.
SARRUS_FN bool stay(auto& s, double t) {
  copy(s.q1, s.q, s.m.nq);
  copy(s.v1, s.v, s.w.ld);
  s.before.largest_rank = -1;  // more rows are independent nearby than the run has seen
  return project_and_accept(s, t);
}

SARRUS_HD double first_step_from_rest(const auto& s) { return FIRST_STEP / sqrt_(largest(s.m, s.a)); }

// s.q1, s.v1, s.u at the middle or the end of a step h, (1) and (2) with am = kv[1], a1 = kv[2]
template <class T, int LDC, class S>
SARRUS_FN void integrate_parabola(Stepper<T, LDC, S>& s, double h, bool end) {
  const T *middle = s.kv + s.w.ld, *last = middle + s.w.ld;
  double k = end ? h / 6 : h / 24;
  for (int j = 0; j < s.m.nv; ++j) {
    T rate = end ? s.a[j] + middle[j] * 4.0 + last[j] : s.a[j] * 5.0 + middle[j] * 8.0 - last[j];
    T way = end ? s.a[j] + middle[j] * 2.0 : (s.a[j] * 7.0 + middle[j] * 6.0 - last[j]) / 4.0;
    s.v1[j] = rate * k;
    s.u[j] = way * (k * h);
  }
  integrate(s.m, s.q, s.u, s.q1);
}

// s.q1, s.v1 after a step of size h, not projected yet.
SARRUS_FN bool trial_from_rest(auto& s, double h) {
  int ld = s.w.ld;
  for (int i = 1; i <= 2; ++i) copy(s.kv + i * ld, s.a, ld);
  for (int pass = 0; pass < LOBATTO_PASSES; ++pass)
    for (int i = 1; i <= 2; ++i) {
      double t = s.t + i * h / 2;
      integrate_parabola(s, h, i == 2);
      if (!project_stage(s, t) && s.status != StepStatus::FINE) return false;
      auto at = s.trial_state(t, i);
      if (!evaluate(s, at, {true, true, true})) return false;
      prepare_without_limits(s, s.held_rank);
      if (!accelerate(s, at, s.kv + i * ld)) return false;
    }
  integrate_parabola(s, h, true);
  return (finite(s.q1, s.m.nq) && finite(s.v1, s.m.nv)) || s.fail(StepStatus::NOT_FINITE);
}

SARRUS_END
