// One step in time of a constrained mechanism: of fixed size, or within a tolerance.
#pragma once

#include "integrate/end_of_step.hpp"
#include "integrate/singular/crossing.hpp"
#include "integrate/singular/step_from_rest.hpp"
#include "integrate/stages.hpp"

SARRUS_BEGIN

constexpr int MOST_CUTS = 6;          // of a fixed step that cannot be closed
constexpr double CUT = 0.37;          // to this part of it
constexpr double LEAST_PART = 1e-6;   // of a fixed step, to which it is cut before a near miss
constexpr double STAGE_APART = 0.15;  // of a step: distance of its stages from a singular pose
constexpr double CROSSED_AT = 0.75;   // of a step: where it crosses a singular pose that was too near
constexpr double WHOLE = 1 - 1e-12;   // of the time left: a step so long goes all the way
constexpr double MOST_GROWTH = 5, MOST_CUT = 0.2, SAFETY = 0.9;  // of adaptive steps from one to the next
constexpr double FIRST_TRAVEL = 2e-3, FIRST_AT_REST = 1e-3;      // radians or L; [s] where nothing moves
constexpr double NO_ESTIMATE = 1e10;                             // error of a step without one
constexpr double MOST_TURN = 1.5;  // [rad] of a ball joint or free body in an adaptive step

// Whether the end of a step could not be closed, or crosses something: a shorter one may. That is forgotten.
SARRUS_HD bool ends_elsewhere(auto& s) {
  if (s.status != StepStatus::NOT_CLOSED && s.status != StepStatus::UNRESOLVED) return false;
  s.status = StepStatus::FINE;
  return true;
}

// A step of size h from t on, cut at t_end
struct Span {
  double size, end;
  bool last;
};
SARRUS_HD Span span(double t, double h, double t_end) {
  double left = t_end - t;
  if (h >= left * WHOLE) return {left, t_end, true};
  return {h, t + h, false};
}

// Change of the step size that an error asks for: error^(-1/4), for methods of order 4 and 5.
SARRUS_HD double step_factor(double error) { return SAFETY / sqrt_(sqrt_(error)); }

// A first step to try: a small part of the time in which the motion gets one radian or L further.
SARRUS_FN double first_step(const auto& s) {
  double speed = largest(s.m, s.v), rise = sqrt_(largest(s.m, s.a));
  double rate = larger(speed, rise);
  return rate > 0 ? FIRST_TRAVEL / rate : FIRST_AT_REST;
}

