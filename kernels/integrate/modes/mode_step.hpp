// Steps of a run whose mode changes: each is taken in one mode and ends where
// that mode does.
//
// After a step the guards are looked at. Where one is negative, the step is
// taken again from its beginning, with other ends, until the time at which the
// mode ends is known; there it is settled anew.
#pragma once

#include "integrate/modes/guards.hpp"

SARRUS_BEGIN

constexpr double LOCATED = 1e-13;     // of a step: tolerance of the time at which a mode ends
constexpr double JUST_BEFORE = 1e-8;  // of a step: inputs may jump at its end,
                                      // and samples are due 1e-9 before
constexpr double HESITANT = 1e-5;     // of the bounds: slack after a coordinate that began to slide did not
constexpr int MOST_CHANGES = 60;      // of the mode within one step; more are chatter
constexpr double MOST_VELOCITY_CHANGE = 1e-4;   // of the speeds, as the rows of a new mode begin to hold
constexpr int MOST_TRIALS = 100;                // ends of one step
constexpr double PLACES[] = {0.25, 0.5, 0.75};  // in a step, where speeds are looked at by a cubic

// Time between lo and hi at which the first guard that has ended at hi is zero
// on the line between both
SARRUS_FN double first_zero(const Mode& mode, const Guards& at_lo, const Guards& at_hi, double lo,
                            double hi) {
  double first = hi;
  for (int i = 0; i < at_hi.n; ++i) {
    double x = at_lo.speed[i], y = at_hi.speed[i];
    if (!at_hi.ends(mode, i) || !(x > 0) || !(y <= 0)) continue;
    double t = lo + (hi - lo) * x / (x - y);
    first = t < first ? t : first;
  }
  return first;
}

// Cubic in time through v0, v1 with the slopes a0, a1 at s of a step h
SARRUS_HD double cubic(double v0, double a0, double v1, double a1, double h, double s) {
  double rest = 1 - s;
  return v0 * rest * rest * (1 + 2 * s) + v1 * s * s * (3 - 2 * s) + h * s * rest * (a0 * rest - a1 * s);
}

// Both ends of a step of size h
struct StepEnds {
  const double *v0, *a0, *v1, *a1;  // (nv)
  double h;
};

// A place in the step, at whose ends no mode ends, where a coordinate that slides may have turned round; 1:
// none
SARRUS_FN double turning_place(const ModeTable& table, const Mode& mode, const StepEnds& x) {
  for (double place : PLACES)
    for (int k = 0; k < table.frictions; ++k) {
      int j = table.coordinate[k];
      double d = mode.direction[k];
      bool sure = d == 0 || mode.armed[k] == 0 || d * x.a0[j] > 0;  // a cubic overshoots where a grows
      if (!sure && d * cubic(x.v0[j], x.a0[j], x.v1[j], x.a1[j], x.h, place) <= 0) return place;
    }
  return 1;
}

// What a mode knows of its time: the largest speeds, and which coordinates have slid in their direction.
SARRUS_FN void note_speeds(const ModeTable& table, const Mode& mode, const double* v) {
  for (int k = 0; k < table.frictions; ++k)
    mode.fastest[k] = larger(abs_(v[table.coordinate[k]]), mode.fastest[k]);
}
SARRUS_FN void note_sliding(const ModeTable& table, const Mode& mode, const Guards& now) {
  for (int k = 0; k < table.frictions; ++k)
    if (now.speed[k] > 0 && mode.direction[k] != 0) mode.armed[k] = 1;
}

// The times of a step at which a run tries whether its mode has ended.
struct EndSearch {
  double lo, hi, least, last;
  int trials = 0;
  SARRUS_HD EndSearch(double begin, double end, double width) : lo(begin), hi(end), least(width), last(end) {}
  SARRUS_HD bool found() const { return hi - lo <= least || trials >= MOST_TRIALS; }
  // guess: where the line through the guards is zero
  SARRUS_HD double next(double guess) {
    ++trials;
    if (trials == 1) return hi - JUST_BEFORE * (hi - lo) > lo ? hi - JUST_BEFORE * (hi - lo) : (lo + hi) / 2;
    double apart = guess > last ? guess - last : last - guess, t = guess;
    double beyond = 4 * apart > least ? 4 * apart : least;
    if (trials % 2 == 0)
      t = guess + beyond / 2;  // to the side where the mode has ended, so that hi moves too
    last = guess;
    if (trials % 3 == 0 && trials > 6) t = (lo + hi) / 2;
    double edge = least / 2;
    return t < lo + edge ? lo + edge : t > hi - edge ? hi - edge : t;
  }
};

SARRUS_END
