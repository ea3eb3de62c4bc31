// Back onto the manifold: phi(q, t) = 0 by Newton, J v = b in one solve, both in the mass metric.
//
//   min |dq|_M  s.t.  J dq = -phi          min |dv|_M  s.t.  J dv = b - J v                              (1)
//
// Both are the solve of constrained dynamics with other right-hand sides. The mass metric keeps the
// momentum along the constraints: energy errors fall by one to five orders against the Euclidean
// correction of [Aghili2005] eq. (37) (docs/decisions/0006-projection-in-the-mass-metric.md). [Spencer2004]
// sec. 3.1
#pragma once

#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

constexpr int NEWTON_STEPS = 12;
constexpr int NORMAL_SOLVES = 2;        // with the augmented inertia: Newton mends the rest
constexpr double CLOSED = 1e-14;        // dimensionless residual at which Newton stops
constexpr double CLOSED_TIGHT = 3e-16;  // the same near a singular pose: with a pivot p the residual e leaves
                                        // the pose free by min(e/p, sqrt(e)), which must stay far below p
constexpr double CLOSED_ENOUGH = 1e-12;  // accepted where rounding allows no better

// Largest |phi| and |J v - b| in units of the rows (metres over L).
template <class T, int LDC>
SARRUS_HD T position_residual(const Model<real<T>>& m, const Workspace<T, LDC>& w) {
  return largest_of(m.nc, [&](int r) { return abs_(w.rows.phi[r]) / m.row_unit[r]; });
}
// out: w.extra = b - J v   in: v (ld), zero behind its end
template <class T, int LDC>
SARRUS_FN T velocity_residual(const Model<real<T>>& m, const T* v, Workspace<T, LDC>& w) {
  T worst = T(0);
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.by_entries) rows_times(m, w.factor.augmented, v, w.extra);
  for (int r = 0; r < m.nc; ++r) {
    T s = w.rows.b[r] - (w.by_entries ? w.extra[r] : dot(w.rows.J + r * w.ld, v, w.ld));
    w.extra[r] = s;
    T x = abs_(s) / m.row_unit[r];
    worst = select(x > worst, x, worst);
  }
  return worst;
}

// M and h are given: factorize at the rows of w, rank decided anew, no limit rows.
template <class T, int LDC>
SARRUS_FN void factorize_rows(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  factorize(m, w.rows.J, w.M, w.ld, -1, w.factor);
  if (w.factor.first_rows < m.nc) complete(m, w.ld, w.factor);
  finish(m, w.M, w.ld, w.factor);
}

// x (nv) with J x = g and M x orthogonal to the tangent space. Result in w.a; the factorization must be one
// without limit rows, which have no part in corrections.
template <class T, int LDC>
SARRUS_FN void normal_step(const Model<real<T>>& m, const T* g, Workspace<T, LDC>& w) {
  fill(w.rhs, m.nv);
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.factor.regular) {
      Augmented<T>& a = w.factor.augmented;
      if (by_few_rows(m, a)) return normal_few(m, g, a, w.a);
      auto times = [&](const T* x, T* y) { branches_times(m, a, x, y); };
      solve_augmented(m, AugmentedTask<T>{g, w.rhs, NORMAL_SOLVES, real<T>(0)}, times, w.a, a);
      return;
    }
  solve_rows(m, w.ld, w.factor, g, static_cast<const T*>(nullptr), w.y);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
}

// x (ld) with J x = g, the smallest without units; y is room. Limit rows ask for zero.
template <class T, class LD>
SARRUS_FN void smallest(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* g, T* y, T* x) {
  if (f.rank_rows == m.nc) substitute(m, ld, f, g, y);
  if (f.first_rows < m.nc) least_squares(m, ld, f, g, y);
  fill(y + f.rank_rows, ld - f.rank_rows);
  if (f.sparse) {
    fill(x, ld);
    scatter(x, f.rows.col, y, f.rank_rows);
  } else {
    copy(x, y, ld);
  }
  reflect_back(f, f.rank, ld, x);
  multiply(x, x, m.unit, m.nv);
}

SARRUS_END
