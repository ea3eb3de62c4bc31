// Frames that move, as numbers with a first and a second derivative by time: gaps, their rates and their
// accelerations come from the same functions.
#pragma once

#include "algebra/dual.hpp"
#include "contacts/frame.hpp"
#include "tree/kinematics.hpp"

SARRUS_BEGIN

template <class T>
using Moving = Dual<Dual<T>>;

template <class T>
SARRUS_HD Moving<T> moving(const T& x, const T& d, const T& dd) {
  return {Dual<T>(x, d), Dual<T>(d, dd)};
}
template <class T>
SARRUS_HD Vec3<Moving<T>> moving(const Vec3<T>& x, const Vec3<T>& d, const Vec3<T>& dd) {
  return {moving(x.x, d.x, dd.x), moving(x.y, d.y, dd.y), moving(x.z, d.z, dd.z)};
}

// The frame of a node   in: t, moved, with the accelerations of the coordinates in t.A
template <class T>
SARRUS_HD Frame<Moving<T>> moving_frame(const Tree<T>& t, int node) {
  Spatial<T> V = t.V[node], A = t.A[node] - t.A[0];
  Vec3<T> p = t.p[node], rate = V.lin + cross(V.ang, p);
  auto turned = [&](const Vec3<T>& axis) {
    Vec3<T> d = cross(V.ang, axis);
    return moving(axis, d, cross(A.ang, axis) + cross(V.ang, d));
  };
  return {{turned(t.R[node].x), turned(t.R[node].y), turned(t.R[node].z)},
          moving(p, rate, A.lin + cross(A.ang, p) + cross(V.ang, rate))};
}

SARRUS_END
