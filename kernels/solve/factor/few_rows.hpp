// Constrained dynamics of a deep tree with few rows (a ring, a chain that hangs from both ends), away from
// singular poses: articulated inertias, and the inertia that the rows feel [Featherstone2008] ch. 8.
//
//   X = M^-1 J^T,   S = J X,   S lam = g - J M^-1 f,   a = M^-1 f + X lam                                (1)
//
// M is never formed: of a chain of 400 links it has the condition 1e10, and its entries leave 1e-7 of the
// accelerations. The work grows with the links, times the rows.
#pragma once

#include "algebra/symmetric_eigenvalues.hpp"
#include "solve/factor/augmented_inertia.hpp"

SARRUS_BEGIN

// Whether this takes the place of the augmented inertia
SARRUS_HD bool by_few_rows(const auto& m, const auto& a) { return m.fronts->few_rows && a.few.at_tree; }

// S lam = g by L D L^T   in: S factorized; g (nc), of which rows that take part are read   out: few.y
template <class T>
SARRUS_FN void solve_few(const Model<real<T>>& m, const T* g, Augmented<T>& a) {
  FewRows<T>& few = a.few;
  int n = 0;
  for (int r = 0; r < m.nc; ++r)
    if (a.taken[r]) few.y[n++] = g[r];
  for (int i = 0; i < n; ++i)
    for (int k = 0; k < i; ++k) few.y[i] -= few.L[i * n + k] * few.y[k];
  for (int i = 0; i < n; ++i) few.y[i] = few.y[i] / few.L[i * n + i];
  for (int i = n - 1; i >= 0; --i)
    for (int k = i + 1; k < n; ++k) few.y[i] -= few.L[k * n + i] * few.y[k];
}

// L (unit lower triangle) and D (its diagonal) of S; false where S is not positive definite
template <class T>
SARRUS_FN bool eliminate_few(int n, FewRows<T>& few) {
  T* L = few.L;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T s = few.S[i * n + j];
      for (int k = 0; k < j; ++k) s -= L[i * n + k] * L[j * n + k] * L[k * n + k];
      L[i * n + j] = i == j ? s : s / L[j * n + j];
      if (i == j && !(s > real<T>(0))) return false;
    }
  return true;
}

// X and S of the rows that take part   in: J by entries, t at the same pose
template <class T>
SARRUS_FN bool factorize_few(const Model<real<T>>& m, const Tree<T>& t, Augmented<T>& a) {
  FewRows<T>& few = a.few;
  if (!factorize_articulated(m, t, few.tree)) return false;
  copy(a.rows, a.rows_now, m.fronts->row_entries);
  fill(a.light, m.nv);
  int n = 0;
  each_taken(m, a, [&](int, const T* row, const int* cols, int width) {
    fill(a.change, m.nv);
    scatter(a.change, cols, row, width);
    solve_articulated(m, t, a.change, few.tree, few.X + n++ * static_cast<long>(m.nv));
  });
  int r = 0;
  each_taken(m, a, [&](int, const T* row, const int* cols, int width) {
    for (int k = 0; k < n; ++k) {
      const T* x = few.X + k * static_cast<long>(m.nv);
      few.S[r * n + k] = sum_of<T>(width, [&](int i) { return row[i] * x[cols[i]]; });
    }
    ++r;
  });
  return eliminate_few(n, few);
}

// out: a.share and a.distance: the smallest eigenvalue of S with a diagonal of ones, and the shortest row
template <class T>
SARRUS_FN void watch_few(const Model<real<T>>& m, Augmented<T>& a) {
  FewRows<T>& few = a.few;
  int n = a.rank;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      few.scaled[i * n + j] = few.S[i * n + j] / sqrt_(few.S[i * n + i] * few.S[j * n + j]);
  eigenvalues(few.scaled, n, few.y, few.vectors);
  T least = few.y[0] > real<T>(0) ? few.y[0] : T(0);
  a.share = sqrt_(least);
  a.distance = a.share * shortest_row(m, a);
}

// The same, or by so many steps of the power iteration
template <class T>
SARRUS_FN void watch_regular_rows(const Model<real<T>>& m, int steps, Augmented<T>& a) {
  if (by_few_rows(m, a)) return watch_few(m, a);
  watch_augmented(m, steps, a);
}

// x (nv) += X lam, where lam is few.y
template <class T>
SARRUS_FN void add_few(const Model<real<T>>& m, Augmented<T>& a, T* x) {
  for (int k = 0; k < a.rank; ++k) {
    const T* column = a.few.X + k * static_cast<long>(m.nv);
    add_scaled(x, a.few.y[k], column, m.nv);
  }
}

// x (nv) and a.lam (nc) of (1). A second solve holds the rows to rounding.   in: t at the factorized pose
template <class T>
SARRUS_FN void accelerate_few(const Model<real<T>>& m, const Tree<T>& t, const T* g, const T* f,
                              Augmented<T>& a, T* x) {
  solve_articulated(m, t, f, a.few.tree, x);
  fill(a.lam, m.nc);
  for (int i = 0; i < 2; ++i) {
    taken_times(m, a, x, a.gap);
    set_difference(a.gap, g, a.gap, m.nc);
    solve_few(m, a.gap, a);
    add_few(m, a, x);
    for (int r = 0, k = 0; r < m.nc; ++r)
      if (a.taken[r]) a.lam[r] += a.few.y[k++];
  }
}

// x (nv) with J x = g and M x orthogonal to the tangent space
template <class T>
SARRUS_FN void normal_few(const Model<real<T>>& m, const T* g, Augmented<T>& a, T* x) {
  fill(x, m.nv);
  solve_few(m, g, a);
  add_few(m, a, x);
}

SARRUS_END
