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

// Sums of |J| |q| for rounded coordinates that are numbers, row by row, into w.extra, by entries
template <class T, int LDC, class S>
SARRUS_FN void sum_entries(const Stepper<T, LDC, S>& s) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>) {
    fill(s.x, s.w.ld);
    each_number(s.m, [&](int k, int at) { s.x[k] = s.q1[at]; });
    rows_times_sizes(s.m, s.w.factor.augmented, s.x, s.w.extra);
  }
}

// Whether nothing but rounding is left of phi: eps times what is added up in each row, |J| |q| for rounded
// coordinates and the distance from the origin for positions. Gears that have turned for hours have phi of
// 1e-10, and nothing mends it.
template <class T, int LDC, class S>
SARRUS_FN bool closed_to_rounding(const Stepper<T, LDC, S>& s, double closed) {
  const Model<real<T>>& m = s.m;
  const Workspace<T, LDC>& w = s.w;
  double far = largest_of(m.nn - 1,
                          [&](int i) { return double(value(sqrt_(dot(w.tree.p[i + 1], w.tree.p[i + 1])))); });
  if (w.by_entries) sum_entries(s);
  return all_of(m.nc, [&](int r) {
    double sum = m.row_unit[r] == 1 ? 0 : far;
    if (w.by_entries)
      sum += value(w.extra[r]);
    else
      each_number(m, [&](int k, int at) { sum += value(abs_(w.rows.J[r * w.ld + k] * s.q1[at])); });
    return value(abs_(w.rows.phi[r])) <= m.row_unit[r] * closed + ROW_ROUNDING * sum;
  });
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
    double most =
        largest_of(m.nc, [&](int r) { return double(largest_slope(w.rows.phi[r]) / m.row_unit[r]); });
    bool done = most <= SLOPES_CLOSED || most > 0.5 * last;
    last = most;
    return done;
  }
}

// One step of Newton's method from q1, with the factorization in w
SARRUS_FN void newton_step(auto& s) {
  negate(s.w.extra, s.w.rows.phi, s.m.nc);
  correction_step(s);
  integrate(s.m, s.q1, s.w.a, s.q2);
  copy(s.q1, s.q2, s.m.nq);
}

// Whether the residual of iteration i closes the loops: below `closed`, or all that rounding allows
SARRUS_HD bool closes_at(const auto& s, int i, double residual, double last, double closed) {
  if (residual <= closed) return true;
  bool stalls = residual > 0.5 * last;
  return stalls && (closed_to_rounding(s, closed) || (i > 2 && residual <= CLOSED_ENOUGH));
}

// A new factorization for Newton's method, whose residual was `last` an iteration before. Where the augmented
// inertia does not help it to close `open` loops, that is not tried again within this step.
SARRUS_FN void factorize_for_newton(auto& s, bool open, double residual, double last) {
  bool stalls = open && residual > 0.5 * last && residual > CLOSED_ENOUGH;
  if (stalls && s.w.factor.regular) s.regular.blocked = true;
  factorize_in_passing(s);
}

// M, where it is not there, and the factorization at the closed pose
SARRUS_FN bool finish_projection(auto& s, bool with_inertia) {
  if (!with_inertia) evaluate_inertia(s);
  factorize_in_passing(s);
  return true;
}

// q1 onto phi = 0 by Newton, with the factorization of the last stage while that converges fast. Leaves M and
// rows at the final q1 in w, factorized with a rank decided there.
SARRUS_FN bool project_position(auto& s, double t, double slow = SLOW) {
  auto& w = s.w;
  bool fresh = w.factor.rank != w.factor.rank_rows;
  double last = 1e300, slopes = 1e300, closed = s.before.close_to_rounding ? CLOSED_TIGHT : CLOSED;
  bool closes = false;
  for (int i = 0; i < NEWTON_STEPS; ++i) {
    if (!evaluate(s, s.trial_state(t, ROWS_ONLY), {true, fresh, false})) return false;
    double residual = value(position_residual(s.m, w));
    if (!(residual < 1e300)) return s.fail(StepStatus::NOT_FINITE);
    s.drift = residual;
    closes = closes || closes_at(s, i, residual, last, closed);
    if (closes && derivatives_closed(s.m, w, slopes)) return finish_projection(s, fresh);
    if (!closes && !fresh && residual > slow * last) {  // too slow: once more, with M and a new factorization
      fresh = true;
      last = 1e300;
      continue;
    }
    if (fresh) factorize_for_newton(s, !closes, residual, last);
    last = residual;
    newton_step(s);
  }
  return s.fail(StepStatus::NOT_CLOSED);
}

// v1 onto J v = b, with the factorization at q1.
SARRUS_FN void project_velocity(auto& s) {
  auto& w = s.w;
  velocity_residual(s.m, s.v1, w);
  correction_step(s);
  add(s.v1, w.a, s.m.nv);
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
  for (int k = 0; k < s.m.nv; ++k)
    if (!s.m.first_order[k]) s.v1[k] = scale * s.v1[k];
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
