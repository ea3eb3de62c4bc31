// The rotation vector of a rotation and how it changes: phi = log R, phi' = Jl(phi)^-1 w with w in the
// axes the rotation is seen from.
//
//   Jl^-1 x = x - phi x x / 2 + c(s) phi x (phi x x),  c(s) = (1 - (theta/2) cot(theta/2)) / s,  s = theta^2
//   (1)
#pragma once

#include "algebra/spatial.hpp"

SARRUS_BEGIN

// Unit quaternion (x, y, z, w) with w >= 0 of the rotation R. Of four vectors proportional to it the
// longest is taken: no cancellation at any angle.
template <class T>
SARRUS_HD void quaternion(const Mat3<T>& R, T* q) {
  const T &xx = R.x.x, &yy = R.y.y, &zz = R.z.z;
  T sx = R.y.z - R.z.y, sy = R.z.x - R.x.z, sz = R.x.y - R.y.x;
  T pxy = R.x.y + R.y.x, pxz = R.x.z + R.z.x, pyz = R.y.z + R.z.y;
  real<T> one = 1;
  T best = one + (xx + yy + zz);
  q[0] = sx, q[1] = sy, q[2] = sz, q[3] = best;
  T cand[3][4] = {{one + (xx - yy - zz), pxy, pxz, sx},
                  {pxy, one + (yy - xx - zz), pyz, sy},
                  {pxz, pyz, one + (zz - xx - yy), sz}};
  for (int k = 0; k < 3; ++k) {
    auto longer = cand[k][k] > best;
    best = select(longer, cand[k][k], best);
    for (int j = 0; j < 4; ++j) q[j] = select(longer, cand[k][j], q[j]);
  }
  T n = real<T>(1) / sqrt_(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  n = select(q[3] < real<T>(0), -n, n);
  for (int j = 0; j < 4; ++j) q[j] = q[j] * n;
}

// atan(x) / x as a function of x^2, for small x
template <class T>
SARRUS_HD T atan_series(const T& x2) {
  real<T> one = 1;
  return one - x2 * (one / 3 - x2 * (one / 5 - x2 * (one / 7 - x2 * (one / 9 - x2 * (one / 11)))));
}

// Rotation vector of a unit quaternion with w >= 0 (angle in [0, pi]).
template <class T>
SARRUS_HD Vec3<T> rotation_vector(const T* q) {
  Vec3<T> n = {q[0], q[1], q[2]};
  T nn = dot(n, n), ww = q[3] * q[3];
  auto small = nn < ww * real<T>(1e-3);
  T w = select(small, q[3], T(1));
  T near = atan_series(select(small, nn, T(0)) / (w * w)) * real<T>(2) / w;
  if constexpr (Branching<T>::value)
    if (small) return n * near;
  T len = sqrt_(select(small, T(1), nn));
  T far = atan2_(len, q[3]) * real<T>(2) / len;
  return n * select(small, near, far);
}

// c(s) of (1) and dc/ds
template <class T>
struct LogCurvature {
  T c, dc;
};
template <class T>
SARRUS_HD LogCurvature<T> log_curvature(const T& s) {
  constexpr double k[7] = {
      1. / 12, 1. / 720, 1. / 30240, 1. / 1209600, 1. / 47900160, 691. / 1307674368000., 1. / 74724249600.};
  auto small = s < real<T>(0.1);
  T x = select(small, s, T(0)), c = T(real<T>(k[6])), d = T(0);
  for (int i = 5; i >= 0; --i) d = d * x + c, c = c * x + real<T>(k[i]);
  if constexpr (Branching<T>::value)
    if (small) return {c, d};
  T y = select(small, T(1), s), th = sqrt_(y), h = th * real<T>(0.5), sh, ch;
  sincos_(h, sh, ch);
  T far = (real<T>(1) - h * ch / sh) / y;
  T dfar = ((h / (sh * sh) - ch / sh) / (th * real<T>(4)) - far) / y;
  return {select(small, c, far), select(small, d, dfar)};
}

// Jl(phi)^-1 x
template <class T>
SARRUS_HD Vec3<T> log_rate(const Vec3<T>& phi, const T& c, const Vec3<T>& x) {
  Vec3<T> px = cross(phi, x);
  return x - px * real<T>(0.5) + cross(phi, px) * c;
}

SARRUS_END
