// One step of a control law, from a measured state to inputs.
//
//   nearest state on the constraints -> response to inputs -> outputs -> least-norm inputs -> limits
//
// A state off the constraints by more than rounding is projected first. Points that stand on the ground stay
// where they are: J does not depend on their gap.
#pragma once

#include "control/input_response.hpp"
#include "control/least_norm_inputs.hpp"
#include "control/limited_inputs.hpp"
#include "control/track_outputs.hpp"

SARRUS_BEGIN

constexpr double CONSISTENT = 1e-11;  // gaps and slips below this, without units, are rounding

template <class T, int LDC>
struct ControlWork : Workspace<T, LDC> {
  T *rest, *terms, *rates;  // zero accelerations (nv); terms and rates of rows computed elsewhere
  T *x, *desired, *e, *rate, *c, *J, *maps, *given;  // of all outputs, rows that do not count among them
  T *back, *on_lam;
  bool* plain;
  bool bodies_tracked = false;  // whether some output is a point, pose or turn of a body
  unsigned char* part;
  OutputWork<T> output;

  SARRUS_HD ControlWork(const ControlSetup<T>& s, Arena& arena) : Workspace<T, LDC>(*s.model, arena) {
    const Model<real<T>>& m = *s.model;
    int rows = 0, squares = 0, most = 0;
    for (int o = 0; o < s.outputs; ++o) {
      int k = s.output[o].size;
      rows += k, squares += k * k, most = k > most ? k : most;
      bodies_tracked = bodies_tracked || (s.output[o].kind != COORDINATES && s.output[o].kind != GIVEN);
    }
    arena.take(m.nv, rest);
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

// Room for the results of any state
template <class T>
SARRUS_HD void bind_results(const ControlSetup<T>& s, Arena& arena, ControlFound<T>& f) {
  const Model<real<T>>& m = *s.model;
  int n = s.n, rows = s.k + (s.damping != 0 ? m.nv : 0);
  arena.take(m.nq, f.q);
  arena.take(m.nv, f.v, f.h, f.response.a0, f.response.prescribed, f.a);
  arena.take(m.nv * m.nv, f.M, f.N, f.response.inverse_inertia);
  arena.take(m.nc, f.phi, f.b, f.gamma, f.response.lam0);
  arena.take(m.nc, f.response.lam_unique);
  arena.take(m.nc * m.nv, f.J, f.response.lam_per_force);
  arena.take(m.nv * n, f.response.B);
  arena.take(m.nc * n, f.response.Lam);
  arena.take(s.k, f.x, f.desired, f.e, f.rate, f.wanted);
  arena.take(s.k * m.nv, f.task_J);
  arena.take(rows * n, f.least.G);
  arena.take(rows, f.least.g);
  arena.take(n, f.least.x, f.inputs, f.u);
  arena.take(n * n, f.least.Z);
  arena.take(s.mass_metric ? n * n : 0, f.metric);
  arena.take(s.limits.m * n, f.rows.R);
  arena.take(s.limits.m, f.rows.lower, f.rows.upper, f.rows.reserve);
  arena.take(s.limits.m, f.limit_rows);
  arena.take(s.limits.m + n, f.active);
}

// ---------------------------------------------------------------------------------------- measured state

// M, h and all rows at f.q, f.v
template <class T, int LDC>
SARRUS_FN void evaluate_state(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
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
  for (int i = 0; i < nv; ++i) f.h[i] = w.h[i];
  for (int i = 0; i < nv; ++i)
    for (int j = 0; j < nv; ++j) f.M[i * nv + j] = w.M[i * w.ld + j];
  for (int r = 0; r < nc; ++r) {
    f.phi[r] = w.rows.phi[r], f.b[r] = w.rows.b[r], f.gamma[r] = w.rows.gamma[r];
    for (int j = 0; j < nv; ++j) f.J[r * nv + j] = w.rows.J[r * w.ld + j];
  }
}

// Whether a pose or velocity violates rows that hold by more than rounding; out: f.gap
template <class T>
SARRUS_FN bool is_off(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f) {
  const Model<real<T>>& m = *s.model;
  T slip = T(0), fastest = T(0);
  f.gap = T(0);
  for (int r = 0; r < m.nc; ++r) {
    if (in.rows && !in.rows[r]) continue;
    T open = abs_(f.phi[r]) * s.gap_weight[r], off = -f.b[r];
    if (!(open <= f.gap)) f.gap = open;
    for (int j = 0; j < m.nv; ++j) off += f.J[r * m.nv + j] * f.v[j];
    off = abs_(off) * s.per_row[r];
    if (off > slip) slip = off;
  }
  for (int j = 0; j < m.nv; ++j) {
    T size = abs_(f.v[j]) / m.unit[j];
    if (size > fastest) fastest = size;
  }
  return f.gap > real<T>(CONSISTENT) || slip > real<T>(CONSISTENT) * (fastest + real<T>(1));
}

// Rows that do not hold are left out of f
template <class T>
SARRUS_HD void keep_active_rows(const Model<real<T>>& m, const unsigned char* rows, ControlFound<T>& f) {
  f.nc = 0;
  for (int r = 0; r < m.nc; ++r) {
    if (rows && !rows[r]) continue;
    if (f.nc != r) {
      f.phi[f.nc] = f.phi[r], f.b[f.nc] = f.b[r], f.gamma[f.nc] = f.gamma[r];
      for (int j = 0; j < m.nv; ++j) f.J[f.nc * m.nv + j] = f.J[r * m.nv + j];
    }
    ++f.nc;
  }
}

// The measured state, on its constraints, with its terms
template <class T, int LDC>
SARRUS_FN ControlStatus take_state(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                                   ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  for (int i = 0; i < m.nq; ++i) f.q[i] = in.q[i];
  for (int i = 0; i < m.nv; ++i) f.v[i] = in.v[i];
  evaluate_state(s, in, f, w);
  if (is_off(s, in, f)) {
    for (int r = 0; r < m.nc; ++r) w.part[r] = in.rows && !in.rows[r] ? 0 : s.part[r];
    f.projection = in.owner.project(in.owner.self, w.part, f.q, f.v);
    if (f.projection) return OFF_CONSTRAINTS;
    evaluate_state(s, in, f, w);
  }
  keep_active_rows(m, in.rows, f);
  return STEPPED;
}

// ---------------------------------------------------------------------------------------- response

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
  d.v = in.rows ? nullptr : f.v;
  return d;
}

// Response to inputs; at singular poses its limit, where all rows hold
template <class T, int LDC>
SARRUS_FN ControlStatus respond_to_step(const ControlSetup<T>& s, const ControlInput<T>& in,
                                        ControlFound<T>& f, Arena arena, ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  T* row_unit;
  arena.take(m.nc, row_unit);
  DenseTerms<T> d = dense_terms(s, in, f, row_unit);
  ResponseWork<T, LDC> r(d, arena);
  ResponseStatus status = factorize_terms(d, r);
  if (status == RATES_NEEDED) {
    T* gamma = w.rates + m.nc * m.nv;
    if (in.owner.rates) {
      in.owner.rates(in.owner.self, f.q, f.v, w.rates);
    } else {
      Tangent<T, LDC> tangent(m, arena);
      differentiate_rows(m, State<T>{f.q, f.v, in.drive, nullptr}, tangent);
      for (int i = 0; i < m.nc; ++i) {
        gamma[i] = tangent.rate_gamma(i);
        for (int j = 0; j < m.nv; ++j) w.rates[i * m.nv + j] = tangent.rate_J(i, j);
      }
    }
    d.rate_J = w.rates, d.rate_gamma = gamma;
    status = RESPONSE_FOUND;
  }
  if (status == RESPONSE_FOUND) status = factorize_inertia(d, r);
  if (status != RESPONSE_FOUND) return WITHOUT_INERTIA;
  find_response(d, f.response, r);
  copy(f.N, f.response.N, m.nv * f.response.dof);
  f.response.N = f.N;
  return STEPPED;
}

template <class T>
SARRUS_HD ResponseView<T> view_of(const ControlSetup<T>& s, const ControlFound<T>& f) {
  return {s.model->nv, s.n, f.response.dof, f.N, f.response.B, f.response.a0, s.model->unit, f.M, s.columns};
}

// ---------------------------------------------------------------------------------------- outputs

template <class T, int LDC>
SARRUS_FN void track_output(const ControlSetup<T>& s, const ControlInput<T>& in, int number,
                            const ControlFound<T>& f, const TrackedRows<T>& to, ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  const Output<T>& o = s.output[number];
  const T *target = in.targets + o.at, *from = w.given;
  if (o.kind == COORDINATES) return track_coordinates(m, o, f.q, f.v, target, to);
  if (o.kind != GIVEN) return track_body(m, o, w.tree, target, w.output, to);
  in.owner.given(in.owner.self, number, f.q, f.v, w.given);
  auto next = [&](T* out, int count) {
    for (int i = 0; i < count; ++i) out[i] = *from++;
  };
  next(to.x, o.size), next(to.desired, o.size), next(to.e, o.size), next(to.rate, o.size);
  next(to.c, o.size), next(to.J, o.size * m.nv), next(to.map, o.size * o.size);
  *to.plain = o.accelerated;
}

// Rows of all active tasks
template <class T, int LDC>
SARRUS_FN void track_tasks(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                           ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  if (w.bodies_tracked) accelerate_tree(m, f.v, w.rest, w.tree);
  f.k = 0;
  for (int t = 0, row = 0, square = 0; t < s.tasks; ++t) {
    const Task<T>& task = s.task[t];
    int begin = row, maps = square;
    if (in.on && !in.on[t]) continue;
    for (int o = task.first; o < task.first + task.outputs; ++o) {
      int k = s.output[o].size;
      track_output(s, in, o, f,
                   {w.x + row, w.desired + row, w.e + row, w.rate + row, w.c + row, w.J + row * m.nv,
                    w.maps + square, w.plain + o},
                   w);
      row += k, square += k * k;
    }
    want(task, s.output + task.first, w.maps + maps, w.plain + task.first, w.e + begin, w.rate + begin,
         w.back, w.c + begin);
    for (int i = 0; i < task.kept; ++i, ++f.k) {
      int r = begin + (task.keep ? task.keep[i] : i);
      f.x[f.k] = w.x[r], f.desired[f.k] = w.desired[r], f.e[f.k] = w.e[r], f.rate[f.k] = w.rate[r];
      f.wanted[f.k] = w.c[r];
      for (int j = 0; j < m.nv; ++j) f.task_J[f.k * m.nv + j] = w.J[r * m.nv + j];
    }
  }
}

// ---------------------------------------------------------------------------------------- inputs

template <class T>
SARRUS_HD InputMetric<T> metric_of(const ControlSetup<T>& s, const ControlFound<T>& f) {
  return s.mass_metric ? InputMetric<T>{f.metric, false} : s.metric;
}

// L (n, n), lower, with A = L L^T; false where A is not positive definite
template <class T>
SARRUS_HD bool cholesky(const T* A, int n, T* L) {
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T s = A[i * n + j] - inner(L + i * n, L + j * n, j);
      if (i == j && !(s > 0)) return false;
      L[i * n + j] = i == j ? sqrt_(s) : s / L[j * n + j];
    }
  return true;
}

