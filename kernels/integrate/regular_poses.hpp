// Poses far from singular ones, at which large mechanisms use the augmented inertia
// (solve/augmented_inertia.hpp). The smallest pivot is followed in proportion to their `distance`.
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
  double change = s.pivot - s.before.pivot;
  return s.pivot < steps * (change > 0 ? change : -change);
}

// Whether the rows that are independent, and their distance from losing rank, are known at the terms of w.
template <class T, int LDC, class S>
SARRUS_FN bool watch_regular(Stepper<T, LDC, S>& s) {
  Augmented<T>& a = s.w.factor.augmented;
  Regular& r = s.regular;
  bool first = !r.chosen || !r.trusted;
  if (!s.w.by_entries) pack_entries(s.m, s.w.rows.J, s.w.M, s.w.ld, a);
  if (!r.chosen && !choose_rows(s.m, a)) return false;
  if (!r.chosen) begin_probe(s.m, a);
  if (first) a.augment = a.most = MOST_AUGMENT;
  bool definite = a.rank > 0 && factorize_regular(s.m, s.w);
  if (!definite && first && a.rank > 0) {
    a.augment = a.most = LESS_AUGMENT;
    definite = factorize_regular(s.m, s.w);
  }
  if (!definite) return false;
  auto watch = [&](int steps) { watch_regular_rows(s.m, steps, a); };
  auto within_steps = [&](double steps) {  // of the singular pose that the last change leads to
    double change = value(a.distance) - r.distance;
    return value(a.distance) < steps * (change > 0 ? change : -change);
  };
  watch(first ? FIRST_PROBES : PROBES);
  if (!first && within_steps(STEPS_FAR)) watch(FIRST_PROBES);  // the vector may have lagged behind
  r.doubts = !first && within_steps(STEPS_FAR) ? r.doubts + 1 : 0;
  if (!(a.share > LEAST_SHARE && a.distance > LEAST_SHARE) || r.doubts > MOST_DOUBTS) return false;
  if (!first && within_steps(STEPS_CHARTED)) return false;
  r.chosen = true;
  choose_augment(a);
  return true;
}

// Factorizes the augmented inertia at the rows and M of w, where that is far from singular poses.
template <class T, int LDC, class S>
SARRUS_FN bool factorize_far_away(Stepper<T, LDC, S>& s) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>> && !S::supplies_inertia) {
    Regular& r = s.regular;
    if (!r.allowed || r.blocked || (s.rank >= 0 && !r.trusted && near_singular(s, STEPS_FAR))) return false;
    if (!watch_regular(s)) {
      s.w.factor.regular = false;
      return false;
    }
    double distance = value(s.w.factor.augmented.distance);
    if (s.rank < 0) s.pivot = distance;  // the start: nothing is known about changes
    if (!r.trusted) r.pivot_part = s.pivot / distance;
    s.w.factor.least = r.pivot_part * distance;
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
    for (int k = 0; k < s.m.nc; ++k) f.augmented.taken[static_cast<int>(value(f.order[k]))] = k < f.rank_rows;
    s.w.factor.augmented.rank = f.rank_rows;
    begin_probe(s.m, s.w.factor.augmented);
  }
}

SARRUS_END
