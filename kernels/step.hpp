// One step in time of a constrained mechanism, and a run of many.
//
//   u' = increment_rate(u, v),  v' = a(q0 + u, v, t)     on the tangent space at the start of the step (1)
//
// (Runge-Kutta-Munthe-Kaas: orders hold for quaternions too.) The rank of J is decided on the manifold, at
// the start of the step, and held through its stages: off the manifold a redundant row becomes independent
// by the size of the drift. The end of the step is projected with a rank decided anew, and the
// factorization made there serves the first stage of the next step.
//
// A Source supplies what comes from outside: generalized forces, drives, rows and terms of user systems.
#pragma once

#include "project.hpp"
#include "tableau.hpp"

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
  Status status = FINE;

  SARRUS_HD Stepper(const Model<real<T>>& m, Arena& arena) : w(m, arena), d(m, arena) {
    T** positions[] = {&q, &q1, &q2};
    T** vectors[] = {&v, &a, &v1, &u, &x, &tau};
    for (T** p : positions) *p = arena.template take<T>(m.nq);
    for (T** p : vectors) *p = arena.template take<T>(w.ld);
    ku = arena.template take<T>(MAX_STAGES * w.ld);
    kv = arena.template take<T>(MAX_STAGES * w.ld);
    drive = arena.template take<T>(3 * m.nd);
    user = arena.template take<T>(m.nu * (3 + m.nv));
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
    couplings(m, q, s.drive, s.user, w.ld, w.rows);
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

template <class T, int LDC>
SARRUS_HD double smallest_pivot(const Workspace<T, LDC>& w) {
  double least = 1e300;
  for (int k = 0; k < w.factor.rank_rows; ++k) {
    double x = value(abs_(w.factor.Y[k * w.ld + k]));
    if (x < least) least = x;
  }
  return least;
}

// How many pivots of a stage are out of reach of a singular pose. One that is only a small part of what the
// smallest loses in one step grazes zero: there the drift of the stage, of order h^2, would be divided by
// next to nothing, and the row is better replaced by its limit.
template <class T, int LDC>
SARRUS_HD int sound_pivots(double h, const Stepper<T, LDC>& s) {
  const Workspace<T, LDC>& w = s.w;
  double lost = (s.pivot_before - s.pivot) * h / s.step_before;
  if (!(lost > 0 && s.pivot < 2 * lost)) return w.factor.rank_rows;
  int n = 0;
  for (int k = 0; k < w.factor.rank_rows; ++k) n += value(abs_(w.factor.Y[k * w.ld + k])) > GRAZING * lost;
  return n;
}

// q1 onto phi = 0 by Newton, with the factorization of the last stage while that converges fast. Leaves
// M and rows at the final q1 in w, factorized with a rank decided there.
template <class T, int LDC, class S>
SARRUS_FN bool project_position(const Model<real<T>>& m, S& source, double t, Stepper<T, LDC>& s) {
  Workspace<T, LDC>& w = s.w;
  bool fresh = w.factor.rank != w.factor.rank_rows;
  double last = 1e300, closed = s.tight ? CLOSED_TIGHT : CLOSED;
  for (int i = 0; i < NEWTON_STEPS; ++i) {
    if (!look(m, source, t, s.q1, s.v1, ROWS_ONLY, {true, fresh, false}, s)) return false;
    double r = value(position_residual(m, w));
    if (!(r < 1e300)) return s.fail(NOT_FINITE);
    s.drift = r;
    bool done = r <= closed || (i > 2 && r <= CLOSED_ENOUGH && r > 0.5 * last);
    if (!done && !fresh && r > 0.03 * last) {  // too slow: look again, this time with M
      fresh = true;
      last = 1e300;
      continue;
    }
    if (done) {
      if constexpr (!S::supplies_inertia)
        if (!fresh) {
          weigh(m, w.tree, w.bodies.I);
          inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
        }
      factorize_rows(m, w);
      return true;
    }
    if (fresh) factorize_rows(m, w);
    last = r;
    for (int k = 0; k < m.nc; ++k) w.extra[k] = -w.rows.phi[k];
    normal_step(m, w.extra, w);
    integrate(m, s.q1, w.a, s.q2);
    for (int j = 0; j < m.nq; ++j) s.q1[j] = s.q2[j];
  }
  return s.fail(NOT_CLOSED);
}

// v1 onto J v = b, with the factorization at q1.
template <class T, int LDC>
SARRUS_FN void project_velocity(const Model<real<T>>& m, Stepper<T, LDC>& s) {
  Workspace<T, LDC>& w = s.w;
  velocity_residual(m, s.v1, w);
  normal_step(m, w.extra, w);
  for (int j = 0; j < m.nv; ++j) s.v1[j] += w.a[j];
}

// v1 to the energy to keep, along v: the gradient of the kinetic energy in the mass metric,
// [Spencer2004] 3.1.3
template <class T, int LDC>
SARRUS_FN void scale_velocity(const Model<real<T>>& m, const Options& o, Stepper<T, LDC>& s) {
  T e[2];
  move(m, s.v1, s.w.tree);
  energy(m, s.q1, s.v1, s.w.tree, e);
  T ratio = (T(o.energy) - e[1]) / select(e[0] > real<T>(0), e[0], T(1));
  auto usable = e[0] > real<T>(0) && ratio > real<T>(0.25) && ratio < real<T>(4);
  T scale = select(usable, sqrt_(select(usable, ratio, T(1))), T(1));
  for (int j = 0; j < m.nv; ++j) s.v1[j] = s.v1[j] * scale;
}

// Whether the smallest pivot may vanish within the next steps, or has done so within the last ones.
template <class T, int LDC>
SARRUS_HD bool near_singular(const Stepper<T, LDC>& s) {
  double change = s.pivot - s.pivot_before;
  return s.pivot < STEPS_AROUND * (change > 0 ? change : -change);
}

// A stage near a singular pose, brought onto the constraints: off them the acceleration is wrong by the drift
// of the stage, of order h^2, over the distance to the pose; on them it is smooth, and the method keeps its
// order through the pose. Where Newton fails the stage stays as it is.
template <class T, int LDC, class S>
SARRUS_FN bool land(const Model<real<T>>& m, S& source, double t, Stepper<T, LDC>& s) {
  if (project_position(m, source, t, s)) {
    project_velocity(m, s);
    difference(m, s.q, s.q1, s.u);
    return true;
  }
  if (s.status != NOT_CLOSED && s.status != NOT_FINITE) return false;
  s.status = FINE;
  integrate(m, s.q, s.u, s.q1);
  return true;
}

// out: s.q1, s.v1 after a step of size h from (s.q, s.v, s.a)
template <class T, int LDC, class S>
SARRUS_FN bool trial(const Model<real<T>>& m, S& source, const Options& o, double h, Stepper<T, LDC>& s) {
  const Tableau& tab = o.tableau;
  int ld = s.w.ld;
  bool near = o.correction == PROJECT && m.nc > 0 && near_singular(s);
  copy(s.ku, s.v, ld);
  copy(s.kv, s.a, ld);
  for (int i = 1; i <= tab.stages; ++i) {
    const double* weights = i < tab.stages ? tab.A[i] : tab.b;
    fill(s.u, ld);
    copy(s.v1, s.v, ld);
    for (int j = 0; j < i && j < tab.stages; ++j) {
      if (weights[j] == 0) continue;
      axpy(s.u, T(h * weights[j]), s.ku + j * ld, ld);
      axpy(s.v1, T(h * weights[j]), s.kv + j * ld, ld);
    }
    if (i == tab.stages && o.semi_implicit)
      for (int j = 0; j < m.nv; ++j) s.u[j] = s.v1[j] * h;
    integrate(m, s.q, s.u, s.q1);
    if (i == tab.stages) break;
    double t = s.t + tab.c[i] * h;
    if (near && !land(m, source, t, s)) return false;
    if (!look(m, source, t, s.q1, s.v1, i, {true, true, true}, s)) return false;
    if (o.correction == BAUMGARTE) baumgarte(m, s.v1, o, s.w);
    prepare(m, s.q1, s.v1, s.drive, s.user, s.hold, static_cast<Tangent<T, LDC>*>(nullptr), s.w);
    if constexpr (!S::supplies_inertia)
      if (int sound = sound_pivots(h, s); o.correction == PROJECT && sound < s.w.factor.rank_rows)
        prepare_grazing(m, s.q1, s.v1, s.drive, s.user, sound, s.d, s.w);
    if (!answer(m, source, t, s.q1, s.v1, s.kv + i * ld, s)) return false;
    increment_rate(m, s.u, s.v1, s.ku + i * ld);
  }
  return (finite(s.q1, m.nq) && finite(s.v1, m.nv)) || s.fail(NOT_FINITE);
}

// Root mean square of the error estimate in units of the tolerance.
template <class T, int LDC>
SARRUS_FN double error_norm(const Model<real<T>>& m, const Options& o, double h, Stepper<T, LDC>& s) {
  double sum = 0;
  int ld = s.w.ld;
  for (int i = 1; i < m.nn; ++i) {
    int n = joint_nv(m.joint[i]);
    for (int k = m.iv[i]; k < m.iv[i] + n; ++k) {
      double eu = 0, ev = 0, size = n == 1 ? value(abs_(s.q[m.iq[i]])) : m.unit[k];
      for (int j = 0; j < o.tableau.stages; ++j) {
        eu += o.tableau.e[j] * value(s.ku[j * ld + k]);
        ev += o.tableau.e[j] * value(s.kv[j * ld + k]);
      }
      eu *= h / (o.atol + o.rtol * size);
      ev *= h / (o.atol + o.rtol * value(abs_(s.v1[k])));
      sum += eu * eu + ev * ev;
    }
  }
  return sqrt_(sum / (2 * m.nv));
}

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
    prepare(m, s.q1, s.v1, s.drive, s.user, hold, S::supplies_inertia ? nullptr : &s.d, w);
  }
  if (!answer(m, source, t, s.q1, s.v1, s.a, s)) return false;
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
    factorize_rows(m, s.w);
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

