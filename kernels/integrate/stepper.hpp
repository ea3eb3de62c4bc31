// What a run carries from step to step, and the evaluation of one state: inputs from outside, terms,
// acceleration.
//
// A Source supplies what comes from outside: generalized forces, drives, rows and terms of user systems.
#pragma once

#include "integrate/chart.hpp"
#include "integrate/options.hpp"
#include "solve/friction/friction_by_load.hpp"
#include "solve/search/projection.hpp"

SARRUS_BEGIN

#ifdef SARRUS_NO_BEARINGS  // where the size of the code counts: studios, which refuse dry friction
constexpr bool KNOWS_BEARINGS = false;
#else
constexpr bool KNOWS_BEARINGS = true;
#endif

// A constant applied force; hosts that call back into Python have a source of their own.
template <class T>
struct Source {
  static constexpr bool supplies_inertia = false;       // M and h come from outside
  static constexpr bool supplies_acceleration = false;  // so does a
  const T* tau;
  SARRUS_HD bool inputs(const Model<real<T>>& m, const Instant<T>&, const Supplied<T>& to) const {
    copy(to.tau, tau, m.nv);
    return true;
  }
  SARRUS_HD bool acceleration(const Instant<T>&, T*) const { return false; }
};

// Whether the state is so far from singular poses that the augmented inertia serves
// (solve/factor/augmented_inertia.hpp, integrate/regular_poses.hpp).
struct Regular {
  bool allowed = false;                 // by the method and the mechanism
  bool trusted = false;                 // at the state
  bool chosen = false;                  // independent rows are known
  bool blocked = false;                 // not within this step
  int doubts = 0;                       // steps in a row that changed `distance` too fast
  double distance = 0, pivot_part = 1;  // Augmented::distance at the state; smallest pivot over it
};

template <class T, int LDC, class S>
struct Stepper {
  const Model<real<T>>& m;
  const Options& o;
  S& source;
  Workspace<T, LDC> w;
  Tangent<T, LDC> d;
  Chart<T, LDC> chart;      // of stages near a singular pose; sparse models have none
  T *q, *v, *a;             // state at t, and its acceleration
  T *q1, *q2, *v1, *u, *x;  // trial state, its increment, room for one more vector
  T *ku, *kv;               // (MAX_STAGES, ld) stage rates
  T *tau, *drive, *user;    // what the outside supplied last
  SlidingBearings<T> bearings;
  bool load_is_in = false;  // tau holds the friction by load of the state
  double t = 0;
  double end = 1e300;                    // from this time on nobody needs the acceleration
  double drift = 0, velocity_drift = 0;  // largest |phi| and |J v - b|, dimensionless
  double pivot = 0;                      // smallest pivot of J: near zero means near a singular pose
  int rank = -1;                         // of J at the state
  int held_rank = -1;                    // the same with limit rows: held through the stages of the next step
  bool passing = false;                  // the last projection ended on a singular pose in passing
  Regular regular;
  int evaluations = 0;
  History before;
  StepStatus status = StepStatus::FINE;

  SARRUS_HD Stepper(const Model<real<T>>& model, const Options& options, S& outside, Arena& arena)
      : m(model), o(options), source(outside), w(m, arena), d(m, arena) {
    if (!m.sparse) chart.bind(m, arena, w.ld);
    arena.take(m.nq, q, q1, q2);
    arena.take(w.ld, v, a, v1, u, x, tau);
    arena.take(MAX_STAGES * w.ld, ku, kv);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
    if constexpr (KNOWS_BEARINGS && Plain<T>::value && !S::supplies_inertia) bearings.bind(arena, m, w.rows);
  }
  SARRUS_HD bool fail(StepStatus why) {
    status = why;
    return false;
  }
  // Whether the step failed in a way that another step size may mend; the failure is forgotten.
  SARRUS_HD bool recover() {
    if (status != StepStatus::NOT_CLOSED && status != StepStatus::NOT_FINITE &&
        status != StepStatus::UNRESOLVED)
      return false;
    status = StepStatus::FINE;
    return true;
  }
  SARRUS_HD bool may_try_again() { return status == StepStatus::FINE || recover(); }
  SARRUS_HD Instant<T> trial_state(double time, int stage) const { return {time, q1, v1, stage}; }
  // A state with what drives and user rows were last
  SARRUS_HD State<T> state(const T* q_, const T* v_) const { return {q_, v_, drive, user}; }
  SARRUS_HD Supplied<T> room() { return {tau, drive, user, w.M, w.h, w.ld}; }
  // Friction by load needs multipliers of least norm, which the augmented inertia does not give.
  SARRUS_HD bool may_be_regular() const { return m.fronts && !bearings.most; }
  // Rank at which rows of the state are held without projection; -1: decided, until rows that are lost at the
  // start only are back
  SARRUS_HD int held_unprojected() const { return rank < before.largest_rank ? -1 : before.largest_rank; }
  // The same for its stages
  SARRUS_HD int held_in_stages() const {
    return o.correction != Correction::PROJECT && rank < before.largest_rank ? -1 : held_rank;
  }
  SARRUS_HD bool projects() const {
    return o.correction == Correction::PROJECT && (m.nc > 0 || o.keep_energy);
  }
};

