// The factorization of the constraints as data, and its dense elimination: Householder reflections with row
// pivoting [Golub2013] sec. 5.4, K carried along. What the parts mean: solve/factor/factorization.hpp.
//
// Lanes of a pack may differ in rank: alive[k] says whether pivot k counts, `rank` is the largest and
// `first` the smallest rank of all lanes. For scalars both are equal and every mask is trivial.
#pragma once

#include "algebra/sparse_elimination.hpp"
#include "solve/factor/augmented_inertia.hpp"

SARRUS_BEGIN

template <class T>
struct Factor {
  T* Y;      // (nr, ld) rows in pivot order, then L in the first rank columns
  T* H;      // (nv, ld) reflectors, zero before their own column, one on it
  T* beta;   // (nv)
  T* K;      // (nv, ld) transformed inertia; rows >= first then hold its elimination
  T* inv_d;  // (nv) reciprocal pivots of that elimination
  T* order;  // (nr) which row stands at a position, and its unit
  T* unit;
  T* norm;  // (nr) squared length still to be eliminated, and its value when last computed afresh
  T* norm_ref;
  T* alive;                   // (nv) 1 or 0
  T* U;                       // (nv, lc) reflectors of the second factorization, rows of length nc
  T* U_beta;                  // (nv)
  T* T_diag;                  // (nv) diagonal of T; above it, T_jk = U[k][j] for j < k
  T* work;                    // (max(ld, lc) * 2)
  int rank, first;            // pivots in all: largest and smallest over the lanes
  int rank_rows, first_rows;  // those of J itself, without the limit rows of a singular pose
  int lc;
  bool spd;  // nothing was NaN and the inertia seen by the free motion is positive definite
  // Where it is not zero, J is factorized by entries as long as reflectors have at most this part of the
  // entries of dense ones. The caller then must not read H, Y, U or the rows of K above `first`.
  double by_entries = 0;
  bool sparse = false;    // the factorization is by entries: in `rows` instead of Y, H, beta, `left` for U
  Entries<T> rows, left;  // bound, like `wide` (nv, ld), only for large mechanisms
  T* wide;
  bool regular = false;  // `augmented` is factorized instead, and nothing above is there but the ranks
  real<T> least = 0;     // estimate of the smallest pivot then
  Augmented<T> augmented;

  // Whether the sparse factorization is compiled for this stride and scalar.
  template <class LD>
  static constexpr bool maybe_sparse = Large<LD>::value && Plain<T>::value;
  // The same of the augmented inertia.
  template <class LD>
  static constexpr bool maybe_augmented = Large<LD>::value && Plain<T>::value;

  template <class LD>
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m, LD ld) {
    int nr = 2 * m.nc;  // room for the limit rows
    lc = (m.nc + LANES - 1) / LANES * LANES;
    if (lc == 0) lc = LANES;
    arena.take(nr * ld, Y);
    arena.take(m.nv * ld, H, K);
    arena.take(m.nv, beta, inv_d, alive, U_beta, T_diag);
    arena.take(nr, order, unit, norm, norm_ref);
    arena.take(m.nv * lc, U);
    arena.take(2 * larger(int(ld), lc), work);
    if constexpr (maybe_sparse<LD>) {
      rows.bind(arena, nr, m.nv, ld);
      left.bind(arena, m.nv, m.nc, lc);
      rows.Y = Y;
      rows.rounding = real<T>(1e-30);  // rows are of order one
      left.Y = U;
      arena.take(m.nv * ld, wide);
    }
    if constexpr (maybe_augmented<LD>)
      if (m.fronts) augmented.bind(arena, m);
  }
};

// The row at position k, in the order of declaration
template <class T>
SARRUS_HD int row_at(const Factor<T>& f, int k) {
  return static_cast<int>(value(f.order[k]));
}

// g in pivot order
template <class T>
SARRUS_HD T at_position(const Factor<T>& f, const T* g, int k, int n) {
  if constexpr (Branching<T>::value) {
    return g[row_at(f, k)];
  } else {
    T x = g[0];
    for (int r = 1; r < n; ++r) x = select(f.order[k] > real<T>(r) - real<T>(0.5), g[r], x);
    return x;
  }
}