// Metric of the inertia: f.metric = C^-T with S M^-1 S^T = C C^T
template <class T>
SARRUS_FN bool mass_metric(const ControlSetup<T>& s, ControlFound<T>& f, Arena arena) {
  int nv = s.model->nv, n = s.n;
  T *L, *half, *square, *C;
  arena.take(nv * nv, L);
  arena.take(n * nv, half);
  arena.take(n * n, square, C);
  if (!cholesky(f.M, nv, L)) return false;
  for (int c = 0; c < n; ++c)  // row c of half: L x = e_columns[c]
    for (int i = 0; i < nv; ++i)
      half[c * nv + i] = (T(i == s.columns[c] ? 1 : 0) - inner(L + i * nv, half + c * nv, i)) / L[i * nv + i];
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) square[r * n + c] = inner(half + r * nv, half + c * nv, nv);
  if (!cholesky(square, n, C)) return false;
  for (int c = 0; c < n; ++c)  // row c of C^-T: C x = e_c
    for (int i = 0; i < n; ++i)
      f.metric[c * n + i] = (T(i == c ? 1 : 0) - inner(C + i * n, f.metric + c * n, i)) / C[i * n + i];
  return true;
}

// Inputs of least norm, kept in f
template <class T>
SARRUS_FN ControlStatus find_least_norm(const ControlSetup<T>& s, ControlFound<T>& f, Arena arena) {
  LeastNormProblem<T> p{
      view_of(s, f),        {f.k, f.task_J, f.wanted, s.row_unit}, metric_of(s, f), f.v, s.damping, s.by_mass,
      s.min_controllability};
  LeastNormWork<T> w(p, arena);
  LeastNormSolution<T> found = least_norm_inputs(p, w);
  if (found.rank < 0) return NOT_FINITE;
  T *G = f.least.G, *g = f.least.g, *x = f.least.x, *Z = f.least.Z;
  for (int i = 0; i < found.rows * s.n; ++i) G[i] = found.G[i];
  for (int i = 0; i < found.rows; ++i) g[i] = found.g[i];
  for (int i = 0; i < s.n; ++i) x[i] = found.x[i];
  for (int i = 0; i < s.n * (s.n - found.rank); ++i) Z[i] = found.Z[i];
  f.least = found;
  f.least.G = G, f.least.g = g, f.least.x = x, f.least.Z = Z;
  return STEPPED;
}

