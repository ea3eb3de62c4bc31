// Small quadratic programs with second-order cones in three dimensions, such as friction cones.
//
//   min (z - z0)^T H (z - z0) / 2   s.t.   lower <= A z <= upper,   |T_i z + c_i| <= d_i.z + e_i         (1)
//
// Sequential quadratic programming [Nocedal2006] sec. 18.1: a cone becomes its tangent plane along the
// direction w of T z + c, and with its multiplier mu the curvature of its surface enters the objective,
//
//   (d - T^T w).z >= w.c - e,     H + mu T^T (1 - w w^T) T / |T z + c|                                    (2)
//
// A tangent plane cuts off no point of the cone: where a program (2) has no solution, (1) has none. Where the
// steps end, (2) is the condition of the optimum of (1). Far from it they may go round in circles. Then
// planes are kept for a while, with the objective as it is [Kelley1960]: the excess falls to a quarter in
// each step, and the steps (2) go on from there. Cones that were then at their apex keep their planes. Where
// cones leave little more than a point, (2) does not end either, and planes are kept until they close (1):
// the optimum is then met to about 1e-6, the root of the excess. Steps that do not end are reported.
#pragma once

#include "algebra/quadratic_program.hpp"

namespace sarrus {

// Cone i: y = R z + at (3 rows of each), |(y_0, y_1)| <= y_2
template <class T>
struct Cones {
  int count = 0;
  const T *R = nullptr, *at = nullptr;  // (3 count, n), (3 count)
  T* along = nullptr;                   // (2 count) directions w, renewed; zero where none is known
};

}  // namespace sarrus

SARRUS_BEGIN

constexpr int CONE_STEPS = 10, FIRST_CONE_CUTS = 12;  // by curvature, and with planes kept, at first
constexpr int LAST_CONE_STEPS = 20, CONE_CUTS = 24;   // and at last
constexpr double CUT_TOL = 1e-3;                      // of programs with planes kept, relative to the others
constexpr double ONE_SIDE = 0.9;       // cosine between planes above which they bound a cone on one side
constexpr double CONE_CLOSED = 1e-11;  // excess at which steps end, relative to y
constexpr double CONE_STILL = 1e-9;    // the last step, relative to z: the error is about its square

template <class T>
struct ConeWork {
  ProgramWork<T> program;
  T *A, *lower, *upper, *H, *L, *z, *center, *right, *mu, *y;
  T* turn;                                              // (planes, 2): direction of each plane
  int *active, *cone, count, iterations, planes, kept;  // cone (planes): whose plane it is; kept: which stay
  bool* pointed;                                        // (cones) at its apex

  static SARRUS_HD Program<T> shape(int n, int m) {
    Program<T> p{};
    p.n = n, p.m = m;
    return p;
  }
  static SARRUS_HD int most_planes(int cones) { return cones * (1 + CONE_CUTS); }
  SARRUS_HD ConeWork(int n, int m, int cones, Arena& arena)
      : program(shape(n, m + most_planes(cones)), arena) {
    arena.take((m + most_planes(cones)) * n, A);
    arena.take(m + most_planes(cones), lower, upper);
    arena.take(most_planes(cones), cone);
    arena.take(2 * most_planes(cones), turn);
    arena.take(cones, pointed);
    arena.take(n * n, H, L);
    arena.take(n, z, center, right);
    arena.take(cones, mu);
    arena.take(3 * cones, y);
    arena.take(n + 1, active);
  }
  // whether no tangent plane is active: then the cones did not bend the objective
  SARRUS_HD bool free_of_planes(int m) const {
    for (int k = 0; k < count; ++k)
      if (active[k] >= m) return false;
    return true;
  }
};

// out: w.y at z; returns the largest excess
template <class T>
SARRUS_HD T evaluate_cones(const Cones<T>& cones, const T* z, int n, ConeWork<T>& w) {
  T worst = T(-1e300);
  for (int i = 0; i < cones.count; ++i) {
    T* y = w.y + 3 * i;
    for (int r = 0; r < 3; ++r) y[r] = inner(cones.R + (3 * i + r) * n, z, n) + cones.at[3 * i + r];
    T length = sqrt_(y[0] * y[0] + y[1] * y[1]), excess = length - y[2];
    if (!(excess <= worst)) worst = excess;
  }
  return worst;
}

