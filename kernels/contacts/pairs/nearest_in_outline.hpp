// The place of an outline that is nearest to a point of its plane, chain by chain, and the signed distance
// from it. Which element it is is decided by values; the distance then is smooth in the point.
#pragma once

#include "base/vectors.hpp"
#include "contacts/shapes/profile.hpp"

SARRUS_BEGIN

enum PlaceInElement : int { INSIDE, AT_START, AT_END };

struct PlaceInOutline {
  int element = 0, place = INSIDE;  // also where p is no number
  double distance = FAR_AWAY;       // negative inside the material

  SARRUS_HD double size() const { return abs_(distance); }
};

// A point of the plane, and its distance from a place of an outline with the direction from there
template <class T>
struct Flat {
  T x, y;
};
template <class T>
struct FromOutline {
  T distance;
  Flat<T> outward;
};

template <class T>
SARRUS_HD FromOutline<T> from_point(const Flat<T>& p, const T& x, const T& y, double sign, const T& radius) {
  T dx = p.x - x, dy = p.y - y, square = dx * dx + dy * dy;
  if (!(value(square) > 0)) return {-radius, {T(real<T>(1)), T(real<T>(0))}};
  T size = sqrt_(square), by = real<T>(sign) / size;
  return {(size - radius) * real<T>(sign), {dx * by, dy * by}};
}

// Whether a place is an end of a chain. A point that is nearest to a concave corner is inside the material;
// one that is nearest to the middle of a concave arc is nearer to the other half of it.
template <class R>
SARRUS_HD bool ends_chain(const OutlineElement<R>& e, int place) {
  return (place == AT_START && e.begins) || (place == AT_END && e.ends);
}

// Signed distance of a point from the line or circle of an element, or from its start or end
template <class T, class R>
SARRUS_HD FromOutline<T> from_element(const OutlineElement<R>& e, int place, const Flat<T>& p) {
  if (place != INSIDE)
    return from_point(p, T(place == AT_START ? e.x0 : e.x1), T(place == AT_START ? e.y0 : e.y1),
                      ends_chain(e, place) ? -1 : 1, T(R(0)));
  if (e.kind != STRAIGHT) return from_point(p, T(e.cx), T(e.cy), e.kind == CONVEX_ARC ? 1 : -1, T(e.radius));
  R ux = e.x1 - e.x0, uy = e.y1 - e.y0, by = R(1) / sqrt_(ux * ux + uy * uy);
  R nx = uy * by, ny = -ux * by;
  return {(p.x - e.x0) * nx + (p.y - e.y0) * ny, {T(nx), T(ny)}};
}

// Whether the foot of a point lies within an element, before or behind it
template <class R>
SARRUS_HD int place_in(const OutlineElement<R>& e, const Flat<double>& p) {
  double x0 = value(e.x0), y0 = value(e.y0), x1 = value(e.x1), y1 = value(e.y1);
  if (e.kind == STRAIGHT) {
    double ux = x1 - x0, uy = y1 - y0, s = (p.x - x0) * ux + (p.y - y0) * uy;
    return s < 0 ? AT_START : s > ux * ux + uy * uy ? AT_END : INSIDE;
  }
  double cx = value(e.cx), cy = value(e.cy), turn = e.kind == CONVEX_ARC ? 1 : -1, dx = p.x - cx,
         dy = p.y - cy;
  double after = turn * ((x0 - cx) * dy - (y0 - cy) * dx), before = turn * (dx * (y1 - cy) - dy * (x1 - cx));
  bool half = turn * ((x0 - cx) * (y1 - cy) - (y0 - cy) * (x1 - cx)) >= 0;
  if (half ? after >= 0 && before >= 0 : after >= 0 || before >= 0) return INSIDE;
  double to_start = (p.x - x0) * (p.x - x0) + (p.y - y0) * (p.y - y0);
  double to_end = (p.x - x1) * (p.x - x1) + (p.y - y1) * (p.y - y1);
  return to_start < to_end ? AT_START : AT_END;
}

// How far the foot of a point is beyond the start of a straight element, or before its end: the least
template <class R>
SARRUS_HD double within_line(const OutlineElement<R>& e, const Flat<double>& p) {
  double x0 = value(e.x0), y0 = value(e.y0), ux = value(e.x1) - x0, uy = value(e.y1) - y0;
  double size = sqrt_(ux * ux + uy * uy), s = ((p.x - x0) * ux + (p.y - y0) * uy) / size;
  return smaller(s, size - s);
}

// Of one chain, or of all where chain < 0. Where a concave arc is cut, both halves are as near as the end of
// the other: the end, whose sign is that of the material, counts as a little farther.
constexpr double END_IS_FARTHER = 1 + 1e-9;
template <class C>
SARRUS_HD PlaceInOutline nearest_in_outline(const C& c, int chain, const Flat<double>& p) {
  PlaceInOutline best;
  double nearest = FAR_AWAY;
  for (int k = 0; k < Profile::elements(c); ++k) {
    auto e = Profile::element(c, k);
    if (chain >= 0 && e.chain != chain) continue;
    int place = place_in(e, p);
    double distance = from_element(value(e), place, p).distance;
    double farther = ends_chain(e, place) ? END_IS_FARTHER : 1;
    if (farther * abs_(distance) < nearest) best = {k, place, distance}, nearest = farther * abs_(distance);
  }
  return best;
}

SARRUS_END
