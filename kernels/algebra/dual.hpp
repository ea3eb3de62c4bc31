// Dual numbers a + b eps, eps^2 = 0: a directional derivative rides along with the value. Branches
// (pivots, rank, small angles) are decided by the value, so both parts follow one path.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

template <class T>
struct Dual {
  T a{}, b{};  // value, derivative

  SARRUS_HD Dual() {}
  SARRUS_HD Dual(T value) : a(value), b(T(0)) {}
  SARRUS_HD Dual(T value, T derivative) : a(value), b(derivative) {}
};

template <class T>
struct Real<Dual<T>> {
  using type = real<T>;
};
template <class T>
struct Branching<Dual<T>> {
  static constexpr bool value = Branching<T>::value;
};

template <class T>
SARRUS_HD auto value(const Dual<T>& x) {
  return value(x.a);
}

// clang-format off
template <class T> SARRUS_HD Dual<T> operator-(const Dual<T>& x) { return {-x.a, -x.b}; }
template <class T> SARRUS_HD Dual<T> operator+(const Dual<T>& x, const Dual<T>& y) { return {x.a + y.a, x.b + y.b}; }
template <class T> SARRUS_HD Dual<T> operator-(const Dual<T>& x, const Dual<T>& y) { return {x.a - y.a, x.b - y.b}; }
template <class T> SARRUS_HD Dual<T> operator*(const Dual<T>& x, const Dual<T>& y) { return {x.a * y.a, x.a * y.b + x.b * y.a}; }
template <class T> SARRUS_HD Dual<T> operator/(const Dual<T>& x, const Dual<T>& y) { T q = x.a / y.a; return {q, (x.b - q * y.b) / y.a}; }
template <class T> SARRUS_HD Dual<T> operator+(const Dual<T>& x, real<T> s) { return {x.a + s, x.b}; }
template <class T> SARRUS_HD Dual<T> operator-(const Dual<T>& x, real<T> s) { return {x.a - s, x.b}; }
template <class T> SARRUS_HD Dual<T> operator*(const Dual<T>& x, real<T> s) { return {x.a * s, x.b * s}; }
template <class T> SARRUS_HD Dual<T> operator/(const Dual<T>& x, real<T> s) { return {x.a / s, x.b / s}; }
template <class T> SARRUS_HD Dual<T> operator+(real<T> s, const Dual<T>& x) { return {x.a + s, x.b}; }
template <class T> SARRUS_HD Dual<T> operator-(real<T> s, const Dual<T>& x) { return {T(s) - x.a, -x.b}; }
template <class T> SARRUS_HD Dual<T> operator*(real<T> s, const Dual<T>& x) { return {x.a * s, x.b * s}; }
template <class T> SARRUS_HD Dual<T> operator/(real<T> s, const Dual<T>& x) { return Dual<T>(T(s)) / x; }
template <class T, class Y> SARRUS_HD Dual<T>& operator+=(Dual<T>& x, const Y& y) { return x = x + y; }
template <class T, class Y> SARRUS_HD Dual<T>& operator-=(Dual<T>& x, const Y& y) { return x = x - y; }
template <class T, class Y> SARRUS_HD Dual<T>& operator*=(Dual<T>& x, const Y& y) { return x = x * y; }
template <class T> SARRUS_HD auto operator<(const Dual<T>& x, const Dual<T>& y) { return x.a < y.a; }
template <class T> SARRUS_HD auto operator>(const Dual<T>& x, const Dual<T>& y) { return x.a > y.a; }
template <class T> SARRUS_HD auto operator<(const Dual<T>& x, real<T> y) { return x.a < y; }
template <class T> SARRUS_HD auto operator>(const Dual<T>& x, real<T> y) { return x.a > y; }
// clang-format on

template <class T>
SARRUS_HD Dual<T> sqrt_(const Dual<T>& x) {
  T r = sqrt_(x.a);
  return {r, x.b / (r + r)};
}
template <class T>
SARRUS_HD Dual<T> abs_(const Dual<T>& x) {
  return {abs_(x.a), select(x.a < real<T>(0), -x.b, x.b)};
}
template <class T>
SARRUS_HD Dual<T> atan2_(const Dual<T>& y, const Dual<T>& x) {
  return {atan2_(y.a, x.a), (x.a * y.b - y.a * x.b) / (x.a * x.a + y.a * y.a)};
}
template <class T>
SARRUS_HD Dual<T> tanh_(const Dual<T>& x) {
  T t = tanh_(x.a);
  return {t, (real<T>(1) - t * t) * x.b};
}
template <class T>
SARRUS_HD Dual<T> round_(const Dual<T>& x) {
  return {round_(x.a), T(0)};
}
template <class T>
SARRUS_HD void sincos_(const Dual<T>& x, Dual<T>& s, Dual<T>& c) {
  T s0, c0;
  sincos_(x.a, s0, c0);
  s = {s0, c0 * x.b};
  c = {c0, -s0 * x.b};
}
template <class M, class T>
SARRUS_HD Dual<T> select(const M& m, const Dual<T>& x, const Dual<T>& y) {
  return {select(m, x.a, y.a), select(m, x.b, y.b)};
}

SARRUS_END
