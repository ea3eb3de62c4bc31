// Rows of the rotation vector of frame B in frame A, and their slopes.
#pragma once

#include "constraints/row_slopes.hpp"

SARRUS_BEGIN

// The rotation vector of B in A, in A's axes.
template <class T>
SARRUS_HD Vec3<T> rotation_between(const Mat3<T>& RA, const Mat3<T>& RB) {
  Mat3<T> Q = {unturn(RA, RB.x), unturn(RA, RB.y), unturn(RA, RB.z)};
  T quat[4];
  quaternion(Q, quat);
  return rotation_vector(quat);
}

// The three rows of that rotation vector, in world axes: with f = R_A phi, g = R_A phi',
//   m_i = a_i + f x a_i / 2 + c f x (f x a_i)
template <class T, class Out>
SARRUS_HD void rotation_rows(const Pair<T>& p, const Mat3<T>& RA, const Mat3<T>& RB, Out out) {
  Vec3<T> phi = rotation_between(RA, RB), f = turn(RA, phi);
  LogCurvature<T> k = log_curvature(dot(phi, phi));
  Vec3<T> g = log_rate(f, k.c, p.V.ang);
  T c_dot = k.dc * dot(f, g) * real<T>(2);
  real<T> half = 0.5;
  const T values[3] = {phi.x, phi.y, phi.z};
  const Vec3<T> axes[3] = {RA.x, RA.y, RA.z};
  for (int i = 0; i < 3; ++i) {
    Vec3<T> e = axes[i], fe = cross(f, e), ge = cross(g, e), ffe = cross(f, fe);
    Vec3<T> w = e + fe * half + ffe * k.c;
    Vec3<T> w_dot = cross(p.wa, w) + ge * half + ffe * c_dot + (cross(g, fe) + cross(f, ge)) * k.c;
    out[i] = Row<T>{values[i], {zero3<T>(), w}, {zero3<T>(), w_dot}};
  }
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

SARRUS_END
