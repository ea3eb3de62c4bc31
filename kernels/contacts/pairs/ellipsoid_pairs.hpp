// Ellipsoids a on polyhedra, capsules and cylinders b: one point, since an ellipsoid is round everywhere.
#pragma once

#include "contacts/pairs/ellipsoid_search.hpp"
#include "contacts/shapes/capsule.hpp"
#include "contacts/shapes/cylinder.hpp"
#include "contacts/shapes/polyhedron.hpp"

SARRUS_BEGIN

// The slot for a plane with the outward normal m (world) through x
template <class T, class P>
SARRUS_HD ContactPoint<T> ellipsoid_on_plane(const P& a, const Frame<T>& A, const Vec3<T>& m,
                                             const Vec3<T>& x) {
  Support<T> at = support_of(Ellipsoid(), a, A.R, m);
  return touch_at(A.p - at.point, -m, dot(m, A.p - x) - at.h);
}

// The slot for a line through x along u, rounded: Newton's steps about the line, with the caller's numbers
template <class T, class P>
SARRUS_HD ContactPoint<T> ellipsoid_on_line(const P& a, const Frame<T>& A, const Vec3<double>& found,
                                            const Vec3<T>& x, const Vec3<T>& along, real<T> radius) {
  using R = real<T>;
  Vec3<T> u = unit(along), m = {T(R(found.x)), T(R(found.y)), T(R(found.z))}, from_x = A.p - x;
  m = unit(m - u * dot(u, m));
  for (int k = 0; k < 2; ++k) {
    Vec3<T> t = cross(u, m);
    AlongCircle<T> now = along_circle(a, A.R, from_x, m, t);
    m = unit(m + t * (now.slope / now.bend));
  }
  Support<T> at = support_of(Ellipsoid(), a, A.R, m);
  return touch_at(A.p - at.point, -m, dot(m, from_x) - at.h - radius);
}

template <class T, class P>
SARRUS_HD ContactPoint<T> ellipsoid_on_corner(const P& a, const Frame<T>& A, const Vec3<double>& m,
                                              const Frame<T>& corner, real<T> radius) {
  Sphere::Parameters<real<T>> ball{radius};
  return slot_along<Ellipsoid, Sphere>(a, A, ball, corner, -m);
}

// On a capsule, or the corners and edges of a polyhedron
template <class Kind, class P, class C>
struct RoundedUnderEllipsoid {
  const EllipsoidAt<P> e;
  const C& c;
  Frame<double> X;

  SARRUS_HD Vec3<double> corner(int k) const { return out_of(X, value(Kind::corner(c, k))); }
  SARRUS_HD Segment<double> edge(int k) const {
    Edge one = Kind::edge(c, k);
    return {corner(one.from), corner(one.to)};
  }
  SARRUS_HD Vec3<double> normal(int f) const { return turn(X.R, value(Kind::plane(c, f).normal)); }

  SARRUS_HD EllipsoidFound search() const {
    EllipsoidFound best;
    if constexpr (requires { Kind::planes(c); })
      for (int f = 0; f < Kind::faces(c); ++f) try_face(f, best);
    for (int k = 0; k < Kind::edges(c); ++k) try_edge(k, best);
    // where bodies are apart nothing else is as near; inside each other, only corners inside it can be
    bool meet = best.place != ON_NOTHING && inside_each_other(best);
    for (int k = 0; k < Kind::corners(c) && !(best.s >= 0); ++k)
      if (!meet || e.holds(corner(k))) try_corner(k, best);
    if (best.place == ON_NOTHING) try_line(best);
    return best;
  }

 private:
  // Whether the lowest point found is inside of c
  SARRUS_HD bool inside_each_other(const EllipsoidFound& found) const {
    if constexpr (requires { Kind::planes(c); })
      return farthest_out<Kind>(c, into(X, e.lowest(found.m))) <= WITHIN * e.size();
    return false;
  }
  SARRUS_HD void try_face(int f, EllipsoidFound& best) const {
    Vec3<double> m = normal(f), r = into(X, e.lowest(m));
    if (above_face<Kind>(c, f, r))
      best.offer(ON_FACE, f, m, dot(value(Kind::plane(c, f).normal), r) - value(Kind::plane(c, f).offset));
  }
  SARRUS_HD void try_edge(int k, EllipsoidFound& best) const {
    Segment<double> side = edge(k);
    Vec3<double> m;
    if constexpr (requires { Kind::planes(c); }) {
      if (!between_faces(k, side.from, m)) return;
    } else {
      m = around_line(e, side.from, unit(side.to - side.from));
    }
    if (within_edge(side, e.lowest(m))) best.offer(ON_EDGE, k, m, e.s(side.from, m));
  }
  // Across a capsule that is in the middle of the ellipsoid there may be nothing: then its line counts.
  SARRUS_HD void try_line(EllipsoidFound& best) const {
    if constexpr (!requires { Kind::planes(c); }) {
      Segment<double> side = edge(0);
      Vec3<double> m = around_line(e, side.from, unit(side.to - side.from));
      best.offer(ON_EDGE, 0, m, e.s(side.from, m));
    }
  }
  // The best m between the normals of the faces of an edge, where s rises from both into the arc
  SARRUS_HD bool between_faces(int k, const Vec3<double>& x, Vec3<double>& m) const {
    Edge one = Kind::edge(c, k);
    Vec3<double> p = normal(one.left), r = normal(one.right);
    double along = dot(p, r);
    Vec3<double> q = unit(r - p * along), back = unit(p - r * along);
    double least = -WITHIN * e.size();
    if (dot(q, e.lowest(p) - x) < least || dot(back, e.lowest(r) - x) < least) return false;
    m = e.on_arc(x, p, q, 0, atan2_(norm(cross(p, r)), along));
    return true;
  }
  SARRUS_HD void try_corner(int k, EllipsoidFound& best) const {
    Vec3<double> m, x = corner(k);
    if (!about_corner(e, x, m)) return;
    for (int i = 0; i < Kind::edges(c); ++i) {
      Edge one = Kind::edge(c, i);
      if (one.from != k && one.to != k) continue;
      Vec3<double> u = corner(one.from == k ? one.to : one.from) - x;
      if (dot(m, u) > WITHIN * norm(u)) return;
    }
    best.offer(ON_CORNER, k, m, e.s(x, m));
  }
};

