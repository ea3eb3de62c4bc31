// BearingFriction: dry friction of a hinge or slide, mu times the load on it.
//
//   hinge: mu r |F|     slide: mu (|F/2 + e x M/b| + |F/2 - e x M/b|),  without a guide (b = 0) mu |F|    (1)
//
// F and M: force and moment at the point p of its node, across the axis e, that the joint transmits. They
// depend on the motion, so that a state alone has no resistance: solve/friction_by_load.hpp finds it.
// direction: as of CoulombFriction.
#pragma once

#include "algebra/spatial.hpp"
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
  // (1) under the wrench [force; moment] at p that the joint with the axis e transmits
  template <class T>
  static SARRUS_HD T bound(const Parameters<real<T>>& c, const Vec3<T>& e, const Spatial<T>& wrench) {
    Vec3<T> F = wrench.lin - e * dot(e, wrench.lin);
    if (c.radius > 0) return sqrt_(dot(F, F)) * (c.mu * c.radius);
    if (c.length == 0) return sqrt_(dot(F, F)) * c.mu;
    Vec3<T> couple = cross(e, wrench.ang) * (real<T>(1) / c.length);
    Vec3<T> one = F * real<T>(0.5) + couple, other = F * real<T>(0.5) - couple;
    return (sqrt_(dot(one, one)) + sqrt_(dot(other, other))) * c.mu;
  }
};

SARRUS_END
