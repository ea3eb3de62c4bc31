// Gradients through a fixed Runge-Kutta step: the step forwards, keeping its stages, then backwards.
//
//   q_i = q (+) u_i,   u_i = h sum A_ij k_j,   v_i = v + h sum A_ij a_j
//   k_i = rate(u_i) v_i,   a_i = a(q_i, v_i)
//   end: d = M^-1 J1^T c of the last stage closes q (+) u (+) d, then v changes least to J v = 0         (1)
//
// Backwards: derivatives/solution_gradient.hpp for each solution, closed formulas for the rest. Exact to the
// numbers that integrate/step.hpp computes where no singular pose, near miss or lost digits are near; other
// steps are refused and take integrate/step_derivatives.hpp, as do drives, rows of users and flexible bodies.
#pragma once

#include "derivatives/solution_gradient.hpp"
#include "integrate/lane_step.hpp"

SARRUS_BEGIN

constexpr int MOST_SWEPT = 4;            // stages
constexpr double STARTS_CLOSED = 1e-11;  // a state further off the constraints is not swept
constexpr double NO_CORRECTION = 1e-15;  // of a correction, without units: it has no slopes of its own
constexpr int MOST_ROUNDS = 30;          // of the multipliers of the closed end

// One evaluation on the way.
template <class T, int LDC>
struct SweptStage {
  Recursive<T, LDC> r;
  T *q, *v, *u;  // state, increment from the start
  T* by;         // gradients by q, and by v from ld on

  SARRUS_HD SweptStage(const Model<real<T>>& m, Arena& arena) : r(m, arena) {
    arena.take(m.nq, q);
    arena.take(r.w.ld, v, u);
    arena.take(r.wide, by);
  }
};

template <class T, int LDC>
struct StepGradient {
  const Model<real<T>>& m;
  Model<real<T>> still;  // without gravity and forces
  const Tableau& tab;
  Stride<LDC> ld;
  SweptStage<T, LDC> stage[MOST_SWEPT], end;
  SolutionGradient<T> g;
  T *ku, *kv, *ku_bar, *kv_bar;  // (MOST_SWEPT, ld)
  T *tau, *trial, *before, *d, *x, *b, *u_bar;
  T *q_trial, *q_next, *none, *rates;
  int rank = 0;

  SARRUS_HD StepGradient(const Model<real<T>>& model, const Tableau& tableau, Arena& arena)
      : m(model),
        still(model),
        tab(tableau),
        ld(model.nv),
        stage{{model, arena}, {model, arena}, {model, arena}, {model, arena}},
        end(model, arena) {
    g.bind(arena, m, ld);
    arena.take(MOST_SWEPT * ld, ku, kv, ku_bar, kv_bar);
    arena.take(ld, tau, trial, before, d, x, b, u_bar);
    arena.take(m.nq, q_trial, q_next);
    arena.take(3, none);
    arena.take(36, rates);
    still.gravity = none;
    still.nf = still.ncf = still.nfm = 0;
  }
};

// Whether steps of a method and a mechanism are swept at all.
template <class R>
SARRUS_HD bool may_sweep(const Model<R>& m, const Method& method) {
  int stages = method.tableau.stages;
  return !method.adaptive && !method.implicit && !method.splitting.stages && 2 <= stages &&
         stages <= MOST_SWEPT && !m.nd && !m.n_user_rows && !m.nfl && all_holonomic(m);
}

// Terms and factorization at a stage, with `hold` pivots (-1: decided). False: digits may be lost.
template <class T, int LDC>
SARRUS_FN bool factorize_stage(StepGradient<T, LDC>& s, SweptStage<T, LDC>& at, int hold) {
  State<T> x{at.q, at.v, nullptr, nullptr};
  Workspace<T, LDC>& w = at.r.w;
  evaluate(s.m, x, w);
  prepare(s.m, x, hold, static_cast<Tangent<T, LDC>*>(nullptr), w);
  return w.factor.spd && !cancels(s.m, w) && (hold < 0 || w.factor.rank_rows == hold);
}

