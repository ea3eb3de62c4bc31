// Derivatives of constrained forward dynamics with respect to tangent increments of q, to v and to tau.
//
//   E(q, v, a, lam) = M a + h - tau - J^T lam = 0,      R(q, v, a) = J a - gamma = 0 (1) [ M  -J^T ] [ da   ]
//   [ dE ] [ J    0  ] [ dlam ] = - [ dR ] (2)
//
// (2) is solved for all right-hand sides at once with the factorization of the forward dynamics, so that it
// holds for dependent rows too (along directions tangent to the manifold, where it is consistent).
// [Spencer2004] ch. 4 and app. B (erratum: (B.5) lacks a factor K^T, sec. 4.2 has it)
#pragma once

#include "directional.hpp"
#include "pair_derivative.hpp"

SARRUS_BEGIN

template <class T, int LDC>
struct Recursive {
  Workspace<T, LDC> w;
  TreeTangent<T> d;
  Path path;
  Element<T>* element;
  T *Eq, *Ev;        // (nv, ld)
  T *Rq, *Rv, *Jvq;  // (nc, ld)
  T *X, *g, *y;      // right-hand sides (nv, wide), (nc, wide); constrained coordinates (nv, wide)
  T *sum, *lam;      // (wide), (nc)
  int wide;

  SARRUS_HD Recursive(const Model<real<T>>& m, Arena& arena) : w(m, arena) {
    int ld = w.ld;
    wide = (3 * m.nv + LANES - 1) / LANES * LANES;
    d.bind(arena, m);
    path.bind(arena, m.nv);
    element = arena.template take<Element<T>>(1);
    Eq = arena.template take<T>(m.nv * ld);
    Ev = arena.template take<T>(m.nv * ld);
    Rq = arena.template take<T>(m.nc * ld);
    Rv = arena.template take<T>(m.nc * ld);
    Jvq = arena.template take<T>(m.nc * ld);
    X = arena.template take<T>(m.nv * wide);
    g = arena.template take<T>(m.nc * wide);
    y = arena.template take<T>(m.nv * wide);
    sum = arena.template take<T>(wide);
    lam = arena.template take<T>(m.nc);
  }
};

// Rows of the element into Rq, Rv, Jvq at row `first`, its force stiffness into Eq.
template <class T, int LDC>
SARRUS_FN void row_derivatives(const Model<real<T>>& m, int first, Recursive<T, LDC>& r) {
  const Element<T>& e = *r.element;
  int ld = r.w.ld;
  r.path.walk(m, e.a, e.b);
  for (int i = 0; i < r.path.n; ++i) {
    Nudge<T> x = nudge(m, r.w.tree, r.d, e, r.path, i);
    int k = r.path.col[i];
    for (int n = 0; n < e.n; ++n) {
      T along = T(0);
      for (int c = 0; c < 6; ++c) along += entry(x.s, c) * dot(e.G[n][c], e.V);
      r.Rq[(first + n) * ld + k] = dot(e.R_s[n], x.s) + dot(e.R_V[n], x.V_q) + dot(e.row[n].W, x.A_q);
      r.Rv[(first + n) * ld + k] = dot(e.R_V[n], x.V_v) + dot(e.row[n].W, x.A_v);
      r.Jvq[(first + n) * ld + k] = along + dot(e.row[n].W, x.V_q);
    }
  }
  Spatial<T> L = zero6<T>(), GL[6];
  for (int c = 0; c < 6; ++c) GL[c] = zero6<T>();
  for (int n = 0; n < e.n; ++n) {
    const T& lam = r.lam[first + n];
    L = L + e.row[n].W * lam;
    for (int c = 0; c < 6; ++c) GL[c] = GL[c] + e.G[n][c] * lam;
  }
  subtract_force_stiffness(r.w.tree, r.path, L, GL, ld, r.Eq);
}

