// Limits in a task hierarchy: a cascade of quadratic programs, one for each level.
//
// Limits have priority over all tasks. In variables c = (s, z) with inputs x = K c, K = [to_x internal], each
// level minimizes the error of its rows over the null space of the levels above, within all limits:
//
//   min |A (c + Z y) - b|^2    subject to    lower <= R C K (c + Z y) <= upper, and cones                 (1)
//
// The Hessian of (1) is made regular by a little of |y|^2 in the null space of the level, which is moved to
// the solution and so does not bias it. After the levels come s nearest to `rest`, x nearest to `near`, and
// the smallest shares of redundant rows, which are the last of the n entries of x (metric.shares).
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
  T size = larger(largest_of(open, [&](int i) { return abs_(w.goal[i]); }), T(1));
  bool inside = all_of(m, [&](int r) {
    T at = inner(w.A + r * open, w.goal, open);
    return !(at > w.high[r] || at < w.low[r]);
  });
  if (inside && w.cones.count) inside = evaluate_cones(w.cones, w.goal, open, w.cone) <= 0;
  if (inside) return INSIDE;
  Program<T> p{open, m, w.goal, H, w.A, w.low, w.high, tol * size, hints.rows, hints.count};
  ProgramSolution<T> best = w.cones.count ? solve_cone_program(p, w.cones, w.cone)
                            : again       ? solve_again(p, w.program)
                                          : solve_program(p, w.program);
  w.iterations += best.iterations, w.best = best.z;
  w.variables = larger(open, w.variables);
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
    combine_rows(w.A + r * open, row, w.Z, in.n, open);
  }
  for (int r = 0; r < 3 * in.cones.count; ++r) {
    const T* row = w.cone_RK + r * in.n;
    w.cone_b[r] = w.cone_at[r] + inner(row, w.c, in.n);
    combine_rows(w.cone_A + r * open, row, w.Z, in.n, open);
  }
}

// H of (1) for a level that was split into directions
template <class T>
SARRUS_HD void level_hessian(const LevelSolution<T>& found, int open, T* H) {
  int left = open - found.rank;
  T flat = real<T>(FLAT) * (found.values[0] * found.values[0] + found.damped);
  for (int i = 0; i < open; ++i)
    for (int j = 0; j <= i; ++j) {
      T s = sum_of<T>(found.rank, [&](int e) {
        return (found.values[e] * found.values[e] + found.damped) * found.used[i * found.rank + e] *
               found.used[j * found.rank + e];
      });
      for (int e = 0; e < left; ++e) s += flat * found.left[i * left + e] * found.left[j * left + e];
      H[i * open + j] = H[j * open + i] = s;
    }
}

// w.goal: the solution of the level, moved to w.y along the directions that it leaves open
template <class T>
SARRUS_HD void move_goal(const LevelSolution<T>& found, int open, CascadeWork<T>& w) {
  int left = open - found.rank;
  copy(w.goal, w.centre, open);
  for (int e = 0; e < left; ++e) {
    T along = sum_of<T>(open, [&](int i) { return found.left[i * left + e] * w.y[i]; });
    for (int i = 0; i < open; ++i) w.goal[i] += found.left[i * left + e] * along;
  }
}

// w.y: the step of one level within the limits; false where a program did not converge
template <class T>
SARRUS_FN bool step_within(const CascadeProblem<T>& in, const LevelSolution<T>& found, int open, Hints& hints,
                           CascadeWork<T>& w) {
  copy(w.centre, found.y, open);
  if (found.rank == 0) {
    copy(w.y, w.centre, open);
    return true;
  }
  copy(w.goal, found.y, open);
  fill(w.y, open);
  level_hessian(found, open, w.H);
  rows_at(in, open, w.slack_low, w.slack_high, w);
  bool solved = false;
  int rounds = found.rank < open ? ROUNDS : 1;
  for (int round = 0; round < rounds; ++round) {
    ProgramStatus status = nearest_to_goal(open, in.m, w.H, hints, in.tol, w, solved);
    if (status == NOT_CONVERGED) return false;
    if (status == INFEASIBLE) return true;
    solved = status == OPTIMAL;
    const T* best = solved ? w.best : w.goal;
    T moved = largest_of(open, [&](int i) { return abs_(best[i] - w.y[i]); });
    copy(w.y, best, open);
    if (!solved && round == 0) return true;
    if (solved && !w.cones.count) remember(w.program.active, w.program.q, hints);
    T size = larger(largest_of(open, [&](int i) { return abs_(w.y[i]) + 1; }), T(1));
    if (moved <= real<T>(1e-12) * size) return true;
    move_goal(found, open, w);
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
      w.next[i * left + e] =
          sum_of<T>(open, [&](int m) { return w.Z[i * open + m] * found.left[m * left + e]; });
    }
  }
  swap_(w.Z, w.next);
  return left;
}

