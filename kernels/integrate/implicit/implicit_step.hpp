// Steps of the implicit method within a tolerance, and what a step leaves to the next.
#pragma once

#include "integrate/implicit/radau.hpp"
#include "integrate/step.hpp"

SARRUS_BEGIN

constexpr double SHORTER = 0.2, LONGER = 8, SAFETY = 0.9;

// Stages of a step h and the error of its end; false where the iteration fails.
template <class T, int LDC, class S>
SARRUS_FN bool attempt(const Model<real<T>>& m, S& source, double h, bool again, double& error,
                       double& factor, Stepper<T, LDC>& s, Radau<T, LDC>& r) {
  if (!factorize_step(h, r)) return s.fail(NOT_CLOSED);
  int count = newton(m, source, h, s, r);
  if (count == 0) return false;
  error = error_of(m, h, r.f0, s, r);
  if (error >= 1 && (again || r.past_step == 0)) {  // [Hairer1996] eq. (8.20): once more, damped
    for (int k = 0; k < r.n; ++k) r.dZ[k] += r.start[k];
    fill(r.across, s.w.ld);
    if (!stage_rates(m, source, s.t, 1, r.dZ, r.across, r.F, s, r)) return false;
    error = error_of(m, h, r.F, s, r);
  }
  double safety = SAFETY * (2 * MOST_NEWTON + 1) / (2 * MOST_NEWTON + count);
  factor = safety / sqrt_(sqrt_(error > 1e-10 ? error : 1e-10));
  return error == error || s.fail(NOT_FINITE);
}

// The end of the step becomes the state.
template <class T, int LDC, class S>
SARRUS_FN bool land_step(const Model<real<T>>& m, S& source, const Options& o, double t, Stepper<T, LDC>& s,
                         Radau<T, LDC>& r) {
  int end = (STAGES - 1) * s.w.ld;
  integrate(m, r.chart.q0, r.u + end, s.q1);
  for (int j = 0; j < m.nv; ++j) s.v1[j] = s.v[j] + r.v[end + j];
  return arrive(m, source, o, t, s);
}

SARRUS_HD double within(double x, double least, double most) {
  return x < least ? least : x > most ? most : x;
}

// A step within tolerance, at most h long. In: h to try; out: h to try next. Out of a singular pose, the tip
// of a cone that no chart covers, the step is explicit; so is one across such a pose that no chart can take,
// integrate/step.hpp.
template <class T, int LDC, class S>
SARRUS_FN bool implicit_step(const Model<real<T>>& m, S& source, const Options& o, double& h, double t_end,
                             Stepper<T, LDC>& s, Radau<T, LDC>& r) {
  if (s.hold > s.rank) {
    r.past_step = 0;
    return step(m, source, o, h, t_end, s);
  }
  if (!begin_step(m, source, o, s, r)) return false;
  double wished = h, t = s.t, meet = time_to_singular(s);
  for (bool rejected = false;; rejected = true) {
    bool last = h >= (t_end - t) * (1 - 1e-12);
    double now = last ? t_end - t : h, error = 0, factor = 0.5;
    if (!(now > o.least_step)) return s.fail(STEP_COLLAPSED);
    bool found = attempt(m, source, now, rejected, error, factor, s, r);
    if (found && error < 1 && land_step(m, source, o, last ? t_end : t + now, s, r)) {
      double floor = error > 1e-2 ? error : 1e-2;
      if (r.past_step > 0) {  // Gustafsson's predictive controller, [Hairer1996] eq. (8.25)
        double ahead = now / r.past_step * sqrt_(sqrt_(r.past_error / floor));
        factor = ahead < 1 ? factor * ahead : factor;
      }
      factor = within(factor, SHORTER, rejected ? 1 : LONGER);
      h = last && !rejected && now * factor < wished ? wished : now * factor;
      r.past_step = now;
      r.past_error = floor;
      if (meet == 0) s.calm = now;
      swap_(r.u, r.past_u);
      swap_(r.v, r.past_v);
      return true;
    }
    if (s.status != FINE && s.status != NOT_CLOSED && s.status != NOT_FINITE) return false;
    s.status = FINE;
    if (meet > 0 && now > 0.5 * meet) {
      r.past_step = 0;
      return step(m, source, o, h, t_end, s);
    }
    h = now * (found && error >= 1 ? within(factor, SHORTER, 0.9) : 0.5);
  }
}

SARRUS_END
