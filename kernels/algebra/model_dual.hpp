// Dual numbers a + b eps that the numbers of a model may be, too: Real<ModelDual> is ModelDual. Derivatives
// by parameters of a description need them (derivatives/variation.hpp). For models with plain numbers there
// is Dual (algebra/dual.hpp). Branches are decided by the value.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

struct ModelDual {
  double a = 0, b = 0;  // value and derivative

  SARRUS_HD ModelDual() {}
  SARRUS_HD ModelDual(double value) : a(value) {}
  SARRUS_HD ModelDual(double value, double derivative) : a(value), b(derivative) {}
  SARRUS_HD explicit operator int() const { return static_cast<int>(a); }
};

// It takes the ways of dual numbers, not those of doubles.
template <>
struct Plain<ModelDual, ModelDual> {
  static constexpr bool value = false;
};

// clang-format off
SARRUS_HD double value(const ModelDual& x) { return x.a; }
SARRUS_HD ModelDual operator-(const ModelDual& x) { return {-x.a, -x.b}; }
SARRUS_HD ModelDual operator+(const ModelDual& x, const ModelDual& y) { return {x.a + y.a, x.b + y.b}; }
SARRUS_HD ModelDual operator-(const ModelDual& x, const ModelDual& y) { return {x.a - y.a, x.b - y.b}; }
SARRUS_HD ModelDual operator*(const ModelDual& x, const ModelDual& y) { return {x.a * y.a, x.a * y.b + x.b * y.a}; }
SARRUS_HD ModelDual operator/(const ModelDual& x, const ModelDual& y) { double q = x.a / y.a; return {q, (x.b - q * y.b) / y.a}; }
SARRUS_HD ModelDual& operator+=(ModelDual& x, const ModelDual& y) { return x = x + y; }
SARRUS_HD ModelDual& operator-=(ModelDual& x, const ModelDual& y) { return x = x - y; }
SARRUS_HD ModelDual& operator*=(ModelDual& x, const ModelDual& y) { return x = x * y; }
SARRUS_HD bool operator<(const ModelDual& x, const ModelDual& y) { return x.a < y.a; }
SARRUS_HD bool operator>(const ModelDual& x, const ModelDual& y) { return x.a > y.a; }
SARRUS_HD bool operator<=(const ModelDual& x, const ModelDual& y) { return x.a <= y.a; }
SARRUS_HD bool operator>=(const ModelDual& x, const ModelDual& y) { return x.a >= y.a; }
// Asked of numbers of the model, whether there is anything to compute: where they change there is.
SARRUS_HD bool operator==(const ModelDual& x, const ModelDual& y) { return x.a == y.a && x.b == y.b; }
SARRUS_HD ModelDual sqrt_(const ModelDual& x) { double r = sqrt_(x.a); return {r, x.b / (r + r)}; }
SARRUS_HD ModelDual abs_(const ModelDual& x) { return x.a < 0 ? -x : x; }
SARRUS_HD ModelDual atan2_(const ModelDual& y, const ModelDual& x) { return {atan2_(y.a, x.a), (x.a * y.b - y.a * x.b) / (x.a * x.a + y.a * y.a)}; }
SARRUS_HD ModelDual tanh_(const ModelDual& x) { double t = tanh_(x.a); return {t, (1 - t * t) * x.b}; }
SARRUS_HD ModelDual round_(const ModelDual& x) { return round_(x.a); }
SARRUS_HD ModelDual select(bool m, const ModelDual& x, const ModelDual& y) { return m ? x : y; }
// clang-format on
SARRUS_HD void sincos_(const ModelDual& x, ModelDual& s, ModelDual& c) {
  double s0, c0;
  sincos_(x.a, s0, c0);
  s = {s0, c0 * x.b};
  c = {c0, -s0 * x.b};
}

SARRUS_END
