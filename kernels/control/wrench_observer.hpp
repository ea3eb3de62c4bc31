// Observer of the external wrench on a body and of the payload that it carries.
//
// It works in the tangent space, so constraint forces never enter. With x' = J v the twist of a point of the
// body, Lambda its inertia within the constraints and J a + J' v its acceleration by the model for the input
// that was applied, the mean wrench between two samples is
//
//   F = Lambda (dx' / dt - (J a + J' v)),     Lambda and a averaged over the sample                       (1)
//
// and a filter of the chosen bandwidth makes the estimate. A payload loads the body with -Y pi
// (control/payload.hpp): with Y filtered like F, F = -Y pi holds without delay, and least squares with
// exponential forgetting estimate pi.
#pragma once

#include "control/state_response.hpp"

SARRUS_BEGIN

constexpr double SHOWN = 0.02;  // eigenvalues of the inverse inertia below this share of the median are faded
constexpr double PRIOR = 1e-6;  // weight of the last payload relative to the information on the mass

// The fourth of the entries on the diagonal of A (6, 6) by size
template <class T>
SARRUS_HD T upper_median(const T* A) {
  T sorted[6];
  for (int i = 0; i < 6; ++i) {
    int k = i;
    for (; k > 0 && sorted[k - 1] > A[7 * i]; --k) sorted[k] = sorted[k - 1];
    sorted[k] = A[7 * i];
  }
  return sorted[3];
}

// out: the inertia (6, 6), regularized   in: its inverse, which `unit` (6) makes dimensionless
// Eigenvalues of the inverse below SHOWN times the median one are faded out: along these directions the body
// hardly moves, and a small error of its acceleration would appear as a large force.
template <class T>
SARRUS_FN void visible_inertia(const T* inverse, const T* unit, T* out) {
  T bare[36], U[36], s[6];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) bare[6 * i + j] = inverse[6 * i + j] / (unit[i] * unit[j]);
  T least = real<T>(SHOWN) * upper_median(bare);
  eigenvalues(bare, 6, s, U);
  bool regular = s[0] > least;
  for (int e = 0; e < 6; ++e) {
    T fading = larger(least - s[e], T(0)), faded = s[e] / (s[e] * s[e] + fading * fading);
    bool vanishes = !(s[e] > real<T>(1e-9) * s[5]);
    bare[e] = regular ? real<T>(1) / s[e] : vanishes ? T(0) : faded;
  }
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) {
      T sum = sum_of<T>(6, [&](int e) { return U[6 * i + e] * bare[e] * U[6 * j + e]; });
      out[6 * i + j] = sum / (unit[i] * unit[j]);
    }
}

// The sample of a measured state. The response in f is that of the projected one; the twist stays the
// measured one, because the projection in the mass metric would mix the noise of all coordinates into it.
template <class T, int LDC>
SARRUS_FN void take_sample(const ControlSetup<T>& s, const ControlInput<T>& in, const ObserverSetup<T>& o,
                           const ControlFound<T>& f, ObserverSample<T>& to, ControlWork<T, LDC>& w) {
  int nv = s.model->nv, n = s.n;
  OutputWork<T>& at = w.output;
  const T unit[6] = {o.length, o.length, o.length, T(1), T(1), T(1)};
  T inverse[36], *along = w.on;
  measure_frame(s, in, s.object.body, s.object.com, w);
  copy(to.origin, at.V, 6);
  copy(to.rotation, at.R, 9);
  move_point(at.R, s.object.com, at.p, at.V, at.A);
  for (int i = 0; i < 6; ++i) {
    const T* J = at.J + i * nv;
    to.twist[i] = at.V[i], to.a0[i] = at.A[i] + inner(J, f.response.a0, nv);
    fill(to.B + i * n, n);
    for (int j = 0; j < nv; ++j) {
      add_scaled(to.B + i * n, J[j], f.response.B + j * n, n);
      along[j] = inner(J, f.response.inverse_inertia + j * nv, nv);
    }
    for (int k = 0; k < 6; ++k) inverse[6 * i + k] = inner(along, at.J + k * nv, nv);
  }
  visible_inertia(inverse, unit, to.inertia);
  to.t = in.t;
}

// (1)   in: u (n) held since the sample before
template <class T>
SARRUS_FN void mean_wrench(const ObserverSample<T>& before, const ObserverSample<T>& after, const T* u, int n,
                           T dt, T* F) {
  T rest[6];
  for (int i = 0; i < 6; ++i) {
    T moved = inner(before.B + i * n, u, n) + inner(after.B + i * n, u, n);
    rest[i] = (after.twist[i] - before.twist[i]) / dt - real<T>(0.5) * (before.a0[i] + after.a0[i] + moved);
  }
  for (int i = 0; i < 6; ++i) {
    F[i] = sum_of<T>(6, [&](int j) {
      return real<T>(0.5) * (before.inertia[6 * i + j] + after.inertia[6 * i + j]) * rest[j];
    });
  }
}

