// Derivatives of the constrained dynamics of large mechanisms: instead of the inverse of the KKT matrix, one
// solve by entries for each column of the derivatives of the residuals (solve/factor/column_solve.hpp).
#pragma once

#include "derivatives/residual_derivatives.hpp"
#include "solve/factor/column_solve.hpp"

SARRUS_BEGIN

// Rows of columns [0, count) of a block of results, times s, to columns [first, first + count) of `to`
// (rows, nv)
template <class T>
SARRUS_HD void store_columns(const T* block, int rows, int n, int count, real<T> s, T* to, int nv) {
  for (int j = 0; j < rows; ++j)
    for (int c = 0; c < count; ++c) to[j * static_cast<long>(nv) + c] = block[j * n + c] * s;
}

// da (nv, nv), dlam (nc, nv; or null) <- response to columns of dE and dR, which stand from `from` on
template <class T, int LDC>
SARRUS_FN void respond_to_columns(const Model<real<T>>& m, const T* from, T* da, T* dlam,
                                  Recursive<T, LDC>& r) {
  Columns<T>& c = r.columns;
  for (int first = 0; first < m.nv; first += c.n) {
    int count = m.nv - first < c.n ? m.nv - first : c.n, whole = r.w.ld - first < c.n ? r.w.ld - first : c.n;
    auto take = [&](const T* rows, int n_rows, T* to) {
      for (int j = 0; j < n_rows; ++j) {
        copy(to + j * c.n, rows + j * static_cast<long>(r.wide) + first, whole);
        fill(to + j * c.n + whole, c.n - whole);
      }
    };
    take(from, m.nv, c.f);
    take(from + m.nv * static_cast<long>(r.wide), m.nc, c.g);
    solve_columns(m, r.w.ld, r.w.factor, r.w.M, dlam != nullptr, c);
    store_columns(c.a, m.nv, c.n, count, real<T>(-1), da + first, m.nv);
    if (dlam) store_columns(c.lam, m.nc, c.n, count, real<T>(-1), dlam + first, m.nv);
  }
}

// The same to forces along `count` coordinates
template <class T, int LDC>
SARRUS_FN void respond_to_forces(const Model<real<T>>& m, const int* coordinates, int count, bool multipliers,
                                 Recursive<T, LDC>& r) {
  Columns<T>& c = r.columns;
  fill(c.f, m.nv * c.n);
  fill(c.g, m.nc * c.n);
  for (int k = 0; k < count; ++k) c.f[coordinates[k] * c.n + k] = T(1);
  solve_columns(m, r.w.ld, r.w.factor, r.w.M, multipliers, c);
}

// (3) of derivatives/residual_derivatives.hpp; added to dlam_dq (nc, nv)
template <class T, int LDC>
SARRUS_FN void add_turning_columns(const Model<real<T>>& m, Recursive<T, LDC>& r, T* dlam_dq) {
  Columns<T>& c = r.columns;
  fill(c.f, m.nv * c.n);
  fill(c.g, m.nc * c.n);
  set_column(c.g, c.n, r.lam, m.nc);
  solve_columns(m, r.w.ld, r.w.factor, r.w.M, false, c);
  for (int j = 0; j < m.nv; ++j) r.x[j] = c.a[j * c.n];
  turn_rows(m, r);
  for (int first = 0; first < m.nv; first += c.n) {
    int count = m.nv - first < c.n ? m.nv - first : c.n;
    fill(c.g, m.nc * c.n);
    for (int k = 0; k < m.nc; ++k) copy(c.g + k * c.n, r.Jvq + k * r.w.ld + first, count);
    left_null_part(m, r.w.factor, c, c.g);
    for (int k = 0; k < m.nc; ++k) add(dlam_dq + k * static_cast<long>(m.nv) + first, c.g + k * c.n, count);
  }
}

// As respond_to_residuals(), factorized by entries
template <class T, int LDC>
SARRUS_FN void respond_by_columns(const Model<real<T>>& m, const Derivatives<T>& out, Recursive<T, LDC>& r) {
  respond_to_columns(m, r.Eq, out.da_dq, out.dlam_dq, r);
  respond_to_columns(m, r.Ev, out.da_dv, out.dlam_dv, r);
  Columns<T>& c = r.columns;
  for (int first = 0; out.da_dtau && first < m.nv; first += c.n) {
    int count = m.nv - first < c.n ? m.nv - first : c.n, coordinates[COLUMNS];
    for (int k = 0; k < count; ++k) coordinates[k] = first + k;
    respond_to_forces(m, coordinates, count, out.dlam_dtau != nullptr, r);
    store_columns(c.a, m.nv, c.n, count, real<T>(1), out.da_dtau + first, m.nv);
    if (out.dlam_dtau) store_columns(c.lam, m.nc, c.n, count, real<T>(1), out.dlam_dtau + first, m.nv);
  }
  if (out.dlam_dq && r.w.factor.first_rows < m.nc) add_turning_columns(m, r, out.dlam_dq);
}

SARRUS_END
