// The factorization of factorization.hpp for large mechanisms: J, its second factorization and the free
// rows of K by entries (algebra/sparse_elimination.hpp).
//
// A row of J has entries where its loop has joints, M those of the branches of the tree. With N = Q [0; 1]
// the free rows of K are K_x = (Q^T M N)^T: a sweep of reflectors, a walk along the branches, a sweep back.
#pragma once

#include "constraints/constraints.hpp"
#include "solve/factor/dense_elimination.hpp"

SARRUS_BEGIN

// Largest fill of reflectors, relative to dense ones, at which the sparse factorization is used at a pose,
// and at which a model is judged to be sparse: some poses have more fill than the one that is tried.
constexpr double BY_ENTRIES = 0.5;
constexpr double WORTH = 0.25;
constexpr int LOOSELY_FROM = 97;  // coordinates from which the order of least fill is tried first

// After the elimination of rows [begin, end): rank, order and pivots of Factor from those of its sparse part.
template <class T>
SARRUS_FN void adopt_pivots(int begin, int end, Factor<T>& f) {
  for (int k = f.rank; k < f.rows.rank; ++k) f.alive[k] = T(1);
  for (int i = begin; i < end; ++i) f.order[i] = T(real<T>(f.rows.order[i] - begin));
  f.rank = f.first = f.rows.rank;
}

// Whether every pivot is so large that the rank does not depend on the order of the rows.
template <class T>
SARRUS_HD bool surely_independent(const Entries<T>& e, int rows) {
  bool yes = e.rank == rows;
  for (int k = 0; k < e.rank; ++k) yes = yes && abs_(e.pivot[k]) > real<T>(LOOSELY);
  return yes;
}

// Sparse factorization of J; false where reflectors fill up. Near singular poses short rows that wait for
// long ones fill up: as long as all rows are surely independent, they are eliminated in the order of least
// fill.
template <class T>
SARRUS_FN bool factorize_entries(const Model<real<T>>& m, const T* J, int ld, int hold, Factor<T>& f) {
  Entries<T>& e = f.rows;
  double pivots = smaller(m.nc, m.nv), dense = pivots * (m.nv - pivots / 2);
  auto eliminate_by = [&](double nearly) {
    e.nearly = real<T>(nearly);
    clear(e);
    each_entry(m, [&](int r, int j) { enter(e, r, j, J[r * ld + j] * (m.unit[j] / m.row_unit[r])); });
    for (int r = 0; r < m.nc; ++r) {
      measure(e, r);
      f.spd = f.spd && e.norm[r] > real<T>(-1);  // a NaN must not pass for a dependent row
    }
    return eliminate(e, 0, m.nc, m.rank_tol[0], hold, static_cast<int>(f.by_entries * dense));
  };
  bool loosely = m.nv >= LOOSELY_FROM && m.nc <= m.nv && (hold < 0 || hold == m.nc);
  loosely = loosely && eliminate_by(LOOSELY) && surely_independent(e, m.nc);
  if (!loosely && !eliminate_by(NEARLY)) return false;
  adopt_pivots(0, m.nc, f);
  for (int i = 0; i < m.nc; ++i) f.unit[i] = T(m.row_unit[e.order[i]]);
  return true;
}

// Whether the sparse factorization pays for this model, tried on random entries, for which J has its largest
// rank. With few constraints most of K belongs to free coordinates and is dense.   J (nc, ld): workspace
template <class T>
SARRUS_FN bool stays_sparse(const Model<real<T>>& m, int ld, T* J, Factor<T>& f) {
  if (3 * m.nc < m.nv) return false;
  unsigned x = 1;
  each_entry(m, [&](int r, int j) {
    x = x * 1664525u + 1013904223u;
    J[r * ld + j] = T(real<T>(1) + real<T>(x >> 8) / (1 << 24)) * (m.row_unit[r] / m.unit[j]);
  });
  f.by_entries = WORTH;
  f.rank = 0;
  f.spd = true;
  return factorize_entries(m, J, ld, -1, f);
}

// Limit rows stand in Y, reflected by all reflectors so far.
template <class T>
SARRUS_FN void eliminate_limit_rows(const Model<real<T>>& m, int n, real<T> tol, Factor<T>& f) {
  Entries<T>& e = f.rows;
  for (int r = m.nc; r < m.nc + n; ++r) {
    for (int j = 0; j < m.nv; ++j)
      if (f.Y[r * e.ld + j] != 0) enter(e, r, j, f.Y[r * e.ld + j]);
    measure(e, r);
  }
  eliminate(e, m.nc, m.nc + n, tol, -1, m.nv * m.nv);
  adopt_pivots(m.nc, m.nc + n, f);
}

