// A step from a state alone, without the steps before it.
//
// Steps near a singular pose are decided by how the smallest pivot of J changes from step to step. Without a
// step before, the pivot at integrate(q, -h v) takes the place of the pivot then, and is computed only where
// a singular pose may be near: pivots change by at most about PIVOT_RATE per radian or L.
#pragma once

#include "integrate/step.hpp"

SARRUS_BEGIN

constexpr double MOST_OPEN = 1e-2;  // radians or L: a state further away from the constraints is refused

// Starts at (q1, v1), for steps of size h.
SARRUS_FN bool start_alone(auto& s, double t, double h) {
  auto& m = s.m;
  copy(s.ku, s.q1, m.nq);
  s.rank = -1;
  s.before = {};
  s.before.close_to_rounding = false;
  if (!start(s, t)) return false;
  difference(m, s.ku, s.q, s.u);
  if (!(largest(m, s.u) < MOST_OPEN)) return s.fail(StepStatus::NOT_CLOSED);
  s.before.step = h;
  s.before.pivot = s.pivot;
  s.before.close_to_rounding = s.pivot < NEAR_SINGULAR;
  double moved = h * largest(m, s.v);
  if (m.nc == 0 || s.held_rank > s.rank || s.pivot > STEPS_CHARTED * PIVOT_RATE * moved) return true;
  set_scaled(s.u, -h, s.v, m.nv);
  s.before.pivot = factorize_within(s, s.rank);
  if (s.o.method.splitting.stages) {  // starts with the factorization at the state
    if (!evaluate(s, s.trial_state(t, ROWS_ONLY), {true, true, false})) return false;
    factorize_rows(m, s.w);
  }
  return true;
}

// From the state, where start_alone() has left it, to time t + h in equal parts; the acceleration at the end
// is left out. `ends` sees the state before and after each part.
SARRUS_FN bool steps_alone(auto& s, double t, double h, int parts, auto&& ends) {
  double first = h / parts;
  s.end = t + h;
  for (int k = 1; k <= parts; ++k) {
    double target = k == parts ? s.end : t + k * first, size = target - s.t;
    ends.begin(s);
    while (s.t < target)
      if (!step(s, size, target)) return false;
    ends.end(s);
  }
  return true;
}
struct NobodyLooks {
  SARRUS_HD void begin(const auto&) {}
  SARRUS_HD void end(const auto&) {}
};
SARRUS_FN bool steps_alone(auto& s, double t, double h, int parts) {
  return steps_alone(s, t, h, parts, NobodyLooks{});
}

// The same from (q1, v1) at time t.
SARRUS_FN bool step_alone(auto& s, double t, double h, int parts) {
  return start_alone(s, t, h / parts) && steps_alone(s, t, h, parts);
}

SARRUS_END
