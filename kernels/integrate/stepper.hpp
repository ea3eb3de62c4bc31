// What a run carries along, and one look at a state: inputs from outside, terms, acceleration.
//
// A Source supplies what comes from outside: generalized forces, drives, rows and terms of user systems.
#pragma once

#include "integrate/methods.hpp"
#include "solve/projection.hpp"

SARRUS_BEGIN

enum Correction : int { NONE = 0, PROJECT = 1, BAUMGARTE = 2 };
enum Status : int {
  FINE = 0,
  STOPPED = 1,
  SINGULAR_INERTIA = 2,
  NOT_FINITE = 3,
  NOT_CLOSED = 4,
  STEP_COLLAPSED = 5
};

struct Options {
  Tableau tableau;
  bool semi_implicit = false;  // positions move with the new velocity
  bool adaptive = false;
  int correction = PROJECT;
  double damping = 0, stiffness = 0;  // Baumgarte: 2 alpha [1/s], beta^2 [1/s^2]
  double rtol = 1e-8, atol = 1e-10, least_step = 0;
  bool keep_energy = false;
  double energy = 0;  // the value to keep [J]
  int slope = 0;      // of implicit steps, integrate/implicit/iteration_matrix.hpp
};

// The unit of work between outside and kernel, overridden by hosts that call back into Python.
template <class T>
struct Source {
  static constexpr bool supplies_inertia = false;       // M and h come from outside
  static constexpr bool supplies_acceleration = false;  // so does a
  const T* tau;
  SARRUS_HD bool inputs(const Model<real<T>>& m, double, const T*, const T*, T* to, T*, T*, T*, T*,
                        int) const {
    for (int j = 0; j < m.nv; ++j) to[j] = tau[j];
    return true;
  }
  SARRUS_HD bool acceleration(double, const T*, const T*, T*) const { return false; }
};

template <class T, int LDC>
struct Stepper {
  Workspace<T, LDC> w;
  Tangent<T, LDC> d;
  T *q, *v, *a;             // state at t, and its acceleration
  T *q1, *q2, *v1, *u, *x;  // trial state, its increment, room for one more vector
  T *ku, *kv;               // (MAX_STAGES, ld) stage rates
  T *tau, *drive, *user;    // what the outside said last
  double t = 0;
  double drift = 0, velocity_drift = 0;      // largest |phi| and |J v - b|, dimensionless
  double pivot = 0;                          // smallest pivot kept: near zero means near a singular pose
  double pivot_before = 0, step_before = 0;  // the one at the state before, and the step from there
  double calm = 0;                           // last step whose error could be trusted
  int rank = -1, most_rank = -1, evaluations = 0, hold = -1;
  bool tight = true;  // near a singular pose, or the rank has just changed: close the loops to rounding
  bool hit = false;   // the last projection ended on a singular pose in passing
  Status status = FINE;

  SARRUS_HD Stepper(const Model<real<T>>& m, Arena& arena) : w(m, arena), d(m, arena) {
    T** positions[] = {&q, &q1, &q2};
    T** vectors[] = {&v, &a, &v1, &u, &x, &tau};
    for (T** p : positions) *p = arena.template take<T>(m.nq);
    for (T** p : vectors) *p = arena.template take<T>(w.ld);
    ku = arena.template take<T>(MAX_STAGES * w.ld);
    kv = arena.template take<T>(MAX_STAGES * w.ld);
    drive = arena.template take<T>(3 * m.nd);
    user = arena.template take<T>(m.n_user_rows * (3 + m.nv));
  }
  SARRUS_HD bool fail(Status why) {
    status = why;
    return false;
  }
};

constexpr int ROWS_ONLY = -1;  // stage index of the projection: forces are not needed

// What look() has to find: poses (unless w.tree holds those of q already), M, and what belongs to v.
struct Wanted {
  bool poses, inertia, motion;
};

// Inputs, then the terms at (q, v).
template <class T, int LDC, class S>
SARRUS_FN bool look(const Model<real<T>>& m, S& source, double t, const T* q, const T* v, int stage,
                    Wanted wanted, Stepper<T, LDC>& s) {
  Workspace<T, LDC>& w = s.w;
  if (!source.inputs(m, t, q, v, s.tau, s.drive, s.user, w.M, w.h, stage)) return s.fail(STOPPED);
  if constexpr (S::supplies_inertia) {
    fill(w.rows.J, m.nc * w.ld);
    given_rows(m, q, s.drive, s.user, w.ld, w.rows);
  } else {
    if (wanted.poses) place(m, q, w.tree);
    if (wanted.motion) {
      move(m, v, w.tree);
      weigh(m, w.tree, w.bodies.I);
      bias(m, q, v, w.tree, w.bodies, w.h);
    }
    if (wanted.inertia) {
      if (!wanted.motion) weigh(m, w.tree, w.bodies.I);
      inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
    }
    constraints(m, q, s.drive, s.user, w.tree, w.ld, w.rows);
  }
  return true;
}

template <class T, int LDC>
SARRUS_FN void baumgarte(const Model<real<T>>& m, const T* v, const Options& o, Workspace<T, LDC>& w) {
  velocity_residual(m, v, w);
  for (int r = 0; r < m.nc; ++r) w.rows.gamma[r] += w.extra[r] * o.damping - w.rows.phi[r] * o.stiffness;
}

template <class T>
SARRUS_HD bool finite(const T* x, int n) {
  bool yes = true;
  for (int j = 0; j < n; ++j) yes = yes && value(x[j]) * 0 == 0;
  return yes;
}

// Acceleration at the terms of w, which are factorized, into out (nv).
template <class T, int LDC, class S>
SARRUS_FN bool answer(const Model<real<T>>& m, S& source, double t, const T* q, const T* v, T* out,
                      Stepper<T, LDC>& s) {
  ++s.evaluations;
  if constexpr (S::supplies_acceleration) {
    if (!source.acceleration(t, q, v, out)) return s.fail(STOPPED);
  } else {
    accelerate(m, s.tau, s.w);
    if (!s.w.factor.spd) return s.fail(SINGULAR_INERTIA);
    copy(out, s.w.a, s.w.ld);
  }
  return finite(out, m.nv) || s.fail(NOT_FINITE);
}

SARRUS_END
