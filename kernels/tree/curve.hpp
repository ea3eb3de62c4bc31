// A curve through knots: cubic in each interval with the given slopes at its ends, straight beyond the first
// and the last knot, [Fritsch1980]. Sums over all intervals replace the search for one, so that lanes of a
// pack may lie in different ones:
//
//   y(x) = y_0 + sum_i p_i(s_i),   s_i = (x - x_i) / h_i within 0 and 1,   p_i(1) = y_i+1 - y_i     (1)
#pragma once

#include "tree/parameters.hpp"

#define SARRUS_CURVE(V, S) V(x, 32) V(y, 32) V(slope, 32) S(count)

SARRUS_BEGIN

// y(x), and its integral from the first knot on
template <class T>
struct CurveValue {
  T value, integral;
};

// c: parameters with the fields of SARRUS_CURVE; abscissas ascend, at least two of them
template <class T, class C>
SARRUS_HD CurveValue<T> curve_at(const C& c, const T& x) {
  using R = real<T>;
  int last = static_cast<int>(c.count) - 1;
  T y = T(c.y[0]), sum = T(R(0));
  for (int i = 0; i < last; ++i) {
    R h = c.x[i + 1] - c.x[i], d = c.y[i + 1] - c.y[i], m = h * c.slope[i], n = h * c.slope[i + 1];
    T s = (x - c.x[i]) * (1 / h);
    s = select(s < R(0), T(R(0)), select(s < R(1), s, T(R(1))));  // a knot belongs to the interval after it
    R two = 3 * d - 2 * m - n, three = m + n - 2 * d;
    y += s * (s * (s * three + two) + m);  // (1)
    sum += s * (s * (s * (s * (three / 4) + two / 3) + m / 2) + c.y[i]) * h;
  }
  T below = x - c.x[0], above = x - c.x[last];
  below = select(below < R(0), below, T(R(0)));
  above = select(above < R(0), T(R(0)), above);
  y += below * c.slope[0] + above * c.slope[last];
  sum += below * (below * (c.slope[0] / 2) + c.y[0]) + above * (above * (c.slope[last] / 2) + c.y[last]);
  return {y, sum};
}

SARRUS_END
