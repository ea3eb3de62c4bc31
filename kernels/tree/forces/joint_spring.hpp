// JointSpring: spring on one coordinate.
#pragma once

#include "tree/parameters.hpp"

#define SARRUS_JOINT_SPRING(V, S) S(stiffness) S(rest)

SARRUS_BEGIN

struct JointSpring {
  SARRUS_PARAMETERS(SARRUS_JOINT_SPRING)

  template <class T>
  static SARRUS_HD T resistance(const Parameters<real<T>>& c, const T& q, const T&) {
    return (q - c.rest) * c.stiffness;
  }
  template <class T>
  static SARRUS_HD T energy(const Parameters<real<T>>& c, const T& q) {
    T x = q - c.rest;
    return x * x * (c.stiffness * real<T>(0.5));
  }
};

SARRUS_END
