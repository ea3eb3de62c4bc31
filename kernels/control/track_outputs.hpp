// Outputs at a state against their targets, as rows on the acceleration.
//
//   e'' + K_D e' + K_P e = 0,   J a = c - T e''      =>      J a = wanted = c + T (K_D e' + K_P e)        (1)
//
// [Aghili2005] eqs. (44), (45)
#pragma once

#include "control/pose_error.hpp"
#include "control/step_data.hpp"
#include "tree/body_frames.hpp"

SARRUS_BEGIN

constexpr int POSE_NUMBERS = 24, TURN_NUMBERS = 15;  // of targets: R, x, V, A and R, w, w'

// An output at one state: `width` components, of which rows[0 .. size) count. T is 1 where `plain`.
template <class T>
struct OutputWork {
  T R[9], p[3], V[6], A[6];  // frame of the point
  T x[6], desired[6], e[6], rate[6], c[6], map[36];
  T* J;  // (6, nv)
  bool plain;
};

template <class T>
SARRUS_HD Mat3<T> matrix_of(const T* r) {
  return {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}};
}
template <class T>
SARRUS_HD Vec3<T> vector_of(const T* x) {
  return {x[0], x[1], x[2]};
}
template <class T>
SARRUS_HD Spatial<T> twist_of(const T* x) {
  return {vector_of(x), vector_of(x + 3)};
}

// The error of a pose; of a turn where only the lower half is used   in: R_d, x_d, V_d, A_d
template <class T>
SARRUS_FN void track_pose(const Output<T>& o, const T* target, OutputWork<T>& w) {
  const T *R_d = target, *x_d = target + 9, *V_d = target + 12, *A_d = target + 18;
  PoseError<T> found = pose_error(matrix_of(w.R), vector_of(w.p), twist_of(w.V), matrix_of(R_d),
                                  vector_of(x_d), twist_of(V_d), twist_of(A_d), o.screw, o.own);
  for (int i = 0; i < 6; ++i) {
    w.e[i] = entry(found.e, i), w.rate[i] = entry(found.rate, i), w.c[i] = entry(found.rest, i) - w.A[i];
    w.x[i] = i < 3 ? w.p[i] : -w.e[i], w.desired[i] = i < 3 ? x_d[i] : T(0);
    for (int j = 0; j < 6; ++j) w.map[6 * i + j] = entry(found.map[j], i);
  }
  w.plain = false;
}

// The same for an orientation   in: R_d, w_d, w_d'
template <class T>
SARRUS_FN void track_turn(const Output<T>& o, const T* target, OutputWork<T>& w) {
  T pose[POSE_NUMBERS] = {};
  copy(pose, target, 9);
  for (int i = 0; i < 3; ++i)
    pose[9 + i] = w.p[i], pose[15 + i] = target[9 + i], pose[21 + i] = target[12 + i];
  track_pose(o, pose, w);
}

// Components of a vector against x_d, x_d', x_d''
template <class T>
SARRUS_HD void track_vector(int k, const T* x, const T* v, const T* bias, const T* target, OutputWork<T>& w) {
  for (int i = 0; i < k; ++i) {
    w.x[i] = x[i], w.desired[i] = target[i], w.e[i] = target[i] - x[i];
    w.rate[i] = target[k + i] - v[i], w.c[i] = target[2 * k + i] - bias[i];
  }
  w.plain = true;
}

// An acceleration alone: no errors
template <class T>
SARRUS_HD void track_acceleration(const Output<T>& o, int first, const T* target, OutputWork<T>& w) {
  for (int i = 0; i < o.size; ++i) {
    int r = o.rows[i];
    w.e[r] = w.rate[r] = T(0);
    w.x[r] = w.desired[r] = o.kind == TURN || r > 2 ? T(0) : w.p[r];
    w.c[r] = target[i] - w.A[first + r];
  }
  w.plain = true;
}

