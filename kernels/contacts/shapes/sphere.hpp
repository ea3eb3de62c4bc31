// Sphere: one corner, rounded.
#pragma once

#include "contacts/shapes/rounded.hpp"
#include "tree/parameters.hpp"

#define SARRUS_SPHERE(V, S) S(radius)

SARRUS_BEGIN

struct Sphere : NoFaces {
  SARRUS_PARAMETERS(SARRUS_SPHERE)

  template <class R>
  static SARRUS_HD int corners(const Parameters<R>&) {
    return 1;
  }
  template <class R>
  static SARRUS_HD Vec3<R> corner(const Parameters<R>&, int) {
    return zero3<R>();
  }
  template <class R>
  static SARRUS_HD int edges(const Parameters<R>&) {
    return 0;
  }
  template <class R>
  static SARRUS_HD Edge edge(const Parameters<R>&, int) {
    return {0, 0, 0, 0};
  }
  template <class R>
  static SARRUS_HD R radius(const Parameters<R>& c) {
    return c.radius;
  }
};

template <>
struct Rounded<Sphere> {
  static constexpr bool value = true;
};

SARRUS_END
