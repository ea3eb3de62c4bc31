// Acceleration and multipliers of one state as affine maps of the inputs u.
//
//   a = a0 + B u,   lam = lam0 + Lam u      from      M a + h = S^T u + J^T lam,   J a = gamma            (1)
//
//   a0 = G gamma - P h,   B = P S^T,   lam0 = G^T h + (G^T M G) gamma,   Lam = -G^T S^T                   (2)
//
// with P and G of solve/kkt_inverse.hpp. Rows of J may depend on each other: lam is then of least norm, and
// gamma is met in the least-squares sense. At a singular pose, rows that are lost are replaced by their
// limit, solve/forward_dynamics.hpp (2); with `bound` the shortest acceleration that satisfies all rows,
//
//   a0 = bound - P (h + M bound),   lam0 = G^T (h + M bound)                                              (3)
#pragma once

#include "control/control_data.hpp"
#include "solve/kkt_inverse.hpp"

SARRUS_BEGIN

template <class T, int LDC>
struct ResponseWork {
  Stride<LDC> ld;
  Factor<T> factor;
  Response<T> inverse;
  Rows<T> rows;
  T *M, *N, *y, *extra;  // (nv, ld), (nv, dof), constrained coordinates (ld), right sides of limit rows (nc)
  bool limits = false;   // whether lost rows are replaced

  SARRUS_HD ResponseWork(const DenseTerms<real<T>>& d, Arena& arena) : ld(d.m.nv) {
    factor.bind(arena, d.m, ld);
    inverse.bind(arena, d.m, ld);
    rows.bind(arena, d.m, ld);
    arena.take(d.m.nv * ld, M);
    arena.take(d.m.nv * d.m.nv, N);
    arena.take(ld, y);
    arena.take(d.m.nc, extra);
  }
};

// J' and gamma' that were computed elsewhere.
template <class T>
struct GivenRates {
  const DenseTerms<real<T>>& d;
  SARRUS_HD T rate_J(int row, int column) const { return d.rate_J[row * d.m.nv + column]; }
  SARRUS_HD T rate_gamma(int row) const { return d.rate_gamma[row]; }
};

template <class T>
SARRUS_HD void pad(const T* from, int rows, int cols, int ld, T* to) {
  for (int r = 0; r < rows; ++r) {
    copy(to + r * ld, from + r * cols, cols);
    fill(to + r * ld + cols, ld - cols);
  }
}

// Rows of the maps (2) from rows of the matrix of solve/kkt_inverse.hpp
template <class T>
SARRUS_HD void apply_response(const DenseTerms<real<T>>& d, const T* C, int stride, int rows, T* first,
                              T* per_input) {
  int nv = d.m.nv;
  for (int r = 0; r < rows; ++r, C += stride) {
    T s = sum_of<T>(nv, [&](int j) { return C[j] * d.h[j]; });
    s = less_products(s, C + nv, d.gamma, d.m.nc);
    first[r] = s;
    for (int i = 0; i < d.nu; ++i) per_input[r * d.nu + i] = -C[d.columns[i]];
  }
}

// The constraints factorized. RATES_NEEDED: rows are lost in motion, and their limits need J' and gamma'.
template <class T, int LDC>
SARRUS_FN ResponseStatus factorize_terms(const DenseTerms<real<T>>& d, ResponseWork<T, LDC>& w) {
  const Model<real<T>>& m = d.m;
  pad(d.J, m.nc, m.nv, w.ld, w.rows.J);
  pad(d.M, m.nv, m.nv, w.ld, w.M);
  copy(w.rows.gamma, d.gamma, m.nc);
  factorize(m, w.rows.J, w.M, w.ld, -1, w.factor);
  if (!w.factor.spd) return NO_INERTIA;  // not a number
  w.limits = d.v && w.factor.rank_rows < m.nc && w.factor.rank_rows < m.nv && moving(d.v, m.nv);
  return w.limits ? RATES_NEEDED : RESPONSE_FOUND;
}

// The same for the inertia, after lost rows were replaced by their limits
template <class T, int LDC>
SARRUS_FN ResponseStatus factorize_inertia(const DenseTerms<real<T>>& d, ResponseWork<T, LDC>& w) {
  const Model<real<T>>& m = d.m;
  Factor<T>& f = w.factor;
  if (f.rank_rows < m.nc) complete(m, w.ld, f);
  if (w.limits) add_limit_rows(m, d.v, real<T>(LIMIT_TOL), real<T>(LIMIT_TOL), GivenRates<T>{d}, w);
  eliminate_inertia(f, m.nv, w.ld);
  return f.spd ? RESPONSE_FOUND : NO_INERTIA;
}