// A point spring pulls with f = -(k (l - l0) + c l') along its row: Q = J^T f
template <class T, int LDC>
SARRUS_FN void spring_derivatives(const Model<real<T>>& m, int k, Recursive<T, LDC>& r) {
  const Element<T>& e = *r.element;
  const Tree<T>& t = r.w.tree;
  int ld = r.w.ld;
  real<T> stiffness = m.ps_stiffness[k], damping = m.ps_damping[k];
  const Spatial<T>& W = e.row[0].W;
  T f = -(e.row[0].phi * stiffness + dot(W, e.V) * damping);
  r.path.walk(m, e.a, e.b);
  for (int i = 0; i < r.path.n; ++i) {
    Nudge<T> x = nudge(m, t, r.d, e, r.path, i);
    T rate_q = dot(W, x.V_q);
    for (int c = 0; c < 6; ++c) rate_q += entry(x.s, c) * dot(e.G[0][c], e.V);
    T f_q = -(dot(W, x.s) * stiffness + rate_q * damping), f_v = -(dot(W, x.s) * damping);
    for (int j = 0; j < r.path.n; ++j) {
      T lever = dot(t.S[r.path.col[j]], W) * real<T>(r.path.side[j]);
      r.Eq[r.path.col[j] * ld + r.path.col[i]] -= lever * f_q;
      r.Ev[r.path.col[j] * ld + r.path.col[i]] -= lever * f_v;
    }
  }
  Spatial<T> GL[6];
  for (int c = 0; c < 6; ++c) GL[c] = e.G[0][c] * f;
  subtract_force_stiffness(t, r.path, W * f, GL, ld, r.Eq);
}

// A spring of zero length has no row. With no rest length it pulls with -k r, the same in every direction;
// with one it has no force there, and no derivative. Returns whether this is such a spring.
template <class T, int LDC>
SARRUS_FN bool slack_spring_derivatives(const Model<real<T>>& m, int k, Recursive<T, LDC>& r) {
  const Tree<T>& t = r.w.tree;
  int a = m.ps_a[k], b = m.ps_b[k];
  Vec3<T> p = point_of(t, b, m.ps_p_b + 3 * k), apart = p - point_of(t, a, m.ps_p_a + 3 * k);
  if (value(dot(apart, apart)) > SPRING_APART) return false;
  if (m.ps_rest[k] != 0) return true;
  r.path.walk(m, a, b);
  auto moved = [&](int i) {
    const Spatial<T>& S = t.S[r.path.col[i]];
    return (S.lin + cross(S.ang, p)) * real<T>(r.path.side[i]);
  };
  for (int i = 0; i < r.path.n; ++i)
    for (int j = 0; j < r.path.n; ++j)
      r.Eq[r.path.col[j] * r.w.ld + r.path.col[i]] += dot(moved(i), moved(j)) * m.ps_stiffness[k];
  return true;
}

// out: Eq, Ev, Rq, Rv, Jvq   in: forward dynamics solved in w (a, lam)
template <class T, int LDC>
SARRUS_FN void residual_derivatives(const Model<real<T>>& m, const T* q, const T* v, Recursive<T, LDC>& r) {
  Tree<T>& t = r.w.tree;
  accelerate_tree(m, v, r.w.a, t);
  rnea_derivatives(m, q, v, t, r.w.bodies, r.d, r.w.ld, r.Eq, r.Ev);
  fill(r.Rq, m.nc * r.w.ld);
  fill(r.Rv, m.nc * r.w.ld);
  fill(r.Jvq, m.nc * r.w.ld);
  for (int c = 0; c < m.ncl; ++c) {
    closure_element(m, c, t, *r.element);
    row_derivatives(m, m.cl_row[c], r);
  }
  for (int c = 0; c < m.nro; ++c) {
    rolling_element(m, c, t, *r.element);
    row_derivatives(m, m.ro_row[c], r);
  }
  for (int c = 0; c < m.nps; ++c) {
    if (slack_spring_derivatives(m, c, r)) continue;
    spring_element(m, c, t, *r.element);
    spring_derivatives(m, c, r);
  }
}

// X <- H_k X, row by row over all right-hand sides
template <class T>
SARRUS_HD void reflect_many(const T* v, const T& beta, int begin, int nv, int wide, T* sum, T* X) {
  combine(sum, v, X, begin, nv, wide);
  for (int j = begin; j < nv; ++j) axpy(X + j * wide, -(beta * v[j]), sum, wide);
}

