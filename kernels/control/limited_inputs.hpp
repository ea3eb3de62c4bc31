// Inputs within limits: those nearest to the least-norm inputs, in the directions that the outputs leave
// open.
//
//   u = C (x + Z z),   lower <= R u <= upper,   z nearest to z0                                           (1)
//
// [Aghili2011] eqs. (17), (18), with a basis Z in place of equality rows. Limits on multipliers become rows
// on inputs through lam = lam0 + Lam u.
#pragma once

#include "control/control_data.hpp"

SARRUS_BEGIN

// Y (n, cols) = C X
template <class T>
SARRUS_HD void apply_metric(const InputMetric<T>& metric, const T* X, int n, int cols, T* Y) {
  const T* C = metric.C;
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < cols; ++c) {
      T s = C ? T(0) : X[i * cols + c];
      if (C && metric.diagonal) s = C[i] * X[i * cols + c];
      if (C && !metric.diagonal)
        for (int k = 0; k < n; ++k) s += C[i * n + k] * X[k * cols + c];
      Y[i * cols + c] = s;
    }
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

// Rows and cones that w.u touches, into w.active; returns their number, or, asked for those that it lies
// `within`, -1 where it lies outside of one
template <class T>
SARRUS_HD int touched(const LimitedProblem<T>& in, bool within, LimitedWork<T>& w) {
  T largest = T(0), excess[3];
  for (int r = 0; r < in.m; ++r) {
    if (within && (w.y[r] > in.upper[r] || w.y[r] < in.lower[r])) return -1;
    T size = abs_(w.y[r]);
    if (size > largest) largest = size;
  }
  T near = in.touch * (largest + real<T>(1));
  int count = 0;
  for (int r = 0; r < in.m; ++r)
    if (w.y[r] >= in.upper[r] - near || w.y[r] <= in.lower[r] + near) w.active[count++] = r;
  for (int i = 0; i < in.cones.count; ++i) {
    for (int r = 0; r < 3; ++r)
      excess[r] = inner(in.cones.R + (3 * i + r) * in.n, w.u, in.n) + in.cones.at[3 * i + r];
    T out = sqrt_(excess[0] * excess[0] + excess[1] * excess[1]) - excess[2];
    if (within && out > 0) return -1;
    if (out >= -near) w.active[count++] = in.m + i;
  }
  return count;
}

// z0 where it lies within all rows, otherwise the nearest z that does.
template <class T>
SARRUS_FN LimitedSolution<T> limited_inputs(const LimitedProblem<T>& in, LimitedWork<T>& w) {
  T size = T(1);
  for (int i = 0; i < in.open; ++i) {
    w.z0[i] = in.z0 ? in.z0[i] : T(0);
    if (abs_(w.z0[i]) > size) size = abs_(w.z0[i]);
  }
  evaluate_inputs(in, w.z0, w);
  int count = touched(in, true, w);
  if (count >= 0) return {INSIDE, w.x, w.u, w.z0, w.active, count, 0};
  apply_metric(in.metric, in.x, in.n, 1, w.u);
  apply_metric(in.metric, in.Z, in.n, in.open, w.CZ);
  for (int r = 0; r < in.m; ++r) {
    const T* row = in.R + r * in.n;
    T at = inner(row, w.u, in.n);
    w.lower[r] = in.lower[r] - at, w.upper[r] = in.upper[r] - at;
    for (int c = 0; c < in.open; ++c) {
      T s = T(0);
      for (int i = 0; i < in.n; ++i) s += row[i] * w.CZ[i * in.open + c];
      w.A[r * in.open + c] = s;
    }
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
    for (int c = 0; c < in.open; ++c) w.cone_R[r * in.open + c] = T(0);
    for (int i = 0; i < in.n; ++i) add_scaled(w.cone_R + r * in.open, row[i], w.CZ + i * in.open, in.open);
  }
  Cones<T> cones{in.cones.count, w.cone_R, w.cone_at, in.cones.along};
  ProgramSolution<T> best = solve_cone_program(p, cones, w.program);
  if (best.status != OPTIMAL) return {best.status, w.x, w.u, best.z, w.active, 0, best.iterations};
  evaluate_inputs(in, best.z, w);
  count = touched(in, false, w);
  return {OPTIMAL, w.x, w.u, best.z, w.active, count, best.iterations};
}

SARRUS_HD void remember(const int* rows, int count, Hints& hints) {
  hints.count = count;
  for (int i = 0; i < count; ++i) hints.rows[i] = rows[i];
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
    for (int i = 0; i < in.n; ++i) row[i] = in.on_u ? in.on_u[r * in.n + i] : T(0);
    for (int c = 0; c < in.nc; ++c) {
      T k = in.on_lam[r * in.nc + c];
      if (k == 0) continue;
      at += k * in.lam0[c];
      for (int i = 0; i < in.n; ++i) row[i] += k * in.Lam[c * in.n + i];
    }
    out.lower[r] = in.lower[r] - at, out.upper[r] = in.upper[r] - at;
    if (!in.disturbance) continue;
    bool bounded = in.upper[r] - in.upper[r] == 0;  // finite
    out.reserve[r] = bounded ? T(0) : largest_change(in, in.on_lam + r * in.nc);
    out.lower[r] += out.reserve[r];
  }
}

SARRUS_END
