// A Runge-Kutta step without branches, for recorded programs (bindings/tracing): the stages of
// integrate/lane_step.hpp, then a fixed number of Newton steps with the factorization of the last stage,
// which is the one nearest to the end. Guards say whether the general step (integrate/step.hpp) would have
// done something else; then the step counts for nothing and the general one has to be taken.
//
// `call` supplies what the program calls: accelerate(x) -> Straight, close() -> Residuals, and
// require(guard, condition), which calls condition().
#pragma once

#include "integrate/lane_step.hpp"

SARRUS_BEGIN

// Why a step or an acceleration of a recorded program does not count, as bits.
enum Guard : int {
  PIVOT = 1,     // a singular pose is near, or may be within this step
  CLOSURE = 2,   // the fixed number of Newton steps does not close the constraints
  RANK = 4,      // J has more independent rows than at the reference state
  DECISION = 8,  // another branch than at the reference state: angles of a step, inertia, numbers not finite
};

constexpr double ROUGHEST = 1e6;
constexpr double STRAIGHT_RATE = 0.01;  // at most: residual after a Newton step over that before it

// Residuals without units that count as closed and as dependent, by the precision of the program. rounding:
// of residuals, for each unit of the sum of all |q|.
struct StraightTolerances {
  double closed, rank, rounding;
};

// What guards look at in a factorization: the smallest pivot, and the largest squared length of a row that is
// left out.
template <class T>
struct Straight {
  T pivot, left;
};

template <class T>
struct Residuals {
  T position, velocity;
};

template <class T, int LDC>
SARRUS_FN Straight<T> inspect_factors(const LaneStepper<T, LDC>& s) {
  const Workspace<T, LDC>& w = s.w;
  T left = T(0);
  for (int r = s.rank; r < s.m.nc; ++r) {
    T sum = T(0);
    sum = plus_products(sum, w.factor.Y + r * w.ld + s.rank, w.factor.Y + r * w.ld + s.rank, s.m.nv - s.rank);
    left = larger(sum, left);
  }
  return {smallest_pivots(w, s.rank), left};
}

// One Newton step of (q1, v1) onto the constraints with the factorization in w. Returns the residuals before
// it.
template <class T, int LDC>
SARRUS_FN Residuals<T> close_once(LaneStepper<T, LDC>& s) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  place(m, s.q1, w.tree);
  move(m, s.v1, w.tree);
  constraints(m, s.state(s.q1, s.v1, s.tab.stages), w.tree, w.ld, w.rows);
  Residuals<T> r = {position_residual(m, w), velocity_residual(m, s.v1, w)};
  normal_step(m, w.extra, w);
  add(s.v1, w.a, m.nv);
  negate(w.extra, w.rows.phi, m.nc);
  normal_step(m, w.extra, w);
  integrate(m, s.q1, w.a, s.q2);
  copy(s.q1, s.q2, m.nq);
  return r;
}

// Residual that counts as closed at q1: the rounding of phi grows with angles that have turned often, up to
// ROUGHEST times the usual one.
template <class T, int LDC>
SARRUS_FN T closed_at(const LaneStepper<T, LDC>& s, const StraightTolerances& tol) {
  if (tol.rounding == 0) return T(tol.closed);
  T size = sum_of<T>(s.m.nq, [&](int j) { return abs_(s.q1[j]); });
  T floor = larger(size * T(tol.rounding), T(tol.closed));
  return -larger(-floor, T(-ROUGHEST * tol.closed));
}

// Requires that positions are closed within `closed` before the last Newton step already, and that this step
// closes velocities too, at the rate at which the one before it closed positions. speed: largest |v|.
template <class T, class Call>
SARRUS_FN void require_closed(const Residuals<T>& before, const Residuals<T>& after, const T& speed,
                              const T& closed, Call& call) {
  call.require(CLOSURE, [&] { return after.position < closed; });
  call.require(CLOSURE, [&] {
    return after.position < larger(before.position * real<T>(STRAIGHT_RATE), closed * T(0.1));
  });
  T rate_times_before = larger(after.position, closed * T(1e-3));
  call.require(CLOSURE, [&] {
    return after.velocity * rate_times_before <
           larger(before.position, closed * T(0.1)) * ((speed + T(1)) * closed);
  });
}

// Requires that no number of x (n) is infinite or NaN.
template <class T, class Call>
SARRUS_FN void require_finite(const T* x, int n, Call& call) {
  T size = sum_of<T>(n, [&](int j) { return abs_(x[j]); });
  call.require(DECISION, [&] { return size < T(1e300); });
}

// s.w.a at (q, v) under tau, on the constraints
template <class T, int LDC, class Call>
SARRUS_FN void straight_acceleration(LaneStepper<T, LDC>& s, const StraightTolerances& tol, Call& call) {
  Straight<T> f = call.accelerate(s.state(s.q, s.v, 0));
  call.require(PIVOT, [&] { return f.pivot > T(NEAR_SINGULAR); });
  call.require(RANK, [&] { return f.left < T(tol.rank * tol.rank); });
  require_finite(s.w.a, s.m.nv, call);
}

// (q1, v1) on the constraints, from (q, v) beside them: Newton steps with the factorization at the given
// pose, and again with that of the pose found.
template <class T, int LDC, class Call>
SARRUS_FN void straight_projection(LaneStepper<T, LDC>& s, int newton_steps, const StraightTolerances& tol,
                                   Call& call) {
  copy(s.q1, s.q, s.m.nq);
  copy(s.v1, s.v, s.m.nv);
  Residuals<T> before = {T(0), T(0)}, after = before;
  for (int round = 0; round < 2; ++round) {
    Straight<T> f = call.accelerate(s.state(s.q1, s.v1, 0));
    call.require(PIVOT, [&] { return f.pivot > T(NEAR_SINGULAR); });
    if (round) call.require(RANK, [&] { return f.left < T(tol.rank * tol.rank); });
    for (int i = 0; i < newton_steps; ++i) {
      before = after;
      after = call.close();
    }
  }
  require_closed(before, after, largest_in_lanes(s.m, s.v1), closed_at(s, tol), call);
  require_finite(s.v1, s.m.nv, call);
}

// (q1, v1) after a step of size h from (q, v) under tau. Returns the residuals before the last Newton step.
template <class T, int LDC, class Call>
SARRUS_FN Residuals<T> straight_step(LaneStepper<T, LDC>& s, const T& h, int newton_steps,
                                     const StraightTolerances& tol, Call& call) {
  const Model<real<T>>& m = s.m;
  Straight<T> first = call.accelerate(s.state(s.q, s.v, 0)), last = first;
  copy(s.a, s.w.a, s.w.ld);
  lane_stages(s, h, [&](const State<T>& x) { last = call.accelerate(x); });
  Residuals<T> before = {T(0), T(0)}, after = before;
  if (m.nc == 0) return after;
  s.pivot = first.pivot, s.pivot_before = last.pivot;
  call.require(PIVOT, [&] { return begins_regular(s, h); });
  call.require(RANK, [&] { return first.left < T(tol.rank * tol.rank); });
  for (int i = 0; i < newton_steps; ++i) {
    before = after;
    after = call.close();
  }
  require_closed(before, after, largest_in_lanes(m, s.v1), closed_at(s, tol), call);
  return after;
}

SARRUS_END
