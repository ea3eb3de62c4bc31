// Singular poses seen in the pivots of J: a pose is singular where the smallest pivot that counts vanishes.
#pragma once

#include "integrate/regular_poses.hpp"

SARRUS_BEGIN

constexpr double NEAR_SINGULAR = 1e-2;     // pivots below this: loops are closed to rounding
constexpr double SINGULAR_IN_SIGHT = 0.1;  // pivots below this may vanish within the coming steps
constexpr double GRAZING = 0.15;  // of the decrease per step: a smaller pivot may change sign in the step
constexpr double LOST_IN_PASSING = 5e-6;  // pivots below this are lost in a pass: cube root of CLOSED_TIGHT
constexpr double SUDDEN = 0.05;           // of the pivot a step before: a smaller one belongs to a pass

template <class T, int LDC>
SARRUS_HD double pivot_size(const Workspace<T, LDC>& w, int k) {
  return value(abs_(pivot_of(w.factor, k, w.ld)));
}

template <class T, int LDC>
SARRUS_HD double smallest_pivot(const Workspace<T, LDC>& w) {
  double least = w.factor.regular ? value(w.factor.least) : 1e300;
  for (int k = 0; !w.factor.regular && k < w.factor.rank_rows; ++k) {
    double x = pivot_size(w, k);
    if (x < least) least = x;
  }
  return least;
}

template <class T, int LDC>
SARRUS_HD int pivots_above(const Workspace<T, LDC>& w, double least) {
  int n = w.factor.regular ? w.factor.rank_rows : 0;
  for (int k = 0; !w.factor.regular && k < w.factor.rank_rows; ++k) n += pivot_size(w, k) > least;
  return n;
}

// Time until the smallest pivot, extrapolated from the last step, is zero; 0 where no zero is near.
SARRUS_HD double time_to_singular(const auto& s) {
  double lost = s.before.pivot - s.pivot;
  return lost > 0 && s.pivot < SINGULAR_IN_SIGHT ? s.pivot * s.before.step / lost : 0;
}

// Number of pivots of a stage that keep their sign within the step h. Where one may change it, the drift of
// the stage, of order h^2, would be divided by next to nothing: its row is replaced by its limit,
// solve/forward_dynamics.hpp (2).
SARRUS_HD int regular_pivots(const auto& s, double h) {
  double lost = (s.before.pivot - s.pivot) * h / s.before.step;
  if (!(lost > 0 && s.pivot < 2 * lost)) return s.w.factor.rank_rows;
  return pivots_above(s.w, GRAZING * lost);
}

// Factorizes at the rows of w, rank decided anew. A closure error e turns a row with pivot p by e/p^2, and
// the limit that could take its place is wrong by p: in a pass, where p falls to next to nothing within one
// step, rows with p below e^(1/3) count as lost.
SARRUS_FN void factorize_in_passing(auto& s) {
  auto& w = s.w;
  s.passing = false;
  if (factorize_far_away(s)) return;
  make_dense(s.m, w);
  factorize_rows(s.m, w);
  leave_regular_poses(s, smallest_pivot(w));
  int regular = pivots_above(w, LOST_IN_PASSING);
  s.passing = regular < w.factor.rank_rows && s.held_rank == s.rank && smallest_pivot(w) < SUDDEN * s.pivot;
  if (!s.passing) return;
  factorize(s.m, w.rows.J, w.M, w.ld, regular, w.factor);
  complete(s.m, w.ld, w.factor);
  finish(s.m, w.M, w.ld, w.factor);
}

SARRUS_END
