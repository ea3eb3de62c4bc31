// Poses far from singular ones, at which large mechanisms use the augmented inertia
// (solve/factor/augmented_inertia.hpp). The smallest pivot is followed in proportion to their `distance`.
#pragma once

#include "integrate/stepper.hpp"

SARRUS_BEGIN

constexpr double STEPS_AROUND = 10;   // so many steps before and after a singular pose stages are projected
constexpr double STEPS_CHARTED = 30;  // the same for stages in a chart, integrate/local_chart.hpp
constexpr double STEPS_FAR = 40;      // the augmented inertia serves where a singular pose is further away
constexpr int MOST_DOUBTS = 4;        // steps in a row that change its measure too fast
constexpr int FIRST_PROBES = 30, PROBES = 2;  // steps of the power iteration: at first, and at every step

// Whether the smallest pivot may vanish within so many steps from now, or has done so before.
SARRUS_HD bool near_singular(const auto& s, double steps = STEPS_AROUND) {
  return s.pivot < steps * abs_(s.pivot - s.before.pivot);
}

// Factorizes the augmented inertia; the first time with the largest augmentation that leaves it definite.
template <class T, int LDC, class S>
SARRUS_FN bool factorize_definite(Stepper<T, LDC, S>& s, bool first) {
  Augmented<T>& a = s.w.factor.augmented;
  if (first) a.augment = a.most = MOST_AUGMENT;
  if (a.rank == 0) return false;
  if (factorize_regular(s.m, s.w)) return true;
  if (!first) return false;
  a.augment = a.most = LESS_AUGMENT;
  return factorize_regular(s.m, s.w);
}

// Whether the singular pose that the last change of the distance leads to is so many steps away, or less
template <class T>
SARRUS_HD bool singular_within(const Augmented<T>& a, const Regular& r, double steps) {
  return value(a.distance) < steps * abs_(value(a.distance) - r.distance);
}

// The distance at the terms of w, and whether a pose nearby is known to be singular.
template <class T, int LDC, class S>
SARRUS_FN bool approaches_singular(Stepper<T, LDC, S>& s, bool first) {
  Augmented<T>& a = s.w.factor.augmented;
  Regular& r = s.regular;
  watch_regular_rows(s.m, first ? FIRST_PROBES : PROBES, a);
  if (first) {
    r.doubts = 0;
    return false;
  }
  if (singular_within(a, r, STEPS_FAR))
    watch_regular_rows(s.m, FIRST_PROBES, a);  // the vector may have lagged
  r.doubts = singular_within(a, r, STEPS_FAR) ? r.doubts + 1 : 0;
  return r.doubts > MOST_DOUBTS || singular_within(a, r, STEPS_CHARTED);
}

// Whether the rows that are independent, and their distance from losing rank, are known at the terms of w.
template <class T, int LDC, class S>
SARRUS_FN bool watch_regular(Stepper<T, LDC, S>& s) {
  Augmented<T>& a = s.w.factor.augmented;
  Regular& r = s.regular;
  bool first = !r.chosen || !r.trusted;
  if (!s.w.by_entries) pack_entries(s.m, s.w.rows.J, s.w.M, s.w.ld, a);
  if (!r.chosen) {
    if (!choose_rows(s.m, a)) return false;
    begin_probe(s.m, a);
  }
  if (!factorize_definite(s, first) || approaches_singular(s, first)) return false;
  if (!(a.share > LEAST_SHARE && a.distance > LEAST_SHARE)) return false;
  r.chosen = true;
  choose_augment(a);
  return true;
}

// Factorizes the augmented inertia at the rows and M of w, where that is far from singular poses.
template <class T, int LDC, class S>
SARRUS_FN bool factorize_far_away(Stepper<T, LDC, S>& s) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>> && !S::supplies_inertia) {
    Regular& r = s.regular;
    Factor<T>& f = s.w.factor;
    bool may_be_far = s.rank < 0 || r.trusted || !near_singular(s, STEPS_FAR);
    if (!r.allowed || r.blocked || !may_be_far) return false;
    f.regular = watch_regular(s);
    if (!f.regular) return false;
    double distance = value(f.augmented.distance);
    if (s.rank < 0) s.pivot = distance;  // the start: nothing is known about changes
    if (!r.trusted) r.pivot_part = s.pivot / distance;
    f.least = r.pivot_part * distance;
    return true;
  }
  return false;
}

// After the orthogonal factorization, whose smallest pivot is given: its pivot rows are independent, and the
// pivot of the state becomes comparable with it.
template <class T, int LDC, class S>
SARRUS_FN void leave_regular_poses(Stepper<T, LDC, S>& s, double pivot) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>) {
    Regular& r = s.regular;
    const Factor<T>& f = s.w.factor;
    if (!r.allowed) return;
    double distance = value(f.augmented.distance);
    if (r.trusted && distance > 0 && distance < 1e300) s.pivot = pivot / distance * r.distance;
    if (s.rank < 0) s.pivot = 0;
    r.trusted = false;
    r.chosen = f.rank_rows >= s.before.largest_rank;
    if (!r.chosen) return;
    for (int k = 0; k < s.m.nc; ++k) f.augmented.taken[row_at(f, k)] = k < f.rank_rows;
    s.w.factor.augmented.rank = f.rank_rows;
    begin_probe(s.m, s.w.factor.augmented);
  }
}

SARRUS_END
