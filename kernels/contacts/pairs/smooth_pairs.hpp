// Ellipsoids among each other, on spheres and on rims. With h the support functions about the centres, d
// from centre to centre, the gap is the largest value over unit vectors n of
//
//   s(n) = n . d - h_a(n) - h_b(n),   h(n) = |D R^T n| with the radii D and the axes R         (1)
//
// found by Newton's method on the sphere of directions. Its last steps are taken with the numbers of the
// caller: each makes one more derivative of n right, and the gap, stationary in n, is right one further.
#pragma once

#include "contacts/shapes/ellipsoid.hpp"
#include "contacts/shapes/sphere.hpp"

SARRUS_BEGIN

// h(n), the point of the surface (from the centre) where n is the normal, and h''(n)
template <class T>
struct Support {
  T h;
  Vec3<T> point;
  Vec3<T> rows[3];
};

template <class T, class C>
SARRUS_HD Support<T> support_of(Ellipsoid, const C& c, const Mat3<T>& R, const Vec3<T>& n) {
  Vec3<T> m = unturn(R, n);
  Vec3<T> w = {m.x * (c.radii[0] * c.radii[0]), m.y * (c.radii[1] * c.radii[1]),
               m.z * (c.radii[2] * c.radii[2])};
  T h = sqrt_(dot(m, w)), by = real<T>(1) / h;
  Vec3<T> p = turn(R, w) * by;
  const Vec3<T> scaled[3] = {R.x * (c.radii[0] * c.radii[0]), R.y * (c.radii[1] * c.radii[1]),
                             R.z * (c.radii[2] * c.radii[2])};
  auto row = [&](T x, T y, T z, T along) {
    return (scaled[0] * x + scaled[1] * y + scaled[2] * z - p * along) * by;
  };
  return {
      h, p, {row(R.x.x, R.y.x, R.z.x, p.x), row(R.x.y, R.y.y, R.z.y, p.y), row(R.x.z, R.y.z, R.z.z, p.z)}};
}
template <class T, class C>
SARRUS_HD Support<T> support_of(Sphere, const C&, const Mat3<T>&, const Vec3<T>&) {
  return {
      T(real<T>(0)), zero3<T>(), {zero3<T>(), zero3<T>(), zero3<T>()}};  // its radius is taken off at the end
}

// The rim of a round face: a circle about the z axis
struct Rim {
  SARRUS_PARAMETERS(SARRUS_SPHERE)
};
template <class T, class C>
SARRUS_HD Support<T> support_of(Rim, const C& c, const Mat3<T>& R, const Vec3<T>& n) {
  Vec3<T> side = cross(R.z, n);
  T square = dot(side, side);
  if (!(value(square) > 0)) return support_of(Sphere(), c, R, n);
  T by = real<T>(1) / sqrt_(square);
  Vec3<T> t = side * by, p = cross(t, R.z) * c.radius, bent = t * (by * c.radius);
  return {dot(n, p), p, {bent * t.x, bent * t.y, bent * t.z}};
}

template <class R, class C>
SARRUS_HD R rounding_of(Ellipsoid, const C&) {
  return R(0);
}
template <class R, class C>
SARRUS_HD R rounding_of(Sphere, const C& c) {
  return c.radius;
}
template <class R, class C>
SARRUS_HD R rounding_of(Rim, const C&) {
  return R(0);
}

// Two unit vectors across the unit vector n and each other
template <class T>
SARRUS_HD void across_unit(const Vec3<T>& n, Vec3<T>& u, Vec3<T>& v) {
  using R = real<T>;
  Vec3<T> e =
      value(n.x) * value(n.x) < 0.5 ? Vec3<T>{T(R(1)), T(R(0)), T(R(0))} : Vec3<T>{T(R(0)), T(R(1)), T(R(0))};
  u = cross(n, e);
  u = u * (R(1) / norm(u));
  v = cross(n, u);
}

// s(n) of (1), what is left of its gradient across n, and Newton's step
template <class T>
struct Ascent {
  T s;
  Vec3<T> slope, step;
  Support<T> a, b;
};

