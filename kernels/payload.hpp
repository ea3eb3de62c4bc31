// What a mass fixed to a body asks of it, linear in its ten parameters [Featherstone2008] chapter 2:
//
//   pi = [m, m c (3), I_xx, I_yy, I_zz, I_xy, I_xz, I_yz]    about the origin of the body, in its axes (1)
//   force  = m a + w' x m c + w x (w x m c),   moment = m c x a + I w' + w x I w (2)
//
// a is the acceleration of the origin less gravity.
#pragma once

#include "platform.hpp"

SARRUS_BEGIN

// Y (6, 10) of (2), everything in the axes of the body
template <class T>
SARRUS_HD void regressor(const T* a, const T* w, const T* dw, T* Y) {
  T pp = w[0] * w[0], qq = w[1] * w[1], rr = w[2] * w[2];
  T pq = w[0] * w[1], pr = w[0] * w[2], qr = w[1] * w[2];
  const T rows[6][10] = {{a[0], -qq - rr, pq - dw[2], pr + dw[1], T(0), T(0), T(0), T(0), T(0), T(0)},
                         {a[1], pq + dw[2], -pp - rr, qr - dw[0], T(0), T(0), T(0), T(0), T(0), T(0)},
                         {a[2], pr - dw[1], qr + dw[0], -pp - qq, T(0), T(0), T(0), T(0), T(0), T(0)},
                         {T(0), T(0), a[2], -a[1], dw[0], -qr, qr, dw[1] - pr, dw[2] + pq, qq - rr},
                         {T(0), -a[2], T(0), a[0], pr, dw[1], -pr, dw[0] + qr, rr - pp, dw[2] - pq},
                         {T(0), a[1], -a[0], T(0), -pq, pq, dw[2], pp - qq, dw[0] - qr, dw[1] + pr}};
  for (int r = 0; r < 6; ++r)
    for (int c = 0; c < 10; ++c) Y[10 * r + c] = rows[r][c];
}

// out: Y (6, 10) added to, times `share`: force, and moment at `point` of the body, in world axes
// in: rotation R (9, row by row) of the body, its twist V (6), dV (6) its acceleration, less gravity
template <class T>
SARRUS_FN void world_regressor(const T* R, const T* V, const T* dV, const T* point, T share, T* Y) {
  T a[3], w[3], dw[3], to[3], own[60];
  for (int i = 0; i < 3; ++i) {
    a[i] = w[i] = dw[i] = to[i] = T(0);
    for (int k = 0; k < 3; ++k) {
      a[i] += R[3 * k + i] * dV[k], w[i] += R[3 * k + i] * V[3 + k], dw[i] += R[3 * k + i] * dV[3 + k];
      to[i] += R[3 * i + k] * point[k];
    }
  }
  regressor(a, w, dw, own);
  for (int c = 0; c < 10; ++c) {
    T f[3], m[3];
    for (int i = 0; i < 3; ++i) {
      f[i] = m[i] = T(0);
      for (int k = 0; k < 3; ++k)
        f[i] += R[3 * i + k] * own[10 * k + c], m[i] += R[3 * i + k] * own[30 + 10 * k + c];
    }
    for (int i = 0; i < 3; ++i) {
      int j = (i + 1) % 3, k = (i + 2) % 3;
      Y[10 * i + c] += share * f[i];
      Y[30 + 10 * i + c] += share * (m[i] - (to[j] * f[k] - to[k] * f[j]));
    }
  }
}

SARRUS_END
