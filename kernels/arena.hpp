// Workspace without allocation: the caller owns the memory, algorithms carve typed arrays out of it.
// Rows of matrices are padded to a stride that is a compile-time constant for small mechanisms
// (Stride<LD>) and a runtime value otherwise (Stride<0>); padding is zero and stays zero.
#pragma once

#include "platform.hpp"

SARRUS_BEGIN

constexpr int LANES = 8;  // strides are multiples of this, so that inner loops have no remainder

struct Arena {
  char* at;
  unsigned long long used = 0;

  SARRUS_HD explicit Arena(void* memory) : at(static_cast<char*>(memory)) {}

  // Without memory it only measures.
  template <class T>
  SARRUS_HD T* take(int n) {
    used = (used + 63) & ~63ull;
    T* p = at ? reinterpret_cast<T*>(at + used) : nullptr;
    used += sizeof(T) * static_cast<unsigned long long>(n > 0 ? n : 1);
    return p;
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

// Inner loops over one padded row. All of them run over whole rows: entries outside the mathematical
// range are zero, and a constant trip count is worth more than the saved multiplications.
template <class T>
SARRUS_HD void fill(T* SARRUS_RESTRICT x, int n, real<T> s = 0) {
  for (int j = 0; j < n; ++j) x[j] = T(s);
}
template <class T>
SARRUS_HD void copy(T* SARRUS_RESTRICT y, const T* SARRUS_RESTRICT x, int n) {
  for (int j = 0; j < n; ++j) y[j] = x[j];
}
// y += s x
template <class T>
SARRUS_HD void axpy(T* SARRUS_RESTRICT y, const T& s, const T* SARRUS_RESTRICT x, int n) {
  for (int j = 0; j < n; ++j) y[j] += s * x[j];
}
// Sum of products with LANES partial sums: vectorizes without reordering freedom for the compiler, so
// the result does not depend on flags. n is a multiple of LANES.
template <class T>
SARRUS_HD T dot(const T* SARRUS_RESTRICT x, const T* SARRUS_RESTRICT y, int n) {
  T s[LANES];
  for (int l = 0; l < LANES; ++l) s[l] = x[l] * y[l];
  for (int j = LANES; j < n; j += LANES)
    for (int l = 0; l < LANES; ++l) s[l] += x[j + l] * y[j + l];
  return ((s[0] + s[4]) + (s[1] + s[5])) + ((s[2] + s[6]) + (s[3] + s[7]));
}

SARRUS_END
