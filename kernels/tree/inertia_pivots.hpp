// Whether the mass matrix is positive definite at a generic pose: its pivots are the articulated inertias
//
//   d = s . I s + armature,   I <- I - (I s)(I s)^T / d                                              (1)
//
// of the joint axes s, from the leaves to the root [Featherstone2008] eq. (7.44). M is singular exactly where
// one of them vanishes. Each is found in its own joint frame: rounding is relative to what the joint carries.
#pragma once

#include "base/arena.hpp"
#include "tree/flexible.hpp"
#include "tree/joints.hpp"

SARRUS_BEGIN

// A symmetric 6 x 6 matrix by columns
template <class T>
struct Symmetric6 {
  Spatial<T> columns[6];
};

// Y I Y^T, with Y F the wrench F of a frame at (R, p) seen from outside
template <class T>
SARRUS_FN Symmetric6<T> carried_out(const Mat3<T>& R, const Vec3<T>& p, Symmetric6<T> I) {
  for (int side = 0; side < 2; ++side) {
    T rows[36];
    for (int c = 0; c < 6; ++c) {
      Vec3<T> f = turn(R, I.columns[c].lin);
      store(Spatial<T>{f, turn(R, I.columns[c].ang) + cross(p, f)}, rows + 6 * c);
    }
    for (int r = 0; r < 6; ++r)
      I.columns[r] = {{rows[r], rows[6 + r], rows[12 + r]}, {rows[18 + r], rows[24 + r], rows[30 + r]}};
  }
  return I;
}

template <class T>
SARRUS_HD void add(const Symmetric6<T>& x, Symmetric6<T>& sum) {
  set_sum(sum.columns, sum.columns, x.columns, 6);
}

template <class T>
SARRUS_HD Spatial<T> times(const Symmetric6<T>& I, const Spatial<T>& s) {
  Spatial<T> sum = I.columns[0] * entry(s, 0);
  for (int c = 1; c < 6; ++c) sum = sum + I.columns[c] * entry(s, c);
  return sum;
}

// Inertia of node i in its frame
template <class T>
SARRUS_FN Symmetric6<T> node_inertia(const Model<T>& m, int i) {
  Mat3<T> one = {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
  const T* c = m.com + 3 * i;
  Inertia<T> I = world_inertia(one, Vec3<T>{c[0], c[1], c[2]}, m.mass[i], m.inertia + 6 * i);
  Symmetric6<T> out;
  for (int d = 0; d < 6; ++d) {
    T e[6] = {};
    e[d] = T(1);
    out.columns[d] = I * Spatial<T>{{e[0], e[1], e[2]}, {e[3], e[4], e[5]}};
  }
  return out;
}

// Inertia of coordinate k itself: of its drive, of a deflection
template <class T>
SARRUS_HD T own_inertia(const Model<T>& m, int k) {
  int b = flexible_of(m, k);
  return b < 0 ? m.armature[k] : m.armature[k] + shapes_of(m, b).M[(k - m.fl_v[b]) * (m.fl_n[b] + 1)];
}

// Eliminates the axes S of node i from I by (1), the largest pivot first; returns the coordinate whose pivot
// is at most `least`, with lengths measured by L, or -1
template <class T>
SARRUS_FN int eliminate_axes(const Model<T>& m, int i, const Spatial<T>* S, T least, Symmetric6<T>& I) {
  int first = m.iv[i], n = joint_nv(m.joint[i]);
  bool done[6] = {};
  for (int step = 0; step < n; ++step) {
    int best = -1;
    T largest = T(0);
    for (int j = 0; j < n; ++j) {
      if (done[j]) continue;
      T unit = m.unit[first + j], d = (dot(S[j], times(I, S[j])) + own_inertia(m, first + j)) * unit * unit;
      if (best < 0 || d > largest) best = j, largest = d;
    }
    if (!(largest > least)) return first + best;
    done[best] = true;
    Spatial<T> u = times(I, S[best]);
    T d = dot(S[best], u) + own_inertia(m, first + best);
    for (int c = 0; c < 6; ++c) I.columns[c] = I.columns[c] - u * (entry(u, c) / d);
  }
  return -1;
}

// Coordinates of node i at a generic pose: angles and quaternions between 0.4 and 1.1, lengths parts of L
template <class T>
SARRUS_HD void generic_position(const Model<T>& m, int i, T* q) {
  bool slides = m.joint[i] == SLIDE || m.joint[i] == FREE;
  for (int j = 0; j < 7; ++j) {
    T x = T(0.6180339887498949) * (7 * i + j + 1);
    q[j] = (T(0.4) + T(0.7) * (x - static_cast<long>(x))) * (slides && j < 3 ? m.length[0] : T(1));
  }
}

template <class T>
struct PivotWork {
  // (nn), in node frames: inertia of each subtree with its joints free, and with those of its children rigid
  Symmetric6<T>*reduced, *whole;

  SARRUS_HD PivotWork(const Model<T>& m, Arena& arena) { arena.take(m.nn, reduced, whole); }
};

// A coordinate along which nothing has inertia: its pivot is at most `tolerance` times the inertia that its
// joint carries; -1 if there is none
template <class T>
SARRUS_FN int coordinate_without_inertia(const Model<T>& m, T tolerance, PivotWork<T>& w) {
  for (int i = 0; i < m.nn; ++i) w.reduced[i] = w.whole[i] = node_inertia(m, i);
  T L = m.length[0];
  for (int i = m.nn - 1; i > 0; --i) {
    Mat3<T> R = {{T(1), T(0), T(0)}, {T(0), T(1), T(0)}, {T(0), T(0), T(1)}};
    Vec3<T> p = zero3<T>();
    Spatial<T> S[6];
    T q[7];
    generic_position(m, i, q);
    with_joint(m.joint[i], [&](auto joint) { joint.place(m.pitch[i], q, R, p, S); });
    Symmetric6<T> rigid = carried_out(R, p, w.reduced[i]), I = rigid;
    T size =
        sum_of<T>(6, [&](int d) { return entry(w.whole[i].columns[d], d) * (d < 3 ? L * L / 3 : T(1)); });
    int found = eliminate_axes(m, i, S, tolerance * size, I);
    if (found >= 0) return found;
    const T *r = m.R_PJ + 9 * i, *x = m.p_PJ + 3 * i;
    Mat3<T> R_PJ = {{r[0], r[3], r[6]}, {r[1], r[4], r[7]}, {r[2], r[5], r[8]}};
    Vec3<T> p_PJ = {x[0], x[1], x[2]};
    add(carried_out(R_PJ, p_PJ, I), w.reduced[m.parent[i]]);
    add(carried_out(R_PJ, p_PJ, rigid), w.whole[m.parent[i]]);
  }
  return -1;
}

SARRUS_END
