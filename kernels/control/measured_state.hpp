// The measured state of a control step: projected onto its constraints, its terms, its response to inputs.
//
// A state off the constraints by more than rounding is projected first. Points that stand on the ground stay
// where they are: J does not depend on their gap. What contacts slip in the measured state they shall lose
// again, J a = gamma - settling (J v - b).
#pragma once

#include "control/input_response.hpp"
#include "control/rank_weights.hpp"
#include "control/track_outputs.hpp"

SARRUS_BEGIN

constexpr double CONSISTENT = 1e-11;  // gaps and slips below this, without units, are rounding
constexpr double LITTLE_OFF = 1e-3;   // gaps up to which states that cannot be projected are of use

template <class T, int LDC>
struct ControlWork : Workspace<T, LDC> {
  T *rest, *on, *terms, *rates;  // zero accelerations (nv), a row (nv); terms and rates computed elsewhere
  T *x, *desired, *e, *rate, *c, *J, *maps, *given;  // of all outputs, rows that do not count among them
  T *back, *on_lam;
  bool* plain;
  bool bodies_tracked = false;  // whether an output or an observer asks for the frames of bodies
  unsigned char* part;
  OutputWork<T> output;

  SARRUS_HD ControlWork(const ControlSetup<T>& s, Arena& arena) : Workspace<T, LDC>(*s.model, arena) {
    const Model<real<T>>& m = *s.model;
    int rows = 0, squares = 0, most = 0;
    bodies_tracked = s.object.body >= 0;
    for (int o = 0; o < s.outputs; ++o) {
      int k = s.output[o].size;
      rows += k, squares += k * k, most = larger(k, most);
      bodies_tracked = bodies_tracked || (s.output[o].kind != COORDINATES && s.output[o].kind != GIVEN);
    }
    arena.take(m.nv, rest, on);
    arena.take(m.nv * m.nv + m.nv + m.nc * (m.nv + 3), terms);
    arena.take(m.nc * (m.nv + 1), rates);
    arena.take(rows, x, desired, e, rate, c, back);
    arena.take(rows * m.nv, J);
    arena.take(squares, maps);
    arena.take(most * (5 + m.nv + most), given);
    arena.take(s.limits.m * m.nc, on_lam);
    arena.take(6 * m.nv, output.J);
    arena.take(s.outputs, plain);
    arena.take(m.nc, part);
    if (arena.at) fill(rest, m.nv);
  }
};

// M, h and all rows at f.q, f.v
template <class T, int LDC>
SARRUS_FN void evaluate_terms(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                              ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  int nv = m.nv, nc = m.nc;
  if (in.owner.terms) {
    const T* from = w.terms;
    auto next = [&](T* to, int count) {
      for (int i = 0; i < count; ++i) to[i] = *from++;
    };
    in.owner.terms(in.owner.self, f.q, f.v, w.terms);
    next(f.M, nv * nv), next(f.h, nv), next(f.phi, nc), next(f.J, nc * nv), next(f.b, nc), next(f.gamma, nc);
    if (w.bodies_tracked) place(m, f.q, w.tree);
    return;
  }
  evaluate(m, State<T>{f.q, f.v, in.drive, nullptr}, w);
  copy(f.h, w.h, nv);
  for (int i = 0; i < nv; ++i) copy(f.M + i * nv, w.M + i * w.ld, nv);
  for (int r = 0; r < nc; ++r) {
    f.phi[r] = w.rows.phi[r], f.b[r] = w.rows.b[r], f.gamma[r] = w.rows.gamma[r];
    copy(f.J + r * nv, w.rows.J + r * w.ld, nv);
  }
}

// The same with what is added to h
template <class T, int LDC>
SARRUS_HD void evaluate_state(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                              ControlWork<T, LDC>& w) {
  evaluate_terms(s, in, f, w);
  for (int i = 0; in.resistance && i < s.model->nv; ++i) f.h[i] += in.resistance[i];
}

