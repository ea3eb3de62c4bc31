// Ellipsoid: radii along x, y, z.
#pragma once

#include "contacts/frame.hpp"
#include "tree/parameters.hpp"

#define SARRUS_ELLIPSOID(V, S) V(radii, 3)

SARRUS_BEGIN

struct Ellipsoid {
  SARRUS_PARAMETERS(SARRUS_ELLIPSOID)
};

SARRUS_END
