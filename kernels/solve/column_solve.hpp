// Constrained dynamics with the factorization by entries (solve/sparse_factorization.hpp), for many
// right-hand sides at once:
//
//   M a - J^T lam = f,   J a = g                                                                          (1)
//
// Each right-hand side is a column of matrices (rows, COLUMNS); reflectors act on whole rows of these.
#pragma once

#include "base/arena.hpp"
#include "solve/solve.hpp"

SARRUS_BEGIN

constexpr int COLUMNS = 64;  // right-hand sides at a time: their matrices stay in the cache

template <class T>
struct Columns {
  T *f, *g;        // (nv, n), (nc, n): the right-hand sides; f is used up
  T *a, *lam;      // (nv, n), (nc, n): the results
  T *y, *x, *sum;  // (nv, n), (max(nv, nc), n), (n)
  int n;           // columns, a multiple of LANES

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    n = COLUMNS;
    arena.take(m.nv * n, f, a, y);
    arena.take(m.nc * n, g, lam);
    arena.take((larger(m.nv, m.nc)) * n, x);
    arena.take(n, sum);
  }
};

// X_k <- L^-T X_k, of the pivot rows
template <class T>
SARRUS_HD void substitute_columns_back(const Entries<T>& e, int rank, int n, T* X) {
  for (int k = rank - 1; k >= 0; --k) {
    scaled_in_place(X + k * n, real<T>(1) / e.pivot[k], n);
    for (int i = e.L_begin[k]; i < e.L_begin[k + 1]; ++i) axpy(X + e.L_at[i] * n, -e.L[i], X + k * n, n);
  }
}

// X_k <- (X_k - sum over j < k of L_kj X_j) / L_kk
template <class T>
SARRUS_HD void substitute_columns(const Entries<T>& e, int rank, int n, T* X) {
  for (int k = 0; k < rank; ++k) {
    for (int i = e.L_begin[k]; i < e.L_begin[k + 1]; ++i) axpy(X + k * n, -e.L[i], X + e.L_at[i] * n, n);
    scaled_in_place(X + k * n, real<T>(1) / e.pivot[k], n);
  }
}

// c.y (rank rows) from c.g, in the least-squares sense where rows depend on each other
template <class T>
SARRUS_FN void constrained_columns(const Model<real<T>>& m, const Factor<T>& f, Columns<T>& c) {
  int n = c.n;
  if (f.rank_rows == m.nc) {
    for (int k = 0; k < m.nc; ++k) scaled(c.y + k * n, real<T>(1) / f.unit[k], c.g + f.rows.order[k] * n, n);
    return substitute_columns(f.rows, m.nc, n, c.y);
  }
  const Entries<T>& e = f.left;
  for (int i = 0; i < m.nc; ++i) copy(c.x + i * n, c.g + f.rows.order[i] * n, n);
  for (int k = 0; k < e.rank; ++k) reflect_wide(e, k, n, c.sum, c.x);
  for (int k = 0; k < e.rank; ++k) copy(c.lam + k * n, c.x + e.col[k] * n, n);
  substitute_columns_back(e, e.rank, n, c.lam);
  for (int k = 0; k < e.rank; ++k) copy(c.y + e.order[k] * n, c.lam + k * n, n);
}

// c.y <- [c.y; x] with K_xx x = (Q^T f)_x - K_xy y   in: c.x = Q^T f by position
template <class T>
SARRUS_FN void free_columns(const Factor<T>& f, int nv, int ld, Columns<T>& c) {
  int n = c.n, r = f.rank;
  for (int j = r; j < nv; ++j) {  // L w = x
    scaled(c.sum, f.inv_d[j], c.x + j * n, n);
    for (int i = j + 1; i < nv; ++i) axpy(c.x + i * n, -f.K[j * ld + i], c.sum, n);
  }
  for (int i = nv - 1; i >= r; --i) {
    T* row = c.x + i * n;
    for (int k = 0; k < r; ++k) axpy(row, -f.K[i * ld + k], c.y + k * n, n);
    for (int j = i + 1; j < nv; ++j) axpy(row, -f.K[i * ld + j], c.y + j * n, n);
    scaled(c.y + i * n, f.inv_d[i], row, n);
  }
}

