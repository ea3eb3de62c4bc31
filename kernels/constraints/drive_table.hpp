// Drives from a table of f, f', f'' at equal steps of time: quintic Hermite polynomials between them.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

// values (count, nd, 3) from time `first` on, `step` apart
struct DriveTable {
  const double* values = nullptr;
  double first = 0, step = 1;
  int count = 0;
};

// f, f', f'' at s in [0, 1] of an interval of length h, from those at its ends a and b (3)
SARRUS_HD void quintic(const double* a, const double* b, double s, double h, double* out) {
  double d = b[0] - a[0];
  double c3 = 10 * d - (6 * a[1] + 4 * b[1]) * h - (1.5 * a[2] - 0.5 * b[2]) * h * h;
  double c4 = -15 * d + (8 * a[1] + 7 * b[1]) * h + (1.5 * a[2] - b[2]) * h * h;
  double c5 = 6 * d - 3 * (a[1] + b[1]) * h - 0.5 * (a[2] - b[2]) * h * h;
  double c1 = a[1] * h, c2 = 0.5 * a[2] * h * h;
  out[0] = a[0] + s * (c1 + s * (c2 + s * (c3 + s * (c4 + s * c5))));
  out[1] = (c1 + s * (2 * c2 + s * (3 * c3 + s * (4 * c4 + s * 5 * c5)))) / h;
  out[2] = (2 * c2 + s * (6 * c3 + s * (12 * c4 + s * 20 * c5))) / (h * h);
}

// out (nd, 3) at time t; before the table its first entries at rest, behind it its last
SARRUS_FN void drives_at(const DriveTable& d, int nd, double t, double* out) {
  double x = (t - d.first) / d.step;
  int last = d.count - 1, i = x < 0 ? 0 : x >= last ? last - 1 : static_cast<int>(x);
  for (int k = 0; k < nd; ++k) {
    if (x < 0 || x > last) {
      out[3 * k] = d.values[3 * ((x < 0 ? 0 : last) * nd + k)], out[3 * k + 1] = out[3 * k + 2] = 0;
      continue;
    }
    quintic(d.values + 3 * (i * nd + k), d.values + 3 * ((i + 1) * nd + k), x - i, d.step, out + 3 * k);
  }
}

SARRUS_END
