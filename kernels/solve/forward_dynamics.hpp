// Constrained forward dynamics in the null-space form.
//
//   J a = gamma,   N^T (M a + h - tau) = 0,   J^T lam = M a + h - tau                                    (1)
//
// [Aghili2005] eqs. (25), (32) and [Spencer2004] sec. 2.4 in one factorization; nothing in it needs J to
// have full rank. At an exactly singular pose the rows that are lost are replaced by their limit: with w
// in the left null space of J, d^3 phi/dt^3 = 0 gives
//   3 w^T J' a = w^T gamma'                                                                              (2)
// where ' is the derivative along the motion at constant v (docs/derivations/singular.md). Where the
// redundancy is permanent, (2) depends on the rows of J and is dropped by its own rank test.
#pragma once

#include "solve/rigid_rows.hpp"

SARRUS_BEGIN

constexpr double LIGHT = 1e-7;  // of the largest inertia: K_xx has then 9 digits left
constexpr int MOST_REFINEMENTS = 6;

// Factorize at the evaluated state. d: workspace for limit rows, or null to leave lost rows out.
template <class T, int LDC>
SARRUS_FN void prepare(const Model<real<T>>& m, const State<T>& s, int hold, Tangent<T, LDC>* d,
                       Workspace<T, LDC>& w) {
  Factor<T>& f = w.factor;
  if (w.open_tree) {
    f.rank = f.first = f.rank_rows = f.first_rows = 0;
    return;
  }
  factorize(m, w.rows.J, w.M, w.ld, hold, f);
  if (f.first_rows < m.nc) {
    complete(m, w.ld, f);
    if constexpr (Branching<T>::value)
      if (d && hold < 0 && f.rank_rows < m.nv) {
        if (moving(s.v, m.nv)) {
          differentiate_rows(m, s, *d);
          add_limit_rows(m, s.v, real<T>(LIMIT_TOL), real<T>(LIMIT_TOL), *d, w);
        } else {
          add_rigid_rows(m, s, *d, w);
        }
      }
  }
  finish(m, w.M, w.ld, f);
}

// The same for a stage near a singular pose and off the manifold: `hold` pivots are kept, and the limits (2)
// replace the rows with smaller pivots, with an error of the size of these pivots.
template <class T, int LDC>
SARRUS_FN void prepare_grazing(const Model<real<T>>& m, const State<T>& s, int hold, Tangent<T, LDC>& d,
                               Workspace<T, LDC>& w) {
  factorize(m, w.rows.J, w.M, w.ld, hold, w.factor);
  complete(m, w.ld, w.factor);
  differentiate_rows(m, s, d);
  add_limit_rows(m, s.v, real<T>(1), real<T>(1e-3), d, w);
  finish(m, w.M, w.ld, w.factor);
}

// Factorizes the augmented inertia at the terms of w, with the rows that its `taken` says.
template <class T, int LDC>
SARRUS_FN bool factorize_regular(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  Factor<T>& f = w.factor;
  f.regular = by_few_rows(m, f.augmented) ? factorize_few(m, w.tree, f.augmented)
                                          : factorize_augmented(m, f.augmented);
  if (!f.regular) return false;
  f.rank = f.first = f.rank_rows = f.first_rows = f.augmented.rank;
  f.spd = true;
  f.sparse = false;
  return true;
}

// An acceleration [rad/s^2], without units, that the errors of accelerations can be compared with.
template <class T, int LDC>
SARRUS_FN real<T> acceleration_scale(const Model<real<T>>& m, const Workspace<T, LDC>& w) {
  real<T> most = 0;
  auto raise = [&](real<T> x) { most = larger(x, most); };
  for (int k = 0; k < 3; ++k) raise(real<T>(1e-3) * value(abs_(T(m.gravity[k]))) / m.length[0]);
  for (int i = 1; i < m.nn; ++i) raise(value(dot(w.tree.V[i].ang, w.tree.V[i].ang)));
  for (int j = 0; j < m.nv; ++j) raise(value(abs_(w.rhs[j]) * w.factor.augmented.light[j]) / m.unit[j]);
  return most;
}