// The acceleration at a stage, into out (ld), and the slopes of the residuals there.
template <class T, int LDC>
SARRUS_FN bool solve_stage(StepGradient<T, LDC>& s, SweptStage<T, LDC>& at, int hold, T* out) {
  Workspace<T, LDC>& w = at.r.w;
  if (!factorize_stage(s, at, hold)) return false;
  accelerate(s.m, s.tau, w);
  copy(out, w.a, s.ld);
  for (int i = 0; i < s.m.nv; ++i) s.g.force[i] = dot(w.M + i * s.ld, w.a, s.ld) - w.rhs[i];
  chosen_multipliers(s.m, s.ld, w.factor, s.g.force, at.r.lam);
  residual_derivatives(s.m, at.q, at.v, at.r);
  return all_of(s.m.nv, [&](int j) { return value(out[j]) * 0 == 0; });
}

// The smallest pivot at the pose x (nq), in the room of the end
template <class T, int LDC>
SARRUS_FN T pivot_at(StepGradient<T, LDC>& s, const T* x) {
  Workspace<T, LDC>& w = s.end.r.w;
  copy(s.end.q, x, s.m.nq);
  fill(s.end.v, s.ld);
  if (!factorize_stage(s, s.end, s.rank)) return T(0);
  return smallest_pivots(w, s.rank);
}

// Whether the step begins on the constraints, and far from singular poses and near misses.
template <class T, int LDC>
SARRUS_FN bool starts_regular(StepGradient<T, LDC>& s, double h) {
  SweptStage<T, LDC>& first = s.stage[0];
  Workspace<T, LDC>& w = first.r.w;
  if (s.m.nc == 0) return true;
  if (!(position_residual(s.m, w) <= STARTS_CLOSED)) return false;
  double speed = 0;
  for (int j = 0; j < s.m.nv; ++j) speed = larger(value(abs_(first.v[j]) / s.m.unit[j]), speed);
  if (!(velocity_residual(s.m, first.v, w) <= STARTS_CLOSED * (1 + speed))) return false;
  T pivot = smallest_pivots(w, s.rank), before = pivot;
  if (!(pivot > STEPS_CHARTED * PIVOT_RATE * speed * h)) {
    set_scaled(s.x, T(-h), first.v, s.m.nv);
    integrate(s.m, first.q, s.x, s.q_trial);
    before = pivot_at(s, s.q_trial);
  }
  return far_from_singular(pivot, before, s.m.nv - s.rank, true, T(speed * h));
}

// Newton from q_trial to the end with the factorization of the last stage, at the rate that steps ask for
template <class T, int LDC>
SARRUS_FN bool close_end(StepGradient<T, LDC>& s, SweptStage<T, LDC>& last) {
  Workspace<T, LDC>&w = last.r.w, &e = s.end.r.w;
  copy(s.end.q, s.q_trial, s.m.nq);
  real<T> before = 1e300;
  for (int i = 0; i < NEWTON_STEPS; ++i) {
    place(s.m, s.end.q, e.tree);
    constraints(s.m, State<T>{s.end.q, s.end.v, nullptr, nullptr}, e.tree, s.ld, e.rows);
    real<T> residual = value(position_residual(s.m, e));
    if (residual <= CLOSED || (residual > 0.5 * before && residual <= CLOSED_ENOUGH)) return true;
    if (!(residual <= SLOW * before)) return false;
    before = residual;
    negate(w.extra, e.rows.phi, s.m.nc);
    solve_rows(s.m, s.ld, w.factor, w.extra, static_cast<const T*>(nullptr), w.y);
    fill(w.rhs, s.m.nv);
    solve_free(s.m, s.ld, w.factor, w.rhs, w.y, s.x);
    integrate(s.m, s.end.q, s.x, s.q_next);
    copy(s.end.q, s.q_next, s.m.nq);
  }
  return false;
}

