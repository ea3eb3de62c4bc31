// Joint-space inertia M and bias h, or inverse dynamics M a + h, of the tree.
//
//   F_i = I_i A_i + ad*_{V_i} I_i V_i - (declared wrenches),   h_k = S_k . sum of F over the subtree   (1)
//   M_jk = S_j . Ic_i S_k,  Ic_i = sum of I over the subtree of node i that carries k                 (2)
//
// Newton-Euler [Featherstone2008] sec. 5.3, [Spencer2004] A.3 (erratum: the velocity term is
// -ad^T_{V} I V); composite rigid bodies [Featherstone2008] sec. 6.2.
#pragma once

#include "tree/applied_forces.hpp"

SARRUS_BEGIN

template <class T>
struct Bodies {
  Inertia<T>* I;     // (nn) inertia of each node
  Inertia<T>* Ic;    // (nn) and of its subtree
  Spatial<T>* F;     // (nn) wrench needed by each node, then by its subtree
  Spatial<T>* load;  // (nn) wrenches of formulas, where there are any
  T* formulas;       // (nfs) room for their numbers

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    arena.take(m.nn, I, Ic, F);
    arena.take(m.nfm ? m.nn : 0, load);
    arena.take(m.nfs, formulas);
  }
};

// out: I of node i   in: R, p
template <class T>
SARRUS_HD Inertia<T> inertia_of_node(const Model<real<T>>& m, int i, const Tree<T>& t) {
  Vec3<T> c = t.p[i] + turn(t.R[i], m.com + 3 * i);
  return world_inertia(t.R[i], c, m.mass[i], m.inertia + 6 * i);
}

// out: I   in: R, p
template <class T>
SARRUS_FN void weigh(const Model<real<T>>& m, const Tree<T>& t, Inertia<T>* I) {
  for (int i = 1; i < m.nn; ++i) I[i] = inertia_of_node(m, i, t);
  for (int b = 0; b < m.nfl; ++b)
    if (int i = m.fl_node[b]; i > 0) I[i] = I[i] + t.bent.more[b];
}

// F_i of (1) without declared wrenches
template <class T>
SARRUS_HD Spatial<T> wrench_of_node(const Inertia<T>& I, const Spatial<T>& V, const Spatial<T>& A) {
  return I * A + cross_force(V, I * V);
}

// out: w.load   in: t (moved)
template <class T>
SARRUS_FN void load_by_formulas(const Model<real<T>>& m, const T* q, const T* v, const Tree<T>& t,
                                Bodies<T>& w) {
  if (!m.nfm) return;
  for (int i = 0; i < m.nn; ++i) w.load[i] = zero6<T>();
  add_formula_wrenches(m, q, v, t, w.formulas, w.load);
}

// w.F -= declared wrenches   in: t (moved), w.load
template <class T>
SARRUS_FN void subtract_declared(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w) {
  subtract_wrenches(m, t, w.F);
  for (int i = 1; m.nfm && i < m.nn; ++i) w.F[i] = w.F[i] - w.load[i];
}

// w.F += what deflections of flexible bodies need
template <class T>
SARRUS_HD void add_deflection_wrenches(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w) {
  for (int b = 0; b < m.nfl; ++b) w.F[m.fl_node[b]] = w.F[m.fl_node[b]] + t.bent.wrench[b];
}

// What deflections of flexible body b need beside its rigid body, about the world's origin   in: t with the
// joint accelerations in A
template <class T>
SARRUS_FN Spatial<T> deflection_wrench(const Model<real<T>>& m, int b, const Tree<T>& t) {
  int i = m.fl_node[b];
  Spatial<T> W = t.bent.wrench[b] + wrench_of_node(t.bent.more[b], t.V[i], t.A[i]);
  return {W.lin, W.ang + cross(t.O[0], W.lin)};
}

// F_i of (1), with the accelerations in t.A   in: w.load
template <class T>
SARRUS_FN void demand(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w) {
  w.F[0] = zero6<T>();
  for (int i = 1; i < m.nn; ++i) w.F[i] = wrench_of_node(w.I[i], t.V[i], t.A[i]);
  add_deflection_wrenches(m, t, w);
  subtract_declared(m, t, w);
}

// h += (5) of tree/flexible.hpp
template <class T>
SARRUS_FN void add_deflection_efforts(const Model<real<T>>& m, const Tree<T>& t, T* h) {
  for (int b = 0; b < m.nfl; ++b)
    for (int k = m.fl_v[b]; k < m.fl_v[b] + m.fl_n[b]; ++k)
      h[k] += t.bent.effort[k] + dot(t.bent.P[k], t.A[m.fl_node[b]]);
}

