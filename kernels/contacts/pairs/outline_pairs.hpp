// Outlines in parallel planes: profiles among each other, cylinders and spheres on profiles. All of it is in
// the plane of a profile. Slots: convex features (corners, arcs) of a against chains of b, then those of b
// against chains of a. What is convex on convex counts for the outline with fewer features; nobody looks at
// the chain of a round disc.
#pragma once

#include "contacts/pairs/nearest_feature.hpp"
#include "contacts/pairs/nearest_in_outline.hpp"
#include "contacts/shapes/cylinder.hpp"
#include "contacts/shapes/sphere.hpp"

SARRUS_BEGIN

constexpr double PARALLEL_AXES = 1e-6;  // sine of the angle between axes that count as parallel
constexpr double DEEP = 1e3;            // skins: what is deeper inside counts, whoever else says so

// A round disc as an outline
template <class R>
SARRUS_HD OutlineFeature<R> whole_circle(R radius) {
  return {R(0), R(0), radius, R(1), R(0), R(1), R(0), WHOLE_CIRCLE};
}

// Which slots of a chain a point is allowed: see slot_of_feature
struct InsideOutline {
  double distance;  // of the nearest place of the whole outline
  double skin;

  // Whether the chain is the one that the point went through
  SARRUS_HD bool admits(double of_chain) const {
    double size = -of_chain;
    return size <= skin || (distance < 0 && size <= 4 * -distance);
  }
};

// Sine by which a sharp corner may be turned away from what stops it: less than this before it touches
constexpr double TURNED = 0.5;
// The same of an element that has only one side of a corner, and of neighbours that are one line
constexpr double ALONG = 1e-9, ONE_LINE = 1e-6;

// A sharp corner f at p in the plane of the profile c; to_feature turns directions of this plane into those
// of the corner's
template <class C, class F, class Into>
struct CornerInOutline {
  const C& c;
  const F& f;
  Flat<double> p;
  double skin;
  const Into& to_feature;

  template <class R>
  SARRUS_HD bool stopped_by(const OutlineElement<R>& e, double beside) const {
    Flat<double> n = from_element(value(e), INSIDE, p).outward, towards = to_feature(-n.x, -n.y);
    return f.is_stopped(towards.x, towards.y, beside);
  }
  // The nearest place on an element that can stop the corner: beside a face that is flush it counts for the
  // one on which it lies. Of one chain, or of all where chain < 0
  SARRUS_HD PlaceInOutline stop(int chain) const {
    PlaceInOutline best;
    for (int k = 0; k < Profile::elements(c); ++k) {
      auto e = Profile::element(c, k);
      bool other = chain >= 0 && e.chain != chain;
      if (other || (e.kind == STRAIGHT ? within_line(e, p) < -skin : place_in(e, p) != INSIDE)) continue;
      double distance = from_element(value(e), INSIDE, p).distance;
      if (abs_(distance) < best.size() && stopped_by(e, TURNED)) best = {k, INSIDE, distance};
    }
    return best;
  }
  // At the end of an element whose neighbour would stop it as well, the corner passes along both.
  SARRUS_HD bool passes(const PlaceInOutline& near) const {
    auto e = Profile::element(c, near.element);
    if (near.place != INSIDE || !stopped_by(e, TURNED)) return true;
    if (e.kind != STRAIGHT || within_line(e, p) > skin || near.distance < -skin) return false;
    Flat<double> at = {p.x - value(e.x0), p.y - value(e.y0)}, u = {value(e.x1 - e.x0), value(e.y1 - e.y0)};
    bool start = 2 * (at.x * u.x + at.y * u.y) < u.x * u.x + u.y * u.y;
    int count = Profile::elements(c);
    auto next = Profile::element(c, (near.element + (start ? count - 1 : 1)) % count);
    Flat<double> n = from_element(value(e), INSIDE, p).outward,
                 m = from_element(value(next), INSIDE, p).outward;
    double turn = (n.x * m.y - n.y * m.x) * (start ? -1 : 1);
    return turn > ONE_LINE && stopped_by(e, ALONG) && stopped_by(next, ALONG);
  }
};

