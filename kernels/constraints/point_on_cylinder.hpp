// PointOnCylinder: a point of b stays on a cylinder fixed in a. With r = p_B - p_A and the unit axis d,
//
//   phi = |s| - radius,     s = r - (d . r) d                                                            (1)
//
// undefined on the axis.
#pragma once

#include "constraints/row.hpp"

#define SARRUS_POINT_ON_CYLINDER(V, S) V(p_a, 3) V(p_b, 3) V(axis, 3) S(radius)

SARRUS_BEGIN

struct PointOnCylinder {
  SARRUS_PARAMETERS(SARRUS_POINT_ON_CYLINDER)

  template <class T, class Out>
  static SARRUS_HD void rows(const Parameters<real<T>>& c, const Pair<T>& p, Out out) {
    Vec3<T> d = turn(p.Ra, c.axis), d_dot = cross(p.wa, d), r = p.pB - p.pA, r_dot = p.vB - p.vA;
    T along_axis = dot(d, r);
    Vec3<T> s = r - d * along_axis;
    Vec3<T> s_dot = r_dot - d_dot * along_axis - d * (dot(d_dot, r) + dot(d, r_dot));
    T l = sqrt_(dot(s, s));
    Vec3<T> e = s * (real<T>(1) / l);
    Row<T> row = along(p, e, (s_dot - e * dot(e, s_dot)) * (real<T>(1) / l));
    row.phi = l - c.radius;  // (1)
    out[0] = row;
  }
  template <class R>
  static SARRUS_HD void latch(const auto& c, const Pair<R>& p, auto& to) {
    Vec3<R> d = turn(p.Ra, c.axis), r = p.pB - p.pA, s = r - d * dot(d, r);
    to.radius = sqrt_(dot(s, s));
  }
  template <class R>
  static SARRUS_HD R longer(const Parameters<R>& c, const Parameters<R>& to) {
    return to.radius - c.radius;
  }
};

SARRUS_END
