// Dry friction that a law adds to h: src/sarrus/control/core/friction_compensation.py, (1).
#pragma once

#include "base/rounded.hpp"
#include "base/vectors.hpp"

namespace sarrus {

// rows of friction (k): coordinate, smallest Stribeck speed, friction at rest. Declarations (n): row, Coulomb
// friction, breakaway less it, Stribeck speed.
struct FrictionTables {
  int k, n;
  const int *coordinate, *row;
  const double *speed, *bound, *coulomb, *more, *stribeck;
};

}  // namespace sarrus

SARRUS_BEGIN

constexpr double AT_REST = 1e-3;  // of the Stribeck speed of a coordinate: slower ones are at rest
constexpr double RAMP = 1e-2;     // of the acceleration that friction can give

SARRUS_HD bool at_rest(const FrictionTables& s, int i, const double* v) {
  return abs_(v[s.coordinate[i]]) <= AT_REST * s.speed[i];
}

// out (nv): resistance of coordinates that move
SARRUS_FN void moving_friction(const FrictionTables& s, const double* v, int nv, double* out) {
  for (int j = 0; j < nv; ++j) out[j] = 0;
  for (int e = 0; e < s.n; ++e) {
    int i = s.row[e], at = s.coordinate[i];
    if (at_rest(s, i, v)) continue;
    double x = v[at] / s.stribeck[e],
           level = s.coulomb[e] + rounded(s.more[e] * __builtin_exp(-rounded(x * x)));
    out[at] += v[at] > 0 ? level : -level;
  }
}

// Adds the resistance of coordinates at rest to accelerations a (nv); whether there is any
// in: diagonal of the inertia (nv)
SARRUS_FN bool add_starting_friction(const FrictionTables& s, const double* v, const double* a,
                                     const double* inertia, double* out) {
  bool some = false;
  for (int i = 0; i < s.k; ++i) {
    int at = s.coordinate[i];
    double bound = s.bound[i], ramp = RAMP * (bound > 0 ? bound : 1.0) / inertia[at];
    double share = a[at] == a[at] ? a[at] / ramp : 0.0;
    if (!at_rest(s, i, v)) continue;
    share = share < -1 ? -1 : share > 1 ? 1 : share;
    out[at] += bound * share;
    some = some || bound * share != 0;
  }
  return some;
}

SARRUS_END
