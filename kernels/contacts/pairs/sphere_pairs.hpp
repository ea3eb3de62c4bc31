// Two spheres.
#pragma once

#include "contacts/shapes/sphere.hpp"

SARRUS_BEGIN

struct TwoSpheres {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C&) {
    return 1;
  }
  template <class T, class P, class C>
  static SARRUS_HD int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    Vec3<T> apart = B.p - A.p;
    T l2 = dot(apart, apart);
    bool one_centre = !(value(l2) > 0);
    T l = one_centre ? T(real<T>(0)) : sqrt_(l2);
    Vec3<T> n = one_centre ? A.R.z : apart * (real<T>(1) / l);
    out[0] = touch_at(A.p + n * a.radius, n, l - a.radius - b.radius);
    return 0;
  }
};

SARRUS_END
