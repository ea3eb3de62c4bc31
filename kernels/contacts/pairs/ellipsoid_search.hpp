// Which feature of a convex body an ellipsoid is nearest to, or least deep inside of. With m the unit vector
// from a feature with a point x towards the ellipsoid, E its centre, h its support function,
//
//   s(m) = m . (E - x) - h(m),   ds/dm = E - p(m) - x,   p(m) its point where m is the normal           (1)
//
// is stationary along the directions that the feature leaves to m: a face none, an edge a circle, a corner
// or a rim all. Of bodies that are apart one feature has such a place, within itself and within its normals;
// of bodies inside each other several may: the largest s is the least depth.
#pragma once

#include "base/vectors.hpp"
#include "contacts/pairs/crossing_edges.hpp"
#include "contacts/pairs/nearest_feature.hpp"
#include "contacts/pairs/smooth_pairs.hpp"

SARRUS_BEGIN

enum EllipsoidPlace : int { ON_NOTHING, ON_FACE, ON_EDGE, ON_CORNER, ON_RIM };

struct EllipsoidFound {
  int place = ON_NOTHING, index = 0;
  Vec3<double> m = {0, 0, 1};
  double s = -FAR_AWAY;

  SARRUS_HD void offer(int where, int which, const Vec3<double>& direction, double size) {
    if (size > s) place = where, index = which, m = direction, s = size;
  }
};

constexpr double WITHIN = 1e-12;  // of the sizes: places at borders belong to both sides

// s, its derivative along a unit vector t across m, and the curvature there, negative
template <class T>
struct AlongCircle {
  T s, slope, bend;
};
template <class T, class C>
SARRUS_HD AlongCircle<T> along_circle(const C& a, const Mat3<T>& R, const Vec3<T>& from_x, const Vec3<T>& m,
                                      const Vec3<T>& t) {
  Support<T> at = support_of(Ellipsoid(), a, R, m);
  Vec3<T> g = from_x - at.point, bent = {dot(at.rows[0], t), dot(at.rows[1], t), dot(at.rows[2], t)};
  return {dot(m, from_x) - at.h, dot(t, g), dot(t, bent) + dot(m, g)};
}

// The ellipsoid a with centre and axes A, as the searches see it
template <class C>
struct EllipsoidAt {
  const C& a;
  Frame<double> A;

  SARRUS_HD Vec3<double> lowest(const Vec3<double>& m) const {
    return A.p - support_of(Ellipsoid(), a, A.R, m).point;
  }
  SARRUS_HD bool holds(const Vec3<double>& x) const {
    Vec3<double> r = into(A, x);
    double u = r.x / a.radii[0], v = r.y / a.radii[1], w = r.z / a.radii[2];
    return u * u + v * v + w * w < 1;
  }
  SARRUS_HD double size() const { return larger(larger(a.radii[0], a.radii[1]), a.radii[2]); }

  // The largest s of a point x over m = cos(angle) p + sin(angle) q between two angles: Newton's method
  // within halved brackets
  SARRUS_HD Vec3<double> on_arc(const Vec3<double>& x, const Vec3<double>& p, const Vec3<double>& q,
                                double lo, double hi) const {
    double angle = 0.5 * (lo + hi);
    Vec3<double> m;
    for (int k = 0; k < 60; ++k) {
      double c, s;
      sincos_(angle, s, c);
      m = p * c + q * s;
      AlongCircle<double> now = along_circle(a, A.R, A.p - x, m, q * c - p * s);
      (now.slope > 0 ? lo : hi) = angle;
      double step = now.bend > 0 ? now.slope / now.bend : 4.0, next = angle + step;
      if (!(next > lo && next < hi)) next = 0.5 * (lo + hi);
      if (abs_(next - angle) <= 1e-15) break;
      angle = next;
    }
    return m;
  }
  SARRUS_HD double s(const Vec3<double>& x, const Vec3<double>& m) const {
    return dot(m, A.p - x) - support_of(Ellipsoid(), a, A.R, m).h;
  }
};

// A line through x along the unit vector u: the best m across it, from samples all around
template <class C>
SARRUS_HD Vec3<double> around_line(const EllipsoidAt<C>& e, const Vec3<double>& x, const Vec3<double>& u) {
  constexpr int SAMPLES = 12;
  constexpr double STEP = 6.283185307179586 / SAMPLES;
  Vec3<double> p, q;
  across_unit(u, p, q);
  int best = 0;
  double most = -FAR_AWAY;
  for (int k = 0; k < SAMPLES; ++k) {
    double sine, cosine;
    sincos_(k * STEP, sine, cosine);
    double s = e.s(x, p * cosine + q * sine);
    if (s > most) most = s, best = k;
  }
  return e.on_arc(x, p, q, (best - 1) * STEP, (best + 1) * STEP);
}

// Whether the place of the ellipsoid lies beside the inner part of an edge
SARRUS_HD bool within_edge(const Segment<double>& edge, const Vec3<double>& lowest) {
  Vec3<double> u = edge.to - edge.from;
  double s = dot(lowest - edge.from, u), all = dot(u, u);
  return s >= -WITHIN * all && s <= (1 + WITHIN) * all;
}

// m of a corner at x, from all directions; false where the search fails
template <class C>
SARRUS_HD bool about_corner(const EllipsoidAt<C>& e, const Vec3<double>& x, Vec3<double>& m) {
  Vec3<double> n = towards(x - e.A.p, e.A.R.z);
  Sphere::Parameters<double> point{0.0};
  bool done = steepest<Ellipsoid, Sphere>(e.a, e.A, point, Frame<double>{e.A.R, x}, n);
  m = -n;
  return done;
}

SARRUS_END
