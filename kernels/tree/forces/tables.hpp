// Forces by a table: PointTable along the line between two points, CoordinateTable on one coordinate. The
// table is over the length or coordinate, and has an energy, or over its rate.
#pragma once

#include "tree/curve.hpp"
#include "tree/forces/point_spring.hpp"

#define SARRUS_POINT_TABLE(V, S) V(p_a, 3) V(p_b, 3) SARRUS_CURVE(V, S) S(of_rate)
#define SARRUS_COORDINATE_TABLE(V, S) SARRUS_CURVE(V, S) S(of_rate)

SARRUS_BEGIN

struct PointTable {
  SARRUS_PARAMETERS(SARRUS_POINT_TABLE)

  // Tension by the table; none at zero length, where the line has no direction.
  template <class T>
  static SARRUS_HD Load<T> load(const Parameters<real<T>>& c, const Pair<T>& p) {
    Vec3<T> r = p.pB - p.pA;
    T l2 = dot(r, r);
    auto apart = l2 > real<T>(PointSpring::SHORTEST);
    T inv = select(apart, real<T>(1) / sqrt_(select(apart, l2, T(1))), T(0));
    Spatial<T> line = force_at(p.pB, r);
    CurveValue<T> found = curve_at(c, c.of_rate != 0 ? dot(line, p.V) * inv : l2 * inv);
    return {line * (-(found.value * inv)), c.of_rate != 0 ? T(0) : found.integral};
  }
};

struct CoordinateTable {
  SARRUS_PARAMETERS(SARRUS_COORDINATE_TABLE)

  template <class T>
  static SARRUS_HD T resistance(const Parameters<real<T>>& c, const T& q, const T& v) {
    return curve_at(c, c.of_rate != 0 ? v : q).value;
  }
  template <class T>
  static SARRUS_HD T energy(const Parameters<real<T>>& c, const T& q) {
    return c.of_rate != 0 ? T(0) : curve_at(c, q).integral;
  }
};

SARRUS_END
