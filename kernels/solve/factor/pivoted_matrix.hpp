// Any matrix, its rows eliminated by reflections with pivoting: rank, orthonormal bases, least solutions.
//
//   Pi A = [L 0] Q^T        (solve/factor/factorization.hpp, without units) (1)
#pragma once

#include "solve/factor/factorization.hpp"

SARRUS_BEGIN

constexpr double LOST = 1e-9;     // pivots below this, relative to the largest, are zero
constexpr double REGULAR = 1e-6;  // rows with all pivots above this are independent beyond doubt

template <class T>
struct Pivoted {
  Model<real<T>> m;
  Factor<T> f;
  T *A, *one;
  real<T> tol;
  int ld;

  // room for as many rows and columns
  SARRUS_HD void bind(Arena& arena, int rows, int cols) {
    int most = larger(rows, cols);
    ld = Stride<0>(cols);
    m.nc = rows, m.nv = cols, m.lengths = false;
    f.bind(arena, m, ld);
    arena.take(rows * ld, A);
    arena.take(most, one);
    if (arena.at) fill(one, most, 1);
    m.unit = m.row_unit = one;
  }
  SARRUS_HD T& at(int r, int c) { return A[r * ld + c]; }
  SARRUS_HD void load(const T* from, int rows, int cols) {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c) at(r, c) = from[r * cols + c];
  }
  SARRUS_HD T pivot(int k) const { return abs_(f.Y[k * ld + k]); }
  SARRUS_HD int rank() const { return f.rank; }
};

// Eliminate `rows` rows of length `cols`; it ends at pivots below `share` of the longest row, or below
// `least`.
template <class T>
SARRUS_FN void eliminate(Pivoted<T>& p, int rows, int cols, real<T> share, real<T> least) {
  T longest = T(0);
  for (int r = 0; r < rows; ++r) {
    for (int j = cols; j < p.ld; ++j) p.at(r, j) = T(0);
    T s = dot(p.A + r * p.ld, p.A + r * p.ld, p.ld);
    if (s > longest) longest = s;
  }
  p.m.nc = rows, p.m.nv = cols;
  p.tol = share * sqrt_(longest);
  if (p.tol < least) p.tol = least;
  p.m.rank_tol = &p.tol;
  factorize(p.m, p.A, static_cast<const T*>(nullptr), p.ld, -1, p.f);
}

// The smallest pivot over the largest, 1 where there is none: within a small factor the smallest singular
// value that counts over the largest.
template <class T>
SARRUS_HD T smallest_share(const Pivoted<T>& p) {
  return p.rank() ? p.pivot(p.rank() - 1) / p.pivot(0) : T(1);
}

// x <- Q x  (ld)
template <class T>
SARRUS_HD void turn_back(const Pivoted<T>& p, T* x) {
  for (int k = p.rank() - 1; k >= 0; --k)
    axpy(x, -(p.f.beta[k] * dot(p.f.H + k * p.ld, x, p.ld)), p.f.H + k * p.ld, p.ld);
}

// x (ld): column e of Q; those from the rank on span what the rows do not see
template <class T>
SARRUS_HD void basis_vector(const Pivoted<T>& p, int e, T* x) {
  fill(x, p.ld);
  x[e] = T(1);
  turn_back(p, x);
}

// x (ld): the shortest with A x = g, for independent rows
template <class T>
SARRUS_HD void shortest(const Pivoted<T>& p, const T* g, T* x) {
  fill(x, p.ld);
  for (int k = 0; k < p.rank(); ++k) {
    T s = g[row_at(p.f, k)];
    s = less_products(s, p.f.Y + k * p.ld, x, k);
    x[k] = s / p.f.Y[k * p.ld + k];
  }
  turn_back(p, x);
}

// y (as many as rows) with A^T y nearest to g, for independent rows; g (ld) is used up
template <class T>
SARRUS_HD void nearest(const Pivoted<T>& p, T* g, T* y) {
  fill(g + p.m.nv, p.ld - p.m.nv);
  for (int k = 0; k < p.rank(); ++k)
    axpy(g, -(p.f.beta[k] * dot(p.f.H + k * p.ld, g, p.ld)), p.f.H + k * p.ld, p.ld);
  for (int k = p.rank() - 1; k >= 0; --k) {
    for (int i = k + 1; i < p.rank(); ++i) g[k] -= p.f.Y[i * p.ld + k] * g[i];
    g[k] = g[k] / p.f.Y[k * p.ld + k];
    y[row_at(p.f, k)] = g[k];
  }
}

SARRUS_END