// Fixed limits as rows on inputs; those of rows that do not hold are left out
template <class T>
SARRUS_FN void find_limit_rows(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                               T* on_lam) {
  const FixedLimits<T>& all = s.limits;
  int nc = s.model->nc;
  f.limits = 0;
  for (int r = 0; r < all.m; ++r) {
    const T* row = all.on_lam + r * nc;
    bool holds = true;
    for (int c = 0; c < nc && in.rows; ++c) holds = holds && (in.rows[c] || row[c] == 0);
    if (!holds) continue;
    T* kept = on_lam + f.limits * f.nc;
    for (int c = 0, k = 0; c < nc; ++c)
      if (!in.rows || in.rows[c]) kept[k++] = row[c];
    f.limit_rows[f.limits++] = r;
  }
  for (int i = 0; i < f.limits; ++i) {
    int r = f.limit_rows[i];
    MultiplierLimits<T> one{1,
                            f.nc,
                            s.n,
                            0,
                            on_lam + i * f.nc,
                            all.on_u ? all.on_u + r * s.n : nullptr,
                            f.response.lam0,
                            f.response.Lam,
                            all.lower + r,
                            all.upper + r,
                            nullptr};
    rows_on_inputs(one, {f.rows.R + i * s.n, f.rows.lower + i, f.rows.upper + i, f.rows.reserve + i});
  }
}

