// Batch loops over calls about the constraints at a state: consistent velocities, impacts, inverse dynamics.
#pragma once

#include "integrate/singular/pivots.hpp"
#include "solve/inverse_dynamics.hpp"
#include "solve/search/consistent_velocity.hpp"
#include "solve/search/regular_state.hpp"
#include "tree_batches.hpp"

SARRUS_BEGIN
namespace {

using DenseWork = Workspace<double, 0>;

// w.M: the metric; without one lengths are divided by L
void load_metric(const ModelD& m, const Metric& metric, DenseWork& w) {
  if (metric.by_mass) return;
  for (int r = 0; r < m.nv; ++r) {
    fill(w.M + r * w.ld, w.ld);
    for (int j = 0; metric.matrix && j < m.nv; ++j) w.M[r * w.ld + j] = metric.matrix[r * m.nv + j];
    if (!metric.matrix) w.M[r * w.ld + r] = 1 / (m.unit[r] * m.unit[r]);
  }
}

// The rows may be factorized by entries where the metric has those of the inertia.
void allow_entries(const ModelD& m, const Metric& metric, DenseWork& w) {
  w.factor.by_entries = m.sparse && !metric.matrix ? BY_ENTRIES : 0;
}

void store_miss(const ModelD& m, const DenseWork& w, double* miss) {
  for (int r = 0; r < m.nc; ++r) miss[r] = abs_(w.extra[r]) / m.row_unit[r];
}

// Whether the velocity was found by the augmented inertia
bool velocity_regular(const ModelD& m, const State<double>& x, const Metric& metric, DenseWork& w,
                      double* v) {
  if (metric.matrix || !fills_up(m)) return false;
  Augmented<double>& a = w.factor.augmented;
  place(m, x.q, w.tree);
  move(m, x.v, w.tree);
  weigh(m, w.tree, w.bodies.I);
  if (metric.by_mass) inertia_by_entries(m, w);
  if (!metric.by_mass) plain_metric(m, w);
  constraints_by_entries(m, x, w.tree, w.rows, a);
  if (!factorize_clearly(m, w)) return false;
  nearest_velocity(m, x.v, w, v);
  return is_consistent(m, x.v, v, w);
}

void consistent_velocity_n(const ModelD& m, States s, Metric metric, Held held, VelocityArrays out) {
  struct Work : DenseWork {
    double* v;
    Work(const ModelD& model, Arena& arena) : DenseWork(model, arena) { arena.take(ld, v); }
  };
  if (m.nc == 0 && !held.count && metric.by_mass) {  // any velocity
    for (long i = 0; i < static_cast<long>(s.n) * m.nv; ++i) out.v[i] = s.v[i];
    for (int i = 0; i < s.n; ++i) out.status[i] = 0;
    return;
  }
  each_state<Work>(m, s, [&](long i, const State<double>& x, Work& w) {
    if (held.count || !velocity_regular(m, x, metric, w, w.v)) {
      w.by_entries = w.factor.regular = false;
      evaluate(m, x, w);
      load_metric(m, metric, w);
      allow_entries(m, metric, w);
      HeldEntries<double> fixed{held.index, held.value, held.count};
      bool definite = consistent_velocity(m, x.v, fixed, w, w.v);
      out.status[i] = !definite ? 1 : is_consistent(m, x.v, w.v, w) ? 0 : 2;
    } else {
      out.status[i] = 0;
    }
    for (int j = 0; j < m.nv; ++j) out.v[i * m.nv + j] = w.v[j];
    store_miss(m, w, out.miss + i * m.nc);
  });
}

void impact_n(const ModelD& m, States s, ImpactArrays out) {
  each_state<DenseWork>(m, s, [&](long i, const State<double>& x, DenseWork& w) {
    evaluate(m, x, w);
    allow_entries(m, {}, w);
    double *after = w.h, *change = w.force, *energy = out.energy + 3 * i;
    bool definite = consistent_velocity(m, x.v, HeldEntries<double>(), w, after);
    out.status[i] = !definite ? 1 : is_consistent(m, x.v, after, w) ? 0 : 2;
    out.rank[i] = w.factor.rank_rows;
    fill(change, w.ld);
    for (int j = 0; j < m.nv; ++j) change[j] = after[j] - x.v[j];
    for (int k = 0; k < 3; ++k) energy[k] = 0;
    for (int j = 0; j < m.nv; ++j) {
      long at = i * m.nv + j;
      out.v[at] = after[j];
      out.momentum[at] = dot(w.M + j * w.ld, after, w.ld);
      out.impulse[at] = dot(w.M + j * w.ld, change, w.ld);
      out.before[at] = 0;
      for (int k = 0; k < m.nv; ++k) out.before[at] += w.M[j * w.ld + k] * x.v[k];
      energy[0] += 0.5 * x.v[j] * out.before[at];
      energy[1] += 0.5 * after[j] * out.momentum[at];
      energy[2] += 0.5 * change[j] * out.impulse[at];
    }
    solve_multipliers(m, w.ld, w.factor, out.impulse + i * m.nv, out.lam + i * m.nc);
    store_miss(m, w, out.miss + i * m.nc);
  });
}

struct InverseProblem {
  const ModelD& m;
  Actuated<double> by;
};

struct InverseRoom : InverseWork<double> {
  InverseRoom(const InverseProblem& p, Arena& arena) : InverseWork<double>(p.m, p.by, arena) {}
};

void inverse_dynamics_n(const ModelD& m, States s, const double* a, Metric metric, Held actuated,
                        InverseArrays out) {
  InverseProblem p{m, {actuated.index, actuated.count, metric.matrix, metric.by_mass}};
  with_work<InverseRoom>(p, [&](InverseRoom& r) {
    for (long i = 0; i < s.n; ++i) {
      evaluate(m, state_of(m, s, i), r.w);
      InverseForces<double> f{out.u + i * p.by.count, out.lam + i * m.nc, out.force + i * m.nv,
                              out.unfelt + i * m.nv * m.nv};
      out.status[i] = !force_metric(m, p.by, r) ? 1 : inverse_dynamics(m, a + i * m.nv, p.by, r, f) ? 0 : 2;
      for (int j = 0; j < m.nv; ++j) out.tau[i * m.nv + j] = 0;
      for (int k = 0; k < p.by.count; ++k) out.tau[i * m.nv + p.by.columns[k]] = f.u[k];
      out.n_unfelt[i] = f.n_unfelt;
      double* sizes = out.sizes + 3 * i;
      sizes[0] = f.residual, sizes[1] = f.miss, sizes[2] = f.size;
    }
  });
}

// Rows at a state, and room for their singular values, with units and without
struct SplitWork {
  DenseWork w;
  SingularValues<double> d;
  double *J, *M, *L, *x;

