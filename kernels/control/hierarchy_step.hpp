// The part of a control step that solves levels of priority, without limits and within them.
#pragma once

#include "control/limited_levels.hpp"
#include "control/measured_state.hpp"

SARRUS_BEGIN

constexpr double SHARED = 1e-8;  // weight of shares of redundant rows, relative to inputs

// Most shares of redundant rows that limits can leave a choice of
template <class T>
SARRUS_HD int most_shares(const ControlSetup<T>& s) {
  return s.limits.m || s.limits.cones ? s.model->nc : 0;
}

// Inputs (n) within the bounds of motors: against rounding of the programs
template <class T>
SARRUS_HD void keep_motor_bounds(const ControlSetup<T>& s, T* u) {
  for (int i = 0; s.limits.least && i < s.n; ++i) {
    if (u[i] < s.limits.least[i]) u[i] = s.limits.least[i];
    if (u[i] > s.limits.most[i]) u[i] = s.limits.most[i];
  }
}

// Room for the levels of any state
template <class T>
SARRUS_HD void bind_levels(const ControlSetup<T>& s, Arena& arena, ControlFound<T>& f) {
  int nv = s.model->nv;
  arena.take(nv * nv, f.basis.E, f.levels.Z);
  arena.take(s.n * nv, f.basis.to_x);
  arena.take(s.n * s.n, f.basis.internal);
  arena.take(s.k * nv, f.levels.A);
  arena.take(s.k, f.levels.b);
  arena.take(s.levels, f.levels.zero, f.levels.damped);
  arena.take(nv, f.levels.s, f.free, f.s, f.rest);
  arena.take(s.levels * nv * nv, f.levels.left);
  arena.take(s.levels + 1, f.levels.open);
  arena.take(s.levels, f.ends);
  arena.take(3 * s.levels, f.judged);
}

template <class T>
SARRUS_HD InputMetric<T> metric_of(const ControlSetup<T>& s, const ControlFound<T>& f) {
  return s.mass_metric ? InputMetric<T>{f.metric, false} : s.metric;
}

// Accelerations that the actuators control, kept in f
template <class T>
SARRUS_FN ControlStatus find_basis(const ControlSetup<T>& s, ControlFound<T>& f, Arena arena) {
  ControllableProblem<T> p{view_of(s, f), metric_of(s, f), s.min_controllability, &f.ranks};
  ControllableWork<T> w(p, arena);
  ControllableBasis<T> found = controllable_basis(p, w), kept = f.basis;
  if (!found.inertia) return WITHOUT_INERTIA;
  if (found.r < 0) return NOT_FINITE;
  copy(kept.E, found.E, p.nv * found.r);
  copy(kept.to_x, found.to_x, p.n * found.r);
  copy(kept.internal, found.internal, p.n * (p.n - found.r));
  f.basis = found;
  f.basis.E = kept.E, f.basis.to_x = kept.to_x, f.basis.internal = kept.internal;
  return STEPPED;
}

// f.ends: number of rows of the active tasks down to each level; damping (levels): the largest of its tasks
template <class T>
SARRUS_HD void find_ends(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                         T* damping) {
  for (int l = 0, t = 0, k = 0; l < s.levels; ++l) {
    damping[l] = T(0);
    for (; t < s.tasks && s.task[t].level == l; ++t) {
      if (in.on && !in.on[t]) continue;
      k += s.task[t].kept;
      if (s.task[t].damping > damping[l]) damping[l] = s.task[t].damping;
    }
    f.ends[l] = k;
  }
}

// f.rest (r): acceleration due to null torque and null-space damping; false without both
template <class T>
SARRUS_HD bool find_rest(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f, T* force) {
  int nv = s.model->nv, r = f.basis.r;
  if (!in.null_force && s.damping == 0) return false;
  for (int i = 0; i < nv; ++i)
    force[i] = (in.null_force ? in.null_force[i] : T(0)) - s.damping * inner(f.M + i * nv, f.v, nv);
  for (int e = 0; e < r; ++e) {
    f.rest[e] = sum_of<T>(nv, [&](int i) { return f.basis.E[i * r + e] * force[i]; });
  }
  return true;
}

