// Derivatives of a step from a state alone (integrate/single_step.hpp), with dual numbers: of the numbers
// that the step computes, stages, projections and Newton's iterations included, with ranks, pivots and step
// sizes of the value. The step begins with a projection: derivatives are those along the constraints.
#pragma once

#include "algebra/pack.hpp"
#include "integrate/single_step.hpp"

SARRUS_BEGIN

// D: a dual number whose derivative is a pack of directions.
template <class D, int LDC, class S>
struct DifferentiatedStep {
  static constexpr int WIDTH = sizeof(D::b) / sizeof(double);
  Stepper<D, LDC, S> s;
  D *from, *increment, *tau;  // (nq), (nv), (nv)

  SARRUS_HD DifferentiatedStep(const Model<real<D>>& m, const Options& o, S& source, Arena& arena)
      : s(m, o, source, arena) {
    arena.take(m.nq, from);
    arena.take(m.nv, increment, tau);
  }
};

// A state with forces, the step, and the columns of v that inputs act on.
template <class T>
struct StepFrom {
  const T *q, *v, *tau;
  double t, h;
  int parts;
  const int* actuated;
  int nu;
};

// Where the derivatives go: A (2 nv, 2 nv), B (2 nv, nu), and the state after the step.
template <class T>
struct StepSlopes {
  T *A, *B, *q, *v;
};

// Whether J loses rank within the step: at its start, or where the smallest pivot is on its way to zero.
SARRUS_HD bool loses_rank(const auto& s, double h) {
  double time = time_to_singular(s);
  return s.held_rank > s.rank || (0 < time && time <= h);
}

// The step along directions first .. first + WIDTH of [position increment; velocity; inputs].
template <class D, int LDC, class S>
SARRUS_FN bool step_along(const StepFrom<real<D>>& x, int first, DifferentiatedStep<D, LDC, S>& d) {
  Stepper<D, LDC, S>& s = d.s;
  const Model<real<D>>& m = s.m;
  copy(d.from, x.q, m.nq);
  for (int j = 0; j < m.nv; ++j) d.increment[j] = D(real<D>(0)), s.v1[j] = D(x.v[j]), d.tau[j] = D(x.tau[j]);
  for (int l = 0; l < d.WIDTH; ++l) {
    int k = first + l, input = k - 2 * m.nv;
    if (k < m.nv)
      d.increment[k].b.set(l, 1);
    else if (input < 0)
      s.v1[k - m.nv].b.set(l, 1);
    else if (input < x.nu)
      d.tau[x.actuated[input]].b.set(l, 1);
  }
  integrate(m, d.from, d.increment, s.q1);
  s.status = StepStatus::FINE;
  s.end = 1e300;
  if (!start_alone(s, x.t, x.h / x.parts)) return false;
  int rank = s.rank;
  if (loses_rank(s, x.h)) return s.fail(StepStatus::SINGULAR_WITHIN);
  if (!steps_alone(s, x.t, x.h, x.parts)) return false;
  return rank == s.rank || s.fail(StepStatus::SINGULAR_WITHIN);
}

template <class D, int LDC, class S>
SARRUS_FN bool step_slopes(const StepFrom<real<D>>& x, const StepSlopes<real<D>>& out,
                           DifferentiatedStep<D, LDC, S>& d) {
  Stepper<D, LDC, S>& s = d.s;
  const Model<real<D>>& m = s.m;
  int n = 2 * m.nv;
  for (int first = 0; first < n + x.nu; first += d.WIDTH) {
    if (!step_along(x, first, d)) return false;
    for (int j = 0; j < m.nq; ++j) d.from[j] = D(value(s.q[j]));
    difference(m, d.from, s.q, d.increment);
    for (int l = 0; l < d.WIDTH && first + l < n + x.nu; ++l)
      for (int j = 0; j < n; ++j) {
        const D& end = j < m.nv ? d.increment[j] : s.v[j - m.nv];
        int k = first + l;
        (k < n ? out.A[j * n + k] : out.B[j * x.nu + k - n]) = end.b[l];
      }
  }
  for (int j = 0; j < m.nq; ++j) out.q[j] = value(s.q[j]);
  for (int j = 0; j < m.nv; ++j) out.v[j] = value(s.v[j]);
  return true;
}

SARRUS_END
