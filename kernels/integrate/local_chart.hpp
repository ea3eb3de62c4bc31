// The constraint manifold about one state, in as many coordinates as there are freedoms.
//
//   q = integrate(q0, N_q y_q + across),  phi(q, t) = 0         v = N_v y_v + across,  J(q) v = b         (1)
//
// N spans the tangent directions at q0, orthonormal without units; `across` is orthogonal to it and found
// with the factorization of J at q or near it: with N1 the tangent directions there and x a solution of
// J x = g,
//
//   x + N1 c,   (N^T N1) c = -N^T x                                                                       (2)
//
// is the solution that leaves y alone. With u = difference(q0, q),
//   dy_q/dt = N_q^T T(u)^-1 v,   dy_v/dt = N_v^T a           [Spencer2004] eq. (2.15), (2.33)             (3)
// where T is dexp. Rows that restrict velocities only (rolling) have no part in positions: y_q is longer.
#pragma once

#include "integrate/project_step.hpp"

SARRUS_BEGIN

constexpr int MOST_CLOSING = 15;
constexpr double STAGE_CLOSED = 1e-13;         // last correction, without units
constexpr double STAGE_CLOSED_ENOUGH = 1e-10;  // where rounding does not allow more

// N (nv - rank, ld): the columns of Q that the constraints leave free, solve/factor/factorization.hpp (1)
template <class T>
SARRUS_FN int free_directions(const Factor<T>& f, int nv, int ld, T* N) {
  for (int i = f.rank; i < nv; ++i) {
    T* x = N + (i - f.rank) * ld;
    fill(x, ld);
    if constexpr (Plain<T>::value)
      if (f.sparse) {
        x[f.rows.col[i]] = T(1);
        for (int k = f.rank - 1; k >= 0; --k) reflect(f.rows, k, x);
        continue;
      }
    x[i] = T(1);
    for (int k = f.rank - 1; k >= 0; --k) axpy(x, -(f.beta[k] * dot(f.H + k * ld, x, ld)), f.H + k * ld, ld);
  }
  return nv - f.rank;
}

// x (ld) = unit . N y
template <class T>
SARRUS_HD void lift(const Model<real<T>>& m, const T* N, int n, const T* y, int ld, T* x) {
  if (n == 0) return fill(x, ld);
  combine(x, y, N, 0, n, ld);
  multiply(x, x, m.unit, m.nv);
}
// y (n) = N^T (x / unit); x has zeros behind its end
template <class T>
SARRUS_HD void reduce(const Model<real<T>>& m, const T* N, int n, const T* x, int ld, T* room, T* y) {
  copy(room, x, ld);
  divide(room, room, m.unit, m.nv);
  for (int i = 0; i < n; ++i) y[i] = dot(N + i * ld, room, ld);
}

// The factorization of the rows that restrict positions, with `rank` pivots, or as many as there are.
template <class T, int LDC>
SARRUS_FN void factorize_held(const Model<real<T>>& m, int rank, const Workspace<T, LDC>& w,
                              Chart<T, LDC>& chart) {
  copy(chart.J_held, w.rows.J, m.nc * w.ld);
  for (int r = 0; r < m.nc; ++r)
    if (!m.row_holonomic[r]) fill(chart.J_held + r * w.ld, w.ld);
  factorize(m, chart.J_held, static_cast<const T*>(nullptr), w.ld, rank, chart.held);
  complete(m, w.ld, chart.held);
}

// Directions at the pose of a stage, and (2).
template <class T>
SARRUS_FN bool compare(const Factor<T>& f, int nv, int ld, Directions<T>& d) {
  if (nv - f.rank != d.n) return false;
  d.both.n = f.rank ? d.n : 0;  // without constraints both are all directions
  if (f.rank == 0) return true;
  free_directions(f, nv, ld, d.here);
  for (int i = 0; i < d.n; ++i)
    for (int j = 0; j < d.n; ++j) d.both.A[i * d.n + j] = dot(d.N + i * ld, d.here + j * ld, ld);
  return factorize_lu(d.both);
}

// x (ld) <- x + N1 c, (2): the solution of J x = g with the local coordinates `wanted` (n), or zero
template <class T, int LDC>
SARRUS_FN void keep_coordinates(const Model<real<T>>& m, int ld, const Directions<T>& d, const T* wanted,
                                Chart<T, LDC>& chart, T* x) {
  reduce(m, d.N, d.n, x, ld, chart.y, chart.c);
  for (int i = 0; i < d.n; ++i) chart.c[i] = (wanted ? wanted[i] : T(0)) - chart.c[i];
  solve_lu(d.both, chart.c);
  lift(m, d.both.n ? d.here : d.N, d.n, chart.c, ld, chart.y);
  add(x, chart.y, m.nv);
}

// The chart about the state of s, whose factorization is in s.w.
SARRUS_FN bool open_chart(const auto& s, auto& chart) {
  auto& m = s.m;
  int ld = s.w.ld;
  copy(chart.q0, s.q, m.nq);
  chart.vel.n = free_directions(s.w.factor, m.nv, ld, chart.vel.N);
  if (chart.rolling) {
    factorize_held(m, -1, s.w, chart);
    chart.pos.n = free_directions(chart.held, m.nv, ld, chart.pos.N);
    if (!compare(chart.held, m.nv, ld, chart.pos)) return false;
  }
  return compare(s.w.factor, m.nv, ld, chart.vel);
}