// The largest bound that is finite
template <class T>
SARRUS_HD T largest_bound(const CascadeProblem<T>& in) {
  return largest_of(2 * in.m, [&](int i) {
    T bound = i < in.m ? in.lower[i] : in.upper[i - in.m];
    return bound - bound == 0 ? abs_(bound) : T(0);
  });
}

// K, R C K, bounds with slack, and the start c = (start, 0), Z = 1
template <class T>
SARRUS_FN void begin_cascade(const CascadeProblem<T>& in, CascadeWork<T>& w) {
  int n = in.n, r = in.r;
  for (int i = 0; i < n; ++i) {
    copy(w.K + i * n, in.to_x + i * r, r);
    copy(w.K + i * n + r, in.internal + i * (n - r), n - r);
  }
  set_identity(w.Z, n);
  fill(w.c, n);
  apply_metric(in.metric, w.K, n, n, w.CK);
  for (int i = 0; i < in.m; ++i) combine_rows(w.RK + i * n, in.R + i * n, w.CK, n, n);
  copy(w.cone_at, in.cones.at, 3 * in.cones.count);
  for (int i = 0; i < 3 * in.cones.count; ++i)
    combine_rows(w.cone_RK + i * n, in.cones.R + i * n, w.CK, n, n);
  w.cones = {in.cones.count, w.cone_A, w.cone_b, in.cones.along};
  T slack = real<T>(SLACK) * (largest_bound(in) + real<T>(1));
  for (int i = 0; i < in.m; ++i) w.slack_low[i] = in.lower[i] - slack, w.slack_high[i] = in.upper[i] + slack;
  w.iterations = w.variables = 0;
}

// The rows of one level on c, and their right side: those of (1) have no part in internal forces
template <class T>
SARRUS_HD void load_level(const CascadeProblem<T>& in, int begin, int k, CascadeWork<T>& w) {
  copy(w.right, in.b + begin, k);
  fill(w.wide, k * in.n);
  for (int i = 0; i < k; ++i) copy(w.wide + i * in.n, in.A + (begin + i) * in.r, in.r);
}

// All levels from w.c on; the number of directions that stay open, -1 where one failed
template <class T>
SARRUS_FN int descend_levels(const CascadeProblem<T>& in, Hints& hints, CascadeWork<T>& w) {
  int open = in.n, begin = 0;
  for (int l = 0; l < in.levels && open >= 0; begin = static_cast<int>(in.ends[l++])) {
    int k = static_cast<int>(in.ends[l]) - begin;
    load_level(in, begin, k, w);
    open = descend(in, k, in.zero[l], in.damping[l], open, hints, w);
  }
  return open;
}

// s nearest to `rest`, then x nearest to `near`; like descend_levels()
template <class T>
SARRUS_FN int descend_to_rest(const CascadeProblem<T>& in, int open, Hints& hints, CascadeWork<T>& w) {
  int n = in.n, r = in.r;
  fill(w.right, n);
  if (in.rest) copy(w.right, in.rest, r);
  set_identity(w.wide, n);
  open = descend(in, r, T(1), T(0), open, hints, w);
  if (open < 0) return open;
  int inputs = n - in.metric.shares;
  fill(w.right, n);
  if (in.near) copy(w.right, in.near, inputs);
  copy(w.wide, w.K, inputs * n);
  open = descend(in, inputs, sqrt_(inner(w.K, w.K, inputs * n)), T(0), open, hints, w);
  if (open < 0 || inputs == n) return open;
  fill(w.right, n);
  copy(w.wide, w.K + inputs * n, in.metric.shares * n);
  return descend(in, in.metric.shares, T(1), T(0), open, hints, w);
}

// out: w.c   All levels within the limits; INFEASIBLE where no inputs keep all of them
template <class T>
SARRUS_FN ProgramStatus solve_cascade(const CascadeProblem<T>& in, Hints& hints, CascadeWork<T>& w) {
  int n = in.n, r = in.r;
  begin_cascade(in, w);
  rows_at(in, n, in.lower, in.upper, w);
  copy(w.goal, in.start, r);
  fill(w.goal + r, n - r);
  if (in.near)
    for (int i = 0; i < n; ++i) add_scaled(w.goal + r, in.near[i], in.internal + i * (n - r), n - r);
  ProgramStatus status = nearest_to_goal(n, in.m, static_cast<const T*>(nullptr), hints, in.tol, w);
  if (status == INFEASIBLE || status == NOT_CONVERGED) return status;
  copy(w.c, status == INSIDE ? w.goal : w.best, n);
  int open = descend_levels(in, hints, w);
  if (open >= 0) open = descend_to_rest(in, open, hints, w);
  return open < 0 ? NOT_CONVERGED : OPTIMAL;
}

SARRUS_END
