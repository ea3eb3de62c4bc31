// Derivatives of what acts between two nodes: rows of closures and rolling discs, and point springs.
//
// Seen from node a, with s the displacement of b (a twist), V its velocity and A' = A_b - A_a - ad_{V_a} V
// its acceleration, a row is
//   phi' = W . V,      phi'' = W . A' + V . G[V],      G[s] = dW along s (1)
// G and the derivative of phi'' along s come from dual numbers, six directions each. Column k moves b by
// s = +-S_k (minus where it moves a: only the relative motion counts), and with p its parent node
//   dV = +-ad_{S_k} (V_b - V_p),   dA' likewise from dA_i = ad_{S_k} (A_i - A_p) + ad_{alpha_k} (V_i - V_p)
//   (2)
// The force stiffness d(J^T lam)/dq follows from the same G: [Spencer2004] sec. 4.3 has it for one-freedom
// joints, others leave it out.
#pragma once

#include "constraint.hpp"
#include "dual.hpp"
#include "tree_derivative.hpp"

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
  // whether column number k of the path moves column number j
  SARRUS_HD bool moves(int k, int j) const { return side[k] == side[j] && node[k] <= node[j]; }
};

// Rows of one element with their derivatives: G[r][d], d phi''/ds, d phi''/dV.
template <class T>
struct Element {
  int a, b, n;
  Row<T> row[6];
  Spatial<T> G[6][6];
  Spatial<T> R_s[6], R_V[6];
  Spatial<T> V, A;  // seen from a
};

template <class T>
SARRUS_HD Spatial<T> unit_twist(int d) {
  Spatial<T> e = zero6<T>();
  (d == 0   ? e.lin.x
   : d == 1 ? e.lin.y
   : d == 2 ? e.lin.z
   : d == 3 ? e.ang.x
   : d == 4 ? e.ang.y
            : e.ang.z) = T(1);
  return e;
}

// Numbers with a derivative of zero, or given.
template <class T>
SARRUS_HD Vec3<Dual<T>> lift(const Vec3<T>& x, const Vec3<T>& d) {
  return {{x.x, d.x}, {x.y, d.y}, {x.z, d.z}};
}
template <class T>
SARRUS_HD Spatial<Dual<T>> lift(const Spatial<T>& x) {
  Vec3<T> o = zero3<T>();
  return {lift(x.lin, o), lift(x.ang, o)};
}
template <class T>
SARRUS_HD Mat3<Dual<T>> lift(const Mat3<T>& R, const Vec3<T>& w) {  // turned along w
  return {lift(R.x, cross(w, R.x)), lift(R.y, cross(w, R.y)), lift(R.z, cross(w, R.z))};
}
template <class T>
SARRUS_HD Spatial<T> derivative(const Spatial<Dual<T>>& x) {
  return {{x.lin.x.b, x.lin.y.b, x.lin.z.b}, {x.ang.x.b, x.ang.y.b, x.ang.z.b}};
}

template <class T>
SARRUS_HD void set_entry(Spatial<T>& s, int d, const T& x) {
  (d == 0   ? s.lin.x
   : d == 1 ? s.lin.y
   : d == 2 ? s.lin.z
   : d == 3 ? s.ang.x
   : d == 4 ? s.ang.y
            : s.ang.z) = x;
}

// Fill G, R_s, R_V of an element whose rows a function makes from b's pose (displaced) seen from a:
// make(Rb, pb_shift, V, out) for dual numbers; pb_shift(p) is the velocity of a point of b at p.
template <class T, class Make>
SARRUS_HD void differentiate(Element<T>& e, Make make) {
  using D = Dual<T>;
  Spatial<D> V = lift(e.V), A = lift(e.A);
  for (int d = 0; d < 6; ++d) {
    Row<D> rows[6];
    make(unit_twist<T>(d), V, rows);
    for (int r = 0; r < e.n; ++r) {
      e.G[r][d] = derivative(rows[r].W);
      set_entry(e.R_s[r], d, (dot(rows[r].W, A) + dot(rows[r].W_dot, V)).b);
    }
  }
  for (int r = 0; r < e.n; ++r) {
    Spatial<T> GV = zero6<T>();
    for (int d = 0; d < 6; ++d) GV = GV + e.G[r][d] * entry(e.V, d);
    for (int d = 0; d < 6; ++d) set_entry(e.R_V[r], d, dot(e.V, e.G[r][d]) + entry(GV, d));
  }
}

// Ends of an element, motion seen from a.   in: t with the joint accelerations in A
template <class T>
SARRUS_HD void ends(const Tree<T>& t, int a, int b, Element<T>& e) {
  e.a = a, e.b = b;
  e.V = t.V[b] - t.V[a];
  e.A = t.A[b] - t.A[a] - cross_motion(t.V[a], e.V);
}

