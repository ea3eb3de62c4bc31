// Elements between two nodes (constraints, forces), and how coordinates move them.
//
// Column k, of node n with parent p, displaces b seen from a by s = S_k on b's side and -S_k on a's: only
// the relative motion counts. With it change (docs/derivations/derivatives.md)
//   dV/dq = ad_s (V_b - V_p),      dA'/dq = ad_s (A_b - A_p - ad_{V_p} V_b) + ad_{V_p - V_a} dV/dq
//   dV/dv = s,                     dA'/dv = ad_{V_p + V_n - V_a - V_b} s                               (1)
// The force stiffness d(J^T lam)/dq follows from G_L: [Spencer2004] sec. 4.3 has it for one-freedom joints,
// others leave it out.
#pragma once

#include "base/products.hpp"
#include "constraints/row_slopes.hpp"

SARRUS_BEGIN

// Columns that move one of two nodes but not both, from the leaves up: +1 on b's side, -1 on a's.
struct Path {
  int n, *col, *node, *side;

  SARRUS_HD void bind(Arena& arena, int nv) { arena.take(nv, col, node, side); }
  template <class R>
  SARRUS_HD void walk(const Model<R>& m, int a, int b) {
    n = 0;
    while (a != b) {
      int i = larger(b, a), sign = b > a ? 1 : -1;
      for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k, ++n)
        col[n] = k, node[n] = i, side[n] = sign;
      (b > a ? b : a) = m.parent[i];
    }
  }
};

// What columns do to an element, as rows over all columns: dA'/dq, dV/dq, s, dA'/dv, six each (1). Of large
// mechanisms only the columns from `begin` on, as many as reach over the path, are there.
template <class T>
struct Moves {
  T *A_q, *V_q, *s, *A_v;  // (24, ld) in this order
  T *on_b, *on_a;          // (6, ld) changes of wrenches
  int begin = 0, end = 0;  // multiples of LANES

  template <class LD>
  SARRUS_HD auto width(LD ld) const {
    if constexpr (LD::width == 0)
      return end - begin;
    else
      return ld;
  }

  template <class LD>
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>&, LD ld) {
    arena.take(36 * ld, A_q);
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
  w.begin = 0, w.end = ld;
  if constexpr (LD::width == 0) {
    int first = ld, last = 0;
    for (int i = 0; i < path.n; ++i) {
      first = smaller(path.col[i], first);
      last = larger(path.col[i], last);
    }
    w.begin = first / LANES * LANES, w.end = path.n ? (last / LANES + 1) * LANES : w.begin;
    for (int r = 0; r < 24; ++r) fill(w.A_q + r * ld + w.begin, w.end - w.begin);
  } else {
    fill(w.A_q, 24 * ld);
  }
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
    Spatial<T> carried = cross_force(unit_twist<T>(d), e.L);
    for (int c = 0; c < 6; ++c) on_b[6 * c + d] = entry(carried, c) - e.GL[6 * c + d];
  }
  auto n = w.width(ld);
  const T* s = w.s + w.begin;
  product(Coefficients<T>{on_b, 6, 1}, s, ld, 6, 6, n, w.on_b + w.begin, ld);
  product(Coefficients<T>{e.GL, 6, 1}, s, ld, 6, 6, n, w.on_a + w.begin, ld);
  auto add = [&](int node, const T* change) {
    for (; node > 0; node = m.parent[node])
      for (int j = m.iv[node]; j < m.iv[node] + joint_nv(m.joint[node]); ++j) {
        const T* S = reinterpret_cast<const T*>(t.S + j);
        if constexpr (LD::width == 0)
          for (int d = 0; d < 6; ++d) axpy(E + j * le + w.begin, S[d], change + d * ld + w.begin, n);
        else
          add_combination(E + j * le, S, change, 6, ld);
      }
  };
  add(e.b, w.on_b);
  add(e.a, w.on_a);
}

SARRUS_END