// Levels without limits
template <class T>
SARRUS_FN ControlStatus find_levels(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                                    Arena arena) {
  ControlStatus status = find_basis(s, f, arena);
  if (status != STEPPED) return status;
  int r = f.basis.r, n = s.n, k = f.k;
  T* force;
  arena.take(2 * s.model->nv, force);
  f.least.rank = n, f.least.rows = 0;
  find_ends(s, in, f, f.levels.damped);
  PriorityProblem<T> p{view_of(s, f), {k, f.task_J, f.wanted, f.row_unit},
                       s.levels,      r,
                       f.ends,        f.levels.damped,
                       f.basis.E,     f.basis.size,
                       s.rank_tol,    &f.ranks};
  PriorityWork<T> w(p, arena);
  PrioritySolution<T> found = solve_priorities(p, w), kept = f.levels;
  if (!found.finite) return NOT_FINITE;
  int open = found.open[s.levels];
  copy(kept.A, found.A, k * r), copy(kept.b, found.b, k), copy(kept.s, found.s, r);
  copy(kept.zero, found.zero, s.levels), copy(kept.damped, found.damped, s.levels);
  copy(kept.Z, found.Z, r * open), copy(kept.left, found.left, s.levels * r * r);
  for (int l = 0; l <= s.levels; ++l) kept.open[l] = found.open[l];
  f.levels = kept, f.levels.finite = true;
  copy(f.free, found.s, r);
  f.rests = find_rest(s, in, f, force);
  for (int e = 0; f.rests && e < open; ++e) {
    T along = sum_of<T>(r, [&](int i) { return found.Z[i * open + e] * f.rest[i]; });
    for (int i = 0; i < r; ++i) f.free[i] += found.Z[i * open + e] * along;
  }
  return STEPPED;
}

// Cones that f.u touches, counted behind the rows; -1 where it lies outside of one
template <class T>
SARRUS_HD int touched_cones(const ControlFound<T>& f, int n, T near, bool within, int count) {
  for (int i = 0; i < f.cones; ++i) {
    T y[3];
    for (int r = 0; r < 3; ++r) y[r] = f.cone_at[3 * i + r] + inner(f.cone_R + (3 * i + r) * n, f.u, n);
    T out = sqrt_(y[0] * y[0] + y[1] * y[1]) - y[2];
    if (within && out > 0) return -1;
    if (out >= -near) f.active[count++] = f.limits + i;
  }
  return count;
}

// Rows and cones of limits that f.u touches; -1 where it lies outside of one
template <class T>
SARRUS_HD int touched_rows(const ControlFound<T>& f, int n, T touch, bool within) {
  T largest = T(0);
  int count = 0;
  for (int pass = 0; pass < 2; ++pass)
    for (int r = 0; r < f.limits; ++r) {
      T y = inner(f.rows.R + r * n, f.u, n), near = touch * (largest + real<T>(1));
      if (within && (y > f.rows.upper[r] || y < f.rows.lower[r])) return -1;
      if (pass == 0)
        largest = larger(abs_(y), largest);
      else if (y >= f.rows.upper[r] - near || y <= f.rows.lower[r] + near)
        f.active[count++] = r;
    }
  return touched_cones(f, n, touch * (largest + real<T>(1)), within, count);
}

// What each level asks for, what limits took from it, and what it misses
template <class T>
SARRUS_HD void judge_levels(const ControlSetup<T>& s, ControlFound<T>& f) {
  int r = f.basis.r;
  for (int l = 0, k = 0; l < s.levels; ++l) {
    T* worst = f.judged + 3 * l;
    fill(worst, 3);
    for (; k < f.ends[l]; ++k) {
      T b = f.levels.b[k], free = inner(f.levels.A + k * r, f.free, r),
        got = inner(f.levels.A + k * r, f.s, r);
      const T sizes[3] = {abs_(b), abs_(free - got), abs_(b - got)};
      for (int i = 0; i < 3; ++i)
        if (!(sizes[i] <= worst[i])) worst[i] = sizes[i];
    }
  }
}

