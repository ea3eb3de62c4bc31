// The stages of one step, and what they say about its error.
//
//   u' = increment_rate(u, v),  v' = a(q0 + u, v, t)     on the tangent space at the start of the step (1)
//
// (Runge-Kutta-Munthe-Kaas: orders hold for quaternions too.) The rank of J is decided on the manifold, at
// the start of the step, and held through its stages: off the manifold a redundant row becomes independent
// by the size of the drift.
#pragma once

#include "integrate/project_step.hpp"

SARRUS_BEGIN

// out: s.q1, s.v1 after a step of size h from (s.q, s.v, s.a)
template <class T, int LDC, class S>
SARRUS_FN bool trial(const Model<real<T>>& m, S& source, const Options& o, double h, Stepper<T, LDC>& s) {
  const Tableau& tab = o.tableau;
  int ld = s.w.ld;
  bool near = o.correction == PROJECT && m.nc > 0 && near_singular(s);
  copy(s.ku, s.v, ld);
  copy(s.kv, s.a, ld);
  for (int i = 1; i <= tab.stages; ++i) {
    const double* weights = i < tab.stages ? tab.A[i] : tab.b;
    fill(s.u, ld);
    copy(s.v1, s.v, ld);
    for (int j = 0; j < i && j < tab.stages; ++j) {
      if (weights[j] == 0) continue;
      axpy(s.u, T(h * weights[j]), s.ku + j * ld, ld);
      axpy(s.v1, T(h * weights[j]), s.kv + j * ld, ld);
    }
    if (i == tab.stages && o.semi_implicit)
      for (int j = 0; j < m.nv; ++j) s.u[j] = s.v1[j] * h;
    integrate(m, s.q, s.u, s.q1);
    if (i == tab.stages) break;
    double t = s.t + tab.c[i] * h;
    if (near && !land(m, source, t, s)) return false;
    if (!look(m, source, t, s.q1, s.v1, i, {true, true, true}, s)) return false;
    if (o.correction == BAUMGARTE) baumgarte(m, s.v1, o, s.w);
    prepare(m, s.q1, s.v1, s.drive, s.user, s.hold, static_cast<Tangent<T, LDC>*>(nullptr), s.w);
    if constexpr (!S::supplies_inertia)
      if (int sound = sound_pivots(h, s); o.correction == PROJECT && sound < s.w.factor.rank_rows)
        prepare_grazing(m, s.q1, s.v1, s.drive, s.user, sound, s.d, s.w);
    if (!answer(m, source, t, s.q1, s.v1, s.kv + i * ld, s)) return false;
    increment_rate(m, s.u, s.v1, s.ku + i * ld);
  }
  return (finite(s.q1, m.nq) && finite(s.v1, m.nv)) || s.fail(NOT_FINITE);
}

// Root mean square of the error estimate in units of the tolerance.
template <class T, int LDC>
SARRUS_FN double error_norm(const Model<real<T>>& m, const Options& o, double h, Stepper<T, LDC>& s) {
  double sum = 0;
  int ld = s.w.ld;
  for (int i = 1; i < m.nn; ++i) {
    int n = joint_nv(m.joint[i]);
    for (int k = m.iv[i]; k < m.iv[i] + n; ++k) {
      double eu = 0, ev = 0, size = n == 1 ? value(abs_(s.q[m.iq[i]])) : m.unit[k];
      for (int j = 0; j < o.tableau.stages; ++j) {
        eu += o.tableau.e[j] * value(s.ku[j * ld + k]);
        ev += o.tableau.e[j] * value(s.kv[j * ld + k]);
      }
      eu *= h / (o.atol + o.rtol * size);
      ev *= h / (o.atol + o.rtol * value(abs_(s.v1[k])));
      sum += eu * eu + ev * ev;
    }
  }
  return sqrt_(sum / (2 * m.nv));
}

SARRUS_END
