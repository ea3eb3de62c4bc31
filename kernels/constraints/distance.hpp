// Distance: two points stay at a fixed distance. Row |p_B - p_A| - length [m], undefined where they coincide.
#pragma once

#include "constraints/row.hpp"

#define SARRUS_DISTANCE(V, S) V(p_a, 3) V(p_b, 3) S(length)

SARRUS_BEGIN

struct Distance {
  SARRUS_PARAMETERS(SARRUS_DISTANCE)

  template <class T, class Out>
  static SARRUS_HD void rows(const Parameters<real<T>>& c, const Pair<T>& p, Out out) {
    Vec3<T> r = p.pB - p.pA, r_dot = p.vB - p.vA;
    T l = sqrt_(dot(r, r));
    Vec3<T> e = r * (real<T>(1) / l);
    Vec3<T> e_dot = (r_dot - e * dot(e, r_dot)) * (real<T>(1) / l);
    Row<T> row = along(p, e, e_dot);
    row.phi = l - c.length;
    out[0] = row;
  }
  template <class R>
  static SARRUS_HD void latch(const auto&, const Pair<R>& p, auto& to) {
    Vec3<R> r = p.pB - p.pA;
    to.length = sqrt_(dot(r, r));
  }
  template <class R>
  static SARRUS_HD R longer(const Parameters<R>& c, const Parameters<R>& to) {
    return to.length - c.length;
  }
};

SARRUS_END