template <class KindA, class KindB, class T, class P, class C>
SARRUS_HD Ascent<T> ascend(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B, const Vec3<T>& n) {
  Ascent<T> now;
  now.a = support_of(KindA(), a, A.R, n), now.b = support_of(KindB(), b, B.R, n);
  Vec3<T> d = B.p - A.p;
  now.s = dot(n, d) - now.a.h - now.b.h;
  Vec3<T> g = d - now.a.point - now.b.point;
  now.slope = g - n * dot(n, g);
  Vec3<T> u, v;  // two directions across n, and h'' + s in them
  across_unit(n, u, v);
  auto bend = [&](const Vec3<T>& x, const Vec3<T>& y) {
    Vec3<T> m = {dot(now.a.rows[0], y) + dot(now.b.rows[0], y), dot(now.a.rows[1], y) + dot(now.b.rows[1], y),
                 dot(now.a.rows[2], y) + dot(now.b.rows[2], y)};
    return dot(x, m);
  };
  T s = dot(n, g), uu = bend(u, u) + s, uv = bend(u, v), vv = bend(v, v) + s, gu = dot(u, g), gv = dot(v, g);
  T det = uu * vv - uv * uv;
  bool bowl = value(det) > 0 && value(uu) > 0;  // a maximum ahead; else along the slope
  if (!bowl) det = T(real<T>(1)), uu = vv = abs_(s) + norm(d), uv = T(real<T>(0)), det = uu * vv;
  now.step = u * ((vv * gu - uv * gv) / det) + v * ((uu * gv - uv * gu) / det);
  return now;
}

template <class T>
SARRUS_HD Vec3<T> unit(const Vec3<T>& x) {
  return x * (real<T>(1) / norm(x));
}

constexpr int MOST_ASCENTS = 60;

// The direction of a vector; another one where it has none
SARRUS_HD Vec3<double> towards(const Vec3<double>& d, const Vec3<double>& otherwise) {
  double size = norm(d);
  return size > 0 ? d * (1 / size) : otherwise;
}

// The best n of (1) from the direction n: Newton's method with halved steps where s would fall; false where
// it does not arrive
template <class KindA, class KindB, class P, class C>
SARRUS_FN bool steepest(const P& a, const Frame<double>& A, const C& b, const Frame<double>& B,
                        Vec3<double>& n) {
  double size = norm(B.p - A.p);
  Ascent<double> now = ascend<KindA, KindB>(a, A, b, B, n);
  double scale = now.a.h + now.b.h + size;
  for (int k = 0; k < MOST_ASCENTS; ++k) {
    if (norm(now.slope) <= 1e-13 * scale) return true;
    double share = 1;
    Ascent<double> next;
    Vec3<double> to;
    do {
      to = unit(n + now.step * share);
      next = ascend<KindA, KindB>(a, A, b, B, to);
      share *= 0.5;
    } while (!(next.s > now.s - 1e-15 * scale) && share > 1e-9);
    n = to, now = next;
  }
  return norm(now.slope) <= 1e-10 * scale;
}

// The slot at a direction that is nearly the best: two more steps, with the numbers of the caller
template <class KindA, class KindB, class T, class P, class C>
SARRUS_HD ContactPoint<T> slot_along(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                                     const Vec3<double>& found) {
  using R = real<T>;
  Vec3<T> n = {T(R(found.x)), T(R(found.y)), T(R(found.z))};
  for (int k = 0; k < 2; ++k) n = unit(n + ascend<KindA, KindB>(a, A, b, B, n).step);
  Ascent<T> at = ascend<KindA, KindB>(a, A, b, B, n);
  R ra = rounding_of<R>(KindA(), a), rb = rounding_of<R>(KindB(), b);
  return touch_at(A.p + at.a.point + n * ra, n, at.s - ra - rb);
}

template <class KindA, class KindB>
struct SmoothPair {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C&) {
    return 1;
  }

  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    Vec3<double> found = towards(value(B.p) - value(A.p), value(A.R.z));
    bool done = steepest<KindA, KindB>(a, value(A), b, value(B), found);
    out[0] = slot_along<KindA, KindB>(a, A, b, B, found);
    return done ? POINTS_FOUND : POINTS_UNRESOLVED;
  }
};

SARRUS_END
