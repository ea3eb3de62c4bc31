// Sensitivity of accelerations and multipliers to residuals: the inverse of the KKT matrix of constrained
// dynamics, written out.
//
//   [ M  -J^T ] [ da   ]     [ dE ]        [ da   ]   [ -P    -G   ] [ dE ]
//   [ J    0  ] [ dlam ] = - [ dR ]   =>   [ dlam ] = [  G^T  -Lam ] [ dR ]                              (1)
//
//   P = N K_xx^-1 N^T,   G = (1 - P M) J^+,   Lam = G^T M G,   N the free columns of Dc Q                (2)
//
// from the factorization of the forward dynamics (factor/factorization.hpp), so it holds for dependent rows
// too: J^+ is then the least-squares solution of the rows and G^T gives the multipliers of least norm.
// [Aghili2005] eqs. (25), (32); P is the constrained inverse inertia
#pragma once

#include "base/products.hpp"
#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

template <class T>
struct Response {
  T* C;        // (nv + nc, stride) the matrix of (1)
  T* Q;        // (nv, ld) (Dc Q)^T; then L^-1 N^T in the free rows, (1 - P M)-projected ones in the others
  T* X;        // (nv, ld) the free rows over the pivots; then G^T M
  T* sum;      // (ld)
  int stride;  // of C

  template <class LD>
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m, LD ld) {
    int most = larger(m.nv, m.nc);
    stride = ld + (m.nc + LANES - 1) / LANES * LANES;
    arena.take((m.nv + m.nc) * stride, C);
    arena.take(m.nv * ld, Q);
    arena.take(most * ld, X);
    arena.take(ld, sum);
  }
};

// out: w.Q
template <class T, class LD>
SARRUS_HD void orthogonal_rows(const Model<real<T>>& m, LD ld, const Factor<T>& f, Response<T>& w) {
  fill(w.Q, m.nv * ld);
  for (int j = 0; j < m.nv; ++j) w.Q[j * ld + j] = T(m.unit[j]);
  for (int k = 0; k < f.rank; ++k) {
    const T* v = f.H + k * ld;
    combine(w.sum, v, w.Q, k, m.nv, ld);
    for (int j = k; j < m.nv; ++j) axpy(w.Q + j * ld, -(f.beta[k] * v[j]), w.sum, ld);
  }
}

// out: -P in C, the rows of G^T before the rows of J are solved in w.Q   in: w.Q
template <class T, class LD>
SARRUS_HD void free_response(const Model<real<T>>& m, LD ld, const Factor<T>& f, Response<T>& w) {
  int r = f.rank, free = m.nv - r;
  T *L = w.Q + r * ld, *over = w.X;
  for (int j = 0; j < free; ++j) {
    const T* K = f.K + (r + j) * ld;
    T* row = over + j * ld;
    scaled(row, -f.inv_d[r + j], L + j * ld, ld);
    for (int i = j + 1; i < free; ++i) axpy(L + i * ld, K[r + i], row, ld);
    for (int k = 0; k < r; ++k) axpy(w.Q + k * ld, K[k], row, ld);
  }
  product(Coefficients<T>{L, 1, ld}, over, ld, m.nv, free, ld, w.C, w.stride);
}

// G^T (nc rows of stride w.stride) from w.Q: multipliers of least norm, as solve_multipliers has them
template <class T, class LD>
SARRUS_HD void solve_for_rows(const Model<real<T>>& m, LD ld, const Factor<T>& f, const Response<T>& w,
                              T* G) {
  int n = f.rank_rows;
  auto at = [&](int position) { return G + row_at(f, position) * w.stride; };
  if (f.first_rows == m.nc) {
    for (int k = n - 1; k >= 0; --k) {
      T* row = w.Q + k * ld;
      for (int i = k + 1; i < n; ++i) axpy(row, -f.Y[i * ld + k], w.Q + i * ld, ld);
      scaled_in_place(row, real<T>(1) / f.Y[k * ld + k], ld);
      scaled(at(k), real<T>(1) / f.unit[k], row, ld);
    }
    return;
  }
  for (int k = 0; k < m.nc; ++k) fill(at(k), ld);
  for (int j = 0; j < n; ++j) {
    T* row = at(j);
    T inv = real<T>(1) / f.T_diag[j];
    scaled(row, inv, w.Q + j * ld, ld);
    for (int i = 0; i < j; ++i) axpy(row, -(f.U[j * f.lc + i] * inv), at(i), ld);
  }
  for (int j = n - 1; j >= 0; --j) {
    const T* u = f.U + j * f.lc;
    fill(w.sum, ld);
    for (int i = j; i < m.nc; ++i) axpy(w.sum, u[i], at(i), ld);
    for (int i = j; i < m.nc; ++i) axpy(at(i), -(f.U_beta[j] * u[i]), w.sum, ld);
  }
}

// out: w.C, without its last nc rows where multipliers are not wanted   in: w.Q
template <class T, class LD>
SARRUS_FN void respond_along(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* M, bool multipliers,
                             Response<T>& w) {
  int nv = m.nv, nc = m.nc;
  T* G = w.C + nv * w.stride;
  free_response(m, ld, f, w);
  solve_for_rows(m, ld, f, w, G);
  for (int c = 0; c < nc; ++c)
    for (int i = 0; i < nv; ++i) w.C[i * w.stride + nv + c] = -G[c * w.stride + i];
  if (!multipliers) return;
  product(Coefficients<T>{G, w.stride, 1}, M, ld, nc, nv, ld, w.X, ld);
  product(Coefficients<T>{w.X, ld, 1}, w.C + nv, w.stride, nc, nv, f.lc, G + nv, w.stride);
}

// The same   in: a state prepared, no limit rows
template <class T, class LD>
SARRUS_HD void respond(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* M, bool multipliers,
                       Response<T>& w) {
  orthogonal_rows(m, ld, f, w);
  respond_along(m, ld, f, M, multipliers, w);
}

SARRUS_END