// Factorizes at the rows and M of w, the rank of the chart held.
SARRUS_FN bool refactor(auto& s, auto& chart) {
  prepare_without_limits(s, s.held_rank);
  if (chart.rolling) {
    factorize_held(s.m, s.m.nv - chart.pos.n, s.w, chart);
    if (!compare(chart.held, s.m.nv, s.w.ld, chart.pos)) return false;
  }
  return compare(s.w.factor, s.m.nv, s.w.ld, chart.vel);
}

// w.a: what closes the rows at q1 across the tangent directions; its size without units
template <class T, int LDC, class S>
SARRUS_FN double closing_correction(Stepper<T, LDC, S>& s, Chart<T, LDC>& chart) {
  Workspace<T, LDC>& w = s.w;
  negate(w.extra, w.rows.phi, s.m.nc);
  smallest(s.m, w.ld, chart.position_rows(w.factor), w.extra, w.y, w.a);
  keep_coordinates(s.m, w.ld, chart.positions(), static_cast<const T*>(nullptr), chart, w.a);
  return largest(s.m, w.a);
}

// Whether a correction that follows one of size `before` is nothing but rounding
SARRUS_HD bool is_rounding(double size, double before) {
  return size <= STAGE_CLOSED || (size <= STAGE_CLOSED_ENOUGH && size > 0.5 * before);
}

// The last correction w.a, from which nothing follows for the factorization
SARRUS_FN void move_across(auto& s, auto* across, const auto& chart) {
  add(across, s.w.a, s.m.nv);
  add(s.u, s.w.a, s.m.nv);
  integrate(s.m, chart.q0, s.u, s.q1);
}

// s.u, s.q1 with local coordinates y: closed by Newton, starting with `across` and ending with it. Uses the
// last factorization while that converges fast. Leaves s.w factorized.
template <class T, int LDC, class S>
SARRUS_FN bool close_stage(Stepper<T, LDC, S>& s, double t, const T* y, T* across, Chart<T, LDC>& chart) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  bool fresh = false;
  double before = 1e300;
  for (int i = 0; i < MOST_CLOSING; ++i) {
    lift(m, chart.positions().N, chart.positions().n, y, w.ld, s.u);
    add(s.u, across, m.nv);
    integrate(m, chart.q0, s.u, s.q1);
    if (!evaluate(s, s.trial_state(t, ROWS_ONLY), {true, fresh, false})) return false;
    if (fresh && !refactor(s, chart)) return s.fail(StepStatus::NOT_CLOSED);
    double size = closing_correction(s, chart);
    if (!(size < 1e3)) return s.fail(StepStatus::NOT_CLOSED);
    bool exact = value(position_residual(m, w)) <= 2 * CLOSED_TIGHT;  // what is left of phi is rounding
    if (exact || is_rounding(size, before)) {
      if (!exact) move_across(s, across, chart);
      if (!fresh) evaluate_inertia(s);
      return fresh || refactor(s, chart) || s.fail(StepStatus::NOT_CLOSED);
    }
    add(across, w.a, m.nv);
    fresh = size > SLOW * before;
    before = size;
  }
  return s.fail(StepStatus::NOT_CLOSED);
}

// s.v1 on the constraints with local coordinates y, at the factorized pose of a stage.
SARRUS_FN void close_velocity(auto& s, const auto* y, auto& chart) {
  smallest(s.m, s.w.ld, s.w.factor, s.w.rows.b, s.w.y, s.v1);
  keep_coordinates(s.m, s.w.ld, chart.vel, y, chart, s.v1);
}

// The chart about the state for the stages of a step near a singular pose: of mechanisms with one freedom,
// whose branches are smooth curves. With more of them such a pose may be the tip of a cone, next to
// which the tangent directions turn within a step and no chart is any good.
SARRUS_FN bool open_stage_chart(auto& s) {
  auto& m = s.m;
  if (m.sparse || s.held_rank > s.rank || m.nv - s.rank != 1) return false;
  copy(s.q1, s.q, m.nq);
  copy(s.v1, s.v, s.w.ld);
  if (!evaluate(s, s.trial_state(s.t, ROWS_ONLY), {true, false, false})) return false;
  factorize(m, s.w.rows.J, static_cast<decltype(s.w.M)>(nullptr), s.w.ld, s.rank, s.w.factor);
  complete(m, s.w.ld, s.w.factor);
  return open_chart(s, s.chart);
}

// Whether the stage (t, q1 = integrate(q, u), v1) could be closed, its local coordinates kept: the stages are
// then those of the same method for (3), whose right-hand side is smooth through a singular pose. Projection
// to the nearest pose is not, it bends by 1/p. Where Newton fails, and so close to the pose that rounding
// turns the tangent directions, the stage stays as it is.
template <class T, int LDC, class S>
SARRUS_FN bool close_charted_stage(Stepper<T, LDC, S>& s, double t) {
  const Model<real<T>>& m = s.m;
  Chart<T, LDC>& chart = s.chart;
  const Directions<T>& pos = chart.positions();
  int ld = s.w.ld;
  copy(chart.u, s.u, ld);
  reduce(m, pos.N, pos.n, s.u, ld, chart.y, chart.local);
  lift(m, pos.N, pos.n, chart.local, ld, chart.across);
  set_difference(chart.across, s.u, chart.across, m.nv);
  if (close_stage(s, t, chart.local, chart.across, chart) &&
      pivots_above(s.w, LOST_IN_PASSING) == s.w.factor.rank_rows) {
    reduce(m, chart.vel.N, chart.vel.n, s.v1, ld, chart.y, chart.local);
    close_velocity(s, chart.local, chart);
    return true;
  }
  s.recover();
  copy(s.u, chart.u, ld);
  integrate(m, s.q, s.u, s.q1);
  return false;
}

SARRUS_END
