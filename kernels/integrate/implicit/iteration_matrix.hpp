// The iteration matrix of implicit steps: how the rates of local coordinates change with them.
//
// A small y moves the state along dq = N_q y_q, dv = L y_q + N_v y_v with J L + d(J v - b)/dq N_q = 0 and
// N_v^T L = 0 ([Spencer2004] eq. (2.40), (2.44)). The acceleration follows from the residual E of the
// equations of motion and R of the rows, derivatives/dynamics_derivatives.hpp (1), for these directions only.
#pragma once

#include "derivatives/dynamics_derivatives.hpp"
#include "integrate/local_chart.hpp"

SARRUS_BEGIN

constexpr double DIFFERENCE_STEP = 1e-7;  // of local coordinates in finite differences

// Direction k of the chart into dq, dv (ld).
template <class T, int LDC>
SARRUS_FN void direction(const Model<real<T>>& m, int k, Chart<T, LDC>& chart, Recursive<T, LDC>& r, T* dq,
                         T* dv) {
  Workspace<T, LDC>& w = r.w;
  const Directions<T>& pos = chart.positions();
  bool moves = k < pos.n;
  const T* N = moves ? pos.N + k * w.ld : chart.vel.N + (k - pos.n) * w.ld;
  T* along = moves ? dq : dv;
  fill(dq, w.ld);
  fill(dv, w.ld);
  multiply(along, N, m.unit, m.nv);
  if (!moves || m.nc == 0) return;
  for (int i = 0; i < m.nc; ++i) w.extra[i] = -dot(r.Jvq + i * w.ld, dq, w.ld);
  smallest(m, w.ld, w.factor, w.extra, w.y, dv);
}

// Acceleration of direction (dq, dv) with the force dtau, into w.a
template <class T, int LDC>
SARRUS_FN void acceleration_slope(const Model<real<T>>& m, const T* dq, const T* dv, const T* dtau,
                                  Recursive<T, LDC>& r) {
  Workspace<T, LDC>& w = r.w;
  for (int i = 0; i < m.nv; ++i)
    w.rhs[i] = dtau[i] - dot(r.Eq + i * r.wide, dq, w.ld) - dot(r.Ev + i * r.wide, dv, w.ld);
  for (int i = 0; i < m.nc; ++i)
    r.lam[i] = -dot(r.Rq + i * r.wide, dq, w.ld) - dot(r.Rv + i * r.wide, dv, w.ld);
  solve_rows(m, w.ld, w.factor, r.lam, static_cast<const T*>(nullptr), w.y);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
}

// Derivative dtau (ld) of the inputs along (dq, dv); room: a, y (ld). The difference is off the manifold by
// the square of its step: nothing.
template <class T, int LDC, class S>
SARRUS_FN bool input_slope(Stepper<T, LDC, S>& s, const T* tau, const T* dq, const T* dv,
                           Workspace<T, LDC>& w, T* dtau) {
  const Model<real<T>>& m = s.m;
  for (int j = 0; j < m.nv; ++j) w.a[j] = dq[j] * DIFFERENCE_STEP, w.y[j] = s.v[j] + dv[j] * DIFFERENCE_STEP;
  integrate(m, s.q, w.a, s.q1);
  Supplied<T> room = s.room();
  room.M = w.M, room.h = w.h;
  if (!s.source.inputs(m, {s.t, s.q1, w.y, 1}, room)) return s.fail(StepStatus::STOPPED);
  for (int j = 0; j < m.nv; ++j) dtau[j] = (s.tau[j] - tau[j]) / DIFFERENCE_STEP;
  return true;
}

// G (n, n) by the derivatives of the dynamics at the state of s; with feedback, the inputs are asked for next
// to it.
template <class T, int LDC, class S>
SARRUS_FN bool analytic_matrix(Stepper<T, LDC, S>& s, Chart<T, LDC>& chart, Recursive<T, LDC>& r, T* G) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = r.w;
  const Directions<T>& pos = chart.positions();
  int n = pos.n + chart.vel.n;
  bool feedback = s.o.jacobian == Jacobian::ANALYTIC_WITH_FEEDBACK;
  evaluate(m, s.state(s.q, s.v), w);
  prepare(m, s.state(s.q, s.v), -1, static_cast<Tangent<T, LDC>*>(nullptr), w);
  accelerate(m, s.tau, w);
  multipliers(m, w, r.lam);
  residual_derivatives(m, s.q, s.v, r);
  T *dq = s.u, *dv = s.v1, *dtau = s.x, *tau = w.force;
  copy(tau, s.tau, w.ld);
  fill(dtau, w.ld);
  for (int k = 0; k < n; ++k) {
    direction(m, k, chart, r, dq, dv);
    if (feedback && !input_slope(s, tau, dq, dv, w, dtau)) return false;
    acceleration_slope(m, dq, dv, dtau, r);
    reduce(m, chart.vel.N, chart.vel.n, w.a, w.ld, chart.y, chart.c);
    for (int i = 0; i < chart.vel.n; ++i) G[(pos.n + i) * n + k] = chart.c[i];
    // T(u)^-1 v = v + ad_u v / 2 + even powers of u
    increment_rate(m, dq, s.v, w.y);
    negate(dq, dq, m.nv);
    increment_rate(m, dq, s.v, w.a);
    for (int j = 0; j < m.nv; ++j) dv[j] += (w.y[j] - w.a[j]) * real<T>(0.5);
    reduce(m, pos.N, pos.n, dv, w.ld, chart.y, chart.c);
    set_column(G + k, n, chart.c, pos.n);
  }
  return true;
}

SARRUS_END