// out: all stages, the end (q, v) with s.d, the last displacement, and s.before, the last velocity before it
template <class T, int LDC>
SARRUS_FN bool sweep_forwards(StepGradient<T, LDC>& s, double h) {
  const Model<real<T>>& m = s.m;
  int n = s.tab.stages;
  SweptStage<T, LDC>& first = s.stage[0];
  fill(first.u, s.ld);
  if (!solve_stage(s, first, -1, s.kv)) return false;
  s.rank = first.r.w.factor.rank_rows;
  if (!starts_regular(s, h)) return false;
  copy(s.ku, first.v, s.ld);
  for (int i = 1; i <= n; ++i) {
    SweptStage<T, LDC>& at = i < n ? s.stage[i] : s.end;
    fill(at.u, s.ld);
    copy(at.v, first.v, s.ld);
    add_rates(s.tab, i, h, s.ku, s.ld, at.u);
    add_rates(s.tab, i, h, s.kv, s.ld, at.v);
    integrate(m, first.q, at.u, i < n ? at.q : s.q_trial);
    if (i == n) break;
    if (!solve_stage(s, at, s.rank, s.kv + i * s.ld)) return false;
    increment_rate(m, at.u, at.v, s.ku + i * s.ld);
  }
  copy(s.before, s.end.v, s.ld);
  copy(s.end.q, s.q_trial, m.nq);
  fill(s.d, s.ld);
  if (m.nc == 0) return true;
  if (!close_end(s, s.stage[n - 1])) return false;
  difference(m, s.q_trial, s.end.q, s.d);
  if (!factorize_stage(s, s.end, s.rank)) return false;
  Workspace<T, LDC>& e = s.end.r.w;
  velocity_residual(m, s.end.v, e);
  normal_step(m, e.extra, e);
  add(s.end.v, e.a, m.nv);
  return true;
}

// R (n, n): rate of the increment u of a joint with its velocity
template <class T, class J>
SARRUS_HD void rate_matrix(J joint, const T* u, T* R) {
  for (int k = 0; k < J::nv; ++k) {
    T unit[J::nv] = {}, column[J::nv];
    unit[k] = T(1);
    joint.rate(u, unit, column);
    for (int i = 0; i < J::nv; ++i) R[i * J::nv + k] = column[i];
  }
}

// Gradients through q (+) u, g (nv) by its increments: added to by_q and to by_u. An increment of the result
// is R(u)^-1 (R(-u) dq + du).
template <class T>
SARRUS_FN void pull_integrate(const Model<real<T>>& m, const T* u, const T* g, T* by_q, T* by_u) {
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto joint) {
      constexpr int n = decltype(joint)::nv;
      int k = m.iv[i];
      if constexpr (n < 3) {
        for (int j = 0; j < n; ++j) by_q[k + j] += g[k + j], by_u[k + j] += g[k + j];
      } else {
        T R[n * n], A[n * n], x[n], minus[n];
        int row[n];
        rate_matrix(joint, u + k, R);
        for (int a = 0; a < n; ++a)
          for (int b = 0; b < n; ++b) A[a * n + b] = R[b * n + a];
        copy(x, g + k, n);
        Lu<T> lu{A, row, n};
        factorize_lu(lu);
        solve_lu(lu, x);
        add(by_u + k, x, n);
        negate(minus, u + k, n);
        rate_matrix(joint, minus, R);
        for (int a = 0; a < n; ++a)
          for (int b = 0; b < n; ++b) by_q[k + b] += R[a * n + b] * x[a];
      }
    });
}

// Gradients through rate(u) v, g (nv): added to by_u and by_v
template <class T>
SARRUS_FN void pull_rate(const Model<real<T>>& m, const T* u, const T* v, const T* g, T* by_u, T* by_v) {
  using D = Dual<T>;
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto joint) {
      constexpr int n = decltype(joint)::nv;
      int k = m.iv[i];
      if constexpr (n < 3) {
        for (int j = 0; j < n; ++j) by_v[k + j] += g[k + j];
      } else {
        for (int c = 0; c < 2 * n; ++c) {
          D du[n], dv[n], out[n];
          for (int j = 0; j < n; ++j) du[j] = D(u[k + j], T(c == j)), dv[j] = D(v[k + j], T(c == n + j));
          joint.rate(du, dv, out);
          T sum = sum_of<T>(n, [&](int j) { return out[j].b * g[k + j]; });
          (c < n ? by_u[k + c] : by_v[k + c - n]) += sum;
        }
      }
    });
}

// Gradients by the entries of q (nq), quaternions included, as those along increments, into out (nv)
template <class T>
SARRUS_FN void pull_entries(const Model<real<T>>& m, const T* q, const T* g, T* out) {
  using D = Dual<T>;
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto joint) {
      constexpr int n = decltype(joint)::nv, entries = decltype(joint)::nq;
      for (int c = 0; c < n; ++c) {
        D from[entries > 0 ? entries : 1], step[n > 0 ? n : 1], to[entries > 0 ? entries : 1];
        for (int j = 0; j < entries; ++j) from[j] = D(q[m.iq[i] + j]);
        for (int j = 0; j < n; ++j) step[j] = D(T(0), T(j == c));
        joint.integrate(from, step, to);
        out[m.iv[i] + c] = sum_of<T>(entries, [&](int j) { return to[j].b * g[m.iq[i] + j]; });
      }
    });
}

