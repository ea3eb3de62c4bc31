// Numbers as they are in memory, where the same bits are wanted as from operations one by one.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

// x; a product is not contracted with the sum that follows
SARRUS_HD double rounded(double x) {
  asm("" : "+m"(x));
  return x;
}

SARRUS_END
