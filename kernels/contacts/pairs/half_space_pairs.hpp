// Half space a against everything else, b: the lowest places of b above the plane. All in closed form.
#pragma once

#include "contacts/shapes/kinds.hpp"

SARRUS_BEGIN

// Below this sine of its tilt a round face lies flat: its lowest point has no direction.
constexpr double FLAT = 1e-9;

// The point x of b above the plane of a
template <class T>
SARRUS_HD ContactPoint<T> above(const Frame<T>& A, const Vec3<T>& x) {
  T gap = dot(A.R.z, x - A.p);
  return {gap, A.R.z, x - A.R.z * gap, x};
}

// Every corner of a rounded polytope
template <class Kind>
struct Above {
  template <class C>
  static SARRUS_HD int slots(const C& c) {
    return Kind::corners(c);
  }
  template <class T, class C>
  static SARRUS_HD void points(const Frame<T>& A, const C& c, const Frame<T>& B, ContactPoint<T>* out) {
    for (int k = 0; k < Kind::corners(c); ++k) {
      out[k] = above(A, placed_corner<Kind>(c, k, B) - A.R.z * Kind::radius(c));
    }
  }
};

// The lowest point of the rim of either end
template <>
struct Above<Cylinder> {
  template <class C>
  static SARRUS_HD int slots(const C&) {
    return 2;
  }
  template <class T, class C>
  static SARRUS_HD void points(const Frame<T>& A, const C& c, const Frame<T>& B, ContactPoint<T>* out) {
    Vec3<T> axis = B.R.z, side = cross(A.R.z, axis), up = cross(axis, side);  // up without cancellation
    T size = norm(side);
    bool flat = value(size) < FLAT;
    for (int end = 0; end < 2; ++end) {
      Vec3<T> x = B.p + axis * (end == 0 ? -c.half : c.half);
      out[end] = above(A, flat ? x : x - up * (c.radius / size));
      if (flat) out[end].disc = c.radius;
    }
  }
};

// The lowest point: -D^2 n / |D n| for the radii D and the normal n in the axes of the ellipsoid
template <>
struct Above<Ellipsoid> {
  template <class C>
  static SARRUS_HD int slots(const C&) {
    return 1;
  }
  template <class T, class C>
  static SARRUS_HD void points(const Frame<T>& A, const C& c, const Frame<T>& B, ContactPoint<T>* out) {
    Vec3<T> n = unturn(B.R, A.R.z), w = {n.x * c.radii[0], n.y * c.radii[1], n.z * c.radii[2]};
    Vec3<T> deep = {w.x * c.radii[0], w.y * c.radii[1], w.z * c.radii[2]};
    out[0] = above(A, B.p - turn(B.R, deep) * (real<T>(1) / norm(w)));
  }
};

// The lowest point of each convex feature, on both ends of a profile that has ends
template <>
struct Above<Profile> {
  template <class C>
  static SARRUS_HD int ends(const C& c) {
    return value(Profile::half(c)) > 0 ? 2 : 1;
  }
  template <class C>
  static SARRUS_HD int slots(const C& c) {
    return Profile::features(c) * ends(c);
  }
  template <class T, class C>
  static SARRUS_HD void points(const Frame<T>& A, const C& c, const Frame<T>& B, ContactPoint<T>* out) {
    Vec3<T> axis = B.R.z, side = cross(A.R.z, axis), up = cross(axis, side);
    T size = norm(side);
    bool flat = value(size) < FLAT;
    for (int k = 0; k < Profile::features(c); ++k) {
      auto f = Profile::feature(c, k);
      bool lowest = !flat && f.faces(-dot(value(B.R.x), value(up)), -dot(value(B.R.y), value(up)));
      for (int end = 0; end < ends(c); ++end, ++out) {
        real<T> z = ends(c) == 1 ? real<T>(0) : end == 0 ? -c.half : c.half;
        Vec3<T> x = B.p + B.R.x * f.cx + B.R.y * f.cy + axis * z;
        bool disc = flat && f.span == WHOLE_CIRCLE;
        if (f.span == SHARP_CORNER || disc)
          *out = above(A, x);
        else if (lowest)
          *out = above(A, x - up * (f.radius / size));
        else
          leave_open(*out);
        if (disc) out->disc = f.radius;
      }
    }
  }
};

SARRUS_END
