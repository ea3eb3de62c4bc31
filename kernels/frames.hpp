// Frames of the user's bodies: pose, motion and Jacobian, in world axes.
#pragma once

#include "tree.hpp"

SARRUS_BEGIN

// out: R (9, row by row), p (3) of body b in the world   in: t (placed)
template <class T>
SARRUS_FN void body_pose(const Model<real<T>>& m, int b, const Tree<T>& t, T* R, T* p) {
  int i = m.body_node[b];
  Mat3<T> X = compose(t.R[i], m.R_NB + 9 * b);
  Vec3<T> x = t.p[i] + turn(t.R[i], m.p_NB + 3 * b) + t.O[0];
  const Vec3<T> columns[3] = {X.x, X.y, X.z};
  for (int c = 0; c < 3; ++c) R[c] = columns[c].x, R[3 + c] = columns[c].y, R[6 + c] = columns[c].z;
  p[0] = x.x, p[1] = x.y, p[2] = x.z;
}

template <class T>
SARRUS_HD void store(const Spatial<T>& s, T* out) {
  out[0] = s.lin.x, out[1] = s.lin.y, out[2] = s.lin.z;
  out[3] = s.ang.x, out[4] = s.ang.y, out[5] = s.ang.z;
}

// out: V, A (6) of the frame of body b: velocity and acceleration of its origin, angular ones
// in: t (moved), with the joint accelerations already in t.A; gravity is taken out again
template <class T>
SARRUS_FN void body_motion(const Model<real<T>>& m, int b, const Tree<T>& t, T* V, T* A) {
  int i = m.body_node[b];
  Vec3<T> x = t.p[i] + turn(t.R[i], m.p_NB + 3 * b);
  Spatial<T> Vi = t.V[i], Ai = t.A[i] - t.A[0];
  Vec3<T> v = Vi.lin + cross(Vi.ang, x);
  store(Spatial<T>{v, Vi.ang}, V);
  store(Spatial<T>{Ai.lin + cross(Ai.ang, x) + cross(Vi.ang, v), Ai.ang}, A);
}

// out: J (6, nv) of the point of body b, rows [v; w]   in: t (placed)
template <class T>
SARRUS_FN void body_jacobian(const Model<real<T>>& m, int b, const real<T>* point, const Tree<T>& t, T* J) {
  int i = m.body_node[b];
  Vec3<T> x = t.p[i] + turn(t.R[i], m.p_NB + 3 * b) + turn(compose(t.R[i], m.R_NB + 9 * b), point);
  for (int e = 0; e < 6 * m.nv; ++e) J[e] = T(0);
  for (; i > 0; i = m.parent[i])
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      T column[6];
      store(Spatial<T>{t.S[k].lin + cross(t.S[k].ang, x), t.S[k].ang}, column);
      for (int r = 0; r < 6; ++r) J[r * m.nv + k] = column[r];
    }
}

SARRUS_END
