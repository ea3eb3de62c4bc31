// Inner loops over padded rows: lengths are multiples of LANES, entries outside the mathematical range are
// zero. A constant trip count over whole rows is worth more than the saved multiplications. Doubles go
// block by block (a compiler left alone unrolls such loops into scalar code); every other scalar one by one.
#pragma once

#include "base/vectors.hpp"

SARRUS_BEGIN

// The entries from x on that inner loops move at a time: Vector<T>::size of them.
template <class T>
SARRUS_HD typename Vector<T>::type& piece(T* x) {
  return *reinterpret_cast<typename Vector<T>::type*>(x);
}
template <class T>
SARRUS_HD const typename Vector<T>::type& piece(const T* x) {
  return *reinterpret_cast<const typename Vector<T>::type*>(x);
}

// y += s x
template <class T>
SARRUS_HD void axpy(T* SARRUS_RESTRICT y, const T& s, const T* SARRUS_RESTRICT x, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) piece(y + j) += s * piece(x + j);
}

// y -= a x + b z
template <class T>
SARRUS_HD void rank_two(T* SARRUS_RESTRICT y, const T& a, const T* SARRUS_RESTRICT x, const T& b,
                        const T* SARRUS_RESTRICT z, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) piece(y + j) -= a * piece(x + j) + b * piece(z + j);
}

// x <- a x + b z
template <class T>
SARRUS_HD void blend(T* SARRUS_RESTRICT x, const T& a, const T& b, const T* SARRUS_RESTRICT z, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) piece(x + j) = a * piece(x + j) + b * piece(z + j);
}

// y = s x
template <class T>
SARRUS_HD void scaled(T* SARRUS_RESTRICT y, const T& s, const T* SARRUS_RESTRICT x, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) piece(y + j) = s * piece(x + j);
}

// x <- s x
template <class T>
SARRUS_HD void scaled_in_place(T* SARRUS_RESTRICT x, const T& s, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) piece(x + j) = piece(x + j) * s;
}

// x <- c x - s y,  y <- s x + c y, for n entries that are `step` apart
template <class T>
SARRUS_HD void rotate(T* x, T* y, int step, int n, const T& c, const T& s) {
  for (int i = 0; i < n * step; i += step) {
    T t = c * x[i] - s * y[i];
    y[i] = s * x[i] + c * y[i];
    x[i] = t;
  }
}

// y = sum of c[r] A[r] over the rows r in [begin, end) of a matrix of stride n; sums stay in registers
template <class T>
SARRUS_HD void combine(T* SARRUS_RESTRICT y, const T* SARRUS_RESTRICT c, const T* SARRUS_RESTRICT A,
                       int begin, int end, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) {
    typename Vector<T>::type s = c[begin] * piece(A + begin * n + j);
    for (int r = begin + 1; r < end; ++r) s += c[r] * piece(A + r * n + j);
    piece(y + j) = s;
  }
}

// y += sum of c[r] A[r] over `count` rows of a matrix of stride n
template <class T>
SARRUS_HD void add_combination(T* SARRUS_RESTRICT y, const T* SARRUS_RESTRICT c, const T* SARRUS_RESTRICT A,
                               int count, int n) {
  for (int j = 0; j < n; j += Vector<T>::size) {
    typename Vector<T>::type s = piece(y + j);
    for (int r = 0; r < count; ++r) s += c[r] * piece(A + r * n + j);
    piece(y + j) = s;
  }
}

// Sum of LANES numbers, in the order of base/platform.hpp
template <class T>
SARRUS_HD T sum(const T* s) {
  return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]));
}

// Sum of products, in LANES partial sums whatever the scalar: packs and doubles give the same bits.
template <class T>
SARRUS_HD T dot(const T* SARRUS_RESTRICT x, const T* SARRUS_RESTRICT y, int n) {
  constexpr int one = Vector<T>::size;
  typename Vector<T>::type s[LANES / one];
  for (int l = 0; l < LANES; l += one) s[l / one] = piece(x + l) * piece(y + l);
  for (int j = LANES; j < n; j += LANES)
    for (int l = 0; l < LANES; l += one) s[l / one] += piece(x + j + l) * piece(y + j + l);
  return sum(s);
}

// Reflection that maps x to alpha e_k: x becomes the reflector, alpha is returned. Dead lanes: identity.
template <class T, class M>
SARRUS_HD T reflector(T* SARRUS_RESTRICT x, int k, int n, const T& squared, const M& live, T& beta) {
  T length = sqrt_(select(live, squared, T(1)));
  T alpha = select(x[k] > real<T>(0), -length, length);
  T v0 = x[k] - alpha;
  T scale = select(live, real<T>(1) / select(live, v0, T(1)), T(0));
  beta = select(live, -v0 / alpha, T(0));
  for (int j = 0; j < n; ++j) x[j] = x[j] * scale;
  x[k] = select(live, T(1), T(0));
  return alpha;
}

// The largest of x[0 .. n)
template <class T>
SARRUS_HD real<T> largest(const T* SARRUS_RESTRICT x, int n) {
  real<T> most[LANES];
  for (int l = 0; l < LANES; ++l) most[l] = value(x[l]);
  for (int j = LANES; j < n; j += LANES)
    for (int l = 0; l < LANES; ++l) most[l] = value(x[j + l]) > most[l] ? value(x[j + l]) : most[l];
  for (int l = 1; l < LANES; ++l) most[0] = most[l] > most[0] ? most[l] : most[0];
  return most[0];
}

// The least c[j] among those with x[j] > bound; NONE_ABOVE where there is none
constexpr double NONE_ABOVE = 1e15;
template <class T>
SARRUS_HD real<T> least_above(const T* SARRUS_RESTRICT x, real<T> bound, const T* SARRUS_RESTRICT c, int n) {
  real<T> least[LANES];
  for (int l = 0; l < LANES; ++l) least[l] = real<T>(NONE_ABOVE);
  for (int j = 0; j < n; j += LANES)
    for (int l = 0; l < LANES; ++l) {
      bool less = (value(x[j + l]) > bound) & (value(c[j + l]) < least[l]);
      least[l] = less ? value(c[j + l]) : least[l];
    }
  for (int l = 1; l < LANES; ++l) least[0] = least[l] < least[0] ? least[l] : least[0];
  return least[0];
}

SARRUS_END
