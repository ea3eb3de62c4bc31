// Vectors, rotations, twists [v; w], wrenches [f; n] and rigid-body inertias, all in one world-aligned
// frame with one reference point O for the whole mechanism: no transforms inside recursions, and
// composite inertias simply add.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

template <class T>
struct Vec3 {
  T x, y, z;
};
// clang-format off
template <class T> SARRUS_HD Vec3<T> operator+(const Vec3<T>& a, const Vec3<T>& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }
template <class T> SARRUS_HD Vec3<T> operator-(const Vec3<T>& a, const Vec3<T>& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
template <class T> SARRUS_HD Vec3<T> operator-(const Vec3<T>& a) { return {-a.x, -a.y, -a.z}; }
template <class T, class Y> SARRUS_HD Vec3<T> operator*(const Vec3<T>& a, const Y& s) { return {a.x * s, a.y * s, a.z * s}; }
// clang-format on

template <class T>
SARRUS_HD T dot(const Vec3<T>& a, const Vec3<T>& b) {
  return a.x * b.x + a.y * b.y + a.z * b.z;
}
template <class T>
SARRUS_HD Vec3<T> cross(const Vec3<T>& a, const Vec3<T>& b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
template <class T>
SARRUS_HD Vec3<T> zero3() {
  return {T(0), T(0), T(0)};
}

// Rotation as three columns: the axes of the turned frame.
template <class T>
struct Mat3 {
  Vec3<T> x, y, z;
};

// R r, with r given as parameters (three consecutive reals).
template <class T>
SARRUS_HD Vec3<T> turn(const Mat3<T>& R, const real<T>* r) {
  return R.x * r[0] + R.y * r[1] + R.z * r[2];
}
template <class T>
SARRUS_HD Vec3<T> turn(const Mat3<T>& R, const Vec3<T>& r) {
  return R.x * r.x + R.y * r.y + R.z * r.z;
}
// R^T r
template <class T>
SARRUS_HD Vec3<T> unturn(const Mat3<T>& R, const Vec3<T>& r) {
  return {dot(R.x, r), dot(R.y, r), dot(R.z, r)};
}
// R Q, with Q given row by row as nine parameters.
template <class T>
SARRUS_HD Mat3<T> compose(const Mat3<T>& R, const real<T>* q) {
  return {R.x * q[0] + R.y * q[3] + R.z * q[6], R.x * q[1] + R.y * q[4] + R.z * q[7],
          R.x * q[2] + R.y * q[5] + R.z * q[8]};
}
template <class T>
SARRUS_HD Mat3<T> compose(const Mat3<T>& R, const Mat3<T>& Q) {
  return {turn(R, Q.x), turn(R, Q.y), turn(R, Q.z)};
}

// Rotation of a quaternion (x, y, z, w) of any norm but zero.
template <class T>
SARRUS_HD Mat3<T> rotation(const T* q) {
  T s = real<T>(2) / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  T xs = q[0] * s, ys = q[1] * s, zs = q[2] * s;
  T xx = q[0] * xs, xy = q[0] * ys, xz = q[0] * zs, yy = q[1] * ys, yz = q[1] * zs, zz = q[2] * zs;
  T wx = q[3] * xs, wy = q[3] * ys, wz = q[3] * zs;
  real<T> one = 1;
  return {{one - (yy + zz), xy + wz, xz - wy},
          {xy - wz, one - (xx + zz), yz + wx},
          {xz + wy, yz - wx, one - (xx + yy)}};
}

// Twists and wrenches share their storage: linear part first.
template <class T>
struct Spatial {
  Vec3<T> lin, ang;
};
// clang-format off
template <class T> SARRUS_HD Spatial<T> operator+(const Spatial<T>& a, const Spatial<T>& b) { return {a.lin + b.lin, a.ang + b.ang}; }
template <class T> SARRUS_HD Spatial<T> operator-(const Spatial<T>& a, const Spatial<T>& b) { return {a.lin - b.lin, a.ang - b.ang}; }
template <class T, class Y> SARRUS_HD Spatial<T> operator*(const Spatial<T>& a, const Y& s) { return {a.lin * s, a.ang * s}; }
// clang-format on

template <class T>
SARRUS_HD T dot(const Spatial<T>& a, const Spatial<T>& b) {
  return dot(a.lin, b.lin) + dot(a.ang, b.ang);
}
template <class T>
SARRUS_HD Spatial<T> zero6() {
  return {zero3<T>(), zero3<T>()};
}
// component d of six, linear first
template <class T>
SARRUS_HD T entry(const Spatial<T>& s, int d) {
  return d == 0   ? s.lin.x
         : d == 1 ? s.lin.y
         : d == 2 ? s.lin.z
         : d == 3 ? s.ang.x
         : d == 4 ? s.ang.y
                  : s.ang.z;
}
// ad_V X for twists
template <class T>
SARRUS_HD Spatial<T> cross_motion(const Spatial<T>& V, const Spatial<T>& X) {
  return {cross(V.ang, X.lin) + cross(V.lin, X.ang), cross(V.ang, X.ang)};
}
// -ad_V^T F for wrenches
template <class T>
SARRUS_HD Spatial<T> cross_force(const Spatial<T>& V, const Spatial<T>& F) {
  return {cross(V.ang, F.lin), cross(V.ang, F.ang) + cross(V.lin, F.lin)};
}
// Unit force along d at the point p (relative to O), and unit moment about d.
template <class T>
SARRUS_HD Spatial<T> force_at(const Vec3<T>& p, const Vec3<T>& d) {
  return {d, cross(p, d)};
}

// Inertia about O: mass, first moment, second moment (xx xy xz yy yz zz).
template <class T>
struct Inertia {
  T m;
  Vec3<T> h;
  T xx, xy, xz, yy, yz, zz;
};
template <class T>
SARRUS_HD Inertia<T> operator+(const Inertia<T>& a, const Inertia<T>& b) {
  return {a.m + b.m, a.h + b.h, a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
// momentum I V
template <class T>
SARRUS_HD Spatial<T> operator*(const Inertia<T>& I, const Spatial<T>& V) {
  const Vec3<T>& w = V.ang;
  Vec3<T> n = {I.xx * w.x + I.xy * w.y + I.xz * w.z, I.xy * w.x + I.yy * w.y + I.yz * w.z,
               I.xz * w.x + I.yz * w.y + I.zz * w.z};
  return {V.lin * I.m + cross(w, I.h), n + cross(I.h, V.lin)};
}

// Inertia of a body with attitude R and centre of mass at c (relative to O):
// R Ic R^T + m (c.c 1 - c c^T), Ic given as (xx xy xz yy yz zz) in the body.
template <class T>
SARRUS_HD Inertia<T> world_inertia(const Mat3<T>& R, const Vec3<T>& c, real<T> m, const real<T>* Ic) {
  Vec3<T> a = R.x * Ic[0] + R.y * Ic[1] + R.z * Ic[2];  // columns of R Ic
  Vec3<T> b = R.x * Ic[1] + R.y * Ic[3] + R.z * Ic[4];
  Vec3<T> d = R.x * Ic[2] + R.y * Ic[4] + R.z * Ic[5];
  Vec3<T> h = c * m;
  T cx = c.x * h.x, cy = c.y * h.y, cz = c.z * h.z;
  return {T(m),
          h,
          a.x * R.x.x + b.x * R.y.x + d.x * R.z.x + cy + cz,
          a.x * R.x.y + b.x * R.y.y + d.x * R.z.y - h.x * c.y,
          a.x * R.x.z + b.x * R.y.z + d.x * R.z.z - h.x * c.z,
          a.y * R.x.y + b.y * R.y.y + d.y * R.z.y + cx + cz,
          a.y * R.x.z + b.y * R.y.z + d.y * R.z.z - h.y * c.z,
          a.z * R.x.z + b.z * R.y.z + d.z * R.z.z + cx + cy};
}

// Numbers one behind the other
template <class T>
SARRUS_HD void store(const Vec3<T>& x, T* out) {
  out[0] = x.x, out[1] = x.y, out[2] = x.z;
}
template <class T>
SARRUS_HD void store(const Spatial<T>& s, T* out) {
  store(s.lin, out);
  store(s.ang, out + 3);
}

SARRUS_END
