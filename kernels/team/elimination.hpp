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
  T* J;      // (kept_entries) of kept rows
  T* scale;  // (kept rows) what pivots are compared with
  int inverse, right;

  template <class Tables>
  SARRUS_HD void bind(Arena& arena, const Tables& p, int nv) {
    inverse = p.entries;
    right = inverse + p.unknowns;
    arena.take(right + p.unknowns + p.width, x);
    arena.take(p.kept_entries, J);
    arena.take(p.unknowns - nv, scale);
  }
  // Unknown i of (1) after a substitution
  SARRUS_HD T solution(int i) const { return x[right + i] * x[inverse + i]; }
};

template <class T, class Index>
SARRUS_HD void update(const Update<Index>& one, T* x) {
  if (one.d == Index(~Index(0)))
    x[one.to] = real<T>(1) / x[one.a];
  else
    x[one.to] -= x[one.a] * x[one.b] * x[one.d];
}

// Rounds [begin, end) of updates
template <class T, class Tables, class Team>
SARRUS_HD void update_rounds(const Tables& p, int begin, int end, T* x, Team& team) {
  team.rounds(p.updates, p.width, begin, end, [&](const auto& one) { update(one, x); });
}

// Values of all rows, their wrenches r.W, and Jv (nc) = J v   in: the state, t (placed; moved, where gamma
// and Jv matter)
template <class T, class Team>
SARRUS_HD void rows_by_team(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t, Rows<T>& r, T* Jv,
                            Team& team) {
  team.each(m.ne + m.nk, [&](int i) {
    if (i < m.ne) {
      rows_of_element(m, i, s, t, r, [](int, int, int, const T&) {});
      Spatial<T> V = t.V[m.el_b[i]] - t.V[m.el_a[i]];
      for (int k = m.el_row[i]; k < m.el_row[i] + m.el_rows[i]; ++k) Jv[k] = dot(r.W[k], V);
      int column = moved_column(m, i);
      if (column >= 0) Jv[m.el_row[i]] -= s.v[column];
      return;
    }
    int c = i - m.ne, row = m.k_row[c];
    values_of_coupling(m, c, s, r);
    T sum = T(0);
    for (int k = m.k_begin[c]; k < m.k_end[c]; ++k) sum += slope_of_term(m, k, s.q) * s.v[m.kt_v[k]];
    Jv[row] = sum;
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

// The matrix of (1), and what pivots are compared with   in: q, t (placed), the rows, I of subtrees
template <class T, class Tables, class Team>
SARRUS_HD void enter_equations(const Model<real<T>>& m, const Tables& p, const T* q, const Tree<T>& t,
                               const Rows<T>& r, const Inertia<T>* I, TeamEquations<T>& e, Team& team) {
  T* x = e.x;
  team.each(e.inverse, [&](int i) { x[i] = T(0); });
  team.each(m.nv, [&](int k) {
    Spatial<T> f = I[p.node_of[k]] * t.S[k];
    int begin = p.branch_begin[k];
    for (int s = begin; s < p.branch_begin[k + 1]; ++s) {
      T entry = dot(t.S[p.branch_column[s]], f);
      x[p.branch_place[s]] = s == begin ? entry + m.armature[k] : entry;
    }
  });
  team.each(p.kept_entries, [&](int s) {
    T entry = entry_of_row(m, p, s, q, t, r);
    e.J[s] = entry;
    x[p.kept_place[s]] = entry;
  });
  team.each(p.unknowns - m.nv, [&](int k) {
    T light = T(0), squared = T(0);
    real<T> unit = m.row_unit[p.kept_row[k]];
    for (int s = p.kept_begin[k]; s < p.kept_begin[k + 1]; ++s) {
      int j = p.kept_column[s];
      T entry = e.J[s], without = entry * (m.unit[j] / unit);
      light += entry * entry / x[p.branch_place[p.branch_begin[j]]];
      squared += without * without;
    }
    e.scale[k] = light / squared;
  });
}

// J v of kept row k   in: e.J
template <class T, class Tables>
SARRUS_HD T kept_row_times(const Tables& p, const TeamEquations<T>& e, int k, const T* v) {
  T sum = T(0);
  for (int s = p.kept_begin[k]; s < p.kept_begin[k + 1]; ++s) sum += e.J[s] * v[p.kept_column[s]];
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
