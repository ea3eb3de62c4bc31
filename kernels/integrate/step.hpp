// One step in time of a constrained mechanism: of fixed size, or within a tolerance.
#pragma once

#include "integrate/end_of_step.hpp"
#include "integrate/singular/step_from_rest.hpp"
#include "integrate/stages.hpp"

SARRUS_BEGIN

constexpr int MOST_CUTS = 6;  // of a fixed step that cannot be closed
constexpr double CUT = 0.37;  // to this part of it

// Time until the smallest pivot, extrapolated from the last step, is zero; 0 where no zero is near.
template <class T, int LDC>
SARRUS_HD double time_to_singular(const Stepper<T, LDC>& s) {
  double lost = s.pivot_before - s.pivot;
  return lost > 0 && s.pivot < SINGULAR_IN_SIGHT ? s.pivot * s.step_before / lost : 0;
}

// What rounding alone does to the error estimate of a step across a singular pose, in units of the tolerance.
// With phi = x y closed to c, x = pivot and dx/dt = pivot / meet, the path x y = c has y'' = 2 c (dx/dt)^2 /
// x^3.
template <class T, int LDC>
SARRUS_FN double rounding(const Model<real<T>>& m, const Options& o, double meet, const Stepper<T, LDC>& s) {
  double speed = 0;
  for (int j = 0; j < m.nv; ++j) {
    double x = value(abs_(s.v[j]));
    speed = x > speed ? x : speed;
  }
  return 4 * CLOSED_TIGHT / (meet * s.pivot * (o.atol + o.rtol * speed));
}

// A step within tolerance, at most h long. In: h to try; out: h to try next. It shrinks until the estimate is
// within tolerance. Not so across a singular pose: rounding makes the estimate grow as steps creep up to it,
// and leads off the branch. Such a step is taken with the pose in its middle, hardly longer than those
// before, once nothing but rounding is left of its error; its pivots must mirror each other.
template <class T, int LDC, class S>
SARRUS_FN bool adaptive_step(const Model<real<T>>& m, S& source, const Options& o, double& h, double t_end,
                             Stepper<T, LDC>& s) {
  double grow = 5, first = h, meet = time_to_singular(s);
  bool across = false, declined = false;
  for (;;) {
    double left = t_end - s.t, error = 1e10;
    bool last = h >= left * (1 - 1e-12);
    double now = last ? left : h;
    if (trial(m, source, o, now, s))
      error = error_norm(m, o, now, s);
    else if (s.status != NOT_FINITE)
      return false;
    s.status = FINE;
    double pivot = smallest_pivot(s.w), ratio = pivot / s.pivot;
    bool mirrored = ratio > 0.5 && ratio < 2, noisy = error < ROUNDING_FACTOR * (1 + rounding(m, o, meet, s));
    bool taken = error > 1 && ((across && mirrored && noisy) || (now < 1e-3 * first && pivot < 1e-3));
    if (error <= 1 || taken) {
      double factor = error > 0 ? 0.9 / sqrt_(sqrt_(error)) : grow;  // error^(-1/5), a little cautious
      factor = factor > grow ? grow : factor < 0.2 ? 0.2 : factor;
      double next = taken ? (across ? now : now * 2) : (last && now * factor < h ? h : now * factor);
      double calm = !taken && meet == 0 ? h : s.calm;
      if (arrive(m, source, o, last ? t_end : s.t + now, s)) {
        h = next;
        s.calm = calm;
        return true;
      }
      if (s.status != NOT_CLOSED) return false;
      s.status = FINE;
      error = 1e10;
    }
    if (!(now > o.least_step)) return s.fail(STEP_COLLAPSED);
    grow = 1;
    if (across && !mirrored) meet = 0;  // not what it seemed
    declined = declined || across;
    across = meet > 0 && !declined && 2 * meet <= 1.5 * s.calm;
    double factor = 0.9 / sqrt_(sqrt_(error));
    h = across ? 2 * meet : meet > 0 && now > meet ? 0.5 * meet : now * (factor < 0.2 ? 0.2 : factor);
  }
}

// The step from the state to time t, of the given size or shorter ones: where the loops cannot be closed at
// its end, which happens when that lies within rounding of a singular pose, it ends somewhere else first.
template <class T, int LDC, class S>
SARRUS_FN bool fixed_step(const Model<real<T>>& m, S& source, const Options& o, double t, bool out,
                          Stepper<T, LDC>& s) {
  double h = t - s.t;
  for (int cuts = 0; cuts <= MOST_CUTS;) {
    bool last = h >= (t - s.t) * (1 - 1e-12);
    double now = last ? t - s.t : h;
    bool tried = out ? trial_out_of_rest(m, source, now, s) : trial(m, source, o, now, s);
    if (tried && arrive(m, source, o, last ? t : s.t + now, s)) {
      if (last) return true;
      out = false;
    } else if (s.status == NOT_CLOSED && ++cuts <= MOST_CUTS) {
      s.status = FINE;
      h = CUT * now;
    } else {
      return false;
    }
  }
  return false;
}

// One accepted step of at most h, never past t_end.
template <class T, int LDC, class S>
SARRUS_FN bool step(const Model<real<T>>& m, S& source, const Options& o, double& h, double t_end,
                    Stepper<T, LDC>& s) {
  bool out = projects(m.nc, o) && leaves_rest(m, s);
  if (o.adaptive && !out) return adaptive_step(m, source, o, h, t_end, s);
  if (o.adaptive) h = step_out_of_rest(m, s);
  bool last = h >= (t_end - s.t) * (1 - 1e-12);
  return fixed_step(m, source, o, last ? t_end : s.t + h, out, s);
}

SARRUS_END
