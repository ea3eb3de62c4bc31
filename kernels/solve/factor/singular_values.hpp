// Singular values of a small matrix: reflections with pivoting, then Jacobi rotations of the columns of L.
//
//   Pi A = [L 0] Q^T,   L W = U diag(s),   V = Q [W 0; 0 1]                                               (1)
//
// [Drmac2008]. Singular values far below the largest one are accurate too, so a rank tolerance of 1e-9 has
// a meaning. Rows that are independent beyond doubt need no rotations: W = 1, and substitution solves them.
#pragma once

#include "solve/factor/pivoted_matrix.hpp"

SARRUS_BEGIN

constexpr int JACOBI_SWEEPS = 30;
constexpr double ORTHOGONAL = 1e-15;  // columns whose cosine is below this are orthogonal

template <class T>
struct SingularValues {
  Pivoted<T> p;
  T *LW, *W, *s;  // (count, lr) columns of L W, rows in pivot order; (count, count) columns of W; (count)
  int count, lr;  // count: singular values; 0 where rows were only eliminated

  // room for as many rows and columns
  SARRUS_HD void bind(Arena& arena, int rows, int cols) {
    int most = smaller(rows, cols);
    p.bind(arena, rows, cols);
    lr = Stride<0>(rows);
    arena.take(most * lr, LW);
    arena.take(most * most, W);
    arena.take(most, s);
  }
  SARRUS_HD T& at(int r, int c) { return p.at(r, c); }
  // singular values above `least`
  SARRUS_HD int rank(const T& least) const {
    int n = 0;
    while (n < count && s[n] > least) ++n;
    return n;
  }
};

// One sweep over all pairs of columns of L W; false where all were orthogonal already.
template <class T>
SARRUS_FN bool jacobi_sweep(SingularValues<T>& d) {
  bool turned = false;
  for (int i = 0; i < d.count; ++i)
    for (int j = i + 1; j < d.count; ++j) {
      T *x = d.LW + i * d.lr, *y = d.LW + j * d.lr;
      T xx = dot(x, x, d.lr), yy = dot(y, y, d.lr), xy = dot(x, y, d.lr);
      if (!(abs_(xy) > real<T>(ORTHOGONAL) * sqrt_(xx) * sqrt_(yy))) continue;
      T zeta = (yy - xx) / (xy * real<T>(2)), size = abs_(zeta) + sqrt_(zeta * zeta + real<T>(1));
      T t = (zeta > 0 ? T(1) : T(-1)) / size, c = real<T>(1) / sqrt_(t * t + real<T>(1));
      rotate(x, y, 1, d.lr, c, c * t);
      rotate(d.W + i * d.count, d.W + j * d.count, 1, d.count, c, c * t);
      turned = true;
    }
  return turned;
}

// in: `rows` rows of length `cols` in d.p.A   Returns false where an entry is not a number.
template <class T>
SARRUS_FN bool decompose(SingularValues<T>& d, int rows, int cols) {
  eliminate(d.p, rows, cols, real<T>(0), real<T>(0));
  if (!d.p.f.spd) return false;
  d.count = d.p.rank();
  fill(d.LW, d.count * d.lr);
  fill(d.W, d.count * d.count);
  for (int j = 0; j < d.count; ++j) {
    for (int i = 0; i < rows; ++i) d.LW[j * d.lr + i] = d.p.f.Y[i * d.p.ld + j];
    d.W[j * d.count + j] = T(1);
  }
  for (int n = 0; n < JACOBI_SWEEPS && jacobi_sweep(d); ++n) {
  }
  for (int i = 0; i < d.count; ++i) d.s[i] = sqrt_(dot(d.LW + i * d.lr, d.LW + i * d.lr, d.lr));
  for (int i = 0; i < d.count; ++i)  // descending
    for (int j = i + 1; j < d.count; ++j) {
      if (!(d.s[j] > d.s[i])) continue;
      swap_(d.s[i], d.s[j]);
      swap_entries(d.LW + i * d.lr, d.LW + j * d.lr, d.lr);
      swap_entries(d.W + i * d.count, d.W + j * d.count, d.count);
    }
  return true;
}

// Whether the rows in d.p.A are independent beyond doubt; then nothing but the elimination is needed.
template <class T>
SARRUS_FN bool independent(SingularValues<T>& d, int rows, int cols, real<T> least) {
  d.count = 0;
  eliminate(d.p, rows, cols, real<T>(REGULAR), least);
  return d.p.rank() == rows;
}

// s_i u_i . g
template <class T>
SARRUS_HD T along_left(const SingularValues<T>& d, int i, const T* g) {
  return sum_of<T>(d.p.m.nc, [&](int k) { return d.LW[i * d.lr + k] * g[row_at(d.p.f, k)]; });
}

// out: V (n, end - begin), the columns [begin, end) of V; those from the rank on span what the rows do not
// see
template <class T>
SARRUS_FN void right_vectors(const SingularValues<T>& d, int begin, int end, T* x, T* V) {
  for (int e = begin; e < end; ++e) {
    fill(x, d.p.ld);
    x[e] = T(1);
    if (e < d.count) copy(x, d.W + e * d.count, d.count);
    turn_back(d.p, x);
    for (int i = 0; i < d.p.m.nv; ++i) V[i * (end - begin) + e - begin] = x[i];
  }
}

// x (ld): sum over i < rank of v_i (u_i . g) s_i / (s_i^2 + d2): the shortest x with A x nearest to g where
// d2 = 0, damped otherwise
template <class T>
SARRUS_FN void solve_damped(const SingularValues<T>& d, int rank, const T& d2, const T* g, T* x) {
  if (d.count == 0) return shortest(d.p, g, x);
  fill(x, d.p.ld);
  for (int i = 0; i < rank; ++i) {
    T y = along_left(d, i, g) / (d.s[i] * d.s[i] + d2);
    add_scaled(x, y, d.W + i * d.count, d.count);
  }
  turn_back(d.p, x);
}

SARRUS_END
