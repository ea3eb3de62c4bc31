// L D L^T of a sparse symmetric positive definite matrix, front by front, left-looking [Ng1993].
//
// The pivot rows of a front hold its part of the matrix. What earlier fronts subtract from them is subtracted
// when their turn comes, then the pivots are eliminated. Rows are kept as D L^T: u_k = d_k l_k.
#pragma once

#include "algebra/elimination_order.hpp"
#include "base/padded_rows.hpp"

SARRUS_BEGIN

constexpr int ROWS_AT_ONCE = 4;  // to which the same rows are added: these are read once

template <class T>
struct Fronts {
  T* U;              // (plan.entries) pivot rows: the matrix, then D L^T
  T* inv_d;          // (n) by position
  T *factors, *sum;  // (ROWS_AT_ONCE, largest)
  int *at, *index;   // (n) place of a column in the front at hand, (largest) the same for another front
  int *head, *next, *cursor;  // (fronts) lists of the fronts that a front waits for, their first row in it

  SARRUS_HD void bind(Arena& arena, const FrontPlan& plan) {
    arena.take(plan.entries, U);
    arena.take(plan.n, inv_d, at);
    arena.take(ROWS_AT_ONCE * plan.largest, factors, sum);
    arena.take(plan.largest, index);
    arena.take(plan.fronts, head, next, cursor);
  }
};

// One front: its pivot rows, and the columns of all of its rows.
template <class T>
struct FrontRows {
  T *U, *inv_d;
  const int* column;
  int rows, pivots, ld;
};

template <class T>
SARRUS_HD FrontRows<T> front_rows(const FrontPlan& plan, int f, const Fronts<T>& w) {
  int rows = plan.begin[f + 1] - plan.begin[f];
  return {w.U + plan.factor[f], w.inv_d + plan.first[f], plan.column + plan.begin[f], rows, plan.pivots[f],
          padded(rows)};
}

// y (n) += sum over `count` rows of a matrix of stride ld, each times its factor; any n
template <class T>
SARRUS_HD void add_rows(T* SARRUS_RESTRICT y, const T* SARRUS_RESTRICT factors, const T* SARRUS_RESTRICT A,
                        int count, int ld, int n) {
  constexpr int one = Vector<T>::size;
  int j = 0;
  for (; j + 2 * one <= n; j += 2 * one) {
    typename Vector<T>::type a = piece(y + j), b = piece(y + j + one);
    for (int k = 0; k < count; ++k) {
      a += factors[k] * piece(A + k * ld + j);
      b += factors[k] * piece(A + k * ld + j + one);
    }
    piece(y + j) = a;
    piece(y + j + one) = b;
  }
  for (; j < n; ++j)
    for (int k = 0; k < count; ++k) y[j] += factors[k] * A[k * ld + j];
}

// Y (ROWS_AT_ONCE, n) of stride ly += F A, with F (count, ROWS_AT_ONCE) and A (count, n) of stride ld
template <class T>
SARRUS_HD void add_product(T* SARRUS_RESTRICT Y, int ly, const T* SARRUS_RESTRICT F,
                           const T* SARRUS_RESTRICT A, int count, int ld, int n) {
  constexpr int one = Vector<T>::size;
  int j = 0;
  for (; j + 2 * one <= n; j += 2 * one) {
    typename Vector<T>::type a[ROWS_AT_ONCE], b[ROWS_AT_ONCE];
    for (int i = 0; i < ROWS_AT_ONCE; ++i) a[i] = piece(Y + i * ly + j), b[i] = piece(Y + i * ly + j + one);
    for (int k = 0; k < count; ++k) {
      typename Vector<T>::type x = piece(A + k * ld + j), y = piece(A + k * ld + j + one);
      for (int i = 0; i < ROWS_AT_ONCE; ++i)
        a[i] += F[k * ROWS_AT_ONCE + i] * x, b[i] += F[k * ROWS_AT_ONCE + i] * y;
    }
    for (int i = 0; i < ROWS_AT_ONCE; ++i) piece(Y + i * ly + j) = a[i], piece(Y + i * ly + j + one) = b[i];
  }
  for (; j < n; ++j)
    for (int i = 0; i < ROWS_AT_ONCE; ++i)
      for (int k = 0; k < count; ++k) Y[i * ly + j] += F[k * ROWS_AT_ONCE + i] * A[k * ld + j];
}

// What the pivots of `from` take from its rows a to a + ROWS_AT_ONCE - 1 in `front`, subtracted
template <class T>
SARRUS_HD void subtract_rows(const FrontRows<T>& from, int a, const FrontRows<T>& front, Fronts<T>& w) {
  int n = from.rows - a;
  for (int i = 0; i < ROWS_AT_ONCE; ++i)
    for (int k = 0; k < from.pivots; ++k)
      w.factors[k * ROWS_AT_ONCE + i] = from.U[k * from.ld + a + i] * from.inv_d[k];
  fill(w.sum, ROWS_AT_ONCE * n);
  add_product(w.sum, n, w.factors, from.U + a, from.pivots, from.ld, n);
  for (int i = 0; i < ROWS_AT_ONCE; ++i) {
    T* row = front.U + w.index[a + i] * front.ld;
    for (int b = i; b < n; ++b) row[w.index[a + b]] -= w.sum[i * n + b];
  }
}

