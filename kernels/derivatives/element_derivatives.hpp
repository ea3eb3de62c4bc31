// Elements between two nodes (closures, rolling discs, point springs), and how coordinates move them.
//
// Column k, of node n with parent p, displaces b seen from a by s = S_k on b's side and -S_k on a's: only
// the relative motion counts. With it change (docs/derivations/derivatives.md)
//   dV/dq = ad_s (V_b - V_p),      dA'/dq = ad_s (A_b - A_p - ad_{V_p} V_b) + ad_{V_p - V_a} dV/dq
//   dV/dv = s,                     dA'/dv = ad_{V_p + V_n - V_a - V_b} s                               (1)
// The force stiffness d(J^T lam)/dq follows from G_L: [Spencer2004] sec. 4.3 has it for one-freedom joints,
// others leave it out.
#pragma once

#include "base/products.hpp"
#include "derivatives/row_slopes.hpp"

SARRUS_BEGIN

// Columns that move one of two nodes but not both, from the leaves up: +1 on b's side, -1 on a's.
struct Path {
  int n, *col, *node, *side;

  SARRUS_HD void bind(Arena& arena, int nv) {
    col = arena.take<int>(nv);
    node = arena.take<int>(nv);
    side = arena.take<int>(nv);
  }
  template <class R>
  SARRUS_HD void walk(const Model<R>& m, int a, int b) {
    n = 0;
    while (a != b) {
      int i = b > a ? b : a, sign = b > a ? 1 : -1;
      for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k, ++n)
        col[n] = k, node[n] = i, side[n] = sign;
      (b > a ? b : a) = m.parent[i];
    }
  }
};

// Pair of dual numbers with b displaced along s
template <class T>
SARRUS_HD Pair<Dual<T>> displaced(const Tree<T>& t, int a, int b, const Vec3<T>& pA, const Vec3<T>& pB,
                                  const Spatial<T>& s, const Spatial<Dual<T>>& V) {
  Vec3<T> o = zero3<T>();
  return Pair<Dual<T>>(lift(t.R[a], o), lift(pA, o), zero6<Dual<T>>(), lift(t.R[b], s.ang),
                       lift(pB, s.lin + cross(s.ang, pB)), V);
}

// Rows of closure c in the order of closure(); lam: their multipliers   in: t, joint accelerations in A
template <class T>
SARRUS_FN void closure_element(const Model<real<T>>& m, int c, const Tree<T>& t, const T* lam,
                               Element<T>& e) {
  ends(t, m.cl_a[c], m.cl_b[c], e);
  const Mat3<T>&Ra = t.R[e.a], &Rb = t.R[e.b];
  Vec3<T> pA = point_of(t, e.a, m.cl_p_aA + 3 * c), pB = point_of(t, e.b, m.cl_p_bB + 3 * c);
  Vec3<T> force = zero3<T>();
  int linear = m.cl_linear[c], angular = m.cl_angular[c];
  auto by_duals = [&](auto row) {
    add_by_duals(lam + e.n, 1, e, [&](const Spatial<T>& s, const Spatial<Dual<T>>& V, Row<Dual<T>>* out) {
      out[0] = row(displaced(t, e.a, e.b, pA, pB, s, V));
    });
  };
  if (linear & DISTANCE) by_duals([&](const auto& p) { return distance(p, m.cl_length[c]); });
  for (int i = 0; i < 3; ++i) {
    if (!(linear & (1 << i))) continue;
    if (i == m.cl_pitch_row[c]) {
      by_duals([&](const auto& p) { return linear_row(m, c, i, p); });
      continue;
    }
    Vec3<T> x = turn(Ra, m.cl_directions + 9 * c + 3 * i);
    force = force + x * lam[e.n];
    add_along(lam[e.n], x, pB, e);
  }
  stiffen_along(force, pB, e);
  if (angular == ROTATION)
    add_rotation(lam + e.n, compose(Ra, m.cl_R_aA + 9 * c), compose(Rb, m.cl_R_bB + 9 * c), e);
  else if (angular != ANY)
    for (int i = 0; i < (angular == ACROSS ? 2 : 1); ++i)
      add_cosine(lam[e.n], turn(Ra, m.cl_across_a + 6 * c + 3 * i), turn(Rb, m.cl_axis_b + 3 * c), e);
}

template <class T>
SARRUS_FN void rolling_element(const Model<real<T>>& m, int k, const Tree<T>& t, const T* lam,
                               Element<T>& e) {
  ends(t, 0, m.ro_node[k], e);
  add_by_duals(lam, 3, e, [&](const Spatial<T>& s, const Spatial<Dual<T>>& V, Row<Dual<T>>* out) {
    const Vec3<T>& p = t.p[e.b];
    rolling(m, k, lift(t.O[0], zero3<T>()), lift(t.R[e.b], s.ang), lift(p, s.lin + cross(s.ang, p)), V, out);
  });
}

