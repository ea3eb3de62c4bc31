// The kinds of elements that have rows, once. A kind says in its own header
//
//   its parameters      names and widths, p_a and p_b first: the points A on node a and B on node b
//   rows(c, pair, out)  out[k] = phi, W and W' of row k (constraints/row.hpp)
//   latch(c, pair, to)  sets the parameters `to` for which phi = 0 at this pose; or cannot_latch = true
//   moved(c, to), longer(c, to)  optional, for latches in lanes: how frame A has moved, or how much has been
//                       added to what the first row subtracts
//   slopes(...)         optional, in closed form; without it they come from rows() by dual numbers
//   drive(c), entry(c), column(c)  optional: a drive, and the places in q and in v of a coordinate that
//                       moves neither body; both are subtracted from the first row; -1: none
//
// All else is read from that: J, gamma, derivatives, reactions, sparsity. A new kind is one header and one
// entry here.
#pragma once

#include "constraints/closure.hpp"
#include "constraints/distance.hpp"
#include "constraints/moving_distance.hpp"
#include "constraints/point_on_cylinder.hpp"
#include "constraints/rolling.hpp"

#define SARRUS_ELEMENT_KINDS(X) X(Closure) X(Distance) X(PointOnCylinder) X(Rolling) X(MovingDistance)

SARRUS_BEGIN

struct ElementKind {
#define SARRUS_ENUMERATE(Kind) Kind,
  enum : int { SARRUS_ELEMENT_KINDS(SARRUS_ENUMERATE) };
#undef SARRUS_ENUMERATE
};

// use(kind, parameters) with those of element i
template <class R, class F>
SARRUS_HD void with_element(const Model<R>& m, int i, F use) {
  switch (m.el_kind[i]) {
#define SARRUS_CASE(Kind)                                                   \
  case ElementKind::Kind:                                                   \
    if constexpr ((USED_KINDS.elements >> ElementKind::Kind & 1) != 0)      \
      return use(Kind{}, parameters_at<Kind>(m.el_values + m.el_begin[i])); \
    break;
    SARRUS_ELEMENT_KINDS(SARRUS_CASE)
#undef SARRUS_CASE
  }
}

SARRUS_END
