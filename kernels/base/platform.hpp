// Everything that depends on the compiler or the standard library, and nothing else: host/device
// qualifiers, elementary functions, lane-wise selection. No other header names std:: or tests a macro.
#pragma once

// SARRUS_HD: small functions, always inlined. SARRUS_FN: whole algorithms, one copy per instantiation.
#if defined(__CUDACC_RTC__)
#define SARRUS_HD __host__ __device__ __forceinline__
#define SARRUS_FN __host__ __device__ __noinline__
#elif defined(__CUDACC__)
#include <cmath>
#define SARRUS_HD __host__ __device__ __forceinline__
#define SARRUS_FN __host__ __device__ __noinline__
#else
#include <cmath>
#define SARRUS_HD inline __attribute__((always_inline))
#define SARRUS_FN inline __attribute__((noinline))
#endif

// Every instruction-set variant of the kernel lives in its own inline namespace: the linker must not
// merge a template instantiated for AVX-512 with the one for the baseline.
#ifndef SARRUS_ISA
#define SARRUS_ISA generic
#endif
#define SARRUS_BEGIN \
  namespace sarrus { \
  inline namespace SARRUS_ISA {
#define SARRUS_END \
  }                \
  }

#define SARRUS_RESTRICT __restrict__

SARRUS_BEGIN

// Kinds that a mechanism has, as bits. A text compiled for a device names those of its mechanism; code is
// smaller without the others.
struct UsedKinds {
  unsigned joints = ~0u, elements = ~0u, forces = ~0u, coordinate_forces = ~0u;
};
#ifndef SARRUS_USED_KINDS
#define SARRUS_USED_KINDS \
  UsedKinds {}
#endif
constexpr UsedKinds USED_KINDS = SARRUS_USED_KINDS;

// Numbers that tests and documents quote.
constexpr double RANK_TOL = 1e-9;    // on the dimensionless Jacobian
constexpr double LIMIT_TOL = 1e-6;   // on the rows that replace lost ones at a singular pose
constexpr double UNIQUE_TOL = 1e-9;  // on the left null space: is a multiplier unique?

#if defined(__CUDACC__) || defined(__CUDACC_RTC__)
SARRUS_HD double sqrt_(double x) { return ::sqrt(x); }
SARRUS_HD double abs_(double x) { return ::fabs(x); }
SARRUS_HD double atan2_(double y, double x) { return ::atan2(y, x); }
SARRUS_HD double tanh_(double x) { return ::tanh(x); }
SARRUS_HD double round_(double x) { return ::rint(x); }
SARRUS_HD void sincos_(double x, double& s, double& c) { ::sincos(x, &s, &c); }
SARRUS_HD float sqrt_(float x) { return ::sqrtf(x); }
SARRUS_HD float abs_(float x) { return ::fabsf(x); }
SARRUS_HD float atan2_(float y, float x) { return ::atan2f(y, x); }
SARRUS_HD float tanh_(float x) { return ::tanhf(x); }
SARRUS_HD float round_(float x) { return ::rintf(x); }
SARRUS_HD void sincos_(float x, float& s, float& c) { ::sincosf(x, &s, &c); }
SARRUS_HD int lowest_bit(unsigned long long x) {  // of a nonzero word
  int n = 0;
  while (!((x >> n) & 1)) ++n;
  return n;
}
SARRUS_HD int count_bits(unsigned long long x) {
  int n = 0;
  for (; x; x &= x - 1) ++n;
  return n;
}
#else
SARRUS_HD double sqrt_(double x) { return std::sqrt(x); }
SARRUS_HD double abs_(double x) { return std::fabs(x); }
SARRUS_HD double atan2_(double y, double x) { return std::atan2(y, x); }
SARRUS_HD double tanh_(double x) { return std::tanh(x); }
SARRUS_HD double round_(double x) { return std::nearbyint(x); }
SARRUS_HD void sincos_(double x, double& s, double& c) { s = std::sin(x), c = std::cos(x); }
SARRUS_HD float sqrt_(float x) { return std::sqrt(x); }
SARRUS_HD float abs_(float x) { return std::fabs(x); }
SARRUS_HD float atan2_(float y, float x) { return std::atan2(y, x); }
SARRUS_HD float tanh_(float x) { return std::tanh(x); }
SARRUS_HD float round_(float x) { return std::nearbyint(x); }
SARRUS_HD void sincos_(float x, float& s, float& c) { s = std::sin(x), c = std::cos(x); }
SARRUS_HD int lowest_bit(unsigned long long x) { return __builtin_ctzll(x); }  // of a nonzero word
SARRUS_HD int count_bits(unsigned long long x) { return __builtin_popcountll(x); }
#endif

