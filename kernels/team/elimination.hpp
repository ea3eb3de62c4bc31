// The equations of constrained motion by a team:
//
//   [M  J^T] [  a  ]   [tau - h]
//   [J   0 ] [-lam ] = [ gamma ],   the matrix is L D L^T, J has the rows that are kept                  (1)
//
// The order of elimination is fixed: every row comes after all coordinates that it has entries in. Then the
// pivot of a row is minus the square of its distance, in the metric of what is eliminated, from the rows
// before it. It vanishes where J loses rank and nowhere else.
//
// All numbers are in one array x: entries u_ij = d_j l_ij, reciprocal pivots, right sides. Factorization and
// substitution are updates of one kind,
//
//   x_to -= x_a x_b x_d       u_ij -= u_ik u_jk / d_k,   y_i -= u_ij y_j / d_j,   w_j -= u_ij w_i / d_i   (2)
//
// and reciprocals. Rounds of updates that do not depend on each other are tables (src/sarrus/tracing/).
#pragma once

#include "constraints/constraints.hpp"
#include "team/tree_pass.hpp"

SARRUS_BEGIN

template <class T>
struct TeamEquations {
  T* x;      // entries, reciprocal pivots, right side, places for updates that do nothing
  T* scale;  // (kept rows) what pivots are compared with
  int inverse, right;

  template <class Tables>
  SARRUS_HD void bind(Arena& arena, const Tables& p, int nv) {
    inverse = p.entries;
    right = inverse + p.unknowns;
    arena.take(right + p.unknowns + p.width, x);
    arena.take(p.unknowns - nv, scale);
  }
  // Unknown i of (1) after a substitution
  SARRUS_HD T solution(int i) const { return x[right + i] * x[inverse + i]; }
};

template <class MayInvert, class T, class Index>
SARRUS_HD void update(MayInvert, const Update<Index>& one, T* x) {
  auto at = [&](Index i) -> T& { return *reinterpret_cast<T*>(reinterpret_cast<char*>(x) + i); };
  if constexpr (MayInvert::value)
    if (one.d == Index(~Index(0))) {
      at(one.to) = real<T>(1) / at(one.a);
      return;
    }
  at(one.to) -= at(one.a) * at(one.b) * at(one.d);
}

// Rounds [begin, end) of updates
template <class T, class Tables, class Team>
SARRUS_HD void update_rounds(const Tables& p, int begin, int end, T* x, Team& team) {
  team.rounds(p.updates, p.width, begin, end,
              [&](const auto& one, auto may_invert) { update(may_invert, one, x); });
}

// Where rows of an element go as they are computed: phi, gamma, the wrench, and J v (constraints/row.hpp (1))
template <class T>
struct RowsOfElement {
  const Rows<T>& r;
  T* Jv;
  Spatial<T> V, A;  // of b relative to a
  int first;

  struct Slot {
    const RowsOfElement& to;
    int k;
    SARRUS_HD void operator=(const Row<T>& row) const {
      to.r.phi[k] = row.phi;
      to.r.gamma[k] = -(dot(row.W_dot, to.V) + dot(row.W, to.A));
      to.r.W[k] = row.W;
      to.Jv[k] = dot(row.W, to.V);
    }
  };
  SARRUS_HD Slot operator[](int k) const { return {*this, first + k}; }
  SARRUS_HD RowsOfElement operator+(int n) const { return {r, Jv, V, A, first + n}; }
};

// phi and gamma of all rows, their wrenches r.W, and Jv (nc) = J v: no row has a drive
// in: the state, t (placed; moved, where gamma and Jv matter)
template <class T, class Team>
SARRUS_HD void rows_by_team(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t, Rows<T>& r, T* Jv,
                            Team& team) {
  team.each(m.ne + m.nk, [&](int i) {
    if (i >= m.ne) {
      int c = i - m.ne;
      values_of_coupling(m, c, s, r);
      Jv[m.k_row[c]] = sum_of<T>(m.k_end[c] - m.k_begin[c], [&](int k) {
        return slope_of_term(m, m.k_begin[c] + k, s.q) * s.v[m.kt_v[m.k_begin[c] + k]];
      });
      return;
    }
    int a = m.el_a[i], b = m.el_b[i], first = m.el_row[i];
    RowsOfElement<T> to = {r, Jv, t.V[b] - t.V[a], t.A[b] - t.A[a], first};
    with_element(m, i, [&](auto kind, const auto& c) {
      kind.rows(c, pair_of(t, a, b, c), to);
      if constexpr (requires { kind.column(c); })
        if (kind.column(c) >= 0) r.phi[first] -= s.q[kind.entry(c)], Jv[first] -= s.v[kind.column(c)];
    });
  });
}

