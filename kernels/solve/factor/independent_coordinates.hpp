// Coordinates that determine a motion best: rows of a basis N of its directions with a large determinant.
//
//   dq = N y = K dq[chosen],    K = N N[chosen]^-1                                                        (1)
//
// Pivoted elimination chooses; then coordinates are exchanged while that enlarges the determinant, so that no
// entry of K exceeds GROWTH. N is orthonormal and without units.
#pragma once

#include "algebra/lu.hpp"
#include "base/padded_rows.hpp"

SARRUS_BEGIN

constexpr double INDEPENDENT_TOL =
    1e-7;  // rows shorter than this depend on the chosen ones; bound of 1 / |K|
constexpr double TIE =
    1e-6;  // relative difference of row norms below which the coordinate declared first is taken
constexpr double GROWTH = 1.05;
constexpr int MOST_SWAPS = 50;

template <class T>
struct ChoiceRoom {
  T *rest, *K, *x;  // (n, n), (n, n), (n)
  Lu<T> lu;

  SARRUS_HD void bind(Arena& arena, int n) {
    arena.take(n * n, rest, K);
    arena.take(n, x);
    lu.bind(arena, n);
  }
};

// K (n, k) of (1); false where the chosen rows depend on each other
template <class T>
SARRUS_FN bool determine(const T* N, int n, int k, const int* chosen, Lu<T>& lu, T* K) {
  lu.n = k;
  for (int i = 0; i < k; ++i) set_column(lu.A + i, k, N + chosen[i] * k, k);
  if (!factorize_lu(lu)) return false;
  copy(K, N, n * k);
  for (int i = 0; i < n; ++i) solve_lu(lu, K + i * k);
  T size = T(0);  // |K|^2, which is |N[chosen]^-1|^2
  size = plus_products(size, K, K, n * k);
  return size < real<T>(1 / (INDEPENDENT_TOL * INDEPENDENT_TOL));
}

// Adds to `chosen` (count of them) rows that are independent of those and of each other, of the candidates
// (all where null)   in: r.rest, rows of N less their parts along the chosen ones
template <class T>
SARRUS_FN int choose_rows(int n, int k, const unsigned char* candidate, int count, int* chosen,
                          ChoiceRoom<T>& r) {
  for (; count < k; ++count) {
    for (int i = 0; i < n; ++i) {
      bool may = !candidate || candidate[i];
      r.x[i] = may ? sqrt_(inner(r.rest + i * k, r.rest + i * k, k)) : T(0);
    }
    T longest = largest_of(n, [&](int i) { return r.x[i]; });
    if (!(longest > real<T>(INDEPENDENT_TOL))) break;
    int best = 0;
    while (!(r.x[best] >= longest * real<T>(1 - TIE))) ++best;
    chosen[count] = best;
    T *along = r.rest + best * k, size = r.x[best];
    for (int j = 0; j < k; ++j) along[j] = along[j] / size;
    for (int i = 0; i < n; ++i) {
      if (i == best) continue;
      subtract_scaled(r.rest + i * k, inner(r.rest + i * k, along, k), along, k);
    }
    fill(along, k);
  }
  return count;
}

SARRUS_HD void sort(int* x, int n) {
  for (int i = 1; i < n; ++i)
    for (int j = i; j > 0 && x[j] < x[j - 1]; --j) swap_(x[j], x[j - 1]);
}

// chosen (k): the coordinates that determine the directions N (n, k) best, ascending; `preferred` ones, where
// there are any, are kept as far as they are independent, and come first
template <class T>
SARRUS_FN bool choose(const T* N, int n, int k, const unsigned char* preferred, int* chosen,
                      ChoiceRoom<T>& r) {
  copy(r.rest, N, n * k);
  int count = preferred ? choose_rows(n, k, preferred, 0, chosen, r) : 0;
  count = choose_rows(n, k, static_cast<const unsigned char*>(nullptr), count, chosen, r);
  if (preferred || count < k) return count == k;
  for (int n_swaps = 0; n_swaps < MOST_SWAPS && k > 0; ++n_swaps) {
    if (!determine(N, n, k, chosen, r.lu, r.K)) return false;
    int largest = 0;
    for (int i = 1; i < n * k; ++i)
      if (abs_(r.K[i]) > abs_(r.K[largest])) largest = i;
    if (!(abs_(r.K[largest]) > real<T>(GROWTH))) break;
    chosen[largest % k] = largest / k;
  }
  sort(chosen, k);
  return true;
}

SARRUS_END
