// Which pairs are near: by what lies around each surface (a ball, the half space itself, a cylinder without
// end), before any of their points is computed. [Ericson2005] 4.3
#pragma once

#include "base/vectors.hpp"
#include "contacts/contact_points.hpp"

SARRUS_BEGIN

enum Around : int { BALL, BELOW_PLANE, ALONG_AXIS };

// Around a surface, in the world
template <class T>
struct Surroundings {
  Vec3<T> centre, axis;  // outward normal of a half space, axis of a profile without end
  T radius;
  int kind;
};

// around (ns)   in: t, placed
template <class T>
SARRUS_FN void surround(const Model<real<T>>& m, const Tree<T>& t, Surroundings<T>* around) {
  for (int s = 0; s < m.ns; ++s) {
    Frame<T> node = node_frame(t, m.sf_node[s]), X = surface_frame(m, s, node);
    real<T> radius = m.sf_ball[4 * s + 3];
    int kind = radius >= 0 ? BALL : m.sf_kind[s] == ShapeKind::HalfSpace ? BELOW_PLANE : ALONG_AXIS;
    Vec3<T> ball = node.p + turn(node.R, m.sf_ball + 4 * s);
    around[s] = {kind == BELOW_PLANE ? X.p : ball, X.R.z, T(radius < 0 ? -radius : radius), kind};
  }
}

// No gap of two surfaces is smaller. Half spaces, and profiles without end, among each other: 0 at most.
template <class T>
SARRUS_HD T apart(const Surroundings<T>& a, const Surroundings<T>& b) {
  Vec3<T> d = b.centre - a.centre;
  if (a.kind == BALL && b.kind == BALL) return norm(d) - a.radius - b.radius;
  if (a.kind == BELOW_PLANE) return b.kind == BALL ? dot(a.axis, d) - b.radius : T(-FAR_AWAY);
  if (b.kind == BELOW_PLANE) return a.kind == BALL ? -dot(b.axis, d) - a.radius : T(-FAR_AWAY);
  Vec3<T> axis = a.kind == ALONG_AXIS ? a.axis : b.axis;
  return norm(cross(axis, d)) - a.radius - b.radius;  // two axes without end are parallel, or not resolved
}

// Numbers of the pairs whose gaps may be at most `reach`; returns how many   near (npair)   in: around (ns)
template <class T>
SARRUS_FN int near_pairs(const Model<real<T>>& m, const Surroundings<T>* around, real<T> reach, int* near) {
  int count = 0;
  for (int p = 0; p < m.npair; ++p) {
    const Surroundings<T>&a = around[m.pair_a[p]], &b = around[m.pair_b[p]];
    bool far;
    if (a.kind == BALL && b.kind == BALL) {
      Vec3<T> d = b.centre - a.centre;
      T within = a.radius + b.radius + reach;
      far = dot(d, d) > within * within;
    } else {
      far = apart(a, b) > reach;
    }
    near[count] = p;
    count += far ? 0 : 1;
  }
  return count;
}

SARRUS_END
