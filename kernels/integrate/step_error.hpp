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

#include "integrate/stepper.hpp"

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

SARRUS_END
