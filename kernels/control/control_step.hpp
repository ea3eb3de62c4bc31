// One step of a control law, from a measured state to inputs.
//
//   nearest state on the constraints -> response to inputs -> outputs -> least-norm inputs -> limits
#pragma once

#include "control/hierarchy_step.hpp"
#include "control/regulated_forces.hpp"
#include "control/state_response.hpp"

SARRUS_BEGIN

// Room for the results of any state
template <class T>
SARRUS_HD void bind_results(const ControlSetup<T>& s, Arena& arena, ControlFound<T>& f) {
  const Model<real<T>>& m = *s.model;
  int n = s.n, rows = s.k + (s.damping != 0 ? m.nv : 0), wide = n + most_shares(s);
  arena.take(m.nq, f.q);
  arena.take(m.nv, f.v, f.h, f.response.a0, f.response.prescribed, f.a);
  arena.take(m.nv * m.nv, f.M, f.N, f.response.inverse_inertia);
  arena.take(m.nc, f.phi, f.b, f.gamma, f.measured, f.slip, f.response.lam0);
  arena.take(m.nc, f.response.lam_unique);
  arena.take(m.nc, f.lost_rows);
  arena.take(m.nc * m.nv, f.J, f.response.lam_per_force);
  arena.take(m.nv * n, f.response.B);
  arena.take(m.nc * n, f.response.Lam);
  arena.take(s.k, f.x, f.desired, f.e, f.rate, f.wanted, f.row_unit);
  arena.take(s.k * m.nv, f.task_J);
  arena.take(rows * n, f.least.G);
  arena.take(rows, f.least.g);
  arena.take(n, f.least.x);
  arena.take(wide, f.inputs, f.u);
  arena.take((wide - n) * m.nc, f.response.sharing);
  if (wide == n) f.response.sharing = nullptr;
  arena.take(n * n, f.least.Z);
  arena.take(s.mass_metric ? n * n : 0, f.metric);
  arena.take(s.limits.m * wide, f.rows.R);
  arena.take(s.limits.m, f.rows.lower, f.rows.upper, f.rows.reserve);
  arena.take(s.limits.m, f.limit_rows);
  arena.take(s.limits.m + wide + s.limits.cones, f.active);
  arena.take(3 * s.limits.cones * wide, f.cone_R);
  arena.take(3 * s.limits.cones, f.cone_at);
  arena.take(s.limits.cones, f.cone_reserve);
  arena.take(s.limits.cones, f.cone_rows);
  arena.take(s.object.body >= 0 ? 36 : 0, f.mobility);
  arena.take(s.object.body >= 0 ? 6 * m.nc : 0, f.disturbance);
  arena.take(s.object.body >= 0 ? ESTIMATE_NUMBERS : 0, f.estimate);
  arena.take(PAYLOAD_NUMBERS, f.external, f.carried);
  arena.take(s.forces.p * n, f.force_Y);
  arena.take(s.forces.p, f.force_y0, f.force_wanted, f.commanded, f.force_error);
  if (s.levels) bind_levels(s, arena, f);
}

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
  for (int t = 0, row = 0, square = 0, kept = 0; t < s.tasks; ++t) {
    const Task<T>& task = s.task[t];
    int begin = row, maps = square, before = kept;
    kept += task.kept;
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
      f.wanted[f.k] = w.c[r], f.row_unit[f.k] = s.row_unit[before + i];
      copy(f.task_J + f.k * m.nv, w.J + r * m.nv, m.nv);
    }
  }
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
  for (int c = 0; c < n; ++c) lower_inverse_column(L, nv, int(s.columns[c]), half + c * nv);
  for (int r = 0; r < n; ++r)
    for (int c = 0; c < n; ++c) square[r * n + c] = inner(half + r * nv, half + c * nv, nv);
  if (!cholesky(square, n, C)) return false;
  for (int c = 0; c < n; ++c) lower_inverse_column(C, n, c, f.metric + c * n);  // row c of C^-T
  return true;
}

