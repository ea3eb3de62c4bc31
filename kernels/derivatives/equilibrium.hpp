// Equilibrium: a pose at which the acceleration at rest vanishes, by
//
//   (s - A) y = a_y                                            A, a_y: derivatives/rest.hpp (1)           (1)
//
// which is Newton's step for s = 0. With s above every eigenvalue of A it is a damped step along a, which
// descends like a slow, overdamped motion. Eigenvalues of A are bounded by those of its symmetric part in the
// inertia of the free directions, where A of a conservative system at rest is symmetric.
#pragma once

#include "algebra/symmetric_eigenvalues.hpp"
#include "derivatives/rest.hpp"
#include "solve/factor/metric_split.hpp"

SARRUS_BEGIN

constexpr double NEAR_GUESS =
    0.5;  // an equilibrium this near to the guess [rad, or times L] is taken, stable or not
constexpr double LONGEST_MOVE = 0.25;  // of a step [rad, or times L]
constexpr double BALANCED = 1e-14;     // tangent force relative to all forces
constexpr double SETTLED = 1e-11;      // Newton step [rad, or times L] at which the iteration has converged
constexpr int NEWTON_TO_REST = 30, DESCENT_TO_REST = 200;

template <class T>
struct EquilibriumWork : RestWork<T> {
  T *start, *found;                      // (nq)
  T *newton, *damped;                    // steps (nv)
  T *metric, *L, *S, *values, *vectors;  // (nv, nv) but values (nv)

  SARRUS_HD EquilibriumWork(const Model<real<T>>& m, int n_u, Arena& arena) : RestWork<T>(m, n_u, arena) {
    arena.take(m.nq, start, found);
    arena.take(m.nv, newton, damped, values);
    arena.take(m.nv * m.nv, metric, L, S, vectors);
  }
};

// F^T M F, the inertia of the free directions, into w.metric
template <class T>
SARRUS_HD void free_inertia(const Model<real<T>>& m, EquilibriumWork<T>& w) {
  int nv = m.nv, n = w.free;
  for (int i = 0; i < n; ++i)
    for (int c = 0; c <= i; ++c) {
      T s = T(0);
      for (int j = 0; j < nv; ++j)
        for (int k = 0; k < nv; ++k)
          s += w.F[j * n + i] * m.unit[j] * w.inertia[j * nv + k] * m.unit[k] * w.F[k * n + c];
      w.metric[i * n + c] = w.metric[c * n + i] = s;
    }
}

// Largest eigenvalue of the symmetric part of L^T A L^-T, with L L^T the inertia of the free directions
template <class T>
SARRUS_FN T largest_rate(const Model<real<T>>& m, EquilibriumWork<T>& w) {
  int n = w.free;
  free_inertia(m, w);
  if (n == 0 || !factor_metric(w.metric, n, w.L)) return T(0);
  copy(w.S, w.A, n * n);
  for (int i = 0; i < n; ++i) solve_lower(w.L, n, 1, w.S + i * n);  // rows of A L^-T
  for (int i = 0; i < n; ++i)                                       // L^T of that
    for (int c = 0; c < n; ++c)
      w.metric[i * n + c] =
          sum_of<T>(n - i, [&](int k) { return w.L[(i + k) * n + i] * w.S[(i + k) * n + c]; });
  for (int i = 0; i < n; ++i)
    for (int c = 0; c < n; ++c) w.S[i * n + c] = (w.metric[i * n + c] + w.metric[c * n + i]) * real<T>(0.5);
  eigenvalues(w.S, n, w.values, w.vectors);
  return w.values[n - 1];
}

// A step (nv) of (1)
template <class T>
SARRUS_FN void rest_step(const Model<real<T>>& m, const T& shift, EquilibriumWork<T>& w, T* step) {
  int n = w.free;
  for (int i = 0; i < n; ++i) {
    w.g[i] = w.a_y[i];
    for (int c = 0; c < n; ++c) w.s.at(i, c) = (i == c ? shift : T(0)) - w.A[i * n + c];
  }
  solve_small(n, n, w, w.x);
  for (int j = 0; j < m.nv; ++j) {
    step[j] = sum_of<T>(n, [&](int c) { return w.F[j * n + c] * w.x[c]; });
    step[j] = step[j] * m.unit[j];
  }
}

template <class T>
SARRUS_HD T largest_move(const Model<real<T>>& m, const T* step) {
  return largest_of(m.nv, [&](int j) { return abs_(step[j]) / m.unit[j]; });
}