// Whether a pose or velocity violates rows that hold by more than `tol`, without units
// out: f.gap, f.measured, f.slip
template <class T>
SARRUS_FN bool is_off(const ControlSetup<T>& s, const ControlInput<T>& in, real<T> tol, ControlFound<T>& f) {
  const Model<real<T>>& m = *s.model;
  T slip = T(0), fastest = T(0);
  f.gap = T(0);
  for (int r = 0; r < m.nc; ++r) {
    f.measured[r] = f.phi[r], f.slip[r] = T(0);
    if (in.rows && !in.rows[r]) continue;
    T open = abs_(f.phi[r]) * s.gap_weight[r], off = -f.b[r];
    if (!(open <= f.gap)) f.gap = open;
    off = plus_products(off, f.J + r * m.nv, f.v, m.nv);
    f.slip[r] = off;
    off = abs_(off) * s.per_row[r];
    if (off > slip) slip = off;
  }
  for (int j = 0; j < m.nv; ++j) {
    T size = abs_(f.v[j]) / m.unit[j];
    if (size > fastest) fastest = size;
  }
  return f.gap > tol || slip > tol * (fastest + real<T>(1));
}

// Rows that do not hold are left out of f
template <class T>
SARRUS_HD void keep_active_rows(const Model<real<T>>& m, const unsigned char* rows, ControlFound<T>& f) {
  f.nc = 0;
  for (int r = 0; r < m.nc; ++r) {
    if (rows && !rows[r]) continue;
    if (f.nc != r) {
      f.phi[f.nc] = f.phi[r], f.b[f.nc] = f.b[r], f.gamma[f.nc] = f.gamma[r];
      copy(f.J + f.nc * m.nv, f.J + r * m.nv, m.nv);
    }
    ++f.nc;
  }
}

// A state that cannot be projected, near a singular pose of redundant rows, but is off by little is taken as
// it is: rows that are independent by the gap only are in doubt.
template <class T>
SARRUS_FN bool leave_as_measured(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f) {
  if (!(s.angle > 0) || !(f.gap <= real<T>(LITTLE_OFF))) return false;
  copy(f.q, in.q, s.model->nq);
  copy(f.v, in.v, s.model->nv);
  f.projection = 0;
  f.ranks.tol = larger(s.angle, T(real<T>(BAND) * f.gap));
  return true;
}

// The measured state with its terms, projected where it is off its constraints by more than `tol`
template <class T, int LDC>
SARRUS_FN ControlStatus take_state(const ControlSetup<T>& s, const ControlInput<T>& in, real<T> tol,
                                   ControlFound<T>& f, ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  copy(f.q, in.q, m.nq);
  copy(f.v, in.v, m.nv);
  evaluate_state(s, in, f, w);
  f.projected = is_off(s, in, tol, f);
  if (f.projected) {
    for (int r = 0; r < m.nc; ++r) w.part[r] = in.rows && !in.rows[r] ? 0 : s.part[r];
    f.projection = in.owner.project(in.owner.self, w.part, f.q, f.v);
    if (f.projection && !leave_as_measured(s, in, f)) return OFF_CONSTRAINTS;
    evaluate_state(s, in, f, w);
  }
  for (int r = 0; in.settling && r < m.nc; ++r) f.gamma[r] -= in.settling[r] * f.slip[r];
  keep_active_rows(m, in.rows, f);
  return STEPPED;
}

// The model with the rows that hold; unit of the rows in row_unit (nc)
template <class T>
SARRUS_HD DenseTerms<T> dense_terms(const ControlSetup<T>& s, const ControlInput<T>& in,
                                    const ControlFound<T>& f, T* row_unit) {
  DenseTerms<T> d{};
  d.m.nv = s.model->nv, d.m.nc = f.nc, d.m.unit = s.model->unit, d.m.rank_tol = s.model->rank_tol;
  d.m.row_unit = row_unit;
  for (int r = 0, k = 0; r < s.model->nc; ++r)
    if (!in.rows || in.rows[r]) row_unit[k++] = s.model->row_unit[r];
  d.M = f.M, d.h = f.h, d.J = f.J, d.gamma = f.gamma, d.columns = s.columns, d.nu = s.n;
  d.v = s.drops_lost_rows ? nullptr : f.v;
  return d;
}

template <class T>
SARRUS_HD ResponseView<T> view_of(const ControlSetup<T>& s, const ControlFound<T>& f) {
  return {s.model->nv, s.n, f.response.dof, f.N, f.response.B, f.response.a0, s.model->unit, f.M, s.columns};
}

SARRUS_END
