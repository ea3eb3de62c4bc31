// A pack of N instances in one SIMD register that behaves like a scalar (host compilers only).
// Comparisons give lane masks; algorithms blend with select() instead of branching.
#pragma once

#include "algebra/dual.hpp"

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
template <int N> SARRUS_HD Pack<N> select(bool m, const Pack<N>& a, const Pack<N>& b) { return m ? a : b; }
template <int N> SARRUS_HD Pack<N> select(const Mask<N>& m, const Pack<N>& a, const Pack<N>& b) { return {m.m ? a.x : b.x, 0}; }
// clang-format on

// Lanes of a mask in which it holds, as bits
template <int N>
SARRUS_HD int bits(const Mask<N>& m) {
  int found = 0;
  for (int l = 0; l < N; ++l) found |= (m.m[l] & 1) << l;
  return found;
}
template <int N>
SARRUS_HD bool any(const Mask<N>& m) {
  long long r = 0;
  for (int l = 0; l < N; ++l) r |= m.m[l];
  return r != 0;
}
template <int N>
SARRUS_HD bool all(const Mask<N>& m) {
  long long r = -1;
  for (int l = 0; l < N; ++l) r &= m.m[l];
  return r != 0;
}

// Elementary functions run lane by lane, but for sine and cosine.
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

constexpr double SINCOS_REDUCED = 1e5;  // larger arguments are reduced by the standard library

// Sine and cosine of all lanes by reduction to |r| <= pi/4, x = n pi/2 + r with pi/2 in three parts
// [Cody1980], and the polynomials of [Moshier1989]; errors below one unit in the last place.
template <int N>
SARRUS_HD void sincos_(const Pack<N>& a, Pack<N>& s, Pack<N>& c) {
  using P = Pack<N>;
  const double magic = 6755399441055744.0;  // 1.5 2^52: adding it rounds to integers
  P shifted = a * 0.63661977236758134308 + magic, n = shifted - magic;
  P r = ((a - n * 1.57079632673412561417e+00) - n * 6.07710050630396597660e-11) -
        n * 2.02226624879595063154e-21;
  P z = r * r;
  P sine = r + r * z *
                   (-1.66666666666666307295e-1 +
                    z * (8.33333333332211858878e-3 +
                         z * (-1.98412698295895385996e-4 +
                              z * (2.75573136213857245213e-6 +
                                   z * (-2.50507477628578072866e-8 + z * 1.58962301576546568060e-10)))));
  P half = z * 0.5, w = 1.0 - half;
  P cosine = w + (((1.0 - w) - half) +
                  z * z *
                      (4.16666666666665929218e-2 +
                       z * (-1.38888888888730564116e-3 +
                            z * (2.48015872888517045348e-5 +
                                 z * (-2.75573141792967388112e-7 +
                                      z * (2.08757008419747316778e-9 - z * 1.13585365213876817300e-11))))));
  auto quadrant = (typename Lanes<N>::I)shifted.x;  // the bits of a vector of the same size
  Mask<N> odd = {(quadrant & 1) != 0}, minus_s = {(quadrant & 2) != 0}, minus_c = {((quadrant + 1) & 2) != 0};
  P sine1 = select(odd, cosine, sine), cosine1 = select(odd, sine, cosine);
  s = select(minus_s, -sine1, sine1);
  c = select(minus_c, -cosine1, cosine1);
  Mask<N> far = !(abs_(a) < P(SINCOS_REDUCED));
  if (!any(far)) return;
  for (int l = 0; l < N; ++l)
    if (far.m[l]) {
      double sl, cl;
      sincos_(a.x[l], sl, cl);
      s.x[l] = sl;
      c.x[l] = cl;
    }
}

// The largest derivative of a dual number with several of them
template <class T, int N>
SARRUS_HD double largest_slope(const Dual<T, Pack<N>>& x) {
  double most = 0;
  for (int l = 0; l < N; ++l) most = abs_(x.b[l]) > most ? abs_(x.b[l]) : most;
  return most;
}

SARRUS_END
