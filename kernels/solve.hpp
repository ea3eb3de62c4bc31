// Solves with the factorization of the constraints: constrained coordinates from a right-hand side of the
// rows, free ones from a generalized force, multipliers from a constraint force.
#pragma once

#include "factor.hpp"

SARRUS_BEGIN

// y (rank_rows) by substitution: rows are independent
template <class T, class LD>
SARRUS_HD void substitute(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* g, T* y) {
  for (int k = 0; k < f.rank_rows; ++k) {
    T s = at_position(f, g, k, m.nc) / f.unit[k];
    for (int j = 0; j < k; ++j) s -= f.Y[k * ld + j] * y[j];
    y[k] = s / f.Y[k * ld + k];
  }
}

// y in the least-squares sense. Lanes whose rows are independent keep what substitution gave them.
template <class T, class LD>
SARRUS_HD void least_squares(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* g, T* y) {
  int n = f.rank_rows;
  T *x = f.work, *best = f.work + (static_cast<int>(ld) > f.lc ? static_cast<int>(ld) : f.lc);
  fill(x, f.lc);
  for (int i = 0; i < m.nc; ++i) x[i] = at_position(f, g, i, m.nc);
  for (int j = 0; j < n; ++j) apply_U(f, j, x);
  for (int j = n - 1; j >= 0; --j) {
    T s = x[j];
    for (int c = j + 1; c < n; ++c) s -= f.U[c * f.lc + j] * best[c];
    best[j] = s * f.alive[j] / f.T_diag[j];
  }
  auto full = (n == m.nc ? f.alive[n - 1] : T(0)) > real<T>(0.5);
  for (int j = 0; j < n; ++j) y[j] = select(full, y[j], best[j]);
}

// y: the constrained coordinates from the right-hand side g (nc, units of the rows), then those of the limit
// rows.
template <class T, class LD>
SARRUS_FN void solve_rows(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* g, const T* extra,
                          T* y) {
  int n = f.rank_rows;
  if (n == m.nc) substitute(m, ld, f, g, y);
  if (f.first_rows < m.nc) least_squares(m, ld, f, g, y);
  if constexpr (Branching<T>::value)
    for (int k = n; k < f.rank; ++k) {
      int at = m.nc + k - n;
      T s = extra[static_cast<int>(value(f.order[at]))];
      for (int j = 0; j < k; ++j) s -= f.Y[at * ld + j] * y[j];
      y[k] = s / f.Y[at * ld + k];
    }
}

// a (ld) with J a = g and N^T (M a - rhs) = 0: y known, rhs (nv) a generalized force.
template <class T, class LD>
SARRUS_FN void solve_free(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* rhs, const T* y,
                          T* a) {
  T* SARRUS_RESTRICT x = a;
  for (int j = 0; j < m.nv; ++j) x[j] = rhs[j] * m.unit[j];
  for (int j = m.nv; j < ld; ++j) x[j] = T(0);
  for (int k = 0; k < f.rank; ++k) axpy(x, -(f.beta[k] * dot(f.H + k * ld, x, ld)), f.H + k * ld, ld);
  for (int j = f.first; j < m.nv; ++j) {  // L w = x
    T s = x[j] * f.inv_d[j];
    for (int i = j + 1; i < m.nv; ++i) x[i] -= s * f.K[j * ld + i];
  }
  for (int i = f.first; i < m.nv; ++i) {  // w -= L^-1 K_xy y
    for (int k = 0; k < f.first; ++k) x[i] -= f.K[i * ld + k] * y[k];
    for (int k = f.first; k < f.rank && k < i; ++k) x[i] -= f.K[i * ld + k] * y[k] * f.alive[k];
  }
  for (int i = f.first; i < f.rank; ++i) x[i] = select(f.alive[i] > real<T>(0.5), y[i], x[i]);
  for (int i = m.nv - 1; i >= f.first; --i) {  // D L^T x = w
    T s = x[i];
    for (int j = i + 1; j < m.nv; ++j) s -= f.K[i * ld + j] * x[j];
    x[i] = s * f.inv_d[i];
  }
  for (int k = 0; k < f.first; ++k) x[k] = y[k];
  for (int k = f.rank - 1; k >= 0; --k) axpy(x, -(f.beta[k] * dot(f.H + k * ld, x, ld)), f.H + k * ld, ld);
  for (int j = 0; j < m.nv; ++j) x[j] = x[j] * m.unit[j];
}

// lam (nc) of least norm with J^T lam = force (nv), or nearest to it
template <class T, class LD>
SARRUS_FN void solve_multipliers(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* force, T* lam) {
  int n = f.rank_rows, wide = static_cast<int>(ld) > f.lc ? static_cast<int>(ld) : f.lc;
  T *x = f.work, *s = f.work + wide;
  for (int j = 0; j < m.nv; ++j) x[j] = force[j] * m.unit[j];
  for (int j = m.nv; j < ld; ++j) x[j] = T(0);
  for (int k = 0; k < n; ++k) axpy(x, -(f.beta[k] * dot(f.H + k * ld, x, ld)), f.H + k * ld, ld);
  fill(s, f.lc);
  if (f.first_rows == m.nc) {
    for (int k = n - 1; k >= 0; --k) {
      T r = x[k];
      for (int i = k + 1; i < n; ++i) r -= f.Y[i * ld + k] * s[i];
      s[k] = r / f.Y[k * ld + k];
    }
    for (int k = 0; k < m.nc; ++k) s[k] = s[k] / f.unit[k];
  } else {
    for (int j = 0; j < n; ++j) {  // T^T s = x
      T r = x[j];
      for (int i = 0; i < j; ++i) r -= f.U[j * f.lc + i] * s[i];
      s[j] = r * f.alive[j] / f.T_diag[j];
    }
    for (int j = n - 1; j >= 0; --j) apply_U(f, j, s);
  }
  if constexpr (Branching<T>::value) {  // back to the order of declaration
    for (int k = 0; k < m.nc; ++k) lam[static_cast<int>(value(f.order[k]))] = s[k];
  } else {
    for (int r = 0; r < m.nc; ++r) {
      lam[r] = T(0);
      for (int k = 0; k < m.nc; ++k) {
        T off = f.order[k] - real<T>(r);
        lam[r] += select(off * off < real<T>(0.25), s[k], T(0));
      }
    }
  }
}

SARRUS_END
