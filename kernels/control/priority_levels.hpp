// Strict priorities by mass-weighted orthogonalization, [DeSapio2010] algorithm 2.
//
//   X^T M X = 1,   a = a0 + X s,   s = X^T S^T C x                                                        (1)
//   s_i = s_(i-1) + Z (A_i Z)^+ (b_i - A_i s_(i-1)),   Z_i = Z null(A_i Z),   A_i = J_i X                 (2)
//
// X spans the tangent directions of the constraints. Only where every motion is felt by the actuators, and
// every level either uses as many directions as it has rows or all that are open to it, beyond doubt: what is
// singular is left to singular values.
#pragma once

#include "control/control_data.hpp"
#include "solve/pivoted_matrix.hpp"

SARRUS_BEGIN

template <class T>
struct ReachWork {
  Pivoted<T> felt, wide;
  T *MN, *L, *row;
  ReachFound<T> found;

  SARRUS_HD ReachWork(const ReachAsked<T>& in, Arena& arena) {
    felt.bind(arena, in.dof, in.n);
    wide.bind(arena, in.dof, in.n);
    MN = arena.template take<T>(in.nv * in.dof);
    L = arena.template take<T>(in.dof * in.dof);
    row = arena.template take<T>(2 * (in.n + in.dof + LANES));
    found.X = arena.template take<T>(in.nv * in.dof);
    found.to_x = arena.template take<T>(in.n * in.dof);
    found.open = arena.template take<T>(in.n * in.n);
  }
};

// X = N L^-T with N^T M N = L L^T; false where that is not positive definite
template <class T>
SARRUS_FN bool mass_basis(const ReachAsked<T>& in, ReachWork<T>& w) {
  int dof = in.dof;
  for (int j = 0; j < in.nv; ++j) {
    T* row = w.MN + j * dof;
    for (int i = 0; i < dof; ++i) row[i] = T(0);
    for (int c = 0; c < in.nv; ++c)
      for (int i = 0; i < dof; ++i) row[i] += in.M[j * in.nv + c] * in.N[c * dof + i];
  }
  for (int i = 0; i < dof * dof; ++i) w.L[i] = T(0);
  for (int c = 0; c < in.nv; ++c)
    for (int i = 0; i < dof; ++i)
      for (int k = 0; k <= i; ++k) w.L[i * dof + k] += in.N[c * dof + i] * w.MN[c * dof + k];
  for (int j = 0; j < dof; ++j)
    for (int i = j; i < dof; ++i) {
      T s = w.L[i * dof + j];
      for (int k = 0; k < j; ++k) s -= w.L[i * dof + k] * w.L[j * dof + k];
      if (i == j && !(s > 0)) return false;
      w.L[i * dof + j] = i == j ? sqrt_(s) : s / w.L[j * dof + j];
    }
  T size = T(0);
  for (int c = 0; c < in.nv; ++c) {
    T* x = w.found.X + c * dof;
    for (int i = 0; i < dof; ++i) {  // L x = row of N
      T s = in.N[c * dof + i];
      for (int k = 0; k < i; ++k) s -= w.L[i * dof + k] * x[k];
      x[i] = s / w.L[i * dof + i];
      size += x[i] * x[i] / (in.unit[c] * in.unit[c]);
    }
  }
  w.found.size = sqrt_(size);
  return true;
}

// out: w.found   Returns 0; 1 where some motion is not felt; 2 where the inertia is not positive definite.
template <class T>
SARRUS_FN int reach(const ReachAsked<T>& in, ReachWork<T>& w) {
  if (!mass_basis(in, w)) return 2;
  for (int c = 0; c < in.n; ++c) {
    long long j = in.columns[c];
    for (int i = 0; i < in.dof; ++i) w.felt.at(i, c) = in.N[j * in.dof + i] / in.unit[j];
  }
  eliminate(w.felt, in.dof, in.n, real<T>(0), in.least_feel);
  if (w.felt.rank() < in.dof) return 1;
  bool full = in.metric && !in.diagonal;
  for (int i = 0; i < in.dof; ++i)
    for (int c = 0; c < in.n; ++c) {
      T s = T(0);
      if (full)
        for (int r = 0; r < in.n; ++r) s += w.found.X[in.columns[r] * in.dof + i] * in.metric[r * in.n + c];
      else
        s = w.found.X[in.columns[c] * in.dof + i] * (in.metric ? in.metric[c] : T(1));
      w.wide.at(i, c) = s;
    }
  eliminate(w.wide, in.dof, in.n, real<T>(REGULAR), T(0));
  if (w.wide.rank() < in.dof) return 1;
  T *one = w.row, *x = w.row + in.n + in.dof + LANES;
  int open = in.n - in.dof;
  for (int i = 0; i < in.dof; ++i) {
    for (int k = 0; k < in.dof; ++k) one[k] = T(k == i ? 1 : 0);
    shortest(w.wide, one, x);
    for (int c = 0; c < in.n; ++c) w.found.to_x[c * in.dof + i] = x[c];
  }
  for (int e = 0; e < open; ++e) {
    basis_vector(w.wide, in.dof + e, x);
    for (int c = 0; c < in.n; ++c) w.found.open[c * open + e] = x[c];
  }
  return 0;
}

template <class T>
struct LevelsWork {
  Pivoted<T> rows, columns;
  T *Z, *next, *AZ, *right, *y;  // (r, open), (r, open), (k, open), (k), (r)
  LevelsFound<T> found;

