// Two edges that cross: the shortest way between their lines, where it begins and ends within them.
#pragma once

#include "contacts/frame.hpp"

SARRUS_BEGIN

// Sines of angles between edges, and cosines to the direction of the other body, below which they do not
// cross: where bodies touch they have that direction, and of faces nearly flush the way across two edges
// that are nearly parallel leads anywhere.
constexpr double PARALLEL = 1e-6, ASKEW = 0.9;
// Part of an edge at either end that belongs to its corner.
constexpr double ENDS = 1e-9;

template <class T>
struct Segment {
  Vec3<T> from, to;
};

// Whether the shortest way between two edges lies within both and leads along the unit vector g, roughly
SARRUS_HD bool edges_cross(const Segment<double>& a, const Segment<double>& b, const Vec3<double>& g) {
  Vec3<double> u = a.to - a.from, v = b.to - b.from, w = b.from - a.from, n = cross(u, v);
  double n2 = dot(n, n), u2 = dot(u, u), v2 = dot(v, v);
  if (!(n2 > PARALLEL * PARALLEL * u2 * v2)) return false;
  double s = dot(cross(w, v), n), t = dot(cross(w, u), n);
  double least = ENDS * n2, most = n2 - least;  // at their ends corners touch
  if (s < least || s > most || t < least || t > most) return false;
  double facing = dot(n, g);
  return facing * facing > ASKEW * ASKEW * n2;
}

// The slot of two edges that cross, rounded with radii ra and rb; the normal leads towards g
template <class T>
SARRUS_HD ContactPoint<T> cross_at(const Segment<T>& a, const Segment<T>& b, const Vec3<double>& g,
                                   real<T> ra, real<T> rb) {
  Vec3<T> u = a.to - a.from, v = b.to - b.from, w = b.from - a.from, n = cross(u, v);
  T n2 = dot(n, n), s = dot(cross(w, v), n) / n2;
  bool back = value(n.x) * g.x + value(n.y) * g.y + value(n.z) * g.z < 0;
  n = n * (real<T>(back ? -1 : 1) / sqrt_(n2));
  T gap = dot(n, w) - ra - rb;
  return touch_at(a.from + u * s + n * ra, n, gap);
}

SARRUS_END
