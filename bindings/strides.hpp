// Strides of matrices: compile-time constants up to 32 coordinates, a runtime value beyond. Fewer of them
// where the size of the code or the time of compiling counts (SARRUS_FEW_SIZES: studios, make dev).
#pragma once

#include "base/arena.hpp"
#include "tree/model.hpp"

SARRUS_BEGIN

template <class F>
auto sized(const Model<double>& m, F call) {
#ifndef SARRUS_FEW_SIZES
  if (m.nv <= 8) return call(Stride<8>(0));
  if (m.nv <= 16) return call(Stride<16>(0));
  if (m.nv <= 32) return call(Stride<32>(0));
#else
  if (m.nv <= 16) return call(Stride<16>(0));
#endif
  return call(Stride<0>(0));
}

SARRUS_END
