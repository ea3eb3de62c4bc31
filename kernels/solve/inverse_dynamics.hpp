// Inverse dynamics of closed chains: the least actuator forces that produce an acceleration.
//
//   N^T S^T u = N^T (M a + h),    u = argmin |S^T u| in the metric W^-1 of forces                         (1)
//
// [Aghili2005] eqs. (21), (47), (60); N spans the tangent directions, S selects the actuated coordinates.
// With C C^T = S W^-1 S^T and u = C^-T x the norm is Euclidean. The mechanism is controllable if no tangent
// direction leaves all actuated coordinates at rest, eqs. (56), (62).
#pragma once

#include "solve/factor/metric_split.hpp"
#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

// Actuated coordinates. The metric W (nv, nv) of velocities, or null for the Euclidean norm; by_mass: W = M.
template <class T>
struct Actuated {
  const int* columns;
  int count;
  const T* metric = nullptr;
  bool by_mass = false;
};

template <class T>
struct InverseWork {
  Workspace<T, 0> w;
  SingularValues<T> felt, G;  // (S N)^T or S N; (dof, count)
  T *N, *needed, *c, *x;      // (nv, nv), columns from the rank on; M a + h; its tangent part; room
  T *W, *L, *half, *C;        // the metric, its factor, L^-1 S^T (nv, count), C (count, count)
  bool weighted = false;

  SARRUS_HD InverseWork(const Model<real<T>>& m, const Actuated<T>& by, Arena& arena) : w(m, arena) {
    int wide = larger(m.nv, by.count);
    felt.bind(arena, wide, wide);
    G.bind(arena, m.nv, by.count);
    arena.take(m.nv * m.nv, N, W, L);
    arena.take(wide * wide, half, C);
    arena.take(wide + LANES, needed, c, x);
  }
};

// Forces: u (count), lam (nc), constraint (nv); directions that no actuator feels: unfelt (nv, nv), the first
// n_unfelt columns; residual, miss and size: largest |M a + h - S^T u - constraint|, |J a - gamma|, |M a + h|
template <class T>
struct InverseForces {
  T *u, *lam, *constraint, *unfelt;
  T residual = T(0), miss = T(0), size = T(0);
  int n_unfelt = 0;
};

// r.C; false where the metric is not positive definite
template <class T>
SARRUS_FN bool force_metric(const Model<real<T>>& m, const Actuated<T>& by, InverseWork<T>& r) {
  r.weighted = by.metric || by.by_mass;
  if (!r.weighted) return true;
  const T* metric = by.by_mass ? r.w.M : by.metric;
  int ld = by.by_mass ? int(r.w.ld) : m.nv;
  for (int i = 0; i < m.nv; ++i) copy(r.W + i * m.nv, metric + i * ld, m.nv);
  if (!factor_metric(r.W, m.nv, r.L)) return false;
  fill(r.half, m.nv * by.count);
  for (int k = 0; k < by.count; ++k) {
    r.half[by.columns[k] * by.count + k] = T(1);
    solve_lower(r.L, m.nv, by.count, r.half + k);
  }
  for (int i = 0; i < by.count; ++i)
    for (int j = 0; j < by.count; ++j) {
      r.W[i * by.count + j] =
          sum_of<T>(m.nv, [&](int k) { return r.half[k * by.count + i] * r.half[k * by.count + j]; });
    }
  return factor_metric(r.W, by.count, r.C);
}

// w.N: orthonormal tangent directions without units, in the columns from the rank on
template <class T>
SARRUS_FN void tangent_basis(const Model<real<T>>& m, InverseWork<T>& r) {
  Workspace<T, 0>& w = r.w;
  factorize(m, w.rows.J, static_cast<const T*>(nullptr), w.ld, -1, w.factor);
  if (w.factor.first_rows < m.nc) complete(m, w.ld, w.factor);
  for (int e = w.factor.rank; e < m.nv; ++e) {
    fill(w.a, w.ld);
    w.a[e] = T(1);
    reflect_back(w.factor, w.factor.rank, w.ld, w.a);
    set_column(r.N + e, m.nv, w.a, m.nv);
  }
}

