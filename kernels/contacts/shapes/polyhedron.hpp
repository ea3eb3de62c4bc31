// Polyhedron: convex, with flat faces. Behind its parameters lie
//
//   corners (3 each)   planes of faces: outward normal, offset (4 each)
//   edges: two corners, two faces (4 each)
//   where the corners of each face begin in the loops (faces + 1)   loops: corners of the faces, in order
#pragma once

#include "contacts/shapes/rounded.hpp"
#include "tree/parameters.hpp"

#define SARRUS_POLYHEDRON(V, S) S(corners) S(faces) S(edges)

SARRUS_BEGIN

struct Polyhedron {
  SARRUS_PARAMETERS(SARRUS_POLYHEDRON)

  template <class R>
  static SARRUS_HD const R* data(const Parameters<R>& c) {
    return reinterpret_cast<const R*>(&c + 1);
  }
  template <class R>
  static SARRUS_HD const R* planes(const Parameters<R>& c) {
    return data(c) + 3 * corners(c);
  }
  template <class R>
  static SARRUS_HD const R* sides(const Parameters<R>& c) {
    return planes(c) + 4 * faces(c);
  }
  template <class R>
  static SARRUS_HD const R* loops(const Parameters<R>& c) {
    return sides(c) + 4 * edges(c);
  }

  template <class R>
  static SARRUS_HD int corners(const Parameters<R>& c) {
    return static_cast<int>(c.corners);
  }
  template <class R>
  static SARRUS_HD int edges(const Parameters<R>& c) {
    return static_cast<int>(c.edges);
  }
  template <class R>
  static SARRUS_HD int faces(const Parameters<R>& c) {
    return static_cast<int>(c.faces);
  }
  template <class R>
  static SARRUS_HD Vec3<R> corner(const Parameters<R>& c, int k) {
    const R* x = data(c) + 3 * k;
    return {x[0], x[1], x[2]};
  }
  template <class R>
  static SARRUS_HD Plane<R> plane(const Parameters<R>& c, int k) {
    const R* x = planes(c) + 4 * k;
    return {{x[0], x[1], x[2]}, x[3]};
  }
  template <class R>
  static SARRUS_HD Edge edge(const Parameters<R>& c, int k) {
    const R* x = sides(c) + 4 * k;
    return {static_cast<int>(x[0]), static_cast<int>(x[1]), static_cast<int>(x[2]), static_cast<int>(x[3])};
  }
  // Corner i of a face, and their number
  template <class R>
  static SARRUS_HD int loop_size(const Parameters<R>& c, int face) {
    const R* begin = loops(c) + face;
    return static_cast<int>(begin[1]) - static_cast<int>(begin[0]);
  }
  template <class R>
  static SARRUS_HD int loop_corner(const Parameters<R>& c, int face, int i) {
    const R* begin = loops(c);
    return static_cast<int>(begin[faces(c) + 1 + static_cast<int>(begin[face]) + i]);
  }
  template <class R>
  static SARRUS_HD R radius(const Parameters<R>&) {
    return R(0);
  }
};

template <>
struct Rounded<Polyhedron> {
  static constexpr bool value = true;
};

SARRUS_END
