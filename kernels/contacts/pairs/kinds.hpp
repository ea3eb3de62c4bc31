// Which kinds of shapes can touch, and how many slots each pair of surfaces has: Meeting<A, B>, for either
// order of the two.
#pragma once

#include "contacts/pairs/half_space_pairs.hpp"
#include "contacts/pairs/sphere_pairs.hpp"

SARRUS_BEGIN

// What two kinds do not say they do not know.
template <class A, class B>
struct Meeting {
  static constexpr bool known = false;
};

template <class B>
struct Meeting<HalfSpace, B> {
  static constexpr bool known = true;
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C& c) {
    return Above<B>::slots(c);
  }
  template <class T, class P, class C>
  static SARRUS_HD int points(const P&, const Frame<T>& A, const C& c, const Frame<T>& X,
                              ContactPoint<T>* out) {
    Above<B>::points(A, c, X, out);
    return 0;
  }
};
template <>
struct Meeting<HalfSpace, HalfSpace> {
  static constexpr bool known = false;
};

template <>
struct Meeting<Sphere, Sphere> : TwoSpheres {
  static constexpr bool known = true;
};

SARRUS_END
