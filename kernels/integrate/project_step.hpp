// A trial state brought onto the constraints: positions by Newton, velocities in one solve, stages where a
// singular pose is near.
#pragma once

#include "integrate/stepper.hpp"

SARRUS_BEGIN

template <class T, int LDC>
SARRUS_HD double smallest_pivot(const Workspace<T, LDC>& w) {
  double least = 1e300;
  for (int k = 0; k < w.factor.rank_rows; ++k) {
    double x = value(abs_(pivot_of(w.factor, k, w.ld)));
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
  for (int k = 0; k < w.factor.rank_rows; ++k) n += value(abs_(pivot_of(w.factor, k, w.ld))) > GRAZING * lost;
  return n;
}

// Factorize at the rows of w, rank decided anew. A closure error e turns a row with pivot p by e/p^2, and the
// limit that could stand in its place is wrong by p: in a pass, where p falls to next to nothing within one
// step, rows below e^(1/3) count as lost.
template <class T, int LDC>
SARRUS_FN void factorize_passing(const Model<real<T>>& m, Stepper<T, LDC>& s) {
  Workspace<T, LDC>& w = s.w;
  factorize_rows(m, w);
  int sound = 0;
  for (int k = 0; k < w.factor.rank_rows; ++k) sound += value(abs_(pivot_of(w.factor, k, w.ld))) > HIT;
  s.hit = sound < w.factor.rank_rows && s.hold == s.rank && smallest_pivot(w) < 0.05 * s.pivot;
  if (!s.hit) return;
  factorize(m, w.rows.J, w.M, w.ld, sound, w.factor);
  complete(m, w.ld, w.factor);
  finish(m, w.M, w.ld, w.factor);
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
      factorize_passing(m, s);
      return true;
    }
    if (fresh) factorize_passing(m, s);
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

SARRUS_END
