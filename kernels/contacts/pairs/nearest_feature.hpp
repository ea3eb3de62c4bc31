// The corner, edge or face of a polytope that is nearest to a point, and the signed distance from it. Which
// one it is is decided by values; the distance then is smooth in the point.
#pragma once

#include "base/vectors.hpp"
#include "contacts/shapes/rounded.hpp"

SARRUS_BEGIN

// Relative to the sizes of both: places that are nearer coincide.
constexpr double SKIN = 1e-9;

enum FeatureKind : int { OF_CORNER, OF_EDGE, OF_FACE };
struct Feature {
  int kind, index;
};

// How far a point x is out of the face of which it is farthest out
template <class Kind, class C>
SARRUS_HD double farthest_out(const C& c, const Vec3<double>& x) {
  double most = -FAR_AWAY;
  for (int f = 0; f < Kind::faces(c); ++f) {
    auto plane = Kind::plane(c, f);
    most = larger(dot(value(plane.normal), x) - value(plane.offset), most);
  }
  return most;
}

// Of the faces that x is `least` out of, the one that looks most `toward` the other body
template <class Kind, class C>
SARRUS_HD int face_gone_through(const C& c, const Vec3<double>& x, const Vec3<double>& toward, double least) {
  int found = 0;  // also where x is no number
  double most = -FAR_AWAY;
  for (int f = 0; f < Kind::faces(c); ++f) {
    auto plane = Kind::plane(c, f);
    Vec3<double> n = value(plane.normal);
    double look = dot(n, toward);
    if (dot(n, x) - value(plane.offset) >= least && look > most) most = look, found = f;
  }
  return found;
}

// Whether the foot of x on a face lies within it
template <class Kind, class C>
SARRUS_HD bool above_face(const C& c, int face, const Vec3<double>& x) {
  Vec3<double> n = value(Kind::plane(c, face).normal);
  int count = Kind::loop_size(c, face);
  Vec3<double> from = value(Kind::corner(c, Kind::loop_corner(c, face, count - 1)));
  for (int i = 0; i < count; ++i) {
    Vec3<double> to = value(Kind::corner(c, Kind::loop_corner(c, face, i)));
    if (dot(cross(n, to - from), x - from) < 0) return false;
    from = to;
  }
  return true;
}

// The edge or corner nearest to x
template <class Kind, class C>
SARRUS_HD Feature nearest_edge(const C& c, const Vec3<double>& x) {
  Feature found{OF_CORNER, 0};
  double best = FAR_AWAY;
  for (int k = 0; k < Kind::edges(c); ++k) {
    Edge e = Kind::edge(c, k);
    Vec3<double> from = value(Kind::corner(c, e.from)), along = value(Kind::corner(c, e.to)) - from;
    double s = dot(x - from, along) / dot(along, along);
    int kind = s > 0 && s < 1 ? OF_EDGE : OF_CORNER;
    Vec3<double> apart = x - from - along * (s > 0 ? (s < 1 ? s : 1.0) : 0.0);
    double square = dot(apart, apart);
    if (square < best) best = square, found = {kind, kind == OF_EDGE ? k : (s > 0 ? e.to : e.from)};
  }
  return found;
}

// Where the other body lies and how deep both are inside each other; both from what is known of the pair
struct Beyond {
  Vec3<double> toward;
  double deep;  // 0 where they are apart, or where it is not known
  double skin;  // length below which places coincide
};

// A point inside may have come through any face that it is not deeper below than the bodies are inside each
// other: the one counts that looks most towards the other body. So a corner just inside beside a face that
// is flush counts for the face on which it lies.
template <class Kind, class C>
SARRUS_FN Feature nearest_feature(const C& c, const Vec3<double>& x, const Beyond& other) {
  if constexpr (requires { Kind::planes(c); }) {
    double out = farthest_out<Kind>(c, x);
    if (out <= other.skin)
      return {OF_FACE, face_gone_through<Kind>(c, x, other.toward, smaller(out, -other.deep) - other.skin)};
    for (int f = 0; f < Kind::faces(c); ++f) {
      auto plane = Kind::plane(c, f);
      if (dot(value(plane.normal), x) > value(plane.offset) && above_face<Kind>(c, f, x)) return {OF_FACE, f};
    }
  }
  return nearest_edge<Kind>(c, x);
}

// Distance of a point from a feature, and its direction from there, in the world
template <class T>
struct FromFeature {
  T distance;
  Vec3<T> outward;
};

template <class T>
SARRUS_HD FromFeature<T> along_direction(const Vec3<T>& apart, const Vec3<T>& otherwise) {
  T square = dot(apart, apart);
  if (!(value(square) > 0)) return {T(real<T>(0)), otherwise};
  T distance = sqrt_(square);
  return {distance, apart * (real<T>(1) / distance)};
}

// x in the world, the polytope c at X
template <class Kind, class T, class C>
SARRUS_HD FromFeature<T> from_feature(const C& c, const Frame<T>& X, Feature feature, const Vec3<T>& x) {
  Vec3<T> r = into(X, x);
  if constexpr (requires { Kind::planes(c); }) {
    if (feature.kind == OF_FACE) {
      auto plane = Kind::plane(c, feature.index);
      const real<T> n[3] = {plane.normal.x, plane.normal.y, plane.normal.z};
      return {r.x * n[0] + r.y * n[1] + r.z * n[2] - plane.offset, turn(X.R, n)};
    }
  }
  Vec3<real<T>> from =
      Kind::corner(c, feature.kind == OF_EDGE ? Kind::edge(c, feature.index).from : feature.index);
  Vec3<T> apart = {r.x - from.x, r.y - from.y, r.z - from.z};
  if (feature.kind == OF_EDGE) {
    Vec3<real<T>> u = Kind::corner(c, Kind::edge(c, feature.index).to) - from;
    T s = (apart.x * u.x + apart.y * u.y + apart.z * u.z) * (1 / dot(u, u));
    apart = {apart.x - s * u.x, apart.y - s * u.y, apart.z - s * u.z};
  }
  return along_direction(turn(X.R, apart), X.R.z);
}

SARRUS_END