// Inputs of least norm, kept in f
template <class T>
SARRUS_FN ControlStatus find_least_norm(const ControlSetup<T>& s, ControlFound<T>& f, Arena arena) {
  LeastNormProblem<T> p{view_of(s, f),
                        {f.k, f.task_J, f.wanted, f.row_unit},
                        metric_of(s, f),
                        f.v,
                        s.damping,
                        s.by_mass,
                        s.min_controllability,
                        &f.ranks};
  LeastNormWork<T> w(p, arena);
  LeastNormSolution<T> found = least_norm_inputs(p, w);
  if (found.rank < 0) return NOT_FINITE;
  T *G = f.least.G, *g = f.least.g, *x = f.least.x, *Z = f.least.Z;
  copy(G, found.G, found.rows * s.n);
  copy(g, found.g, found.rows);
  copy(x, found.x, s.n);
  copy(Z, found.Z, s.n * (s.n - found.rank));
  f.least = found;
  f.least.G = G, f.least.g = g, f.least.x = x, f.least.Z = Z;
  return STEPPED;
}

// What limits on the constraint force M a + h - S^T u and on the acceleration add to row i on inputs
template <class T>
SARRUS_FN void add_motion_limits(const ControlSetup<T>& s, const T* on_force, const T* on_a, int i, T* on,
                                 ControlFound<T>& f) {
  int nv = s.model->nv, n = s.n;
  T at = T(0), *R = f.rows.R + i * (n + f.shares);
  fill(on, nv);
  if (on_a) copy(on, on_a, nv);
  if (on_force) {
    at = inner(on_force, f.h, nv);
    for (int j = 0; j < nv; ++j) add_scaled(on, on_force[j], f.M + j * nv, nv);
  }
  for (int j = 0; j < nv; ++j) at += on[j] * f.response.a0[j], add_scaled(R, on[j], f.response.B + j * n, n);
  if (on_force)
    for (int c = 0; c < n; ++c) R[c] -= on_force[s.columns[c]];
  f.rows.lower[i] -= at, f.rows.upper[i] -= at;
}

// Whether the rows of the model that `count` coefficients of multipliers belong to hold
template <class T>
SARRUS_HD bool all_hold(const ControlInput<T>& in, const T* on_lam, int count, int nc) {
  return !in.rows || all_of(count, [&](int c) { return in.rows[c % nc] || on_lam[c] == 0; });
}

// visit(k, r) for the rows r of the model that hold, k of them before it
template <class T, class F>
SARRUS_HD void each_held_row(const ControlInput<T>& in, int nc, F visit) {
  for (int r = 0, k = 0; r < nc; ++r)
    if (!in.rows || in.rows[r]) visit(k++, r);
}

// Whether forces at the object that nobody knows are reckoned with
template <class T>
SARRUS_HD bool has_reserve(const ControlSetup<T>& s) {
  return s.object.body >= 0 && s.object.reserve;
}

// out (shares): what shares of redundant rows add to a combination of multipliers (f.nc)
template <class T>
SARRUS_FN void add_shares(const ControlFound<T>& f, const T* on_lam, T* out) {
  for (int e = 0; e < f.shares; ++e) out[e] += inner(f.response.sharing + e * f.nc, on_lam, f.nc);
}

