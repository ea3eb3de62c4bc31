// Sphere: one corner, rounded.
#pragma once

#include "contacts/frame.hpp"
#include "tree/parameters.hpp"

#define SARRUS_SPHERE(V, S) S(radius)

SARRUS_BEGIN

struct Sphere {
  SARRUS_PARAMETERS(SARRUS_SPHERE)
  static constexpr bool rounded_polytope = true;

  template <class R>
  static SARRUS_HD int corners(const Parameters<R>&) {
    return 1;
  }
  template <class R>
  static SARRUS_HD Vec3<R> corner(const Parameters<R>&, int) {
    return zero3<R>();
  }
  template <class R>
  static SARRUS_HD R radius(const Parameters<R>& c) {
    return c.radius;
  }
};

SARRUS_END