// The second factorization: rows are now the columns of Dr L, columns the positions of the rows.
template <class T>
SARRUS_FN void complete_entries(const Model<real<T>>& m, Factor<T>& f) {
  const Entries<T>& e = f.rows;
  clear(f.left);
  for (int i = 0; i < m.nc; ++i) {
    for (int n = e.L_begin[i]; n < e.L_begin[i + 1]; ++n) enter(f.left, e.L_at[n], i, e.L[n] * f.unit[i]);
    if (i < f.rank) enter(f.left, i, i, e.pivot[i] * f.unit[i]);
  }
  for (int j = 0; j < f.rank; ++j) measure(f.left, j);
  eliminate(f.left, 0, f.rank, real<T>(0), f.rank, m.nv * m.nc);
}

// y_k of the row at position i, from its right-hand side and the y before
template <class T>
SARRUS_HD T substitute(const Entries<T>& e, int i, int k, T right, const T* y) {
  for (int n = e.L_begin[i]; n < e.L_begin[i + 1]; ++n) right -= e.L[n] * y[e.L_at[n]];
  return right / e.pivot[k];
}

// x <- L^-T x, of the pivot rows
template <class T>
SARRUS_HD void substitute_back(const Entries<T>& e, int n, T* x) {
  for (int k = n - 1; k >= 0; --k) {
    x[k] = x[k] / e.pivot[k];
    for (int i = e.L_begin[k]; i < e.L_begin[k + 1]; ++i) x[e.L_at[i]] -= e.L[i] * x[k];
  }
}

// y (rank_rows) in the least-squares sense, from g by position in x (nc), which is used up; z is room
template <class T>
SARRUS_FN void least_squares_entries(const Factor<T>& f, T* x, T* z, T* y) {
  const Entries<T>& e = f.left;
  for (int k = 0; k < e.rank; ++k) reflect(e, k, x);
  gather(z, x, e.col, e.rank);
  substitute_back(e, e.rank, z);
  scatter(y, e.order, z, e.rank);
}

// s (nc) of least norm with (Pi J)^T s = Q x, by position; x (column by column) is used up
template <class T>
SARRUS_HD void solve_transposed_entries(const Model<real<T>>& m, const Factor<T>& f, T* x, T* s) {
  const Entries<T>&r = f.rows, &e = f.left;
  T* z = f.wide;
  gather(z, x, r.col, f.rank_rows);
  if (f.rank_rows == m.nc) {
    substitute_back(r, m.nc, z);
    divide(s, z, f.unit, m.nc);
    return;
  }
  for (int k = 0; k < e.rank; ++k) x[k] = substitute(e, k, k, z[e.order[k]], x);
  fill(s, f.lc);
  scatter(s, e.col, x, e.rank);
  for (int k = e.rank - 1; k >= 0; --k) reflect(e, k, s);
}

// X <- H_k X, for n columns at once
template <class T>
SARRUS_HD void reflect_wide(const Entries<T>& e, int k, int n, T* SARRUS_RESTRICT sum, T* SARRUS_RESTRICT X) {
  int begin = e.H_begin[k], end = e.H_begin[k + 1];
  scaled(sum, e.H[begin], X + e.H_col[begin] * n, n);
  for (int i = begin + 1; i < end; ++i) axpy(sum, e.H[i], X + e.H_col[i] * n, n);
  for (int i = begin; i < end; ++i) axpy(X + e.H_col[i] * n, -(e.beta[k] * e.H[i]), sum, n);
}

// Z (nv, n) = Dc M Dc X
template <class T>
SARRUS_FN void weigh_columns(const Model<real<T>>& m, const T* M, int ld, const T* X, int n, T* Z) {
  fill(Z, m.nv * n);
  for (int i = 1; i < m.nn; ++i)
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k)
      for (int up = i; up > 0; up = m.parent[up])
        for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j) {
          T x = M[k * ld + j] * (m.unit[k] * m.unit[j]);
          axpy(Z + k * n, x, X + j * n, n);
          if (up != i) axpy(Z + j * n, x, X + k * n, n);
        }
}

// The rows of K that belong to free coordinates.
template <class T>
SARRUS_FN void inertia_entries(const Model<real<T>>& m, const T* M, int ld, Factor<T>& f) {
  const Entries<T>& e = f.rows;
  int dof = m.nv - f.rank, n = (dof + LANES - 1) / LANES * LANES;
  if (dof == 0) return;
  T *N = f.K, *Z = f.wide;
  fill(N, m.nv * n);
  for (int i = 0; i < dof; ++i) N[e.col[f.rank + i] * n + i] = T(1);
  for (int k = f.rank - 1; k >= 0; --k) reflect_wide(e, k, n, f.work, N);
  weigh_columns(m, M, ld, N, n, Z);
  for (int k = 0; k < f.rank; ++k) reflect_wide(e, k, n, f.work, Z);
  for (int i = 0; i < dof; ++i) {
    T* row = f.K + (f.rank + i) * ld;
    for (int p = 0; p < m.nv; ++p) row[p] = Z[e.col[p] * n + i];
    fill(row + m.nv, ld - m.nv);
  }
}

SARRUS_END