// Gradients along increments, g (nv), as those by the entries of q (nq): orthogonal to quaternions, which
// have unit length
template <class T>
SARRUS_FN void push_entries(const Model<real<T>>& m, const T* q, const T* g, T* out) {
  using D = Dual<T>;
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto joint) {
      constexpr int n = decltype(joint)::nv, entries = decltype(joint)::nq;
      D from[entries > 0 ? entries : 1], step[n > 0 ? n : 1], to[entries > 0 ? entries : 1];
      for (int j = 0; j < entries; ++j) from[j] = D(q[m.iq[i] + j]);
      for (int j = 0; j < n; ++j) step[j] = D(T(0), g[m.iv[i] + j]);
      joint.integrate(from, step, to);
      for (int j = 0; j < entries; ++j)
        out[m.iq[i] + j] = to[j].b * real<T>(n < entries && j >= entries - 4 ? 4 : 1);
    });
}

// Whether a correction (nv) has slopes of its own that count
template <class T, int LDC>
SARRUS_HD bool corrects(const StepGradient<T, LDC>& s, const T* x) {
  return any_of(s.m.nv, [&](int j) { return value(abs_(x[j]) / s.m.unit[j]) > NO_CORRECTION; });
}

// Through the last projection of the velocity: s.end.by becomes the gradients by q at the end and by the
// velocity before.
template <class T, int LDC>
SARRUS_FN void pull_velocity_end(StepGradient<T, LDC>& s) {
  Recursive<T, LDC>& r = s.end.r;
  r.q = s.end.q;
  T* v_bar = s.end.by + s.ld;
  solve_adjoint(s.m, v_bar, r.w, s.g);
  add(v_bar, s.g.force, s.m.nv);
  copy(r.x, s.end.v, s.m.nv);
  fill(r.lam, s.m.nc);
  add_bilinear(s.m, s.g.kappa, r, s.end.by);
  set_difference(s.x, s.end.v, s.before, s.m.nv);
  if (corrects(s, s.x)) pull_correction(s.still, s.end.q, s.x, r, s.g, s.end.by);
}

// Through the closing of the end: s.b becomes the gradient by increments of q_trial. Returns whether s.g.mu
// is the weight of the slopes of its displacement at the last stage.
//   J1 of that stage has to see nothing of M^-1 b: b = g - J^T z is found with J at the end              (2)
template <class T, int LDC>
SARRUS_FN bool pull_position_end(StepGradient<T, LDC>& s, SweptStage<T, LDC>& last) {
  const Model<real<T>>& m = s.m;
  auto room = [&](T* by_q, T* by_u) {
    fill(by_q, s.ld), fill(by_u, s.ld);
    pull_integrate(m, s.d, s.b, by_q, by_u);
  };
  copy(s.b, s.end.by, s.ld);
  real<T> before = 1e300;
  for (int i = 0; i < MOST_ROUNDS; ++i) {
    room(s.trial, s.x);
    solve_adjoint(m, s.x, last.r.w, s.g);
    real<T> left = value(largest_of(m.nv, [&](int j) { return abs_(s.g.force[j]) * m.unit[j]; }));
    real<T> size = value(largest_of(m.nv, [&](int j) { return abs_(s.x[j]) * m.unit[j]; }));
    if (!(left > 1e-16 * size) || (i > 2 && left > 0.5 * before)) break;
    before = left;
    for (int k = 0; k < m.nc; ++k)
      if (s.g.kappa[k] != 0) axpy(s.b, s.g.kappa[k], s.end.r.w.rows.J + k * s.ld, s.ld);
  }
  room(s.trial, s.x);
  copy(s.b, s.trial, s.ld);
  return corrects(s, s.d);
}

