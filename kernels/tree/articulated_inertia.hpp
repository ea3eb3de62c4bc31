// M^-1 of a tree without forming M: articulated inertias [Featherstone2008] sec. 7.2, two sweeps for each
// solve.
//
//   U_k = I s_k,   d_k = s_k . U_k + armature,   I <- I - U_k U_k^T / d_k                                 (1)
//
// coordinate by coordinate from the leaves to the root, in world axes about the origin of each node: about
// one point for all, links far away would lose digits.
#pragma once

#include "tree/inertia_and_bias.hpp"
#include "tree/inertia_pivots.hpp"

SARRUS_BEGIN

template <class T>
struct Articulated {
  Symmetric6<T>* I;  // (nn)
  Spatial<T>*s, *U;  // (nv) joint axes and (1), about the origins of their nodes
  T *inv_d, *u;      // (nv)
  Spatial<T>*F, *A;  // (nn) wrenches from the subtrees, accelerations

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    arena.take(m.nn, I, F, A);
    arena.take(m.nv, s, U, inv_d, u);
  }
};

// X I X^T, with X F the wrench F about a point at r from the new one
template <class T>
SARRUS_HD Symmetric6<T> shifted(const Vec3<T>& r, Symmetric6<T> I) {
  for (int side = 0; side < 2; ++side) {
    T rows[36];
    for (int c = 0; c < 6; ++c)
      store(Spatial<T>{I.columns[c].lin, I.columns[c].ang + cross(r, I.columns[c].lin)}, rows + 6 * c);
    for (int k = 0; k < 6; ++k)
      I.columns[k] = {{rows[k], rows[6 + k], rows[12 + k]}, {rows[18 + k], rows[24 + k], rows[30 + k]}};
  }
  return I;
}

// Inertia of node i about its origin, in world axes
template <class T>
SARRUS_HD Symmetric6<T> inertia_at_origin(const Model<real<T>>& m, int i, const Tree<T>& t) {
  Inertia<T> I = world_inertia(t.R[i], turn(t.R[i], m.com + 3 * i), m.mass[i], m.inertia + 6 * i);
  T o = T(0);
  return {{{{I.m, o, o}, {o, I.h.z, -I.h.y}},
           {{o, I.m, o}, {-I.h.z, o, I.h.x}},
           {{o, o, I.m}, {I.h.y, -I.h.x, o}},
           {{o, -I.h.z, I.h.y}, {I.xx, I.xy, I.xz}},
           {{I.h.z, o, -I.h.x}, {I.xy, I.yy, I.yz}},
           {{-I.h.y, I.h.x, o}, {I.xz, I.yz, I.zz}}}};
}

// Factorizes M at the poses of t; false where it is not positive definite.
template <class T>
SARRUS_FN bool factorize_articulated(const Model<real<T>>& m, const Tree<T>& t, Articulated<T>& w) {
  for (int i = 1; i < m.nn; ++i) w.I[i] = inertia_at_origin(m, i, t);
  for (int i = m.nn - 1; i > 0; --i) {
    Symmetric6<T>& I = w.I[i];
    for (int k = m.iv[i] + joint_nv(m.joint[i]) - 1; k >= m.iv[i]; --k) {
      w.s[k] = {t.S[k].lin + cross(t.S[k].ang, t.p[i]), t.S[k].ang};
      w.U[k] = times(I, w.s[k]);
      T d = dot(w.s[k], w.U[k]) + m.armature[k];
      if (!(d > real<T>(0))) return false;
      w.inv_d[k] = real<T>(1) / d;
      for (int c = 0; c < 6; ++c) I.columns[c] = I.columns[c] - w.U[k] * (entry(w.U[k], c) * w.inv_d[k]);
    }
    if (m.parent[i] > 0) add(shifted(t.p[i] - t.p[m.parent[i]], I), w.I[m.parent[i]]);
  }
  return true;
}

// a (nv) = M^-1 f
template <class T>
SARRUS_FN void solve_articulated(const Model<real<T>>& m, const Tree<T>& t, const T* f, Articulated<T>& w,
                                 T* a) {
  for (int i = 0; i < m.nn; ++i) w.F[i] = w.A[i] = zero6<T>();
  for (int i = m.nn - 1; i > 0; --i) {
    Spatial<T>& F = w.F[i];
    for (int k = m.iv[i] + joint_nv(m.joint[i]) - 1; k >= m.iv[i]; --k) {
      w.u[k] = (f[k] - dot(w.s[k], F)) * w.inv_d[k];
      F = F + w.U[k] * w.u[k];
    }
    Vec3<T> r = t.p[i] - t.p[m.parent[i]];
    w.F[m.parent[i]] = w.F[m.parent[i]] + Spatial<T>{F.lin, F.ang + cross(r, F.lin)};
  }
  for (int i = 1; i < m.nn; ++i) {
    const Spatial<T>& A = w.A[m.parent[i]];
    w.A[i] = {A.lin + cross(A.ang, t.p[i] - t.p[m.parent[i]]), A.ang};
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      a[k] = w.u[k] - dot(w.U[k], w.A[i]) * w.inv_d[k];
      w.A[i] = w.A[i] + w.s[k] * a[k];
    }
  }
}

SARRUS_END
