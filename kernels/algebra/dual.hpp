// Dual numbers a + b eps, eps^2 = 0: a directional derivative rides along with the value, or several of them
// where b is a pack. Branches (pivots, rank, small angles) are decided by the value, so all parts follow one
// path.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

template <class T, class B = T>
struct Dual {
  T a{};  // value
  B b{};  // derivative, or derivatives

  SARRUS_HD Dual() {}
  SARRUS_HD Dual(T value) : a(value), b(B(real<B>(0))) {}
  SARRUS_HD Dual(T value, B derivative) : a(value), b(derivative) {}
};

template <class T, class B>
struct Real<Dual<T, B>> {
  using type = real<T>;
};
template <class T, class B>
struct Branching<Dual<T, B>> {
  static constexpr bool value = Branching<T>::value;
};

template <class T, class B>
SARRUS_HD auto value(const Dual<T, B>& x) {
  return value(x.a);
}

// clang-format off
template <class T, class B> SARRUS_HD Dual<T, B> operator-(const Dual<T, B>& x) { return {-x.a, -x.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator+(const Dual<T, B>& x, const Dual<T, B>& y) { return {x.a + y.a, x.b + y.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator-(const Dual<T, B>& x, const Dual<T, B>& y) { return {x.a - y.a, x.b - y.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator*(const Dual<T, B>& x, const Dual<T, B>& y) { return {x.a * y.a, x.a * y.b + x.b * y.a}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator/(const Dual<T, B>& x, const Dual<T, B>& y) { T q = x.a / y.a; return {q, (x.b - q * y.b) / y.a}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator+(const Dual<T, B>& x, real<T> s) { return {x.a + s, x.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator-(const Dual<T, B>& x, real<T> s) { return {x.a - s, x.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator*(const Dual<T, B>& x, real<T> s) { return {x.a * s, x.b * s}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator/(const Dual<T, B>& x, real<T> s) { return {x.a / s, x.b / s}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator+(real<T> s, const Dual<T, B>& x) { return {x.a + s, x.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator-(real<T> s, const Dual<T, B>& x) { return {T(s) - x.a, -x.b}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator*(real<T> s, const Dual<T, B>& x) { return {x.a * s, x.b * s}; }
template <class T, class B> SARRUS_HD Dual<T, B> operator/(real<T> s, const Dual<T, B>& x) { return Dual<T, B>(T(s)) / x; }
template <class T, class B, class Y> SARRUS_HD Dual<T, B>& operator+=(Dual<T, B>& x, const Y& y) { return x = x + y; }
template <class T, class B, class Y> SARRUS_HD Dual<T, B>& operator-=(Dual<T, B>& x, const Y& y) { return x = x - y; }
template <class T, class B, class Y> SARRUS_HD Dual<T, B>& operator*=(Dual<T, B>& x, const Y& y) { return x = x * y; }
template <class T, class B> SARRUS_HD auto operator<(const Dual<T, B>& x, const Dual<T, B>& y) { return x.a < y.a; }
template <class T, class B> SARRUS_HD auto operator>(const Dual<T, B>& x, const Dual<T, B>& y) { return x.a > y.a; }
template <class T, class B> SARRUS_HD auto operator<(const Dual<T, B>& x, real<T> y) { return x.a < y; }
template <class T, class B> SARRUS_HD auto operator>(const Dual<T, B>& x, real<T> y) { return x.a > y; }
// clang-format on

template <class T, class B>
SARRUS_HD Dual<T, B> sqrt_(const Dual<T, B>& x) {
  T r = sqrt_(x.a);
  return {r, x.b / (r + r)};
}
template <class T, class B>
SARRUS_HD Dual<T, B> abs_(const Dual<T, B>& x) {
  return {abs_(x.a), select(x.a < real<T>(0), -x.b, x.b)};
}
template <class T, class B>
SARRUS_HD Dual<T, B> atan2_(const Dual<T, B>& y, const Dual<T, B>& x) {
  return {atan2_(y.a, x.a), (x.a * y.b - y.a * x.b) / (x.a * x.a + y.a * y.a)};
}
template <class T, class B>
SARRUS_HD Dual<T, B> tanh_(const Dual<T, B>& x) {
  T t = tanh_(x.a);
  return {t, (real<T>(1) - t * t) * x.b};
}
template <class T, class B>
SARRUS_HD Dual<T, B> round_(const Dual<T, B>& x) {
  return {round_(x.a), B(real<B>(0))};
}
template <class T, class B>
SARRUS_HD void sincos_(const Dual<T, B>& x, Dual<T, B>& s, Dual<T, B>& c) {
  T s0, c0;
  sincos_(x.a, s0, c0);
  s = {s0, c0 * x.b};
  c = {c0, -s0 * x.b};
}
template <class M, class T, class B>
SARRUS_HD Dual<T, B> select(const M& m, const Dual<T, B>& x, const Dual<T, B>& y) {
  return {select(m, x.a, y.a), select(m, x.b, y.b)};
}

// The largest derivative, by size; 0 of a number that has none
template <class T>
SARRUS_HD double largest_slope(const T&) {
  return 0;
}
template <class T>
SARRUS_HD double largest_slope(const Dual<T, T>& x) {
  return value(abs_(x.b));
}

SARRUS_END