// Least squares for the payload, in which old samples count `keep`; false where they have no solution
template <class T>
SARRUS_FN bool learn_payload(const ObserverSetup<T>& o, T keep, ObserverState<T>& s) {
  constexpr int N = PAYLOAD_NUMBERS;
  T L = o.length, known[N * N], x[N];
  const T size[N] = {T(1), L, L, L, L * L, L * L, L * L, L * L, L * L, L * L};
  const T weight[6] = {T(1), T(1), T(1), T(1) / L, T(1) / L, T(1) / L};  // moments count by their force at L
  int row[N];
  for (int i = 0; i < N; ++i) {
    s.right[i] *= keep;
    for (int j = 0; j < N; ++j) s.information[N * i + j] *= keep;
  }
  for (int r = 0; r < 6; ++r)
    for (int i = 0; i < N; ++i) {
      T entry = weight[r] * s.Y[N * r + i] * size[i];
      s.right[i] -= entry * weight[r] * s.wrench[r];
      for (int j = 0; j < N; ++j) s.information[N * i + j] += entry * weight[r] * s.Y[N * r + j] * size[j];
    }
  T prior = real<T>(PRIOR) * (s.information[0] > real<T>(1e-300) ? s.information[0] : T(1e-300));
  for (int i = 0; i < N; ++i) {
    x[i] = s.right[i] + prior * s.parameters[i] / size[i];
    for (int j = 0; j < N; ++j) known[N * i + j] = s.information[N * i + j] + (i == j ? prior : T(0));
  }
  Lu<T> lu;
  lu.A = known, lu.row = row, lu.n = N;
  if (!factorize_lu(lu)) return false;
  solve_lu(lu, x);
  multiply(s.parameters, x, size, N);
  return true;
}

// s.estimate: wrench, wrench less that of the payload, payload, and inertia as far as motion shows it
template <class T>
SARRUS_FN void store_estimate(const ObserverSetup<T>& o, ObserverState<T>& s) {
  T *wrench = s.estimate, *external = wrench + 6, *carried = external + 6,
    *inertia = carried + PAYLOAD_NUMBERS;
  fill(carried, PAYLOAD_NUMBERS);
  if (o.payload) make_possible(s.parameters, o.farthest, carried);
  for (int i = 0; i < 6; ++i) {
    wrench[i] = s.wrench[i];
    external[i] = s.wrench[i] + inner(s.Y + 10 * i, carried, PAYLOAD_NUMBERS);  // the payload exerts -Y pi
  }
  copy(inertia, s.before.inertia, 36);
}

// Notes which rows hold; whether they are the same as at the sample before, if there is one
template <class T>
SARRUS_HD bool same_rows(const ControlInput<T>& in, int nc, ObserverState<T>& s) {
  bool same = s.started;
  for (int r = 0; r < nc; ++r) {
    unsigned char holds = !in.rows || in.rows[r] ? 1 : 0;
    same = same && s.rows[r] == holds;
    s.rows[r] = holds;
  }
  return same;
}

// What the samples s.before and s.after say; false where the payload has no solution
template <class T>
SARRUS_FN bool learn(const ControlSetup<T>& setup, const ObserverSetup<T>& o, const ObserverInput<T>& given,
                     ObserverState<T>& s) {
  T dt = s.after.t - s.before.t, F[6], Y[60], share = s.ready ? given.share : T(1);
  s.ready = true;
  mean_wrench(s.before, s.after, given.u, setup.n, dt, F);
  if (given.raw) copy(F, given.raw, 6);
  for (int i = 0; i < 6; ++i) s.wrench[i] += share * (F[i] - s.wrench[i]);
  if (!o.payload) return true;
  mean_regressor(s.before, s.after, dt, setup.model->gravity, setup.object.com, Y);
  for (int i = 0; i < 60; ++i) s.Y[i] += share * (Y[i] - s.Y[i]);
  return !given.learning || learn_payload(o, given.keep, s);
}

// The estimate at a new sample, in s.estimate; a sample that is not later than the last one changes nothing
template <class T, int LDC>
SARRUS_FN void observe(const ControlSetup<T>& setup, const ControlInput<T>& in, const ObserverSetup<T>& o,
                       const ObserverInput<T>& given, ObserverState<T>& s, ControlFound<T>& f, Arena arena) {
  f.status = STEPPED;
  if (s.started && in.t <= s.before.t) return;
  ControlWork<T, LDC> w(setup, arena);
  f.status = find_response(setup, in, f, arena, w);
  if (f.status != STEPPED) return;
  take_sample(setup, in, o, f, s.after, w);
  if (same_rows(in, setup.model->nc, s) && !learn(setup, o, given, s)) f.status = NOT_FINITE;
  s.started = true;
  swap_(s.before, s.after);
  store_estimate(o, s);
}

SARRUS_END