// The inputs: least ones, or the nearest to them within limits
template <class T>
SARRUS_FN void choose_inputs(const ControlSetup<T>& s, ControlFound<T>& f, Arena arena) {
  int open = s.n - f.least.rank;
  LimitedProblem<T> p{s.n,      open,         f.limits,     f.least.x, f.least.Z, nullptr, metric_of(s, f),
                      f.rows.R, f.rows.lower, f.rows.upper, nullptr,   s.touch,   s.tol};
  LimitedWork<T> w(p, arena);
  LimitedSolution<T> found = limited_inputs(p, w);
  f.program = found.status, f.count = found.count, f.iterations = found.iterations;
  for (int i = 0; i < found.count; ++i) f.active[i] = found.active[i];
  for (int i = 0; i < s.n; ++i) f.inputs[i] = found.x[i], f.u[i] = found.u[i];
}

// Fixed limits, the inputs within them, and the acceleration that they cause
template <class T, int LDC>
SARRUS_FN void control_inputs(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                              Arena arena) {
  ControlWork<T, LDC> w(s, arena);
  find_limit_rows(s, in, f, w.on_lam);
  choose_inputs(s, f, arena);
  for (int i = 0; i < s.model->nv; ++i) f.a[i] = f.response.a0[i] + inner(f.response.B + i * s.n, f.u, s.n);
}

// Memory that any stage may need, behind that of ControlWork
template <class T, int LDC>
SARRUS_HD void measure_stages(const ControlSetup<T>& s, Arena& arena) {
  const Model<real<T>>& m = *s.model;
  unsigned long long begin = arena.used, most = begin;
  auto measured = [&] {
    most = arena.used > most ? arena.used : most;
    arena.used = begin;
  };
  T* row_unit;
  DenseTerms<T> d{};
  d.m.nv = m.nv, d.m.nc = m.nc;
  arena.take(m.nc, row_unit);
  ResponseWork<T, LDC> response(d, arena);
  Tangent<T, LDC> tangent(m, arena);
  measured();
  LeastNormProblem<T> least{};
  least.nv = least.dof = m.nv, least.n = s.n, least.task.k = s.k, least.damping = s.damping;
  LeastNormWork<T> least_work(least, arena);
  measured();
  LimitedProblem<T> limited{};
  limited.n = limited.open = s.n, limited.m = s.limits.m;
  LimitedWork<T> limited_work(limited, arena);
  measured();
  T* metric;
  arena.take((m.nv + s.n) * (m.nv + 2 * s.n) + 128, metric);
  measured();
  arena.used = most;
}

// The outputs, and the inputs of least norm for them
template <class T, int LDC>
SARRUS_FN void control_step(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                            Arena arena) {
  ControlWork<T, LDC> w(s, arena);
  f.projection = 0, f.count = f.iterations = f.limits = 0, f.program = INSIDE;
  f.status = take_state(s, in, f, w);
  if (f.status == STEPPED) f.status = respond_to_step(s, in, f, arena, w);
  if (f.status != STEPPED) return;
  track_tasks(s, in, f, w);
  if (s.mass_metric && !mass_metric(s, f, arena)) f.status = WITHOUT_INERTIA;
  if (f.status == STEPPED) f.status = find_least_norm(s, f, arena);
}

SARRUS_END
