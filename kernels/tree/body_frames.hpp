// Frames of the user's bodies: pose, motion and Jacobian, in world axes.
#pragma once

#include "tree/kinematics.hpp"

SARRUS_BEGIN

// How the velocity of a point of a body is expressed: in world axes, in those of the body, or in world axes
// as the velocity of the body's extension at the world's origin.
enum Expressed : int { WORLD_ALIGNED, LOCAL, WORLD };

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
  fill(J, 6 * m.nv);
  for (; i > 0; i = m.parent[i])
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) {
      T column[6];
      store(Spatial<T>{t.S[k].lin + cross(t.S[k].ang, x), t.S[k].ang}, column);
      set_column(J + k, m.nv, column, 6);
    }
}

// s: a spatial vector [linear; angular] of a point at x (3) of a body with axes R (9), entries `stride` apart
template <class T>
SARRUS_HD void express(int as, const T* R, const T* x, int stride, T* s) {
  T l[3], w[3];
  for (int i = 0; i < 3; ++i) l[i] = s[i * stride], w[i] = s[(3 + i) * stride];
  if (as == WORLD) {
    Vec3<T> more = cross(Vec3<T>{x[0], x[1], x[2]}, Vec3<T>{w[0], w[1], w[2]});
    s[0] += more.x, s[stride] += more.y, s[2 * stride] += more.z;
  }
  if (as != LOCAL) return;
  for (int i = 0; i < 3; ++i) {
    s[i * stride] = R[i] * l[0] + R[3 + i] * l[1] + R[6 + i] * l[2];
    s[(3 + i) * stride] = R[i] * w[0] + R[3 + i] * w[1] + R[6 + i] * w[2];
  }
}

// From the origin of a body to a point of it: x (3), V (6), A (6)   in: R of the body, the point in its axes
template <class T>
SARRUS_HD void move_point(const T* R, const real<T>* point, T* x, T* V, T* A) {
  T r[3];
  for (int i = 0; i < 3; ++i) r[i] = R[3 * i] * point[0] + R[3 * i + 1] * point[1] + R[3 * i + 2] * point[2];
  Vec3<T> to{r[0], r[1], r[2]}, w{V[3], V[4], V[5]}, dw{A[3], A[4], A[5]};
  Vec3<T> around = cross(w, to), more = cross(dw, to) + cross(w, around);
  x[0] += to.x, x[1] += to.y, x[2] += to.z;
  V[0] += around.x, V[1] += around.y, V[2] += around.z;
  A[0] += more.x, A[1] += more.y, A[2] += more.z;
}

SARRUS_END
