// Workspace without allocation: the caller owns the memory, algorithms carve typed arrays out of it.
// Rows of matrices are padded to a stride that is a compile-time constant for small mechanisms
// (Stride<LD>) and a runtime value otherwise (Stride<0>); padding is zero and stays zero.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

struct Arena {
  char* at;
  unsigned long long used = 0;

  SARRUS_HD explicit Arena(void* memory) : at(static_cast<char*>(memory)) {}

  // Room for n entries of each array. Without memory it only measures.
  template <class... T>
  SARRUS_HD void take(int n, T*&... arrays) {
    (take_one(n, arrays), ...);
  }
  template <class T>
  SARRUS_HD void take_one(int n, T*& array) {
    used = (used + 63) & ~63ull;
    array = at ? reinterpret_cast<T*>(at + used) : nullptr;
    used += sizeof(T) * static_cast<unsigned long long>(n > 0 ? n : 1);
  }
};

template <int LD>
struct Stride {
  static constexpr int width = LD;
  SARRUS_HD explicit Stride(int) {}
  SARRUS_HD constexpr operator int() const { return LD; }
};
template <>
struct Stride<0> {
  static constexpr int width = 0;
  int ld;
  SARRUS_HD explicit Stride(int n) : ld((n + LANES - 1) / LANES * LANES) {
    if (ld == 0) ld = LANES;
  }
  SARRUS_HD operator int() const { return ld; }
};

// Whether mechanisms with this stride may be large enough for structure to matter.
template <class LD>
struct Large {
  static constexpr bool value = false;
};
template <>
struct Large<Stride<32>> {
  static constexpr bool value = true;
};
template <>
struct Large<Stride<0>> {
  static constexpr bool value = true;
};

SARRUS_END
