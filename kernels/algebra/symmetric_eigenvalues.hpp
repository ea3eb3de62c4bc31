// Eigenvalues of small symmetric matrices by Jacobi rotations [Golub2013] sec. 8.5.
#pragma once

#include "base/padded_rows.hpp"

SARRUS_BEGIN

constexpr int SWEEPS = 30;

// Rows and columns p and q of A (n, n) turned so that A[p][q] vanishes; the columns of V likewise.
template <class T>
SARRUS_HD void rotate_pair(T* A, T* V, int n, int p, int q) {
  T theta = (A[q * n + q] - A[p * n + p]) / (A[p * n + q] * real<T>(2));
  T t = real<T>(1) / (abs_(theta) + sqrt_(theta * theta + real<T>(1)));
  if (theta < 0) t = -t;
  T c = real<T>(1) / sqrt_(t * t + real<T>(1)), s = t * c;
  rotate(A + p, A + q, n, n, c, s);
  rotate(A + p * n, A + q * n, 1, n, c, s);
  rotate(V + p, V + q, n, n, c, s);
}

// Whether nothing but rounding is left beside the diagonal
template <class T>
SARRUS_HD bool is_diagonal(const T* A, int n) {
  T off = T(0), all = T(0);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) {
      T square = A[i * n + j] * A[i * n + j];
      all += square;
      if (i != j) off += square;
    }
  return !(off > all * real<T>(1e-32));
}

// Values (n) ascending, and the columns of V (n, n) with them
template <class T>
SARRUS_HD void sort_columns(T* values, int n, T* V) {
  for (int i = 0; i < n; ++i) {
    int least = i;
    for (int j = i + 1; j < n; ++j)
      if (values[j] < values[least]) least = j;
    if (least == i) continue;
    swap_(values[i], values[least]);
    for (int k = 0; k < n; ++k) swap_(V[k * n + i], V[k * n + least]);
  }
}

// out: values (n) ascending, V (n, n) with the eigenvectors as columns   in: A (n, n), used up
template <class T>
SARRUS_FN void eigenvalues(T* A, int n, T* values, T* V) {
  set_identity(V, n);
  for (int sweep = 0; sweep < SWEEPS && !is_diagonal(A, n); ++sweep)
    for (int p = 0; p < n; ++p)
      for (int q = p + 1; q < n; ++q)
        if (A[p * n + q] != 0) rotate_pair(A, V, n, p, q);
  for (int i = 0; i < n; ++i) values[i] = A[i * n + i];
  sort_columns(values, n, V);
}

SARRUS_END