// Directions of the cones at w.y, where they have one
template <class T>
SARRUS_HD void turn_planes(const Cones<T>& cones, const ConeWork<T>& w) {
  for (int i = 0; i < cones.count; ++i) {
    const T* y = w.y + 3 * i;
    T *along = cones.along + 2 * i, length = sqrt_(y[0] * y[0] + y[1] * y[1]);
    if (length > real<T>(1e-12) * (abs_(y[2]) + real<T>(1e-12)))
      along[0] = y[0] / length, along[1] = y[1] / length;
    if (along[0] == 0 && along[1] == 0) along[0] = T(1);
  }
}

// The tangent plane of cone i along its direction, as a row of w.A behind those of p and other planes
template <class T>
SARRUS_HD void add_plane(const Program<T>& p, const Cones<T>& cones, int i, ConeWork<T>& w) {
  const T *R = cones.R + 3 * i * p.n, *at = cones.at + 3 * i, *along = cones.along + 2 * i;
  int row = p.m + w.planes;
  T* to = w.A + row * p.n;
  for (int j = 0; j < p.n; ++j) to[j] = R[2 * p.n + j] - along[0] * R[j] - along[1] * R[p.n + j];
  w.lower[row] = along[0] * at[0] + along[1] * at[1] - at[2];
  w.upper[row] = T(1e300);
  w.turn[2 * w.planes] = along[0], w.turn[2 * w.planes + 1] = along[1];
  w.cone[w.planes++] = i;
}

// Cones with active planes in different directions are at their apex: their planes stay, the others go
template <class T>
SARRUS_FN void keep_pointed(const Program<T>& p, const Cones<T>& cones, ConeWork<T>& w) {
  int n = p.n;
  for (int i = 0; i < cones.count; ++i) {
    const T* first = nullptr;
    w.pointed[i] = false;
    for (int k = 0; k < w.count; ++k) {
      int plane = w.active[k] - p.m;
      if (plane < 0 || w.cone[plane] != i) continue;
      const T* turn = w.turn + 2 * plane;
      if (!first) first = turn;
      w.pointed[i] = w.pointed[i] || turn[0] * first[0] + turn[1] * first[1] < real<T>(ONE_SIDE);
    }
  }
  for (int from = 0; from < w.planes; ++from) {
    if (!w.pointed[w.cone[from]]) continue;
    copy(w.A + (p.m + w.kept) * n, w.A + (p.m + from) * n, n);
    w.lower[p.m + w.kept] = w.lower[p.m + from];
    w.cone[w.kept++] = w.cone[from];
  }
  for (int i = 0; i < cones.count; ++i)
    if (w.pointed[i]) w.mu[i] = T(0);
}

// The curvature of cone c at w.z, added to w.H and w.right
template <class T>
SARRUS_HD void add_curvature(const Cones<T>& cones, int c, int n, ConeWork<T>& w) {
  const T *R = cones.R + 3 * c * n, *y = w.y + 3 * c, *along = cones.along + 2 * c;
  T length = sqrt_(y[0] * y[0] + y[1] * y[1]);
  if (!(w.mu[c] > 0) || !(length > 0)) return;
  T share = w.mu[c] / length, *across = w.program.d;  // the row across w
  for (int j = 0; j < n; ++j) across[j] = along[0] * R[n + j] - along[1] * R[j];
  T at = inner(across, w.z, n);
  for (int i = 0; i < n; ++i) {
    w.right[i] += share * across[i] * at;
    add_scaled(w.H + i * n, share * across[i], across, n);
  }
}

// w.H and w.center: the objective, `bent` by the curvature of the cones at w.z; false where it is not convex
template <class T>
SARRUS_FN bool bend_objective(const Program<T>& p, const Cones<T>& cones, bool bent, ConeWork<T>& w) {
  int n = p.n;
  if (p.H) {
    for (int i = 0; i < n; ++i) w.right[i] = inner(p.H + i * n, p.z0, n);
    copy(w.H, p.H, n * n);
  } else {
    copy(w.right, p.z0, n);
    set_identity(w.H, n);
  }
  for (int c = 0; bent && c < cones.count; ++c) add_curvature(cones, c, n, w);
  if (!cholesky(w.H, n, w.L)) return false;
  for (int i = 0; i < n; ++i) w.center[i] = (w.right[i] - inner(w.L + i * n, w.center, i)) / w.L[i * n + i];
  solve_upper(w.L, n, 1, w.center);
  return true;
}