// The row of a point spring, with a force of one. Returns its elongation.
template <class T>
SARRUS_FN T spring_element(const Model<real<T>>& m, int k, const Tree<T>& t, Element<T>& e) {
  ends(t, m.ps_a[k], m.ps_b[k], e);
  Vec3<T> pA = point_of(t, e.a, m.ps_p_a + 3 * k), pB = point_of(t, e.b, m.ps_p_b + 3 * k);
  T one = T(1), elongation = T(0);
  add_by_duals(&one, 1, e, [&](const Spatial<T>& s, const Spatial<Dual<T>>& V, Row<Dual<T>>* out) {
    out[0] = distance(displaced(t, e.a, e.b, pA, pB, s, V), m.ps_rest[k]);
    elongation = out[0].phi.a;
  });
  return elongation;
}

// What columns do to an element, as rows over all columns: dA'/dq, dV/dq, s, dA'/dv, six each (1)
template <class T>
struct Moves {
  T *A_q, *V_q, *s, *A_v;  // (24, ld) in this order
  T *on_b, *on_a;          // (6, ld) changes of wrenches

  template <class LD>
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>&, LD ld) {
    A_q = arena.template take<T>(36 * ld);
    V_q = A_q + 6 * ld, s = A_q + 12 * ld, A_v = A_q + 18 * ld, on_b = A_q + 24 * ld, on_a = A_q + 30 * ld;
  }
};

template <class T>
SARRUS_HD void put_column(const Spatial<T>& x, int k, int ld, T* rows) {
  for (int c = 0; c < 6; ++c) rows[c * ld + k] = entry(x, c);
}

template <class T, class LD>
SARRUS_FN void move_element(const Model<real<T>>& m, const Tree<T>& t, const Element<T>& e, const Path& path,
                            LD ld, Moves<T>& w) {
  fill(w.A_q, 24 * ld);
  const Spatial<T>&Va = t.V[e.a], &Vb = t.V[e.b];
  for (int i = 0; i < path.n; ++i) {
    int k = path.col[i], n = path.node[i], p = m.parent[n];
    const Spatial<T>& Vp = t.V[p];
    Spatial<T> s = t.S[k] * real<T>(path.side[i]), V_q = cross_motion(s, Vb - Vp);
    Spatial<T> A_q = cross_motion(s, t.A[e.b] - t.A[p] - cross_motion(Vp, Vb)) + cross_motion(Vp - Va, V_q);
    put_column(A_q, k, ld, w.A_q);
    put_column(V_q, k, ld, w.V_q);
    put_column(s, k, ld, w.s);
    put_column(cross_motion(Vp + t.V[n] - Va - Vb, s), k, ld, w.A_v);
  }
}

// The element's forces as wrenches, L on b and -L on a: subtracted from F, where they are carried along with
// their nodes (derivatives/tree_derivatives.hpp), and how they change beside that, (G_L - ad*_. L) s and -G_L
// s, from the rows of E (stride le) of all that carries b, and a.
template <class T, class LD>
SARRUS_FN void subtract_forces(const Model<real<T>>& m, const Tree<T>& t, const Element<T>& e, LD ld,
                               Moves<T>& w, Spatial<T>* F, int le, T* E) {
  F[e.b] = F[e.b] - e.L;
  F[e.a] = F[e.a] + e.L;
  T on_b[36];
  for (int d = 0; d < 6; ++d) {
    Vec3<T> o = zero3<T>(), u = unit_vector<T>(d % 3);
    Spatial<T> carried = cross_force(d < 3 ? Spatial<T>{u, o} : Spatial<T>{o, u}, e.L);
    for (int c = 0; c < 6; ++c) on_b[6 * c + d] = entry(carried, c) - e.GL[6 * c + d];
  }
  product(Coefficients<T>{on_b, 6, 1}, w.s, ld, 6, 6, ld, w.on_b, ld);
  product(Coefficients<T>{e.GL, 6, 1}, w.s, ld, 6, 6, ld, w.on_a, ld);
  auto add = [&](int node, const T* change) {
    for (; node > 0; node = m.parent[node])
      for (int j = m.iv[node]; j < m.iv[node] + joint_nv(m.joint[node]); ++j)
        add_combination(E + j * le, reinterpret_cast<const T*>(t.S + j), change, 6, ld);
  };
  add(e.b, w.on_b);
  add(e.a, w.on_a);
}

SARRUS_END
