// Limits in a task hierarchy: a cascade of quadratic programs, one for each level.
//
// Limits have priority over all tasks. In variables c = (s, z) with inputs x = K c, K = [to_x internal], each
// level minimizes the error of its rows over the null space of the levels above, within all limits:
//
//   min |A (c + Z y) - b|^2    subject to    lower <= R C K (c + Z y) <= upper, and cones                 (1)
//
// The Hessian of (1) is made regular by a little of |y|^2 in the null space of the level, which is moved to
// the solution and so does not bias it. After the levels come s nearest to `rest` and x nearest to `near`.
#pragma once

#include "control/limited_inputs.hpp"
#include "control/priority_levels.hpp"

SARRUS_BEGIN

constexpr double SLACK = 1e-9;  // of all bounds against rounding from level to level, relative to the largest
constexpr double FLAT = 1e-7;   // of |y|^2 relative to the largest eigenvalue of the Hessian
constexpr int ROUNDS = 3;       // in which it is moved to the solution

template <class T>
struct CascadeProblem {
  int n, r, k, levels, m;
  const T *to_x, *internal;         // (n, r), (n, n - r)
  const T *A, *b, *zero, *damping;  // rows of all levels (k, r), (k), (levels), (levels)
  const long long* ends;            // (levels)
  const T *start, *rest;       // (r) solution without limits, goal in the null space of all levels or null
  const T* near;               // (n) goal for x in what causes no acceleration, or null for zero
  const T *R, *lower, *upper;  // (m, n), (m), (m)
  InputMetric<T> metric;
  T rank_tol, tol;
  Cones<T> cones;  // on u
};

template <class T>
struct CascadeWork {
  LevelWork<T> level;
  ConeWork<T> cone;
  ProgramWork<T>& program;
  T *K, *CK, *RK, *wide, *right;         // (n, n), (n, n), (m, n), (most, n), (most)
  T *c, *Z, *next, *H, *A, *low, *high;  // (n), (n, n) twice, (n, n), (m, n), (m), (m)
  T *goal, *centre, *y, *slack_low, *slack_high;
  T *cone_RK, *cone_at, *cone_A, *cone_b;  // (3 cones, n) and (3 cones) for c and for y
  Cones<T> cones;                          // on y
  const T* best;                           // y of the last program
  int iterations, variables;

  static SARRUS_HD int most_rows(int n, int k) { return n > k ? n : k; }
  SARRUS_HD CascadeWork(int n, int k, int m, int cones_, Arena& arena)
      : level(most_rows(n, k), n, arena), cone(n, m, cones_, arena), program(cone.program) {
    arena.take(3 * cones_ * n, cone_RK, cone_A);
    arena.take(3 * cones_, cone_at, cone_b);
    arena.take(n * n, K, CK, Z, next, H);
    arena.take(m * n, RK, A);
    arena.take(most_rows(n, k) * n, wide);
    arena.take(most_rows(n, k), right);
    arena.take(n, c, goal, centre, y);
    arena.take(m, low, high, slack_low, slack_high);
  }
};

// One program in y; the goal itself where it lies within all rows
template <class T>
SARRUS_FN ProgramStatus nearest_to_goal(int open, int m, const T* H, const Hints& hints, T tol,
                                        CascadeWork<T>& w, bool again = false) {
  T size = T(1);
  bool inside = true;
  for (int i = 0; i < open; ++i) size = abs_(w.goal[i]) > size ? abs_(w.goal[i]) : size;
  for (int r = 0; r < m && inside; ++r) {
    T at = inner(w.A + r * open, w.goal, open);
    inside = !(at > w.high[r] || at < w.low[r]);
  }
  if (inside && w.cones.count) inside = evaluate_cones(w.cones, w.goal, open, w.cone) <= 0;
  if (inside) return INSIDE;
  Program<T> p{open, m, w.goal, H, w.A, w.low, w.high, tol * size, hints.rows, hints.count};
  ProgramSolution<T> best = w.cones.count ? solve_cone_program(p, w.cones, w.cone)
                            : again       ? solve_again(p, w.program)
                                          : solve_program(p, w.program);
  w.iterations += best.iterations, w.best = best.z;
  w.variables = open > w.variables ? open : w.variables;
  return best.status;
}

