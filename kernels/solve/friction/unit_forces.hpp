// Accelerations and multipliers of unit forces along coordinates, LANES of them at a time:
//
//   z = [0; x],  K_xx x = (Q^T f)_x,     L^T s = K_yx x - (Q^T f)_y                                       (1)
//
// in the coordinates of factor/factorization.hpp. Each force is a column of matrices with LANES columns, so
// that reflections and substitutions act on whole rows of these.
#pragma once

#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

// X (nv, LANES) <- H_k X
template <class T, class LD>
SARRUS_HD void reflect_columns(const Factor<T>& f, int k, int nv, LD ld, T* SARRUS_RESTRICT X) {
  const T* h = f.H + k * ld;
  T s[LANES];
  combine(s, h, X, k, nv, LANES);
  for (int j = k; j < nv; ++j) axpy(X + j * LANES, -(f.beta[k] * h[j]), s, LANES);
}

// G (nc, LANES): in (rank_rows, LANES) the right side of L^T s of (1), out the multipliers by position
template <class T, class LD>
SARRUS_HD void transposed_columns(const Model<real<T>>& m, LD ld, const Factor<T>& f, T* SARRUS_RESTRICT G) {
  int n = f.rank_rows;
  if (f.first_rows == m.nc) {
    for (int k = n - 1; k >= 0; --k) {
      for (int i = k + 1; i < n; ++i) axpy(G + k * LANES, -f.Y[i * ld + k], G + i * LANES, LANES);
      scaled_in_place(G + k * LANES, real<T>(1) / f.Y[k * ld + k], LANES);
    }
    for (int k = 0; k < m.nc; ++k) scaled_in_place(G + k * LANES, real<T>(1) / f.unit[k], LANES);
    return;
  }
  for (int j = 0; j < n; ++j) {
    for (int i = 0; i < j; ++i) axpy(G + j * LANES, -f.U[j * f.lc + i], G + i * LANES, LANES);
    scaled_in_place(G + j * LANES, f.alive[j] / f.T_diag[j], LANES);
  }
  fill(G + n * LANES, (m.nc - n) * LANES);
  for (int j = n - 1; j >= 0; --j) {
    T s[LANES];
    const T* u = f.U + j * f.lc;
    combine(s, u, G, j, m.nc, LANES);
    for (int i = j; i < m.nc; ++i) axpy(G + i * LANES, -(f.U_beta[j] * u[i]), s, LANES);
  }
}

// in: X (nv, LANES) forces times unit   out: X accelerations, lam (nc, LANES)   G (nc, LANES) is room
// balanced: the first column is -J^T lam, a force without acceleration
template <class T, class LD>
SARRUS_FN void solve_force_columns(const Model<real<T>>& m, LD ld, const Factor<T>& f, bool balanced, T* X,
                                   T* G, T* lam) {
  int nv = m.nv, r = f.rank;
  for (int k = 0; k < r; ++k) reflect_columns(f, k, nv, ld, X);
  for (int k = 0; k < f.rank_rows; ++k) scaled(G + k * LANES, T(-1), X + k * LANES, LANES);
  for (int j = r; j < nv; ++j) {  // L w = x, then K_yx x = (L^-1 K_xy)^T D^-1 w
    T d[LANES];
    if (balanced) X[j * LANES] = T(0);
    scaled(d, f.inv_d[j], X + j * LANES, LANES);
    for (int i = j + 1; i < nv; ++i) axpy(X + i * LANES, -f.K[j * ld + i], d, LANES);
    for (int k = 0; k < f.rank_rows; ++k) axpy(G + k * LANES, f.K[j * ld + k], d, LANES);
  }
  for (int i = nv - 1; i >= r; --i) {  // D L^T x = w
    for (int j = i + 1; j < nv; ++j) axpy(X + i * LANES, -f.K[i * ld + j], X + j * LANES, LANES);
    scaled_in_place(X + i * LANES, f.inv_d[i], LANES);
  }
  fill(X, r * LANES);
  for (int k = r - 1; k >= 0; --k) reflect_columns(f, k, nv, ld, X);
  for (int j = 0; j < nv; ++j) scaled_in_place(X + j * LANES, T(m.unit[j]), LANES);
  transposed_columns(m, ld, f, G);
  for (int k = 0; k < m.nc; ++k) copy(lam + row_at(f, k) * LANES, G + k * LANES, LANES);
}

SARRUS_END