// The same for row a
template <class T>
SARRUS_HD void subtract_row(const FrontRows<T>& from, int a, const FrontRows<T>& front, Fronts<T>& w) {
  T* row = front.U + w.index[a] * front.ld;
  if (from.pivots == 1) {
    T factor = from.U[a] * from.inv_d[0];
    for (int b = a; b < from.rows; ++b) row[w.index[b]] -= factor * from.U[b];
    return;
  }
  for (int k = 0; k < from.pivots; ++k) w.factors[k] = from.U[k * from.ld + a] * from.inv_d[k];
  fill(w.sum, from.rows - a);
  add_rows(w.sum, w.factors, from.U + a, from.pivots, from.ld, from.rows - a);
  for (int b = a; b < from.rows; ++b) row[w.index[b]] -= w.sum[b - a];
}

// Subtracts what the pivots of `from` take from the rows [begin, end) of `from` in `front`.
template <class T>
SARRUS_FN void subtract_front(const FrontRows<T>& from, int begin, int end, const FrontRows<T>& front,
                              Fronts<T>& w) {
  for (int b = begin; b < from.rows; ++b) w.index[b] = w.at[from.column[b]];
  int a = begin;
  if (from.pivots > 1)
    for (; a + ROWS_AT_ONCE <= end; a += ROWS_AT_ONCE) subtract_rows(from, a, front, w);
  for (; a < end; ++a) subtract_row(from, a, front, w);
}

// Eliminates the pivots of a front; false where one is not positive. Rows come in blocks: what the pivots
// before a block subtract from it (also left of the diagonal, which nobody reads) is subtracted at once.
template <class T>
SARRUS_FN bool eliminate_front(const FrontRows<T>& front, T* factors) {
  int ld = front.ld, done = 0;  // pivots whose rows have been added to the block at hand
  for (int i = 0; i < front.pivots; ++i) {
    T* row = front.U + i * ld;
    if (i > 0 && i % ROWS_AT_ONCE == 0) done = 0;
    if (i > 0 && i % ROWS_AT_ONCE == 0 && i + ROWS_AT_ONCE <= front.pivots) {
      for (int r = 0; r < ROWS_AT_ONCE; ++r)
        for (int k = 0; k < i; ++k)
          factors[k * ROWS_AT_ONCE + r] = -(front.U[k * ld + i + r] * front.inv_d[k]);
      add_product(row + i, ld, factors, front.U + i, i, ld, front.rows - i);
      done = i;
    }
    for (int k = done; k < i; ++k) factors[k - done] = -(front.U[k * ld + i] * front.inv_d[k]);
    add_rows(row + i, factors, front.U + done * ld + i, i - done, ld, front.rows - i);
    if (!(row[i] > real<T>(0))) return false;
    front.inv_d[i] = real<T>(1) / row[i];
  }
  return true;
}

// in: the matrix in w.U   False where it is not positive definite.
template <class T>
SARRUS_FN bool factorize_fronts(const FrontPlan& plan, Fronts<T>& w) {
  for (int f = 0; f < plan.fronts; ++f) w.head[f] = -1;
  auto wait = [&](int f, int row) {  // until the front that eliminates this row
    if (row == plan.begin[f + 1] - plan.begin[f]) return;
    int later = plan.front_of[plan.column[plan.begin[f] + row]];
    w.cursor[f] = row;
    w.next[f] = w.head[later];
    w.head[later] = f;
  };
  for (int f = 0; f < plan.fronts; ++f) {
    FrontRows<T> front = front_rows(plan, f, w);
    for (int i = 0; i < front.rows; ++i) w.at[front.column[i]] = i;
    for (int other = w.head[f], next; other >= 0; other = next) {
      next = w.next[other];
      FrontRows<T> from = front_rows(plan, other, w);
      int begin = w.cursor[other], end = begin;
      while (end < from.rows && plan.front_of[from.column[end]] == f) ++end;
      subtract_front(from, begin, end, front, w);
      wait(other, end);
    }
    if (!eliminate_front(front, w.factors)) return false;
    wait(f, front.pivots);
  }
  return true;
}

// Sum of products of n entries, any n
template <class T>
SARRUS_HD T product_of(const T* SARRUS_RESTRICT x, const T* SARRUS_RESTRICT y, int n) {
  constexpr int one = Vector<T>::size;
  T parts[4] = {};
  int j = 0;
  if (n >= 2 * one) {
    typename Vector<T>::type s = piece(x) * piece(y);
    for (j = one; j + one <= n; j += one) s += piece(x + j) * piece(y + j);
    for (int l = 0; l < one; ++l) parts[l % 4] += reinterpret_cast<const T*>(&s)[l];
  }
  for (; j + 4 <= n; j += 4)
    for (int l = 0; l < 4; ++l) parts[l] += x[j + l] * y[j + l];
  for (; j < n; ++j) parts[j % 4] += x[j] * y[j];
  return (parts[0] + parts[2]) + (parts[1] + parts[3]);
}

// x (n) <- A^-1 x
template <class T>
SARRUS_FN void solve_fronts(const FrontPlan& plan, const Fronts<T>& w, T* x) {
  T* here = w.factors;
  for (int f = 0; f < plan.fronts; ++f) {
    FrontRows<T> front = front_rows(plan, f, w);
    gather(here, x, front.column, front.rows);
    for (int k = 0; k < front.pivots; ++k) {
      T y = -(here[k] * front.inv_d[k]);
      add_rows(here + k + 1, &y, front.U + k * front.ld + k + 1, 1, 0, front.rows - k - 1);
    }
    scatter(x, front.column, here, front.rows);
  }
  for (int f = plan.fronts - 1; f >= 0; --f) {
    FrontRows<T> front = front_rows(plan, f, w);
    gather(here, x, front.column, front.rows);
    for (int k = front.pivots - 1; k >= 0; --k) {
      const T* row = front.U + k * front.ld;
      T s = here[k] - product_of(row + k + 1, here + k + 1, front.rows - k - 1);
      x[front.column[k]] = here[k] = s * front.inv_d[k];
    }
  }
}

SARRUS_END