// out (ld) += h times the rates (stages, ld) before stage i, weighted; i = stages: the end of the step
template <class T, class H>
SARRUS_HD void add_rates(const Tableau& tab, int i, const H& h, const T* rates, int ld, T* out) {
  const double* weights = i < tab.stages ? tab.A[i] : tab.b;
  for (int j = 0; j < smaller(i, tab.stages); ++j)
    if (weights[j] != 0) axpy(out, T(h * weights[j]), rates + j * ld, ld);
}

// What evaluate() has to find: poses (unless w.tree holds those of q already), M, and what belongs to v.
struct Wanted {
  bool poses, inertia, motion;
};

// Inputs, then the terms, at a state.
template <class T, int LDC, class S>
SARRUS_FN bool evaluate(Stepper<T, LDC, S>& s, const Instant<T>& at, Wanted wanted) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  if (!s.source.inputs(m, at, s.room())) return s.fail(StepStatus::STOPPED);
  s.load_is_in = false;
  bool starts = s.rank < 0 && s.regular.allowed && s.projects();  // dense rows are not even written then
  if (wanted.inertia) w.by_entries = (s.regular.trusted || starts) && !s.regular.blocked;
  if constexpr (S::supplies_inertia) {
    fill(w.rows.J, m.nc * w.ld);
    given_rows(m, s.state(at.q, at.v), w.ld, w.rows);
  } else {
    if (wanted.poses) place(m, at.q, w.tree);
    if (wanted.motion) {
      move(m, at.v, w.tree);
      weigh(m, w.tree, w.bodies.I);
      bias(m, at.q, at.v, w.tree, w.bodies, w.h);
      subtract_user_forces(m, s.user, w.h);
    }
    if (wanted.inertia) {
      if (!wanted.motion) weigh(m, w.tree, w.bodies.I);
      evaluate_inertia(m, w);
    }
    evaluate_rows(m, s.state(at.q, at.v), w);
  }
  return true;
}

// M at the poses of w.tree, where the model has it.
template <class T, int LDC, class S>
SARRUS_FN void evaluate_inertia(Stepper<T, LDC, S>& s) {
  if constexpr (!S::supplies_inertia) {
    weigh(s.m, s.w.tree, s.w.bodies.I);
    evaluate_inertia(s.m, s.w);
  }
}

// Factorizes at the terms of w with `hold` pivots (-1: the rank is decided), without limit rows.
template <class T, int LDC, class S>
SARRUS_HD void prepare_without_limits(Stepper<T, LDC, S>& s, int hold) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (s.regular.trusted && s.w.by_entries && hold == s.rank && factorize_regular(s.m, s.w)) return;
  make_dense(s.m, s.w);
  prepare(s.m, s.state(s.q1, s.v1), hold, static_cast<Tangent<T, LDC>*>(nullptr), s.w);
}

// Baumgarte's feedback of v (ld) and phi, added to gamma.
template <class T, int LDC, class S>
SARRUS_FN void add_feedback(Stepper<T, LDC, S>& s, const T* v) {
  if (s.o.correction != Correction::BAUMGARTE) return;
  Workspace<T, LDC>& w = s.w;
  velocity_residual(s.m, v, w);
  for (int r = 0; r < s.m.nc; ++r)
    w.rows.gamma[r] += w.extra[r] * s.o.damping - w.rows.phi[r] * s.o.stiffness;
}

