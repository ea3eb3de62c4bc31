// Derivatives of inverse dynamics tau = M a + h of the tree with respect to tangent increments of q, and v.
//
// An increment of coordinate k (of node n with parent p) displaces the subtree of n rigidly along S_k; the
// rest of the mechanism stays:
//
//   alpha_k = ad_{V_p} S_k,     xi_k = ad_{A_p} S_k + ad_{V_p} alpha_k,     eta_k = alpha_k + ad_{V_n} S_k
//                                                                                                        (1)
//   d(sum F)/dq_k = ad*_{S_k} f + Ic xi_k + Bc alpha_k
//   d(sum F)/dv_k = Ic eta_k + Bc S_k                                                                    (2)
//   d tau_j/dq_k = S_j . (Ic_j xi_k + Bc_j alpha_k)   for j at or below k,
//                = S_j . d(sum F)/dq_k                for j above k                                      (3)
//
// with f, Ic, Bc summed over a subtree and B_i x = I_i ad_x V_i + ad*_x I_i V_i + ad*_{V_i} I_i x. It holds
// for joints of any number of freedoms, because all their columns move together. Derived anew in world axes
// (docs/derivations/derivatives.md); [Spencer2004] sec. 4.3 has the recursion for one-freedom joints.
#pragma once

#include "tree/inertia_and_bias.hpp"

SARRUS_BEGIN

// B of one or several bodies. About one reference point it has only twelve numbers:
//   B x = [ -2 p x w ;  C w - l x w ],   p, l the momenta, C = 2 (h.v) 1 - h v' - v h' + [w]I + ([w]I)'
// with x = [.; w], and no linear column at all.
template <class T>
struct Gyration {
  Vec3<T> p, l;
  T xx, xy, xz, yy, yz, zz;
};
template <class T>
SARRUS_HD Gyration<T> operator+(const Gyration<T>& a, const Gyration<T>& b) {
  return {a.p + b.p, a.l + b.l, a.xx + b.xx, a.xy + b.xy, a.xz + b.xz, a.yy + b.yy, a.yz + b.yz, a.zz + b.zz};
}
template <class T>
SARRUS_HD Gyration<T> gyration(const Inertia<T>& I, const Spatial<T>& V) {
  Spatial<T> momentum = I * V;
  const Vec3<T>&v = V.lin, &w = V.ang, &h = I.h;
  // columns of [w] I
  Vec3<T> cx = cross(w, Vec3<T>{I.xx, I.xy, I.xz}), cy = cross(w, Vec3<T>{I.xy, I.yy, I.yz});
  Vec3<T> cz = cross(w, Vec3<T>{I.xz, I.yz, I.zz});
  T d = dot(h, v) * real<T>(2);
  real<T> two = 2;
  return {momentum.lin,
          momentum.ang,
          d + (cx.x - h.x * v.x) * two,
          cx.y + cy.x - h.x * v.y - h.y * v.x,
          cx.z + cz.x - h.x * v.z - h.z * v.x,
          d + (cy.y - h.y * v.y) * two,
          cy.z + cz.y - h.y * v.z - h.z * v.y,
          d + (cz.z - h.z * v.z) * two};
}
template <class T>
SARRUS_HD Vec3<T> symmetric(const Gyration<T>& b, const Vec3<T>& w) {
  return {b.xx * w.x + b.xy * w.y + b.xz * w.z, b.xy * w.x + b.yy * w.y + b.yz * w.z,
          b.xz * w.x + b.yz * w.y + b.zz * w.z};
}
// B x and the angular part of B^T x, which has no other
template <class T>
SARRUS_HD Spatial<T> apply(const Gyration<T>& b, const Spatial<T>& x) {
  return {cross(b.p, x.ang) * real<T>(-2), symmetric(b, x.ang) - cross(b.l, x.ang)};
}
template <class T>
SARRUS_HD Vec3<T> apply_transposed(const Gyration<T>& b, const Spatial<T>& x) {
  return cross(b.p, x.lin) * real<T>(2) + symmetric(b, x.ang) + cross(b.l, x.ang);
}

template <class T>
struct TreeTangent {
  Gyration<T>* B;               // (nn)
  Spatial<T>*alpha, *xi, *eta;  // (nv)
  int* above;                   // (nv) the column before, on the way to the ground; -1 where there is none

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    arena.take(m.nn, B);
    arena.take(m.nv, alpha, xi, eta, above);
  }
};

