// How the rows between two nodes change, seen from node a: with s the displacement of b (a twist), V its
// velocity and A' = A_b - A_a - ad_{V_a} V its acceleration, a row is
//   phi' = W . V,      phi'' = W . A' + V . G[V],      G[s] = dW along s                                 (1)
// and its slopes are J_s = d(W . V)/ds = V . G[.],  R_V = J_s + G[V],  R_s = d phi''/ds. In closed form for
// directions, cosines and rotation vectors, by dual numbers for all others.
#pragma once

#include "constraints/row.hpp"

SARRUS_BEGIN

// Slopes of one row, side by side as the products of derivatives/dynamics_derivatives.hpp need them.
template <class T>
struct RowSlopes {
  Spatial<T> by_v[2];     // R_V, W
  Spatial<T> by_q[3];     // W, R_V, R_s
  Spatial<T> of_rate[2];  // W, J_s
};

// Rows of one element, and what their forces on b do: L = sum lam W, G_L = sum lam G.
template <class T>
struct Element {
  int a, b, n;
  Spatial<T> V, A;  // of b, seen from a
  RowSlopes<T> row[MAX_ROWS];
  Spatial<T> L;
  T GL[36];  // G_L s = GL (6, 6) s

  SARRUS_HD void add(const T& lam, const Spatial<T>& W, const Spatial<T>& J_s, const Spatial<T>& GV,
                     const Spatial<T>& R_s) {
    RowSlopes<T>& r = row[n++];
    r.by_v[0] = r.by_q[1] = J_s + GV;
    r.by_v[1] = r.by_q[0] = r.of_rate[0] = W;
    r.by_q[2] = R_s;
    r.of_rate[1] = J_s;
    L = L + W * lam;
  }
  // G_L[e_d] += [0; moment]
  SARRUS_HD void stiffen(int d, const Vec3<T>& moment) {
    GL[18 + d] += moment.x, GL[24 + d] += moment.y, GL[30 + d] += moment.z;
  }
};

template <class T>
SARRUS_HD Vec3<T> unit_vector(int d) {
  return {T(d == 0), T(d == 1), T(d == 2)};
}
template <class T>
SARRUS_HD Spatial<T> unit_twist(int d) {
  return {d < 3 ? unit_vector<T>(d) : zero3<T>(), d < 3 ? zero3<T>() : unit_vector<T>(d - 3)};
}

// An element, still without rows.   in: t with the joint accelerations in A
template <class T>
SARRUS_HD void begin_element(const Tree<T>& t, int a, int b, Element<T>& e) {
  e.a = a, e.b = b, e.n = 0;
  e.V = t.V[b] - t.V[a];
  e.A = t.A[b] - t.A[a] - cross_motion(t.V[a], e.V);
  e.L = zero6<T>();
  fill(e.GL, 36);
}

// d(phi'')/dx of a row x . (point of b, or direction in b), x fixed in a
template <class T>
SARRUS_HD Vec3<T> turned(const Element<T>& e, const Vec3<T>& x) {
  return cross(x, e.A.ang) + cross(cross(x, e.V.ang), e.V.ang);
}

// Rows x . (p_B - p_A): W = [x; p x x],  G[s] = [0; (s.lin + s.ang x p) x x],  p = p_B
template <class T>
SARRUS_HD void add_along(const T& lam, const Vec3<T>& x, const Vec3<T>& p, Element<T>& e) {
  Vec3<T> v = e.V.lin + cross(e.V.ang, p);
  e.add(lam, force_at(p, x), force_at(p, cross(x, e.V.ang)), {zero3<T>(), cross(v, x)},
        force_at(p, turned(e, x)));
}
template <class T>
SARRUS_HD void stiffen_along(const Vec3<T>& force, const Vec3<T>& p, Element<T>& e) {
  for (int d = 0; d < 3; ++d) {
    Vec3<T> u = unit_vector<T>(d);
    e.stiffen(d, cross(u, force));
    e.stiffen(3 + d, cross(cross(u, p), force));
  }
}

// Rows x . y, y fixed in b: W = [0; y x x],  G[s] = [0; (s.ang x y) x x]
template <class T>
SARRUS_HD void add_cosine(const T& lam, const Vec3<T>& x, const Vec3<T>& y, Element<T>& e) {
  Vec3<T> o = zero3<T>();
  e.add(lam, {o, cross(y, x)}, {o, cross(y, cross(x, e.V.ang))}, {o, cross(cross(e.V.ang, y), x)},
        {o, cross(y, turned(e, x))});
  for (int d = 0; d < 3; ++d) e.stiffen(3 + d, cross(cross(unit_vector<T>(d), y), x * lam));
}

// `count` rows that make(pair, out) gives, by dual numbers along six displacements of b.
template <class T, class C, class Make>
SARRUS_HD void add_by_duals(const C& c, const Tree<T>& t, const T* lam, int count, Element<T>& e, Make make) {
  using D = Dual<T>;
  Spatial<D> V = lift(e.V, zero6<T>()), A = lift(e.A, zero6<T>());
  Spatial<T> W[MAX_ROWS], GV[MAX_ROWS];
  T J_s[MAX_ROWS][6], R_s[MAX_ROWS][6];
  for (int r = 0; r < count; ++r) GV[r] = zero6<T>();
  for (int d = 0; d < 6; ++d) {
    Row<D> rows[MAX_ROWS];
    make(displaced(t, e.a, e.b, c, unit_twist<T>(d), V), rows);
    for (int r = 0; r < count; ++r) {
      const Spatial<D>& w = rows[r].W;
      Spatial<T> G = slope_of(w);
      W[r] = value_of(w);
      GV[r] = GV[r] + G * entry(e.V, d);
      J_s[r][d] = dot(G, e.V);
      R_s[r][d] = (dot(w, A) + dot(rows[r].W_dot, V)).b;
      for (int k = 0; k < 6; ++k) e.GL[6 * k + d] += entry(G, k) * lam[r];
    }
  }
  auto spatial = [](const T* x) { return Spatial<T>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; };
  for (int r = 0; r < count; ++r) e.add(lam[r], W[r], spatial(J_s[r]), GV[r], spatial(R_s[r]));
}

SARRUS_END