// out: h (nv), w.load   in: q, v, t (moved), w.I
template <class T>
SARRUS_FN void bias(const Model<real<T>>& m, const T* q, const T* v, const Tree<T>& t, Bodies<T>& w, T* h) {
  load_by_formulas(m, q, v, t, w);
  demand(m, t, w);
  for (int i = m.nn - 1; i > 0; --i) {
    int k = m.iv[i], n = joint_nv(m.joint[i]), pa = m.parent[i];
    for (int j = 0; j < n; ++j) h[k + j] = dot(t.S[k + j], w.F[i]);
    w.F[pa] = w.F[pa] + w.F[i];
  }
  add_deflection_efforts(m, t, h);
  subtract_joint_forces(m, q, v, h);
  if (m.nfm) subtract_formula_forces(m, q, v, w.formulas, h);
}

// What flexible body b, of which k is a coordinate, adds to M_kj, j on the way from k to the ground
template <class T>
SARRUS_HD T deflection_inertia(const Model<real<T>>& m, const Tree<T>& t, int b, int k, int j) {
  int first = m.fl_v[b], n = m.fl_n[b];
  if (j < first || j >= first + n) return dot(t.S[j], t.bent.P[k]);
  return T(shapes_of(m, b).M[(k - first) * n + j - first]);
}

// M += what deflections of flexible bodies have
template <class T, class LD>
SARRUS_FN void add_deflection_inertia(const Model<real<T>>& m, const Tree<T>& t, LD ld, T* M) {
  for (int b = 0; b < m.nfl; ++b)
    for (int k = m.fl_v[b]; k < m.fl_v[b] + m.fl_n[b]; ++k) {
      for (int j = m.fl_v[b]; j < m.fl_v[b] + m.fl_n[b]; ++j)
        M[k * ld + j] += deflection_inertia(m, t, b, k, j);
      for (int up = m.fl_node[b]; up > 0; up = m.parent[up])
        for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j) {
          T x = deflection_inertia(m, t, b, k, j);
          M[k * ld + j] += x;
          M[j * ld + k] += x;
        }
    }
}

// out: the entries of M along the branches of the tree (rows of stride ld), w.Ic   in: t, w.I
template <class T, class LD>
SARRUS_FN void inertia_branches(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w, LD ld, T* M) {
  copy(w.Ic + 1, w.I + 1, m.nn - 1);
  for (int i = m.nn - 1; i > 0; --i) {
    int first = m.iv[i], n = joint_nv(m.joint[i]), pa = m.parent[i];
    for (int k = first; k < first + n; ++k) {
      Spatial<T> f = w.Ic[i] * t.S[k];
      for (int j = first; j < first + n; ++j) M[k * ld + j] = dot(t.S[j], f);
      for (int up = pa; up > 0; up = m.parent[up]) {
        int j0 = m.iv[up], j1 = j0 + joint_nv(m.joint[up]);
        for (int j = j0; j < j1; ++j) {
          T x = dot(t.S[j], f);  // (2)
          M[k * ld + j] = x;
          M[j * ld + k] = x;
        }
      }
      M[k * ld + k] += m.armature[k];
    }
    if (pa > 0) w.Ic[pa] = w.Ic[pa] + w.Ic[i];
  }
  add_deflection_inertia(m, t, ld, M);
}

// out: M (nv rows of stride ld, symmetric, padding zero), w.Ic   in: t, w.I
template <class T, class LD>
SARRUS_FN void inertia_matrix(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w, LD ld, T* M) {
  fill(M, m.nv * ld);
  inertia_branches(m, t, w, ld, M);
}

// visit(k, j) for every entry of M on and below its diagonal
template <class R, class F>
SARRUS_HD void each_branch(const Model<R>& m, F visit) {
  for (int i = 1; i < m.nn; ++i)
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      for (int j = m.iv[i]; j <= k; ++j) visit(k, j);
      for (int up = m.parent[i]; up > 0; up = m.parent[up])
        for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j) visit(k, j);
    }
}

// The same entries into out, in the order of each_branch(); w.Ic   in: t, w.I
template <class T>
SARRUS_FN void inertia_by_branches(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w, T* out) {
  copy(w.Ic + 1, w.I + 1, m.nn - 1);
  for (int i = m.nn - 1; i > 0; --i)
    if (m.parent[i] > 0) w.Ic[m.parent[i]] = w.Ic[m.parent[i]] + w.Ic[i];
  for (int i = 1; i < m.nn; ++i)
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      Spatial<T> f = w.Ic[i] * t.S[k];
      int b = flexible_of(m, k);
      auto entry = [&](int j) {
        T x = dot(t.S[j], f);
        return b < 0 ? x : x + deflection_inertia(m, t, b, k, j);
      };
      for (int j = m.iv[i]; j <= k; ++j) *out++ = entry(j);
      out[-1] += m.armature[k];
      for (int up = m.parent[i]; up > 0; up = m.parent[up])
        for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j) *out++ = entry(j);
    }
}

