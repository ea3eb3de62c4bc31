// Solves with the factorization of the constraints: constrained coordinates y from a right-hand side of the
// rows, free coordinates x from a generalized force, multipliers from a constraint force.
#pragma once

#include "solve/factor/factorization.hpp"

SARRUS_BEGIN

// The diagonal of L
template <class T>
SARRUS_HD const T& pivot_of(const Factor<T>& f, int k, int ld) {
  return f.sparse ? f.rows.pivot[k] : f.Y[k * ld + k];
}

// x (ld) <- H_k x
template <class T, class LD>
SARRUS_HD void reflect(const Factor<T>& f, int k, LD ld, T* x) {
  if constexpr (Factor<T>::template maybe_sparse<LD>)
    if (f.sparse) return reflect(f.rows, k, x);
  axpy(x, -(f.beta[k] * dot(f.H + k * ld, x, ld)), f.H + k * ld, ld);
}

// x (ld) <- H_count .. H_1 x, and H_1 .. H_count x
template <class T, class LD>
SARRUS_HD void reflect_all(const Factor<T>& f, int count, LD ld, T* x) {
  for (int k = 0; k < count; ++k) reflect(f, k, ld, x);
}
template <class T, class LD>
SARRUS_HD void reflect_back(const Factor<T>& f, int count, LD ld, T* x) {
  for (int k = count - 1; k >= 0; --k) reflect(f, k, ld, x);
}

// y (rank_rows) by substitution: rows are independent
template <class T, class LD>
SARRUS_HD void substitute(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* g, T* y) {
  if constexpr (Factor<T>::template maybe_sparse<LD>)
    if (f.sparse) {
      for (int k = 0; k < f.rank_rows; ++k)
        y[k] = substitute(f.rows, k, k, at_position(f, g, k, m.nc) / f.unit[k], y);
      return;
    }
  for (int k = 0; k < f.rank_rows; ++k) {
    T s = at_position(f, g, k, m.nc) / f.unit[k];
    s = less_products(s, f.Y + k * ld, y, k);
    y[k] = s / f.Y[k * ld + k];
  }
}

// y in the least-squares sense. Lanes with full row rank keep the result of forward substitution.
template <class T, class LD>
SARRUS_HD void least_squares(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* g, T* y) {
  int n = f.rank_rows;
  T *x = f.work, *best = f.work + larger(int(ld), f.lc);
  fill(x, f.lc);
  for (int i = 0; i < m.nc; ++i) x[i] = at_position(f, g, i, m.nc);
  if constexpr (Factor<T>::template maybe_sparse<LD>)
    if (f.sparse) return least_squares_entries(f, x, best, y);
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
      T s = extra[row_at(f, at)];
      if constexpr (Factor<T>::template maybe_sparse<LD>)
        if (f.sparse) {
          y[k] = substitute(f.rows, at, k, s, y);
          continue;
        }
      s = less_products(s, f.Y + at * ld, y, k);
      y[k] = s / f.Y[at * ld + k];
    }
}

// z = [y; x]: in: Q^T rhs, out: x with K_xx x = (Q^T rhs)_x - K_xy y
template <class T>
SARRUS_HD void solve_coordinates(const Factor<T>& f, int nv, int ld, const T* y, T* SARRUS_RESTRICT x) {
  for (int j = f.first; j < nv; ++j) {  // L w = x
    T s = x[j] * f.inv_d[j];
    subtract_scaled(x + j + 1, s, f.K + j * ld + j + 1, nv - j - 1);
  }
  for (int i = f.first; i < nv; ++i) {  // w -= L^-1 K_xy y
    x[i] = less_products(x[i], f.K + i * ld, y, f.first);
    for (int k = f.first; k < f.rank && k < i; ++k) x[i] -= f.K[i * ld + k] * y[k] * f.alive[k];
  }
  for (int i = f.first; i < f.rank; ++i) x[i] = select(f.alive[i] > real<T>(0.5), y[i], x[i]);
  for (int i = nv - 1; i >= f.first; --i) {  // D L^T x = w
    T s = x[i];
    s = less_products(s, f.K + i * ld + i + 1, x + i + 1, nv - i - 1);
    x[i] = s * f.inv_d[i];
  }
  copy(x, y, f.first);
}

// a (ld) with J a = g and N^T (M a - rhs) = 0: y known, rhs (nv) a generalized force.
template <class T, class LD>
SARRUS_FN void solve_free(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* rhs, const T* y,
                          T* a) {
  T* SARRUS_RESTRICT x = a;
  multiply(x, rhs, m.unit, m.nv);
  fill(x + m.nv, ld - m.nv);
  reflect_all(f, f.rank, ld, x);
  if (f.sparse) {
    const int* col = f.rows.col;
    gather(f.work, x, col, m.nv);
    solve_coordinates(f, m.nv, ld, y, f.work);
    scatter(x, col, f.work, m.nv);
  } else {
    solve_coordinates(f, m.nv, ld, y, x);
  }
  reflect_back(f, f.rank, ld, x);
  multiply(x, x, m.unit, m.nv);
}

// s (nc) of least norm with (Pi J)^T s = H_1 .. H_n x, by position
template <class T, class LD>
SARRUS_HD void solve_transposed(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* x, T* s) {
  int n = f.rank_rows;
  if (f.first_rows == m.nc) {
    for (int k = n - 1; k >= 0; --k) {
      T r = x[k];
      for (int i = k + 1; i < n; ++i) r -= f.Y[i * ld + k] * s[i];
      s[k] = r / f.Y[k * ld + k];
    }
    divide(s, s, f.unit, m.nc);
    return;
  }
  for (int j = 0; j < n; ++j) {  // T^T s = x
    T r = x[j];
    r = less_products(r, f.U + j * f.lc, s, j);
    s[j] = r * f.alive[j] / f.T_diag[j];
  }
  for (int j = n - 1; j >= 0; --j) apply_U(f, j, s);
}

// lam (nc) of least norm with J^T lam = force (nv), or nearest to it
template <class T, class LD>
SARRUS_FN void solve_multipliers(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* force, T* lam) {
  int wide = larger(int(ld), f.lc);
  T *x = f.work, *s = f.work + wide;
  multiply(x, force, m.unit, m.nv);
  fill(x + m.nv, ld - m.nv);
  reflect_all(f, f.rank_rows, ld, x);
  if (f.sparse) {
    solve_transposed_entries(m, f, x, s);
  } else {
    fill(s, f.lc);
    solve_transposed(m, ld, f, x, s);
  }
  if constexpr (Branching<T>::value) {  // back to the order of declaration
    for (int k = 0; k < m.nc; ++k) lam[row_at(f, k)] = s[k];
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