// Rows on y, and their bounds, at c
template <class T>
SARRUS_HD void rows_at(const CascadeProblem<T>& in, int open, const T* lower, const T* upper,
                       CascadeWork<T>& w) {
  for (int r = 0; r < in.m; ++r) {
    const T* row = w.RK + r * in.n;
    T at = inner(row, w.c, in.n);
    w.low[r] = lower[r] - at, w.high[r] = upper[r] - at;
    for (int e = 0; e < open; ++e) w.A[r * open + e] = T(0);
    for (int i = 0; i < in.n; ++i) add_scaled(w.A + r * open, row[i], w.Z + i * open, open);
  }
  for (int r = 0; r < 3 * in.cones.count; ++r) {
    const T* row = w.cone_RK + r * in.n;
    w.cone_b[r] = w.cone_at[r] + inner(row, w.c, in.n);
    for (int e = 0; e < open; ++e) w.cone_A[r * open + e] = T(0);
    for (int i = 0; i < in.n; ++i) add_scaled(w.cone_A + r * open, row[i], w.Z + i * open, open);
  }
}

// H of (1) for a level that was split into directions
template <class T>
SARRUS_HD void level_hessian(const LevelSolution<T>& found, int open, T* H) {
  int left = open - found.rank;
  T flat = real<T>(FLAT) * (found.values[0] * found.values[0] + found.damped);
  for (int i = 0; i < open; ++i)
    for (int j = 0; j <= i; ++j) {
      T s = T(0);
      for (int e = 0; e < found.rank; ++e)
        s += (found.values[e] * found.values[e] + found.damped) * found.used[i * found.rank + e] *
             found.used[j * found.rank + e];
      for (int e = 0; e < left; ++e) s += flat * found.left[i * left + e] * found.left[j * left + e];
      H[i * open + j] = H[j * open + i] = s;
    }
}

// w.y: the step of one level within the limits; false where a program did not converge
template <class T>
SARRUS_FN bool step_within(const CascadeProblem<T>& in, const LevelSolution<T>& found, int open, Hints& hints,
                           CascadeWork<T>& w) {
  int left = open - found.rank;
  for (int i = 0; i < open; ++i) w.centre[i] = w.goal[i] = found.y[i], w.y[i] = T(0);
  if (found.rank == 0) {
    for (int i = 0; i < open; ++i) w.y[i] = w.centre[i];
    return true;
  }
  level_hessian(found, open, w.H);
  rows_at(in, open, w.slack_low, w.slack_high, w);
  bool solved = false;
  for (int round = 0; round < (left ? ROUNDS : 1); ++round) {
    ProgramStatus status = nearest_to_goal(open, in.m, w.H, hints, in.tol, w, solved);
    if (status == NOT_CONVERGED) return false;
    if (status == INFEASIBLE) return true;
    solved = status == OPTIMAL;
    const T* best = status == INSIDE ? w.goal : w.best;
    T moved = T(0), size = T(1);
    for (int i = 0; i < open; ++i) {
      T by = abs_(best[i] - w.y[i]);
      moved = by > moved ? by : moved;
      w.y[i] = best[i];
    }
    if (status == INSIDE && round == 0) return true;
    if (status == OPTIMAL && !w.cones.count) remember(w.program.active, w.program.q, hints);
    for (int i = 0; i < open; ++i) size = abs_(w.y[i]) + 1 > size ? abs_(w.y[i]) + 1 : size;
    if (moved <= real<T>(1e-12) * size) return true;
    for (int i = 0; i < open; ++i) w.goal[i] = w.centre[i];
    for (int e = 0; e < left; ++e) {
      T along = T(0);
      for (int i = 0; i < open; ++i) along += found.left[i * left + e] * w.y[i];
      for (int i = 0; i < open; ++i) w.goal[i] += found.left[i * left + e] * along;
    }
  }
  return true;
}

// One level with rows w.wide (k, n): c += Z y, Z <- Z left   out: number of directions that stay open, -1
// where it failed
template <class T>
SARRUS_FN int descend(const CascadeProblem<T>& in, int k, T zero, T damping, int open, Hints& hints,
                      CascadeWork<T>& w) {
  LevelProblem<T> rows{k, in.n, open, w.wide, w.right, w.c, w.Z, zero * in.rank_tol, damping};
  LevelSolution<T> found = split_level(rows, w.level);
  if (found.rank < 0 || !step_within(in, found, open, hints, w)) return -1;
  int left = open - found.rank;
  for (int i = 0; i < in.n; ++i) {
    w.c[i] += inner(w.Z + i * open, w.y, open);
    for (int e = 0; e < left; ++e) {
      T s = T(0);
      for (int m = 0; m < open; ++m) s += w.Z[i * open + m] * found.left[m * left + e];
      w.next[i * left + e] = s;
    }
  }
  swap_(w.Z, w.next);
  return left;
}

