// L D L^T of a sparse symmetric positive definite matrix, front by front, left-looking [Ng1993].
//
// The pivot rows of a front hold its part of the matrix. What earlier fronts subtract from them is subtracted
// when their turn comes, then the pivots are eliminated. Rows are kept as D L^T: u_k = d_k l_k.
#pragma once

#include "algebra/elimination_order.hpp"
#include "base/padded_rows.hpp"

SARRUS_BEGIN

template <class T>
struct Fronts {
  T* U;              // (plan.entries) pivot rows: the matrix, then D L^T
  T* inv_d;          // (n) by position
  T *factors, *sum;  // (largest)
  int *at, *index;   // (n) place of a column in the front at hand, (largest) the same for another front
  int *head, *next, *cursor;  // (fronts) lists of the fronts that a front waits for, their first row in it

  SARRUS_HD void bind(Arena& arena, const FrontPlan& plan) {
    arena.take(plan.entries, U);
    arena.take(plan.n, inv_d, at);
    arena.take(plan.largest, factors, sum, index);
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

// Subtracts what the pivots of `from` take from the rows [begin, end) of `from` in `front`.
template <class T>
SARRUS_FN void subtract_front(const FrontRows<T>& from, int begin, int end, const FrontRows<T>& front,
                              Fronts<T>& w) {
  for (int b = begin; b < from.rows; ++b) w.index[b] = w.at[from.column[b]];
  for (int a = begin; a < end; ++a) {
    T* row = front.U + w.index[a] * front.ld;
    if (from.pivots == 1) {
      T factor = from.U[a] * from.inv_d[0];
      for (int b = a; b < from.rows; ++b) row[w.index[b]] -= factor * from.U[b];
      continue;
    }
    for (int k = 0; k < from.pivots; ++k) w.factors[k] = from.U[k * from.ld + a] * from.inv_d[k];
    fill(w.sum, from.rows - a);
    add_rows(w.sum, w.factors, from.U + a, from.pivots, from.ld, from.rows - a);
    for (int b = a; b < from.rows; ++b) row[w.index[b]] -= w.sum[b - a];
  }
}

// Eliminates the pivots of a front; false where one is not positive.
template <class T>
SARRUS_FN bool eliminate_front(const FrontRows<T>& front, T* factors) {
  for (int i = 0; i < front.pivots; ++i) {
    T* row = front.U + i * front.ld;
    for (int k = 0; k < i; ++k) factors[k] = -(front.U[k * front.ld + i] * front.inv_d[k]);
    add_rows(row + i, factors, front.U + i, i, front.ld, front.rows - i);
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

// x (n) <- A^-1 x
template <class T>
SARRUS_FN void solve_fronts(const FrontPlan& plan, const Fronts<T>& w, T* x) {
  T* here = w.factors;
  for (int f = 0; f < plan.fronts; ++f) {
    FrontRows<T> front = front_rows(plan, f, w);
    for (int i = 0; i < front.rows; ++i) here[i] = x[front.column[i]];
    for (int k = 0; k < front.pivots; ++k) {
      T y = -(here[k] * front.inv_d[k]);
      add_rows(here + k + 1, &y, front.U + k * front.ld + k + 1, 1, 0, front.rows - k - 1);
    }
    for (int i = 0; i < front.rows; ++i) x[front.column[i]] = here[i];
  }
  for (int f = plan.fronts - 1; f >= 0; --f) {
    FrontRows<T> front = front_rows(plan, f, w);
    for (int i = 0; i < front.rows; ++i) here[i] = x[front.column[i]];
    for (int k = front.pivots - 1; k >= 0; --k) {
      const T* row = front.U + k * front.ld;
      T s = here[k];
      for (int j = k + 1; j < front.rows; ++j) s -= row[j] * here[j];
      x[front.column[k]] = here[k] = s * front.inv_d[k];
    }
  }
}

SARRUS_END