// Time until the smallest pivot, extrapolated from the last step, is zero; 0 where no zero is near.
template <class T, int LDC>
SARRUS_HD double time_to_singular(const Stepper<T, LDC>& s) {
  double lost = s.pivot_before - s.pivot;
  return lost > 0 && s.pivot < SINGULAR_IN_SIGHT ? s.pivot * s.step_before / lost : 0;
}

// What rounding alone does to the error estimate of a step across a singular pose, in units of the tolerance.
// With phi = x y closed to c, x = pivot and dx/dt = pivot / meet, the path x y = c has y'' = 2 c (dx/dt)^2 /
// x^3.
template <class T, int LDC>
SARRUS_FN double rounding(const Model<real<T>>& m, const Options& o, double meet, const Stepper<T, LDC>& s) {
  double speed = 0;
  for (int j = 0; j < m.nv; ++j) {
    double x = value(abs_(s.v[j]));
    speed = x > speed ? x : speed;
  }
  return 4 * CLOSED_TIGHT / (meet * s.pivot * (o.atol + o.rtol * speed));
}

// A step within tolerance, at most h long. In: h to try; out: h to try next. It shrinks until the estimate is
// within tolerance. Not so across a singular pose: rounding makes the estimate grow as steps creep up to it,
// and leads off the branch. Such a step is taken with the pose in its middle, hardly longer than those
// before, once nothing but rounding is left of its error; its pivots must mirror each other.
template <class T, int LDC, class S>
SARRUS_FN bool adaptive_step(const Model<real<T>>& m, S& source, const Options& o, double& h, double t_end,
                             Stepper<T, LDC>& s) {
  double grow = 5, first = h, meet = time_to_singular(s);
  bool across = false, declined = false;
  for (;;) {
    double left = t_end - s.t, error = 1e10;
    bool last = h >= left * (1 - 1e-12);
    double now = last ? left : h;
    if (trial(m, source, o, now, s))
      error = error_norm(m, o, now, s);
    else if (s.status != NOT_FINITE)
      return false;
    s.status = FINE;
    double pivot = smallest_pivot(s.w), ratio = pivot / s.pivot;
    bool mirrored = ratio > 0.5 && ratio < 2, noisy = error < ROUNDING_FACTOR * (1 + rounding(m, o, meet, s));
    bool taken = error > 1 && ((across && mirrored && noisy) || (now < 1e-3 * first && pivot < 1e-3));
    if (error <= 1 || taken) {
      double factor = error > 0 ? 0.9 / sqrt_(sqrt_(error)) : grow;  // error^(-1/5), a little cautious
      factor = factor > grow ? grow : factor < 0.2 ? 0.2 : factor;
      double next = taken ? (across ? now : now * 2) : (last && now * factor < h ? h : now * factor);
      double calm = !taken && meet == 0 ? h : s.calm;
      if (arrive(m, source, o, last ? t_end : s.t + now, s)) {
        h = next;
        s.calm = calm;
        return true;
      }
      if (s.status != NOT_CLOSED) return false;
      s.status = FINE;
      error = 1e10;
    }
    if (!(now > o.least_step)) return s.fail(STEP_COLLAPSED);
    grow = 1;
    if (across && !mirrored) meet = 0;  // not what it seemed
    declined = declined || across;
    across = meet > 0 && !declined && 2 * meet <= 1.5 * s.calm;
    double factor = 0.9 / sqrt_(sqrt_(error));
    h = across ? 2 * meet : meet > 0 && now > meet ? 0.5 * meet : now * (factor < 0.2 ? 0.2 : factor);
  }
}

// One accepted step of at most h, never past t_end.
template <class T, int LDC, class S>
SARRUS_FN bool step(const Model<real<T>>& m, S& source, const Options& o, double& h, double t_end,
                    Stepper<T, LDC>& s) {
  if (o.adaptive) return adaptive_step(m, source, o, h, t_end, s);
  bool last = h >= (t_end - s.t) * (1 - 1e-12);
  double now = last ? t_end - s.t : h;
  return trial(m, source, o, now, s) && arrive(m, source, o, last ? t_end : s.t + now, s);
}

SARRUS_END
