// Adaptive steps across a singular pose.
//
// As steps creep up to such a pose, rounding makes the error estimate grow and leads off the branch. So one
// step is taken with the pose in its middle, hardly longer than the steps before, once nothing but rounding
// is left of its error. Its pivots at both ends must then mirror each other.
#pragma once

#include "integrate/singular/pivots.hpp"

SARRUS_BEGIN

constexpr double ROUNDING_FACTOR = 10;    // estimates of at most so many times rounding say nothing else
constexpr double LONGEST_CROSSING = 1.5;  // of the last regular step
constexpr double SHORTENED =
    1e-3;  // steps cut to this part of the first trial, with pivots below it, are taken
constexpr double ENDS_APART = 0.25;  // of the time to the pose: steps end further away from it
constexpr double MOST_PIVOT = 100;   // times the smallest one: rows with larger ones are not disturbed
constexpr double MOST_TAKEN = 100;   // tolerances: up to this error

// What rounding alone does to the error estimate of a step across a singular pose, in units of the tolerance.
// With phi = x y closed to c, x = pivot and dx/dt = pivot / time, the path x y = c has y'' = 2 c (dx/dt)^2 /
// x^3, a velocity of 4 c / (time pivot). It belongs to the coordinates that the small pivots determine, each
// of which has its own tolerance.   in: factorized at the end of the step
template <class T, int LDC, class S>
SARRUS_FN double rounding(Stepper<T, LDC, S>& s, double time) {
  const Model<real<T>>& m = s.m;
  const Factor<T>& f = s.w.factor;
  T* y = s.w.a;
  double least = smallest_pivot(s.w), sum = 0;
  for (int r = 0; r < f.rank_rows && !f.regular; ++r) {
    double pivot = pivot_size(s.w, r);
    if (pivot > MOST_PIVOT * least) continue;
    fill(y, s.w.ld);
    y[f.sparse ? f.rows.col[r] : r] = T(4 * CLOSED_TIGHT / (time * pivot));
    reflect_back(f, f.rank, s.w.ld, y);
    each_coordinate(m, [&](int i, int k) {
      double part = value(y[k]) * m.unit[k] / allowed_error(s, i, k, s.v1).velocity;
      sum += part * part;
    });
  }
  return sqrt_(sum / (2 * m.nv));
}

// The trials of one step near a singular pose.
struct Crossing {
  double time;            // until the pose; 0 where there is none
  bool across = false;    // the present trial has the pose in its middle
  bool declined = false;  // such a trial was rejected
  bool mirrored = false;  // pivots at both ends of the present trial are alike

  // Whether a trial of size h, the first one of size `first`, counts although its error is above tolerance.
  template <class T, int LDC, class S>
  SARRUS_HD bool takes(Stepper<T, LDC, S>& s, double error, double h, double first) {
    double pivot = smallest_pivot(s.w), ratio = pivot / s.pivot;
    mirrored = ratio > 0.5 && ratio < 2;
    if (!(error > 1)) return false;
    if (h < SHORTENED * first && pivot < SHORTENED && error < MOST_TAKEN) return true;
    return across && mirrored && error < ROUNDING_FACTOR * (1 + rounding(s, time));
  }
  // Whether a step of size h would end at the pose, where rounding is all that is left of its error.
  SARRUS_HD bool ends_there(double h) const {
    return time > 0 && h > (1 - ENDS_APART) * time && h < (1 + ENDS_APART) * time;
  }
  // Whether a step of size h gets more than half way to the pose.
  SARRUS_HD bool passed_by(double h) const { return time > 0 && h > 0.5 * time; }
  // The next trial after one of size h counted with an error above tolerance.
  SARRUS_HD double after(double h) const { return across ? h : h * 2; }
  // The next trial after one of size h was rejected; `shorter` is what its error asks for.
  SARRUS_HD double next_trial(double h, double shorter, double regular_step) {
    if (across && !mirrored) time = 0;  // no singular pose after all
    declined = declined || across;
    across = time > 0 && !declined && 2 * time <= LONGEST_CROSSING * regular_step;
    return across ? 2 * time : time > 0 && h > time ? 0.5 * time : shorter;
  }
};

SARRUS_END
