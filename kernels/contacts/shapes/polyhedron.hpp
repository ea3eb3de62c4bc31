// Polyhedron: convex, with flat faces. Behind its parameters lie
//
//   corners (3 each)   planes of faces: outward normal, offset (4 each)
//   edges: two corners, two faces (4 each)
//   where the corners of each face begin in the loops (faces + 1)   loops: corners of the faces, in order
#pragma once

#include "contacts/frame.hpp"
#include "tree/parameters.hpp"

#define SARRUS_POLYHEDRON(V, S) S(corners) S(faces) S(edges)

SARRUS_BEGIN

struct Polyhedron {
  SARRUS_PARAMETERS(SARRUS_POLYHEDRON)
  static constexpr bool rounded_polytope = true;

  template <class R>
  static SARRUS_HD int corners(const Parameters<R>& c) {
    return static_cast<int>(c.corners);
  }
  template <class R>
  static SARRUS_HD Vec3<R> corner(const Parameters<R>& c, int k) {
    const R* x = reinterpret_cast<const R*>(&c + 1) + 3 * k;
    return {x[0], x[1], x[2]};
  }
  template <class R>
  static SARRUS_HD R radius(const Parameters<R>&) {
    return R(0);
  }
};

SARRUS_END