template <class Kind>
struct EllipsoidOnRounded {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C&) {
    return 1;
  }
  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    EllipsoidFound found = RoundedUnderEllipsoid<Kind, P, C>{{a, value(A)}, b, value(B)}.search();
    leave_open(out[0]);
    if (found.place == ON_FACE) {
      if constexpr (requires { Kind::planes(b); }) {
        auto plane = Kind::plane(b, found.index);
        const real<T> n[3] = {plane.normal.x, plane.normal.y, plane.normal.z};
        Vec3<T> m = turn(B.R, n);
        out[0] = ellipsoid_on_plane(a, A, m, B.p + m * plane.offset);
      }
    } else if (found.place == ON_EDGE) {
      Edge one = Kind::edge(b, found.index);
      Vec3<T> from = placed_corner<Kind>(b, one.from, B), along = placed_corner<Kind>(b, one.to, B) - from;
      out[0] = ellipsoid_on_line(a, A, found.m, from, along, Kind::radius(b));
    } else if (found.place == ON_CORNER) {
      Frame<T> corner = {B.R, placed_corner<Kind>(b, found.index, B)};
      out[0] = ellipsoid_on_corner(a, A, found.m, corner, Kind::radius(b));
    }
    return found.place == ON_NOTHING ? POINTS_UNRESOLVED : POINTS_FOUND;
  }
};

// On a cylinder: its ends, its side and its rims
struct EllipsoidOnCylinder {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C&) {
    return 1;
  }
  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    EllipsoidFound found = search(EllipsoidAt<P>{a, value(A)}, value(b.radius), value(b.half), value(B));
    leave_open(out[0]);
    real<T> up = found.index == 0 ? real<T>(-1) : real<T>(1);
    Vec3<T> end = B.p + B.R.z * (b.half * up);
    if (found.place == ON_FACE) {
      out[0] = ellipsoid_on_plane(a, A, B.R.z * up, end);
    } else if (found.place == ON_EDGE) {
      out[0] = ellipsoid_on_line(a, A, found.m, B.p, B.R.z, b.radius);
    } else if (found.place == ON_RIM) {
      Rim::Parameters<real<T>> rim{b.radius};
      out[0] = slot_along<Ellipsoid, Rim>(a, A, rim, Frame<T>{B.R, end}, -found.m);
    }
    return found.place == ON_NOTHING ? POINTS_UNRESOLVED : POINTS_FOUND;
  }

 private:
  template <class P>
  static SARRUS_HD EllipsoidFound search(const EllipsoidAt<P>& e, double radius, double half,
                                         const Frame<double>& B) {
    EllipsoidFound best;
    Segment<double> axis = {B.p - B.R.z * half, B.p + B.R.z * half};
    Vec3<double> m = around_line(e, B.p, B.R.z);
    if (within_edge(axis, e.lowest(m))) best.offer(ON_EDGE, 0, m, e.s(B.p, m) - radius);
    for (int k = 0; k < 2; ++k) {
      Frame<double> end = {B.R, k == 0 ? axis.from : axis.to};
      Vec3<double> out = k == 0 ? -B.R.z : B.R.z, r = e.lowest(out) - end.p;
      double height = dot(out, r), square = dot(r, r) - height * height;
      bool inside = square <= radius * radius * (1 + WITHIN);
      if (inside) best.offer(ON_FACE, k, out, height);
      if (!inside && !(best.s >= 0)) try_rim(e, k, end, out, radius, r - out * height, best);
    }
    return best;
  }
  // beyond: where the lowest point of the ellipsoid is, across the axis. From the point of the rim on this
  // side, or, where the way leads nearly along the axis, from there
  template <class P>
  static SARRUS_HD void try_rim(const EllipsoidAt<P>& e, int k, const Frame<double>& end,
                                const Vec3<double>& out, double radius, const Vec3<double>& beyond,
                                EllipsoidFound& best) {
    Rim::Parameters<double> rim{radius};
    Vec3<double> flat = e.A.p - end.p;
    flat = towards(flat - out * dot(flat, out), end.R.x) * radius;
    double far = norm(beyond), tilt = (far - radius) / (far + e.size());
    const Vec3<double> starts[2] = {end.p + flat - e.A.p, -out - towards(beyond, end.R.x) * tilt};
    for (Vec3<double> n : starts) {
      n = towards(n, end.R.x);
      if (!steepest<Ellipsoid, Rim>(e.a, e.A, rim, end, n) || dot(n, out) > WITHIN) continue;
      best.offer(ON_RIM, k, -n, ascend<Ellipsoid, Rim>(e.a, e.A, rim, end, n).s);
      return;
    }
  }
};

SARRUS_END
