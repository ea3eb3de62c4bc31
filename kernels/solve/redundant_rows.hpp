// Rows that depend on other rows of their element wherever the mechanism goes, as most rows of hinges that
// close loops in a plane.
//
// Rows are orthogonalized within their element, and their rates J' along a motion with the same coefficients.
// For a row that was left out, w^T J = 0, this gives w^T J'. Where the rows that take part are independent
// (factor/augmented_inertia.hpp), these w span the left null space of J, and where all w^T J' vanish along a
// motion in general position, the rank of J does not grow nearby.
#pragma once

#include "solve/limit_rows.hpp"

SARRUS_BEGIN

// Whether w^T J' vanishes for every row that was left out; false where rows depend on other elements
// in: a.rows_now, a.taken; d: the rows along a motion with velocities of size `speed`, without units
template <class T, int LDC>
SARRUS_FN bool redundant_for_good(const Model<real<T>>& m, const Tangent<T, LDC>& d, real<T> speed,
                                  Augmented<T>& a) {
  int width = padded(m.fronts->widest);
  T* rates = a.room + (MAX_ROWS + 1) * width;
  bool all = true;
  const T* row = a.rows_now;
  each_group(m, [&](int first, int rows, const int* cols, int n) {
    int kept = 0;
    for (int r = first; r < first + rows; ++r, row += n) {
      T *y = a.room + kept * width, *z = rates + kept * width, size = T(0);
      for (int i = 0; i < n; ++i) {
        real<T> unit = m.unit[cols[i]] / m.row_unit[r];
        y[i] = row[i] * unit, z[i] = d.rate_J(r, cols[i]) * unit;
      }
      for (int k = 0; k < kept; ++k) {
        T s = sum_of<T>(n, [&](int i) { return a.room[k * width + i] * y[i]; });
        for (int i = 0; i < n; ++i) y[i] -= s * a.room[k * width + i], z[i] -= s * rates[k * width + i];
      }
      if (!a.taken[r]) {
        for (int i = 0; i < n; ++i)
          all = all && abs_(y[i]) <= real<T>(SURELY_DEPENDENT) && abs_(z[i]) <= real<T>(LIMIT_TOL) * speed;
        continue;
      }
      size = plus_products(size, y, y, n);
      size = sqrt_(size);
      for (int i = 0; i < n; ++i) y[i] = y[i] / size, z[i] = z[i] / size;
      ++kept;
    }
  });
  return all;
}

// v (nv): a motion in general position, without units of size 1
template <class T>
SARRUS_HD void general_motion(const Model<real<T>>& m, T* v) {
  for (int j = 0; j < m.nv; ++j) {
    double x = (j + 1) * 0.6180339887498949;
    v[j] = T(m.unit[j] * real<T>(2 * (x - static_cast<long>(x)) - 1));
  }
}

SARRUS_END
