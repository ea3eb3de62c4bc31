// One state of a large mechanism whose orthogonal factorization would be dense (nets of loops): the augmented
// inertia instead, where the rows that are independent within their element are clearly independent.
//
// Where they are not, B of factor/augmented_inertia.hpp (3) has the eigenvalue 1 and others far below it, and
// a few steps of the power iteration find it.
#pragma once

#include "solve/search/consistent_velocity.hpp"

SARRUS_BEGIN

constexpr int REGULAR_FROM = 200;   // coordinates from which this pays
constexpr int SURE_PROBES = 20;     // steps of the power iteration at a pose of which nothing is known
constexpr int VELOCITY_SOLVES = 2;  // the second one mends the rounding of the first
constexpr int NULL_MOTIONS = 4;     // in general position: what rests in all of them cannot move

// Whether the orthogonal factorization would be dense, and large
SARRUS_HD bool fills_up(const auto& m) { return m.fronts && !m.sparse && m.nv >= REGULAR_FROM; }

// in: J and M by entries, at the last evaluation   out: w factorized, w.by_entries
template <class T, int LDC>
SARRUS_FN bool factorize_clearly(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  Augmented<T>& a = w.factor.augmented;
  w.by_entries = w.factor.regular = false;
  if (!choose_rows(m, a) || a.rank == 0) return false;
  begin_probe(m, a);
  a.augment = a.most = real<T>(MOST_AUGMENT);
  if (!factorize_regular(m, w)) {
    a.augment = a.most = real<T>(LESS_AUGMENT);
    if (!factorize_regular(m, w)) return false;
  }
  watch_regular_rows(m, SURE_PROBES, a);
  w.by_entries = w.factor.regular = a.share > real<T>(LEAST_SHARE) && a.distance > real<T>(LEAST_SHARE);
  w.factor.least = a.distance;
  return w.by_entries;
}

constexpr double NEARBY = 1e-2;  // displacement, without units, of a pose in general position

// Whether more rows are independent within their element near the pose: some are lost here only.
// in: a.taken   Uses up w.tree and the rows.
template <class T, int LDC>
SARRUS_FN bool loses_rows_here(const Model<real<T>>& m, const State<T>& s, Workspace<T, LDC>& w) {
  Augmented<T>& a = w.factor.augmented;
  int rank = a.rank;
  unsigned x = 1;
  for (int j = 0; j < m.nv; ++j) {
    x = x * 1664525u + 1013904223u;
    w.change[j] = T(NEARBY * m.unit[j] * (real<T>(x >> 8) / (1 << 23) - real<T>(1)));
  }
  integrate(m, s.q, w.change, a.near);
  place(m, a.near, w.tree);
  move(m, s.v, w.tree);
  constraints_by_entries(m, State<T>{a.near, s.v, s.drive, s.user}, w.tree, w.rows, a);
  return !choose_rows(m, a) || a.rank != rank;
}

// Whether the state was evaluated and factorized so. in: the state   out: h, the rows, w.factor
template <class T, int LDC>
SARRUS_FN bool evaluate_regular(const Model<real<T>>& m, const State<T>& s, Workspace<T, LDC>& w) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>) {
    w.by_entries = w.factor.regular = false;
    if (!fills_up(m)) return false;
    auto rows = [&] {
      place(m, s.q, w.tree);
      move(m, s.v, w.tree);
      constraints_by_entries(m, s, w.tree, w.rows, w.factor.augmented);
    };
    rows();
    if (!choose_rows(m, w.factor.augmented)) return false;
    if (w.factor.augmented.rank < m.nc) {
      if (loses_rows_here(m, s, w)) return false;
      rows();
    }
    weigh(m, w.tree, w.bodies.I);
    bias(m, s.q, s.v, w.tree, w.bodies, w.h);
    inertia_by_entries(m, w);
    return factorize_clearly(m, w);
  }
  return false;
}

// The metric that divides lengths by L in place of M
template <class T, int LDC>
SARRUS_FN void plain_metric(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  T* entry = w.factor.augmented.branches_now;
  w.factor.augmented.few.at_tree = false;
  each_branch(m, [&](int k, int j) { *entry++ = T(k == j ? 1 / (m.unit[k] * m.unit[k]) : 0); });
}

// v (ld) with J v = b, nearest to v0 in the metric that is factorized; w.extra = b - J v
template <class T, int LDC>
SARRUS_FN void nearest_velocity(const Model<real<T>>& m, const T* v0, Workspace<T, LDC>& w, T* v) {
  fill(v, w.ld);
  copy(v, v0, m.nv);
  Augmented<T>& a = w.factor.augmented;
  auto times = [&](const T* x, T* y) { branches_times(m, a, x, y); };
  fill(w.rhs, m.nv);
  for (int i = 0; i < VELOCITY_SOLVES; ++i) {
    velocity_residual(m, v, w);
    if (by_few_rows(m, a))
      normal_few(m, w.extra, a, w.a);
    else
      solve_augmented(m, AugmentedTask<T>{w.extra, w.rhs, MOST_SOLVES, real<T>(0)}, times, w.a, a);
    add(v, w.a, m.nv);
  }
  velocity_residual(m, v, w);
}

// out (nv): 1 for coordinates that no row has an entry of, 0 for those that cannot move, else a part of 1
// in: factorized, with the metric that divides lengths by L
template <class T, int LDC>
SARRUS_FN void mobile_parts(const Model<real<T>>& m, Workspace<T, LDC>& w, T* v, T* out) {
  fill(out, m.nv);
  fill(w.rows.b, m.nc);
  unsigned x = 1;
  for (int n = 0; n < NULL_MOTIONS; ++n) {
    for (int j = 0; j < m.nv; ++j) {
      x = x * 1664525u + 1013904223u;
      w.change[j] = T(m.unit[j] * (real<T>(x >> 8) / (1 << 23) - real<T>(1)));
    }
    nearest_velocity(m, w.change, w, v);
    for (int j = 0; j < m.nv; ++j) out[j] += v[j] * v[j] / (m.unit[j] * m.unit[j]) / (2 * NULL_MOTIONS);
  }
  fill(w.change, m.nv);
  each_row(m, w.factor.augmented.rows_now, [&](int r, const T* row, const int* cols, int n) {
    for (int i = 0; i < n; ++i) {
      T size = abs_(row[i]) * m.unit[cols[i]] / m.row_unit[r];
      if (size > w.change[cols[i]]) w.change[cols[i]] = size;
    }
  });
  for (int j = 0; j < m.nv; ++j)
    if (!(w.change[j] > m.rank_tol[0])) out[j] = T(1);
}

SARRUS_END
