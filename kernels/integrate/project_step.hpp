// Projects a trial state onto the constraint manifold: Newton iterations for q, one linear solve for v. Also
// projects stages where a singular pose is near.
#pragma once

#include "integrate/singular/pivots.hpp"

SARRUS_BEGIN

// Newton with an old factorization must reduce the residual to this part of it, else there is a new one.
// After a drift the old one has its own merit (integrate/stages.hpp) and gets more time.
constexpr double SLOW = 0.03, SLOW_DRIFT = 0.1;
constexpr double SLOPES_CLOSED = 1e-13;        // derivatives of phi / row_unit
constexpr double ROW_ROUNDING = 8 * 2.22e-16;  // of what is added up in a row of constraints

// Whether nothing but rounding is left of phi: eps times what is added up in each row, |J| |q| for rounded
// coordinates and the distance from the origin for positions. Gears that have turned for hours have phi of
// 1e-10, and nothing mends it.
template <class T, int LDC, class S>
SARRUS_FN bool closed_to_rounding(const Stepper<T, LDC, S>& s, double closed) {
  const Model<real<T>>& m = s.m;
  const Workspace<T, LDC>& w = s.w;
  double far = 0;
  for (int i = 1; i < m.nn; ++i) {
    double away = value(sqrt_(dot(w.tree.p[i], w.tree.p[i])));
    far = away > far ? away : far;
  }
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.by_entries) {
      fill(s.x, w.ld);
      for (int i = 1; i < m.nn; ++i)
        if (joint_nv(m.joint[i]) == 1) s.x[m.iv[i]] = s.q1[m.iq[i]];
      rows_times_sizes(m, w.factor.augmented, s.x, w.extra);
    }
  for (int r = 0; r < m.nc; ++r) {
    double sum = m.row_unit[r] == 1 ? 0 : far;
    if (w.by_entries) sum += value(w.extra[r]);
    for (int i = 1; !w.by_entries && i < m.nn; ++i)
      if (joint_nv(m.joint[i]) == 1) sum += value(abs_(w.rows.J[r * w.ld + m.iv[i]] * s.q1[m.iq[i]]));
    if (!(value(abs_(w.rows.phi[r])) <= m.row_unit[r] * closed + ROW_ROUNDING * sum)) return false;
  }
  return true;
}

// w.a with J a = w.extra: of least kinetic energy, or the smallest without units [Aghili2005] eq. (37)
SARRUS_FN void correction_step(auto& s) {
  auto& w = s.w;
  if (s.o.euclidean) return smallest(s.m, w.ld, w.factor, w.extra, w.y, w.a);
  normal_step(s.m, w.extra, w);
}

// Whether the derivatives of phi are closed too, where the scalar has some: they converge as the values do,
// an iteration later. last: the largest of them an iteration before.
template <class T, int LDC>
SARRUS_FN bool derivatives_closed(const Model<real<T>>& m, const Workspace<T, LDC>& w, double& last) {
  if constexpr (Plain<T>::value) {
    return true;
  } else {
    double most = 0;
    for (int r = 0; r < m.nc; ++r) {
      double size = largest_slope(w.rows.phi[r]) / m.row_unit[r];
      most = size > most ? size : most;
    }
    bool done = most <= SLOPES_CLOSED || most > 0.5 * last;
    last = most;
    return done;
  }
}

// q1 onto phi = 0 by Newton, with the factorization of the last stage while that converges fast. Leaves M and
// rows at the final q1 in w, factorized with a rank decided there.
SARRUS_FN bool project_position(auto& s, double t, double slow = SLOW) {
  auto& m = s.m;
  auto& w = s.w;
  bool fresh = w.factor.rank != w.factor.rank_rows;
  double last = 1e300, slopes = 1e300, closed = s.before.close_to_rounding ? CLOSED_TIGHT : CLOSED;
  bool closes = false;
  for (int i = 0; i < NEWTON_STEPS; ++i) {
    if (!evaluate(s, s.trial_state(t, ROWS_ONLY), {true, fresh, false})) return false;
    double r = value(position_residual(m, w));
    if (!(r < 1e300)) return s.fail(StepStatus::NOT_FINITE);
    s.drift = r;
    closes = closes || r <= closed || (i > 0 && r > 0.5 * last && closed_to_rounding(s, closed)) ||
             (i > 2 && r <= CLOSED_ENOUGH && r > 0.5 * last);
    bool done = closes && derivatives_closed(m, w, slopes);
    if (!closes && fresh && w.factor.regular && r > 0.5 * last && r > CLOSED_ENOUGH) s.regular.blocked = true;
    if (!closes && !fresh && r > slow * last) {  // too slow: once more, with M and a new factorization
      fresh = true;
      last = 1e300;
      continue;
    }
    if (done && !fresh) evaluate_inertia(s);
    if (done || fresh) factorize_in_passing(s);
    if (done) return true;
    last = r;
    for (int k = 0; k < m.nc; ++k) w.extra[k] = -w.rows.phi[k];
    correction_step(s);
    integrate(m, s.q1, w.a, s.q2);
    for (int j = 0; j < m.nq; ++j) s.q1[j] = s.q2[j];
  }
  return s.fail(StepStatus::NOT_CLOSED);
}

// v1 onto J v = b, with the factorization at q1.
SARRUS_FN void project_velocity(auto& s) {
  auto& w = s.w;
  velocity_residual(s.m, s.v1, w);
  correction_step(s);
  for (int j = 0; j < s.m.nv; ++j) s.v1[j] += w.a[j];
}

// v1 to the energy to keep, along v: the gradient of the kinetic energy in the mass metric,
// [Spencer2004] 3.1.3
template <class T, int LDC, class S>
SARRUS_FN void scale_velocity(Stepper<T, LDC, S>& s) {
  T e[2];
  move(s.m, s.v1, s.w.tree);
  energy(s.m, s.q1, s.v1, s.w.tree, e);
  T ratio = (T(s.o.energy) - e[1]) / select(e[0] > real<T>(0), e[0], T(1));
  auto usable = e[0] > real<T>(0) && ratio > real<T>(0.25) && ratio < real<T>(4);
  T scale = select(usable, sqrt_(select(usable, ratio, T(1))), T(1));
  for (int j = 0; j < s.m.nv; ++j) s.v1[j] = s.v1[j] * scale;
}

// Whether the stage (t, q1, v1), with q1 = integrate(q, u), could be projected: off the constraints its
// acceleration is wrong by the drift of the stage, of order h^2, over the distance to the singular pose.
// Where Newton fails the stage stays as it is.
SARRUS_FN bool project_stage(auto& s, double t) {
  if (project_position(s, t)) {
    project_velocity(s);
    difference(s.m, s.q, s.q1, s.u);
    return true;
  }
  s.recover();
  integrate(s.m, s.q, s.u, s.q1);
  return false;
}

SARRUS_END
