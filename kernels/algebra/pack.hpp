// A pack of N instances in one SIMD register that behaves like a scalar (host compilers only).
// Comparisons give lane masks; algorithms blend with select() instead of branching.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

// clang-format off
template <int N> struct Lanes;
template <> struct Lanes<2> { typedef double F __attribute__((vector_size(16))); typedef long long I __attribute__((vector_size(16))); };
template <> struct Lanes<4> { typedef double F __attribute__((vector_size(32))); typedef long long I __attribute__((vector_size(32))); };
template <> struct Lanes<8> { typedef double F __attribute__((vector_size(64))); typedef long long I __attribute__((vector_size(64))); };
// clang-format on

template <int N>
struct Mask {
  typename Lanes<N>::I m;
};

template <int N>
struct Pack {
  using Raw = typename Lanes<N>::F;
  Raw x;

  SARRUS_HD Pack() : x(Raw{}) {}
  SARRUS_HD Pack(double s) : x(Raw{} + s) {}
  SARRUS_HD Pack(Raw raw, int) : x(raw) {}
  SARRUS_HD double operator[](int lane) const { return x[lane]; }
  SARRUS_HD void set(int lane, double s) { x[lane] = s; }
};

template <int N>
struct Real<Pack<N>> {
  using type = double;
};
template <int N>
struct Branching<Pack<N>> {
  static constexpr bool value = false;
};

// clang-format off
template <int N> SARRUS_HD Pack<N> value(const Pack<N>& a) { return a; }
template <int N> SARRUS_HD Pack<N> operator-(const Pack<N>& a) { return {-a.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator+(const Pack<N>& a, const Pack<N>& b) { return {a.x + b.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator-(const Pack<N>& a, const Pack<N>& b) { return {a.x - b.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator*(const Pack<N>& a, const Pack<N>& b) { return {a.x * b.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator/(const Pack<N>& a, const Pack<N>& b) { return {a.x / b.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator+(const Pack<N>& a, double s) { return {a.x + s, 0}; }
template <int N> SARRUS_HD Pack<N> operator-(const Pack<N>& a, double s) { return {a.x - s, 0}; }
template <int N> SARRUS_HD Pack<N> operator*(const Pack<N>& a, double s) { return {a.x * s, 0}; }
template <int N> SARRUS_HD Pack<N> operator/(const Pack<N>& a, double s) { return {a.x / s, 0}; }
template <int N> SARRUS_HD Pack<N> operator+(double s, const Pack<N>& a) { return {s + a.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator-(double s, const Pack<N>& a) { return {s - a.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator*(double s, const Pack<N>& a) { return {s * a.x, 0}; }
template <int N> SARRUS_HD Pack<N> operator/(double s, const Pack<N>& a) { return {s / a.x, 0}; }
template <int N, class Y> SARRUS_HD Pack<N>& operator+=(Pack<N>& a, const Y& b) { return a = a + b; }
template <int N, class Y> SARRUS_HD Pack<N>& operator-=(Pack<N>& a, const Y& b) { return a = a - b; }
template <int N, class Y> SARRUS_HD Pack<N>& operator*=(Pack<N>& a, const Y& b) { return a = a * b; }
template <int N> SARRUS_HD Mask<N> operator<(const Pack<N>& a, const Pack<N>& b) { return {a.x < b.x}; }
template <int N> SARRUS_HD Mask<N> operator>(const Pack<N>& a, const Pack<N>& b) { return {a.x > b.x}; }
template <int N> SARRUS_HD Mask<N> operator<(const Pack<N>& a, double s) { return {a.x < s}; }
template <int N> SARRUS_HD Mask<N> operator>(const Pack<N>& a, double s) { return {a.x > s}; }
template <int N> SARRUS_HD Mask<N> operator&&(const Mask<N>& a, const Mask<N>& b) { return {a.m & b.m}; }
template <int N> SARRUS_HD Mask<N> operator!(const Mask<N>& a) { return {~a.m}; }
template <int N> SARRUS_HD Pack<N> select(const Mask<N>& m, const Pack<N>& a, const Pack<N>& b) { return {m.m ? a.x : b.x, 0}; }
// clang-format on

template <int N>
SARRUS_HD bool any(const Mask<N>& m) {
  bool r = false;
  for (int l = 0; l < N; ++l) r |= m.m[l] != 0;
  return r;
}
template <int N>
SARRUS_HD bool all(const Mask<N>& m) {
  bool r = true;
  for (int l = 0; l < N; ++l) r &= m.m[l] != 0;
  return r;
}

// Elementary functions run lane by lane: each lane then has the bits of the scalar kernel.
template <int N>
SARRUS_HD Pack<N> sqrt_(const Pack<N>& a) {
  Pack<N> r;
  for (int l = 0; l < N; ++l) r.x[l] = sqrt_(a.x[l]);
  return r;
}
template <int N>
SARRUS_HD Pack<N> abs_(const Pack<N>& a) {
  return select(a < 0.0, -a, a);
}
template <int N>
SARRUS_HD Pack<N> atan2_(const Pack<N>& y, const Pack<N>& x) {
  Pack<N> r;
  for (int l = 0; l < N; ++l) r.x[l] = atan2_(y.x[l], x.x[l]);
  return r;
}
template <int N>
SARRUS_HD Pack<N> tanh_(const Pack<N>& a) {
  Pack<N> r;
  for (int l = 0; l < N; ++l) r.x[l] = tanh_(a.x[l]);
  return r;
}
template <int N>
SARRUS_HD Pack<N> round_(const Pack<N>& a) {
  Pack<N> r;
  for (int l = 0; l < N; ++l) r.x[l] = round_(a.x[l]);
  return r;
}
template <int N>
SARRUS_HD void sincos_(const Pack<N>& a, Pack<N>& s, Pack<N>& c) {
  for (int l = 0; l < N; ++l) {
    double sl, cl;
    sincos_(a.x[l], sl, cl);
    s.x[l] = sl;
    c.x[l] = cl;
  }
}

SARRUS_END