// Limit r as row i on inputs   in: on_lam (f.nc) for the rows that hold
template <class T>
SARRUS_FN void find_limit_row(const ControlSetup<T>& s, int r, int i, const T* on_lam, T* on,
                              ControlFound<T>& f) {
  const ControlLimits<T>& all = s.limits;
  int nv = s.model->nv;
  MultiplierLimits<T> one{};
  one.m = 1, one.nc = f.nc, one.n = s.n, one.k = 6, one.on_lam = on_lam;
  one.on_u = all.on_u ? all.on_u + r * s.n : nullptr;
  one.lam0 = f.response.lam0, one.Lam = f.response.Lam, one.lower = all.lower + r, one.upper = all.upper + r;
  one.disturbance = has_reserve(s) ? f.disturbance : nullptr;
  T* R = f.rows.R + i * (s.n + f.shares);
  rows_on_inputs(one, {R, f.rows.lower + i, f.rows.upper + i, f.rows.reserve + i});
  fill(R + s.n, f.shares);
  add_shares(f, on_lam, R + s.n);
  const T *on_force = all.on_force ? all.on_force + r * nv : nullptr,
          *on_a = all.on_a ? all.on_a + r * nv : nullptr;
  if (on_force || on_a) add_motion_limits(s, on_force, on_a, i, on, f);
}

// Whether a limit that counts, with coefficients on_lam (f.limits, f.nc), or a cone speaks of multipliers
// that redundant rows leave undetermined
template <class T>
SARRUS_FN bool leaves_shares(const ControlSetup<T>& s, const ControlInput<T>& in, const T* on_lam,
                             const ControlFound<T>& f) {
  int nc = s.model->nc;
  if (!f.response.sharing || f.response.rank == f.nc) return false;
  for (int i = 0; i < f.limits; ++i)
    if (any_of(f.nc, [&](int c) { return on_lam[i * f.nc + c] != 0 && !f.response.lam_unique[c]; }))
      return true;
  bool found = false;
  for (int r = 0; r < 3 * s.limits.cones; ++r)
    each_held_row(in, nc, [&](int k, int c) {
      found = found || (s.limits.cone_lam[r * nc + c] != 0 && !f.response.lam_unique[k]);
    });
  return found;
}

// Limits as rows on inputs; those of rows that do not hold are left out
template <class T>
SARRUS_FN void find_limit_rows(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                               T* on_lam, T* on) {
  int nc = s.model->nc;
  if (has_reserve(s)) find_disturbance(s, f);
  f.limits = 0;
  for (int r = 0; r < s.limits.m; ++r) {
    const T* row = s.limits.on_lam + r * nc;
    if (!all_hold(in, row, nc, nc)) continue;
    T* kept = on_lam + f.limits * f.nc;
    each_held_row(in, nc, [&](int k, int c) { kept[k] = row[c]; });
    f.limit_rows[f.limits++] = r;
  }
  f.shares = leaves_shares(s, in, on_lam, f) ? f.nc - f.response.rank : 0;
  for (int i = 0; i < f.limits; ++i) find_limit_row(s, f.limit_rows[i], i, on_lam + i * f.nc, on, f);
}

// Largest change of a cone under disturbances of length 1: of its vector, and of what bounds that
template <class T>
SARRUS_FN T cone_change(const ControlSetup<T>& s, const ControlInput<T>& in, const T* rows,
                        const ControlFound<T>& f) {
  int nc = s.model->nc;
  T squared[3];
  for (int r = 0; r < 3; ++r) {
    squared[r] = T(0);
    for (int e = 0; e < 6; ++e) {
      T sum = T(0);
      each_held_row(in, nc, [&](int k, int c) { sum += rows[r * nc + c] * f.disturbance[6 * k + e]; });
      squared[r] += sum * sum;
    }
  }
  return sqrt_(squared[0] + squared[1]) + sqrt_(squared[2]);
}

// Cones in the same way: y = R u + at
template <class T>
SARRUS_FN void find_cones(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f) {
  int nc = s.model->nc, n = s.n, wide = n + f.shares;
  f.cones = 0;
  for (int i = 0; i < s.limits.cones; ++i) {
    const T* rows = s.limits.cone_lam + 3 * i * nc;
    if (!all_hold(in, rows, 3 * nc, nc)) continue;
    T *R = f.cone_R + 3 * f.cones * wide, *at = f.cone_at + 3 * f.cones;
    fill(R, 3 * wide);
    for (int r = 0; r < 3; ++r) {
      at[r] = T(0);
      each_held_row(in, nc, [&](int k, int c) {
        T on = rows[r * nc + c];
        if (on == 0) return;
        at[r] += on * f.response.lam0[k];
        add_scaled(R + r * wide, on, f.response.Lam + k * n, n);
        for (int e = 0; e < f.shares; ++e) R[r * wide + n + e] += on * f.response.sharing[e * f.nc + k];
      });
    }
    f.cone_reserve[f.cones] = has_reserve(s) ? cone_change(s, in, rows, f) : T(0);
    at[2] -= f.cone_reserve[f.cones];
    f.cone_rows[f.cones++] = i;
  }
}

