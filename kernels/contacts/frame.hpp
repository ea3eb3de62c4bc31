// Frames of surfaces, and a contact point: what a pair of surfaces gives.
#pragma once

#include "algebra/spatial.hpp"

SARRUS_BEGIN

template <class T>
struct Frame {
  Mat3<T> R;
  Vec3<T> p;
};

// A point or a direction of the frame outside of it, and back
template <class T>
SARRUS_HD Vec3<T> out_of(const Frame<T>& X, const Vec3<T>& r) {
  return X.p + turn(X.R, r);
}
template <class T>
SARRUS_HD Vec3<T> into(const Frame<T>& X, const Vec3<T>& x) {
  return unturn(X.R, x - X.p);
}

// A frame fixed in another one: R (9, row by row) and p (3) as parameters
template <class T>
SARRUS_HD Frame<T> fixed_in(const Frame<T>& X, const real<T>* R, const real<T>* p) {
  return {compose(X.R, R), X.p + turn(X.R, p)};
}

// Two bodies at one place where they touch or may touch. The gap is negative where they are inside each
// other and infinite where the slot is not used: then nothing else is defined.
template <class T>
struct ContactPoint {
  T gap;
  Vec3<T> normal;            // unit, from a to b
  Vec3<T> point_a, point_b;  // on the surfaces; point_b - point_a = gap normal
  real<T> disc = 0;          // radius of the round face that lies flat there, centred on the point; else 0
  bool passing = false;      // a sharp corner beside an edge or a corner, which it passes and does not hit
};

// Whether the slots of a pair say what there is: POINTS_UNRESOLVED ones do not (a search that did not
// converge, outlines whose axes are not parallel).
enum ContactStatus : int { POINTS_FOUND, POINTS_UNRESOLVED };

constexpr double FAR_AWAY = 1e300;  // finite, so that derivatives of what is not used stay numbers

template <class T>
SARRUS_HD void leave_open(ContactPoint<T>& slot) {
  slot = {T(real<T>(FAR_AWAY)), zero3<T>(), zero3<T>(), zero3<T>()};
}
template <class T>
SARRUS_HD bool in_use(const ContactPoint<T>& slot) {
  return value(slot.gap) < FAR_AWAY;
}

// The slot of a point on a and the gap along the normal
template <class T>
SARRUS_HD ContactPoint<T> touch_at(const Vec3<T>& point_a, const Vec3<T>& normal, const T& gap) {
  return {gap, normal, point_a, point_a + normal * gap};
}

// Seen from b: a and b exchanged
template <class T>
SARRUS_HD void exchange(ContactPoint<T>& slot) {
  slot.normal = -slot.normal;
  swap_(slot.point_a, slot.point_b);
}

template <class T>
SARRUS_HD T norm(const Vec3<T>& x) {
  return sqrt_(dot(x, x));
}

SARRUS_END
