// The primitive joints, once. A joint says how many entries of q and v it has and
//
//   place(pitch, q, R, p, S)   moves the joint frame (R, p) by q and gives its axes S (nv), in world axes
//   integrate(q, dv, out)      q moved by a velocity held for a unit of time
//   difference(q0, q1, out)    the dv that leads from q0 to q1; rotation vectors up to length pi
//   rate(u, v, out)            rate of the increment u when integrate(q0, u) moves with velocity v
//
// Positions:   hinge, slide, screw, amplitude: q + dv   ball: Q exp(dv)   free: X exp([lin; ang]) on SE(3)
#pragma once

#include "algebra/exponential.hpp"
#include "tree/model.hpp"

SARRUS_BEGIN

// One hinge: axes x, y turn about z by the angle.
template <class T>
SARRUS_HD void spin(Mat3<T>& R, const T& angle) {
  T s, c;
  sincos_(angle, s, c);
  Vec3<T> x = R.x * c + R.y * s;
  R.y = R.y * c - R.x * s;
  R.x = x;
}

// Joints of one coordinate
struct OneCoordinate {
  static constexpr int nq = 1, nv = 1;

  template <class T>
  static SARRUS_HD void integrate(const T* q, const T* dv, T* out) {
    out[0] = q[0] + dv[0];
  }
  template <class T>
  static SARRUS_HD void difference(const T* q0, const T* q1, T* out) {
    out[0] = q1[0] - q0[0];
  }
  template <class T>
  static SARRUS_HD void rate(const T*, const T* v, T* out) {
    out[0] = v[0];
  }
};

struct Hinge : OneCoordinate {
  template <class T>
  static SARRUS_HD void place(real<T>, const T* q, Mat3<T>& R, Vec3<T>& p, Spatial<T>* S) {
    spin(R, q[0]);
    S[0] = {cross(p, R.z), R.z};
  }
};

struct Slide : OneCoordinate {
  template <class T>
  static SARRUS_HD void place(real<T>, const T* q, Mat3<T>& R, Vec3<T>& p, Spatial<T>* S) {
    p = p + R.z * q[0];
    S[0] = {R.z, zero3<T>()};
  }
};

struct Screw : OneCoordinate {
  template <class T>
  static SARRUS_HD void place(real<T> pitch, const T* q, Mat3<T>& R, Vec3<T>& p, Spatial<T>* S) {
    spin(R, q[0]);
    p = p + R.z * (q[0] * pitch);
    S[0] = {cross(p, R.z) + R.z * pitch, R.z};
  }
};

// Of a mode of a flexible body: it moves no frame, only what tree/flexible.hpp says
struct Amplitude : OneCoordinate {
  template <class T>
  static SARRUS_HD void place(real<T>, const T*, Mat3<T>&, Vec3<T>&, Spatial<T>* S) {
    S[0] = zero6<T>();
  }
};

// S of the turns about the axes of R through p
template <class T>
SARRUS_HD void turn_axes(const Mat3<T>& R, const Vec3<T>& p, Spatial<T>* S) {
  S[0] = {cross(p, R.x), R.x};
  S[1] = {cross(p, R.y), R.y};
  S[2] = {cross(p, R.z), R.z};
}

struct Ball {
  static constexpr int nq = 4, nv = 3;

  template <class T>
  static SARRUS_HD void place(real<T>, const T* q, Mat3<T>& R, Vec3<T>& p, Spatial<T>* S) {
    R = compose(R, rotation(q));
    turn_axes(R, p, S);
  }
  template <class T>
  static SARRUS_HD void integrate(const T* q, const T* dv, T* out) {
    T e[4];
    exp_quaternion(Vec3<T>{dv[0], dv[1], dv[2]}, e);
    multiply(q, e, out);
  }
  template <class T>
  static SARRUS_HD void difference(const T* q0, const T* q1, T* out) {
    T r[4];
    relative(q0, q1, r);
    store(rotation_vector(r), out);
  }
  template <class T>
  static SARRUS_HD void rate(const T* u, const T* v, T* out) {
    Vec3<T> o = zero3<T>();
    store(exp_rate(Spatial<T>{o, {u[0], u[1], u[2]}}, Spatial<T>{o, {v[0], v[1], v[2]}}).ang, out);
  }
};

