// Gradients through the solution of constrained dynamics: from one by a to those by q, v and tau.
//
//   M a + h - tau - J1^T lam = 0,    J1 a = x                                                            (1)
//
// J1 are the independent rows that were chosen. With mu and kappa from
//   M mu - J1^T kappa = a_bar,    J1 mu = 0                                                              (2)
//   a_bar . da = -mu . dE + kappa . dR,    E, R the residuals of (1) at held a, lam                      (3)
//
// The other rows are J2 = C J1 + R2. Off the constraints their right-hand sides contradict those of J1, and
// x is the least-squares solution of [1; C] x = [gamma1; gamma2]. With s = (1 + C^T C)^-1 kappa, z = C s and
// the rest e = gamma2 - C x, (3) becomes
//   s . dR1 + z . dR2 - p(z) . dJ (a - J1^+ x) - p(e) . dJ J1^+ s
//     + w(x) . dJ1 D R2^T z - w(s) . dJ1 D R2^T e                                                        (4)
// where p(z) = [-C^T z; z] is a left null vector, D the squared units of coordinates and
// w(x) = (J1 D J1^T)^-1 x: C = J2 J1^+ changes with J.
#pragma once

#include "algebra/lu.hpp"
#include "derivatives/residual_derivatives.hpp"

SARRUS_BEGIN

template <class T>
struct SolutionGradient {
  T *mu, *force, *along, *lifted, *none;  // (ld)
  T *kappa, *weight, *p;                  // (nc), by row
  T *C, *x, *s, *z, *e, *y, *chosen;      // (nc, nc), (nc), by position
  Lu<T> normal;                           // 1 + C C^T

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m, int ld) {
    arena.take(ld, mu, force, along, lifted, none);
    arena.take(m.nc, kappa, weight, p, x, s, z, e, y, chosen);
    arena.take(m.nc * m.nc, C);
    normal.bind(arena, m.nc);
  }
};

// y (rank) <- L^-T y, L the chosen rows of the factorization
template <class T, class LD>
SARRUS_HD void substitute_transposed(const Factor<T>& f, LD ld, T* y) {
  for (int k = f.rank_rows - 1; k >= 0; --k) {
    for (int i = k + 1; i < f.rank_rows; ++i) y[k] -= f.Y[i * ld + k] * y[i];
    y[k] = y[k] / f.Y[k * ld + k];
  }
}

// lam (nc), zero but for the chosen rows, with J1^T lam = force (nv)
template <class T, class LD>
SARRUS_FN void chosen_multipliers(const Model<real<T>>& m, LD ld, const Factor<T>& f, const T* force,
                                  T* lam) {
  T* x = f.work;
  multiply(x, force, m.unit, m.nv);
  fill(x + m.nv, ld - m.nv);
  reflect_all(f, f.rank_rows, ld, x);
  substitute_transposed(f, ld, x);
  fill(lam, m.nc);
  for (int k = 0; k < f.rank_rows; ++k) lam[row_at(f, k)] = x[k] / f.unit[k];
}

// out: g.mu, g.kappa of (2) and g.force = J1^T kappa   in: w factorized
template <class T, int LDC>
SARRUS_FN void solve_adjoint(const Model<real<T>>& m, const T* b, Workspace<T, LDC>& w,
                             SolutionGradient<T>& g) {
  fill(w.y, w.ld);
  solve_free(m, w.ld, w.factor, b, w.y, g.mu);
  for (int r = 0; r < m.nv; ++r) g.force[r] = dot(w.M + r * w.ld, g.mu, w.ld) - b[r];
  chosen_multipliers(m, w.ld, w.factor, g.force, g.kappa);
}

// Adds d/dq of p . J(q) x, x = r.x held; the tree's velocities and r.Jvq are used up.
template <class T, int LDC>
SARRUS_FN void add_bilinear(const Model<real<T>>& m, const T* p, Recursive<T, LDC>& r, T* by_q) {
  turn_rows(m, r);
  for (int k = 0; k < m.nc; ++k) add_scaled(by_q, p[k], r.Jvq + k * r.w.ld, m.nv);
}

// out: g.C, rows of dependent rows over chosen ones   Returns whether any row is there at all.
template <class T, class LD>
SARRUS_FN bool dependence(const Model<real<T>>& m, const Factor<T>& f, LD ld, SolutionGradient<T>& g) {
  bool some = false;
  int n = f.rank_rows;
  for (int i = n; i < m.nc; ++i) {
    const T* row = f.Y + i * ld;
    T* c = g.C + (i - n) * n;
    some = some || any_of(m.nv, [&](int j) { return row[j] != 0; });
    copy(c, row, n);
    substitute_transposed(f, ld, c);
    for (int k = 0; k < n; ++k) c[k] *= f.unit[i] / f.unit[k];
  }
  return some;
}

