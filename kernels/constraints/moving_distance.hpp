// MovingDistance: the distance of two points follows a drive, or a coordinate of the mechanism.
//
//   phi = |p_B - p_A| - length - f(t) - q_k [m],   undefined where the points coincide                   (1)
//
// drive: number of f, or -1; entry, at: places of q_k in q and in v, or -1. The coordinate moves no body.
#pragma once

#include "constraints/distance.hpp"

#define SARRUS_MOVING_DISTANCE(V, S) V(p_a, 3) V(p_b, 3) S(length) S(drive) S(entry) S(at)

SARRUS_BEGIN

struct MovingDistance {
  SARRUS_PARAMETERS(SARRUS_MOVING_DISTANCE)

  template <class T, class Out>
  static SARRUS_HD void rows(const Parameters<real<T>>& c, const Pair<T>& p, Out out) {
    Distance::Parameters<real<T>> fixed;
    fixed.length = c.length;  // the points are those of the pair
    Distance::rows(fixed, p, out);
  }
  template <class R>
  static SARRUS_HD void latch(const auto& c, const Pair<R>& p, auto& to) {
    Distance::latch(c, p, to);
  }
  template <class R>
  static SARRUS_HD R longer(const Parameters<R>& c, const Parameters<R>& to) {
    return to.length - c.length;
  }
  template <class R>
  static SARRUS_HD int drive(const Parameters<R>& c) {
    return static_cast<int>(c.drive);
  }
  template <class R>
  static SARRUS_HD int entry(const Parameters<R>& c) {
    return static_cast<int>(c.entry);
  }
  template <class R>
  static SARRUS_HD int column(const Parameters<R>& c) {
    return static_cast<int>(c.at);
  }
};

SARRUS_END
