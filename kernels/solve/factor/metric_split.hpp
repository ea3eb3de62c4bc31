// Rows J split in a metric W = L L^T of velocities ([Aghili2005] II-A.1, corrected, and VII-B):
//
//   J L^-T = U diag(s) V^T,    N = L^-T V2,    J^+ = L^-T V1 diag(1/s) U1^T                               (1)
//
// L = 1 without a metric. Nothing in it needs the rows to be independent.
#pragma once

#include "algebra/triangular.hpp"
#include "solve/factor/singular_values.hpp"

SARRUS_BEGIN

// out: L (n, n), the lower Cholesky factor of the symmetric part of W; false where that is not positive
// definite
template <class T>
SARRUS_FN bool factor_metric(const T* W, int n, T* L) {
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) L[i * n + j] = (W[i * n + j] + W[j * n + i]) * real<T>(0.5);
  return cholesky_in_place(L, n);
}

// s (most) descending, V (nv, nv): the columns of L^-T V, R (nc, most): those of U diag(1/s), zero where s is
// zero; most = min(nc, nv). V and R may be null.
template <class T>
struct SplitRows {
  T *s, *V, *R;
};

// R (nc, most): the columns of U diag(1/s)
template <class T>
SARRUS_HD void left_vectors(const SingularValues<T>& d, int nc, int most, T* R) {
  fill(R, nc * most);
  for (int i = 0; i < d.count; ++i) {
    if (!(d.s[i] > 0)) continue;
    for (int k = 0; k < nc; ++k) R[row_at(d.p.f, k) * most + i] = d.LW[i * d.lr + k] / (d.s[i] * d.s[i]);
  }
}

// in: J (nc, nv); L (nv, nv) or null   False where an entry is not a number.
template <class T>
SARRUS_FN bool split_rows(const T* J, const T* L, int nc, int nv, SingularValues<T>& d, T* x,
                          SplitRows<T> out) {
  int most = smaller(nc, nv);
  for (int r = 0; r < nc; ++r) {
    for (int j = 0; j < nv; ++j) d.at(r, j) = J[r * nv + j];
    if (L) solve_lower(L, nv, 1, &d.at(r, 0));
  }
  if (!decompose(d, nc, nv)) return false;
  copy(out.s, d.s, d.count);
  fill(out.s + d.count, most - d.count);
  if (out.V) right_vectors(d, 0, nv, x, out.V);
  if (out.V && L)
    for (int j = 0; j < nv; ++j) solve_upper(L, nv, nv, out.V + j);
  if (out.R) left_vectors(d, nc, most, out.R);
  return true;
}

SARRUS_END
