// One-axis closures seen from afar: the whole angle between two axes instead of its sine.
//
// The rows of a Revolute, Cylindrical, Helical or Planar closure are the components of B's axis d across A's
// axis, p = sin(theta) u. They vanish for anti-parallel axes too, so assembly uses
//
//   r = theta u,    theta = atan2(|p|, d . a) in [0, pi]                                                  (1)
//
// with the angular velocity w of B relative to A and the unit vectors a (A's axis) and e (along p):
//
//   theta' = (a x e) . w        r' across u = (theta / sin theta) (d x (a x e)) . w                       (2)
#pragma once

#include "constraints/constraints.hpp"

SARRUS_BEGIN

constexpr double PARALLEL = 1e-6;  // below this angle [rad] r and p are the same number
constexpr double STEEPEST = 4.0;   // bound of theta / sin(theta) in (2), near anti-parallel axes

// The two angular rows of closure i   in: t (placed)
template <class T, class LD>
SARRUS_FN void whole_angle(const Model<real<T>>& m, int i, const Closure::Parameters<real<T>>& c,
                           const Tree<T>& t, LD ld, Rows<T>& r) {
  const Mat3<T>&Ra = t.R[m.el_a[i]], &Rb = t.R[m.el_b[i]];
  const real<T>*u1 = c.across_b, *u2 = c.across_b + 3, *axis = c.axis_b;
  real<T> turned = (u1[1] * u2[2] - u1[2] * u2[1]) * axis[0] + (u1[2] * u2[0] - u1[0] * u2[2]) * axis[1] +
                   (u1[0] * u2[1] - u1[1] * u2[0]) * axis[2];
  real<T> handed = turned < 0 ? real<T>(-1) : real<T>(1);
  Vec3<T> x1 = turn(Ra, c.across_a), x2 = turn(Ra, c.across_a + 3), d = turn(Rb, c.axis_b);
  Vec3<T> a = cross(x1, x2) * handed;
  T p1 = dot(x1, d), p2 = dot(x2, d), sine = sqrt_(p1 * p1 + p2 * p2), theta = atan2_(sine, dot(a, d));
  if (theta < real<T>(PARALLEL)) return;
  T u[2] = {sine > 0 ? p1 / sine : T(1), sine > 0 ? p2 / sine : T(0)};
  Vec3<T> e = x1 * u[0] + x2 * u[1], along = cross(a, e), sideways = cross(d, along);
  T steep = sine > 0 && theta / sine < real<T>(STEEPEST) ? theta / sine : T(real<T>(STEEPEST));
  T across[2] = {-(u[1] * handed), u[0] * handed};
  int row = m.el_row[i] + m.el_rows[i] - 2;
  for (int k = 0; k < 2; ++k) r.phi[row + k] = theta * u[k];
  for (int s = m.el_sup_begin[i]; s < m.el_sup_end[i]; ++s) {
    int j = m.sup_col[s];
    Vec3<T> w = t.S[j].ang * m.sup_sign[s];
    for (int k = 0; k < 2; ++k)
      r.J[(row + k) * ld + j] = u[k] * dot(along, w) + across[k] * steep * dot(sideways, w);
  }
}

// phi and J with (1), (2) in the angular rows of one-axis closures   in: r evaluated, t (placed)
template <class T, class LD>
SARRUS_FN void whole_angles(const Model<real<T>>& m, const Tree<T>& t, LD ld, Rows<T>& r) {
  for (int i = 0; i < m.ne; ++i)
    with_element(m, i, [&](auto kind, const auto& c) {
      if constexpr (requires { kind.cosines(c); })
        if (kind.angular(c) == Closure::ACROSS) whole_angle(m, i, c, t, ld, r);
    });
}

SARRUS_END