// out: N (nv, dof) tangent directions, bound (nv) the shortest acceleration that satisfies all rows
template <class T, int LDC>
SARRUS_FN void split_directions(const DenseTerms<real<T>>& d, ResponseWork<T, LDC>& w, T* bound) {
  const Factor<T>& f = w.factor;
  int nv = d.m.nv, free = nv - f.rank;
  orthogonal_rows(d.m, w.ld, f, w.inverse);
  for (int i = 0; i < free; ++i) set_column(w.N + i, free, w.inverse.Q + (f.rank + i) * w.ld, nv);
  solve_rows(d.m, w.ld, f, w.rows.gamma, w.extra, w.y);
  fill(bound, nv);
  for (int k = 0; k < f.rank; ++k) add_scaled(bound, w.y[k], w.inverse.Q + k * w.ld, nv);
}

// a0 and lam0 by (3), where limit rows take part
template <class T, int LDC>
SARRUS_FN void respond_at_limit(const DenseTerms<real<T>>& d, ResponseWork<T, LDC>& w,
                                InputResponse<real<T>>& out) {
  int nv = d.m.nv, stride = w.inverse.stride;
  const T *C = w.inverse.C, *G = C + nv * stride;
  T* force = w.y;
  for (int i = 0; i < nv; ++i) {
    force[i] = d.h[i];
    force[i] = plus_products(force[i], d.M + i * nv, out.prescribed, nv);
  }
  for (int i = 0; i < nv; ++i) {
    out.a0[i] = out.prescribed[i];
    out.a0[i] = plus_products(out.a0[i], C + i * stride, force, nv);
  }
  for (int c = 0; c < d.m.nc; ++c) {
    out.lam0[c] = sum_of<T>(nv, [&](int j) { return G[c * stride + j] * force[j]; });
  }
}

// out (nc - rank, nc): multipliers that cause no acceleration; rows that depend on each other share forces in
// any way along them
template <class T>
SARRUS_FN void find_sharing(const Model<real<T>>& m, const Factor<T>& f, real<T>* out) {
  for (int i = 0; i < m.nc - f.rank_rows; ++i) {
    left_null(f, i, f.work);
    for (int k = 0; k < m.nc; ++k) out[i * m.nc + row_at(f, k)] = value(f.work[k]);
  }
}

// The maps (1), from the factorization
template <class T, int LDC>
SARRUS_FN void find_response(const DenseTerms<real<T>>& d, InputResponse<real<T>>& out,
                             ResponseWork<T, LDC>& w) {
  const Model<real<T>>& m = d.m;
  Factor<T>& f = w.factor;
  Response<T>& c = w.inverse;
  split_directions(d, w, out.prescribed);
  respond_along(m, w.ld, f, w.M, true, c);
  apply_response<T>(d, c.C, c.stride, m.nv, out.a0, out.B);
  for (int i = 0; i < m.nv; ++i) negate(out.inverse_inertia + i * m.nv, c.C + i * c.stride, m.nv);
  for (int i = 0; i < m.nc; ++i) negate(out.lam_per_force + i * m.nv, c.C + (m.nv + i) * c.stride, m.nv);
  apply_response<T>(d, c.C + m.nv * c.stride, c.stride, m.nc, out.lam0, out.Lam);
  if (f.rank > f.rank_rows) respond_at_limit(d, w, out);
  uniqueness(m, f, out.lam_unique);
  if (out.sharing) find_sharing(m, f, out.sharing);
  out.N = w.N, out.rank = f.rank_rows, out.dof = m.nv - f.rank;
}

template <class T, int LDC>
SARRUS_FN ResponseStatus respond_to_inputs(const DenseTerms<real<T>>& d, InputResponse<real<T>>& out,
                                           ResponseWork<T, LDC>& w) {
  ResponseStatus status = factorize_terms(d, w);
  if (status == RATES_NEEDED && d.rate_J) status = RESPONSE_FOUND;
  if (status == RESPONSE_FOUND) status = factorize_inertia(d, w);
  if (status == RESPONSE_FOUND) find_response(d, out, w);
  return status;
}

SARRUS_END