// One program with the planes in w.A   out: w.z, its change, w.mu and the active rows
template <class T>
SARRUS_FN ProgramStatus solve_with_planes(const Program<T>& p, const Cones<T>& cones, T tol, const int* hint,
                                          int hints, T& moved, T& size, ConeWork<T>& w) {
  Program<T> one{p.n, p.m + w.planes, w.center, w.H, w.A, w.lower, w.upper, tol, hint, hints};
  ProgramSolution<T> found = solve_program(one, w.program);
  w.iterations += found.iterations;
  if (found.status != OPTIMAL) return found.status;
  find_multipliers(one, w.program);
  fill(w.mu, cones.count);
  w.count = found.count;
  for (int k = 0; k < found.count; ++k) {
    w.active[k] = found.active[k];
    int i = found.active[k] < p.m ? -1 : w.cone[found.active[k] - p.m];
    if (i >= 0 && !w.pointed[i]) w.mu[i] += w.program.u[k];
  }
  moved = T(0), size = T(1);
  for (int i = 0; i < p.n; ++i) {
    T by = abs_(found.z[i] - w.z[i]);
    if (!(by <= moved)) moved = by;
    size = larger(abs_(found.z[i]), size);
    w.z[i] = found.z[i];
  }
  return OPTIMAL;
}

// Tangent planes of the cones that are not pointed, behind those that are kept or, with `keeps`, all there
// are; whether some cone was active
template <class T>
SARRUS_HD bool add_planes(const Program<T>& p, const Cones<T>& cones, bool keeps, ConeWork<T>& w) {
  if (!keeps) w.planes = w.kept;
  for (int i = 0; i < cones.count; ++i)
    if (!w.pointed[i]) add_plane(p, cones, i, w);
  return any_of(cones.count, [&](int i) { return w.mu[i] > 0; });
}

// `most` steps (2), or, with `keeps`, with all planes and the objective as it is; NOT_CONVERGED where they do
// not end
template <class T>
SARRUS_FN ProgramStatus follow_planes(const Program<T>& p, const Cones<T>& cones, int most, bool keeps,
                                      const int* hint, int hints, ConeWork<T>& w) {
  T moved, size, tol = keeps ? p.tol * real<T>(CUT_TOL) : p.tol;
  w.planes = w.kept;
  for (int step = 0; step < most; ++step) {
    bool bent = add_planes(p, cones, keeps, w) && !keeps;
    if (!bend_objective(p, cones, !keeps, w)) break;
    ProgramStatus status = solve_with_planes(p, cones, tol, hint, hints, moved, size, w);
    if (status != OPTIMAL) return keeps ? NOT_CONVERGED : status;  // many planes, almost parallel
    T excess = evaluate_cones(cones, w.z, p.n, w);
    T reach = larger(largest_of(3 * cones.count, [&](int i) { return abs_(w.y[i]); }), T(1));
    turn_planes(cones, w);
    bool settled = keeps || moved <= real<T>(CONE_STILL) * size || (!bent && w.free_of_planes(p.m));
    if (settled && excess <= real<T>(CONE_CLOSED) * reach) return OPTIMAL;
    hint = w.active, hints = w.count;
  }
  return NOT_CONVERGED;
}

// in: p without cones; p.hint may name rows. Active rows of the solution count tangent planes from p.m on.
template <class T>
SARRUS_FN ProgramSolution<T> solve_cone_program(const Program<T>& p, const Cones<T>& cones, ConeWork<T>& w) {
  int n = p.n;
  copy(w.A, p.A, p.m * n);
  for (int i = 0; i < p.m; ++i) w.lower[i] = p.lower[i], w.upper[i] = p.upper[i];
  copy(w.z, p.z0, n);
  for (int i = 0; i < cones.count; ++i) w.mu[i] = T(0), w.pointed[i] = false;
  evaluate_cones(cones, w.z, n, w);
  bool known =
      all_of(cones.count, [&](int i) { return cones.along[2 * i] != 0 || cones.along[2 * i + 1] != 0; });
  if (!known) turn_planes(cones, w);
  w.count = w.iterations = w.kept = 0;
  ProgramStatus status = follow_planes(p, cones, CONE_STEPS, false, p.hint, p.hints, w);
  if (status == NOT_CONVERGED) status = follow_planes(p, cones, FIRST_CONE_CUTS, true, nullptr, 0, w);
  if (status == NOT_CONVERGED) {
    keep_pointed(p, cones, w);
    status = follow_planes(p, cones, LAST_CONE_STEPS, false, nullptr, 0, w);
  }
  if (status == NOT_CONVERGED) {
    w.kept = 0;
    for (int i = 0; i < cones.count; ++i) w.pointed[i] = false;
    status = follow_planes(p, cones, CONE_CUTS, true, nullptr, 0, w);
  }
  return {status, w.z, w.active, status == OPTIMAL ? w.count : 0, w.iterations};
}

SARRUS_END
