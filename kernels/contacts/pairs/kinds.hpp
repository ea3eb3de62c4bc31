// Which kinds of shapes can touch, and how many slots each pair of surfaces has: Meeting<A, B>, for either
// order of the two.
#pragma once

#include "contacts/pairs/cylinder_pairs.hpp"
#include "contacts/pairs/ellipsoid_pairs.hpp"
#include "contacts/pairs/half_space_pairs.hpp"
#include "contacts/pairs/outline_pairs.hpp"
#include "contacts/pairs/rounded_pairs.hpp"
#include "contacts/pairs/smooth_pairs.hpp"

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
struct Meeting<Profile, Profile> : TwoProfiles {
  static constexpr bool known = true;
};
template <>
struct Meeting<Cylinder, Profile> : CylinderOnProfile {
  static constexpr bool known = true;
};
template <>
struct Meeting<Sphere, Profile> : SphereOnProfile {
  static constexpr bool known = true;
};

template <>
struct Meeting<Sphere, Cylinder> : SphereOnCylinder {
  static constexpr bool known = true;
};
template <>
struct Meeting<Sphere, Ellipsoid> : SmoothPair<Sphere, Ellipsoid> {
  static constexpr bool known = true;
};
template <>
struct Meeting<Ellipsoid, Ellipsoid> : SmoothPair<Ellipsoid, Ellipsoid> {
  static constexpr bool known = true;
};

template <>
struct Meeting<Ellipsoid, Capsule> : EllipsoidOnRounded<Capsule> {
  static constexpr bool known = true;
};
template <>
struct Meeting<Ellipsoid, Polyhedron> : EllipsoidOnRounded<Polyhedron> {
  static constexpr bool known = true;
};
template <>
struct Meeting<Ellipsoid, Cylinder> : EllipsoidOnCylinder {
  static constexpr bool known = true;
};

template <class KindA, class KindB>
struct BothRounded : RoundedPair<KindA, KindB> {
  static constexpr bool known = true;
};
template <>
struct Meeting<Sphere, Sphere> : BothRounded<Sphere, Sphere> {};
template <>
struct Meeting<Sphere, Capsule> : BothRounded<Sphere, Capsule> {};
template <>
struct Meeting<Sphere, Polyhedron> : BothRounded<Sphere, Polyhedron> {};
template <>
struct Meeting<Capsule, Capsule> : BothRounded<Capsule, Capsule> {};
template <>
struct Meeting<Capsule, Polyhedron> : BothRounded<Capsule, Polyhedron> {};
template <>
struct Meeting<Polyhedron, Polyhedron> : BothRounded<Polyhedron, Polyhedron> {};

SARRUS_END
