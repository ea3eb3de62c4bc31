// Capsule: the hull of two balls on the z axis, `half` above and below the origin.
#pragma once

#include "contacts/shapes/rounded.hpp"
#include "tree/parameters.hpp"

#define SARRUS_CAPSULE(V, S) S(radius) S(half)

SARRUS_BEGIN

struct Capsule : NoFaces {
  SARRUS_PARAMETERS(SARRUS_CAPSULE)

  template <class R>
  static SARRUS_HD int corners(const Parameters<R>&) {
    return 2;
  }
  template <class R>
  static SARRUS_HD Vec3<R> corner(const Parameters<R>& c, int k) {
    return {R(0), R(0), k == 0 ? -c.half : c.half};
  }
  template <class R>
  static SARRUS_HD int edges(const Parameters<R>&) {
    return 1;
  }
  template <class R>
  static SARRUS_HD Edge edge(const Parameters<R>&, int) {
    return {0, 1, 0, 0};
  }
  template <class R>
  static SARRUS_HD R radius(const Parameters<R>& c) {
    return c.radius;
  }
};

template <>
struct Rounded<Capsule> {
  static constexpr bool value = true;
};

SARRUS_END