// Where a feature is nearest to a chain
template <class C, class F, class Into>
SARRUS_HD PlaceInOutline place_of_feature(const CornerInOutline<C, F, Into>& corner, int chain) {
  PlaceInOutline near = nearest_in_outline(corner.c, chain, corner.p);
  if (corner.f.span != SHARP_CORNER || near.distance > corner.skin) return near;
  PlaceInOutline stop = corner.stop(chain);
  return stop.distance < FAR_AWAY ? stop : near;
}

// The slot of a feature f, centred on p in the plane of the profile c, at a chain
template <class T, class C, class F, class Into>
SARRUS_HD void slot_of_feature(const C& c, const Frame<T>& X, const F& f, const Flat<T>& p, const T& z,
                               int chain, bool no_convex, Into to_feature, ContactPoint<T>& out) {
  leave_open(out);
  Flat<double> at{value(p.x), value(p.y)};
  double skin = SKIN * (abs_(at.x) + abs_(at.y));
  CornerInOutline<C, F, Into> corner{c, f, at, skin, to_feature};
  PlaceInOutline near = place_of_feature(corner, chain);
  auto e = Profile::element(c, near.element);
  bool at_end = ends_chain(e, near.place), convex = near.place != INSIDE || e.kind == CONVEX_ARC;
  if ((at_end && near.distance > -skin) || (no_convex && convex && near.distance > -DEEP * skin)) return;
  if (near.distance < 0) {
    if (!InsideOutline{place_of_feature(corner, -1).distance, skin}.admits(near.distance)) return;
  }
  FromOutline<T> d = from_element<T>(e, near.place, p);
  Flat<double> towards = to_feature(-value(d.outward.x), -value(d.outward.y));
  if (near.distance >= 0 && !f.faces(towards.x, towards.y)) return;
  Vec3<T> outward = X.R.x * d.outward.x + X.R.y * d.outward.y;
  Vec3<T> centre = X.p + X.R.x * p.x + X.R.y * p.y + X.R.z * z;
  out = touch_at(centre - outward * f.radius, -outward, d.distance - f.radius);
  out.passing = f.span == SHARP_CORNER && corner.passes(near);
}

// Where along the axis of b two extruded outlines have something in common: its middle. a is centred on z.
template <class T>
SARRUS_HD bool in_common(const T& z, real<T> half_a, real<T> half_b, T& middle) {
  bool endless_a = value(half_a) < 0, endless_b = value(half_b) < 0;
  middle = endless_a ? T(real<T>(0)) : z;
  if (endless_a || endless_b) return true;
  T low = value(z - half_a) > value(-half_b) ? z - half_a : T(-half_b);
  T high = value(z + half_a) < value(half_b) ? z + half_a : T(half_b);
  middle = (low + high) * real<T>(0.5);
  return value(high - low) > 0;
}

// All features of one outline at all chains of a profile
template <class T, class Features, class C>
SARRUS_HD void features_at_chains(const Features& features, int count, real<T> half, const Frame<T>& A,
                                  const C& c, const Frame<T>& X, bool no_convex, ContactPoint<T>* out) {
  T middle, z = dot(X.R.z, A.p - X.p);
  bool meet = in_common(z, half, Profile::half(c), middle);
  auto to_feature = [&](double x, double y) -> Flat<double> {
    Vec3<double> d = value(X.R.x) * x + value(X.R.y) * y;
    return {dot(value(A.R.x), d), dot(value(A.R.y), d)};
  };
  for (int k = 0; k < count; ++k) {
    auto f = features(k);
    Vec3<T> r = into(X, A.p + A.R.x * f.cx + A.R.y * f.cy);
    for (int chain = 0; chain < Profile::chains(c); ++chain, ++out) {
      if (meet)
        slot_of_feature(c, X, f, Flat<T>{r.x, r.y}, middle, chain, no_convex, to_feature, *out);
      else
        leave_open(*out);
    }
  }
}

template <class T>
SARRUS_HD bool parallel_axes(const Frame<T>& A, const Frame<T>& B) {
  return norm(cross(value(A.R.z), value(B.R.z))) < PARALLEL_AXES;
}

