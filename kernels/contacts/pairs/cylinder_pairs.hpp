// A sphere a on a cylinder b: on its side, on an end or on a rim, whichever is nearest to the centre.
#pragma once

#include "contacts/pairs/nearest_feature.hpp"
#include "contacts/shapes/cylinder.hpp"
#include "contacts/shapes/sphere.hpp"

SARRUS_BEGIN

struct SphereOnCylinder {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C&) {
    return 1;
  }
  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    Vec3<T> r = into(B, A.p);
    T square = r.x * r.x + r.y * r.y;
    bool on_axis = !(value(square) > 0), above = value(r.z) >= 0;
    T across = on_axis ? T(real<T>(0)) : sqrt_(square);
    Vec3<T> sideways = on_axis ? B.R.x : B.R.x * (r.x / across) + B.R.y * (r.y / across);
    Vec3<T> up = above ? B.R.z : -B.R.z;
    T side = across - b.radius, end = (above ? r.z : -r.z) - b.half;
    bool beyond_side = value(side) > 0, beyond_end = value(end) > 0;
    FromFeature<T> f = {end, up};
    if (beyond_side && beyond_end)
      f = along_direction(sideways * side + up * end, up);
    else if (beyond_side || (!beyond_end && value(side) > value(end)))
      f = {side, sideways};
    out[0] = touch_at(A.p - f.outward * a.radius, -f.outward, f.distance - a.radius);
    return POINTS_FOUND;
  }
};

SARRUS_END
