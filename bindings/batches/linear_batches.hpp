// Batch loop over linear models.
#pragma once

#include "derivatives/linear_model.hpp"
#include "solve_batches.hpp"

SARRUS_BEGIN
namespace {

// gap, |J v - b| and speed of state x, lengths divided by L   in: rows evaluated there; w.x is room
template <int LD>
void store_sizes(const ModelD& m, const State<double>& x, LinearWork<double, LD>& w, double* sizes) {
  fill(w.x, w.r.w.ld);
  sizes[2] = 0;
  for (int j = 0; j < m.nv; ++j) {
    w.x[j] = x.v[j];
    double speed = abs_(x.v[j]) / m.unit[j];
    sizes[2] = speed > sizes[2] ? speed : sizes[2];
  }
  sizes[0] = position_residual(m, w.r.w);
  sizes[1] = velocity_residual(m, w.x, w.r.w);
}

// Whether rows that are independent nearby depend on each other at the pose of x
template <int LD>
bool is_singular(const ModelD& m, const State<double>& x, LinearWork<double, LD>& w) {
  Workspace<double, LD>& rows = w.r.w;
  if (rows.factor.rank_rows == m.nc) return false;
  auto at = [&](const double* v) {
    move(m, v, rows.tree);
    constraints(m, State<double>{x.q, v, x.drive, x.user}, rows.tree, rows.ld, rows.rows);
  };
  if (LD == 0) return loses_rank_here(m, at, rows, w.loss);
  load_rows(m, rows, w.d);
  if (!decompose(w.d, m.nc, m.nv)) return true;
  return loses_rank_here(m, at, w.d, rows.factor.rank_rows, rows, w.loss);
}

// to: the given coordinates, if any. False: these are not as many as the freedoms.
inline bool take_given(const int* given, int count, int freedoms, int* to) {
  for (int i = 0; given && i < freedoms; ++i) to[i] = given[i];
  return !given || count == freedoms;
}

template <int LD>
LinearStatus linearize_one(const ModelD& m, const State<double>& x, const double* tau, const LinearPlan& plan,
                           LinearWork<double, LD>& w, const LinearModel<double>& out) {
  Derivatives<double> to = {w.da, w.da + m.nv * m.nv, w.da + 2 * m.nv * m.nv, nullptr, nullptr, nullptr,
                            w.dJv};
  Factor<double>& f = w.r.w.factor;
  if (m.sparse && LD == 0) f.by_entries = BY_ENTRIES;
  differentiate_residuals(m, x, tau, w.r);
  if (f.sparse)  // only the columns that the model needs, later
    unpad(w.r.Jvq, w.r.w.ld, w.r.w.ld, m.nc, m.nv, 1, w.dJv);
  else
    respond_to_residuals(m, to, w.r);
  if (!f.spd) return NO_INERTIA_IN_MOTION;
  tangent_bases(m, w);
  if (!take_given(plan.positions, plan.n_positions, w.n_q, w.positions) ||
      !take_given(plan.velocities, plan.n_velocities, w.n_v, w.velocities) ||
      !choose_coordinates(m, plan.positions, plan.velocities, w))
    return NOT_INDEPENDENT;
  if (plan.room && (plan.room[0] != w.n_q || plan.room[1] != w.n_v)) return OTHER_FREEDOMS;
  lift(m, w);
  linear_model(m, x.v, w, out);
  return LINEAR;
}

void linearize_n(const ModelD& m, States s, const double* tau, LinearPlan plan, LinearArrays out) {
  long nv = m.nv, most = 2 * nv, nx = plan.room ? plan.room[0] + plan.room[1] : 0;
  sized(m, [&](auto ld) {
    constexpr int width = decltype(ld)::width;
    using Work = LinearWork<double, width>;
    each_state<Work>(m, s, [&](long i, const State<double>& x, Work& w) {
      LinearModel<double> to = {out.A + i * nx * nx, out.B + i * nx * plan.n_inputs, out.lift + i * most * nx,
                                plan.inputs, plan.n_inputs};
      int* counts = out.counts + 4 * i;
      w.n_q = w.n_v = 0;
      counts[3] = linearize_one<width>(m, x, tau + i * nv, plan, w, to);
      counts[0] = w.n_q, counts[1] = w.n_v, counts[2] = w.r.w.factor.rank_rows;
      for (int j = 0; j < nv; ++j) out.a[i * nv + j] = w.r.w.a[j];
      for (int r = 0; r < m.nc; ++r) out.lam[i * m.nc + r] = w.r.lam[r];
      for (int k = 0; k < w.n_q; ++k) out.coordinates[i * most + k] = w.positions[k];
      for (int k = 0; k < w.n_v; ++k) out.coordinates[i * most + nv + k] = w.velocities[k];
      store_sizes<width>(m, x, w, out.sizes + 3 * i);
      if ((counts[3] == LINEAR || counts[3] == OTHER_FREEDOMS) && is_singular<width>(m, x, w))
        counts[3] = SINGULAR_POSE;
    });
  });
}

}  // namespace
SARRUS_END