// Rows are padded to multiples of LANES, so that inner loops have no remainder. A Block is as many doubles
// as one vector register of the host holds; a compiler handed a wider one falls back to scalar code.
constexpr int LANES = 8;
#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
#if defined(__AVX512F__)
constexpr int BLOCK = 8;
#elif defined(__AVX__)
constexpr int BLOCK = 4;
#else
constexpr int BLOCK = 2;
#endif
typedef double Block __attribute__((vector_size(8 * BLOCK), aligned(8), may_alias));
typedef double Block4 __attribute__((vector_size(32)));
typedef double Block2 __attribute__((vector_size(16)));

// Sum of LANES numbers in LANES / BLOCK blocks: ((0+4)+(2+6)) + ((1+5)+(3+7)) on every machine.
SARRUS_HD double sum(const Block* s) {
#if defined(__AVX512F__)
  Block4 h =
      __builtin_shufflevector(s[0], s[0], 0, 1, 2, 3) + __builtin_shufflevector(s[0], s[0], 4, 5, 6, 7);
  Block2 p = __builtin_shufflevector(h, h, 0, 1) + __builtin_shufflevector(h, h, 2, 3);
#elif defined(__AVX__)
  Block4 h = s[0] + s[1];
  Block2 p = __builtin_shufflevector(h, h, 0, 1) + __builtin_shufflevector(h, h, 2, 3);
#else
  Block2 p = (s[0] + s[2]) + (s[1] + s[3]);
#endif
  return p[0] + p[1];
}
#endif

// What inner loops move at a time: a Block of doubles, or one of any other scalar.
template <class T>
struct Vector {
  using type = T;
  static constexpr int size = 1;
};
#if !defined(__CUDACC__) && !defined(__CUDACC_RTC__)
template <>
struct Vector<double> {
  using type = Block;
  static constexpr int size = BLOCK;
};
#endif

// Real<T>: the type of the parameters that go with a scalar T. value(x): the part that decides branches.
template <class T>
struct Real {
  using type = T;
};
template <class T>
using real = typename Real<T>::type;

// Whether T is that real type itself: neither a pack nor a dual number.
template <class T, class R = real<T>>
struct Plain {
  static constexpr bool value = false;
};
template <class T>
struct Plain<T, T> {
  static constexpr bool value = true;
};

SARRUS_HD double value(double x) { return x; }
SARRUS_HD float value(float x) { return x; }

// What x is apart from its derivatives.
template <class T>
SARRUS_HD auto primal(const T& x) {
  return value(x);
}

// Lane-wise choice; a mask is bool for scalars.
SARRUS_HD double select(bool m, double a, double b) { return m ? a : b; }
SARRUS_HD float select(bool m, float a, float b) { return m ? a : b; }
SARRUS_HD int select(bool m, int a, int b) { return m ? a : b; }
SARRUS_HD bool any(bool m) { return m; }
SARRUS_HD bool all(bool m) { return m; }

// A choice that changes results by rounding only, such as which row is eliminated first. Recorded programs
// keep that of their reference state (bindings/tracing/recorded.hpp).
template <class M>
SARRUS_HD M decide(const M& m) {
  return m;
}

template <class T>
SARRUS_HD void swap_(T& a, T& b) {
  T t = a;
  a = b;
  b = t;
}

// Whether branches may be taken on a value of this type (false for packs: lanes must agree or be blended).
template <class T>
struct Branching {
  static constexpr bool value = true;
};

SARRUS_END
