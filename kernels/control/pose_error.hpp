// The error of a pose (R, x) against a reference (R_d, x_d), and the map from its wanted second derivative to
// the acceleration of the body. With d = x_d - x and theta = log(R_d R^T),
//
//   split  e = (d, theta)      screw  e = (Jl(theta)^-1 d, theta), the logarithm of SE(3)               (1)
//
// in world axes, or in those of the body, where d becomes y = R^T d. There y = Jl(theta) rho for the screw
// and
//
//   Jl(theta) theta' = w_E      (y, w_E)' = g - H (x'', w') = L e'' + n                                 (2)
//
// (first derivatives of y twice), so (x'', w') = c - T e'' with T = H^-1 L and c = H^-1 (g - n).
#pragma once

#include "algebra/rotation.hpp"

SARRUS_BEGIN

// Jl x = x + b theta x x + c theta x (theta x x): b = (1 - cos)/s, c = (angle - sin)/angle^3 as functions of
// s = angle^2, with their first and second derivatives by s.
template <class T>
struct TurnCurves {
  T b, db, ddb, c, dc, ddc;
};

// Coefficients (-1)^i / (2 i + 2)! of b and (-1)^i / (2 i + 3)! of c
struct TurnSeries {
  double b[9], c[9];
  constexpr TurnSeries() : b(), c() {
    double factorial = 1, sign = 1;
    for (int i = 0; i < 9; ++i, sign = -sign) {
      b[i] = sign / (factorial *= 2 * i + 2);
      c[i] = sign / (factorial *= 2 * i + 3);
    }
  }
};

// Polynomial with coefficients k[0..n), highest last, and half its second derivative.
template <class T>
SARRUS_HD void horner(const double* k, int n, const T& x, T& p, T& d, T& half) {
  p = T(real<T>(k[n - 1])), d = T(0), half = T(0);
  for (int i = n - 2; i >= 0; --i) half = half * x + d, d = d * x + p, p = p * x + real<T>(k[i]);
}

template <class T>
SARRUS_HD TurnCurves<T> turn_curves(const T& s) {
  constexpr TurnSeries k;
  auto small = s < real<T>(0.3);
  TurnCurves<T> near;
  T x = select(small, s, T(0));
  horner(k.b, 9, x, near.b, near.db, near.ddb);
  horner(k.c, 9, x, near.c, near.dc, near.ddc);
  near.ddb = near.ddb * real<T>(2), near.ddc = near.ddc * real<T>(2);
  if constexpr (Branching<T>::value)
    if (small) return near;
  T y = select(small, T(1), s), angle = sqrt_(y), sine, cosine;
  sincos_(angle, sine, cosine);
  T a = sine / angle, twice = y * real<T>(2);
  T b = (real<T>(1) - cosine) / y, c = (real<T>(1) - a) / y;
  T db = (a - b * real<T>(2)) / twice, dc = (b - c * real<T>(3)) / twice;
  T ddb = (c - b - db * real<T>(8)) / (twice * real<T>(2)), ddc = (db - dc * real<T>(5)) / twice;
  return {select(small, near.b, b), select(small, near.db, db), select(small, near.ddb, ddb),
          select(small, near.c, c), select(small, near.dc, dc), select(small, near.ddc, ddc)};
}

// Jl(theta) and how Jl(theta) x changes.
template <class T>
struct LeftJacobian {
  Vec3<T> e;
  T inverse;  // coefficient of Jl^-1, algebra/rotation.hpp (1)
  TurnCurves<T> k;

