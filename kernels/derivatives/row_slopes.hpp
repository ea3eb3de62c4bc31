// How the rows between two nodes change, seen from node a: with s the displacement of b (a twist), V its
// velocity and A' = A_b - A_a - ad_{V_a} V its acceleration, a row is
//   phi' = W . V,      phi'' = W . A' + V . G[V],      G[s] = dW along s                                 (1)
// and its slopes are J_s = d(W . V)/ds = V . G[.],  R_V = J_s + G[V],  R_s = d phi''/ds. In closed form for
// directions, cosines and rotation vectors, by dual numbers, six directions each, for the others.
#pragma once

#include "algebra/dual.hpp"
#include "constraints/constraint.hpp"

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
  RowSlopes<T> row[6];
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

// An element without rows.   in: t with the joint accelerations in A
template <class T>
SARRUS_HD void ends(const Tree<T>& t, int a, int b, Element<T>& e) {
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

// B(f) x = x - f x x / 2 + c f x (f x x), the rate of a rotation vector f at the angular velocity x, and its
// derivatives; c is a function of f.f.
template <class T>
struct LogSlope {
  Vec3<T> f;
  T c, dc, ddc;

  SARRUS_HD explicit LogSlope(const Vec3<T>& f_) : f(f_) {
    LogCurvature<Dual<T>> k = log_curvature(Dual<T>(dot(f_, f_), T(1)));
    c = k.c.a, dc = k.dc.a, ddc = k.dc.b;
  }
  SARRUS_HD Vec3<T> rate(const Vec3<T>& x) const { return log_rate(f, c, x); }
  // B^T x
  SARRUS_HD Vec3<T> moment(const Vec3<T>& x) const { return log_rate(-f, c, x); }
  // (u x (f x x) + f x (u x x)) c + 2 c' (f.u) f x (f x x): the part of dB[u] x that is even in f
  SARRUS_HD Vec3<T> even(const Vec3<T>& u, const Vec3<T>& x) const {
    Vec3<T> fx = cross(f, x);
    return (cross(u, fx) + cross(f, cross(u, x))) * c + cross(f, fx) * (dc * dot(f, u) * real<T>(2));
  }
  // dB[u] x and (dB[u])^T x
  SARRUS_HD Vec3<T> first(const Vec3<T>& u, const Vec3<T>& x) const {
    return even(u, x) - cross(u, x) * real<T>(0.5);
  }
  SARRUS_HD Vec3<T> first_moment(const Vec3<T>& u, const Vec3<T>& x) const {
    return even(u, x) + cross(u, x) * real<T>(0.5);
  }
  // d^2 B[u, g] x
  SARRUS_HD Vec3<T> second(const Vec3<T>& u, const Vec3<T>& g, const Vec3<T>& x) const {
    Vec3<T> fx = cross(f, x), ux = cross(u, x), gx = cross(g, x);
    T fu = dc * dot(f, u) * real<T>(2), fg = dc * dot(f, g) * real<T>(2);
    T ug = dc * dot(u, g) * real<T>(2) + ddc * dot(f, u) * dot(f, g) * real<T>(4);
    return (cross(g, ux) + cross(u, gx)) * c + (cross(g, fx) + cross(f, gx)) * fu +
           (cross(u, fx) + cross(f, ux)) * fg + cross(f, fx) * ug;
  }
};

// The three rows of the rotation vector: phi' = B w along the axes of A, W = [0; B^T axis]; with w, w' the
// angular parts of V, A' and g = B w:  phi'' = B w' + dB[g] w
template <class T>
SARRUS_FN void add_rotation(const T* lam, const Mat3<T>& RA, const Mat3<T>& RB, Element<T>& e) {
  LogSlope<T> B(turn(RA, rotation_between(RA, RB)));
  const Vec3<T>& w = e.V.ang;
  Vec3<T> g = B.rate(w), force = RA.x * lam[0] + RA.y * lam[1] + RA.z * lam[2], J[3], R[3];
  for (int d = 0; d < 3; ++d) {
    Vec3<T> u = B.rate(unit_vector<T>(d)), turning = B.first(u, w);
    J[d] = unturn(RA, turning);
    R[d] = unturn(RA, B.first(u, e.A.ang) + B.second(u, g, w) + B.first(turning, w));
    e.stiffen(3 + d, B.first_moment(u, force));
  }
  Vec3<T> o = zero3<T>();
  auto row = [&](int i, const Vec3<T>& axis, const Vec3<T>& j, const Vec3<T>& r) {
    e.add(lam[i], {o, B.moment(axis)}, {o, j}, {o, B.first_moment(g, axis)}, {o, r});
  };
  row(0, RA.x, {J[0].x, J[1].x, J[2].x}, {R[0].x, R[1].x, R[2].x});
  row(1, RA.y, {J[0].y, J[1].y, J[2].y}, {R[0].y, R[1].y, R[2].y});
  row(2, RA.z, {J[0].z, J[1].z, J[2].z}, {R[0].z, R[1].z, R[2].z});
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

// `count` rows that a function makes from b's pose displaced along a twist: make(s, V, out), dual numbers
template <class T, class Make>
SARRUS_HD void add_by_duals(const T* lam, int count, Element<T>& e, Make make) {
  using D = Dual<T>;
  Spatial<D> V = lift(e.V), A = lift(e.A);
  Spatial<T> W[3], GV[3];
  T J_s[3][6], R_s[3][6];
  for (int r = 0; r < count; ++r) GV[r] = zero6<T>();
  for (int d = 0; d < 6; ++d) {
    Vec3<T> o = zero3<T>(), u = unit_vector<T>(d % 3);
    Row<D> rows[3];
    make(d < 3 ? Spatial<T>{u, o} : Spatial<T>{o, u}, V, rows);
    for (int r = 0; r < count; ++r) {
      const Spatial<D>& w = rows[r].W;
      Spatial<T> G = {{w.lin.x.b, w.lin.y.b, w.lin.z.b}, {w.ang.x.b, w.ang.y.b, w.ang.z.b}};
      W[r] = {{w.lin.x.a, w.lin.y.a, w.lin.z.a}, {w.ang.x.a, w.ang.y.a, w.ang.z.a}};
      GV[r] = GV[r] + G * entry(e.V, d);
      J_s[r][d] = dot(G, e.V);
      R_s[r][d] = (dot(w, A) + dot(rows[r].W_dot, V)).b;
      for (int c = 0; c < 6; ++c) e.GL[6 * c + d] += entry(G, c) * lam[r];
    }
  }
  auto spatial = [](const T* x) { return Spatial<T>{{x[0], x[1], x[2]}, {x[3], x[4], x[5]}}; };
  for (int r = 0; r < count; ++r) e.add(lam[r], W[r], spatial(J_s[r]), GV[r], spatial(R_s[r]));
}

SARRUS_END