// Square of the rate at which the free rotation of node i turns; 0 where it has none
SARRUS_HD double turning_squared(const auto& s, int i) {
  int joint = s.m.joint[i];
  if (joint != BALL && joint != FREE) return 0;
  const auto* w = s.v + s.m.iv[i] + (joint == FREE ? 3 : 0);
  return value(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
}

// Longest adaptive step [s]. The rotation from one state to the next tells how a body turned in between only
// below half a turn, and a body that spins freely makes no error that would limit its steps.
SARRUS_FN double longest_step(const auto& s) {
  if (!s.o.method.adaptive) return s.o.most_step;
  double most = largest_of(s.m.nn - 1, [&](int i) { return turning_squared(s, i + 1); });
  return most > 0 ? smaller(MOST_TURN / sqrt_(most), s.o.most_step) : s.o.most_step;
}

// Tries a step of size h: its error, NO_ESTIMATE where an acceleration is missing. `trouble`: the reason to
// give where shorter steps do not help either. False: they need not be tried.
SARRUS_FN bool try_step(auto& s, double h, double& error, StepStatus& trouble) {
  error = NO_ESTIMATE;
  if (trial(s, h))
    error = error_norm(s, h);
  else if (s.status == StepStatus::SINGULAR_INERTIA)
    trouble = s.status;  // of a stage far away, or wherever the step ends
  else if (s.status != StepStatus::NOT_FINITE)
    return false;
  s.status = StepStatus::FINE;
  return true;
}

// The step to try after one of size `now`, at most `grow` times as long. h: the step that was to be tried,
// which is longer than `now` at the end of a run.
SARRUS_HD double next_step(double now, double error, double grow, double h, bool last) {
  double next = now * within(error > 0 ? step_factor(error) : grow, MOST_CUT, grow);
  return last ? larger(h, next) : next;
}

// A step within tolerance, at most h long. In: h to try; out: h to try next. It shrinks until the estimate is
// within tolerance, or is taken across a singular pose (integrate/singular/crossing.hpp).
SARRUS_FN bool adaptive_step(auto& s, double& h, double t_end) {
  double grow = MOST_GROWTH, first = h;
  StepStatus trouble = StepStatus::STEP_COLLAPSED;
  Crossing crossing{time_to_singular(s)};
  if (crossing.ends_there(h)) h = crossing.next_trial(h, 0.5 * crossing.time, s.before.regular_step);
  for (;; grow = 1) {
    double error;
    auto [now, end, last] = span(s.t, h, t_end);
    if (!try_step(s, now, error, trouble)) return false;
    bool taken = crossing.takes(s, error, now, first);
    if (error <= 1 || taken) {
      double regular = !taken && crossing.time == 0 ? h : s.before.regular_step;
      if (project_and_accept(s, end, taken)) {
        h = taken ? crossing.after(now) : next_step(now, error, grow, h, last);
        s.before.regular_step = regular;
        return true;
      }
      if (!ends_elsewhere(s)) return false;
      error = NO_ESTIMATE;
    }
    if (!(now > s.o.least_step)) return s.fail(trouble);
    double shorter = now * larger(MOST_CUT, step_factor(error));
    h = crossing.next_trial(now, shorter, s.before.regular_step);
  }
}

// A step of at most h whose stages keep away from the singular pose ahead: rounding of size e in phi makes
// accelerations wrong by e/p^3, p the pivot. Where h itself ends next to the pose nothing is gained.
SARRUS_FN double away_from_singular(const auto& s, double h) {
  const Tableau& tab = s.o.method.tableau;
  double time = s.projects() ? time_to_singular(s) : 0, beyond = time / CROSSED_AT;
  if (!(0 < time && beyond < h)) return h;
  auto near = [&](int i) { return abs_(time / h - tab.c[i + 1]) < STAGE_APART; };
  return any_of(tab.stages - 1, near) ? beyond : h;
}

// The step from the state to time t, of the given size or shorter ones: where the loops cannot be closed at
// its end, which happens when that lies within rounding of a singular pose, it ends somewhere else first.
SARRUS_FN bool fixed_step(auto& s, double t, bool from_rest) {
  double h = t - s.t, whole = h;
  for (int cuts = 0;;) {
    auto [now, end, last] = span(s.t, away_from_singular(s, smaller(h, t - s.t)), t);
    bool tried = from_rest ? trial_from_rest(s, now) : trial(s, now);
    if (tried && project_and_accept(s, end)) {
      if (last) return true;
      from_rest = false;
      h = 2 * now;
      continue;
    }
    bool unresolved = s.status == StepStatus::UNRESOLVED;
    bool may_be_cut = unresolved ? now > LEAST_PART * whole : ++cuts <= MOST_CUTS;
    if (!may_be_cut || !ends_elsewhere(s)) return false;
    h = CUT * now;
  }
}

// One accepted step of at most h, never past t_end.
SARRUS_FN bool step(auto& s, double& h, double t_end) {
  bool adaptive = s.o.method.adaptive, from_rest = rests_at_singular(s);
  if (adaptive && !from_rest) return adaptive_step(s, h, t_end);
  if (adaptive) h = stays_at_rest(s) ? MOST_GROWTH * h : first_step_from_rest(s);
  double t = span(s.t, h, t_end).end;
  return stays_at_rest(s) ? stay(s, t) : fixed_step(s, t, from_rest);
}

SARRUS_END
