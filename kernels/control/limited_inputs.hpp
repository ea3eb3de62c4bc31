// Inputs within limits: those nearest to the least-norm inputs, in the directions that the outputs leave
// open.
//
//   u = C (x + Z z),   lower <= R u <= upper,   z nearest to z0                                           (1)
//
// [Aghili2011] eqs. (17), (18), with a basis Z in place of equality rows. Limits on multipliers become rows
// on inputs through lam = lam0 + Lam u. Where constraint rows depend on each other, how they share forces is
// chosen with the inputs, u = (inputs, shares): lam = lam0 + Lam u + sharing^T y.
#pragma once

#include "control/control_data.hpp"

SARRUS_BEGIN

// Y (n, cols) = C X
template <class T>
SARRUS_HD void apply_metric(const InputMetric<T>& metric, const T* X, int n, int cols, T* Y) {
  const T* C = metric.C;
  if (!C) return copy(Y, X, n * cols);
  int inputs = n - metric.shares;
  for (int i = 0; i < inputs; ++i)
    if (metric.diagonal)
      for (int c = 0; c < cols; ++c) Y[i * cols + c] = C[i] * X[i * cols + c];
    else
      combine_rows(Y + i * cols, C + i * inputs, X, inputs, cols);
  copy(Y + inputs * cols, X + inputs * cols, metric.shares * cols);
}

template <class T>
struct LimitedWork {
  T *x, *u, *y, *z0, *CZ, *A, *lower, *upper, *cone_R, *cone_at;
  int* active;
  ConeWork<T> program;

  SARRUS_HD LimitedWork(const LimitedProblem<T>& in, Arena& arena)
      : program(in.open, in.m, in.cones.count, arena) {
    arena.take(in.n, x, u);
    arena.take(in.m, y, lower, upper);
    arena.take(in.open, z0);
    arena.take(in.n * in.open, CZ);
    arena.take(in.m * in.open, A);
    arena.take(in.m + in.open + in.cones.count, active);
    arena.take(3 * in.cones.count * in.open, cone_R);
    arena.take(3 * in.cones.count, cone_at);
  }
};

// out: w.x, w.u and w.y = R u for z (open)
template <class T>
SARRUS_HD void evaluate_inputs(const LimitedProblem<T>& in, const T* z, LimitedWork<T>& w) {
  for (int i = 0; i < in.n; ++i) w.x[i] = in.x[i] + inner(in.Z + i * in.open, z, in.open);
  apply_metric(in.metric, w.x, in.n, 1, w.u);
  for (int r = 0; r < in.m; ++r) w.y[r] = inner(in.R + r * in.n, w.u, in.n);
}

// By how much w.u lies outside of cone i
template <class T>
SARRUS_HD T excess_of(const LimitedProblem<T>& in, int i, const LimitedWork<T>& w) {
  T y[3];
  for (int r = 0; r < 3; ++r)
    y[r] = inner(in.cones.R + (3 * i + r) * in.n, w.u, in.n) + in.cones.at[3 * i + r];
  return sqrt_(y[0] * y[0] + y[1] * y[1]) - y[2];
}

// Whether w.u lies within all rows and cones
template <class T>
SARRUS_HD bool lies_within(const LimitedProblem<T>& in, const LimitedWork<T>& w) {
  auto outside = [&](int r) { return w.y[r] > in.upper[r] || w.y[r] < in.lower[r]; };
  return !any_of(in.m, outside) && !any_of(in.cones.count, [&](int i) { return excess_of(in, i, w) > 0; });
}

// Rows and cones that w.u touches, into w.active; returns their number
template <class T>
SARRUS_HD int touched(const LimitedProblem<T>& in, LimitedWork<T>& w) {
  T near = in.touch * (largest_of(in.m, [&](int r) { return abs_(w.y[r]); }) + real<T>(1));
  int count = 0;
  for (int r = 0; r < in.m; ++r)
    if (w.y[r] >= in.upper[r] - near || w.y[r] <= in.lower[r] + near) w.active[count++] = r;
  for (int i = 0; i < in.cones.count; ++i)
    if (excess_of(in, i, w) >= -near) w.active[count++] = in.m + i;
  return count;
}

