// Vectors of n numbers without padding, and what is looked for among n things.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

template <class T>
SARRUS_HD void fill(T* SARRUS_RESTRICT x, int n, real<T> s = 0) {
  for (int j = 0; j < n; ++j) x[j] = T(s);
}

template <class T, class U>
SARRUS_HD void copy(T* SARRUS_RESTRICT y, const U* SARRUS_RESTRICT x, int n) {
  for (int j = 0; j < n; ++j) y[j] = T(x[j]);
}

// y = -x
template <class T>
SARRUS_HD void negate(T* y, const T* x, int n) {
  for (int j = 0; j < n; ++j) y[j] = -x[j];
}

// y += x
template <class T, class U>
SARRUS_HD void add(T* y, const U* x, int n) {
  for (int j = 0; j < n; ++j) y[j] += x[j];
}

// y -= x
template <class T, class U>
SARRUS_HD void subtract(T* y, const U* x, int n) {
  for (int j = 0; j < n; ++j) y[j] -= x[j];
}

// y += s x
template <class T, class S, class U>
SARRUS_HD void add_scaled(T* y, S s, const U* x, int n) {
  for (int j = 0; j < n; ++j) y[j] += s * x[j];
}

// y -= s x
template <class T, class S, class U>
SARRUS_HD void subtract_scaled(T* y, S s, const U* x, int n) {
  for (int j = 0; j < n; ++j) y[j] -= s * x[j];
}

// y = s x
template <class T, class S, class U>
SARRUS_HD void set_scaled(T* y, S s, const U* x, int n) {
  for (int j = 0; j < n; ++j) y[j] = s * x[j];
}

// Entries of y that are `step` apart = x: a column of a matrix
template <class T>
SARRUS_HD void set_column(T* y, int step, const T* x, int n) {
  for (int i = 0; i < n; ++i) y[i * step] = x[i];
}

// y_k = x[at_k], and y[at_k] = x_k
template <class T, class I>
SARRUS_HD void gather(T* y, const T* x, const I* at, int n) {
  for (int k = 0; k < n; ++k) y[k] = x[at[k]];
}
template <class T, class I>
SARRUS_HD void scatter(T* y, const I* at, const T* x, int n) {
  for (int k = 0; k < n; ++k) y[at[k]] = x[k];
}

// y = a + b
template <class T, class A, class B>
SARRUS_HD void set_sum(T* y, const A* a, const B* b, int n) {
  for (int j = 0; j < n; ++j) y[j] = a[j] + b[j];
}

// y = a - b
template <class T, class A, class B>
SARRUS_HD void set_difference(T* y, const A* a, const B* b, int n) {
  for (int j = 0; j < n; ++j) y[j] = a[j] - b[j];
}

// y = a b, entry by entry
template <class T, class A, class B>
SARRUS_HD void multiply(T* y, const A* a, const B* b, int n) {
  for (int j = 0; j < n; ++j) y[j] = a[j] * b[j];
}

// y = a / b, entry by entry
template <class T, class A, class B>
SARRUS_HD void divide(T* y, const A* a, const B* b, int n) {
  for (int j = 0; j < n; ++j) y[j] = a[j] / b[j];
}

// y (n) = sum of x[i] times row i of A (count, n)
template <class T>
SARRUS_HD void combine_rows(T* y, const T* x, const T* A, int count, int n) {
  fill(y, n);
  for (int i = 0; i < count; ++i) add_scaled(y, x[i], A + i * n, n);
}

// A (n, n) = 1
template <class T>
SARRUS_HD void set_identity(T* A, int n) {
  fill(A, n * n);
  for (int i = 0; i < n; ++i) A[i * n + i] = T(1);
}

// Sum of products, in the order of the entries (base/padded_rows.hpp has one for padded rows)
template <class T>
SARRUS_HD T inner(const T* x, const T* y, int n) {
  T s = T(0);
  for (int i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
}

// s plus, or minus, the products of the entries, one after the other
template <class T, class A, class B>
SARRUS_HD T plus_products(T s, const A* x, const B* y, int n) {
  for (int i = 0; i < n; ++i) s += x[i] * y[i];
  return s;
}
template <class T, class A, class B>
SARRUS_HD T less_products(T s, const A* x, const B* y, int n) {
  for (int i = 0; i < n; ++i) s -= x[i] * y[i];
  return s;
}

template <class T>
SARRUS_HD void swap_entries(T* x, T* y, int n) {
  for (int i = 0; i < n; ++i) swap_(x[i], y[i]);
}

// x where it is larger (smaller) than y, otherwise y: also where x is NaN
template <class T>
SARRUS_HD T larger(T x, T y) {
  return select(x > y, x, y);
}
template <class T>
SARRUS_HD T smaller(T x, T y) {
  return select(x < y, x, y);
}

template <class T, class A, class B>
SARRUS_HD T within(T x, A least, B most) {
  return x > most ? T(most) : x < least ? T(least) : x;
}

// Sum of term(i) for i from 0 to n - 1, in this order
template <class T, class F>
SARRUS_HD T sum_of(int n, F term) {
  T sum = T(0);
  for (int i = 0; i < n; ++i) sum += term(i);
  return sum;
}

// The largest size(i), at least 0; NaN counts as nothing
template <class F>
SARRUS_HD auto largest_of(int n, F size) {
  decltype(size(0)) most = 0;
  for (int i = 0; i < n; ++i) most = larger(size(i), most);
  return most;
}

template <class F>
SARRUS_HD bool any_of(int n, F holds) {
  for (int i = 0; i < n; ++i)
    if (holds(i)) return true;
  return false;
}
template <class F>
SARRUS_HD bool all_of(int n, F holds) {
  for (int i = 0; i < n; ++i)
    if (!holds(i)) return false;
  return true;
}
template <class F>
SARRUS_HD int count_of(int n, F holds) {
  int count = 0;
  for (int i = 0; i < n; ++i) count += holds(i) ? 1 : 0;
  return count;
}

SARRUS_END
