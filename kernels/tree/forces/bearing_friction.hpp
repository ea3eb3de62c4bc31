// BearingFriction: dry friction of a hinge or slide, mu times the load on it.
//
//   slide: mu |F|, with a guide of length b: mu (|F/2 + e x M/b| + |F/2 - e x M/b|)                     (1)
//
// Of a hinge r times that, r the radius of its journal and b the distance of two bearings.
// F and M: force and moment at the point p of its node, across the axis e, that the joint transmits. They
// depend on the motion, so that a state alone has no resistance: friction/friction_by_load.hpp finds it.
// direction: as of CoulombFriction.
#pragma once

#include "base/platform.hpp"
#include "tree/parameters.hpp"

#define SARRUS_BEARING_FRICTION(V, S) S(direction) S(node) S(mu) S(radius) S(length) V(p, 3)

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
  // How many numbers its load has: force along x and y of its node [N], with a length also moments [N m]
  // about lines along x and y through p
  template <class R>
  static SARRUS_HD int loads(const Parameters<R>& c) {
    return c.length == 0 ? 2 : 4;
  }
  // (1) under that load; z is the axis
  template <class T>
  static SARRUS_HD T bound(const Parameters<real<T>>& c, const T* load) {
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