// w.F += wrenches of the accelerations a of deflections
template <class T>
SARRUS_HD void add_accelerated_deflections(const Model<real<T>>& m, const T* a, const Tree<T>& t,
                                           Bodies<T>& w) {
  for (int b = 0; b < m.nfl; ++b)
    for (int k = m.fl_v[b]; k < m.fl_v[b] + m.fl_n[b]; ++k)
      w.F[m.fl_node[b]] = w.F[m.fl_node[b]] + t.bent.P[k] * a[k];
}

// f += their generalized forces
template <class T>
SARRUS_FN void add_deflection_products(const Model<real<T>>& m, const T* a, const Tree<T>& t, T* f) {
  for (int b = 0; b < m.nfl; ++b) {
    Spatial<T> A = zero6<T>();
    for (int up = m.fl_node[b]; up > 0; up = m.parent[up]) A = A + joint_twist(m, up, t, a);
    for (int k = m.fl_v[b]; k < m.fl_v[b] + m.fl_n[b]; ++k) {
      f[k] += dot(t.bent.P[k], A);
      for (int j = m.fl_v[b]; j < m.fl_v[b] + m.fl_n[b]; ++j)
        f[k] += deflection_inertia(m, t, b, k, j) * a[j];
    }
  }
}

// out: f = M a (nv), w.F   in: a, t (placed), w.I. Summed over the bodies: what coordinates that move against
// each other do to a body cancels in its motion before it is squared.
template <class T>
SARRUS_FN void inertia_times(const Model<real<T>>& m, const T* a, const Tree<T>& t, Bodies<T>& w, T* f) {
  w.F[0] = zero6<T>();
  for (int i = 1; i < m.nn; ++i) {
    w.F[i] = w.F[m.parent[i]];
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) w.F[i] = w.F[i] + t.S[k] * a[k];
  }
  for (int i = 1; i < m.nn; ++i) w.F[i] = w.I[i] * w.F[i];
  add_accelerated_deflections(m, a, t, w);
  for (int i = m.nn - 1; i > 0; --i) {
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k)
      f[k] = dot(t.S[k], w.F[i]) + a[k] * m.armature[k];
    w.F[m.parent[i]] = w.F[m.parent[i]] + w.F[i];
  }
  add_deflection_products(m, a, t, f);
}

// out: f = M a + h (nv)   in: q, v, a, t (placed)
template <class T>
SARRUS_FN void rnea(const Model<real<T>>& m, const T* q, const T* v, const T* a, Tree<T>& t, Bodies<T>& w,
                    T* f) {
  accelerate_tree(m, v, a, t);
  weigh(m, t, w.I);
  bias(m, q, v, t, w, f);
  for (int k = 0; k < m.nv; ++k) f[k] += a[k] * m.armature[k];
}

// Adds what deflections of flexible bodies have   in: t (moved)
template <class T>
SARRUS_FN void add_deflection_energy(const Model<real<T>>& m, const T* q, const T* v, const Tree<T>& t,
                                     T& kinetic, T& potential) {
  for (int b = 0; b < m.nfl; ++b) {
    Shapes<real<T>> x = shapes_of(m, b);
    int first = m.fl_v[b];
    const Spatial<T>& V = t.V[m.fl_node[b]];
    const Vec3<T>& s = t.bent.more[b].h;
    kinetic += dot(t.bent.more[b] * V, V) * real<T>(0.5) + dot(t.bent.momentum[b], V);
    for (int k = 0; k < x.n; ++k)
      for (int l = 0; l < x.n; ++l)
        kinetic += v[first + k] * v[first + l] * (x.M[k * x.n + l] * real<T>(0.5));
    potential += elastic_energy(x, q + m.fl_q[b]);
    potential -= s.x * m.gravity[0] + s.y * m.gravity[1] + s.z * m.gravity[2];
  }
}

// kinetic and potential energy (gravity about the world origin, springs, stops)   in: t (moved)
template <class T>
SARRUS_FN void energy(const Model<real<T>>& m, const T* q, const T* v, const Tree<T>& t, T* out) {
  T kinetic = T(0), potential = T(0);
  for (int i = 1; i < m.nn; ++i) {
    Vec3<T> c = t.p[i] + turn(t.R[i], m.com + 3 * i);
    Inertia<T> I = world_inertia(t.R[i], c, m.mass[i], m.inertia + 6 * i);
    kinetic += dot(I * t.V[i], t.V[i]) * real<T>(0.5);
    Vec3<T> r = c + t.O[0];
    potential -= (r.x * m.gravity[0] + r.y * m.gravity[1] + r.z * m.gravity[2]) * m.mass[i];
  }
  for (int k = 0; k < m.nv; ++k)
    if (!m.first_order[k]) kinetic += v[k] * v[k] * (m.armature[k] * real<T>(0.5));
  add_deflection_energy(m, q, v, t, kinetic, potential);
  add_force_energy(m, q, t, potential);
  out[0] = kinetic;
  out[1] = potential;
}

SARRUS_END
