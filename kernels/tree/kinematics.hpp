// Tree kinematics: poses and joint axes of all nodes, then twists and velocity-product accelerations.
//
//   V_i = V_p + S_i v_i                        A_i = A_p + ad_{V_p} S_i v_i,   A_0 = -g          (1)
//
// in world axes about the reference point O. (1) holds for every joint here, because each S_i is fixed
// either in the parent or in the body and ad_{S v} S v = 0. [Featherstone2008] ch. 5, [Spencer2004] A.3
#pragma once

#include "algebra/spatial.hpp"
#include "base/arena.hpp"
#include "base/padded_rows.hpp"
#include "tree/flexible.hpp"
#include "tree/joints.hpp"

SARRUS_BEGIN

template <class T>
struct Tree {
  Mat3<T>* R;           // (nn) attitude of the node frames
  Vec3<T>* p;           // (nn) their origins, relative to O
  Spatial<T>* S;        // (nv) joint axes
  Spatial<T>* V;        // (nn) twists
  Spatial<T>* A;        // (nn) accelerations at zero joint acceleration, gravity included
  Vec3<T>* O;           // (1) the reference point in the world
  Deflections<T> bent;  // flexible bodies

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    arena.take(m.nn, R, p, V, A);
    arena.take(m.nv, S);
    arena.take(1, O);
    bent.bind(arena, m);
  }
};

// The reference point moves with the first node if that floats, so that a mechanism far from the world
// origin loses no digits; it is a choice of coordinates at each instant, not a motion.
template <class T>
SARRUS_HD Vec3<T> reference_point(const Model<real<T>>& m, const T* q) {
  if (m.nn > 1 && m.joint[1] == FREE) {
    const real<T>*R = m.R_PJ + 9, *p = m.p_PJ + 3;
    T x[3];
    for (int i = 0; i < 3; ++i)
      x[i] = T(primal(p[i] + R[3 * i] * q[0] + R[3 * i + 1] * q[1] + R[3 * i + 2] * q[2]));
    return {x[0], x[1], x[2]};
  }
  return {T(m.origin[0]), T(m.origin[1]), T(m.origin[2])};
}

template <class T>
SARRUS_HD void place_node(const Model<real<T>>& m, int i, const T* q, Tree<T>& t) {
  int pa = m.parent[i];
  Mat3<T> R = compose(t.R[pa], m.R_PJ + 9 * i);
  Vec3<T> p = t.p[pa] + turn(t.R[pa], m.p_PJ + 3 * i);
  with_joint(m.joint[i], [&](auto joint) { joint.place(m.pitch[i], q + m.iq[i], R, p, t.S + m.iv[i]); });
  t.R[i] = R;
  t.p[i] = p;
}

template <class T>
SARRUS_HD void place_ground(const Model<real<T>>& m, const T* q, Tree<T>& t) {
  Vec3<T> O = reference_point(m, q);
  t.O[0] = O;
  t.R[0] = {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  t.p[0] = -O;
}

// out: R, p, S, O, bent   in: q
template <class T>
SARRUS_FN void place(const Model<real<T>>& m, const T* q, Tree<T>& t) {
  place_ground(m, q, t);
  for (int i = 1; i < m.nn; ++i) place_node(m, i, q, t);
  for (int b = 0; b < m.nfl; ++b)
    deflect_body(m, b, q + m.fl_q[b], t.R[m.fl_node[b]], t.p[m.fl_node[b]], t.bent);
}

// The same of a node and all that carry it; branch (nn) is room
template <class T>
SARRUS_FN void place_branch(const Model<real<T>>& m, int node, const T* q, int* branch, Tree<T>& t) {
  int n = 0;
  for (int i = node; i > 0; i = m.parent[i]) branch[n++] = i;
  place_ground(m, q, t);
  while (n > 0) place_node(m, branch[--n], q, t);
}

// S_i v_i of one node
template <class T>
SARRUS_HD Spatial<T> joint_twist(const Model<real<T>>& m, int i, const Tree<T>& t, const T* v) {
  int k = m.iv[i], n = joint_nv(m.joint[i]);
  Spatial<T> X = t.S[k] * v[k];
  for (int j = 1; j < n; ++j) X = X + t.S[k + j] * v[k + j];
  return X;
}

// out: V, A, bent   in: R, p, S, v
template <class T>
SARRUS_FN void move(const Model<real<T>>& m, const T* v, Tree<T>& t) {
  t.V[0] = zero6<T>();
  t.A[0] = {{T(-m.gravity[0]), T(-m.gravity[1]), T(-m.gravity[2])}, zero3<T>()};
  for (int i = 1; i < m.nn; ++i) {
    int pa = m.parent[i];
    Spatial<T> X = joint_twist(m, i, t, v);
    t.V[i] = t.V[pa] + X;
    t.A[i] = t.A[pa] + cross_motion(t.V[pa], X);  // (1)
  }
  for (int b = 0; b < m.nfl; ++b) {
    int i = m.fl_node[b];
    move_body(m, b, v + m.fl_v[b], Floating<T>{t.R[i], t.p[i], t.V[i]}, t.bent);
  }
}

// out: A with the joint accelerations a   in: R, p, S, V, a
template <class T>
SARRUS_FN void add_accelerations(const Model<real<T>>& m, const T* a, Tree<T>& t) {
  for (int i = 1; i < m.nn; ++i) {
    int pa = m.parent[i];
    t.A[i] = t.A[pa] + cross_motion(t.V[pa], t.V[i] - t.V[pa]) + joint_twist(m, i, t, a);
  }
  for (int b = 0; b < m.nfl; ++b) accelerate_body(m, b, a + m.fl_v[b], t.bent);
}

// out: V, A with the joint accelerations a in A   in: R, p, S, v, a
template <class T>
SARRUS_FN void accelerate_tree(const Model<real<T>>& m, const T* v, const T* a, Tree<T>& t) {
  move(m, v, t);
  add_accelerations(m, a, t);
}

SARRUS_END