// The same problem with shares of redundant rows as further unknowns. Of those that keep the limits the
// smallest are taken: they count SHARED as much as inputs.
template <class T>
SARRUS_FN void choose_shares(const ControlFound<T>& f, LimitedProblem<T>& p, Arena& arena) {
  int n = p.n, open = p.open, wide = n + f.shares, all = open + f.shares;
  if (!f.shares) return;
  T *x, *Z, *H, *z0;
  arena.take(wide, x);
  arena.take(wide * all, Z);
  arena.take(all * all, H);
  arena.take(all, z0);
  fill(x, wide), fill(Z, wide * all), fill(H, all * all), fill(z0, all);
  copy(x, p.x, n);
  if (p.z0) copy(z0, p.z0, open);
  for (int i = 0; i < n; ++i) copy(Z + i * all, p.Z + i * open, open);
  T largest = p.H ? largest_of(open, [&](int i) { return p.H[i * open + i]; }) : T(1);
  for (int i = 0; i < open; ++i) {
    if (p.H) copy(H + i * all, p.H + i * open, open);
    if (!p.H) H[i * all + i] = T(1);
  }
  for (int e = 0; e < f.shares; ++e) {
    Z[(n + e) * all + open + e] = T(1);
    H[(open + e) * all + open + e] = real<T>(SHARED) * (largest > 0 ? largest : T(1));
  }
  p.n = wide, p.open = all, p.x = x, p.Z = Z, p.H = H, p.z0 = z0, p.metric.shares = f.shares;
}

// z0 (open) of inputs that an offset moves in the directions Z
template <class T>
SARRUS_HD void add_offset(const T* offset, LimitedProblem<T>& p, Arena& arena) {
  T* z;
  if (!offset) return;
  arena.take(p.n, z);
  for (int e = 0; e < p.open; ++e) {
    z[e] = p.z0 ? p.z0[e] : T(0);
    for (int i = 0; i < p.n; ++i) z[e] += p.Z[i * p.open + e] * offset[i];
  }
  p.z0 = z;
}

// The inputs: least ones, or those that bring regulated forces nearest to their values, within limits
template <class T>
SARRUS_FN void choose_inputs(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                             Arena arena) {
  LimitedProblem<T> p{};
  p.n = s.n, p.open = s.n - f.least.rank, p.m = f.limits, p.x = f.least.x, p.Z = f.least.Z;
  p.metric = metric_of(s, f), p.R = f.rows.R, p.lower = f.rows.lower, p.upper = f.rows.upper;
  p.touch = s.touch, p.tol = s.tol, p.hint = in.hints->rows, p.hints = in.hints->count;
  p.cones = {f.cones, f.cone_R, f.cone_at, in.along};
  if (s.forces.p && p.open) {
    ForceWork<T> w(s.forces.p, s.n, arena);
    if (!approach_forces(s, p, f, w)) {
      f.program = NOT_CONVERGED;
      return;
    }
    p.z0 = w.z, p.H = w.H;
  }
  add_offset(in.offset, p, arena);
  choose_shares(f, p, arena);
  LimitedWork<T> w(p, arena);
  LimitedSolution<T> found = limited_inputs(p, w);
  if (found.status == OPTIMAL) remember(found.active, found.count, *in.hints);
  f.program = found.status, f.count = found.count, f.iterations = found.iterations;
  f.variables = p.open;
  copy(f.active, found.active, found.count);
  for (int i = 0; i < p.n; ++i) f.inputs[i] = found.x[i], f.u[i] = found.u[i];
  keep_motor_bounds(s, f.u);
}