// w.a of (1) by the augmented inertia   in: w.rhs   False: not found, or rows that were left out do not hold
template <class T, int LDC>
SARRUS_FN bool accelerate_regular(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  Augmented<T>& a = w.factor.augmented;
  real<T> scale = acceleration_scale(m, w);
  auto times = [&](const T* x, T* y) { inertia_times(m, x, w.tree, w.bodies, y); };
  if (by_few_rows(m, a))
    accelerate_few(m, w.tree, w.rows.gamma, w.rhs, a, w.a);
  else if (!solve_augmented(m, AugmentedTask<T>{w.rows.gamma, w.rhs, MOST_SOLVES, scale}, times, w.a, a))
    return false;
  if (a.rank == m.nc) return true;
  rows_times(m, a, w.a, w.extra);
  for (int j = 0; j < m.nv; ++j)
    scale = value(abs_(w.a[j])) / m.unit[j] > scale ? value(abs_(w.a[j])) / m.unit[j] : scale;
  for (int r = 0; r < m.nc; ++r)
    if (!(abs_(w.rows.gamma[r] - w.extra[r]) <= real<T>(DROPPED_ROW) * scale * m.row_unit[r])) return false;
  return true;
}

// out: w.a   in: state evaluated and prepared, tau (nv)   False: the augmented inertia does not serve here
template <class T, int LDC>
SARRUS_FN bool accelerate(const Model<real<T>>& m, const T* tau, Workspace<T, LDC>& w) {
  set_difference(w.rhs, tau, w.h, m.nv);
  if constexpr (LDC == 0 && Plain<T>::value)
    if (w.open_tree) {
      solve_articulated(m, w.tree, w.rhs, w.articulated, w.a);
      return true;
    }
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.factor.regular) return accelerate_regular(m, w);
  solve_rows(m, w.ld, w.factor, w.rows.gamma, w.extra, w.y);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
  return true;
}

// Whether K_xx may have lost digits to cancellation: some free direction has next to none of the inertia of
// the coordinates (a crank of 1e-4 m or less on a coupler of 1 m).
template <class T, int LDC>
SARRUS_FN bool cancels(const Model<real<T>>& m, const Workspace<T, LDC>& w) {
  double light = 1e300, heavy = 0;
  for (int j = w.factor.first; j < m.nv; ++j)
    light = value(w.factor.inv_d[j]) * light > 1 ? 1 / value(w.factor.inv_d[j]) : light;
  for (int j = 0; j < m.nv; ++j) {
    double x = value(w.M[j * w.ld + j]) * m.unit[j] * m.unit[j];
    heavy = larger(x, heavy);
  }
  return light < LIGHT * heavy;
}

// w.a after iterative refinement with residuals summed over the bodies, where digits were lost.
// in: w.tree and w.bodies.I at the state
template <class T, int LDC>
SARRUS_FN void refine(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  if (w.factor.regular || w.open_tree || !cancels(m, w)) return;
  double before = 1e300;
  for (int i = 0; i < MOST_REFINEMENTS; ++i) {
    inertia_times(m, w.a, w.tree, w.bodies, w.force);
    set_difference(w.force, w.rhs, w.force, m.nv);
    fill(w.y, w.ld);
    solve_free(m, w.ld, w.factor, w.force, w.y, w.change);
    double size = sum_of<double>(
        m.nv, [&](int j) { return value(w.change[j] * w.change[j]) / (m.unit[j] * m.unit[j]); });
    if (!(size < 0.25 * before)) return;
    add(w.a, w.change, m.nv);
    before = size;
  }
}

// out: w.force = M a + h - tau, lam (nc)   in: w.a
template <class T, int LDC>
SARRUS_FN void multipliers(const Model<real<T>>& m, Workspace<T, LDC>& w, T* lam) {
  if (w.open_tree) return fill(w.force, m.nv);
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.factor.regular) {  // all rows are independent
      const Augmented<T>& a = w.factor.augmented;
      copy(lam, a.lam, m.nc);
      fill(w.force, m.nv);
      return add_taken_transposed(m, a, a.lam, w.force);
    }
  for (int r = 0; r < m.nv; ++r) w.force[r] = dot(w.M + r * w.ld, w.a, w.ld) - w.rhs[r];
  solve_multipliers(m, w.ld, w.factor, w.force, lam);
}

// unique (nc): 1 where the multiplier does not change along the left null space of J
template <class T>
SARRUS_FN void uniqueness(const Model<real<T>>& m, const Factor<T>& f, unsigned char* unique) {
  for (int r = 0; r < m.nc; ++r) unique[r] = 1;
  for (int i = 0; i < m.nc - f.rank_rows; ++i) {
    left_null(f, i, f.work);
    for (int k = 0; k < m.nc; ++k)
      if (abs_(value(f.work[k])) > real<T>(UNIQUE_TOL)) unique[row_at(f, k)] = 0;
  }
}

SARRUS_END
