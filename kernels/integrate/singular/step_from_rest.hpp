// The first step out of rest at a singular pose.
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

#include "integrate/project_step.hpp"

SARRUS_BEGIN

constexpr double OUT_OF_REST = 1e-3;  // step where it is free to be chosen, in 1/sqrt(largest |a|)
constexpr int PASSES_OUT = 4;         // through (1) and (2), each a power of h better

// Whether the state is at rest at a singular pose, with the acceleration of
// integrate/singular/acceleration_at_rest.hpp.
template <class T, int LDC>
SARRUS_HD bool leaves_rest(const Model<real<T>>& m, const Stepper<T, LDC>& s) {
  return s.hold > s.rank && !moving(s.v, m.nv);
}

template <class T, int LDC>
SARRUS_FN double step_out_of_rest(const Model<real<T>>& m, const Stepper<T, LDC>& s) {
  double most = 0;
  for (int j = 0; j < m.nv; ++j) {
    double x = value(abs_(s.a[j])) / m.unit[j];
    most = x > most ? x : most;
  }
  return OUT_OF_REST / sqrt_(most);
}

// s.q1, s.v1, s.u at the part 1/2 or 1 of a step h, from the accelerations kv[1], kv[2] there
template <class T, int LDC>
SARRUS_FN void parabola(const Model<real<T>>& m, double h, bool end, Stepper<T, LDC>& s) {
  const T *middle = s.kv + s.w.ld, *last = middle + s.w.ld;
  double k = end ? h / 6 : h / 24;
  for (int j = 0; j < m.nv; ++j) {
    T rate = end ? s.a[j] + middle[j] * 4.0 + last[j] : s.a[j] * 5.0 + middle[j] * 8.0 - last[j];
    T way = end ? s.a[j] + middle[j] * 2.0 : (s.a[j] * 7.0 + middle[j] * 6.0 - last[j]) / 4.0;
    s.v1[j] = rate * k;
    s.u[j] = way * (k * h);
  }
  integrate(m, s.q, s.u, s.q1);
}

// out: s.q1, s.v1 after a step of size h
template <class T, int LDC, class S>
SARRUS_FN bool trial_out_of_rest(const Model<real<T>>& m, S& source, double h, Stepper<T, LDC>& s) {
  int ld = s.w.ld;
  for (int i = 1; i <= 2; ++i) copy(s.kv + i * ld, s.a, ld);
  for (int pass = 0; pass < PASSES_OUT; ++pass)
    for (int i = 1; i <= 2; ++i) {
      double t = s.t + i * h / 2;
      parabola(m, h, i == 2, s);
      if (!land(m, source, t, s)) return false;
      if (!look(m, source, t, s.q1, s.v1, i, {true, true, true}, s)) return false;
      prepare(m, s.q1, s.v1, s.drive, s.user, s.hold, static_cast<Tangent<T, LDC>*>(nullptr), s.w);
      if (!answer(m, source, t, s.q1, s.v1, s.kv + i * ld, s)) return false;
    }
  parabola(m, h, true, s);
  return (finite(s.q1, m.nq) && finite(s.v1, m.nv)) || s.fail(NOT_FINITE);
}

SARRUS_END
