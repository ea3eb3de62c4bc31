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

// The largest entry of the diagonal that is not used yet; -1 where there is none
template <int N, class T>
SARRUS_HD int next_pivot(const T (*A)[N], int n, const bool* used) {
  int best = -1;
  for (int i = 0; i < n; ++i)
    if (!used[i] && (best < 0 || value(A[i][i]) > value(A[best][best]))) best = i;
  return best;
}

// Whether the symmetric Q (n, n) is positive semidefinite and not zero; pivoted elimination, Q is used up.
template <class T>
SARRUS_FN bool semidefinite(T (*Q)[MOST_STIFF], int n) {
  double largest = 0;
  bool used[MOST_STIFF] = {};
  for (int step = 0; step < n; ++step) {
    int p = next_pivot(Q, n, used);
    if (step == 0) largest = value(Q[p][p]);
    if (largest < LIMIT_TOL) return false;
    if (value(Q[p][p]) <= LIMIT_TOL * largest) break;
    used[p] = true;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j)
        if (!used[i] && !used[j]) Q[i][j] -= Q[i][p] * Q[p][j] / Q[p][p];
  }
  auto vanishes = [&](int i, int j) {
    return used[i] || used[j] || value(abs_(Q[i][j])) <= LIMIT_TOL * largest;
  };
  return all_of(n * n, [&](int k) { return vanishes(k / n, k % n); });
}

// Free direction j into n (ld), and the rows differentiated along it into d.
template <class T, int LDC>
SARRUS_FN void differentiate_along(const Model<real<T>>& m, const State<T>& s, int j, T* n,
                                   Tangent<T, LDC>& d, Workspace<T, LDC>& w) {
  fill(n, w.ld);
  n[w.factor.rank_rows + j] = T(1);
  reflect_back(w.factor, w.factor.rank_rows, w.ld, n);
  multiply(n, n, m.unit, m.nv);
  differentiate_rows(m, State<T>{s.q, n, s.drive, s.user}, d);
}

// The part of J'[n] n, summed over the free directions n, along the left null space, by position   out: sum
// (lc)   f.work is room
template <class T, int LDC>
SARRUS_FN void curvature_across(const Model<real<T>>& m, const State<T>& s, Tangent<T, LDC>& d, T* sum,
                                Workspace<T, LDC>& w) {
  Factor<T>& f = w.factor;
  T *n = w.y, *x = f.work;
  fill(w.extra, m.nc);
  fill(sum, m.nc);
  for (int j = 0; j < m.nv - f.rank_rows; ++j) {
    differentiate_along(m, s, j, n, d, w);
    for (int r = 0; r < m.nc; ++r)
      for (int c = 0; c < m.nv; ++c) w.extra[r] += d.rate_J(r, c) * n[c];
  }
  for (int i = 0; i < m.nc - f.rank_rows; ++i) {
    left_null(f, i, x);
    add_scaled(sum, sum_of<T>(m.nc, [&](int k) { return x[k] * w.extra[row_at(f, k)]; }), x, m.nc);
  }
}

// Whether second derivatives of the rows decide: they are known of rows that neither drives nor users move
template <class T, int LDC>
SARRUS_HD bool may_be_rigid(const Model<real<T>>& m, const Workspace<T, LDC>& w) {
  int free = m.nv - w.factor.rank_rows;
  bool small = free <= MOST_STIFF && free <= m.nc && !w.factor.sparse;
  return small && !m.n_user_rows && !moving(w.rows.gamma, m.nc);
}

// Rows (1), eliminated behind those of J. Drives and rows from outside have derivatives that are not known
// here: with them nothing is added.
template <class T, int LDC>
SARRUS_FN void add_rigid_rows(const Model<real<T>>& m, const State<T>& s, Tangent<T, LDC>& d,
                              Workspace<T, LDC>& w) {
  Factor<T>& f = w.factor;
  int free = m.nv - f.rank_rows, ld = w.ld;
  if (!may_be_rigid(m, w)) return;
  T Q[MOST_STIFF][MOST_STIFF], *n = w.y, *sum = f.work + larger(ld, f.lc);
  curvature_across(m, s, d, sum, w);
  T size = sqrt_(sum_of<T>(m.nc, [&](int k) { return sum[k] * sum[k] * f.unit[k] * f.unit[k]; }));
  if (value(size) < LIMIT_TOL) return;
  for (int j = 0; j < free; ++j) {
    T* row = f.Y + (m.nc + j) * ld;
    fill(row, ld);
    differentiate_along(m, s, j, n, d, w);
    for (int k = 0; k < m.nc; ++k)
      for (int c = 0; c < m.nv; ++c) row[c] += sum[k] / size * d.rate_J(row_at(f, k), c) * m.unit[c];
    copy(n, row, ld);
    reflect_all(f, f.rank_rows, w.ld, n);
    copy(Q[j], n + f.rank_rows, free);
  }
  if (!semidefinite(Q, free)) return;
  fill(w.extra, m.nc);
  place_limit_rows(m, free, real<T>(LIMIT_TOL), w);
}

SARRUS_END