// The two terms of (4) with p(z) and R2^T z, for the acceleration a (nv) and chosen right-hand sides x.
template <class T, int LDC>
SARRUS_FN void add_turning_rows(const Model<real<T>>& m, const T* a, const T* z, const T* x,
                                Recursive<T, LDC>& r, SolutionGradient<T>& g, T* by_q) {
  const Factor<T>& f = r.w.factor;
  auto ld = r.w.ld;
  int n = f.rank_rows;
  for (int k = 0; k < n; ++k)
    g.y[k] = less_products(x[k] / f.unit[k], f.Y + k * ld, g.y, k) / f.Y[k * ld + k];
  fill(g.lifted, ld);
  copy(g.lifted, g.y, n);
  reflect_back(f, n, ld, g.lifted);
  for (int j = 0; j < m.nv; ++j) r.x[j] = a[j] - g.lifted[j] * m.unit[j];
  for (int k = 0; k < n; ++k) {
    g.p[row_at(f, k)] = sum_of<T>(m.nc - n, [&](int i) { return g.C[i * n + k] * z[i]; });
  }
  for (int i = n; i < m.nc; ++i) g.p[row_at(f, i)] = -z[i - n];
  add_bilinear(m, g.p, r, by_q);
  substitute_transposed(f, ld, g.y);
  fill(g.p, m.nc);
  for (int k = 0; k < n; ++k) g.p[row_at(f, k)] = g.y[k] / f.unit[k];
  fill(g.lifted, ld);
  for (int i = n; i < m.nc; ++i) add_scaled(g.lifted + n, z[i - n] * f.unit[i], f.Y + i * ld + n, m.nv - n);
  reflect_back(f, n, ld, g.lifted);
  multiply(r.x, g.lifted, m.unit, m.nv);
  add_bilinear(m, g.p, r, by_q);
}

// (4): weights s, z of the rows' residuals instead of kappa, and its other terms   in: g.kappa, g.C
template <class T, int LDC>
SARRUS_FN void pull_through_dependent(const Model<real<T>>& m, Recursive<T, LDC>& r, SolutionGradient<T>& g,
                                      T* by_q) {
  const Factor<T>& f = r.w.factor;
  int n = f.rank_rows, more = m.nc - n;
  g.normal.n = more;
  for (int i = 0; i < more; ++i)
    for (int j = 0; j < more; ++j)
      g.normal.A[i * more + j] = inner(g.C + i * n, g.C + j * n, n) + T(i == j ? 1 : 0);
  factorize_lu(g.normal);
  for (int k = 0; k < n; ++k) g.s[k] = g.kappa[row_at(f, k)];
  for (int i = 0; i < more; ++i) g.z[i] = inner(g.C + i * n, g.s, n);
  solve_lu(g.normal, g.z);
  for (int i = 0; i < more; ++i) add_scaled(g.s, -g.z[i], g.C + i * n, n);
  for (int k = 0; k < n; ++k) g.x[k] = dot(r.w.rows.J + row_at(f, k) * r.w.ld, r.w.a, r.w.ld);
  for (int i = 0; i < more; ++i) {
    g.z[i] = inner(g.C + i * n, g.s, n);
    g.e[i] = r.w.rows.gamma[row_at(f, n + i)] - inner(g.C + i * n, g.x, n);
    g.weight[row_at(f, n + i)] = g.z[i];
  }
  for (int k = 0; k < n; ++k) g.weight[row_at(f, k)] = g.s[k];
  add_turning_rows(m, r.w.a, g.z, g.x, r, g, by_q);
  negate(g.chosen, g.s, n);
  fill(g.none, m.nv);
  add_turning_rows(m, g.none, g.e, g.chosen, r, g, by_q);
}

// Adds (3) or (4) to `by` (gradients by q, and by v from r.w.ld on) and to by_tau (nv).
// in: differentiated residuals in r, with the multipliers of chosen rows; closed: on the constraints
template <class T, int LDC>
SARRUS_FN void pull_acceleration(const Model<real<T>>& m, const T* a_bar, bool closed, Recursive<T, LDC>& r,
                                 SolutionGradient<T>& g, T* by, T* by_tau) {
  solve_adjoint(m, a_bar, r.w, g);
  copy(g.weight, g.kappa, m.nc);
  for (int i = 0; i < m.nv; ++i) axpy(by, -g.mu[i], r.Eq + i * r.wide, r.wide);
  add(by_tau, g.mu, m.nv);
  bool depends = !closed && r.w.factor.rank_rows < m.nc && dependence(m, r.w.factor, r.w.ld, g);
  if (depends) pull_through_dependent(m, r, g, by);
  for (int k = 0; k < m.nc; ++k) axpy(by, g.weight[k], r.Rq + k * r.wide, r.wide);
}

// Subtracts mu . d/dq (M d - J^T eta) from by_q, d and eta held: of small corrections d = M^-1 J^T eta.
// still: the model without gravity and forces. Uses up what r held of the motion.   in: r at q, g.mu
template <class T, int LDC>
SARRUS_FN void pull_correction(const Model<real<T>>& still, const T* q, const T* d, Recursive<T, LDC>& r,
                               SolutionGradient<T>& g, T* by_q) {
  auto ld = r.w.ld;
  copy(r.w.a, d, still.nv);
  for (int i = 0; i < still.nv; ++i) g.force[i] = dot(r.w.M + i * ld, r.w.a, ld);
  chosen_multipliers(still, ld, r.w.factor, g.force, r.lam);
  fill(g.none, ld);
  move(still, g.none, r.w.tree);
  residual_derivatives(still, q, g.none, r);
  for (int i = 0; i < still.nv; ++i) add_scaled(by_q, -g.mu[i], r.Eq + i * r.wide, still.nv);
}

SARRUS_END