// Pair of dual numbers with b displaced along s
template <class T>
SARRUS_HD Pair<Dual<T>> displaced(const Tree<T>& t, int a, int b, const Vec3<T>& pA, const Vec3<T>& pB,
                                  const Spatial<T>& s, const Spatial<Dual<T>>& V) {
  Vec3<T> o = zero3<T>();
  return Pair<Dual<T>>(lift(t.R[a], o), lift(pA, o), zero6<Dual<T>>(), lift(t.R[b], s.ang),
                       lift(pB, s.lin + cross(s.ang, pB)), V);
}

template <class T>
SARRUS_FN void closure_element(const Model<real<T>>& m, int c, const Tree<T>& t, Element<T>& e) {
  ends(t, m.cl_a[c], m.cl_b[c], e);
  Vec3<T> pA = point_of(t, e.a, m.cl_p_aA + 3 * c), pB = point_of(t, e.b, m.cl_p_bB + 3 * c);
  e.n = closure(m, c, Pair<T>(t.R[e.a], pA, zero6<T>(), t.R[e.b], pB, e.V), e.row);
  differentiate(e, [&](const Spatial<T>& s, const Spatial<Dual<T>>& V, Row<Dual<T>>* out) {
    closure(m, c, displaced(t, e.a, e.b, pA, pB, s, V), out);
  });
}

template <class T>
SARRUS_FN void rolling_element(const Model<real<T>>& m, int k, const Tree<T>& t, Element<T>& e) {
  ends(t, 0, m.ro_node[k], e);
  e.n = 3;
  rolling(m, k, t.O[0], t.R[e.b], t.p[e.b], e.V, e.row);
  differentiate(e, [&](const Spatial<T>& s, const Spatial<Dual<T>>& V, Row<Dual<T>>* out) {
    const Vec3<T>& p = t.p[e.b];
    rolling(m, k, lift(t.O[0], zero3<T>()), lift(t.R[e.b], s.ang), lift(p, s.lin + cross(s.ang, p)), V, out);
  });
}

template <class T>
SARRUS_FN void spring_element(const Model<real<T>>& m, int k, const Tree<T>& t, Element<T>& e) {
  ends(t, m.ps_a[k], m.ps_b[k], e);
  Vec3<T> pA = point_of(t, e.a, m.ps_p_a + 3 * k), pB = point_of(t, e.b, m.ps_p_b + 3 * k);
  e.n = 1;
  e.row[0] = distance(Pair<T>(t.R[e.a], pA, zero6<T>(), t.R[e.b], pB, e.V), m.ps_rest[k]);
  differentiate(e, [&](const Spatial<T>& s, const Spatial<Dual<T>>& V, Row<Dual<T>>* out) {
    out[0] = distance(displaced(t, e.a, e.b, pA, pB, s, V), m.ps_rest[k]);
  });
}

// How column number i of the path moves the element: displacement s, changes of V and A' with q, and with v.
// (2)
template <class T>
struct Nudge {
  Spatial<T> s, V_q, A_q, V_v, A_v;
};
template <class T>
SARRUS_HD Nudge<T> nudge(const Model<real<T>>& m, const Tree<T>& t, const TreeTangent<T>& d,
                         const Element<T>& e, const Path& path, int i) {
  int k = path.col[i], n = path.node[i], p = m.parent[n];
  const Spatial<T>&S = t.S[k], &Va = t.V[e.a];
  bool on_b = path.side[i] > 0;
  int end = on_b ? e.b : e.a;
  Spatial<T> V_q = cross_motion(S, t.V[end] - t.V[p]);
  Spatial<T> A_q = cross_motion(S, t.A[end] - t.A[p]) + cross_motion(d.alpha[k], t.V[end] - t.V[p]);
  Spatial<T> A_v = d.alpha[k] + cross_motion(S, t.V[end] - t.V[n]);
  Spatial<T> none = zero6<T>();
  if (on_b) return {S, V_q, A_q - cross_motion(Va, V_q), S, A_v - cross_motion(Va, S)};
  Spatial<T> A_moved = cross_motion(Va, V_q) - A_q - cross_motion(V_q, e.V);
  return {none - S, none - V_q - cross_motion(S, e.V), A_moved - cross_motion(S, e.A), none - S,
          cross_motion(Va, S) - A_v - cross_motion(S, e.V)};
}

// d(J^T lam)_j/dq_k of the wrench L = sum lam W on b (and -L on a), subtracted from E (stride ld)
template <class T>
SARRUS_HD void subtract_force_stiffness(const Tree<T>& t, const Path& path, const Spatial<T>& L,
                                        const Spatial<T>* GL, int ld, T* E) {
  for (int i = 0; i < path.n; ++i) {
    int k = path.col[i];
    const Spatial<T>& S = t.S[k];
    Spatial<T> carried = cross_force(S, L), own = zero6<T>();
    for (int d = 0; d < 6; ++d) own = own + GL[d] * entry(S, d);
    Spatial<T> change = path.side[i] > 0 ? own : carried - own;
    Spatial<T> change_moved = change - carried;
    for (int j = 0; j < path.n; ++j) {
      T x = dot(t.S[path.col[j]], path.moves(i, j) ? change_moved : change);
      E[path.col[j] * ld + k] -= path.side[j] > 0 ? x : -x;
    }
  }
}

SARRUS_END
