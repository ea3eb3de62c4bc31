// Terms of couplings that are curves of their coordinate, as those of cams: periodic over one turn, a cubic
// from each knot to the next,
//
//   f(x) = c0 + s (c1 + s (c2 + s c3)),   s = x - x_k,   x_k <= x < x_k+1 within the turn from x_0 on   (1)
//
// The knots (x_k, c0, c1, c2, c3) are chosen by select(), so that lanes of a pack may lie at different ones.
#pragma once

#include "constraints/row.hpp"

SARRUS_BEGIN

// f and its derivatives
template <class T>
struct CurvePoint {
  T value, slope, second, third;
};

// (1) of term i at x
template <class T>
SARRUS_HD CurvePoint<T> curve_of_term(const Model<real<T>>& m, int i, const T& x) {
  using R = real<T>;
  const R turn = R(6.283185307179586), *first = m.knots + 5 * m.kt_knot[i];
  T u = x - first[0];
  u -= round_(u * (R(1) / turn) - R(0.5)) * turn;
  T at = T(R(0)), c0 = T(first[1]), c1 = T(first[2]), c2 = T(first[3]), c3 = T(first[4]);
  for (int k = 1; k < m.kt_knots[i]; ++k) {
    const R* knot = first + 5 * k;
    R begin = knot[0] - first[0];
    auto before = u < begin;
    at = select(before, at, T(begin));
    c0 = select(before, c0, T(knot[1])), c1 = select(before, c1, T(knot[2]));
    c2 = select(before, c2, T(knot[3])), c3 = select(before, c3, T(knot[4]));
  }
  T s = u - at;
  return {c0 + s * (c1 + s * (c2 + s * c3)), c1 + s * (c2 * R(2) + s * c3 * R(3)), c2 * R(2) + s * c3 * R(6),
          c3 * R(6)};
}

// Its entry of J: the coefficient times f'
template <class T>
SARRUS_HD T slope_of_term(const Model<real<T>>& m, int i, const T* q) {
  return m.kt_knots[i] ? curve_of_term(m, i, q[m.kt_q[i]]).slope * m.kt_coef[i] : T(m.kt_coef[i]);
}

SARRUS_END
