// PointSpring: spring and damper along the line r = p_B - p_A of length l between two points.
//
//   f = -(k (1 - l0/l) + c l'/l) r on b,     energy k (l - l0)^2 / 2                                     (1)
//
// At zero length the line has no direction: with l0 = 0 the spring pulls with -k r, which is smooth there,
// otherwise with nothing.
#pragma once

#include "tree/pair.hpp"
#include "tree/parameters.hpp"

#define SARRUS_POINT_SPRING(V, S) V(p_a, 3) V(p_b, 3) S(stiffness) S(rest) S(damping)

SARRUS_BEGIN

// Wrench on b about the reference point (a gets the opposite) and energy of a force between two nodes.
template <class T>
struct Load {
  Spatial<T> wrench;
  T energy;
};

struct PointSpring {
  static constexpr double SHORTEST = 1e-24;  // squared length [m^2] below which there is no direction
  SARRUS_PARAMETERS(SARRUS_POINT_SPRING)

  template <class T>
  static SARRUS_HD Load<T> load(const Parameters<real<T>>& c, const Pair<T>& p) {
    real<T> k = c.stiffness, rest = c.rest;
    Vec3<T> r = p.pB - p.pA;
    T l2 = dot(r, r);
    auto apart = l2 > real<T>(SHORTEST);
    T inv = select(apart, real<T>(1) / sqrt_(select(apart, l2, T(1))), T(0));
    Spatial<T> line = force_at(p.pB, r);
    T rate = dot(line, p.V) * inv;  // l'
    T pull = select(apart, T(k) - inv * (k * rest) + rate * inv * c.damping, T(rest == 0 ? k : 0));
    // l^2 - 2 l l0 + l0^2 without the root of zero
    T energy = (l2 - l2 * inv * (2 * rest) + rest * rest) * (k * real<T>(0.5));
    return {line * (-pull), energy};  // (1)
  }
};

SARRUS_END
