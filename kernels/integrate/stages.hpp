// The stages of one step, and what they say about its error (integrate/methods.hpp, (1) and (2)).
//
//   u' = increment_rate(u, v),  v' = a(q0 + u, v, t)     on the tangent space at the start of the step (1)
//
// (Runge-Kutta-Munthe-Kaas: orders hold for quaternions too.) The rank of J is decided on the manifold, at
// the start of the step, and held through its stages: off the manifold a redundant row becomes independent
// by the size of the drift.
#pragma once

#include "integrate/local_chart.hpp"

SARRUS_BEGIN

constexpr int MOST_KICKS = 20;        // iterations of a kick with the velocity after it
constexpr double KICK_FOUND = 1e-13;  // of the speed: change of that velocity at which they end
constexpr double STEP_SHARE = 0.5;    // of the tolerance: what one explicit step may err by

// Whether the stages of the next step are projected, those of fixed steps in a chart already further away.
SARRUS_HD bool projects_stages(const auto& s, bool charted) {
  return s.o.correction == Correction::PROJECT && s.m.nc > 0 &&
         near_singular(s, charted ? STEPS_CHARTED : STEPS_AROUND);
}

// Acceleration of a stage at (t, q1, v1) of a step h, into out (ld). `closed`: on the constraints, in
// the chart of the step.
template <class T, int LDC, class S>
SARRUS_FN bool accelerate_stage(Stepper<T, LDC, S>& s, const Instant<T>& at, double h, bool closed, T* out) {
  if (!evaluate(s, at, {true, true, true})) return false;
  add_feedback(s, s.v1);
  prepare_without_limits(s, s.held_in_stages());
  if constexpr (!S::supplies_inertia)
    if (int regular = closed ? pivots_above(s.w, LOST_IN_PASSING) : regular_pivots(s, h);
        s.o.correction == Correction::PROJECT && regular < s.w.factor.rank_rows)
      prepare_grazing(s.m, s.state(s.q1, s.v1), regular, s.d, s.w);
  return accelerate(s, at, out);
}

// s.q1, s.v1 after an explicit Runge-Kutta step of size h from (s.q, s.v, s.a)
template <class T, int LDC, class S>
SARRUS_FN bool runge_kutta_trial(Stepper<T, LDC, S>& s, double h) {
  const Tableau& tab = s.o.method.tableau;
  int ld = s.w.ld;
  bool near = projects_stages(s, false), charted = projects_stages(s, !s.o.method.adaptive);
  charted = charted && open_stage_chart(s);
  if (s.status != StepStatus::FINE) return false;
  copy(s.ku, s.v, ld);
  copy(s.kv, s.a, ld);
  for (int i = 1; i <= tab.stages; ++i) {
    fill(s.u, ld);
    copy(s.v1, s.v, ld);
    add_rates(tab, i, h, s.ku, ld, s.u);
    add_rates(tab, i, h, s.kv, ld, s.v1);
    integrate(s.m, s.q, s.u, s.q1);
    if (i == tab.stages) break;
    double t = s.t + tab.c[i] * h;
    bool closed = charted && close_charted_stage(s, t);
    if (near && !charted) project_stage(s, t);
    if (s.status != StepStatus::FINE) return false;
    if (!accelerate_stage(s, s.trial_state(t, i), h, closed, s.kv + i * ld)) return false;
    increment_rate(s.m, s.u, s.v1, s.ku + i * ld);
  }
  return true;
}

// Projects q1 after a drift of size h [s] and corrects v1 by the same displacement, as RATTLE does: Newton
// uses the factorization at the beginning of the drift, so that the correction acts along the constraint
// forces there.
SARRUS_FN bool project_drift(auto& s, double t, double h) {
  difference(s.m, s.q, s.q1, s.u);
  if (!project_position(s, t, SLOW_DRIFT)) return false;
  difference(s.m, s.q, s.q1, s.x);
  for (int j = 0; j < s.m.nv; ++j) s.v1[j] += (s.x[j] - s.u[j]) / h;
  return true;
}