// w.newton; whether the iteration has converged with it
template <class T>
SARRUS_FN bool newton_to_rest(const Model<real<T>>& m, EquilibriumWork<T>& w) {
  int n = w.free;
  rest_step(m, T(0), w, w.newton);
  if (!(largest_move(m, w.newton) <= real<T>(SETTLED))) return false;
  T left = T(0), all = T(0);
  for (int i = 0; i < n; ++i) {
    T s = w.a_y[i];
    s = plus_products(s, w.A + i * n, w.x, n);
    left += s * s;
    all += w.a_y[i] * w.a_y[i];
  }
  return sqrt_(left) <= real<T>(1e-6) * sqrt_(all);
}

template <class T>
SARRUS_FN bool balanced(const Model<real<T>>& m, EquilibriumWork<T>& w) {
  T scale = largest_of(m.nv, [&](int j) { return abs_(w.h[j]) + abs_(w.applied[j]); });
  return unbalanced(m, w) <= real<T>(BALANCED) * (scale + w.largest_inertia);
}

enum SearchEnd { FOUND, NOT_FOUND, STOPPED };

// Moves w.at along a step, shortened where it is too long, and closes; the status at the new pose
template <class T, class Rows, class State>
SARRUS_FN RestStatus move_to(const Model<real<T>>& m, const RestProblem<T>& p, Rows rows, State state,
                             const T* step, EquilibriumWork<T>& w) {
  T size = largest_move(m, step);
  T part = size <= real<T>(LONGEST_MOVE) ? T(1) : real<T>(LONGEST_MOVE) / size;
  set_scaled(w.dv, part, step, m.nv);
  integrate(m, w.at, w.dv, w.q);
  assemble(m, p.closing, [&](const T* q) { rows(q, w.v); }, p.patterns, w);
  copy(w.at, w.q, m.nq);
  return is_closed(w.r, p.closing.n_rows) ? rest_at(m, p, rows, state, w) : NOT_ASSEMBLED;
}

// Newton's step (nv), which is there, or a damped one that leads to a minimum of the potential
template <class T>
SARRUS_FN const T* step_to_rest(const Model<real<T>>& m, bool damped, EquilibriumWork<T>& w) {
  if (!damped) return w.newton;
  T rate = largest_rate(m, w), size = inner(w.a_y, w.a_y, w.free);
  rest_step(m, larger(rate, T(0)) + sqrt_(size) / real<T>(LONGEST_MOVE), w, w.damped);
  return w.damped;
}

// Steps from w.at; where it stopped: `status`. Newton's lead to the equilibrium nearby and are given up where
// one is very long. Damped steps lead to a minimum of the potential.
template <class T, class Rows, class State>
SARRUS_FN SearchEnd search_rest(const Model<real<T>>& m, const RestProblem<T>& p, Rows rows, State state,
                                bool damped, RestStatus& status, EquilibriumWork<T>& w) {
  int most = damped ? DESCENT_TO_REST : NEWTON_TO_REST;
  status = rest_at(m, p, rows, state, w);
  if (status != AT_REST) return STOPPED;
  for (int n = 0; n < most; ++n) {
    if (balanced(m, w)) return FOUND;
    if (!rest_slopes(m, p, rows, state, w)) {
      status = NOT_ASSEMBLED;
      return STOPPED;
    }
    bool last = newton_to_rest(m, w);
    bool too_long = !(largest_move(m, w.newton) <= real<T>(4 * LONGEST_MOVE));
    if (too_long && !last && !damped) return NOT_FOUND;
    status = move_to(m, p, rows, state, step_to_rest(m, damped && !last, w), w);
    if (status != AT_REST) return STOPPED;
    if (last) return FOUND;
  }
  return NOT_FOUND;
}

// From the closed pose w.at: the equilibrium near it, stable or not; where there is none so near, the one at
// which it comes to rest when it slides down slowly. Ends at it, or at the last pose of the search.
template <class T, class Rows, class State>
SARRUS_FN SearchEnd find_rest(const Model<real<T>>& m, const RestProblem<T>& p, Rows rows, State state,
                              RestStatus& status, EquilibriumWork<T>& w) {
  copy(w.start, w.at, m.nq);
  SearchEnd end = search_rest(m, p, rows, state, false, status, w);
  if (end == STOPPED) return end;
  if (end == FOUND) {
    difference(m, w.start, w.at, w.dv);
    if (largest_move(m, w.dv) <= real<T>(NEAR_GUESS)) return end;
    copy(w.found, w.at, m.nq);
  }
  copy(w.at, w.start, m.nq);
  SearchEnd slid = search_rest(m, p, rows, state, true, status, w);
  if (slid != NOT_FOUND || end != FOUND) return slid;
  copy(w.at, w.found, m.nq);
  status = rest_at(m, p, rows, state, w);
  return FOUND;
}

SARRUS_END
