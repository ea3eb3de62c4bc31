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
// steps end, (2) is the condition of the optimum of (1). Steps that do not end are reported.
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

constexpr int CONE_STEPS = 30;
constexpr double CONE_CLOSED = 1e-11;  // excess at which steps end, relative to y
constexpr double CONE_STILL = 1e-9;    // the last step, relative to z: the error is about its square

template <class T>
struct ConeWork {
  ProgramWork<T> program;
  T *A, *lower, *upper, *H, *L, *z, *center, *right, *mu, *y;
  int *active, count, iterations;

  static SARRUS_HD Program<T> shape(int n, int m) {
    Program<T> p{};
    p.n = n, p.m = m;
    return p;
  }
  SARRUS_HD ConeWork(int n, int m, int cones, Arena& arena) : program(shape(n, m + cones), arena) {
    arena.take((m + cones) * n, A);
    arena.take(m + cones, lower, upper);
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

// The tangent planes as rows of w.A behind those of p
template <class T>
SARRUS_HD void place_planes(const Program<T>& p, const Cones<T>& cones, ConeWork<T>& w) {
  for (int i = 0; i < cones.count; ++i) {
    const T *R = cones.R + 3 * i * p.n, *at = cones.at + 3 * i, *along = cones.along + 2 * i;
    T* row = w.A + (p.m + i) * p.n;
    for (int j = 0; j < p.n; ++j) row[j] = R[2 * p.n + j] - along[0] * R[j] - along[1] * R[p.n + j];
    w.lower[p.m + i] = along[0] * at[0] + along[1] * at[1] - at[2];
    w.upper[p.m + i] = T(1e300);
  }
}

// w.H and w.center: the objective with the curvature of the cones at w.z; false where it is not convex
template <class T>
SARRUS_FN bool bend_objective(const Program<T>& p, const Cones<T>& cones, ConeWork<T>& w) {
  int n = p.n;
  for (int i = 0; i < n; ++i) {
    w.right[i] = p.H ? inner(p.H + i * n, p.z0, n) : p.z0[i];
    for (int j = 0; j < n; ++j) w.H[i * n + j] = p.H ? p.H[i * n + j] : T(i == j ? 1 : 0);
  }
  for (int c = 0; c < cones.count; ++c) {
    const T *R = cones.R + 3 * c * n, *y = w.y + 3 * c, *along = cones.along + 2 * c;
    T length = sqrt_(y[0] * y[0] + y[1] * y[1]);
    if (!(w.mu[c] > 0) || !(length > 0)) continue;
    T share = w.mu[c] / length, *across = w.program.d;  // the row across w
    for (int j = 0; j < n; ++j) across[j] = along[0] * R[n + j] - along[1] * R[j];
    T at = inner(across, w.z, n);
    for (int i = 0; i < n; ++i) {
      w.right[i] += share * across[i] * at;
      for (int j = 0; j < n; ++j) w.H[i * n + j] += share * across[i] * across[j];
    }
  }
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T s = w.H[i * n + j] - inner(w.L + i * n, w.L + j * n, j);
      if (i == j && !(s > 0)) return false;
      w.L[i * n + j] = i == j ? sqrt_(s) : s / w.L[j * n + j];
    }
  for (int i = 0; i < n; ++i) w.center[i] = (w.right[i] - inner(w.L + i * n, w.center, i)) / w.L[i * n + i];
  for (int i = n - 1; i >= 0; --i) {
    T s = w.center[i];
    for (int k = i + 1; k < n; ++k) s -= w.L[k * n + i] * w.center[k];
    w.center[i] = s / w.L[i * n + i];
  }
  return true;
}

// in: p without cones; p.hint may name rows. Active rows of the solution count tangent planes from p.m on.
template <class T>
SARRUS_FN ProgramSolution<T> solve_cone_program(const Program<T>& p, const Cones<T>& cones, ConeWork<T>& w) {
  int n = p.n, steps = 0;
  for (int i = 0; i < p.m * n; ++i) w.A[i] = p.A[i];
  for (int i = 0; i < p.m; ++i) w.lower[i] = p.lower[i], w.upper[i] = p.upper[i];
  for (int i = 0; i < n; ++i) w.z[i] = p.z0[i];
  for (int i = 0; i < cones.count; ++i) w.mu[i] = T(0);
  evaluate_cones(cones, w.z, n, w);
  bool known = true;
  for (int i = 0; i < cones.count; ++i)
    known = known && (cones.along[2 * i] != 0 || cones.along[2 * i + 1] != 0);
  if (!known) turn_planes(cones, w);
  w.count = w.iterations = 0;
  for (; steps < CONE_STEPS; ++steps) {
    place_planes(p, cones, w);
    if (!bend_objective(p, cones, w)) break;
    Program<T> one{n,
                   p.m + cones.count,
                   w.center,
                   w.H,
                   w.A,
                   w.lower,
                   w.upper,
                   p.tol,
                   steps ? w.active : p.hint,
                   steps ? w.count : p.hints};
    ProgramSolution<T> found = solve_program(one, w.program);
    w.iterations += found.iterations;
    if (found.status != OPTIMAL) return {found.status, w.z, w.active, 0, w.iterations};
    bool bent = false;
    find_multipliers(one, w.program);
    for (int i = 0; i < cones.count; ++i) bent = bent || w.mu[i] > 0, w.mu[i] = T(0);
    w.count = found.count;
    for (int k = 0; k < found.count; ++k) {
      w.active[k] = found.active[k];
      if (found.active[k] >= p.m) w.mu[found.active[k] - p.m] = w.program.u[k];
    }
    T moved = T(0), size = T(1), reach = T(1);
    for (int i = 0; i < n; ++i) {
      T by = abs_(found.z[i] - w.z[i]);
      if (!(by <= moved)) moved = by;
      if (abs_(found.z[i]) > size) size = abs_(found.z[i]);
      w.z[i] = found.z[i];
    }
    T excess = evaluate_cones(cones, w.z, n, w);
    for (int i = 0; i < 3 * cones.count; ++i) reach = abs_(w.y[i]) > reach ? abs_(w.y[i]) : reach;
    turn_planes(cones, w);
    bool closed = excess <= real<T>(CONE_CLOSED) * reach;
    if (closed && (moved <= real<T>(CONE_STILL) * size || (!bent && w.free_of_planes(p.m))))
      return {OPTIMAL, w.z, w.active, w.count, w.iterations};
  }
  return {NOT_CONVERGED, w.z, w.active, 0, w.iterations};
}

SARRUS_END