  SARRUS_HD LevelsWork(const LevelsAsked<T>& in, Arena& arena) {
    int most = in.r > in.k ? in.r : in.k;
    rows.bind(arena, in.k, in.r);
    columns.bind(arena, in.r, in.k);
    Z = arena.template take<T>(in.r * in.r);
    next = arena.template take<T>(in.r * in.r);
    AZ = arena.template take<T>(in.k * in.r);
    right = arena.template take<T>(most + LANES);
    y = arena.template take<T>(most + LANES);
    found.A = arena.template take<T>(in.k * in.r);
    found.b = arena.template take<T>(in.k);
    found.zero = arena.template take<T>(in.levels);
    found.s = arena.template take<T>(in.r);
    found.left = arena.template take<T>(in.levels * in.r * in.r);
    found.open = arena.template take<int>(in.levels + 1);
  }
};

// A, b and the size of what counts as zero, of the rows [begin, end)
template <class T>
SARRUS_FN T level_rows(const LevelsAsked<T>& in, int begin, int end, LevelsWork<T>& w) {
  T size = T(0);
  for (int r = begin; r < end; ++r) {
    const T* j = in.J + r * in.nv;
    T inv = real<T>(1) / in.row_unit[r], right = in.wanted[r], *A = w.found.A + r * in.r;
    for (int i = 0; i < in.r; ++i) A[i] = T(0);
    for (int c = 0; c < in.nv; ++c) {
      if (j[c] == 0) continue;
      T bare = j[c] * inv * in.unit[c];
      size += bare * bare;
      right -= j[c] * in.a0[c];
      for (int i = 0; i < in.r; ++i) A[i] += j[c] * inv * in.X[c * in.r + i];
    }
    w.found.b[r] = right * inv;
  }
  return sqrt_(size) * in.size;
}

// y (m) with A Z y nearest to w.right, and the directions left (m, m - rank) at `left`; returns the rank, or
// -1 where it is in doubt
template <class T>
SARRUS_FN int solve_level(int k, int m, T zero, LevelsWork<T>& w, T* left) {
  T least = zero * real<T>(REGULAR);
  if (k <= m) {
    for (int r = 0; r < k; ++r)
      for (int i = 0; i < m; ++i) w.rows.at(r, i) = w.AZ[r * m + i];
    eliminate(w.rows, k, m, real<T>(REGULAR), least);
    if (w.rows.rank() < k) return -1;
    for (int e = 0; e < m - k; ++e) {
      basis_vector(w.rows, k + e, w.y);
      for (int i = 0; i < m; ++i) left[i * (m - k) + e] = w.y[i];
    }
    shortest(w.rows, w.right, w.y);
    return k;
  }
  for (int r = 0; r < k; ++r)
    for (int i = 0; i < m; ++i) w.columns.at(i, r) = w.AZ[r * m + i];
  eliminate(w.columns, m, k, real<T>(REGULAR), least);
  if (w.columns.rank() < m) return -1;
  nearest(w.columns, w.right, w.y);
  return m;
}

// A Z (k, open) and b - A s of the rows from `begin`
template <class T>
SARRUS_HD void project_level(const LevelsAsked<T>& in, int begin, int k, int open, LevelsWork<T>& w) {
  for (int r = 0; r < k; ++r) {
    const T* A = w.found.A + (begin + r) * in.r;
    w.right[r] = w.found.b[begin + r];
    for (int i = 0; i < in.r; ++i) w.right[r] -= A[i] * w.found.s[i];
    for (int m = 0; m < open; ++m) {
      T s = T(0);
      for (int i = 0; i < in.r; ++i) s += A[i] * w.Z[i * open + m];
      w.AZ[r * open + m] = s;
    }
  }
}

// s += Z y,   Z <- Z left
template <class T>
SARRUS_HD void step_down(const LevelsAsked<T>& in, int open, int still, const T* left, LevelsWork<T>& w) {
  for (int i = 0; i < in.r; ++i) {
    for (int m = 0; m < open; ++m) w.found.s[i] += w.Z[i * open + m] * w.y[m];
    for (int e = 0; e < still; ++e) {
      T s = T(0);
      for (int m = 0; m < open; ++m) s += w.Z[i * open + m] * left[m * still + e];
      w.next[i * still + e] = s;
    }
  }
  swap_(w.Z, w.next);
}

// out: w.found: A, b and zero of all levels, s and Z of those before the first one whose rank is in doubt
template <class T>
SARRUS_FN void descend(const LevelsAsked<T>& in, LevelsWork<T>& w) {
  int open = in.r, begin = 0;
  for (int i = 0; i < in.r; ++i) {
    w.found.s[i] = T(0);
    for (int k = 0; k < in.r; ++k) w.Z[i * in.r + k] = T(i == k ? 1 : 0);
  }
  w.found.open[0] = open;
  w.found.done = 0;
  for (int level = 0; level < in.levels; ++level) {
    int end = static_cast<int>(in.ends[level]), k = end - begin, rank = 0;
    w.found.zero[level] = level_rows(in, begin, end, w);
    T* left = w.found.left + level * in.r * in.r;
    if (w.found.done == level && k && open) {
      project_level(in, begin, k, open, w);
      rank = solve_level(k, open, w.found.zero[level], w, left);
      if (rank >= 0) step_down(in, open, open - rank, left, w);
    } else {
      for (int i = 0; i < open; ++i)
        for (int m = 0; m < open; ++m) left[i * open + m] = T(i == m ? 1 : 0);
    }
    if (w.found.done == level && rank >= 0) open -= rank, ++w.found.done;
    w.found.open[level + 1] = open;
    begin = end;
  }
  w.found.Z = w.Z;
}

SARRUS_END