// No contact points can be given: all slots are open
template <class T>
SARRUS_HD int unresolved(ContactPoint<T>* out, int slots) {
  for (int k = 0; k < slots; ++k) leave_open(out[k]);
  return POINTS_UNRESOLVED;
}

struct TwoProfiles {
  // Whether all of an outline is one circle: then the other one need not look at it
  template <class C>
  static SARRUS_HD bool is_disc(const C& c) {
    return Profile::features(c) == 1 && Profile::feature(c, 0).span == WHOLE_CIRCLE;
  }
  template <class P, class C>
  static SARRUS_HD int slots_of_a(const P& a, const C& b) {
    return is_disc(b) ? 0 : Profile::features(a) * Profile::chains(b);
  }
  template <class P, class C>
  static SARRUS_HD int slots(const P& a, const C& b) {
    bool only_a = is_disc(a) && !is_disc(b);
    return slots_of_a(a, b) + (only_a ? 0 : Profile::features(b) * Profile::chains(a));
  }
  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    int first = slots_of_a(a, b), all = slots(a, b);
    if (!parallel_axes(A, B)) return unresolved(out, all);
    bool a_leads = first > 0 && Profile::features(a) <= Profile::features(b);
    auto of_a = [&](int k) { return Profile::feature(a, k); };
    auto of_b = [&](int k) { return Profile::feature(b, k); };
    if (first > 0) features_at_chains<T>(of_a, Profile::features(a), a.half, A, b, B, !a_leads, out);
    if (all > first) features_at_chains<T>(of_b, Profile::features(b), b.half, B, a, A, a_leads, out + first);
    for (int k = first; k < all; ++k)
      if (in_use(out[k])) exchange(out[k]);
    return POINTS_FOUND;
  }
};

// A disc of a cylinder a whose axis is parallel to that of the profile b
struct CylinderOnProfile {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C& b) {
    return Profile::chains(b);
  }
  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    if (!parallel_axes(A, B)) return unresolved(out, Profile::chains(b));
    auto disc = [&](int) { return whole_circle(a.radius); };
    features_at_chains<T>(disc, 1, a.half, A, b, B, false, out);
    return POINTS_FOUND;
  }
};

// A sphere a on the sides of the profile b, and beyond its ends on its edges
struct SphereOnProfile {
  template <class P, class C>
  static SARRUS_HD int slots(const P&, const C& b) {
    return Profile::chains(b);
  }
  template <class T, class P, class C>
  static SARRUS_FN int points(const P& a, const Frame<T>& A, const C& b, const Frame<T>& B,
                              ContactPoint<T>* out) {
    auto ball = [&](int) { return whole_circle(a.radius); };
    features_at_chains<T>(ball, 1, real<T>(-1), A, b, B, false, out);
    T z = dot(B.R.z, A.p - B.p), end = value(z) < 0 ? T(-b.half) : T(b.half), beyond = z - end;
    bool outside = value(b.half) >= 0 && abs_(value(z)) > value(b.half);
    for (int k = 0; k < Profile::chains(b); ++k)
      if (in_use(out[k])) raise(out[k], a.radius, B, z, outside ? beyond : T(real<T>(0)));
    return POINTS_FOUND;
  }

 private:
  // The slot of the disc in the plane through the middle, for the ball at the height z above it: the edge of
  // the end, or the end itself, where it is `beyond` that
  template <class T>
  static SARRUS_HD void raise(ContactPoint<T>& slot, real<T> radius, const Frame<T>& B, const T& z,
                              const T& beyond) {
    T flat = slot.gap + radius;  // of the centre from the side
    Vec3<T> side = slot.point_b, centre = slot.point_a - slot.normal * radius + B.R.z * z;
    if (!(abs_(value(beyond)) > 0)) {
      slot.point_a = slot.point_a + B.R.z * z, slot.point_b = side + B.R.z * z;
      return;
    }
    Vec3<T> apart = slot.normal * -flat + B.R.z * beyond;  // from the edge to the centre
    if (value(flat) < 0) apart = B.R.z * beyond;
    T size = norm(apart);
    Vec3<T> outward = apart * (real<T>(1) / size);
    slot = touch_at(centre - outward * radius, -outward, size - radius);
  }
};

SARRUS_END
