// The kinds of shapes of surfaces, once. A kind says in its own header its parameters (names and widths) in
// its own frame, and what pairs (contacts/pairs) ask of it:
//
//   corners, edges, faces and radius of a rounded polytope (contacts/shapes/rounded.hpp)
//
// A new kind is one header and one entry here, and its pairs in contacts/pairs/kinds.hpp.
#pragma once

#include "contacts/shapes/capsule.hpp"
#include "contacts/shapes/cylinder.hpp"
#include "contacts/shapes/ellipsoid.hpp"
#include "contacts/shapes/half_space.hpp"
#include "contacts/shapes/polyhedron.hpp"
#include "contacts/shapes/profile.hpp"
#include "contacts/shapes/sphere.hpp"

#define SARRUS_SHAPE_KINDS(X) \
  X(HalfSpace) X(Sphere) X(Capsule) X(Polyhedron) X(Cylinder) X(Ellipsoid) X(Profile)

SARRUS_BEGIN

struct ShapeKind {
#define SARRUS_ENUMERATE(Kind) Kind,
  enum : int { SARRUS_SHAPE_KINDS(SARRUS_ENUMERATE) };
#undef SARRUS_ENUMERATE
};

// use(kind, parameters) with those of a shape of this kind that begin at `values`
template <class R, class F>
SARRUS_HD void with_shape(int kind, const R* values, F use) {
  switch (kind) {
#define SARRUS_CASE(Kind) \
  case ShapeKind::Kind:   \
    return use(Kind{}, parameters_at<Kind>(values));
    SARRUS_SHAPE_KINDS(SARRUS_CASE)
#undef SARRUS_CASE
  }
}

SARRUS_END