// Entry s of the kept rows   in: the rows, t (placed)
template <class T, class Tables>
SARRUS_HD T entry_of_row(const Model<real<T>>& m, const Tables& p, int s, const T* q, const Tree<T>& t,
                         const Rows<T>& r) {
  int source = p.kept_source[s];
  if (source == ALONG) return dot(r.W[p.kept_of[s]], t.S[p.kept_column[s]]);
  if (source == AGAINST) return -dot(r.W[p.kept_of[s]], t.S[p.kept_column[s]]);
  if (source == MOVED) return T(-1);
  int c = source - COUPLED;
  T sum = T(0);
  for (int k = m.k_begin[c]; k < m.k_end[c]; ++k)
    if (m.kt_v[k] == p.kept_column[s]) sum += slope_of_term(m, k, q);
  return sum;
}

// The matrix of (1)   in: q, t (placed), the rows, I of subtrees, which may lie where the matrix goes
// f (nv): room
template <class T, class Tables, class Team>
SARRUS_HD void enter_equations(const Model<real<T>>& m, const Tables& p, const T* q, const Tree<T>& t,
                               const Rows<T>& r, const Inertia<T>* I, Spatial<T>* f, TeamEquations<T>& e,
                               Team& team) {
  T* x = e.x;
  team.each(m.nv, [&](int k) { f[k] = I[p.node_of[k]] * t.S[k]; });
  team.each(e.inverse, [&](int i) { x[i] = T(0); });
  team.each(p.branches, [&](int s) {
    int k = p.branch_of[s], j = p.branch_column[s];
    T entry = dot(t.S[j], f[k]);
    x[p.branch_place[s]] = j == k ? entry + m.armature[k] : entry;
  });
  team.each(p.kept_entries, [&](int s) { x[p.kept_place[s]] = entry_of_row(m, p, s, q, t, r); });
}

// What the pivots of kept row k are compared with   in: the matrix of (1)
template <class T, class Tables>
SARRUS_HD T scale_of_row(const Model<real<T>>& m, const Tables& p, const TeamEquations<T>& e, int k) {
  T light = T(0), squared = T(0);
  real<T> unit = m.row_unit[p.kept_row[k]];
  for (int s = p.kept_begin[k]; s < p.kept_begin[k + 1]; ++s) {
    int j = p.kept_column[s];
    T entry = e.x[p.kept_place[s]], without = entry * (m.unit[j] / unit);
    light += entry * entry / e.x[p.diagonal[j]];
    squared += without * without;
  }
  return light / squared;
}

// J v of kept row k   in: the matrix of (1)
template <class T, class Tables>
SARRUS_HD T kept_row_times(const Tables& p, const TeamEquations<T>& e, int k, const T* v) {
  T sum = T(0);
  for (int s = p.kept_begin[k]; s < p.kept_begin[k + 1]; ++s)
    sum += e.x[p.kept_place[s]] * v[p.kept_column[s]];
  return sum;
}

// The smallest pivot of kept rows in units of their length, as of J without units; 0 where M, or what is
// left
// of it, is not positive definite   in: factorized
template <class T, class Tables, class Team>
SARRUS_HD T smallest_pivot_of(const Model<real<T>>& m, const Tables& p, const TeamEquations<T>& e,
                              Team& team) {
  constexpr real<T> LOST = real<T>(1e30);
  T most = team.most(p.unknowns, [&](int i) {
    T x = e.x[e.inverse + i];
    if (i < m.nv) return x > real<T>(0) ? T(0) : T(LOST);
    return x < real<T>(0) ? -(x * e.scale[i - m.nv]) : T(LOST);
  });
  return most > real<T>(0) ? p.pivot_part / sqrt_(most) : T(real<T>(1e15)) * (most + real<T>(1));
}

SARRUS_END
