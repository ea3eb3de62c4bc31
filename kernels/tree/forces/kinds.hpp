// The kinds of forces, once: those between two nodes have load(parameters, pair) -> wrench on b and energy,
// those on one coordinate resistance(parameters, q, v) and energy(parameters, q). Derivatives come from the
// same functions by dual numbers. A new kind is one header and one entry here.
#pragma once

#include "tree/forces/bearing_friction.hpp"
#include "tree/forces/bushing.hpp"
#include "tree/forces/constant_wrench.hpp"
#include "tree/forces/coulomb_friction.hpp"
#include "tree/forces/joint_spring.hpp"
#include "tree/forces/joint_stop.hpp"
#include "tree/forces/point_spring.hpp"
#include "tree/forces/tables.hpp"

#define SARRUS_FORCE_KINDS(X) X(PointSpring) X(ConstantWrench) X(PointTable) X(Bushing)
#define SARRUS_COORDINATE_FORCE_KINDS(X) \
  X(JointSpring) X(JointStop) X(CoulombFriction) X(CoordinateTable) X(BearingFriction)

SARRUS_BEGIN

#define SARRUS_ENUMERATE(Kind) Kind,
struct ForceKind {
  enum : int { SARRUS_FORCE_KINDS(SARRUS_ENUMERATE) };
};
struct CoordinateForceKind {
  enum : int { SARRUS_COORDINATE_FORCE_KINDS(SARRUS_ENUMERATE) };
};
#undef SARRUS_ENUMERATE

// use(kind, parameters) with those of force i between two nodes, or on a coordinate
template <class R, class F>
SARRUS_HD void with_force(const Model<R>& m, int i, F use) {
  switch (m.fo_kind[i]) {
#define SARRUS_CASE(Kind)                                                   \
  case ForceKind::Kind:                                                     \
    if constexpr ((USED_KINDS.forces >> ForceKind::Kind & 1) != 0)          \
      return use(Kind{}, parameters_at<Kind>(m.fo_values + m.fo_begin[i])); \
    break;
    SARRUS_FORCE_KINDS(SARRUS_CASE)
#undef SARRUS_CASE
  }
}
template <class R, class F>
SARRUS_HD void with_coordinate_force(const Model<R>& m, int i, F use) {
  switch (m.cf_kind[i]) {
#define SARRUS_CASE(Kind)                                                               \
  case CoordinateForceKind::Kind:                                                       \
    if constexpr ((USED_KINDS.coordinate_forces >> CoordinateForceKind::Kind & 1) != 0) \
      return use(Kind{}, parameters_at<Kind>(m.cf_values + m.cf_begin[i]));             \
    break;
    SARRUS_COORDINATE_FORCE_KINDS(SARRUS_CASE)
#undef SARRUS_CASE
  }
}

SARRUS_END
