// Exponentials of rotations and twists: unit quaternions, their products, the rate of an increment.
#pragma once

#include "algebra/rotation.hpp"

SARRUS_BEGIN

// k[0] + k[1] x + k[2] x^2 + ...
template <class T, int N>
SARRUS_HD T series(const T& x, const double (&k)[N]) {
  T sum = T(real<T>(k[N - 1]));
  for (int i = N - 2; i >= 0; --i) sum = sum * x + real<T>(k[i]);
  return sum;
}

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
  T a = series(x, {1., -1. / 6, 1. / 120, -1. / 5040, 1. / 362880, -1. / 39916800});
  T b = series(x, {1. / 2, -1. / 24, 1. / 720, -1. / 40320, 1. / 3628800, -1. / 479001600});
  T c = series(x, {1. / 6, -1. / 120, 1. / 5040, -1. / 362880, 1. / 39916800, -1. / 6227020800.});
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

// conj(p) q with w >= 0
template <class T>
SARRUS_HD void relative(const T* p, const T* q, T* r) {
  T c[4] = {-p[0], -p[1], -p[2], p[3]};
  multiply(c, q, r);
  auto flip = r[3] < real<T>(0);
  for (int j = 0; j < 4; ++j) r[j] = select(flip, -r[j], r[j]);
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

SARRUS_END
