// Cylinder: along z, `half` above and below the origin.
#pragma once

#include "contacts/frame.hpp"
#include "tree/parameters.hpp"

#define SARRUS_CYLINDER(V, S) S(radius) S(half)

SARRUS_BEGIN

struct Cylinder {
  SARRUS_PARAMETERS(SARRUS_CYLINDER)
};

SARRUS_END
