// Makes the end of a step the state: projected with a rank decided anew, and with an acceleration whose
// factorization serves the first stage of the next step.
#pragma once

#include "integrate/project_step.hpp"
#include "integrate/singular/acceleration_at_rest.hpp"
#include "integrate/singular/near_miss.hpp"
#include "solve/redundant_rows.hpp"

SARRUS_BEGIN

// Whether no row is lost at this pose only   in: factorized by the augmented inertia
template <class T, int LDC, class S>
SARRUS_FN bool loses_nothing_here(Stepper<T, LDC, S>& s) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (s.w.factor.regular) {
      general_motion(s.m, s.x);
      differentiate_rows(s.m, s.state(s.q1, s.x), s.d);
      return redundant_for_good(s.m, s.d, real<T>(1), s.w.factor.augmented);
    }
  return false;
}

// Factorizes at the projected state (q1, v1) with the limits of lost rows in their place.
template <class T, int LDC, class S>
SARRUS_FN void prepare_with_limits(Stepper<T, LDC, S>& s) {
  State<T> x = s.state(s.q1, s.v1);
  if constexpr (S::supplies_inertia) {
    prepare(s.m, x, -1, static_cast<Tangent<T, LDC>*>(nullptr), s.w);
  } else {
    evaluate_inertia(s.m, s.w);
    if (s.passing && moving(s.v1, s.m.nv))
      prepare_grazing(s.m, x, s.w.factor.rank_rows, s.d, s.w);
    else
      prepare(s.m, x, -1, &s.d, s.w);
  }
}

// Where fewer rows are independent at the projected state than the run has seen: replaces those that are lost
// at this pose only. Returns whether there are some.
template <class T, int LDC, class S>
SARRUS_FN bool replace_lost_rows(Stepper<T, LDC, S>& s) {
  const Factor<T>& f = s.w.factor;
  if (f.rank_rows == s.m.nc || loses_nothing_here(s)) return false;
  if (f.regular) {
    make_dense(s.m, s.w);  // the limits of lost rows are found by the orthogonal factorization
    factorize_rows(s.m, s.w);
    leave_regular_poses(s, smallest_pivot(s.w));
  }
  if (f.rank_rows == s.m.nc) return false;
  prepare_with_limits(s);
  return f.rank_rows < s.m.nc;
}

// Factorizes at (q1, v1) off the constraints, where rows that depend on others seem independent.
template <class T, int LDC, class S>
SARRUS_FN void prepare_unprojected(Stepper<T, LDC, S>& s) {
  State<T> x = s.state(s.q1, s.v1);
  Tangent<T, LDC>* limits = S::supplies_inertia ? nullptr : &s.d;
  int most = s.before.largest_rank;
  prepare(s.m, x, s.held_unprojected(), limits, s.w);
  if (most >= 0 && s.w.factor.rank_rows > most) prepare(s.m, x, most, limits, s.w);
}

// Acceleration s.a of (t, q1, v1), which is projected and factorized where `project` is true. Lost rows are
// replaced by their limits.
template <class T, int LDC, class S>
SARRUS_FN bool accelerate_accepted(Stepper<T, LDC, S>& s, double t, bool project) {
  const Factor<T>& f = s.w.factor;
  Instant<T> at = s.trial_state(t, 0);
  if (!evaluate(s, at, {!project, !project, true})) return false;
  add_feedback(s, s.v1);
  bool fewer = f.rank_rows < s.before.largest_rank || s.before.largest_rank < 0, replaced = false;
  if (!project)  // the rank of the start, or that nearby, is kept
    prepare_unprojected(s);
  else if (fewer)
    replaced = replace_lost_rows(s);
  if (!accelerate(s, at, s.a)) return false;
  if constexpr (!S::supplies_inertia && !S::supplies_acceleration)
    if (replaced && f.rank == f.rank_rows && !moving(s.v1, s.m.nv)) accelerate_from_rest(s);
  return true;
}

// Makes (t, q1, v1) the state; its acceleration is the first stage of the next step.
SARRUS_FN bool accept_step(auto& s, double t, bool project) {
  auto& w = s.w;
  bool unused = t >= s.end && (project || s.m.nc == 0);
  if (!unused && !accelerate_accepted(s, t, project)) return false;
  if (!project) {
    s.drift = value(position_residual(s.m, w));
    s.velocity_drift = value(velocity_residual(s.m, s.v1, w));
  }
  s.before.step = t - s.t;
  s.before.pivot = s.pivot;
  s.before.limits = s.held_rank != s.rank;
  s.t = t;
  copy(s.q, s.q1, s.m.nq);
  copy(s.v, s.v1, w.ld);
  s.pivot = smallest_pivot(w);
  s.regular.trusted = w.factor.regular;
  s.regular.blocked = false;
  s.regular.distance = value(w.factor.augmented.distance);
  s.before.close_to_rounding = s.pivot < NEAR_SINGULAR || w.factor.rank_rows != s.rank;
  s.rank = w.factor.rank_rows;
  s.held_rank = w.factor.rank;
  if (s.rank > s.before.largest_rank) s.before.largest_rank = s.rank;
  return true;
}

// Projects (t, q1, v1) and makes it the state. `inaccurate`: its error is above tolerance.
SARRUS_FN bool project_and_accept(auto& s, double t, bool inaccurate = false) {
  bool project = s.projects();
  if (s.rank >= 0 && jumps(s, t - s.t, inaccurate)) return s.fail(StepStatus::UNRESOLVED);
  if (project) {
    if (!project_position(s, t)) return false;
    project_velocity(s);
    if (s.o.keep_energy) scale_velocity(s);
    s.velocity_drift = value(velocity_residual(s.m, s.v1, s.w));
  }
  return accept_step(s, t, project);
}

// Makes (t, q1, v1), which a run has accepted before, the state again. Nothing is projected: the run goes on
// to the same bits.
SARRUS_FN bool restore(auto& s, double t, const History& before) {
  bool project = s.projects();
  fill(s.v1 + s.m.nv, s.w.ld - s.m.nv);
  s.regular = {.allowed = s.regular.allowed};
  s.before.largest_rank = before.largest_rank;
  s.rank = project ? 0 : before.largest_rank;
  s.held_rank = before.limits ? 1 : 0;
  if (project) {
    if (!evaluate(s, s.trial_state(t, ROWS_ONLY), {true, true, false})) return false;
    s.drift = value(position_residual(s.m, s.w));
    s.pivot = before.pivot;
    factorize_in_passing(s);
    s.velocity_drift = value(velocity_residual(s.m, s.v1, s.w));
  }
  if (!accept_step(s, t, project)) return false;
  int largest = s.before.largest_rank;
  s.before = before;
  s.before.largest_rank = largest;
  return true;
}

// Starts at (t, q1, v1): the factorization is not there yet.
SARRUS_FN bool start(auto& s, double t) {
  fill(s.v1 + s.m.nv, s.w.ld - s.m.nv);
  s.regular = {.allowed = s.regular.allowed};
  s.w.factor.regular = false;
  s.w.factor.rank_rows = 0;
  s.w.factor.rank = 1;  // nothing to reuse
  s.pivot = 0;
  return project_and_accept(s, t);
}

SARRUS_END