// The least inputs for the levels without limits, and in.offset as far as it causes no acceleration
template <class T>
SARRUS_HD void start_without_limits(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f) {
  int r = f.basis.r, n = s.n, left = n - r;
  copy(f.s, f.free, r);
  for (int i = 0; i < n; ++i) f.inputs[i] = inner(f.basis.to_x + i * r, f.free, r);
  for (int e = 0; in.offset && e < left; ++e) {
    T along = sum_of<T>(n, [&](int i) { return f.basis.internal[i * left + e] * in.offset[i]; });
    for (int i = 0; i < n; ++i) f.inputs[i] += f.basis.internal[i * left + e] * along;
  }
  apply_metric(metric_of(s, f), f.inputs, n, 1, f.u);
  fill(f.inputs + n, f.shares), fill(f.u + n, f.shares);
}

// Columns (n, cols) with a row of zeros for each share, and a unit column for each behind them where `own`
template <class T>
SARRUS_HD const T* widen(const T* X, int n, int cols, int shares, bool own, Arena& arena) {
  if (!shares) return X;
  int rows = n + shares, all = cols + (own ? shares : 0);
  T* wide;
  arena.take(rows * all, wide);
  fill(wide, rows * all);
  for (int i = 0; i < n; ++i) copy(wide + i * all, X + i * cols, cols);
  for (int e = 0; own && e < shares; ++e) wide[(n + e) * all + cols + e] = T(1);
  return wide;
}

// The inputs: those without limits where they keep all of them, otherwise a cascade of programs
template <class T>
SARRUS_FN void choose_within_levels(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                                    Arena arena) {
  int r = f.basis.r, n = s.n, nv = s.model->nv, shares = f.shares, wide = n + shares;
  f.program = INSIDE, f.limited = false, f.count = f.iterations = 0;
  start_without_limits(s, in, f);
  if (touched_rows(f, wide, s.touch, true) < 0) {
    T* damping;
    arena.take(s.levels, damping);
    find_ends(s, in, f, damping);
    InputMetric<T> metric = metric_of(s, f);
    metric.shares = shares;
    const T *to_x = widen(f.basis.to_x, n, r, shares, false, arena),
            *internal = widen(f.basis.internal, n, n - r, shares, true, arena),
            *near = in.offset ? widen(in.offset, n, 1, shares, false, arena) : nullptr;
    CascadeWork<T> w(wide, f.k, f.limits, f.cones, arena);
    CascadeProblem<T> p{wide,         r,
                        f.k,          s.levels,
                        f.limits,     to_x,
                        internal,     f.levels.A,
                        f.levels.b,   f.levels.zero,
                        damping,      f.ends,
                        f.free,       f.rests ? f.rest : nullptr,
                        near,         f.rows.R,
                        f.rows.lower, f.rows.upper,
                        metric,       s.rank_tol,
                        s.tol,        {f.cones, f.cone_R, f.cone_at, in.along}};
    f.program = solve_cascade(p, *in.hints, w);
    f.iterations = w.iterations, f.variables = w.variables;
    if (f.program != OPTIMAL) return;
    f.limited = true;
    copy(f.s, w.c, r);
    for (int i = 0; i < wide; ++i) f.inputs[i] = inner(w.K + i * wide, w.c, wide);
    apply_metric(metric, f.inputs, wide, 1, f.u);
    f.count = touched_rows(f, wide, s.touch, false);
  }
  keep_motor_bounds(s, f.u);
  judge_levels(s, f);
  for (int i = 0; i < nv; ++i) f.a[i] = f.response.a0[i] + inner(f.basis.E + i * r, f.s, r);
}

SARRUS_END