// Stage i backwards: gradients by its acceleration and rate are there.
template <class T, int LDC>
SARRUS_FN void pull_stage(StepGradient<T, LDC>& s, int i, double h, bool corrected, T* by_tau) {
  SweptStage<T, LDC>&at = s.stage[i], &first = s.stage[0];
  fill(at.by, i > 0 ? int(at.r.wide) : 0);
  fill(s.u_bar, s.ld);
  if (corrected) copy(s.x, s.g.mu, s.ld);
  pull_acceleration(s.m, s.kv_bar + i * s.ld, i == 0, at.r, s.g, at.by, by_tau);
  if (corrected) {
    copy(s.g.mu, s.x, s.ld);
    pull_correction(s.still, at.q, s.d, at.r, s.g, at.by);
  }
  pull_rate(s.m, at.u, at.v, s.ku_bar + i * s.ld, s.u_bar, at.by + s.ld);
  if (i == 0) return;
  pull_integrate(s.m, at.u, at.by, first.by, s.u_bar);
  add(first.by + s.ld, at.by + s.ld, s.m.nv);
  for (int j = 0; j < i; ++j) {
    add_scaled(s.ku_bar + j * s.ld, T(h * s.tab.A[i][j]), s.u_bar, s.m.nv);
    add_scaled(s.kv_bar + j * s.ld, T(h * s.tab.A[i][j]), at.by + s.ld, s.m.nv);
  }
}

// Through the projection that begins the step, of a state on the constraints
template <class T, int LDC>
SARRUS_FN void pull_start(StepGradient<T, LDC>& s, const T* Jv_q) {
  SweptStage<T, LDC>& first = s.stage[0];
  T *by_q = first.by, *by_v = first.by + s.ld;
  solve_adjoint(s.m, by_v, first.r.w, s.g);
  add(by_v, s.g.force, s.m.nv);
  for (int k = 0; k < s.m.nc; ++k) add_scaled(by_q, s.g.kappa[k], Jv_q + k * s.ld, s.m.nv);
  solve_adjoint(s.m, by_q, first.r.w, s.g);
  add(by_q, s.g.force, s.m.nv);
}

// Gradients by increments of q, by v (first.by) and by tau (nv), of those by the end (s.end.by)
template <class T, int LDC>
SARRUS_FN void sweep_backwards(StepGradient<T, LDC>& s, double h, T* by_tau) {
  const Model<real<T>>& m = s.m;
  int n = s.tab.stages;
  SweptStage<T, LDC>&first = s.stage[0], &last = s.stage[n - 1];
  bool corrected = false;
  if (m.nc > 0) {
    pull_velocity_end(s);
    corrected = pull_position_end(s, last);
  } else {
    copy(s.b, s.end.by, s.ld);
  }
  fill(first.by, first.r.wide);
  fill(s.u_bar, s.ld);
  pull_integrate(m, s.end.u, s.b, first.by, s.u_bar);
  add(first.by + s.ld, s.end.by + s.ld, m.nv);
  for (int i = 0; i < n; ++i) {
    set_scaled(s.ku_bar + i * s.ld, T(h * s.tab.b[i]), s.u_bar, s.ld);
    set_scaled(s.kv_bar + i * s.ld, T(h * s.tab.b[i]), s.end.by + s.ld, s.ld);
  }
  fill(by_tau, m.nv);
  for (int i = n - 1; i >= 0; --i) pull_stage(s, i, h, corrected && i == n - 1, by_tau);
  if (m.nc > 0) pull_start(s, first.r.Jvq);
}

// A state, the step, and gradients by the state after it (entries of q, v).
template <class T>
struct GradientAt {
  const T *q, *v, *tau;
  double h;
  const T *by_q, *by_v;
};

// Gradients by the entries of q (nq), by v and by tau (nv). False: the step is not one that is swept.
template <class T, int LDC>
SARRUS_FN bool step_gradient(const GradientAt<T>& x, StepGradient<T, LDC>& s, T* by_q, T* by_v, T* by_tau) {
  const Model<real<T>>& m = s.m;
  SweptStage<T, LDC>& first = s.stage[0];
  copy(first.q, x.q, m.nq);
  copy(first.v, x.v, m.nv);
  fill(first.v + m.nv, s.ld - m.nv);
  copy(s.tau, x.tau, m.nv);
  fill(s.none, 3);
  if (!sweep_forwards(s, x.h)) return false;
  fill(s.end.by, s.end.r.wide);
  pull_entries(m, s.end.q, x.by_q, s.end.by);
  copy(s.end.by + s.ld, x.by_v, m.nv);
  sweep_backwards(s, x.h, by_tau);
  push_entries(m, first.q, first.by, by_q);
  copy(by_v, first.by + s.ld, m.nv);
  return all_of(m.nv, [&](int j) { return (first.by[j] + by_v[j] + by_tau[j]) * 0 == 0; });
}

SARRUS_END
