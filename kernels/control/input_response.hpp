// What actuators can do at one state, as affine maps of their inputs u.
//
//   a = a0 + B u,   lam = lam0 + Lam u     from     M a + h = S^T u + J^T lam,   J a = gamma (1) a0 = G gamma
//   - P h,   B = P S^T,   lam0 = G^T h + (G^T M G) gamma,   Lam = -G^T S^T                    (2)
//
// with P and G of solve/kkt_inverse.hpp, and the tangent directions N. The terms are plain matrices.
#pragma once

#include "control/control_data.hpp"
#include "solve/kkt_inverse.hpp"

SARRUS_BEGIN

template <class T, int LDC>
struct AffineWork {
  Stride<LDC> ld;
  Factor<T> factor;
  Response<T> response;
  T *J, *M;

  SARRUS_HD AffineWork(const DenseTerms<real<T>>& d, Arena& arena) : ld(d.m.nv) {
    factor.bind(arena, d.m, ld);
    response.bind(arena, d.m, ld);
    J = arena.template take<T>(d.m.nc * ld);
    M = arena.template take<T>(d.m.nv * ld);
  }
};

template <class T>
SARRUS_HD void pad(const T* from, int rows, int cols, int ld, T* to) {
  for (int r = 0; r < rows; ++r) {
    for (int c = 0; c < cols; ++c) to[r * ld + c] = from[r * cols + c];
    for (int c = cols; c < ld; ++c) to[r * ld + c] = T(0);
  }
}

// Rows of the maps (2) from rows of the matrix of solve/kkt_inverse.hpp
template <class T>
SARRUS_HD void apply_response(const DenseTerms<real<T>>& d, const T* C, int stride, int rows, T* first,
                              T* per_input) {
  int nv = d.m.nv;
  for (int r = 0; r < rows; ++r, C += stride) {
    T s = T(0);
    for (int j = 0; j < nv; ++j) s += C[j] * d.h[j];
    for (int c = 0; c < d.m.nc; ++c) s -= C[nv + c] * d.gamma[c];
    first[r] = s;
    for (int i = 0; i < d.nu; ++i) per_input[r * d.nu + i] = -C[d.columns[i]];
  }
}

// out: bound (nv), the shortest acceleration with J a = gamma   in: the orthogonal rows
template <class T, int LDC>
SARRUS_HD void prescribed(const DenseTerms<real<T>>& d, AffineWork<T, LDC>& w, T* bound) {
  const Factor<T>& f = w.factor;
  T* y = f.work;
  substitute(d.m, w.ld, f, d.gamma, y);
  for (int j = 0; j < d.m.nv; ++j) bound[j] = T(0);
  for (int k = 0; k < f.rank; ++k)
    for (int j = 0; j < d.m.nv; ++j) bound[j] += y[k] * w.response.Q[k * w.ld + j];
}

// The maps (1). Returns 0; 1 where rows depend on each other (nothing is written); 2 where the inertia seen
// by the free motion is not positive definite.
template <class T, int LDC>
SARRUS_FN int affine_maps(const DenseTerms<real<T>>& d, const AffineMaps<real<T>>& out,
                          AffineWork<T, LDC>& w) {
  const Model<real<T>>& m = d.m;
  Factor<T>& f = w.factor;
  Response<T>& c = w.response;
  pad(d.J, m.nc, m.nv, w.ld, w.J);
  pad(d.M, m.nv, m.nv, w.ld, w.M);
  factorize(m, w.J, w.M, w.ld, -1, f);
  if (!f.spd) return 2;  // not a number
  if (f.rank < m.nc) return 1;
  eliminate_inertia(f, m.nv, w.ld);
  if (!f.spd) return 2;
  orthogonal_rows(m, w.ld, f, c);
  int free = m.nv - f.rank;
  for (int i = 0; i < free; ++i)
    for (int j = 0; j < m.nv; ++j) out.N[j * free + i] = c.Q[(f.rank + i) * w.ld + j];
  prescribed(d, w, out.bound);
  respond(m, w.ld, f, w.M, true, c);
  apply_response<T>(d, c.C, c.stride, m.nv, out.a0, out.B);
  for (int i = 0; i < m.nv; ++i)
    for (int j = 0; j < m.nv; ++j) out.P[i * m.nv + j] = -c.C[i * c.stride + j];
  for (int i = 0; i < m.nc; ++i)
    for (int j = 0; j < m.nv; ++j) out.lam_force[i * m.nv + j] = -c.C[(m.nv + i) * c.stride + j];
  apply_response<T>(d, c.C + m.nv * c.stride, c.stride, m.nc, out.lam0, out.Lam);
  return 0;
}

SARRUS_END