// c.lam of least norm   in: c.x the force M a - f, times unit, by column; used up
template <class T>
SARRUS_FN void multiplier_columns(const Model<real<T>>& m, const Factor<T>& f, Columns<T>& c) {
  int n = c.n;
  for (int k = 0; k < f.rank_rows; ++k) reflect_wide(f.rows, k, n, c.sum, c.x);
  for (int k = 0; k < f.rank_rows; ++k) copy(c.y + k * n, c.x + f.rows.col[k] * n, n);
  if (f.rank_rows == m.nc) {
    substitute_columns_back(f.rows, m.nc, n, c.y);
    for (int k = 0; k < m.nc; ++k)
      scaled(c.lam + f.rows.order[k] * n, real<T>(1) / f.unit[k], c.y + k * n, n);
    return;
  }
  const Entries<T>& e = f.left;
  for (int k = 0; k < e.rank; ++k) copy(c.f + k * n, c.y + e.order[k] * n, n);
  substitute_columns(e, e.rank, n, c.f);
  fill(c.x, m.nc * n);
  for (int k = 0; k < e.rank; ++k) copy(c.x + e.col[k] * n, c.f + k * n, n);
  for (int k = e.rank - 1; k >= 0; --k) reflect_wide(e, k, n, c.sum, c.x);
  for (int i = 0; i < m.nc; ++i) copy(c.lam + f.rows.order[i] * n, c.x + i * n, n);
}

// c.a, and c.lam where multipliers are wanted, of (1)   in: c.f, c.g; f factorized by entries, no limit rows
template <class T>
SARRUS_FN void solve_columns(const Model<real<T>>& m, int ld, const Factor<T>& f, const T* M,
                             bool multipliers, Columns<T>& c) {
  int n = c.n;
  constrained_columns(m, f, c);
  for (int j = 0; j < m.nv; ++j) {
    scaled_in_place(c.f + j * n, T(m.unit[j]), n);
    copy(c.a + j * n, c.f + j * n, n);
  }
  for (int k = 0; k < f.rank; ++k) reflect_wide(f.rows, k, n, c.sum, c.a);
  for (int k = 0; k < m.nv; ++k) copy(c.x + k * n, c.a + f.rows.col[k] * n, n);
  free_columns(f, m.nv, ld, c);
  for (int k = 0; k < m.nv; ++k) copy(c.a + f.rows.col[k] * n, c.y + k * n, n);
  for (int k = f.rank - 1; k >= 0; --k) reflect_wide(f.rows, k, n, c.sum, c.a);
  if (multipliers) {
    weigh_columns(m, M, ld, c.a, n, c.x);
    for (int j = 0; j < m.nv; ++j) axpy(c.x + j * n, T(-1), c.f + j * n, n);
    multiplier_columns(m, f, c);
  }
  for (int j = 0; j < m.nv; ++j) scaled_in_place(c.a + j * n, T(m.unit[j]), n);
}

// X (nc, n) <- its part along the left null space of J   in: c.x is room
template <class T>
SARRUS_FN void left_null_part(const Model<real<T>>& m, const Factor<T>& f, Columns<T>& c, T* X) {
  const Entries<T>& e = f.left;
  int n = c.n;
  for (int i = 0; i < m.nc; ++i) copy(c.x + i * n, X + f.rows.order[i] * n, n);
  for (int k = 0; k < e.rank; ++k) reflect_wide(e, k, n, c.sum, c.x);
  for (int k = 0; k < e.rank; ++k) fill(c.x + e.col[k] * n, n);
  for (int k = e.rank - 1; k >= 0; --k) reflect_wide(e, k, n, c.sum, c.x);
  for (int i = 0; i < m.nc; ++i) copy(X + f.rows.order[i] * n, c.x + i * n, n);
}

SARRUS_END
