// Products of small matrices with padded rows. Sums are kept in registers over the inner index, two rows by
// up to four blocks at a time: enough independent sums to keep the multipliers busy, few enough to fit the
// registers of every instruction set.
#pragma once

#include "base/padded_rows.hpp"

SARRUS_BEGIN

// Coefficients of a product: row i, inner index k at data[i * row + k * step].
template <class T>
struct Coefficients {
  const T* data;
  int row, step;
};

// C[i][j] = sum of A(i, k) B[k][j] for ROWS rows from i and WIDE blocks from column j
template <int ROWS, int WIDE, class T>
SARRUS_HD void product_tile(const Coefficients<T>& A, const T* SARRUS_RESTRICT B, int ldb, int i, int j,
                            int inner, T* SARRUS_RESTRICT C, int ldc) {
  using Piece = typename Vector<T>::type;
  Piece s[ROWS][WIDE] = {};
  const T *a = A.data + i * A.row, *b = B + j;
  for (int k = 0; k < inner; ++k, a += A.step, b += ldb)
    for (int w = 0; w < WIDE; ++w) {
      Piece x = piece(b + w * Vector<T>::size);
      for (int r = 0; r < ROWS; ++r) s[r][w] += a[r * A.row] * x;
    }
  for (int r = 0; r < ROWS; ++r)
    for (int w = 0; w < WIDE; ++w) piece(C + (i + r) * ldc + j + w * Vector<T>::size) = s[r][w];
}

template <int WIDE, class T>
SARRUS_HD void product_columns(const Coefficients<T>& A, const T* B, int ldb, int j, int rows, int inner,
                               T* C, int ldc) {
  int i = 0;
  for (; i + 2 <= rows; i += 2) product_tile<2, WIDE>(A, B, ldb, i, j, inner, C, ldc);
  if (i < rows) product_tile<1, WIDE>(A, B, ldb, i, j, inner, C, ldc);
}

// C (rows, n) = A B: inner rows of B with stride ldb, rows of C with stride ldc; n a multiple of LANES
template <class T>
SARRUS_HD void product(const Coefficients<T>& A, const T* B, int ldb, int rows, int inner, int n, T* C,
                       int ldc) {
  constexpr int one = Vector<T>::size;
  int j = 0;
  for (; j + 4 * one <= n; j += 4 * one) product_columns<4>(A, B, ldb, j, rows, inner, C, ldc);
  for (; j + 2 * one <= n; j += 2 * one) product_columns<2>(A, B, ldb, j, rows, inner, C, ldc);
  for (; j + one <= n; j += one) product_columns<1>(A, B, ldb, j, rows, inner, C, ldc);
}

// Rows of n entries, padded to `padded` or more (stride ld), written one after the other without the padding,
// times s. Whole vectors run over into the next row, which comes after, except at the end.
template <class T, class LD>
SARRUS_HD void unpad(const T* SARRUS_RESTRICT from, int ld, LD padded, int rows, int n, real<T> s,
                     T* SARRUS_RESTRICT to) {
  int i = 0;
  for (; (rows - i) * n >= padded; ++i) scaled(to + i * n, T(s), from + i * ld, padded);
  for (; i < rows; ++i)
    for (int k = 0; k < n; ++k) to[i * n + k] = from[i * ld + k] * s;
}

SARRUS_END