// z0 where it lies within all rows, otherwise the nearest z that does.
template <class T>
SARRUS_FN LimitedSolution<T> limited_inputs(const LimitedProblem<T>& in, LimitedWork<T>& w) {
  fill(w.z0, in.open);
  if (in.z0) copy(w.z0, in.z0, in.open);
  T size = larger(largest_of(in.open, [&](int i) { return abs_(w.z0[i]); }), T(1));
  evaluate_inputs(in, w.z0, w);
  if (lies_within(in, w)) return {INSIDE, w.x, w.u, w.z0, w.active, touched(in, w), 0};
  apply_metric(in.metric, in.x, in.n, 1, w.u);
  apply_metric(in.metric, in.Z, in.n, in.open, w.CZ);
  for (int r = 0; r < in.m; ++r) {
    const T* row = in.R + r * in.n;
    T at = inner(row, w.u, in.n);
    w.lower[r] = in.lower[r] - at, w.upper[r] = in.upper[r] - at;
    combine_rows(w.A + r * in.open, row, w.CZ, in.n, in.open);
  }
  Program<T> p{in.open, in.m, w.z0, in.H, w.A, w.lower, w.upper, in.tol * size, in.hint, in.hints};
  if (in.cones.count == 0) {
    ProgramSolution<T> best = solve_program(p, w.program.program);
    if (best.status == OPTIMAL) evaluate_inputs(in, best.z, w);
    return {best.status, w.x, w.u, best.z, best.active, best.count, best.iterations};
  }
  for (int r = 0; r < 3 * in.cones.count; ++r) {
    const T* row = in.cones.R + r * in.n;
    w.cone_at[r] = inner(row, w.u, in.n) + in.cones.at[r];
    combine_rows(w.cone_R + r * in.open, row, w.CZ, in.n, in.open);
  }
  Cones<T> cones{in.cones.count, w.cone_R, w.cone_at, in.cones.along};
  ProgramSolution<T> best = solve_cone_program(p, cones, w.program);
  if (best.status != OPTIMAL) return {best.status, w.x, w.u, best.z, w.active, 0, best.iterations};
  evaluate_inputs(in, best.z, w);
  return {OPTIMAL, w.x, w.u, best.z, w.active, touched(in, w), best.iterations};
}

SARRUS_HD void remember(const int* rows, int count, Hints& hints) {
  hints.count = count;
  copy(hints.rows, rows, count);
}

// Largest change of a row on multipliers under disturbances of length 1
template <class T>
SARRUS_HD T largest_change(const MultiplierLimits<T>& in, const T* row) {
  T squared = T(0);
  for (int e = 0; e < in.k; ++e) {
    T s = T(0);
    for (int c = 0; c < in.nc; ++c)
      if (row[c] != 0) s += row[c] * in.disturbance[c * in.k + e];
    squared += s * s;
  }
  return sqrt_(squared);
}

// R (m, n) = on_lam Lam + on_u, and the bounds less on_lam lam0. Rows without an upper bound are drawn in by
// their largest change, where disturbances are given.
template <class T>
SARRUS_FN void rows_on_inputs(const MultiplierLimits<T>& in, const InputRows<T>& out) {
  for (int r = 0; r < in.m; ++r) {
    T *row = out.R + r * in.n, at = T(0);
    fill(row, in.n);
    if (in.on_u) copy(row, in.on_u + r * in.n, in.n);
    for (int c = 0; c < in.nc; ++c) {
      T k = in.on_lam[r * in.nc + c];
      if (k == 0) continue;
      at += k * in.lam0[c];
      add_scaled(row, k, in.Lam + c * in.n, in.n);
    }
    out.lower[r] = in.lower[r] - at, out.upper[r] = in.upper[r] - at;
    if (!in.disturbance) continue;
    bool bounded = in.upper[r] - in.upper[r] == 0;  // finite
    out.reserve[r] = bounded ? T(0) : largest_change(in, in.on_lam + r * in.nc);
    out.lower[r] += out.reserve[r];
  }
}

SARRUS_END