// y (rank, wide) from g (nc, wide): solve_rows for many right-hand sides; g is used up
template <class T, class LD>
SARRUS_FN void solve_rows_many(const Model<real<T>>& m, LD ld, const Factor<T>& f, int wide, T* g, T* sum,
                               T* y) {
  int n = f.rank_rows;
  if (f.first_rows == m.nc) {
    for (int k = 0; k < n; ++k) {
      T* row = y + k * wide;
      T inv = real<T>(1) / f.Y[k * ld + k];
      scaled(row, inv / f.unit[k], g + static_cast<int>(value(f.order[k])) * wide, wide);
      for (int j = 0; j < k; ++j) axpy(row, -(f.Y[k * ld + j] * inv), y + j * wide, wide);
    }
    return;
  }
  for (int j = 0; j < n; ++j) {  // U^T g, with the rows of g addressed in pivot order
    const T* u = f.U + j * f.lc;
    fill(sum, wide);
    for (int i = j; i < m.nc; ++i) axpy(sum, u[i], g + static_cast<int>(value(f.order[i])) * wide, wide);
    for (int i = j; i < m.nc; ++i)
      axpy(g + static_cast<int>(value(f.order[i])) * wide, -(f.U_beta[j] * u[i]), sum, wide);
  }
  for (int j = n - 1; j >= 0; --j) {
    T* row = y + j * wide;
    T inv = real<T>(1) / f.T_diag[j];
    scaled(row, inv, g + static_cast<int>(value(f.order[j])) * wide, wide);
    for (int c = j + 1; c < n; ++c) axpy(row, -(f.U[c * f.lc + j] * inv), y + c * wide, wide);
  }
}

// X (nv, wide): right-hand sides in, accelerations out; solve_free for many
template <class T, class LD>
SARRUS_FN void solve_free_many(const Model<real<T>>& m, LD ld, const Factor<T>& f, int wide, const T* y,
                               T* sum, T* X) {
  int r = f.rank;
  for (int j = 0; j < m.nv; ++j)
    if (m.unit[j] != 1) scaled_in_place(X + j * wide, T(m.unit[j]), wide);
  for (int k = 0; k < r; ++k) reflect_many(f.H + k * ld, f.beta[k], k, m.nv, wide, sum, X);
  for (int j = r; j < m.nv; ++j)
    for (int i = j + 1; i < m.nv; ++i)
      axpy(X + i * wide, -(f.K[j * ld + i] * f.inv_d[j]), X + j * wide, wide);
  for (int i = r; i < m.nv; ++i)
    for (int k = 0; k < r; ++k) axpy(X + i * wide, -f.K[i * ld + k], y + k * wide, wide);
  for (int i = m.nv - 1; i >= r; --i) {
    for (int j = i + 1; j < m.nv; ++j) axpy(X + i * wide, -f.K[i * ld + j], X + j * wide, wide);
    scaled_in_place(X + i * wide, f.inv_d[i], wide);
  }
  for (int k = 0; k < r; ++k) copy(X + k * wide, y + k * wide, wide);
  for (int k = r - 1; k >= 0; --k) reflect_many(f.H + k * ld, f.beta[k], k, m.nv, wide, sum, X);
  for (int j = 0; j < m.nv; ++j)
    if (m.unit[j] != 1) scaled_in_place(X + j * wide, T(m.unit[j]), wide);
}

// dlam (nc, wide) in the least-norm sense from M da + dE = J^T dlam; uses up F (nv, wide)
template <class T, class LD>
SARRUS_FN void solve_multipliers_many(const Model<real<T>>& m, LD ld, const Factor<T>& f, int wide, T* F,
                                      T* sum, T* s, T* lam) {
  int n = f.rank_rows;
  for (int j = 0; j < m.nv; ++j)
    if (m.unit[j] != 1) scaled_in_place(F + j * wide, T(m.unit[j]), wide);
  for (int k = 0; k < n; ++k) reflect_many(f.H + k * ld, f.beta[k], k, m.nv, wide, sum, F);
  fill(lam, m.nc * wide);
  auto at = [&](int position) { return lam + static_cast<int>(value(f.order[position])) * wide; };
  if (f.first_rows == m.nc) {
    for (int k = n - 1; k >= 0; --k) {
      T inv = real<T>(1) / f.Y[k * ld + k];
      scaled(s + k * wide, inv, F + k * wide, wide);
      for (int i = k + 1; i < n; ++i) axpy(s + k * wide, -(f.Y[i * ld + k] * inv), s + i * wide, wide);
    }
    for (int k = 0; k < n; ++k) scaled(at(k), real<T>(1) / f.unit[k], s + k * wide, wide);
    return;
  }
  for (int j = 0; j < n; ++j) {
    T inv = real<T>(1) / f.T_diag[j];
    scaled(s + j * wide, inv, F + j * wide, wide);
    for (int i = 0; i < j; ++i) axpy(s + j * wide, -(f.U[j * f.lc + i] * inv), s + i * wide, wide);
    copy(at(j), s + j * wide, wide);
  }
  for (int j = n - 1; j >= 0; --j) {
    const T* u = f.U + j * f.lc;
    fill(sum, wide);
    for (int i = j; i < m.nc; ++i) axpy(sum, u[i], at(i), wide);
    for (int i = j; i < m.nc; ++i) axpy(at(i), -(f.U_beta[j] * u[i]), sum, wide);
  }
}

