// Small dense systems by elimination with row pivoting, real or complex: what implicit steps solve.
#pragma once

#include "base/arena.hpp"
#include "base/vectors.hpp"

SARRUS_BEGIN

template <class T>
struct Complex {
  T re{}, im{};

  SARRUS_HD Complex() {}
  SARRUS_HD explicit Complex(T x) : re(x) {}
  SARRUS_HD Complex(T x, T y) : re(x), im(y) {}
};
// clang-format off
template <class T> SARRUS_HD Complex<T> operator*(const Complex<T>& x, const Complex<T>& y) { return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re}; }
template <class T> SARRUS_HD void operator-=(Complex<T>& x, const Complex<T>& y) { x.re -= y.re, x.im -= y.im; }
// clang-format on

template <class T>
SARRUS_HD T reciprocal(const T& x) {
  return T(1) / x;
}
template <class T>
SARRUS_HD Complex<T> reciprocal(const Complex<T>& x) {
  T s = T(1) / (x.re * x.re + x.im * x.im);
  return {x.re * s, -(x.im * s)};
}
template <class T>
SARRUS_HD auto magnitude(const T& x) {
  return value(abs_(x));
}
template <class T>
SARRUS_HD auto magnitude(const Complex<T>& x) {
  return value(abs_(x.re)) + value(abs_(x.im));
}

// A square matrix (n, n) and, after factorize_lu(), what it was eliminated to.
template <class E>
struct Lu {
  E* A;
  int* row;  // which row stood at a position
  int n = 0;

  SARRUS_HD void bind(Arena& arena, int most) {
    arena.take(most * most, A);
    arena.take(most, row);
  }
};

// False where a pivot vanishes.
template <class E>
SARRUS_FN bool factorize_lu(Lu<E>& f) {
  int n = f.n;
  for (int k = 0; k < n; ++k) {
    int best = k;
    for (int i = k + 1; i < n; ++i)
      if (magnitude(f.A[i * n + k]) > magnitude(f.A[best * n + k])) best = i;
    f.row[k] = best;
    if (!(magnitude(f.A[best * n + k]) > 0)) return false;
    if (best != k) swap_entries(f.A + k * n, f.A + best * n, n);
    E inverse = reciprocal(f.A[k * n + k]);
    const E* SARRUS_RESTRICT pivot = f.A + k * n;
    for (int i = k + 1; i < n; ++i) {
      E* SARRUS_RESTRICT a = f.A + i * n;
      E factor = a[k] * inverse;
      a[k] = factor;
      for (int j = k + 1; j < n; ++j) a[j] -= factor * pivot[j];
    }
    f.A[k * n + k] = inverse;
  }
  return true;
}

// x (n) <- A^-1 x
template <class E>
SARRUS_FN void solve_lu(const Lu<E>& f, E* SARRUS_RESTRICT x) {
  int n = f.n;
  for (int k = 0; k < n; ++k)
    if (f.row[k] != k) swap_(x[k], x[f.row[k]]);
  for (int i = 1; i < n; ++i)
    for (int j = 0; j < i; ++j) x[i] -= f.A[i * n + j] * x[j];
  for (int i = n - 1; i >= 0; --i) {
    for (int j = i + 1; j < n; ++j) x[i] -= f.A[i * n + j] * x[j];
    x[i] = x[i] * f.A[i * n + i];
  }
}

SARRUS_END
