// JointStop: an elastic, damped stop at either end of the range of one coordinate. It pushes, it never pulls.
#pragma once

#include "tree/parameters.hpp"

#define SARRUS_JOINT_STOP(V, S) S(lower) S(upper) S(stiffness) S(damping)

SARRUS_BEGIN

struct JointStop {
  SARRUS_PARAMETERS(SARRUS_JOINT_STOP)

  // Distance beyond the stop: negative below the lower one, positive above the upper one.
  template <class T>
  static SARRUS_HD T overrun(const Parameters<real<T>>& c, const T& q) {
    T low = q - c.lower, high = q - c.upper;
    return select(low < real<T>(0), low, select(high > real<T>(0), high, T(0)));
  }
  template <class T>
  static SARRUS_HD T resistance(const Parameters<real<T>>& c, const T& q, const T& v) {
    T x = overrun(c, q), push = x * c.stiffness + v * c.damping;
    return select(x * push > real<T>(0), push, T(0));
  }
  template <class T>
  static SARRUS_HD T energy(const Parameters<real<T>>& c, const T& q) {
    T x = overrun(c, q);
    return x * x * (c.stiffness * real<T>(0.5));
  }
};

SARRUS_END
