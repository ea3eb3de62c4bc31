// Steps of the implicit method within a tolerance, and what a step leaves to the next.
#pragma once

#include "integrate/implicit/radau.hpp"
#include "integrate/step.hpp"

SARRUS_BEGIN

constexpr double MOST_IMPLICIT_GROWTH = 8;

// What one trial of a step says: whether its stages were found, its error in units of the tolerance, and the
// change of the step size that it asks for.
struct Attempt {
  bool found = false;
  double error = 0, factor = 0.5;

  SARRUS_HD bool fits() const { return found && error < 1; }
  // The part of the step to try after this one was rejected
  SARRUS_HD double shorter() const { return found && error >= 1 ? within(factor, MOST_CUT, 0.9) : 0.5; }
};

// What rounding does to the velocities of stages, root mean square in units of the tolerance: phi is closed
// to c, which leaves c / p of q across a row with pivot p and turns the row by that over p.
SARRUS_FN double stage_rounding(const auto& s, const auto& r) {
  double c = s.before.close_to_rounding ? 4 * CLOSED_TIGHT : CLOSED, sum = 0;
  double turned = s.m.nc ? 2 * c / (s.pivot * s.pivot) * largest(s.m, s.v) : 0;
  for (int j = 0; j < s.m.nv; ++j) {
    double x = turned * s.m.unit[j] / value(r.scale[s.w.ld + j]);
    sum += x * x;
  }
  return s.m.nv ? sqrt_(sum / (2 * s.m.nv)) : 0;
}

// Stages of a step h and the error of its end. Below what rounding does no error can be seen.
SARRUS_FN Attempt attempt(auto& s, auto& r, double h, bool again) {
  Attempt out;
  if (!factorize_step(r, h)) {
    s.fail(StepStatus::NOT_CLOSED);
    return out;
  }
  int count = newton(s, r, h);
  if (count == 0) return out;
  out.error = error_of(s, r, h, r.f0);
  if (out.error >= 1 && (again || r.past_step == 0)) {  // [Hairer1996] eq. (8.20): once more, damped
    add(r.dZ, r.start, r.n);
    fill(r.across, s.w.ld);
    if (!stage_rates(s, r, s.t, 0, r.dZ, r.F)) return out;
    out.error = error_of(s, r, h, r.F);
  }
  double noise = stage_rounding(s, r), across = error_across(s, r, h) - ROUNDING_FACTOR * noise;
  out.error = larger(across, out.error) / (1 + noise);
  double safety = SAFETY * (2 * MOST_NEWTON + 1) / (2 * MOST_NEWTON + count);
  out.factor = safety / sqrt_(sqrt_(out.error > 1e-10 ? out.error : 1e-10));
  out.found = out.error + across == out.error + across || s.fail(StepStatus::NOT_FINITE);
  return out;
}

// s.q1, s.v1: the end of the step, with its local coordinates kept. Projection in the metric of M, which
// closes the ends of explicit steps, spares heavy bodies: a light crank beside a dead centre turns by a
// million times what Newton has left of phi rather than move a rocker of 1e12 times its mass.
SARRUS_FN void close_end(auto& s, auto& r, double t) {
  int last = STAGES - 1, ld = s.w.ld;
  auto *y = r.dZ, *across = r.across + last * ld;
  set_sum(y, r.start, r.Z + last * r.n, r.n);
  if (close_stage(s, t, y, across, r.chart)) return close_velocity(s, y + r.chart.positions().n, r.chart);
  s.recover();
  integrate(s.m, r.chart.q0, r.u + last * ld, s.q1);
  set_sum(s.v1, s.v, r.v + last * ld, s.m.nv);
}

// Makes the end of the step the state.
SARRUS_FN bool accept_end(auto& s, auto& r, double t) {
  close_end(s, r, t);
  return project_and_accept(s, t);
}

// What an accepted step of size h leaves to the next; the change of the step size with Gustafsson's
// predictive controller, [Hairer1996] eq. (8.25).
template <class T, int LDC>
SARRUS_FN double remember(Radau<T, LDC>& r, double h, const Attempt& now) {
  double floor = now.error > 1e-2 ? now.error : 1e-2, factor = now.factor;
  if (r.past_step > 0) {
    double ahead = h / r.past_step * sqrt_(sqrt_(r.past_error / floor));
    factor = ahead < 1 ? factor * ahead : factor;
  }
  r.past_step = h;
  r.past_error = floor;
  swap_(r.u, r.past_u);
  swap_(r.v, r.past_v);
  return factor;
}

// The step to try after an accepted one of size `now`: not shorter than `least`, unless that was rejected.
SARRUS_HD double next_implicit(auto& r, double now, const Attempt& tried, bool rejected, double least) {
  double next = now * within(remember(r, now, tried), MOST_CUT, rejected ? 1 : MOST_IMPLICIT_GROWTH);
  return rejected ? next : larger(least, next);
}

// Whether a step is so short for want of accuracy, and not because a sample or a change lies so near
SARRUS_HD bool has_collapsed(const auto& s, double step, bool last) {
  return !last && !(step > s.o.least_step);
}

// Whether the error of a step would be nothing but rounding: of one that is so short, or of a singular pose
// that lies so far ahead
SARRUS_HD bool shows_rounding(const auto& s, const auto& r, double singular, double step) {
  if (!(step > s.o.least_step)) return true;
  bool reached = singular > 0 && step > (1 - ENDS_APART) * singular;
  return Crossing{singular}.ends_there(step) || (reached && stage_rounding(s, r) > 1);
}

// A step within tolerance, at most h long. In: h to try; out: h to try next. Out of a singular pose, the tip
// of a cone that no chart covers, the step is explicit; so is one across such a pose that no chart can take,
// or with a tolerance below rounding, which depends on where its stages lie (integrate/step.hpp).
SARRUS_FN bool implicit_step(auto& s, auto& r, double& h, double t_end) {
  auto explicit_instead = [&] {
    r.past_step = 0;
    return step(s, h, t_end);
  };
  if (s.held_rank > s.rank) return explicit_instead();
  if (!begin_step(s, r)) return false;
  double wished = h, t = s.t, singular = time_to_singular(s);
  for (bool rejected = false;; rejected = true) {
    auto [now, end, last] = span(t, h, t_end);
    if (has_collapsed(s, now, last)) return s.fail(StepStatus::STEP_COLLAPSED);
    if (shows_rounding(s, r, singular, now)) return explicit_instead();
    Attempt tried = attempt(s, r, now, rejected);
    if (tried.fits() && accept_end(s, r, end)) {
      if (singular == 0) s.before.regular_step = now;
      h = next_implicit(r, now, tried, rejected, last ? wished : 0);
      return true;
    }
    if (!s.may_try_again()) return false;
    if (Crossing{singular}.passed_by(now)) return explicit_instead();
    h = now * tried.shorter();
  }
}

SARRUS_END
