// All rows of a model: those of elements between nodes, of couplings and drives, and those that the user
// computes; and which columns each of them can have entries in.
#pragma once

#include "constraints/coupling_terms.hpp"
#include "constraints/kinds.hpp"

SARRUS_BEGIN

// Whether all rows restrict positions
template <class R>
SARRUS_HD bool all_holonomic(const Model<R>& m) {
  return all_of(m.nc, [&](int r) { return m.row_holonomic[r] != 0; });
}

// Column of a coordinate that moves neither body but is subtracted from the first row of element i; -1: none
template <class R>
SARRUS_HD int moved_column(const Model<R>& m, int i) {
  int column = -1;
  with_element(m, i, [&](auto kind, const auto& c) {
    if constexpr (requires { kind.column(c); }) column = kind.column(c);
  });
  return column;
}

// The pair of element i; in lanes with frame A where a latch has moved it.
template <class Kind, class T, class C>
SARRUS_HD Pair<T> pair_of_element(const Model<real<T>>& m, int i, const Tree<T>& t, const C& c,
                                  const Rows<T>& r) {
  int a = m.el_a[i], b = m.el_b[i];
  if constexpr (!Branching<T>::value && requires(Kind kind) { kind.moved(c, c); })
    if (r.latched) return pair_of(t, a, b, c, r.latched[i]);
  return pair_of(t, a, b, c);
}

// Rows of the elements, (1) of constraints/row.hpp. Columns that move both sides equally are left out of the
// support, so they cancel exactly. J is the derivative of phi off the manifold too.
// write(i, k, s, x): x is the entry of row k of element i in column sup_col[s]
template <class T, class Write>
SARRUS_FN void element_rows(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t, Rows<T>& r,
                            Write write) {
  for (int i = 0; i < m.ne; ++i) {
    int a = m.el_a[i], b = m.el_b[i], first = m.el_row[i], n = m.el_rows[i];
    Row<T> rows[MAX_ROWS];
    int column = -1, drive = -1;
    with_element(m, i, [&](auto kind, const auto& c) {
      kind.rows(c, pair_of_element<decltype(kind)>(m, i, t, c, r), rows);
      if constexpr (requires { kind.column(c); }) {
        column = kind.column(c), drive = kind.drive(c);
        if (column >= 0) rows[0].phi -= s.q[kind.entry(c)];
      }
    });
    Spatial<T> V = t.V[b] - t.V[a], A = t.A[b] - t.A[a];
    for (int k = 0; r.W && k < n; ++k) r.W[first + k] = rows[k].W;
    for (int k = 0; k < n; ++k) {
      r.phi[first + k] = rows[k].phi;
      r.b[first + k] = T(0);
      r.gamma[first + k] = -(dot(rows[k].W_dot, V) + dot(rows[k].W, A));
    }
    for (int e = m.el_sup_begin[i]; e < m.el_sup_end[i]; ++e) {
      int j = m.sup_col[e];
      Spatial<T> S = t.S[j] * m.sup_sign[e];
      for (int k = 0; k < n; ++k) write(i, k, e, j == column ? T(-1) : dot(rows[k].W, S));
    }
    if (drive < 0) continue;
    r.phi[first] -= s.drive[3 * drive];
    r.b[first] = s.drive[3 * drive + 1];
    r.gamma[first] += s.drive[3 * drive + 2];
  }
}

// h -= generalized forces of the user's: the entries of rows that are none (u_row -1) in place of J
template <class T>
SARRUS_FN void subtract_user_forces(const Model<real<T>>& m, const T* user, T* h) {
  for (int u = 0; user && u < m.n_user_rows; ++u)
    for (int j = 0; m.u_row[u] == -1 && j < m.nv; ++j) h[j] -= user[u * (3 + m.nv) + 3 + j];
}

// phi, b and gamma of coupling c: sum of coef f(q) - offset - drive(t), f(q) mostly q itself; of velocities
// alone phi is zero
template <class T>
SARRUS_HD void values_of_coupling(const Model<real<T>>& m, int c, const State<T>& s, Rows<T>& r) {
  int row = m.k_row[c], d = m.k_drive[c];
  T phi = T(-m.k_offset[c]), gamma = d < 0 ? T(0) : s.drive[3 * d + 2];
  for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) {
    const T& q = s.q[m.kt_q[i]];
    if (m.kt_knots[i]) {
      CurvePoint<T> f = curve_of_term(m, i, q);
      const T& v = s.v[m.kt_v[i]];
      phi += f.value * m.kt_coef[i];
      gamma -= f.second * v * v * m.kt_coef[i];
    } else {
      phi += q * m.kt_coef[i];
    }
  }
  r.phi[row] = !m.row_holonomic[row] ? T(0) : d < 0 ? phi : phi - s.drive[3 * d];
  r.b[row] = d < 0 ? T(0) : s.drive[3 * d + 1];
  r.gamma[row] = gamma;
}

