// What a mass fixed to a body asks of it, linear in its ten parameters [Featherstone2008] chapter 2:
//
//   pi = [m, m c (3), I_xx, I_yy, I_zz, I_xy, I_xz, I_yz]    about the origin of the body, in its axes (1)
//   force  = m a + w' x m c + w x (w x m c),   moment = m c x a + I w' + w x I w (2)
//
// a is the acceleration of the origin less gravity.
#pragma once

#include "algebra/symmetric_eigenvalues.hpp"
#include "control/step_data.hpp"

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

// Y (6, 10) at a point of the body in world axes, mean over a sample of length dt
template <class T>
SARRUS_FN void mean_regressor(const ObserverSample<T>& before, const ObserverSample<T>& after, T dt,
                              const T* gravity, const T* point, T* Y) {
  T dV[6];
  for (int i = 0; i < 6; ++i) dV[i] = (after.origin[i] - before.origin[i]) / dt - (i < 3 ? gravity[i] : T(0));
  for (int i = 0; i < 60; ++i) Y[i] = T(0);
  world_regressor(before.rotation, before.origin, dV, point, real<T>(0.5), Y);
  world_regressor(after.rotation, after.origin, dV, point, real<T>(0.5), Y);
}

// M (nv, nv) and h (nv) grow by what the payload pi asks of the body   in: R (9), V (6), A (6) where a = 0, J
// (6, nv)
template <class T>
SARRUS_FN void add_payload(int nv, const T* R, const T* V, const T* A, const T* J, const T* pi,
                           const T* gravity, T* M, T* h) {
  const T zero[3] = {T(0), T(0), T(0)};
  T dV[6], Y[60], c[3], W[36];
  for (int i = 0; i < 6; ++i) dV[i] = i < 3 ? A[i] - gravity[i] : A[i];
  for (int i = 0; i < 60; ++i) Y[i] = T(0);
  world_regressor(R, V, dV, zero, T(1), Y);
  for (int i = 0; i < 6; ++i) {
    T f = T(0);
    for (int k = 0; k < 10; ++k) f += Y[10 * i + k] * pi[k];
    for (int j = 0; j < nv; ++j) h[j] += J[i * nv + j] * f;
  }
  for (int i = 0; i < 3; ++i) c[i] = R[3 * i] * pi[1] + R[3 * i + 1] * pi[2] + R[3 * i + 2] * pi[3];
  const T I[9] = {pi[4], pi[7], pi[8], pi[7], pi[5], pi[9], pi[8], pi[9], pi[6]};
  const T turn[9] = {T(0), -c[2], c[1], c[2], T(0), -c[0], -c[1], c[0], T(0)};
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      T s = T(0);
      for (int k = 0; k < 3; ++k)
        for (int l = 0; l < 3; ++l) s += R[3 * i + k] * I[3 * k + l] * R[3 * j + l];
      W[6 * i + j] = i == j ? pi[0] : T(0);
      W[6 * i + 3 + j] = -turn[3 * i + j];
      W[18 + 6 * i + j] = turn[3 * i + j];
      W[18 + 6 * i + 3 + j] = s;
    }
  for (int a = 0; a < nv; ++a) {
    T row[6];
    for (int i = 0; i < 6; ++i) {
      row[i] = T(0);
      for (int k = 0; k < 6; ++k) row[i] += J[k * nv + a] * W[6 * k + i];
    }
    for (int b = 0; b < nv; ++b)
      for (int i = 0; i < 6; ++i) M[a * nv + b] += row[i] * J[i * nv + b];
  }
}

// out: the nearest payload that can exist: mass and moments of inertia about its centre not negative, the
// centre within `farthest` of the origin
template <class T>
SARRUS_FN void make_possible(const T* pi, T farthest, T* out) {
  for (int i = 0; i < 10; ++i) out[i] = T(0);
  T m = pi[0], c[3], far = T(0), I[9], values[3], axes[9];
  if (!(m > 0)) return;
  for (int i = 0; i < 3; ++i) c[i] = m > real<T>(1e-12) ? pi[1 + i] / m : T(0), far += c[i] * c[i];
  const T about[9] = {pi[4], pi[7], pi[8], pi[7], pi[5], pi[9], pi[8], pi[9], pi[6]};
  for (int i = 0; i < 3; ++i)  // to the centre: I - m (c.c 1 - c c^T)
    for (int j = 0; j < 3; ++j) I[3 * i + j] = about[3 * i + j] - m * ((i == j ? far : T(0)) - c[i] * c[j]);
  eigenvalues(I, 3, values, axes);
  T length = sqrt_(far), share = length > farthest ? farthest / length : T(1);
  for (int i = 0; i < 3; ++i) c[i] = c[i] * share;
  far = far * share * share;
  out[0] = m;
  const int at[9] = {4, 7, 8, 7, 5, 9, 8, 9, 6};
  for (int i = 0; i < 3; ++i) {
    out[1 + i] = m * c[i];
    for (int j = i; j < 3; ++j) {
      T s = m * ((i == j ? far : T(0)) - c[i] * c[j]);
      for (int k = 0; k < 3; ++k)
        if (values[k] > 0) s += axes[3 * i + k] * values[k] * axes[3 * j + k];
      out[at[3 * i + j]] = s;
    }
  }
}

SARRUS_END
