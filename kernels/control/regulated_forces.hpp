// Constraint forces brought to desired values by inputs in the null space of the outputs, [Aghili2005] eqs.
// (49)-(52).
//
//   y = Y u + y0,   u = C (x + Z z):     least z that minimizes |W (y - wanted)|^2                        (1)
//
// Where limits do not let z be that one, the nearest in the norm of the Hessian of (1) is taken, a little of
// |z|^2 added.
#pragma once

#include "control/force_feedback.hpp"
#include "control/limited_inputs.hpp"
#include "control/rank_weights.hpp"
#include "solve/factor/singular_values.hpp"

SARRUS_BEGIN

constexpr double FLAT_FORCES = 1e-8;  // of |z|^2 relative to the largest entry of the Hessian

template <class T>
struct ForceWork {
  SingularValues<T> values;
  T *CZ, *Cx, *E, *e, *z, *H;  // (n, open), (n), (p, open), (p), (open), (open, open)

  SARRUS_HD ForceWork(int p, int n, Arena& arena) {
    values.bind(arena, p, n);
    arena.take(n * n, CZ, H);
    arena.take(n, Cx);
    arena.take(p * n, E);
    arena.take(p, e);
    arena.take(n + LANES, z);
  }
};

// f.force_Y and f.force_y0 of (1); zero rows for constraints that do not hold
template <class T>
SARRUS_FN void find_forces(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f) {
  int nv = s.model->nv, n = s.n;
  fill(f.force_Y, s.forces.p * n);
  for (int i = 0; i < s.forces.p; ++i) {
    T* Y = f.force_Y + i * n;
    f.force_y0[i] = T(0);
    if (!s.forces.rows) {  // M a + h - S^T u
      f.force_y0[i] = f.h[i] + inner(f.M + i * nv, f.response.a0, nv);
      for (int j = 0; j < nv; ++j) add_scaled(Y, f.M[i * nv + j], f.response.B + j * n, n);
      for (int c = 0; c < n; ++c)
        if (s.columns[c] == i) Y[c] -= T(1);
      continue;
    }
    int row = s.forces.rows[i], at = 0;
    if (in.rows && !in.rows[row]) continue;
    for (int r = 0; r < row; ++r) at += !in.rows || in.rows[r] ? 1 : 0;
    f.force_y0[i] = f.response.lam0[at];
    copy(Y, f.response.Lam + at * n, n);
  }
}

// The regulated forces, what they shall be, and what feedback makes of that
template <class T>
SARRUS_FN void command_forces(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f) {
  int p = s.forces.p;
  T* measured = f.force_error;
  find_forces(s, in, f);
  copy(f.force_wanted, in.desired, p);
  bool senses = in.owner.sense && in.applied;
  if (senses) in.owner.sense(in.owner.self, f.q, f.v, measured);
  for (int i = 0; senses && i < p; ++i)
    measured[i] -= f.force_y0[i] + inner(f.force_Y + i * s.n, in.applied, s.n);
  command(*in.feedback, in.t, f.force_wanted, senses ? static_cast<const T*>(measured) : nullptr,
          f.commanded);
}

// Forces that inputs hardly change fade out, as ranks do (control/rank_weights.hpp): their gains are compared
// with 1, moments over moments.
template <class T>
SARRUS_FN void fade_forces(const ControlSetup<T>& s, const LimitedProblem<T>& inputs, const T& tol,
                           ForceWork<T>& w) {
  const InputMetric<T>& metric = inputs.metric;
  T squared = T(0);
  for (int i = 0; i < s.n; ++i) {
    T size = s.model->unit[s.columns[i]];
    if (metric.C) size *= metric.C[metric.diagonal ? i : i * s.n + i];
    squared += size * size;
  }
  for (int i = 0; i < w.values.count; ++i) {
    T share = fade(w.values.s[i], T(tol * sqrt_(squared)));
    for (int j = 0; j < w.values.count; ++j) w.values.W[i * w.values.count + j] *= share;
  }
}

// w.z and w.H of (1); false where an entry is not a number
template <class T>
SARRUS_FN bool approach_forces(const ControlSetup<T>& s, const LimitedProblem<T>& inputs,
                               const ControlFound<T>& f, ForceWork<T>& w) {
  int p = s.forces.p, n = s.n, open = inputs.open;
  apply_metric(inputs.metric, inputs.x, n, 1, w.Cx);
  apply_metric(inputs.metric, inputs.Z, n, open, w.CZ);
  fill(w.E, p * open);
  for (int i = 0; i < p; ++i) {
    const T *Y = f.force_Y + i * n, weight = s.forces.weight[i];
    w.e[i] = weight * (f.commanded[i] - f.force_y0[i] - inner(Y, w.Cx, n));
    for (int j = 0; j < n; ++j) add_scaled(w.E + i * open, weight * Y[j], w.CZ + j * open, open);
  }
  w.values.p.load(w.E, p, open);
  if (!decompose(w.values, p, open)) return false;
  T most = w.values.count ? w.values.s[0] : T(0), largest = T(1e-300);
  fade_forces(s, inputs, f.ranks.tol, w);
  solve_damped(w.values, w.values.rank(most * real<T>(LOST)), T(0), w.e, w.z);
  for (int i = 0; i < open; ++i)
    for (int j = 0; j < open; ++j) {
      w.H[i * open + j] = sum_of<T>(p, [&](int r) { return w.E[r * open + i] * w.E[r * open + j]; });
      if (i == j) largest = larger(w.H[i * open + j], largest);
    }
  for (int i = 0; i < open; ++i) w.H[i * open + i] += real<T>(FLAT_FORCES) * largest;
  return true;
}

// f.force_error for the inputs u (n)
template <class T>
SARRUS_FN void settle_forces(const ControlSetup<T>& s, const ControlInput<T>& in, const T* u,
                             ControlFound<T>& f) {
  for (int i = 0; i < s.forces.p; ++i) f.force_error[i] = f.force_y0[i] + inner(f.force_Y + i * s.n, u, s.n);
  settle(*in.feedback, f.force_wanted, f.commanded, f.force_error, f.force_error);
}

SARRUS_END