// out: d.B, w.F of single bodies, and (1)   in: w.I, t with the joint accelerations in A
template <class T>
SARRUS_FN void tangent_quantities(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w,
                                  TreeTangent<T>& d) {
  w.F[0] = zero6<T>();
  for (int i = 1; i < m.nn; ++i) {
    w.F[i] = w.I[i] * t.A[i] + cross_force(t.V[i], w.I[i] * t.V[i]);
    d.B[i] = gyration(w.I[i], t.V[i]);
    int pa = m.parent[i], before = pa > 0 ? m.iv[pa] + joint_nv(m.joint[pa]) - 1 : -1;
    const Spatial<T>&Vp = t.V[pa], &Ap = t.A[pa];
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      d.above[k] = before, before = k;
      d.alpha[k] = cross_motion(Vp, t.S[k]);
      d.xi[k] = cross_motion(Ap, t.S[k]) + cross_motion(Vp, d.alpha[k]);
      d.eta[k] = d.alpha[k] + cross_motion(t.V[i], t.S[k]);
    }
  }
  for (int b = 0; b < m.nfl; ++b) {  // (4) of tree/flexible.hpp has the form of (3) as well
    int i = m.fl_node[b];
    if (i == 0) continue;
    const Inertia<T>& J = t.bent.rate[b];
    const Spatial<T>& H = t.bent.momentum[b];
    w.F[i] = w.F[i] + t.bent.wrench[b];
    d.B[i] = d.B[i] + Gyration<T>{H.lin, H.ang, J.xx, J.xy, J.xz, J.yy, J.yz, J.zz};
  }
}

// Added to the rows and columns of the coordinates of node i in dq, dv (stride ld); its subtree is summed up.
template <class T>
SARRUS_HD void node_derivatives(const Model<real<T>>& m, int i, const Tree<T>& t, const Bodies<T>& w,
                                const TreeTangent<T>& d, int ld, T* dq, T* dv) {
  int first = m.iv[i], end = first + joint_nv(m.joint[i]);
  for (int k = first; k < end; ++k) {
    const Spatial<T>& S = t.S[k];
    Spatial<T> own_q = w.Ic[i] * d.xi[k] + apply(d.B[i], d.alpha[k]);
    Spatial<T> own_v = w.Ic[i] * d.eta[k] + apply(d.B[i], S);
    for (int j = first; j < end; ++j) {
      dq[j * ld + k] += dot(t.S[j], own_q);
      dv[j * ld + k] += dot(t.S[j], own_v);
    }
    Spatial<T> up_q = own_q + cross_force(S, w.F[i]);  // (2), for ancestors j
    Spatial<T> IS = w.Ic[i] * S;
    Vec3<T> BS = apply_transposed(d.B[i], S);
    for (int j = d.above[first]; j >= 0; j = d.above[j]) {
      dq[j * ld + k] += dot(t.S[j], up_q);
      dv[j * ld + k] += dot(t.S[j], own_v);
      dq[k * ld + j] += dot(IS, d.xi[j]) + dot(BS, d.alpha[j].ang);  // (3)
      dv[k * ld + j] += dot(IS, d.eta[j]) + dot(BS, t.S[j].ang);
    }
  }
}

// Damping, friction, springs and stops of coordinates: diagonal.
template <class T>
SARRUS_FN void add_joint_force_derivatives(const Model<real<T>>& m, const T* q, const T* v, int ld, T* dq,
                                           T* dv) {
  using D = Dual<T>;
  for (int k = 0; k < m.nv; ++k) {
    dv[k * ld + k] += m.damping[k];
    if (m.friction[k] != 0) dv[k * ld + k] += coulomb_friction(m, k, D(v[k], T(1))).b;
  }
  for (int i = 0; i < m.ncf; ++i)
    with_coordinate_force(m, i, [&](auto kind, const auto& c) {
      int k = m.cf_v[i];
      const T &x = q[m.cf_q[i]], &y = v[k];
      dq[k * ld + k] += kind.template resistance<D>(c, D(x, T(1)), D(y)).b;
      dv[k * ld + k] += kind.template resistance<D>(c, D(x), D(y, T(1))).b;
    });
}

// Added to dq, dv (nv rows of stride ld): the derivatives of M a + h where every wrench in F turns and moves
// with its node; how wrenches change otherwise is added elsewhere   in: t with a in A, (1), F with all
// wrenches; w and d become those of subtrees
template <class T>
SARRUS_FN void add_tree_derivatives(const Model<real<T>>& m, const Tree<T>& t, Bodies<T>& w,
                                    TreeTangent<T>& d, int ld, T* dq, T* dv) {
  for (int i = m.nn - 1; i > 0; --i) {
    node_derivatives(m, i, t, w, d, ld, dq, dv);
    int pa = m.parent[i];
    if (pa == 0) continue;
    w.F[pa] = w.F[pa] + w.F[i];
    d.B[pa] = d.B[pa] + d.B[i];
  }
}

SARRUS_END
