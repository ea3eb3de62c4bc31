// The factorization of factor.hpp for large mechanisms, entry by entry: what is zero by the structure of the
// mechanism is neither stored nor touched.
//
// A row of J has entries where its loop has joints. The longest row is the pivot, as in pivots.hpp, so pivots
// and rank are the same: lengths do not depend on the basis. What differs is the column that the reflector
// moves the row to, one of its own: a reflector then has the columns of its row, and only rows that share one
// of them change, [George1986]. A row of loops keeps reflectors of a few entries in any order of pivots.
// K is found from its free rows alone: with N = Q [0; 1], K_x = (Q^T M N)^T, and M has the entries of the tree.
#pragma once

#include "pivots.hpp"
#include "tree.hpp"

SARRUS_BEGIN

constexpr double NEARLY = 0.03;  // of the longest row: rows of that length may be pivots, the emptiest is
constexpr int FILLED = 4;  // reflectors with more than a FILLED-th of the entries of dense ones are dense

SARRUS_HD int linear_rows(int mask) {
  return mask & DISTANCE ? 1 : (mask & 1) + (mask >> 1 & 1) + (mask >> 2 & 1);
}
SARRUS_HD int angular_rows(int kind) { return kind == ACROSS ? 2 : kind == ROTATION ? 3 : kind == COSINE; }

// visit(row, column) for every entry that J can have
template <class R, class F>
SARRUS_HD void each_entry(const Model<R>& m, F visit) {
  for (int c = 0; c < m.ncl; ++c) {
    int end = m.cl_row[c] + linear_rows(m.cl_linear[c]) + angular_rows(m.cl_angular[c]);
    for (int r = m.cl_row[c]; r < end; ++r)
      for (int s = m.cl_sup_begin[c]; s < m.cl_sup_end[c]; ++s) visit(r, m.sup_col[s]);
  }
  for (int c = 0; c < m.nro; ++c)
    for (int up = m.ro_node[c]; up > 0; up = m.parent[up])
      for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j)
        for (int r = m.ro_row[c]; r < m.ro_row[c] + 3; ++r) visit(r, j);
  for (int c = 0; c < m.nk; ++c)
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) visit(m.k_row[c], m.kt_v[i]);
  for (int u = 0; u < m.nu; ++u)
    for (int j = 0; j < m.nv; ++j) visit(m.u_row[u], j);
}

// The row r gets an entry x in column c.
template <class T>
SARRUS_HD void enter(Factor<T>& f, int r, int c, const T& x, int ld) {
  Sparse<T>& s = f.entries;
  f.Y[r * ld + c] = x;
  include(s.row + r * s.words_v, c);
  include(s.column + c * s.words_r, r);
}

// The length of row r in columns without a pivot, and how many of them it has.
template <class T>
SARRUS_HD void measure(Factor<T>& f, int r, int ld) {
  Sparse<T>& s = f.entries;
  T squared = T(0);
  int n = 0;
  each(s.row + r * s.words_v, s.open, true, s.words_v, [&](int j) {
    squared += f.Y[r * ld + j] * f.Y[r * ld + j];
    ++n;
  });
  f.norm[r] = f.norm_ref[r] = squared;
  s.key[r] = T(real<T>(n * s.nr + r));
}

// out: rows without units, their lengths   in: J
template <class T>
SARRUS_FN void load_entries(const Model<real<T>>& m, const T* J, int ld, Factor<T>& f) {
  Sparse<T>& s = f.entries;
  clear(s.row, m.nc * s.words_v);
  clear(s.column, m.nv * s.words_r);
  clear(s.open, s.words_v);
  for (int j = 0; j < m.nv; ++j) include(s.open, j);
  fill(f.norm, (2 * m.nc + LANES - 1) / LANES * LANES, real<T>(-1));  // not to be eliminated
  each_entry(m, [&](int r, int j) {
    T x = J[r * ld + j] * (m.unit[j] / m.row_unit[r]);
    enter(f, r, j, x, ld);
  });
  for (int r = 0; r < m.nc; ++r) {
    measure(f, r, ld);
    f.spd = f.spd && all(f.norm[r] > real<T>(-1));  // a NaN must not pass for a dependent row
  }
  s.H_begin[0] = s.L_begin[0] = 0;
}

// A row that stands in Y and has been reflected by all reflectors so far
template <class T>
SARRUS_FN void enter_row(Factor<T>& f, int r, int ld, int nv) {
  Sparse<T>& s = f.entries;
  clear(s.row + r * s.words_v, s.words_v);
  for (int j = 0; j < nv; ++j)
    if (value(f.Y[r * ld + j]) != 0) enter(f, r, j, f.Y[r * ld + j], ld);
  measure(f, r, ld);
}

