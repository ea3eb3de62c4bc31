// Derivatives of constrained forward dynamics with respect to tangent increments of q, to v and to tau: the
// changes of a and lam that the derivatives of the residuals (derivatives/residual_derivatives.hpp) ask for,
// by the inverse of the KKT matrix (solve/kkt_inverse.hpp), for dependent rows too. Large mechanisms:
// derivatives/column_derivatives.hpp.
#pragma once

#include "derivatives/column_derivatives.hpp"

SARRUS_BEGIN

// out: added to dlam_dq (nc, nv)
template <class T, int LDC>
SARRUS_FN void add_turning(const Model<real<T>>& m, Recursive<T, LDC>& r, T* dlam_dq) {
  const Factor<T>& f = r.w.factor;
  int nv = m.nv, ld = r.w.ld, stride = r.response.stride;
  for (int i = 0; i < nv; ++i) {
    r.x[i] = sum_of<T>(m.nc, [&](int c) { return r.response.C[(nv + c) * stride + i] * r.lam[c]; });
  }
  turn_rows(m, r);
  T *u = f.work, *row = r.response.sum;
  for (int i = 0; i < m.nc - f.rank_rows; ++i) {
    left_null(f, i, u);
    auto declared = [&](int position) { return row_at(f, position); };
    fill(row, ld);
    for (int k = 0; k < m.nc; ++k) axpy(row, u[k], r.Jvq + declared(k) * ld, r.w.ld);
    for (int k = 0; k < m.nc; ++k) add_scaled(dlam_dq + declared(k) * nv, u[k], row, nv);
  }
}

// out: all derivatives but those with null pointers   in: differentiate_residuals()
template <class T, int LDC>
SARRUS_FN void respond_to_residuals(const Model<real<T>>& m, const Derivatives<T>& out,
                                    Recursive<T, LDC>& r) {
  Workspace<T, LDC>& w = r.w;
  int nv = m.nv, nc = m.nc, rows = out.dlam_dq ? nv + nc : nv;
  if (out.dJv_dq) unpad(r.Jvq, w.ld, w.ld, nc, nv, 1, out.dJv_dq);
  if constexpr (Factor<T>::template maybe_sparse<Stride<LDC>>)
    if (w.factor.sparse) return respond_by_columns(m, out, r);
  Response<T>& c = r.response;
  respond(m, w.ld, w.factor, w.M, rows > nv, c);
  product(Coefficients<T>{c.C, c.stride, 1}, r.Eq, r.wide, rows, nv + nc, r.wide, r.answer, r.wide);
  unpad(r.answer, r.wide, w.ld, nv, nv, 1, out.da_dq);
  unpad(r.answer + w.ld, r.wide, w.ld, nv, nv, 1, out.da_dv);
  if (out.da_dtau) unpad(c.C, c.stride, w.ld, nv, nv, -1, out.da_dtau);
  if (!out.dlam_dq) return;
  const T* below = r.answer + nv * r.wide;
  unpad(below, r.wide, w.ld, nc, nv, 1, out.dlam_dq);
  if (out.dlam_dv) unpad(below + w.ld, r.wide, w.ld, nc, nv, 1, out.dlam_dv);
  if (out.dlam_dtau) unpad(c.C + nv * c.stride, c.stride, w.ld, nc, nv, -1, out.dlam_dtau);
  if (w.factor.first_rows < nc) add_turning(m, r, out.dlam_dq);
}

// The same; w.a, r.lam   in: the state
template <class T, int LDC>
SARRUS_FN void differentiate_recursively(const Model<real<T>>& m, const State<T>& s, const T* tau,
                                         const Derivatives<T>& out, Recursive<T, LDC>& r) {
  differentiate_residuals(m, s, tau, r);
  respond_to_residuals(m, out, r);
}

SARRUS_END
