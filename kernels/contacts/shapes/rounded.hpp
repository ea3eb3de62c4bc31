// Rounded polytopes: all points within a radius of a polytope, which has corners, edges and flat faces. What
// the kinds that are such shapes say of themselves (sphere, capsule, polyhedron), each a function of their
// parameters c:
//
//   corners(c), corner(c, k)     edges(c), edge(c, k)     faces(c), plane(c, k)     radius(c)
#pragma once

#include "contacts/frame.hpp"

SARRUS_BEGIN

// Two corners, and the faces on either side where there are faces
struct Edge {
  int from, to, left, right;
};

// normal . x = offset, the normal outwards
template <class R>
struct Plane {
  Vec3<R> normal;
  R offset;
};

// Whether a kind is such a shape
template <class Kind>
struct Rounded {
  static constexpr bool value = false;
};

// Of those without faces
struct NoFaces {
  template <class C>
  static SARRUS_HD int faces(const C&) {
    return 0;
  }
};

// Vectors as they are without derivatives
template <class T>
SARRUS_HD Vec3<double> value(const Vec3<T>& x) {
  return {value(x.x), value(x.y), value(x.z)};
}

template <class T>
SARRUS_HD Frame<double> value(const Frame<T>& X) {
  return {{value(X.R.x), value(X.R.y), value(X.R.z)}, value(X.p)};
}

// A corner, placed
template <class Kind, class T, class C>
SARRUS_HD Vec3<T> placed_corner(const C& c, int k, const Frame<T>& X) {
  Vec3<real<T>> r = Kind::corner(c, k);
  const real<T> x[3] = {r.x, r.y, r.z};
  return X.p + turn(X.R, x);
}

SARRUS_END