// Row r is done: its entries in columns that have pivots are those of L at the position i.
template <class T>
SARRUS_HD void store_left(Factor<T>& f, int r, int i, int ld) {
  Sparse<T>& s = f.entries;
  int n = s.L_begin[i];
  each(s.row + r * s.words_v, s.open, false, s.words_v, [&](int j) {
    s.L_at[n] = s.at[j];
    s.L[n++] = f.Y[r * ld + j];
  });
  s.L_begin[i + 1] = n;
  f.norm[r] = T(-1);
}

// The other entries of row r, as reflector k still without its scale. Returns their squared length.
template <class T>
SARRUS_HD T gather(Factor<T>& f, int r, int k, int ld) {
  Sparse<T>& s = f.entries;
  int n = s.H_begin[k];
  T squared = T(0);
  clear(s.here, s.words_v);
  each(s.row + r * s.words_v, s.open, true, s.words_v, [&](int j) {
    s.H_col[n] = j;
    f.H[n++] = f.Y[r * ld + j];
    include(s.here, j);
    squared += f.Y[r * ld + j] * f.Y[r * ld + j];
  });
  s.H_begin[k + 1] = n;
  return squared;
}

// Reflector k from its entries; the column of the largest becomes coordinate k. Returns that column.
template <class T>
SARRUS_HD int scale_reflector(Factor<T>& f, int k, const T& squared) {
  Sparse<T>& s = f.entries;
  int begin = s.H_begin[k], n = s.H_begin[k + 1] - begin, best = 0;
  for (int i = 1; i < n; ++i)
    if (abs_(value(f.H[begin + i])) > abs_(value(f.H[begin + best]))) best = i;
  s.pivot[k] = reflector(f.H + begin, best, n, squared, true, f.beta[k]);
  int c = s.H_col[begin + best];
  s.col[k] = c;
  s.at[c] = k;
  f.alive[k] = T(1);
  return c;
}

// x <- H_k x
template <class T>
SARRUS_HD void reflect_entries(const Factor<T>& f, int k, T* SARRUS_RESTRICT x) {
  const Sparse<T>& s = f.entries;
  T sum = T(0);
  for (int i = s.H_begin[k]; i < s.H_begin[k + 1]; ++i) sum += f.H[i] * x[s.H_col[i]];
  sum = sum * f.beta[k];
  for (int i = s.H_begin[k]; i < s.H_begin[k + 1]; ++i) x[s.H_col[i]] -= sum * f.H[i];
}

// Reflect the rows that have one of its columns by H_k, whose pivot is row r in column c. Returns the least key
// among those of them that are longer than `bound`.
template <class T>
SARRUS_FN real<T> reflect_met(Factor<T>& f, int k, int r, int c, real<T> bound, int ld) {
  Sparse<T>& s = f.entries;
  real<T> least = real<T>(NONE_ABOVE);
  clear(s.met, s.words_r);
  for (int i = s.H_begin[k]; i < s.H_begin[k + 1]; ++i)
    unite(s.met, s.column + s.H_col[i] * s.words_r, s.words_r);
  exclude(s.met, r);
  for (int i = s.H_begin[k]; i < s.H_begin[k + 1]; ++i)
    for (int w = 0; w < s.words_r; ++w) s.column[s.H_col[i] * s.words_r + w] = s.met[w];
  each(s.met, s.words_r, [&](int other) {
    T* row = f.Y + other * ld;
    Word* mine = s.row + other * s.words_v;
    int more = -1;
    each(s.here, mine, false, s.words_v, [&](int j) {
      row[j] = T(0);
      ++more;
    });
    unite(mine, s.here, s.words_v);
    reflect_entries(f, k, row);
    f.norm[other] -= row[c] * row[c];
    s.key[other] += real<T>(more * s.nr);
    if (f.norm[other] < f.norm_ref[other] * real<T>(1e-3)) measure(f, other, ld);  // as in reflect_rows
    if (value(f.norm[other]) > bound && value(s.key[other]) < least) least = value(s.key[other]);
  });
  return least;
}

// The key of the emptiest row among the nearly longest. Lengths only fall, so that a bound that rows still pass
// needs no renewal.
template <class T>
SARRUS_HD real<T> next_key(const Factor<T>& f, int end, real<T>& bound) {
  int n = (end + LANES - 1) / LANES * LANES;
  real<T> key = least_above(f.norm, bound, f.entries.key, n);
  if (key < real<T>(NONE_ABOVE)) return key;
  bound = largest(f.norm, n) * real<T>(NEARLY * NEARLY);
  return least_above(f.norm, bound, f.entries.key, n);
}

