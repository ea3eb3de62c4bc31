// BearingFriction: dry friction of a hinge or slide, mu times the load on it.
//
//   slide: mu |F|, with a guide of length b: mu (|F/2 + e x M/b| + |F/2 - e x M/b|)                     (1)
//
// Of a hinge r times that, r the radius of its journal and b the distance of two bearings.
// F and M: force and moment at the point p of its node, across the axis e, that the joint transmits. They
// depend on the motion, so that a state alone has no resistance: friction/friction_by_load.hpp finds it.
//
//   threads, collars and teeth: with |x| where the friction has the sign of x, else against |x|         (2)
//
// x: source 1: the force along the axis; source 2 + i: the multiplier of the mesh i of the model.
// direction: as of CoulombFriction.
#pragma once

#include "base/platform.hpp"
#include "tree/parameters.hpp"

#define SARRUS_BEARING_FRICTION(V, S) \
  S(direction) S(node) S(mu) S(radius) S(length) V(p, 3) S(source) S(with) S(against)

SARRUS_BEGIN

struct BearingFriction {
  SARRUS_PARAMETERS(SARRUS_BEARING_FRICTION)

  template <class T>
  static SARRUS_HD T resistance(const Parameters<real<T>>&, const T&, const T&) {
    return T(0);
  }
  template <class T>
  static SARRUS_HD T energy(const Parameters<real<T>>&, const T&) {
    return T(0);
  }
  // Which mesh loads it; negative: none
  template <class R>
  static SARRUS_HD int mesh(const Parameters<R>& c) {
    return static_cast<int>(c.source) - 2;
  }
  // How many numbers its load has: x of (2) [N], or force along x and y of its node [N], with a length also
  // moments [N m] about lines along x and y through p
  template <class R>
  static SARRUS_HD int loads(const Parameters<R>& c) {
    return c.source > 0 ? 1 : c.length == 0 ? 2 : 4;
  }
  // (2) under x for friction of the sign `way`; 0: the larger one
  template <class T>
  static SARRUS_HD T directed(const Parameters<real<T>>& c, const T& x, double way) {
    double sign = way * double(value(x));
    real<T> larger_one = c.with > c.against ? c.with : c.against;
    return abs_(x) * (sign > 0 ? c.with : sign < 0 ? c.against : larger_one);
  }
  // (1) or (2) under that load; z is the axis
  template <class T>
  static SARRUS_HD T bound(const Parameters<real<T>>& c, const T* load, double way) {
    if (c.source > 0) return directed<T>(c, load[0], way);
    real<T> factor = c.radius > 0 ? c.mu * c.radius : c.mu;
    if (c.length == 0) return sqrt_(load[0] * load[0] + load[1] * load[1]) * factor;
    T Fx = load[0] * real<T>(0.5), Fy = load[1] * real<T>(0.5);
    T Cx = -load[3] * (real<T>(1) / c.length), Cy = load[2] * (real<T>(1) / c.length);
    return (sqrt_((Fx + Cx) * (Fx + Cx) + (Fy + Cy) * (Fy + Cy)) +
            sqrt_((Fx - Cx) * (Fx - Cx) + (Fy - Cy) * (Fy - Cy))) *
           factor;
  }
};

SARRUS_END