// Acceleration s.kv (ld) of kick i of a step h at (q1, v* = v1 + ahead_i kick_i h s.kv), by fixed-point
// iteration from the acceleration of the kick before, which s.kv holds. v1 stays. Where q1 is projected, so
// is v*.
template <class T, int LDC, class S>
SARRUS_FN bool accelerate_kick(Stepper<T, LDC, S>& s, double t, double h, int i, bool projected) {
  double ahead = s.o.method.splitting.ahead[i] * s.o.method.splitting.kick[i] * h;
  int ld = s.w.ld;
  Instant<T> at = s.trial_state(t, i);
  T *v = s.ku, *a = s.kv + ld;
  copy(v, s.v1, ld);
  for (int k = 0; k < MOST_KICKS; ++k) {
    copy(s.v1, v, ld);
    axpy(s.v1, T(ahead), s.kv, ld);
    if (projected) project_velocity(s);
    if (k == 0 && !projected) {
      if (!accelerate_stage(s, at, h, false, a)) return false;
    } else {  // M, J and the factorization at q1 are there
      if (!evaluate(s, at, {false, false, true})) return false;
      add_feedback(s, s.v1);
      if (!accelerate(s, at, a)) return false;
    }
    set_difference(s.x, a, s.kv, s.m.nv);
    copy(s.kv, a, ld);
    if (ahead * largest(s.m, s.x) <= KICK_FOUND * largest(s.m, s.v1)) break;
  }
  copy(s.v1, v, ld);
  return true;
}

// s.q1, s.v1 after a splitting step of size h from (s.q, s.v, s.a)
template <class T, int LDC, class S>
SARRUS_FN bool splitting_trial(Stepper<T, LDC, S>& s, double h) {
  const Splitting& split = s.o.method.splitting;
  int ld = s.w.ld;
  double t = s.t;
  bool project = s.o.correction == Correction::PROJECT && s.m.nc > 0;
  copy(s.q1, s.q, s.m.nq);
  copy(s.v1, s.v, ld);
  copy(s.kv, s.a, ld);
  for (int i = 0; i < split.stages; ++i) {
    if (i > 0 && project && !project_drift(s, t, h * split.drift[i - 1])) return false;
    if (i > 0 && !accelerate_kick(s, t, h, i, project)) return false;
    axpy(s.v1, T(h * split.kick[i]), s.kv, ld);
    if (split.drift[i] == 0) continue;
    for (int j = 0; j < s.m.nv; ++j) s.u[j] = s.v1[j] * (h * split.drift[i]);
    integrate(s.m, s.q1, s.u, s.q2);
    copy(s.q1, s.q2, s.m.nq);
    t += h * split.drift[i];
  }
  return true;
}

// s.q1, s.v1 after a step of size h, not projected yet.
SARRUS_FN bool trial(auto& s, double h) {
  bool found = s.o.method.splitting.stages ? splitting_trial(s, h) : runge_kutta_trial(s, h);
  return found && ((finite(s.q1, s.m.nq) && finite(s.v1, s.m.nv)) || s.fail(StepStatus::NOT_FINITE));
}

// The error estimate of coordinate k from its rates (stages, ld)
SARRUS_HD double estimate(const Tableau& tab, const auto* rates, int k, int ld) {
  return sum_of<double>(tab.stages, [&](int j) { return tab.e[j] * value(rates[j * ld + k]); });
}

// The error estimate of a step over what it may be: of the worst coordinate. (The root mean square of n
// coordinates hides sqrt(n) of it, and the sum over a run came out at 130 tolerances.) Next to a singular
// pose, where rounding in phi disturbs single coordinates, it is the root mean square.
SARRUS_FN double error_norm(const auto& s, double h) {
  auto& m = s.m;
  const Tableau& tab = s.o.method.tableau;
  double most = 0, sum = 0;
  int ld = s.w.ld;
  each_coordinate(m, [&](int i, int k) {
    Allowed allowed = allowed_error(s, i, k, s.v1);
    double eu = estimate(tab, s.ku, k, ld) * (h / allowed.position);
    double ev = estimate(tab, s.kv, k, ld) * (h / allowed.velocity);
    sum += eu * eu + ev * ev;
    most = larger(larger(eu * eu, ev * ev), most);
  });
  return sqrt_(m.nc > 0 && s.pivot < SINGULAR_IN_SIGHT ? sum / (2 * m.nv) : most) / STEP_SHARE;
}

SARRUS_END
