// Rolling: a thin disc of b, centre p_B, rolls on a plane of the ground, a. Its lowest point is
//
//   P = C + r u,     u = -g/|g|,     g = n - (n . axis) axis                                             (1)
//
// Rows: height of P over the plane [m], then the velocity [m/s] of the disc's material at P along two
// directions of the plane (velocity rows: they have no phi). Undefined where the disc lies flat.
#pragma once

#include "constraints/row.hpp"

#define SARRUS_ROLLING(V, S) V(p_a, 3) V(p_b, 3) V(axis, 3) V(normal, 3) S(radius)

SARRUS_BEGIN

struct Rolling {
  SARRUS_PARAMETERS(SARRUS_ROLLING)
  static constexpr bool cannot_latch = true;

  template <class T, class Out>
  static SARRUS_HD void rows(const Parameters<real<T>>& c, const Pair<T>& p, Out out) {
    Vec3<T> n = turn(p.Ra, c.normal), axis = turn(p.Rb, c.axis);
    Vec3<T> w = p.wb, axis_dot = cross(w, axis);
    Vec3<T> g = n - axis * dot(n, axis);
    Vec3<T> g_dot = -(axis * dot(n, axis_dot)) - axis_dot * dot(n, axis);
    T l = sqrt_(dot(g, g));
    Vec3<T> u = g * (real<T>(-1) / l);
    Vec3<T> u_dot = (g_dot - u * dot(u, g_dot)) * (real<T>(-1) / l);
    Vec3<T> P = p.pB + u * c.radius, P_dot = p.vB + u_dot * c.radius;  // (1)
    // two directions across the normal: start from the world axis least aligned with it
    const real<T>* nr = c.normal;
    bool steep(nr[0] * nr[0] > real<T>(0.5) * (nr[0] * nr[0] + nr[1] * nr[1] + nr[2] * nr[2]));
    Vec3<T> e = steep ? Vec3<T>{T(0), T(1), T(0)} : Vec3<T>{T(1), T(0), T(0)};
    Vec3<T> t1 = e - n * dot(e, n);
    t1 = t1 * (real<T>(1) / sqrt_(dot(t1, t1)));
    const Vec3<T> d[3] = {n, t1, cross(n, t1)};
    for (int j = 0; j < 3; ++j)
      out[j] = Row<T>{j == 0 ? dot(n, P - p.pA) : T(0), force_at(P, d[j]), {zero3<T>(), cross(P_dot, d[j])}};
  }
};

SARRUS_END
