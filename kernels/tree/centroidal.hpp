// Centre of mass c of the moving bodies, and their momentum h about it, in world axes.
//
//   h = sum of I_i V_i = A v,   A_k = Ic_i S_k                                                  (1)
//   h' = sum of I_i A_i + ad*_{V_i} I_i V_i                                                     (2)
//
// taken about c, with Ic_i the inertia of the subtree of node i that carries k. c' is parallel to the linear
// momentum, so (2) needs no term for the motion of c. A is the centroidal momentum matrix of [Orin2013].
#pragma once

#include "tree/inertia_and_bias.hpp"

SARRUS_BEGIN

// A momentum or its rate about O, taken about c instead
template <class T>
SARRUS_HD Spatial<T> about(const Vec3<T>& c, const Spatial<T>& h) {
  return {h.lin, h.ang - cross(c, h.lin)};
}

// out: w.I, and w.Ic with the whole mechanism in w.Ic[0]   in: t (placed)
template <class T>
SARRUS_FN void weigh_subtrees(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w) {
  weigh(m, t, w.I);
  w.Ic[0] = {T(0), zero3<T>(), T(0), T(0), T(0), T(0), T(0), T(0)};
  copy(w.Ic + 1, w.I + 1, m.nn - 1);
  for (int i = m.nn - 1; i > 0; --i) w.Ic[m.parent[i]] = w.Ic[m.parent[i]] + w.Ic[i];
  for (int b = 0; b < m.nfl; ++b) {  // one that stands on the ground moves as well
    if (m.fl_node[b] != 0) continue;
    const real<T>* x = shapes_of(m, b).mass;
    w.Ic[0].m += T(x[0]);
    w.Ic[0].h = w.Ic[0].h + t.p[0] * x[0] + turn(t.R[0], x + 1) + t.bent.more[b].h;
  }
}

// The centre of mass relative to O   in: w.Ic
template <class T>
SARRUS_HD Vec3<T> center_of_mass(const Bodies<T>& w) {
  return w.Ic[0].h * (T(1) / w.Ic[0].m);
}

// c', c'' or a column of the Jacobian of c, of h, h' or that column of A   in: w.Ic
template <class T>
SARRUS_HD Vec3<T> of_center(const Bodies<T>& w, const Spatial<T>& h) {
  return h.lin * (T(1) / w.Ic[0].m);
}

// out: A (nv columns) of (1)   in: t (placed), w.Ic
template <class T>
SARRUS_FN void momentum_matrix(const Model<real<T>>& m, const Tree<T>& t, const Bodies<T>& w, Spatial<T>* A) {
  Vec3<T> c = center_of_mass(w);
  for (int i = 1; i < m.nn; ++i)
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      Spatial<T> h = w.Ic[i] * t.S[k];
      if (flexible_of(m, k) >= 0) h = h + t.bent.P[k];
      A[k] = about(c, h);
    }
}

// h   in: t (moved), w.Ic
template <class T>
SARRUS_FN Spatial<T> momentum(const Model<real<T>>& m, const Tree<T>& t, const Bodies<T>& w) {
  Spatial<T> h = zero6<T>();
  for (int i = 1; i < m.nn; ++i) h = h + w.I[i] * t.V[i];
  for (int b = 0; b < m.nfl; ++b) h = h + t.bent.momentum[b];
  return about(center_of_mass(w), h);
}

// h' of (2)   in: t (accelerated), w.Ic
template <class T>
SARRUS_FN Spatial<T> momentum_rate(const Model<real<T>>& m, const Tree<T>& t, const Bodies<T>& w) {
  Spatial<T> rate = zero6<T>();
  for (int i = 1; i < m.nn; ++i)
    rate = rate + w.I[i] * (t.A[i] - t.A[0]) + cross_force(t.V[i], w.I[i] * t.V[i]);  // A_0 = -g
  for (int b = 0; b < m.nfl; ++b) rate = rate + t.bent.wrench[b];
  return about(center_of_mass(w), rate);
}

SARRUS_END