  SplitWork(const ModelD& m, Arena& arena) : w(m, arena) {
    d.bind(arena, m.nc, m.nv);
    arena.take(m.nc * m.nv, J);
    arena.take(m.nv * m.nv, M, L);
    arena.take(w.ld + m.nc, x);
  }
};

void decompose_n(const ModelD& m, States s, Metric metric, SplitArrays out) {
  each_state<SplitWork>(m, s, [&](long i, const State<double>& x, SplitWork& r) {
    int most = m.nc < m.nv ? m.nc : m.nv;
    evaluate(m, x, r.w);
    for (int k = 0; k < m.nc; ++k)
      for (int j = 0; j < m.nv; ++j) r.d.at(k, j) = r.w.rows.J[k * r.w.ld + j] * m.unit[j] / m.row_unit[k];
    decompose(r.d, m.nc, m.nv);
    out.rank[i] = r.d.rank(m.rank_tol[0]);
    if (metric.by_mass) store_matrix(m, r.w.M, m.nv, r.w.ld, r.M);
    const double* W = metric.by_mass ? r.M : metric.matrix;
    out.status[i] = W && !factor_metric(W, m.nv, r.L) ? 1 : 0;
    if (out.status[i]) return;
    store_matrix(m, r.w.rows.J, m.nc, r.w.ld, r.J);
    SplitRows<double> to{out.s + i * most, out.V + i * m.nv * m.nv, out.R + i * m.nc * most};
    split_rows(r.J, W ? r.L : nullptr, m.nc, m.nv, r.d, r.x, to);
  });
}

struct RowSizes {
  int nc, nv;
};

struct RowRoom {
  SingularValues<double> d;
  double* x;
  RowRoom(const RowSizes& n, Arena& arena) {
    d.bind(arena, n.nc, n.nv);
    arena.take(n.nv + n.nc + LANES, x);
  }
};

void split_rows_of(const double* J, const double* L, const int* nc_nv, SplitArrays out) {
  RowSizes n{nc_nv[0], nc_nv[1]};
  with_work<RowRoom>(
      n, [&](RowRoom& r) { split_rows(J, L, n.nc, n.nv, r.d, r.x, SplitRows<double>{out.s, out.V, out.R}); });
}

// Rank of the rows by elimination (-1 where its smallest pivot leaves doubt), that pivot, and the squared
// lengths of the rows of the free directions
void mobility_by_elimination(const ModelD& m, long i, SplitWork& r, const MobilityArrays& out) {
  Factor<double>& f = r.w.factor;
  allow_entries(m, {}, r.w);
  factorize(m, r.w.rows.J, static_cast<const double*>(nullptr), r.w.ld, -1, f);
  out.pivot[i] = f.rank ? smallest_pivot(r.w) : 1;
  out.rank[i] = f.spd && out.pivot[i] > REGULAR ? f.rank : -1;
  double* diagonal = out.diagonal + i * m.nv;
  fill(diagonal, m.nv);
  for (int e = f.rank; e < m.nv; ++e) {
    fill(r.x, r.w.ld);
    r.x[f.sparse ? f.rows.col[e] : e] = 1;
    for (int k = f.rank - 1; k >= 0; --k) reflect(f, k, r.w.ld, r.x);
    for (int j = 0; j < m.nv; ++j) diagonal[j] += r.x[j] * r.x[j];
  }
}

// The same by the augmented inertia; false where the rank is not clear
bool mobility_regular(const ModelD& m, long i, const State<double>& x, SplitWork& r,
                      const MobilityArrays& out) {
  if (out.s || !fills_up(m)) return false;
  place(m, x.q, r.w.tree);
  move(m, x.v, r.w.tree);
  plain_metric(m, r.w);
  constraints_by_entries(m, x, r.w.tree, r.w.rows, r.w.factor.augmented);
  if (!factorize_clearly(m, r.w)) return false;
  out.gap[i] = position_residual(m, r.w);
  out.pivot[i] = r.w.factor.least;
  out.rank[i] = r.w.factor.rank_rows;
  mobile_parts(m, r.w, r.x, out.diagonal + i * m.nv);
  return true;
}

// Singular values and J of large mechanisms are left to those who read them, unless the rank needs them.
void mobility_n(const ModelD& m, States s, MobilityArrays out) {
  each_state<SplitWork>(m, s, [&](long i, const State<double>& x, SplitWork& r) {
    int most = m.nc < m.nv ? m.nc : m.nv;
    if (mobility_regular(m, i, x, r, out)) return;
    r.w.by_entries = r.w.factor.regular = false;
    place(m, x.q, r.w.tree);
    move(m, x.v, r.w.tree);
    constraints(m, x, r.w.tree, r.w.ld, r.w.rows);
    out.gap[i] = position_residual(m, r.w);
    if (!out.s) return mobility_by_elimination(m, i, r, out);
    double* J = out.J + i * m.nc * m.nv;
    for (int k = 0; k < m.nc; ++k)
      for (int j = 0; j < m.nv; ++j) J[k * m.nv + j] = r.w.rows.J[k * r.w.ld + j] * m.unit[j] / m.row_unit[k];
    split_rows(J, static_cast<const double*>(nullptr), m.nc, m.nv, r.d, r.x,
               SplitRows<double>{out.s + i * most, nullptr, nullptr});
    out.rank[i] = r.d.rank(m.rank_tol[0]);
  });
}

}  // namespace
SARRUS_END