// Where the rows of one output go; T (size, size) for `wanted`, once the errors of all are known
template <class T>
struct TrackedRows {
  T *x, *desired, *e, *rate, *c, *J, *map;
  bool* plain;
};

template <class T>
SARRUS_HD void track_point(const Output<T>& o, const T* target, OutputWork<T>& w) {
  T x[3], v[3], bias[3];
  for (int i = 0; i < o.size; ++i) x[i] = w.p[o.rows[i]], v[i] = w.V[o.rows[i]], bias[i] = w.A[o.rows[i]];
  track_vector(o.size, x, v, bias, target, w);
}

template <class T>
SARRUS_FN void track_body(const Model<real<T>>& m, const Output<T>& o, const Tree<T>& tree, const T* target,
                          OutputWork<T>& w, const TrackedRows<T>& out) {
  body_pose(m, o.body, tree, w.R, w.p);
  body_motion(m, o.body, tree, w.V, w.A);
  move_point(w.R, o.point, w.p, w.V, w.A);
  body_jacobian(m, o.body, o.point, tree, w.J);
  int first = o.kind == TURN ? 3 : 0;  // rows of the Jacobian
  if (o.accelerated)
    track_acceleration(o, first, target, w);
  else if (o.kind == POINT)
    track_point(o, target, w);
  else if (o.kind == POSE)
    track_pose(o, target, w);
  else
    track_turn(o, target, w);
  bool packed = o.kind == POINT && !o.accelerated;
  int shift = o.kind == TURN && !o.accelerated ? 3 : 0;  // errors of a turn stand in the lower half
  for (int i = 0; i < o.size; ++i) {
    int r = packed ? i : o.rows[i] + shift, row = o.rows[i] + first;
    out.x[i] = w.x[r], out.desired[i] = w.desired[r], out.e[i] = w.e[r], out.rate[i] = w.rate[r];
    out.c[i] = w.c[r];
    copy(out.J + i * m.nv, w.J + row * m.nv, m.nv);
    if (!w.plain)
      for (int j = 0; j < o.size; ++j) out.map[i * o.size + j] = w.map[6 * r + o.rows[j] + shift];
  }
  *out.plain = w.plain;
}

template <class T>
SARRUS_FN void track_coordinates(const Model<real<T>>& m, const Output<T>& o, const T* q, const T* v,
                                 const T* target, const TrackedRows<T>& out) {
  for (int i = 0; i < o.size; ++i) {
    T x = T(0), speed = T(0);
    x = plus_products(x, o.Q + i * m.nq, q, m.nq);
    for (int j = 0; j < m.nv; ++j) {
      out.J[i * m.nv + j] = o.J[i * m.nv + j];
      speed += o.J[i * m.nv + j] * v[j];
    }
    out.x[i] = x, out.desired[i] = x, out.e[i] = out.rate[i] = T(0);
    out.c[i] = target[i];
    if (o.accelerated) continue;
    out.desired[i] = target[i], out.e[i] = target[i] - x;
    out.rate[i] = target[o.size + i] - speed, out.c[i] = target[2 * o.size + i];
  }
  *out.plain = true;
}

// `wanted` of one task (1), from c in its place, for rows [0, size)
template <class T>
SARRUS_FN void want(const Task<T>& task, const Output<T>* output, const T* maps, const bool* plain,
                    const T* e, const T* rate, T* back, T* wanted) {
  if (!task.kp) return;
  for (int i = 0; i < task.size; ++i) {
    back[i] = sum_of<T>(task.size, [&](int j) {
      return task.kd[i * task.size + j] * rate[j] + task.kp[i * task.size + j] * e[j];
    });
  }
  for (int o = 0, begin = 0, k; o < task.outputs; begin += k, maps += k * k, ++o) {
    k = output[o].size;
    for (int i = 0; i < k; ++i) {
      T s = plain[o] ? back[begin + i] : T(0);
      if (!plain[o]) s = plus_products(s, maps + i * k, back + begin, k);
      wanted[begin + i] += s;
    }
  }
}

SARRUS_END
