// HalfSpace: all that is below the plane z = 0 of its frame.
#pragma once

#include "contacts/frame.hpp"
#include "tree/parameters.hpp"

#define SARRUS_HALF_SPACE(V, S) S(depth) /* not read; every kind has a parameter */

SARRUS_BEGIN

struct HalfSpace {
  SARRUS_PARAMETERS(SARRUS_HALF_SPACE)
};

SARRUS_END
