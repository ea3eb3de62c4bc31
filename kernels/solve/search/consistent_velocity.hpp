// Velocities that satisfy the constraints, nearest to given ones, with some entries prescribed.
//
//   min (v - v0)^T W (v - v0)   subject to   J v = b,  v[held] = values                                   (1)
//
// Prescribed entries leave their columns of J and their share of W to the right sides; what is left is the
// problem of constrained dynamics with W for the inertia. An impact is (1) with W = M: M (v - v0) = J^T lam.
#pragma once

#include "solve/search/projection.hpp"

SARRUS_BEGIN

// Entries of v that are prescribed: their indices and velocities.
template <class T>
struct HeldEntries {
  const int* index = nullptr;
  const T* value = nullptr;
  int count = 0;
};

// out: v (ld), w.extra = b - J v   in: w.M the metric, w.rows.J and w.rows.b, of which held entries are used
// up, v0 (nv)
// Returns whether the metric is positive definite along the free directions. A second solve makes up for the
// rounding of the first: motions across singular poses depend on the last digits.
template <class T, int LDC>
SARRUS_FN bool consistent_velocity(const Model<real<T>>& m, const T* v0, const HeldEntries<T>& held,
                                   Workspace<T, LDC>& w, T* v) {
  fill(v, w.ld);
  copy(v, v0, m.nv);
  scatter(v, held.index, held.value, held.count);
  fill(w.rhs, m.nv);
  for (int k = 0; k < held.count; ++k) {
    int i = held.index[k];
    for (int j = 0; j < m.nv; ++j) w.rhs[j] -= w.M[j * w.ld + i] * (v[i] - v0[i]);
    for (int j = 0; j < m.nv; ++j) w.M[j * w.ld + i] = w.M[i * w.ld + j] = T(0);
    w.M[i * w.ld + i] = real<T>(1) / (m.unit[i] * m.unit[i]);
    for (int r = 0; r < m.nc; ++r) {
      w.rows.b[r] -= w.rows.J[r * w.ld + i] * v[i];
      w.rows.J[r * w.ld + i] = T(0);
    }
  }
  for (int k = 0; k < held.count; ++k) w.rhs[held.index[k]] = T(0);
  factorize_rows(m, w);
  velocity_residual(m, v, w);
  solve_rows(m, w.ld, w.factor, w.extra, static_cast<const T*>(nullptr), w.y);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
  add(v, w.a, m.nv);
  velocity_residual(m, v, w);
  normal_step(m, w.extra, w);
  add(v, w.a, m.nv);
  scatter(v, held.index, held.value, held.count);
  velocity_residual(m, v, w);
  return w.factor.spd;
}

constexpr double CONSISTENT = 1e-9;  // on |J v - b| relative to the speeds involved, lengths divided by L

// Whether v satisfies the rows   in: w.extra = b - J v; v0: a wish across the rows leaves rounding
template <class T, int LDC>
SARRUS_FN bool is_consistent(const Model<real<T>>& m, const T* v0, const T* v, const Workspace<T, LDC>& w) {
  T speed = T(0), miss = T(0);
  for (int j = 0; j < m.nv; ++j) {
    T x = larger(abs_(v[j]), abs_(v0[j]));
    speed = larger(x / m.unit[j], speed);
  }
  for (int r = 0; r < m.nc; ++r) {
    T b = abs_(w.rows.b[r]) / m.row_unit[r], off = abs_(w.extra[r]) / m.row_unit[r];
    speed = larger(b, speed);
    miss = larger(off, miss);
  }
  return miss <= real<T>(CONSISTENT) * speed;
}

SARRUS_END
