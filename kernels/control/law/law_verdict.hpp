// What is said of a step of a law: the status of src/sarrus/control/core/law.py, without its words.
#pragma once

#include "control/law/law.hpp"

SARRUS_BEGIN

constexpr double OUTPUTS_MISSED =
    1e-8;  // accelerations missed by less than this, over the wanted ones, are met
constexpr double FORCES_MISSED = 1e-6;  // the same for regulated forces

SARRUS_HD bool is_solved(const ControlFound<double>& f) {
  return f.program == INSIDE || f.program == OPTIMAL;
}

// Whether limits keep the inputs from those without them
SARRUS_HD bool is_limited(const ControlSetup<double>& s, const ControlFound<double>& f) {
  return s.levels ? f.limited : s.limits.m + s.limits.cones > 0 && f.program == OPTIMAL && f.count > 0;
}

SARRUS_HD LawStatus worse(LawStatus status, LawStatus at_least) {
  return status < at_least ? at_least : status;
}

// Whether outputs of a law without levels are met
template <int LDC>
SARRUS_FN bool meets_outputs(const Law<LDC>& s) {
  const LeastNormSolution<double>& l = s.found.least;
  double wanted = 0, missed = 0;
  for (int i = 0; i < l.rows; ++i) {
    wanted = larger(abs_(l.g[i]), wanted);
    missed = larger(abs_(l.g[i] - inner(l.G + i * s.step.setup.n, s.x, s.step.setup.n)), missed);
  }
  return missed <= OUTPUTS_MISSED * (1.0 + wanted);
}

// Of a law with levels
template <int LDC>
SARRUS_FN LawStatus judge(const Law<LDC>& s, LawStatus status) {
  bool damped = false;
  for (int i = 0; i < s.found.level_count; ++i) {
    const double* worst = s.found.judged + 3 * i;
    if (worst[2] > OUTPUTS_MISSED * (1.0 + worst[0])) status = LAW_PARTIAL;
    damped = damped || s.found.levels.damped[i] > 0;
  }
  return damped ? LAW_SINGULAR : status;
}

template <int LDC>
SARRUS_FN bool meets_forces(const Law<LDC>& s) {
  double commanded = 0, missed = 0;
  const ControlFound<double>& f = s.found;
  int p = s.step.setup.forces.p, n = s.step.setup.n;
  if (!s.step.setup.forces.rows) return true;  // of a whole constraint force only a part can be had
  for (int i = 0; i < p; ++i) {
    commanded = larger(abs_(f.commanded[i]), commanded);
    missed = larger(abs_(f.commanded[i] - f.force_y0[i] - inner(f.force_Y + i * n, s.u, n)), missed);
  }
  return missed <= FORCES_MISSED * (1.0 + commanded);
}

// Whether a direction counts in part only, or is lost
template <int LDC>
SARRUS_FN bool fades_out(Law<LDC>& s) {
  const ControlFound<double>& f = s.found;
  s.usual_rank = larger(f.response.rank, s.usual_rank);
  return f.lost || f.ranks.count || f.response.rank < s.usual_rank;
}

// How far outputs and forces are met, without what fades out
template <int LDC>
SARRUS_FN LawStatus judge_motion(const Law<LDC>& s, LawStatus status) {
  const ControlSetup<double>& setup = s.step.setup;
  if (setup.levels) return judge(s, status);
  if (!meets_outputs(s)) status = LAW_PARTIAL;
  if (s.found.least.damped) status = LAW_SINGULAR;
  if (setup.forces.p && status == LAW_OK && !meets_forces(s)) status = LAW_PARTIAL;
  return status;
}

template <int LDC>
SARRUS_FN LawStatus verdict(Law<LDC>& s, bool solved, bool limited) {
  if (!solved) return LAW_INFEASIBLE;
  LawStatus status = judge_motion(s, limited ? LAW_LIMITED : LAW_OK);
  if (fades_out(s)) status = LAW_SINGULAR;
  if (s.step.setup.object.body >= 0 && s.found.stretched) status = worse(status, LAW_SINGULAR);
  return s.footing.moved ? worse(status, LAW_SLIPPING) : status;
}

SARRUS_END
