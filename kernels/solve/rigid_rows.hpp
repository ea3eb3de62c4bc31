// Rest at a pose that is rigid to second order.
//
// At v = 0 the acceleration satisfies w^T J'[a] a = 0 for every left null vector w of J
// (docs/derivations/singular.md (5)). Where such a form is semidefinite on the null space of J, with basis
// n_j, only its own null space is left:
//
//   w^T J'[n_j] a = 0,    w = sum_i w_i w_i^T sum_j J'[n_j] n_j                                           (1)
//
// This combination of the w_i, each times the trace of its form, does not depend on the choice of basis.
#pragma once

#include "solve/limit_rows.hpp"

SARRUS_BEGIN

constexpr int MOST_STIFF = 8;  // free directions up to which second-order rigidity is tested

// Whether the symmetric Q (n, n) is positive semidefinite and not zero; pivoted elimination, Q is used up.
template <class T>
SARRUS_FN bool semidefinite(T (*Q)[MOST_STIFF], int n) {
  double largest = 0;
  bool used[MOST_STIFF] = {};
  for (int step = 0; step < n; ++step) {
    int p = -1;
    for (int i = 0; i < n; ++i)
      if (!used[i] && (p < 0 || value(Q[i][i]) > value(Q[p][p]))) p = i;
    if (step == 0) largest = value(Q[p][p]);
    if (largest < LIMIT_TOL) return false;
    if (value(Q[p][p]) <= LIMIT_TOL * largest) break;
    used[p] = true;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (!used[i] && !used[j]) Q[i][j] -= Q[i][p] * Q[p][j] / Q[p][p];
  }
  bool rest_is_zero = true;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j)
      rest_is_zero = rest_is_zero && (used[i] || used[j] || value(abs_(Q[i][j])) <= LIMIT_TOL * largest);
  return rest_is_zero;
}

// Free direction j into n (ld), and the rows differentiated along it into d.
template <class T, int LDC>
SARRUS_FN void differentiate_along(const Model<real<T>>& m, const State<T>& s, int j, T* n,
                                   Tangent<T, LDC>& d, Workspace<T, LDC>& w) {
  fill(n, w.ld);
  n[w.factor.rank_rows + j] = T(1);
  for (int k = w.factor.rank_rows - 1; k >= 0; --k) reflect(w.factor, k, w.ld, n);
  for (int c = 0; c < m.nv; ++c) n[c] = n[c] * m.unit[c];
  differentiate_rows(m, State<T>{s.q, n, s.drive, s.user}, d);
}

// Rows (1), eliminated behind those of J. Drives and rows from outside have derivatives that are not known
// here: with them nothing is added.
template <class T, int LDC>
SARRUS_FN void add_rigid_rows(const Model<real<T>>& m, const State<T>& s, Tangent<T, LDC>& d,
                              Workspace<T, LDC>& w) {
  Factor<T>& f = w.factor;
  int free = m.nv - f.rank_rows, ld = w.ld;
  if (free > MOST_STIFF || free > m.nc || f.sparse || m.n_user_rows || moving(w.rows.gamma, m.nc)) return;
  T Q[MOST_STIFF][MOST_STIFF], *n = w.y, *x = f.work, *sum = x + (ld > f.lc ? ld : f.lc), size = T(0);
  fill(w.extra, m.nc);
  fill(sum, m.nc);
  for (int j = 0; j < free; ++j) {
    differentiate_along(m, s, j, n, d, w);
    for (int r = 0; r < m.nc; ++r)
      for (int c = 0; c < m.nv; ++c) w.extra[r] += d.rate_J(r, c) * n[c];
  }
  for (int i = 0; i < m.nc - f.rank_rows; ++i) {
    T trace = T(0);
    left_null(f, i, x);
    for (int k = 0; k < m.nc; ++k) trace += x[k] * w.extra[static_cast<int>(value(f.order[k]))];
    for (int k = 0; k < m.nc; ++k) sum[k] += trace * x[k];
  }
  for (int k = 0; k < m.nc; ++k) size += sum[k] * sum[k] * f.unit[k] * f.unit[k];
  size = sqrt_(size);
  if (value(size) < LIMIT_TOL) return;
  for (int j = 0; j < free; ++j) {
    T* row = f.Y + (m.nc + j) * ld;
    fill(row, ld);
    differentiate_along(m, s, j, n, d, w);
    for (int k = 0; k < m.nc; ++k)
      for (int c = 0; c < m.nv; ++c)
        row[c] += sum[k] / size * d.rate_J(static_cast<int>(value(f.order[k])), c) * m.unit[c];
    copy(n, row, ld);
    for (int k = 0; k < f.rank_rows; ++k) reflect(f, k, w.ld, n);
    for (int k = 0; k < free; ++k) Q[j][k] = n[f.rank_rows + k];
  }
  if (!semidefinite(Q, free)) return;
  fill(w.extra, m.nc);
  place_limit_rows(m, free, real<T>(LIMIT_TOL), w);
}

SARRUS_END