// Largest |x| (nv) without units; NaN where an entry is.
template <class T>
SARRUS_HD double largest(const Model<real<T>>& m, const T* x) {
  double most = 0;
  for (int j = 0; j < m.nv; ++j) {
    double size = value(abs_(x[j])) / m.unit[j];
    most = size <= most ? most : size;
  }
  return most;
}

// Errors that the tolerances allow coordinate k of node i in one step.
struct Allowed {
  double position, velocity;
};

// Relative to the position, but at most to one radian or L: a shaft that has turned for hours, or a machine
// that has travelled far, is followed as closely as at the start. v: the speed it is relative to (nv).
template <class T, int LDC, class S>
SARRUS_HD Allowed allowed_error(const Stepper<T, LDC, S>& s, int i, int k, const T* v) {
  double unit = s.m.unit[k], least = s.o.atol_in_units ? unit : 1, size = unit;
  if (joint_nv(s.m.joint[i]) == 1) {
    size = smaller<double>(value(abs_(s.q[s.m.iq[i]])), unit);
  }
  return {s.o.atol * least + s.o.rtol * size, s.o.atol * least + s.o.rtol * value(abs_(v[k]))};
}

template <class T>
SARRUS_HD bool finite(const T* x, int n) {
  return all_of(n, [&](int j) { return value(x[j]) * 0 == 0; });
}

constexpr double DIVERGED = 1e9;  // [rad/s, or L/s]: no mechanism is so fast

// Whether numbers have outgrown the mechanism. Inertias are about the world's origin: at a distance x, M has
// an error of about 1e-16 m x^2, and long before anything overflows it is rounding only, positive definite or
// not.
template <class T, int LDC, class S>
SARRUS_HD bool diverged(const Stepper<T, LDC, S>& s, const T* v) {
  auto fast = [&](int j) { return !(abs_(value(v[j])) <= DIVERGED * value(s.m.unit[j])); };
  return !finite(s.w.M, s.m.nv * s.w.ld) || any_of(s.m.nv, fast);
}

// w.a under the applied force s.tau, at the terms of w, which are factorized.
template <class T, int LDC, class S>
SARRUS_FN void accelerate_by_terms(Stepper<T, LDC, S>& s) {
  if (!accelerate(s.m, s.tau, s.w)) {  // closer to a singular pose than it seemed
    s.regular.trusted = s.regular.chosen = false;
    prepare_without_limits(s, s.rank >= 0 ? s.held_rank : -1);
    accelerate(s.m, s.tau, s.w);
  }
  if constexpr (!S::supplies_inertia && Plain<T>::value) refine(s.m, s.w);
}

// The same with the friction of bearings that slide, which becomes part of s.tau.   in: w.a without it
template <class T, int LDC, class S>
SARRUS_FN bool accelerate_with_bearings(Stepper<T, LDC, S>& s, const T* v) {
  if (s.load_is_in || !s.w.factor.spd) return true;
  if (!friction_by_load(s.m, v, s.w, s.bearings)) return s.fail(StepStatus::UNSETTLED);
  add(s.tau, s.bearings.force, s.m.nv);
  s.load_is_in = true;
  return true;
}

// Acceleration at the terms of w, which are factorized, into out (nv).
template <class T, int LDC, class S>
SARRUS_FN bool accelerate(Stepper<T, LDC, S>& s, const Instant<T>& at, T* out) {
  ++s.evaluations;
  if constexpr (S::supplies_acceleration) {
    if (!s.source.acceleration(at, out)) return s.fail(StepStatus::STOPPED);
  } else {
    accelerate_by_terms(s);
    if constexpr (KNOWS_BEARINGS && !S::supplies_inertia && Plain<T>::value)
      if (s.bearings.most && !accelerate_with_bearings(s, at.v)) return false;
    if (!s.w.factor.spd)
      return s.fail(diverged(s, at.v) ? StepStatus::NOT_FINITE : StepStatus::SINGULAR_INERTIA);
    copy(out, s.w.a, s.w.ld);
  }
  return finite(out, s.m.nv) || s.fail(StepStatus::NOT_FINITE);
}

SARRUS_END