// eliminate_rows by entries, for the rows and positions [begin, end). False: reflectors have more than `most`
// entries, and dense rows are faster.
template <class T>
SARRUS_FN bool eliminate_entries(Factor<T>& f, int begin, int end, int nv, int ld, real<T> tol, int hold,
                                 int most_entries) {
  Sparse<T>& s = f.entries;
  int most = hold >= 0 ? hold : nv, at = begin;
  real<T> bound = real<T>(1e30), key = real<T>(NONE_ABOVE);
  real<T> seen = 0;  // keys below it belong to the emptiest: all were looked at, and only rows that are met change
  for (; at < end && f.rank < most; ++at) {
    if (key >= seen) {
      key = next_key(f, end, bound);
      if (key >= real<T>(NONE_ABOVE)) break;  // what is left is zero
      seen = real<T>(static_cast<int>(key) / s.nr + 1) * s.nr;
    }
    int k = f.rank, r = static_cast<int>(key) % s.nr;
    T squared = gather(f, r, k, ld);
    if (!(squared > (hold >= 0 ? real<T>(0) : tol * tol))) break;
    if (s.H_begin[k + 1] > most_entries) return false;
    store_left(f, r, at, ld);
    int c = scale_reflector(f, k, squared);
    exclude(s.open, c);
    f.order[at] = T(real<T>(r - begin));
    key = reflect_met(f, k, r, c, bound, ld);
    f.rank = f.first = k + 1;
  }
  for (int r = begin; r < end && at < end; ++r)  // dependent rows
    if (!(f.norm[r] < real<T>(-0.5))) {
      each(s.row + r * s.words_v, s.words_v, [&](int j) { exclude(s.column + j * s.words_r, r); });
      f.order[at] = T(real<T>(r - begin));
      store_left(f, r, at++, ld);
    }
  int free = f.rank;
  each(s.open, s.words_v, [&](int j) {
    s.at[j] = free;
    s.col[free++] = j;
  });
  return true;
}

// y_k of the row at position i, from its right-hand side and the y before
template <class T>
SARRUS_HD T substitute_entries(const Factor<T>& f, int i, int k, T right, const T* y) {
  const Sparse<T>& s = f.entries;
  for (int n = s.L_begin[i]; n < s.L_begin[i + 1]; ++n) right -= s.L[n] * y[s.L_at[n]];
  return right / s.pivot[k];
}

// L^T s = x of the first n rows; x is used up
template <class T>
SARRUS_HD void substitute_back(const Factor<T>& f, int n, T* x, T* s) {
  const Sparse<T>& e = f.entries;
  for (int k = n - 1; k >= 0; --k) {
    s[k] = x[k] / e.pivot[k];
    for (int i = e.L_begin[k]; i < e.L_begin[k + 1]; ++i) x[e.L_at[i]] -= e.L[i] * s[k];
  }
}

// Column j of U becomes that of Dr L; U is zero.
template <class T>
SARRUS_HD void left_entries(int nc, Factor<T>& f) {
  const Sparse<T>& s = f.entries;
  for (int i = 0; i < nc; ++i) {
    for (int n = s.L_begin[i]; n < s.L_begin[i + 1]; ++n) f.U[s.L_at[n] * f.lc + i] = s.L[n] * f.unit[i];
    if (i < f.rank) f.U[i * f.lc + i] = s.pivot[i] * f.unit[i];
  }
}

// X <- H_k X, for n columns at once
template <class T>
SARRUS_HD void reflect_wide(const Factor<T>& f, int k, int n, T* SARRUS_RESTRICT sum, T* SARRUS_RESTRICT X) {
  const Sparse<T>& s = f.entries;
  int begin = s.H_begin[k], end = s.H_begin[k + 1];
  scaled(sum, f.H[begin], X + s.H_col[begin] * n, n);
  for (int i = begin + 1; i < end; ++i) axpy(sum, f.H[i], X + s.H_col[i] * n, n);
  for (int i = begin; i < end; ++i) axpy(X + s.H_col[i] * n, -(f.beta[k] * f.H[i]), sum, n);
}

// Z (nv, n) = Dc M Dc X, along the branches of the tree
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
  const Sparse<T>& s = f.entries;
  int dof = m.nv - f.rank, n = (dof + LANES - 1) / LANES * LANES;
  if (dof == 0) return;
  T *N = f.K, *Z = s.wide;
  fill(N, m.nv * n);
  for (int i = 0; i < dof; ++i) N[s.col[f.rank + i] * n + i] = T(1);
  for (int k = f.rank - 1; k >= 0; --k) reflect_wide(f, k, n, f.work, N);
  weigh_columns(m, M, ld, N, n, Z);
  for (int k = 0; k < f.rank; ++k) reflect_wide(f, k, n, f.work, Z);
  for (int i = 0; i < dof; ++i) {
    T* row = f.K + (f.rank + i) * ld;
    for (int p = 0; p < m.nv; ++p) row[p] = Z[s.col[p] * n + i];
    fill(row + m.nv, ld - m.nv);
  }
}

SARRUS_END
