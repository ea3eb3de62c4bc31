// ConstantWrench: force and moment at a point of b that stay constant in the axes of a (the ground, for a
// dead load) or in those of b. It counts as having no energy.
#pragma once

#include "tree/forces/point_spring.hpp"

#define SARRUS_CONSTANT_WRENCH(V, S) V(p_a, 3) V(p_b, 3) V(force, 3) V(moment, 3) S(follows)

SARRUS_BEGIN

struct ConstantWrench {
  SARRUS_PARAMETERS(SARRUS_CONSTANT_WRENCH)

  template <class T>
  static SARRUS_HD Load<T> load(const Parameters<real<T>>& c, const Pair<T>& p) {
    const Mat3<T>& R = c.follows != 0 ? p.Rb : p.Ra;
    Vec3<T> f = turn(R, c.force);
    return {{f, cross(p.pB, f) + turn(R, c.moment)}, T(0)};
  }
};

SARRUS_END
