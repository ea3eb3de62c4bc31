// Bushing: a linear spring and damper between frame A on a and frame B on b, in six directions.
//
//   x = [displacement of B in A; rotation vector of B in A], both in A's axes
//   g = -(K x + C x'),   force R_A g_1 at B and moment R_A Jl(phi)^-T g_2 on b,   energy x.K x / 2        (1)
//
// Jl^-1 is (1) of algebra/rotation.hpp; its transpose is that of -phi. Rotations beyond half a turn jump.
#pragma once

#include "algebra/rotation.hpp"
#include "tree/forces/point_spring.hpp"

#define SARRUS_BUSHING(V, S) V(p_a, 3) V(p_b, 3) V(R_a, 9) V(R_b, 9) V(stiffness, 36) V(damping, 36)

SARRUS_BEGIN

struct Bushing {
  SARRUS_PARAMETERS(SARRUS_BUSHING)

  template <class T>
  static SARRUS_HD Load<T> load(const Parameters<real<T>>& c, const Pair<T>& p) {
    Mat3<T> RA = compose(p.Ra, c.R_a), RB = compose(p.Rb, c.R_b);
    Mat3<T> Q = {unturn(RA, RB.x), unturn(RA, RB.y), unturn(RA, RB.z)};
    T quat[4];
    quaternion(Q, quat);
    Vec3<T> apart = p.pB - p.pA, r = unturn(RA, apart), phi = rotation_vector(quat);
    T curvature = log_curvature(dot(phi, phi)).c;
    Vec3<T> r1 = unturn(RA, p.vB - p.vA - cross(p.wa, apart));
    Vec3<T> phi1 = log_rate(phi, curvature, unturn(RA, p.V.ang));
    const T x[6] = {r.x, r.y, r.z, phi.x, phi.y, phi.z}, x1[6] = {r1.x, r1.y, r1.z, phi1.x, phi1.y, phi1.z};
    T g[6], energy = T(0);
    for (int i = 0; i < 6; ++i) {
      T spring = T(0), damper = T(0);
      for (int j = 0; j < 6; ++j) {
        spring += x[j] * c.stiffness[6 * i + j];
        damper += x1[j] * c.damping[6 * i + j];
      }
      g[i] = -(spring + damper);
      energy += x[i] * spring * real<T>(0.5);
    }
    Vec3<T> f = turn(RA, Vec3<T>{g[0], g[1], g[2]});
    Vec3<T> n = turn(RA, log_rate(-phi, curvature, Vec3<T>{g[3], g[4], g[5]}));
    return {{f, cross(p.pB, f) + n}, energy};  // (1)
  }
};

SARRUS_END
