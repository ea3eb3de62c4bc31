// Profile: an outline of lines and arcs in the plane z = 0, counterclockwise, extruded `half` to either side
// (negative: without end). Behind its parameters lie
//
//   elements (11 each): kind, chain, start and end (2 each), centre (2) and radius of an arc, whether the
//                       chain begins there, whether it ends there
//   features (8 each):  what is convex: centre (2), radius (0 of a corner), directions in which it begins and
//                       ends (2 each), span
//
// A chain is a part of the outline between places where a round thing can touch twice: concave corners, and
// the middles of concave arcs of a quarter turn or more.
#pragma once

#include "contacts/shapes/rounded.hpp"
#include "tree/parameters.hpp"

#define SARRUS_PROFILE(V, S) S(half) S(elements) S(features) S(chains)

SARRUS_BEGIN

constexpr double NO_ANGLE = 1e-9;  // of a corner without an angle, whose directions are opposite

enum ElementOfOutline : int { STRAIGHT, CONVEX_ARC, CONCAVE_ARC };
enum ArcSpan : int { SHARP_CORNER, UP_TO_HALF, BEYOND_HALF, WHOLE_CIRCLE };

template <class R>
struct OutlineElement {
  int kind, chain;
  R x0, y0, x1, y1, cx, cy, radius;
  bool begins, ends;
};

template <class R>
SARRUS_HD OutlineElement<double> value(const OutlineElement<R>& e) {
  return {e.kind,      e.chain,     value(e.x0),     value(e.y0), value(e.x1), value(e.y1),
          value(e.cx), value(e.cy), value(e.radius), e.begins,    e.ends};
}

template <class R>
struct OutlineFeature {
  R cx, cy, radius;
  R ax, ay, bx, by;
  int span;

  // Whether a direction of the plane leads out of it
  SARRUS_HD bool faces(double x, double y) const {
    double after = value(ax) * y - value(ay) * x, before = x * value(by) - y * value(bx);
    return span == SHARP_CORNER || span == WHOLE_CIRCLE ||
           (span == UP_TO_HALF ? after >= 0 && before >= 0 : after >= 0 || before >= 0);
  }
  // Whether what looks against a direction can stop a sharp corner: the direction is between the normals of
  // its sides, or less than the sine `beside` away
  SARRUS_HD bool is_stopped(double x, double y, double beside) const {
    double after = value(ax) * y - value(ay) * x, before = x * value(by) - y * value(bx);
    double along = x * (value(ax) + value(bx)) + y * (value(ay) + value(by));
    return along > -NO_ANGLE && after >= -beside && before >= -beside;
  }
};

struct Profile {
  SARRUS_PARAMETERS(SARRUS_PROFILE)
  static constexpr int OF_ELEMENT = 11, OF_FEATURE = 8;

  template <class R>
  static SARRUS_HD int elements(const Parameters<R>& c) {
    return static_cast<int>(c.elements);
  }
  template <class R>
  static SARRUS_HD int features(const Parameters<R>& c) {
    return static_cast<int>(c.features);
  }
  template <class R>
  static SARRUS_HD int chains(const Parameters<R>& c) {
    return static_cast<int>(c.chains);
  }
  template <class R>
  static SARRUS_HD R half(const Parameters<R>& c) {
    return c.half;
  }
  template <class R>
  static SARRUS_HD OutlineElement<R> element(const Parameters<R>& c, int k) {
    const R* e = reinterpret_cast<const R*>(&c + 1) + OF_ELEMENT * k;
    return {
        static_cast<int>(e[0]),      static_cast<int>(e[1]),      e[2], e[3], e[4], e[5], e[6], e[7], e[8],
        static_cast<int>(e[9]) != 0, static_cast<int>(e[10]) != 0};
  }
  template <class R>
  static SARRUS_HD OutlineFeature<R> feature(const Parameters<R>& c, int k) {
    const R* f = reinterpret_cast<const R*>(&c + 1) + OF_ELEMENT * elements(c) + OF_FEATURE * k;
    return {f[0], f[1], f[2], f[3], f[4], f[5], f[6], static_cast<int>(f[7])};
  }
};

SARRUS_END
