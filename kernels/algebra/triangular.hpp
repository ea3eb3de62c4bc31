// Cholesky factors L of symmetric matrices, and substitution with them. Matrices (n, n) are stored row by
// row; entries above the diagonal are neither read nor written.
#pragma once

#include "base/vectors.hpp"

SARRUS_BEGIN

// A = L L^T; false where A is not positive definite
template <class T>
SARRUS_FN bool cholesky(const T* A, int n, T* L) {
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T s = A[i * n + j] - inner(L + i * n, L + j * n, j);
      if (i == j && !(s > 0)) return false;
      L[i * n + j] = i == j ? sqrt_(s) : s / L[j * n + j];
    }
  return true;
}

// A <- L, entry by entry in the order of elimination; false where A is not positive definite, and NaN in it
template <class T>
SARRUS_FN bool cholesky_in_place(T* A, int n) {
  bool definite = true;
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T s = A[i * n + j];
      for (int k = 0; k < j; ++k) s -= A[i * n + k] * A[j * n + k];
      if (i == j) definite = definite && s > real<T>(0);
      A[i * n + j] = i == j ? sqrt_(s) : s / A[j * n + j];
    }
  return definite;
}

// x (n) <- L^-1 x, entries `step` apart
template <class T>
SARRUS_HD void solve_lower(const T* L, int n, int step, T* x) {
  for (int i = 0; i < n; ++i) {
    T s = x[i * step];
    for (int k = 0; k < i; ++k) s -= L[i * n + k] * x[k * step];
    x[i * step] = s / L[i * n + i];
  }
}

// x (n) <- L^-T x, entries `step` apart
template <class T>
SARRUS_HD void solve_upper(const T* L, int n, int step, T* x) {
  for (int i = n - 1; i >= 0; --i) {
    T s = x[i * step];
    for (int k = i + 1; k < n; ++k) s -= L[k * n + i] * x[k * step];
    x[i * step] = s / L[i * n + i];
  }
}

// x (n): column c of L^-1
template <class T>
SARRUS_HD void lower_inverse_column(const T* L, int n, int c, T* x) {
  for (int i = 0; i < n; ++i) x[i] = (T(i == c ? 1 : 0) - inner(L + i * n, x, i)) / L[i * n + i];
}

// x (n): column c of L^-T, up to its last entry that is not zero, which is c
template <class T>
SARRUS_HD void upper_inverse_column(const T* L, int n, int c, T* x) {
  for (int i = c; i >= 0; --i) {
    T s = T(i == c ? 1 : 0);
    for (int k = i + 1; k <= c; ++k) s -= L[k * n + i] * x[k];
    x[i] = s / L[i * n + i];
  }
}

SARRUS_END