// The inputs within the limits, and the acceleration that they cause
template <class T>
SARRUS_FN void control_inputs(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                              Arena arena) {
  if (s.levels) return choose_within_levels(s, in, f, arena);
  choose_inputs(s, in, f, arena);
  if (f.program != OPTIMAL && f.program != INSIDE) return;
  if (s.forces.p) settle_forces(s, in, f.u, f);
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
  arena.take(m.nc, row_unit);
  RowDirections<T> directions(m.nc, m.nv, m.nq, arena);
  measured();
  LeastNormProblem<T> least{};
  least.nv = least.dof = m.nv, least.n = s.n, least.task.k = s.k, least.damping = s.damping;
  LeastNormWork<T> least_work(least, arena);
  measured();
  int wide = s.n + most_shares(s);
  LimitedProblem<T> limited{};
  limited.n = limited.open = wide, limited.m = s.limits.m;
  limited.cones.count = s.limits.cones;
  T* z;
  if (s.forces.p) ForceWork<T>(s.forces.p, s.n, arena);
  arena.take(2 * wide * (wide + 2) + 8 * LANES, z);
  LimitedWork<T> limited_work(limited, arena);
  measured();
  if (s.levels) {
    ControllableProblem<T> basis{};
    basis.nv = basis.dof = m.nv, basis.n = s.n;
    ControllableWork<T> basis_work(basis, arena);
    measured();
    PriorityProblem<T> levels{};
    levels.nv = levels.dof = levels.r = m.nv, levels.n = s.n, levels.task.k = s.k, levels.levels = s.levels;
    T *rows, *rest;
    arena.take(4 * s.levels, rows);
    arena.take(2 * m.nv + wide * (2 * wide + 2) + 8 * LANES, rest);
    PriorityWork<T> level_work(levels, arena);
    CascadeWork<T> cascade(wide, s.k, s.limits.m, s.limits.cones, arena);
    measured();
  }
  T* metric;
  arena.take((m.nv + s.n) * (m.nv + 2 * s.n) + 128, metric);
  measured();
  arena.used = most;
}

// The outputs, and the inputs for them without limits
template <class T, int LDC>
SARRUS_FN ControlStatus find_inputs(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                                    Arena arena, ControlWork<T, LDC>& w) {
  if (in.owner.tasks) in.owner.tasks(in.owner.self, f.q, f.v);
  track_tasks(s, in, f, w);
  bool finite = s.object.body < 0 || want_impedance(s, in, f, w);
  if (s.mass_metric && !mass_metric(s, f, arena)) return WITHOUT_INERTIA;
  if (!finite) return NOT_FINITE;
  return s.levels ? find_levels(s, in, f, arena) : find_least_norm(s, f, arena);
}

// The outputs, the inputs of least norm for them, limits as rows on inputs, and forces to be regulated
template <class T, int LDC>
SARRUS_FN void control_step(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                            Arena arena) {
  ControlWork<T, LDC> w(s, arena);
  f.projection = 0, f.count = f.iterations = f.limits = f.cones = 0, f.program = INSIDE;
  f.shares = 0, f.limited = f.stretched = false, f.variables = 0, f.level_count = s.levels;
  f.status = find_response(s, in, f, arena, w);
  if (f.status == STEPPED) f.status = find_inputs(s, in, f, arena, w);
  if (f.status != STEPPED) return;
  if (in.owner.limits && !in.owner.limits(in.owner.self, f.q, f.v)) {
    f.status = LIMITS_CHANGED;
    return;
  }
  find_limit_rows(s, in, f, w.on_lam, w.on);
  find_cones(s, in, f);
  if (s.forces.p) command_forces(s, in, f);
}

SARRUS_END