// Columns of E and R for q, v, tau, negated: the right-hand sides of (2).
template <class T, int LDC>
SARRUS_FN void right_hand_sides(const Model<real<T>>& m, Recursive<T, LDC>& r) {
  int ld = r.w.ld, nv = m.nv;
  fill(r.X, nv * r.wide);
  fill(r.g, m.nc * r.wide);
  for (int i = 0; i < nv; ++i) {
    for (int k = 0; k < nv; ++k)
      r.X[i * r.wide + k] = -r.Eq[i * ld + k], r.X[i * r.wide + nv + k] = -r.Ev[i * ld + k];
    r.X[i * r.wide + 2 * nv + i] = T(1);
  }
  for (int i = 0; i < m.nc; ++i)
    for (int k = 0; k < nv; ++k)
      r.g[i * r.wide + k] = -r.Rq[i * ld + k], r.g[i * r.wide + nv + k] = -r.Rv[i * ld + k];
}

template <class T>
SARRUS_HD void scatter(const T* from, int rows, int nv, int wide, T* q, T* v, T* tau) {
  for (int i = 0; i < rows; ++i)
    for (int k = 0; k < nv; ++k) {
      q[i * nv + k] = from[i * wide + k];
      v[i * nv + k] = from[i * wide + nv + k];
      tau[i * nv + k] = from[i * wide + 2 * nv + k];
    }
}

// out: all derivatives; w.a, r.lam   in: the state
template <class T, int LDC>
SARRUS_FN void differentiate_recursively(const Model<real<T>>& m, const T* q, const T* v, const T* tau,
                                         const T* drive, const T* user, const Derivatives<T>& out,
                                         Recursive<T, LDC>& r) {
  Workspace<T, LDC>& w = r.w;
  evaluate(m, q, v, drive, user, w);
  prepare(m, q, v, drive, user, -1, static_cast<Tangent<T, LDC>*>(nullptr), w);
  accelerate(m, tau, w);
  multipliers(m, w, r.lam);
  residual_derivatives(m, q, v, r);
  right_hand_sides(m, r);
  solve_rows_many(m, w.ld, w.factor, r.wide, r.g, r.sum, r.y);
  solve_free_many(m, w.ld, w.factor, r.wide, r.y, r.sum, r.X);
  scatter(r.X, m.nv, m.nv, r.wide, out.da_dq, out.da_dv, out.da_dtau);
  for (int i = 0; i < m.nc; ++i)
    for (int k = 0; k < m.nv; ++k) out.dJv_dq[i * m.nv + k] = r.Jvq[i * w.ld + k];
  if (!out.dlam_dq || m.nc == 0) return;
  // F = M da + dE, into the room of y; then dlam into that of g
  for (int i = 0; i < m.nv; ++i) {
    T* row = r.y + i * r.wide;
    combine(row, w.M + i * w.ld, r.X, 0, m.nv, r.wide);
    for (int k = 0; k < m.nv; ++k) row[k] += r.Eq[i * w.ld + k], row[m.nv + k] += r.Ev[i * w.ld + k];
    row[2 * m.nv + i] -= real<T>(1);
  }
  solve_multipliers_many(m, w.ld, w.factor, r.wide, r.y, r.sum, r.X, r.g);
  scatter(r.g, m.nc, m.nv, r.wide, out.dlam_dq, out.dlam_dv, out.dlam_dtau);
}

SARRUS_END
