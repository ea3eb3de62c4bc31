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
  for (int r = 0; r < 6; ++r) copy(Y + 10 * r, rows[r], 10);
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
  fill(Y, 60);
  world_regressor(before.rotation, before.origin, dV, point, real<T>(0.5), Y);
  world_regressor(after.rotation, after.origin, dV, point, real<T>(0.5), Y);
}

// a x
template <class T>
SARRUS_HD void cross_matrix(const T* a, T* out) {
  const T rows[9] = {T(0), -a[2], a[1], a[2], T(0), -a[0], -a[1], a[0], T(0)};
  copy(out, rows, 9);
}

// The moments of inertia (3, 3) of a payload, in its own order
template <class T>
SARRUS_HD void moments_of(const T* pi, T* out) {
  const T rows[9] = {pi[4], pi[7], pi[8], pi[7], pi[5], pi[9], pi[8], pi[9], pi[6]};
  copy(out, rows, 9);
}

// W (6, 6): the spatial inertia of the payload pi in world axes, about the origin of the body
template <class T>
SARRUS_FN void payload_inertia(const T* R, const T* pi, T* W) {
  T c[3], turn[9], I[9];
  for (int i = 0; i < 3; ++i) c[i] = R[3 * i] * pi[1] + R[3 * i + 1] * pi[2] + R[3 * i + 2] * pi[3];
  cross_matrix(c, turn);
  moments_of(pi, I);
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
}

// M (nv, nv) and h (nv) grow by what the payload pi asks of the body   in: R (9), V (6), A (6) where a = 0, J
// (6, nv)
template <class T>
SARRUS_FN void add_payload(int nv, const T* R, const T* V, const T* A, const T* J, const T* pi,
                           const T* gravity, T* M, T* h) {
  const T zero[3] = {T(0), T(0), T(0)};
  T dV[6], Y[60], W[36];
  copy(dV, A, 6);
  subtract(dV, gravity, 3);
  fill(Y, 60);
  world_regressor(R, V, dV, zero, T(1), Y);
  for (int i = 0; i < 6; ++i) add_scaled(h, inner(Y + 10 * i, pi, 10), J + i * nv, nv);
  payload_inertia(R, pi, W);
  for (int a = 0; a < nv; ++a) {
    T row[6];
    for (int i = 0; i < 6; ++i) row[i] = sum_of<T>(6, [&](int k) { return J[k * nv + a] * W[6 * k + i]; });
    for (int b = 0; b < nv; ++b)
      for (int i = 0; i < 6; ++i) M[a * nv + b] += row[i] * J[i * nv + b];
  }
}

// out: the nearest payload that can exist: mass and moments of inertia about its centre not negative, the
// centre within `farthest` of the origin
template <class T>
SARRUS_FN void make_possible(const T* pi, T farthest, T* out) {
  fill(out, 10);
  T m = pi[0], c[3], far = T(0), I[9], values[3], axes[9];
  if (!(m > 0)) return;
  for (int i = 0; i < 3; ++i) c[i] = m > real<T>(1e-12) ? pi[1 + i] / m : T(0), far += c[i] * c[i];
  auto offset = [&](int i, int j) { return m * ((i == j ? far : T(0)) - c[i] * c[j]); };  // m (c.c 1 - c c^T)
  moments_of(pi, I);
  for (int i = 0; i < 9; ++i) I[i] = I[i] - offset(i / 3, i % 3);  // about the centre
  eigenvalues(I, 3, values, axes);
  T length = sqrt_(far), share = length > farthest ? farthest / length : T(1);
  set_scaled(c, share, c, 3);
  far = far * share * share;
  out[0] = m;
  set_scaled(out + 1, m, c, 3);
  const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
  for (int e = 0; e < 6; ++e) {
    int i = rows[e], j = columns[e];
    T s = offset(i, j);
    for (int k = 0; k < 3; ++k)
      if (values[k] > 0) s += axes[3 * i + k] * values[k] * axes[3 * j + k];
    out[4 + e] = s;
  }
}

SARRUS_END
