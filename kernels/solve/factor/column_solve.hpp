// Constrained dynamics with the factorization by entries (solve/factor/sparse_factorization.hpp), for many
// right-hand sides at once:
//
//   M a - J^T lam = f,   J a = g                                                                          (1)
//
// Each right-hand side is a column of matrices (rows, COLUMNS); reflectors act on whole rows of these.
#pragma once

#include "base/arena.hpp"
#include "solve/factor/solve.hpp"

SARRUS_BEGIN

constexpr int COLUMNS = 64;  // right-hand sides at a time: their matrices stay in the cache

template <class T>
struct Columns {
  T *f, *g;                     // (nv, n), (nc, n): the right-hand sides; f is used up
  T *a, *lam;                   // (nv, n), (nc, n): the results
  T *coordinates, *room, *sum;  // (nv, n) Q^T a by position, (max(nv, nc), n), (n)
  int n;                        // columns, a multiple of LANES

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    n = COLUMNS;
    arena.take(m.nv * n, f, a, coordinates);
    arena.take(m.nc * n, g, lam);
    arena.take(larger(m.nv, m.nc) * n, room);
    arena.take(n, sum);
  }
};

// Rows of n entries: row k of `to` = row at[k] of `from`, and row at[k] of `to` = row k of `from`
template <class T>
SARRUS_HD void gather_rows(T* to, const T* from, const int* at, int rows, int n) {
  for (int k = 0; k < rows; ++k) copy(to + k * n, from + at[k] * n, n);
}
template <class T>
SARRUS_HD void scatter_rows(T* to, const int* at, const T* from, int rows, int n) {
  for (int k = 0; k < rows; ++k) copy(to + at[k] * n, from + k * n, n);
}

// X <- H_count .. H_1 X, and H_1 .. H_count X
template <class T>
SARRUS_HD void reflect_all(const Entries<T>& e, int count, const Columns<T>& c, T* X) {
  for (int k = 0; k < count; ++k) reflect_wide(e, k, c.n, c.sum, X);
}
template <class T>
SARRUS_HD void reflect_back(const Entries<T>& e, int count, const Columns<T>& c, T* X) {
  for (int k = count - 1; k >= 0; --k) reflect_wide(e, k, c.n, c.sum, X);
}

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

// c.coordinates (rank rows) from c.g, in the least-squares sense where rows depend on each other
template <class T>
SARRUS_FN void constrained_columns(const Model<real<T>>& m, const Factor<T>& f, Columns<T>& c) {
  int n = c.n;
  if (f.rank_rows == m.nc) {
    for (int k = 0; k < m.nc; ++k)
      scaled(c.coordinates + k * n, real<T>(1) / f.unit[k], c.g + f.rows.order[k] * n, n);
    return substitute_columns(f.rows, m.nc, n, c.coordinates);
  }
  const Entries<T>& e = f.left;
  gather_rows(c.room, c.g, f.rows.order, m.nc, n);
  reflect_all(e, e.rank, c, c.room);
  gather_rows(c.lam, c.room, e.col, e.rank, n);
  substitute_columns_back(e, e.rank, n, c.lam);
  scatter_rows(c.coordinates, e.order, c.lam, e.rank, n);
}

// c.coordinates <- [c.coordinates; x] with K_xx x = (Q^T f)_x - K_xy y   in: c.room = Q^T f by position
template <class T>
SARRUS_FN void free_columns(const Factor<T>& f, int nv, int ld, Columns<T>& c) {
  int n = c.n, r = f.rank;
  for (int j = r; j < nv; ++j) {  // L w = x
    scaled(c.sum, f.inv_d[j], c.room + j * n, n);
    for (int i = j + 1; i < nv; ++i) axpy(c.room + i * n, -f.K[j * ld + i], c.sum, n);
  }
  for (int i = nv - 1; i >= r; --i) {
    T* row = c.room + i * n;
    for (int k = 0; k < r; ++k) axpy(row, -f.K[i * ld + k], c.coordinates + k * n, n);
    for (int j = i + 1; j < nv; ++j) axpy(row, -f.K[i * ld + j], c.coordinates + j * n, n);
    scaled(c.coordinates + i * n, f.inv_d[i], row, n);
  }
}

// c.lam of least norm   in: c.room the force M a - f, times unit, by column; used up
template <class T>
SARRUS_FN void multiplier_columns(const Model<real<T>>& m, const Factor<T>& f, Columns<T>& c) {
  int n = c.n;
  reflect_all(f.rows, f.rank_rows, c, c.room);
  gather_rows(c.coordinates, c.room, f.rows.col, f.rank_rows, n);
  if (f.rank_rows == m.nc) {
    substitute_columns_back(f.rows, m.nc, n, c.coordinates);
    for (int k = 0; k < m.nc; ++k)
      scaled(c.lam + f.rows.order[k] * n, real<T>(1) / f.unit[k], c.coordinates + k * n, n);
    return;
  }
  const Entries<T>& e = f.left;
  gather_rows(c.f, c.coordinates, e.order, e.rank, n);
  substitute_columns(e, e.rank, n, c.f);
  fill(c.room, m.nc * n);
  scatter_rows(c.room, e.col, c.f, e.rank, n);
  reflect_back(e, e.rank, c, c.room);
  scatter_rows(c.lam, f.rows.order, c.room, m.nc, n);
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
  reflect_all(f.rows, f.rank, c, c.a);
  gather_rows(c.room, c.a, f.rows.col, m.nv, n);
  free_columns(f, m.nv, ld, c);
  scatter_rows(c.a, f.rows.col, c.coordinates, m.nv, n);
  reflect_back(f.rows, f.rank, c, c.a);
  if (multipliers) {
    weigh_columns(m, M, ld, c.a, n, c.room);
    for (int j = 0; j < m.nv; ++j) axpy(c.room + j * n, T(-1), c.f + j * n, n);
    multiplier_columns(m, f, c);
  }
  for (int j = 0; j < m.nv; ++j) scaled_in_place(c.a + j * n, T(m.unit[j]), n);
}

// X (nc, n) <- its part along the left null space of J   in: c.room is room
template <class T>
SARRUS_FN void left_null_part(const Model<real<T>>& m, const Factor<T>& f, Columns<T>& c, T* X) {
  const Entries<T>& e = f.left;
  int n = c.n;
  gather_rows(c.room, X, f.rows.order, m.nc, n);
  reflect_all(e, e.rank, c, c.room);
  for (int k = 0; k < e.rank; ++k) fill(c.room + e.col[k] * n, n);
  reflect_back(e, e.rank, c, c.room);
  scatter_rows(X, f.rows.order, c.room, m.nc, n);
}

SARRUS_END
