// Rank-revealing orthogonal factorization of the constraint Jacobian, and the inertia seen through it.
//
//   dimensionless rows   Y = Dr^-1 J Dc,   Pi Y = [L 0] Q^T,   Q = H_1 H_2 ... H_r                        (1)
//   K = Q^T (Dc M Dc) Q,   coordinates z = Q^T Dc^-1 a = [y; x]:  L y = Dr^-1 gamma,  K_xx x = ... (2)
//
// Householder reflections with row pivoting [Golub2013] sec. 5.4. The first r coordinates are fixed by
// the constraints, the others are free: the columns r.. of Dc Q span the null space of J. Rows below
// rank_tol (absolute, on dimensionless rows) are dependent; where rows depend on each other or conflict,
// a second factorization of L = U T gives least squares and least norm ([Aghili2005] sec. II-A: A^+).
// Dense elimination: solve/factor/dense_elimination.hpp. Large mechanisms with few entries per row:
// solve/factor/sparse_factorization.hpp.
#pragma once

#include "solve/factor/sparse_factorization.hpp"

SARRUS_BEGIN

template <class T, class LD>
SARRUS_FN void factorize_dense(const Model<real<T>>& m, const T* J, const T* M, LD ld, int hold,
                               Factor<T>& f) {
  for (int r = 0; r < m.nc; ++r) {
    T* row = f.Y + r * ld;
    scaled(row, T(real<T>(1) / m.row_unit[r]), J + r * ld, ld);
    if (m.lengths) multiply(row, row, m.unit, m.nv);
    f.norm[r] = f.norm_ref[r] = dot(row, row, ld);
    f.order[r] = T(real<T>(r));
    f.unit[r] = T(m.row_unit[r]);
    f.spd = f.spd && all(f.norm[r] > real<T>(-1));  // a NaN must not pass for a dependent row
  }
  if (M)
    for (int r = 0; r < m.nv; ++r) {
      T* row = f.K + r * ld;
      scaled(row, T(m.unit[r]), M + r * ld, ld);
      if (m.lengths) multiply(row, row, m.unit, m.nv);
    }
  eliminate_rows(f, 0, m.nc, m.nv, ld, m.rank_tol[0], hold, M != nullptr);
}

// out: Y, H, rank; K if M is given   in: J (nc, ld), M (nv, ld) or null
template <class T, class LD>
SARRUS_HD void factorize(const Model<real<T>>& m, const T* J, const T* M, LD ld, int hold, Factor<T>& f) {
  f.rank = f.first = 0;
  f.spd = true;
  f.sparse = f.regular = false;
  if constexpr (Factor<T>::template maybe_sparse<LD>)
    f.sparse = f.by_entries > 0 && factorize_entries(m, J, ld, hold, f);
  if (!f.sparse) {
    f.rank = f.first = 0;
    factorize_dense(m, J, M, ld, hold, f);
  }
  f.rank_rows = f.rank;
  f.first_rows = f.first;
}

// Dr L = U T for least squares and least norm in the units of the rows. Only where rows are dependent.
template <class T, class LD>
SARRUS_FN void complete(const Model<real<T>>& m, LD ld, Factor<T>& f) {
  if constexpr (Factor<T>::template maybe_sparse<LD>)
    if (f.sparse) return complete_entries(m, f);
  for (int j = 0; j < f.rank; ++j) {
    T* u = f.U + j * f.lc;
    fill(u, f.lc);
    for (int i = 0; i < m.nc; ++i) u[i] = f.Y[i * ld + j] * f.unit[i] * f.alive[j];
  }
  T* x = f.work;
  for (int j = 0; j < f.rank; ++j) {
    T* u = f.U + j * f.lc;  // entries before j stay: they are column j of T
    copy(x, u, f.lc);
    fill(x, j);
    T squared = dot(x, x, f.lc);
    auto live = f.alive[j] > real<T>(0.5);
    f.T_diag[j] = reflector(x, j, f.lc, squared, live, f.U_beta[j]);
    copy(u + j, x + j, f.lc - j);
    for (int c = j + 1; c < f.rank; ++c) {
      T* w = f.U + c * f.lc;
      axpy(w, -(f.U_beta[j] * dot(x, w, f.lc)), x, f.lc);
    }
  }
}

// x <- U^T x (forward) or U x: reflector j acts on entries j.. of x (lc)
template <class T>
SARRUS_HD void apply_U(const Factor<T>& f, int j, T* SARRUS_RESTRICT x) {
  const T* u = f.U + j * f.lc;
  T s = T(0);
  s = plus_products(s, u + j, x + j, f.lc - j);
  s = s * f.U_beta[j];
  subtract_scaled(x + j, s, u + j, f.lc - j);
}

// K_xx = L D L^T by rows; the columns before `first` become L^-1 K_xy on the way, which solve() uses.
template <class T>
SARRUS_FN void eliminate_inertia(Factor<T>& f, int nv, int ld) {
  for (int k = f.first; k < f.rank; ++k)  // lanes in which k is constrained: a row that does nothing
    for (int j = 0; j < ld; ++j) {
      auto dead = f.alive[k] < real<T>(0.5);
      f.K[k * ld + j] = select(dead, f.K[k * ld + j], T(j == k ? 1 : 0));
    }
  for (int j = f.first; j < nv; ++j) {
    const T* SARRUS_RESTRICT pivot_row = f.K + j * ld;
    f.spd = f.spd && all(pivot_row[j] > real<T>(0));
    f.inv_d[j] = real<T>(1) / pivot_row[j];
    for (int i = j + 1; i < nv; ++i) axpy(f.K + i * ld, -(pivot_row[i] * f.inv_d[j]), pivot_row, ld);
  }
}

// The same, after the last row; M is the inertia that factorize() was given.
template <class T, class LD>
SARRUS_HD void finish(const Model<real<T>>& m, const T* M, LD ld, Factor<T>& f) {
  if constexpr (Factor<T>::template maybe_sparse<LD>)
    if (f.sparse) inertia_entries(m, M, ld, f);
  eliminate_inertia(f, m.nv, ld);
}

SARRUS_END