// K, R C K, bounds with slack, and the start c = (start, 0), Z = 1
template <class T>
SARRUS_FN void begin_cascade(const CascadeProblem<T>& in, CascadeWork<T>& w) {
  int n = in.n, r = in.r;
  T largest = T(0);
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j < r; ++j) w.K[i * n + j] = in.to_x[i * r + j];
    for (int j = r; j < n; ++j) w.K[i * n + j] = in.internal[i * (n - r) + j - r];
    for (int j = 0; j < n; ++j) w.Z[i * n + j] = T(i == j ? 1 : 0);
    w.c[i] = T(0);
  }
  apply_metric(in.metric, w.K, n, n, w.CK);
  for (int i = 0; i < in.m; ++i) {
    for (int j = 0; j < n; ++j) w.RK[i * n + j] = T(0);
    for (int j = 0; j < n; ++j) add_scaled(w.RK + i * n, in.R[i * n + j], w.CK + j * n, n);
    for (int side = 0; side < 2; ++side) {
      T bound = side ? in.upper[i] : in.lower[i];
      if (bound - bound == 0 && abs_(bound) > largest) largest = abs_(bound);  // finite
    }
  }
  for (int r = 0; r < 3 * in.cones.count; ++r) {
    w.cone_at[r] = in.cones.at[r];
    for (int j = 0; j < n; ++j) w.cone_RK[r * n + j] = T(0);
    for (int j = 0; j < n; ++j) add_scaled(w.cone_RK + r * n, in.cones.R[r * n + j], w.CK + j * n, n);
  }
  w.cones = {in.cones.count, w.cone_A, w.cone_b, in.cones.along};
  T slack = real<T>(SLACK) * (largest + real<T>(1));
  for (int i = 0; i < in.m; ++i) w.slack_low[i] = in.lower[i] - slack, w.slack_high[i] = in.upper[i] + slack;
  w.iterations = w.variables = 0;
}

// out: w.c   All levels within the limits; INFEASIBLE where no inputs keep all of them
template <class T>
SARRUS_FN ProgramStatus solve_cascade(const CascadeProblem<T>& in, Hints& hints, CascadeWork<T>& w) {
  int n = in.n, r = in.r, open = n, begin = 0;
  begin_cascade(in, w);
  rows_at(in, n, in.lower, in.upper, w);
  for (int i = 0; i < n; ++i) w.goal[i] = i < r ? in.start[i] : T(0);
  for (int i = 0; in.near && i < n; ++i) add_scaled(w.goal + r, in.near[i], in.internal + i * (n - r), n - r);
  ProgramStatus status = nearest_to_goal(n, in.m, static_cast<const T*>(nullptr), hints, in.tol, w);
  if (status == INFEASIBLE || status == NOT_CONVERGED) return status;
  for (int i = 0; i < n; ++i) w.c[i] = status == INSIDE ? w.goal[i] : w.best[i];
  for (int l = 0; l < in.levels && open >= 0; begin = static_cast<int>(in.ends[l++])) {
    int k = static_cast<int>(in.ends[l]) - begin;
    for (int i = 0; i < k; ++i) {
      w.right[i] = in.b[begin + i];
      for (int j = 0; j < n; ++j) w.wide[i * n + j] = j < r ? in.A[(begin + i) * r + j] : T(0);
    }
    open = descend(in, k, in.zero[l], in.damping[l], open, hints, w);
  }
  for (int i = 0; i < r; ++i) {
    w.right[i] = in.rest ? in.rest[i] : T(0);
    for (int j = 0; j < n; ++j) w.wide[i * n + j] = T(i == j ? 1 : 0);
  }
  if (open >= 0) open = descend(in, r, T(1), T(0), open, hints, w);
  for (int i = 0; i < n; ++i) w.right[i] = in.near ? in.near[i] : T(0);
  for (int i = 0; i < n * n; ++i) w.wide[i] = w.K[i];
  if (open >= 0) open = descend(in, n, sqrt_(inner(w.K, w.K, n * n)), T(0), open, hints, w);
  return open < 0 ? NOT_CONVERGED : OPTIMAL;
}

SARRUS_END
