// Rows J split in a metric W = L L^T of velocities ([Aghili2005] II-A.1, corrected, and VII-B):
//
//   J L^-T = U diag(s) V^T,    N = L^-T V2,    J^+ = L^-T V1 diag(1/s) U1^T                               (1)
//
// L = 1 without a metric. Nothing in it needs the rows to be independent.
#pragma once

#include "solve/singular_values.hpp"

SARRUS_BEGIN

// out: L (n, n), the lower Cholesky factor of the symmetric part of W; false where that is not positive
// definite
template <class T>
SARRUS_FN bool factor_metric(const T* W, int n, T* L) {
  for (int j = 0; j < n; ++j)
    for (int i = j; i < n; ++i) {
      T s = (W[i * n + j] + W[j * n + i]) * real<T>(0.5);
      for (int k = 0; k < j; ++k) s -= L[i * n + k] * L[j * n + k];
      if (i == j && !(s > real<T>(0))) return false;
      L[i * n + j] = i == j ? sqrt_(s) : s / L[j * n + j];
    }
  return true;
}

// x (n) <- L^-1 x, entries `step` apart
template <class T>
SARRUS_HD void solve_lower(const T* L, int n, int step, T* x) {
  for (int i = 0; i < n; ++i) {
    T s = x[i * step];
    for (int k = 0; k < i; ++k) s -= L[i * n + k] * x[k * step];
    x[i * step] = s / L[i * n + i];
  }
}

// x (n) <- L^-T x, entries `step` apart
template <class T>
SARRUS_HD void solve_upper(const T* L, int n, int step, T* x) {
  for (int i = n - 1; i >= 0; --i) {
    T s = x[i * step];
    for (int k = i + 1; k < n; ++k) s -= L[k * n + i] * x[k * step];
    x[i * step] = s / L[i * n + i];
  }
}

// s (most) descending, V (nv, nv): the columns of L^-T V, R (nc, most): those of U diag(1/s), zero where s is
// zero; most = min(nc, nv). V and R may be null.
template <class T>
struct SplitRows {
  T *s, *V, *R;
};

// in: J (nc, nv); L (nv, nv) or null   False where an entry is not a number.
template <class T>
SARRUS_FN bool split_rows(const T* J, const T* L, int nc, int nv, SingularValues<T>& d, T* x,
                          SplitRows<T> out) {
  int most = nc < nv ? nc : nv;
  for (int r = 0; r < nc; ++r) {
    for (int j = 0; j < nv; ++j) d.at(r, j) = J[r * nv + j];
    if (L) solve_lower(L, nv, 1, &d.at(r, 0));
  }
  if (!decompose(d, nc, nv)) return false;
  for (int i = 0; i < most; ++i) out.s[i] = i < d.count ? d.s[i] : T(0);
  if (out.V) right_vectors(d, 0, nv, x, out.V);
  for (int j = 0; out.V && L && j < nv; ++j) solve_upper(L, nv, nv, out.V + j);
  for (int i = 0; out.R && i < most; ++i)
    for (int k = 0; k < nc; ++k) {
      T& entry = out.R[static_cast<int>(value(d.p.f.order[k])) * most + i];
      entry = i < d.count && d.s[i] > 0 ? d.LW[i * d.lr + k] / (d.s[i] * d.s[i]) : T(0);
    }
  return true;
}

SARRUS_END