// Bring the longest row of the positions [k, end) to k.
template <class T>
SARRUS_HD void pivot(Factor<T>& f, int k, int end, int ld) {
  T* per_row[4] = {f.norm, f.norm_ref, f.order, f.unit};
  if constexpr (Branching<T>::value) {
    int best = k;
    for (int r = k + 1; r < end; ++r)
      if (decide(f.norm[r] > f.norm[best])) best = r;
    if (best == k) return;
    swap_entries(f.Y + k * ld, f.Y + best * ld, ld);
    for (T* x : per_row) swap_(x[k], x[best]);
  } else {  // the same exchange, lane by lane: an instance's bits must not depend on its batch mates
    T best = T(real<T>(k)), longest = f.norm[k];
    for (int r = k + 1; r < end; ++r) {
      auto longer = f.norm[r] > longest;
      best = select(longer, T(real<T>(r)), best);
      longest = select(longer, f.norm[r], longest);
    }
    for (int r = k + 1; r < end; ++r) {
      auto here = (best - real<T>(r)) * (best - real<T>(r)) < real<T>(0.25);
      if (!any(here)) continue;
      auto exchange = [&](T& a, T& b) {
        T t = a;
        a = select(here, b, t);
        b = select(here, t, b);
      };
      for (int j = 0; j < ld; ++j) exchange(f.Y[k * ld + j], f.Y[r * ld + j]);
      for (T* x : per_row) exchange(x[k], x[r]);
    }
  }
}

// Reflect the rows at the positions [begin, end) by H_k and keep their lengths up to date; a length that
// lost most of its digits is computed afresh: the rank decision needs it far below the square root of the
// precision.
template <class T>
SARRUS_HD void reflect_rows(Factor<T>& f, int k, int begin, int end, int ld) {
  const T* v = f.H + k * ld;
  for (int r = begin; r < end; ++r) {
    T* row = f.Y + r * ld;
    if constexpr (Plain<T>::value)
      if (f.norm[r] == 0) continue;  // nothing is left of it
    axpy(row, -(f.beta[k] * dot(row, v, ld)), v, ld);
    f.norm[r] -= row[k] * row[k];
    auto stale = decide(f.norm[r] < f.norm_ref[r] * real<T>(1e-3));
    if (any(stale)) {
      T s = T(0);
      s = plus_products(s, row + k + 1, row + k + 1, ld - k - 1);
      f.norm[r] = select(stale, s, f.norm[r]);
      f.norm_ref[r] = select(stale, s, f.norm_ref[r]);
    }
  }
}

// K <- H K H: with u = beta K v and w = u - (beta/2)(u.v) v,  K -= v w^T + w v^T. Rows up to k are final
// and never read again.
template <class T>
SARRUS_HD void reflect_inertia(Factor<T>& f, int k, int nv, int ld) {
  const T* SARRUS_RESTRICT v = f.H + k * ld;
  T* SARRUS_RESTRICT u = f.work;
  combine(u, v, f.K, k, nv, ld);
  T b = f.beta[k], c = b * b * dot(u, v, ld) * real<T>(0.5);
  blend(u, b, -c, v, ld);
  for (int r = k + 1; r < nv; ++r) rank_two(f.K + r * ld, v[r], u, u[r], v, ld);
}

// Eliminate the rows at the positions [begin, end), as pivots rank, rank + 1, ... hold < 0: rows shorter
// than tol are dependent; otherwise exactly `hold` pivots are taken.
template <class T, class LD>
SARRUS_FN void eliminate_rows(Factor<T>& f, int begin, int end, int nv, LD ld, real<T> tol, int hold,
                              bool inertia) {
  int most = hold >= 0 ? hold : nv;
  for (int at = begin; at < end && f.rank < most; ++at) {
    int k = f.rank;
    pivot(f, at, end, ld);
    T *row = f.Y + at * ld, *v = f.H + k * ld;
    copy(v, row, ld);
    fill(v, k);
    T squared = dot(v, v, ld);
    auto live = squared > (hold >= 0 ? real<T>(0) : tol * tol);
    if (!any(live)) break;
    row[k] = reflector(v, k, ld, squared, live, f.beta[k]);
    fill(row + k + 1, ld - k - 1);
    f.alive[k] = select(live, T(1), T(0));
    reflect_rows(f, k, at + 1, end, ld);
    if (inertia) reflect_inertia(f, k, nv, ld);
    f.rank = k + 1;
    if (all(live)) f.first = k + 1;
  }
}

SARRUS_END