// The rank of S N, and the directions that the actuated coordinates do not feel.
template <class T>
SARRUS_FN int felt_directions(const Model<real<T>>& m, const Actuated<T>& by, InverseWork<T>& r,
                              InverseForces<T>& out) {
  int first = r.w.factor.rank, dof = m.nv - first;
  for (int e = 0; e < dof; ++e)
    for (int k = 0; k < by.count; ++k) r.felt.at(e, k) = r.N[by.columns[k] * m.nv + first + e];
  if (dof <= by.count && independent(r.felt, dof, by.count, m.rank_tol[0])) return dof;
  for (int k = 0; k < by.count; ++k)
    for (int e = 0; e < dof; ++e) r.felt.at(k, e) = r.N[by.columns[k] * m.nv + first + e];
  decompose(r.felt, by.count, dof);
  int rank = r.felt.rank(m.rank_tol[0]);
  out.n_unfelt = dof - rank;
  for (int e = rank; e < dof; ++e) {
    fill(r.x, r.felt.p.ld);
    r.x[e] = T(1);
    if (e < r.felt.count) copy(r.x, r.felt.W + e * r.felt.count, r.felt.count);
    turn_back(r.felt.p, r.x);
    for (int i = 0; i < m.nv; ++i) {
      out.unfelt[i * m.nv + e - rank] =
          sum_of<T>(dof, [&](int k) { return r.N[i * m.nv + first + k] * r.x[k]; });
    }
  }
  return rank;
}

// out.u: (1)   in: r.N, r.c = N^T unit (M a + h), the rank of S N
template <class T>
SARRUS_FN void least_forces(const Model<real<T>>& m, const Actuated<T>& by, int rank, InverseWork<T>& r,
                            InverseForces<T>& out) {
  int first = r.w.factor.rank, dof = m.nv - first, n = by.count;
  for (int e = 0; e < dof; ++e) {
    T* row = &r.G.at(e, 0);
    for (int k = 0; k < n; ++k) row[k] = r.N[by.columns[k] * m.nv + first + e] * m.unit[by.columns[k]];
    if (r.weighted) solve_lower(r.C, n, 1, row);
  }
  if (rank == dof) {
    r.G.count = 0;
    eliminate(r.G.p, dof, n, real<T>(0), real<T>(0));
    if (r.G.p.rank() == dof) {
      shortest(r.G.p, r.c, r.x);
    } else {
      decompose(r.G, dof, n);
      solve_damped(r.G, smaller(rank, r.G.count), T(0), r.c, r.x);
    }
  } else {
    decompose(r.G, dof, n);
    fill(r.x, n);
    if (r.G.count) solve_damped(r.G, smaller(rank, r.G.count), T(0), r.c, r.x);
  }
  copy(out.u, r.x, n);
  if (r.weighted) solve_upper(r.C, n, 1, out.u);
}

// r.needed = M a + h, out.size, and out.miss of the rows   in: w.y the acceleration   False: not finite
template <class T>
SARRUS_FN bool needed_forces(const Model<real<T>>& m, InverseWork<T>& r, InverseForces<T>& out) {
  const Workspace<T, 0>& w = r.w;
  for (int j = 0; j < m.nv; ++j) r.needed[j] = dot(w.M + j * w.ld, w.y, w.ld) + w.h[j];
  if (!all_of(m.nv, [&](int j) { return abs_(r.needed[j]) <= real<T>(1.7e308); })) return false;
  out.size = larger(largest_of(m.nv, [&](int j) { return abs_(r.needed[j]); }), out.size);
  auto miss = [&](int k) { return abs_(dot(w.rows.J + k * w.ld, w.y, w.ld) - w.rows.gamma[k]); };
  out.miss = larger(largest_of(m.nc, miss), out.miss);
  return true;
}

// r.c = N^T unit r.needed
template <class T>
SARRUS_HD void tangent_part(const Model<real<T>>& m, InverseWork<T>& r) {
  int first = r.w.factor.rank;
  for (int e = first; e < m.nv; ++e)
    r.c[e - first] = sum_of<T>(m.nv, [&](int i) { return r.N[i * m.nv + e] * m.unit[i] * r.needed[i]; });
}

// in: r.w evaluated (M, h, rows) and r.C, a (nv)   False where M a + h is not finite.
template <class T>
SARRUS_FN bool inverse_dynamics(const Model<real<T>>& m, const T* a, const Actuated<T>& by, InverseWork<T>& r,
                                InverseForces<T>& out) {
  Workspace<T, 0>& w = r.w;
  fill(w.y, w.ld);
  copy(w.y, a, m.nv);
  if (!needed_forces(m, r, out)) return false;
  tangent_basis(m, r);
  tangent_part(m, r);
  least_forces(m, by, felt_directions(m, by, r, out), r, out);
  for (int k = 0; k < by.count; ++k) r.needed[by.columns[k]] -= out.u[k];
  solve_multipliers(m, w.ld, w.factor, r.needed, out.lam);
  tangent_part(m, r);  // of what is left: nothing balances it
  int first = w.factor.rank;
  for (int i = 0; i < m.nv; ++i) {
    T along = sum_of<T>(m.nv - first, [&](int e) { return r.N[i * m.nv + first + e] * r.c[e]; }) / m.unit[i];
    out.constraint[i] = r.needed[i] - along;
    out.residual = larger(abs_(along), out.residual);
  }
  return true;
}

SARRUS_END
