// Capsule: the hull of two balls on the z axis, `half` above and below the origin.
#pragma once

#include "contacts/frame.hpp"
#include "tree/parameters.hpp"

#define SARRUS_CAPSULE(V, S) S(radius) S(half)

SARRUS_BEGIN

struct Capsule {
  SARRUS_PARAMETERS(SARRUS_CAPSULE)
  static constexpr bool rounded_polytope = true;

  template <class R>
  static SARRUS_HD int corners(const Parameters<R>&) {
    return 2;
  }
  template <class R>
  static SARRUS_HD Vec3<R> corner(const Parameters<R>& c, int k) {
    return {R(0), R(0), k == 0 ? -c.half : c.half};
  }
  template <class R>
  static SARRUS_HD R radius(const Parameters<R>& c) {
    return c.radius;
  }
};

SARRUS_END