struct FreeJoint {
  static constexpr int nq = 7, nv = 6;

  template <class T>
  static SARRUS_HD void place(real<T>, const T* q, Mat3<T>& R, Vec3<T>& p, Spatial<T>* S) {
    p = p + turn(R, Vec3<T>{q[0], q[1], q[2]});
    R = compose(R, rotation(q + 3));
    S[0] = {R.x, zero3<T>()};
    S[1] = {R.y, zero3<T>()};
    S[2] = {R.z, zero3<T>()};
    turn_axes(R, p, S + 3);
  }
  template <class T>
  static SARRUS_HD void integrate(const T* q, const T* dv, T* out) {
    Vec3<T> lin = {dv[0], dv[1], dv[2]}, w = {dv[3], dv[4], dv[5]};
    Exponential<T> k = exponential(dot(w, w));
    Vec3<T> wl = cross(w, lin), step = lin + wl * k.half + cross(w, wl) * k.third;
    Vec3<T> moved = turn(rotation(q + 3), step);
    T e[4], next[4];
    exp_quaternion(w, e);
    multiply(q + 3, e, next);
    out[0] = q[0] + moved.x, out[1] = q[1] + moved.y, out[2] = q[2] + moved.z;
    copy(out + 3, next, 4);
  }
  template <class T>
  static SARRUS_HD void difference(const T* q0, const T* q1, T* out) {
    T r[4];
    relative(q0 + 3, q1 + 3, r);
    Vec3<T> w = rotation_vector(r);
    Vec3<T> d = unturn(rotation(q0 + 3), Vec3<T>{q1[0] - q0[0], q1[1] - q0[1], q1[2] - q0[2]});
    store(log_rate(w, log_curvature(dot(w, w)).c, d), out);  // V(w)^-1 d, the left Jacobian again
    store(w, out + 3);
  }
  template <class T>
  static SARRUS_HD void rate(const T* u, const T* v, T* out) {
    store(exp_rate(Spatial<T>{{u[0], u[1], u[2]}, {u[3], u[4], u[5]}},
                   Spatial<T>{{v[0], v[1], v[2]}, {v[3], v[4], v[5]}}),
          out);
  }
};

#define SARRUS_JOINTS(X) \
  X(HINGE, Hinge) X(SLIDE, Slide) X(SCREW, Screw) X(BALL, Ball) X(FREE, FreeJoint) X(AMPLITUDE, Amplitude)

// use(joint) for a node that is not the ground
template <class F>
SARRUS_HD void with_joint(int joint, F use) {
  switch (joint) {
#define SARRUS_CASE(name, Type)                                             \
  case name:                                                                \
    if constexpr ((USED_KINDS.joints >> name & 1) != 0) return use(Type{}); \
    break;
    SARRUS_JOINTS(SARRUS_CASE)
#undef SARRUS_CASE
  }
}

SARRUS_HD int joint_nv(int joint) {
  int n = 0;
  with_joint(joint, [&](auto kind) { n = kind.nv; });
  return n;
}

// visit(k) for each coordinate of node i
template <class R, class F>
SARRUS_HD void each_coordinate(const Model<R>& m, int i, F visit) {
  for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) visit(k);
}

// visit(i, k) for the coordinates k of all nodes i
template <class R, class F>
SARRUS_HD void each_coordinate(const Model<R>& m, F visit) {
  for (int i = 1; i < m.nn; ++i) each_coordinate(m, i, [&](int k) { visit(i, k); });
}

// visit(k, at) for the coordinates k that are numbers: q[at]
template <class R, class F>
SARRUS_HD void each_number(const Model<R>& m, F visit) {
  for (int i = 1; i < m.nn; ++i)
    if (joint_nv(m.joint[i]) == 1) visit(m.iv[i], m.iq[i]);
}

SARRUS_END
