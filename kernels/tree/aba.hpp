// Articulated-body algorithm: accelerations of the tree without constraints in O(n).
//
//   U = IA S,  D = S^T U + armature,  u = tau - S^T pA                                                   (1)
//   Ia = IA - U D^-1 U^T,  pa = pA + Ia c + U D^-1 u,  added to the parent                               (2)
//   a = D^-1 (u - U^T A'),  A = A' + S a,  A' = A_parent + c                                             (3)
//
// in world axes about one point, so nothing is transformed on the way up. [Featherstone2008] sec. 7.3
#pragma once

#include "tree/inertia_and_bias.hpp"

SARRUS_BEGIN

// Symmetric 6x6 in row order, linear first.
template <class T>
struct Articulated {
  T m[36];
};

template <class T>
struct ArticulatedWork {
  Articulated<T>* IA;  // (nn)
  Spatial<T>* pA;      // (nn)
  Spatial<T>* c;       // (nn) velocity-product acceleration of the joint
  Spatial<T>* U;       // (nv)
  T* D;                // (nn, 36) factored joint inertia
  T* u;                // (nv)
  T* h;                // (nv) joint forces

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    IA = arena.template take<Articulated<T>>(m.nn);
    pA = arena.template take<Spatial<T>>(m.nn);
    c = arena.template take<Spatial<T>>(m.nn);
    U = arena.template take<Spatial<T>>(m.nv);
    D = arena.template take<T>(36 * m.nn);
    u = arena.template take<T>(m.nv);
    h = arena.template take<T>(m.nv);
  }
};

template <class T>
SARRUS_HD Spatial<T> operator*(const Articulated<T>& I, const Spatial<T>& s) {
  T x[6] = {s.lin.x, s.lin.y, s.lin.z, s.ang.x, s.ang.y, s.ang.z}, y[6];
  for (int i = 0; i < 6; ++i) {
    y[i] = I.m[6 * i] * x[0];
    for (int j = 1; j < 6; ++j) y[i] += I.m[6 * i + j] * x[j];
  }
  return {{y[0], y[1], y[2]}, {y[3], y[4], y[5]}};
}

// [[m 1, -[h]], [[h], I]]
template <class T>
SARRUS_HD Articulated<T> articulated(const Inertia<T>& I) {
  T o = T(0);
  return {{I.m,   o, o,      o,     I.h.z,  -I.h.y, o,      I.m,    o,     -I.h.z, o,    I.h.x,
           o,     o, I.m,    I.h.y, -I.h.x, o,      o,      -I.h.z, I.h.y, I.xx,   I.xy, I.xz,
           I.h.z, o, -I.h.x, I.xy,  I.yy,   I.yz,   -I.h.y, I.h.x,  o,     I.xz,   I.yz, I.zz}};
}

// D = L L^T in place (n <= 6, row stride 6); solve() applies its inverse.
template <class T>
SARRUS_HD void cholesky6(T* D, int n) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) {
      T s = D[6 * i + j];
      for (int k = 0; k < j; ++k) s -= D[6 * i + k] * D[6 * j + k];
      D[6 * i + j] = i == j ? sqrt_(s) : s / D[6 * j + j];
    }
}
template <class T>
SARRUS_HD void solve6(const T* L, int n, T* x) {
  for (int i = 0; i < n; ++i) {
    for (int k = 0; k < i; ++k) x[i] -= L[6 * i + k] * x[k];
    x[i] = x[i] / L[6 * i + i];
  }
  for (int i = n - 1; i >= 0; --i) {
    for (int k = i + 1; k < n; ++k) x[i] -= L[6 * k + i] * x[k];
    x[i] = x[i] / L[6 * i + i];
  }
}

// One node of the backward pass: (1), then (2) into the parent.
template <class T>
SARRUS_FN void articulate(const Model<real<T>>& m, int i, const T* tau, const Tree<T>& t,
                          ArticulatedWork<T>& w) {
  int k = m.iv[i], n = joint_nv(m.joint[i]), pa = m.parent[i];
  T* D = w.D + 36 * i;
  for (int j = 0; j < n; ++j) {
    w.U[k + j] = w.IA[i] * t.S[k + j];
    w.u[k + j] = tau[k + j] - w.h[k + j] - dot(t.S[k + j], w.pA[i]);
    for (int l = 0; l < n; ++l) D[6 * l + j] = dot(t.S[k + l], w.U[k + j]);
    D[7 * j] += m.armature[k + j];
  }
  cholesky6(D, n);
  if (pa == 0) return;
  T y[6];
  for (int j = 0; j < n; ++j) y[j] = w.u[k + j];
  solve6(D, n, y);
  Spatial<T> p = w.pA[i] + w.IA[i] * w.c[i];
  for (int j = 0; j < n; ++j) p = p + w.U[k + j] * y[j];
  Articulated<T>& up = w.IA[pa];
  for (int e = 0; e < 36; ++e) up.m[e] += w.IA[i].m[e];
  for (int r = 0; r < 6; ++r) {  // columns of U D^-1 U^T, one at a time
    T x[6];
    for (int j = 0; j < n; ++j) x[j] = entry(w.U[k + j], r);
    solve6(D, n, x);
    Spatial<T> column = w.U[k] * x[0];
    for (int j = 1; j < n; ++j) column = column + w.U[k + j] * x[j];
    for (int e = 0; e < 6; ++e) up.m[6 * e + r] -= entry(column, e);
    // Ia c: subtract (U D^-1 U^T) c column by column
    p = p - column * entry(w.c[i], r);
  }
  w.pA[pa] = w.pA[pa] + p;
}

// out: a (nv)   in: q, v, tau, t (placed and moved)
template <class T>
SARRUS_FN void aba(const Model<real<T>>& m, const T* q, const T* v, const T* tau, Tree<T>& t, Bodies<T>& b,
                   ArticulatedWork<T>& w, T* a) {
  weigh(m, t, b.I);
  for (int k = 0; k < m.nv; ++k) w.h[k] = T(0);
  subtract_joint_forces(m, q, v, w.h);
  for (int i = 1; i < m.nn; ++i) {
    w.IA[i] = articulated(b.I[i]);
    w.pA[i] = cross_force(t.V[i], b.I[i] * t.V[i]);
    w.c[i] = t.A[i] - t.A[m.parent[i]];
  }
  subtract_wrenches(m, t, w.pA);
  for (int i = m.nn - 1; i > 0; --i) articulate(m, i, tau, t, w);
  for (int i = 1; i < m.nn; ++i) {  // (3); t.A becomes the true acceleration
    int k = m.iv[i], n = joint_nv(m.joint[i]);
    Spatial<T> A = t.A[m.parent[i]] + w.c[i];
    T x[6];
    for (int j = 0; j < n; ++j) x[j] = w.u[k + j] - dot(w.U[k + j], A);
    solve6(w.D + 36 * i, n, x);
    for (int j = 0; j < n; ++j) {
      a[k + j] = x[j];
      A = A + t.S[k + j] * x[j];
    }
    t.A[i] = A;
  }
}

SARRUS_END
