// Plus and minus on the configuration manifold. A velocity held for a unit of time moves
//   angle, length:  q + dv         ball: Q exp(dv)         free: X exp([lin; ang]) on SE(3)
// and difference() is the inverse, with rotation vectors up to length pi.
#pragma once

#include "algebra/rotation.hpp"
#include "tree/kinematics.hpp"

SARRUS_BEGIN

// sin(x)/x and (1 - cos x)/x^2 and (x - sin x)/x^3 as functions of s = x^2
template <class T>
struct Exponential {
  T sinc, half, third;
};
template <class T>
SARRUS_HD Exponential<T> exponential(const T& s) {
  real<T> one = 1;
  auto small = s < real<T>(1e-2);
  T x = select(small, s, T(0));
  T a = one - x / 6 * (one - x / 20 * (one - x / 42 * (one - x / 72 * (one - x / 110))));
  T b = (one - x / 12 * (one - x / 30 * (one - x / 56 * (one - x / 90 * (one - x / 132))))) / 2;
  T c = (one - x / 20 * (one - x / 42 * (one - x / 72 * (one - x / 110 * (one - x / 156))))) / 6;
  if constexpr (Branching<T>::value)
    if (small) return {a, b, c};
  T y = select(small, T(1), s), th = sqrt_(y), sn, cs, sh, ch;
  sincos_(th, sn, cs);
  sincos_(th * real<T>(0.5), sh, ch);
  T sinc = sn / th;
  return {select(small, a, sinc), select(small, b, sh * sh * real<T>(2) / y),
          select(small, c, (one - sinc) / y)};
}

// Unit quaternion of exp(w)
template <class T>
SARRUS_HD void exp_quaternion(const Vec3<T>& w, T* q) {
  T s = dot(w, w) * real<T>(0.25);
  Exponential<T> e = exponential(s);  // of the half angle
  T k = e.sinc * real<T>(0.5);
  q[0] = w.x * k, q[1] = w.y * k, q[2] = w.z * k;
  q[3] = real<T>(1) - s * e.half;
}

// r = p q
template <class T>
SARRUS_HD void multiply(const T* p, const T* q, T* r) {
  T x = p[3] * q[0] + p[0] * q[3] + p[1] * q[2] - p[2] * q[1];
  T y = p[3] * q[1] - p[0] * q[2] + p[1] * q[3] + p[2] * q[0];
  T z = p[3] * q[2] + p[0] * q[1] - p[1] * q[0] + p[2] * q[3];
  T w = p[3] * q[3] - p[0] * q[0] - p[1] * q[1] - p[2] * q[2];
  T n = real<T>(1) / sqrt_(x * x + y * y + z * z + w * w);
  r[0] = x * n, r[1] = y * n, r[2] = z * n, r[3] = w * n;
}

template <class T>
SARRUS_HD void integrate_node(int joint, const T* q, const T* dv, T* out) {
  T e[4];
  if (joint == BALL) {
    exp_quaternion(Vec3<T>{dv[0], dv[1], dv[2]}, e);
    multiply(q, e, out);
  } else if (joint == FREE) {
    Vec3<T> lin = {dv[0], dv[1], dv[2]}, w = {dv[3], dv[4], dv[5]};
    Exponential<T> k = exponential(dot(w, w));
    Vec3<T> wl = cross(w, lin), step = lin + wl * k.half + cross(w, wl) * k.third;
    Vec3<T> moved = turn(rotation(q + 3), step);
    exp_quaternion(w, e);
    T next[4];
    multiply(q + 3, e, next);
    out[0] = q[0] + moved.x, out[1] = q[1] + moved.y, out[2] = q[2] + moved.z;
    for (int j = 0; j < 4; ++j) out[3 + j] = next[j];
  } else {
    out[0] = q[0] + dv[0];
  }
}

// conj(p) q with w >= 0
template <class T>
SARRUS_HD void relative(const T* p, const T* q, T* r) {
  T c[4] = {-p[0], -p[1], -p[2], p[3]};
  multiply(c, q, r);
  auto flip = r[3] < real<T>(0);
  for (int j = 0; j < 4; ++j) r[j] = select(flip, -r[j], r[j]);
}

template <class T>
SARRUS_HD void difference_node(int joint, const T* q0, const T* q1, T* out) {
  T r[4];
  if (joint == BALL) {
    relative(q0, q1, r);
    Vec3<T> w = rotation_vector(r);
    out[0] = w.x, out[1] = w.y, out[2] = w.z;
  } else if (joint == FREE) {
    relative(q0 + 3, q1 + 3, r);
    Vec3<T> w = rotation_vector(r);
    Vec3<T> d = unturn(rotation(q0 + 3), Vec3<T>{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]});
    Vec3<T> lin = log_rate(w, log_curvature(dot(w, w)).c, d);  // V(w)^-1 d, the left Jacobian again
    out[0] = lin.x, out[1] = lin.y, out[2] = lin.z;
    out[3] = w.x, out[4] = w.y, out[5] = w.z;
  } else {
    out[0] = q1[0] - q0[0];
  }
}

// out: q (may not alias q0)   in: q0, dv
template <class T>
SARRUS_FN void integrate(const Model<real<T>>& m, const T* q0, const T* dv, T* q) {
  for (int i = 1; i < m.nn; ++i) integrate_node(m.joint[i], q0 + m.iq[i], dv + m.iv[i], q + m.iq[i]);
}
// out: dv with integrate(q0, dv) = q1
template <class T>
SARRUS_FN void difference(const Model<real<T>>& m, const T* q0, const T* q1, T* dv) {
  for (int i = 1; i < m.nn; ++i) difference_node(m.joint[i], q0 + m.iq[i], q1 + m.iq[i], dv + m.iv[i]);
}

// x + ad_u x / 2 + ad_u^2 x / 12 - ad_u^4 x / 720: the rate of u where X = X0 exp(u) moves with body twist
// x. Enough for steps of order 5, because u is of the size of the step.
template <class T>
SARRUS_HD Spatial<T> exp_rate(const Spatial<T>& u, const Spatial<T>& x) {
  Spatial<T> x1 = cross_motion(u, x), x2 = cross_motion(u, x1);
  Spatial<T> x4 = cross_motion(u, cross_motion(u, x2));
  real<T> one = 1;
  return x + x1 * (one / 2) + x2 * (one / 12) - x4 * (one / 720);
}

// out: rate (nv) of the increment u when integrate(q0, u) moves with velocity v
template <class T>
SARRUS_FN void increment_rate(const Model<real<T>>& m, const T* u, const T* v, T* rate) {
  for (int i = 1; i < m.nn; ++i) {
    int k = m.iv[i], joint = m.joint[i];
    if (joint == BALL || joint == FREE) {
      int a = joint == FREE ? k + 3 : k;
      Vec3<T> none = zero3<T>();
      Vec3<T> ul = joint == FREE ? Vec3<T>{u[k], u[k + 1], u[k + 2]} : none;
      Vec3<T> vl = joint == FREE ? Vec3<T>{v[k], v[k + 1], v[k + 2]} : none;
      Spatial<T> r =
          exp_rate(Spatial<T>{ul, {u[a], u[a + 1], u[a + 2]}}, Spatial<T>{vl, {v[a], v[a + 1], v[a + 2]}});
      if (joint == FREE) rate[k] = r.lin.x, rate[k + 1] = r.lin.y, rate[k + 2] = r.lin.z;
      rate[a] = r.ang.x, rate[a + 1] = r.ang.y, rate[a + 2] = r.ang.z;
    } else {
      rate[k] = v[k];
    }
  }
}

SARRUS_END
