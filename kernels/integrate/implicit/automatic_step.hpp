// Explicit steps, and implicit ones while the motion is stiff.
//
// Explicit steps are limited by stability where h rho stays near its bound, rho being the largest rate of the
// system ([Hairer1996] sec. IV.2). A hint costs nothing: with the differences du, dv of the last two stages,
// which lie at the same time, and da of their accelerations,
//
//   |da| = rho |dv| + rho^2 |du|                                                                          (1)
//
// for dampers (da = c dv) and for springs (da = w^2 du) alike. It is too low where other errors are as large,
// so after some hints rho is taken from the iteration matrix of implicit steps, whose lower blocks are da/dq
// and da/dv. Implicit steps go on while they are so much longer than explicit ones could be that they are
// worth their cost.
#pragma once

#include "integrate/implicit/implicit_step.hpp"

SARRUS_BEGIN

constexpr double HINT = 0.25;        // h rho of (1) from which it is a hint
constexpr double SPENT = 0.05;       // of the tolerance: smaller errors are rounding, and say nothing
constexpr int HINTS = 15;            // before rho is taken from the iteration matrix
constexpr int CALM_STEPS = 6;        // in a row without a hint, and the count begins anew
constexpr double STIFF = 1;          // h rho of explicit steps that may be limited by stability
constexpr double IMPLICIT_COST = 3;  // of one implicit step, in explicit ones
constexpr int LOSING_STEPS = 3;      // implicit steps in a row that were not worth their cost end the trial
constexpr int MOST_HINTS = 2000;     // each trial in vain doubles the number of hints up to this

// What the choice remembers; numbers, as checkpoints store them.
struct StiffnessWatch {
  double implicit = 0;    // whether steps are implicit now
  double hints = 0;       // explicit steps that looked stiff, or implicit ones that were not worth it
  double calm = 0;        // steps in a row that were not of that kind
  double needed = HINTS;  // hints before the iteration matrix is looked at
  double stable = STIFF;  // h rho of the explicit steps before the switch

  // An explicit step that looked stiff, or did not
  SARRUS_HD void note_explicit(bool hint) {
    calm = hint ? 0 : calm + 1;
    if (hint)
      ++hints;
    else if (calm >= CALM_STEPS)
      hints = 0;
  }
  // An implicit step that was worth its cost, or not
  SARRUS_HD void note_implicit(bool worth) {
    hints = worth ? 0 : hints + 1;
    calm = worth ? calm + 1 : 0;
    if (calm > HINTS) needed = HINTS;
  }
  SARRUS_HD void start_again(bool now_implicit, double hints_needed, double reach) {
    *this = {now_implicit ? 1. : 0., 0, 0, smaller(hints_needed, double(MOST_HINTS)), reach};
  }
};

// Positive root of (1).
SARRUS_HD double rate(double da, double dv, double du) {
  double below = dv + sqrt_(dv * dv + 4 * da * du);
  return below > 0 ? 2 * da / below : 0;
}

// Euclidean norm of x (nv) without units.
template <class T>
SARRUS_HD double norm(const Model<real<T>>& m, const T* x) {
  double sum = sum_of<double>(m.nv, [&](int j) { return value(x[j] * x[j]) / (m.unit[j] * m.unit[j]); });
  return sqrt_(sum);
}

// rho from the stages of the last explicit step, of size h.
template <class T, int LDC, class S>
SARRUS_FN double explicit_rate(Stepper<T, LDC, S>& s, double h) {
  const Tableau& tab = s.o.method.tableau;
  int ld = s.w.ld, last = tab.stages - 1;
  T* stages[] = {s.ku, s.kv};
  double apart[2];
  for (int part = 0; part < 2; ++part) {
    fill(s.x, ld);
    for (int j = 0; j < last; ++j)
      axpy(s.x, T(h * (tab.A[last][j] - tab.A[last - 1][j])), stages[part] + j * ld, ld);
    apart[part] = norm(s.m, s.x);
  }
  set_difference(s.x, s.kv + last * ld, s.kv + (last - 1) * ld, s.m.nv);
  return rate(norm(s.m, s.x), apart[1], apart[0]);
}

// rho from the iteration matrix of the last implicit step, in the norm of largest row sums.
template <class T, int LDC>
SARRUS_FN double implicit_rate(Radau<T, LDC>& r) {
  int pos = r.chart.positions().n, n = r.n;
  double stiffness = 0, damping = 0;
  for (int i = pos; i < n; ++i) {
    double k = 0, c = 0;
    for (int j = 0; j < n; ++j) (j < pos ? k : c) += value(abs_(r.G[i * n + j]));
    stiffness = larger(k, stiffness);
    damping = larger(c, damping);
  }
  return (damping + sqrt_(damping * damping + 4 * stiffness)) / 2;
}

// Whether large mechanisms use the augmented or articulated inertia, which explicit steps alone can. Makes
// the state again with the other factorization.
SARRUS_FN bool use_structure(auto& s, bool wanted) {
  bool structured = s.regular.allowed || s.w.open_tree;
  bool large = s.may_be_regular() || may_be_open<double, decltype(s.w.ld)::width>(s.m);
  if (!large || s.source.supplies_inertia || structured == wanted) return true;
  s.w.open_tree = wanted && may_be_open<double, decltype(s.w.ld)::width>(s.m);
  s.regular = {.allowed = s.may_be_regular() && wanted};
  copy(s.q1, s.q, s.m.nq);
  copy(s.v1, s.v, s.w.ld);
  return restore(s, s.t, s.before);
}

// rho from the iteration matrix at the state; 0 where there is none. Inputs of the state stay.
SARRUS_FN double rate_at_state(auto& s, auto& r) {
  copy(r.past_u, s.tau, s.w.ld);
  bool found = begin_step(s, r);
  copy(s.tau, r.past_u, s.w.ld);
  s.status = found ? s.status : StepStatus::FINE;
  return found ? implicit_rate(r) : 0;
}

// An explicit step, and whether the next ones should be implicit.
SARRUS_FN bool explicit_step(auto& s, auto& r, StiffnessWatch& watch, double& h, double t_end) {
  bool from_rest = rests_at_singular(s);
  if (!step(s, h, t_end)) return false;
  if (from_rest || near_singular(s)) return true;
  double taken = s.before.step;
  bool hint = taken * explicit_rate(s, taken) > HINT && error_norm(s, taken) > SPENT;
  watch.note_explicit(hint);
  if (watch.hints < watch.needed) return true;
  if (!use_structure(s, false)) return false;
  double reach = taken * rate_at_state(s, r);
  bool stiff = reach > STIFF;
  watch.start_again(stiff, stiff ? watch.needed : 2 * watch.needed, reach);
  r.past_step = 0;
  return stiff || use_structure(s, true);
}

// A step by the method that pays, at most h long. In: h to try; out: h to try next.
SARRUS_FN bool automatic_step(auto& s, auto& r, StiffnessWatch& watch, double& h, double t_end) {
  if (watch.implicit == 0) return explicit_step(s, r, watch, h, t_end);
  if (!implicit_step(s, r, h, t_end)) return false;
  if (r.past_step == 0 || s.t >= t_end) return true;
  double instead = watch.stable / implicit_rate(r);
  bool worth = s.before.step > IMPLICIT_COST * instead;
  watch.note_implicit(worth);
  if (watch.hints < LOSING_STEPS) return true;
  watch.start_again(false, 2 * watch.needed, STIFF);
  h = smaller(h, instead);
  return use_structure(s, true);
}

SARRUS_END
