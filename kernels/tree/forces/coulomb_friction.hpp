// CoulombFriction: dry friction of a coordinate that slides, with a Stribeck part.
//
//   resistance = sign(v) (c + (s - c) exp(-(v / v_s)^2)),   exp(-2 x) = (1 - tanh x) / (1 + tanh x)      (1)
//
// c: Coulomb friction, s: breakaway, v_s: Stribeck speed, [Armstrong1994] section 2.1. A run that knows in
// which direction the coordinate slides says so, also where its velocity is zero: direction 1 or -1; 0: by
// the velocity. HELD: none, where a row of the constraints holds it.
#pragma once

#include "tree/parameters.hpp"

#define SARRUS_COULOMB_FRICTION(V, S) S(direction) S(coulomb) S(breakaway) S(speed)

SARRUS_BEGIN

struct CoulombFriction {
  static constexpr double HELD = 2;
  SARRUS_PARAMETERS(SARRUS_COULOMB_FRICTION)

  // (1) without the sign
  template <class T>
  static SARRUS_HD T level(const Parameters<real<T>>& c, const T& v) {
    T x = v / c.speed, t = tanh_(x * x * real<T>(0.5));
    return (T(1) - t) / (T(1) + t) * (c.breakaway - c.coulomb) + c.coulomb;
  }
  template <class T>
  static SARRUS_HD T resistance(const Parameters<real<T>>& c, const T&, const T& v) {
    if (c.direction == real<T>(HELD)) return T(0);
    T size = level(c, v);
    if (c.direction != real<T>(0)) return size * c.direction;
    return select(v < real<T>(0), -size, select(v > real<T>(0), size, T(0)));
  }
  template <class T>
  static SARRUS_HD T energy(const Parameters<real<T>>&, const T&) {
    return T(0);
  }
};

SARRUS_END