// Those of all couplings
template <class T>
SARRUS_FN void coupling_values(const Model<real<T>>& m, const State<T>& s, Rows<T>& r) {
  for (int c = 0; c < m.nk; ++c) values_of_coupling(m, c, s, r);
}

// Rows of couplings and drives, and the user's.
template <class T, class LD>
SARRUS_FN void given_rows(const Model<real<T>>& m, const State<T>& s, LD ld, Rows<T>& r) {
  coupling_values(m, s, r);
  for (int c = 0; c < m.nk; ++c) {
    T* row = r.J + m.k_row[c] * ld;
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) row[m.kt_v[i]] = T(0);
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) row[m.kt_v[i]] += slope_of_term(m, i, s.q);
  }
  for (int u = 0; u < m.n_user_rows; ++u) {
    int row = m.u_row[u];
    if (row < 0) continue;
    const T* x = s.user + u * (3 + m.nv);
    r.phi[row] = x[0], r.b[row] = x[1], r.gamma[row] = x[2];
    copy(r.J + row * ld, x + 3, m.nv);
  }
}

// out: phi, b, gamma, and Jv (nc) = J v without J   in: the state, t (placed and moved)
template <class T>
SARRUS_FN void constraint_values(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t, Rows<T>& r,
                                 T* Jv) {
  fill(Jv, m.nc);
  element_rows(m, s, t, r,
               [&](int i, int k, int at, const T& x) { Jv[m.el_row[i] + k] += x * s.v[m.sup_col[at]]; });
  coupling_values(m, s, r);
  for (int c = 0; c < m.nk; ++c)
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i)
      Jv[m.k_row[c]] += s.v[m.kt_v[i]] * slope_of_term(m, i, s.q);
  for (int u = 0; u < m.n_user_rows; ++u) {
    const T* x = s.user + u * (3 + m.nv);
    int row = m.u_row[u];
    if (row < 0) continue;
    r.phi[row] = x[0], r.b[row] = x[1], r.gamma[row] = x[2];
    Jv[row] = plus_products(Jv[row], x + 3, s.v, m.nv);
  }
}

// visit(row, column) for every entry that J can have
template <class R, class F>
SARRUS_HD void each_entry(const Model<R>& m, F visit) {
  for (int i = 0; i < m.ne; ++i)
    for (int r = m.el_row[i]; r < m.el_row[i] + m.el_rows[i]; ++r)
      for (int s = m.el_sup_begin[i]; s < m.el_sup_end[i]; ++s) visit(r, m.sup_col[s]);
  for (int c = 0; c < m.nk; ++c)
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) visit(m.k_row[c], m.kt_v[i]);
  for (int u = 0; u < m.n_user_rows; ++u)
    for (int j = 0; m.u_row[u] >= 0 && j < m.nv; ++j) visit(m.u_row[u], j);
}

// out: phi, b, gamma and what each_entry() visits of J   in: the state, t (placed and moved)
template <class T, class LD>
SARRUS_FN void constraint_entries(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t, LD ld,
                                  Rows<T>& r) {
  element_rows(m, s, t, r,
               [&](int i, int k, int at, const T& x) { r.J[(m.el_row[i] + k) * ld + m.sup_col[at]] = x; });
  given_rows(m, s, ld, r);
}

// out: phi, J, b, gamma   in: the state, t (placed and moved)
template <class T, class LD>
SARRUS_FN void constraints(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t, LD ld, Rows<T>& r) {
  fill(r.J, m.nc * ld);
  constraint_entries(m, s, t, ld, r);
}

// Slopes of the rows of element i, seen from its node a; lam: multipliers of all rows
// in: t with the joint accelerations in A
template <class T>
SARRUS_FN void element_slopes(const Model<real<T>>& m, int i, const Tree<T>& t, const T* lam, Element<T>& e) {
  begin_element(t, m.el_a[i], m.el_b[i], e);
  lam += m.el_row[i];
  with_element(m, i, [&](auto kind, const auto& c) {
    if constexpr (requires { kind.slopes(c, t, lam, e); })
      kind.slopes(c, t, lam, e);
    else
      add_by_duals(c, t, lam, m.el_rows[i], e, [&](const auto& p, auto* out) { kind.rows(c, p, out); });
  });
}

// Wrenches W (rows of the element, 6 each) on b about its point B, in world axes, and that point (3) in the
// world   in: t (placed)
template <class T>
SARRUS_FN void element_wrenches(const Model<real<T>>& m, int i, const Tree<T>& t, T* W, T* at) {
  int a = m.el_a[i], b = m.el_b[i];
  with_element(m, i, [&](auto kind, const auto& c) {
    Row<T> rows[MAX_ROWS];
    Vec3<T> pB = point_of(t, b, c.p_b), pA = point_of(t, a, c.p_a), o = zero3<T>();
    kind.rows(c, Pair<T>(t.R[a], pA - pB, zero6<T>(), t.R[b], o, zero6<T>()), rows);
    for (int k = 0; k < m.el_rows[i]; ++k) store(rows[k].W, W + 6 * k);
    store(pB + t.O[0], at);
  });
}

SARRUS_END