  SARRUS_HD explicit LeftJacobian(const Vec3<T>& theta) : e(theta) {
    T s = dot(e, e);
    inverse = log_curvature(s).c;
    k = turn_curves(s);
  }
  SARRUS_HD Vec3<T> apply(const Vec3<T>& x) const {
    Vec3<T> once = cross(e, x);
    return x + once * k.b + cross(e, once) * k.c;
  }
  SARRUS_HD Vec3<T> solve(const Vec3<T>& x) const { return log_rate(e, inverse, x); }
  // first derivative of Jl(theta) x along theta' = u, x fixed
  SARRUS_HD Vec3<T> slope(const Vec3<T>& x, const Vec3<T>& u) const {
    Vec3<T> once = cross(e, x), ux = cross(u, x);
    T ds = dot(e, u) * real<T>(2);
    return once * (k.db * ds) + cross(e, once) * (k.dc * ds) + ux * k.b +
           (cross(u, once) + cross(e, ux)) * k.c;
  }
  // second derivative along theta' = u, x' = dx, both constant
  SARRUS_HD Vec3<T> bend(const Vec3<T>& x, const Vec3<T>& u, const Vec3<T>& dx) const {
    real<T> two = 2;
    T ds = dot(e, u) * two, dds = dot(u, u) * two;
    Vec3<T> n = cross(e, x), dn = cross(u, x) + cross(e, dx), ddn = cross(u, dx) * two;
    Vec3<T> m = cross(e, n), dm = cross(u, n) + cross(e, dn), ddm = cross(u, dn) * two + cross(e, ddn);
    return n * (k.ddb * ds * ds + k.db * dds) + dn * (k.db * ds * two) + ddn * k.b +
           m * (k.ddc * ds * ds + k.dc * dds) + dm * (k.dc * ds * two) + ddm * k.c;
  }
};

// Error, its rate, (x'', w') = rest - map e'' with six columns of the map.
template <class T>
struct PoseError {
  Spatial<T> e, rate, rest, map[6];
};

// Places, twists and the acceleration of the reference in world axes, V = (velocity of the point, w).
template <class T>
SARRUS_FN PoseError<T> pose_error(const Mat3<T>& R, const Vec3<T>& x, const Spatial<T>& V, const Mat3<T>& R_d,
                                  const Vec3<T>& x_d, const Spatial<T>& V_d, const Spatial<T>& A_d,
                                  bool screw, bool own) {
  Vec3<T> d = x_d - x, dd = V_d.lin - V.lin, w = V.ang;
  Mat3<T> back = {unturn(R, R_d.x), unturn(R, R_d.y), unturn(R, R_d.z)};  // R^T R_d
  T quat[4];
  quaternion(back, quat);
  Vec3<T> theta = rotation_vector(quat);  // in the axes of the body, and of the reference
  Vec3<T> y, dy, w_E;
  Spatial<T> g;
  if (own) {
    Vec3<T> around = cross(w, d);
    y = unturn(R, d), dy = unturn(R, dd - around), w_E = unturn(R, V_d.ang - w);
    g = {unturn(R, A_d.lin - cross(w, dd * real<T>(2) - around)), unturn(R, A_d.ang - cross(w, V_d.ang))};
  } else {
    Vec3<T> Ew = turn(R_d, unturn(R, w));  // R_d R^T w
    theta = turn(R, theta);
    y = d, dy = dd, w_E = V_d.ang - Ew;
    g = {A_d.lin, A_d.ang - cross(w_E, Ew)};
  }
  LeftJacobian<T> Jl(theta);
  Vec3<T> dtheta = Jl.solve(w_E), rho = y, drho = dy;
  Spatial<T> n = {zero3<T>(), Jl.slope(dtheta, dtheta)};
  if (screw) {
    rho = Jl.solve(y);
    drho = Jl.solve(dy - Jl.slope(rho, dtheta));
    n.lin = Jl.bend(rho, dtheta, drho);
  }
  auto undo = [&](const Spatial<T>& z) -> Spatial<T> {  // H^-1 z
    if (own) {
      Vec3<T> turned = turn(R, z.ang);
      return {turn(R, z.lin) + cross(d, turned), turned};
    }
    return {z.lin, turn(R, unturn(R_d, z.ang))};
  };
  PoseError<T> out;
  out.e = {rho, theta}, out.rate = {drho, dtheta}, out.rest = undo(g - n);
  for (int i = 0; i < 3; ++i) {
    Vec3<T> unit = {T(i == 0), T(i == 1), T(i == 2)};
    Vec3<T> turned = Jl.apply(unit);
    out.map[i] = undo({screw ? turned : unit, zero3<T>()});
    out.map[3 + i] = undo({screw ? Jl.slope(rho, unit) : zero3<T>(), turned});
  }
  return out;
}

SARRUS_END
