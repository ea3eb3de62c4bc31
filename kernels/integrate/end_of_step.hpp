// The end of a step becomes the state: projected with a rank decided anew, and with an acceleration whose
// factorization serves the first stage of the next step.
#pragma once

#include "integrate/project_step.hpp"
#include "integrate/singular/acceleration_at_rest.hpp"

SARRUS_BEGIN

// Make (t, q1, v1), which is projected and factorized where it has to be, the state: its acceleration is the
// first stage of the next step.
template <class T, int LDC, class S>
SARRUS_FN bool adopt(const Model<real<T>>& m, S& source, const Options& o, double t, bool project,
                     Stepper<T, LDC>& s) {
  Workspace<T, LDC>& w = s.w;
  if (!look(m, source, t, s.q1, s.v1, 0, {!project, !project, true}, s)) return false;
  if (o.correction == BAUMGARTE) baumgarte(m, s.v1, o, w);
  bool lost = w.factor.rank_rows < s.most_rank || s.most_rank < 0;
  if (!project || (lost && w.factor.rank_rows < m.nc)) {
    if constexpr (!S::supplies_inertia)
      if (project) inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
    int hold = project ? -1 : s.most_rank;  // without projection the rank of the start is kept
    if (project && s.hit && !S::supplies_inertia && moving(s.v1, m.nv))
      prepare_grazing(m, s.q1, s.v1, s.drive, s.user, w.factor.rank_rows, s.d, w);
    else
      prepare(m, s.q1, s.v1, s.drive, s.user, hold, S::supplies_inertia ? nullptr : &s.d, w);
  }
  if (!answer(m, source, t, s.q1, s.v1, s.a, s)) return false;
  if constexpr (!S::supplies_inertia && !S::supplies_acceleration)
    if (project && lost && w.factor.rank_rows < m.nc && !moving(s.v1, m.nv)) leave_rest(m, s);
  if (!project) {
    s.drift = value(position_residual(m, w));
    s.velocity_drift = value(velocity_residual(m, s.v1, w));
  }
  s.step_before = t - s.t;
  s.pivot_before = s.pivot;
  s.t = t;
  for (int j = 0; j < m.nq; ++j) s.q[j] = s.q1[j];
  copy(s.v, s.v1, w.ld);
  s.pivot = smallest_pivot(w);
  s.tight = s.pivot < NEAR_SINGULAR || w.factor.rank_rows != s.rank;
  s.rank = w.factor.rank_rows;
  s.hold = w.factor.rank;
  if (s.rank > s.most_rank) s.most_rank = s.rank;
  return true;
}

SARRUS_HD bool projects(int nc, const Options& o) {
  return o.correction == PROJECT && (nc > 0 || o.keep_energy);
}

// Project (t, q1, v1) and make it the state.
template <class T, int LDC, class S>
SARRUS_FN bool arrive(const Model<real<T>>& m, S& source, const Options& o, double t, Stepper<T, LDC>& s) {
  bool project = projects(m.nc, o);
  if (project) {
    if (!project_position(m, source, t, s)) return false;
    project_velocity(m, s);
    if (o.keep_energy) scale_velocity(m, o, s);
    s.velocity_drift = value(velocity_residual(m, s.v1, s.w));
  }
  return adopt(m, source, o, t, project, s);
}

// What a state owes to the steps before it.
struct Memory {
  double pivot_before = 0, step_before = 0, calm = 0;
  int most_rank = -1;
  bool tight = true;
};

// Make (t, q1, v1), which a run has arrived at before, the state again. Nothing is projected: the run goes on
// to the same bits.
template <class T, int LDC, class S>
SARRUS_FN bool restore(const Model<real<T>>& m, S& source, const Options& o, double t, const Memory& before,
                       Stepper<T, LDC>& s) {
  bool project = projects(m.nc, o);
  fill(s.v1 + m.nv, s.w.ld - m.nv);
  s.most_rank = before.most_rank;
  if (project) {
    if (!look(m, source, t, s.q1, s.v1, ROWS_ONLY, {true, true, false}, s)) return false;
    s.drift = value(position_residual(m, s.w));
    s.pivot = before.pivot_before;
    factorize_passing(m, s);
    s.velocity_drift = value(velocity_residual(m, s.v1, s.w));
  }
  if (!adopt(m, source, o, t, project, s)) return false;
  s.pivot_before = before.pivot_before;
  s.step_before = before.step_before;
  s.calm = before.calm;
  s.tight = before.tight;
  return true;
}

// Start at (t, q1, v1): the factorization is not there yet.
template <class T, int LDC, class S>
SARRUS_FN bool start(const Model<real<T>>& m, S& source, const Options& o, double t, Stepper<T, LDC>& s) {
  fill(s.v1 + m.nv, s.w.ld - m.nv);
  s.w.factor.rank_rows = 0;
  s.w.factor.rank = 1;  // nothing to reuse
  s.pivot = 0;
  return arrive(m, source, o, t, s);
}

SARRUS_END
