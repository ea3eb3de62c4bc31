// Small dense quadratic programs by a dual active-set method, [Goldfarb1983].
//
//   min (z - z0)^T H (z - z0) / 2    subject to    lower <= A z <= upper                                  (1)
//
// From the minimum without rows, z0, the row that is violated most is added to the active ones, which are
// held as equalities; active rows whose multiplier would change its sign are let go on the way. With the
// active normals N (n, q),
//
//   H = L L^T,   L^-1 N = Q [R; 0],   W = L^-T Q                                                          (2)
//
// Rows with lower = upper are added first and never let go; rows that were active in a program like this one
// come next. The solution is computed afresh from the active rows.
#pragma once

#include "algebra/triangular.hpp"
#include "base/arena.hpp"
#include "base/padded_rows.hpp"

namespace sarrus {

// The program (1)
template <class R>
struct Program {
  int n, m;
  const R *z0, *H, *A, *lower, *upper;  // (n), (n, n) or null for 1, (m, n), (m), (m)
  R tol;                                // largest violation of a row of unit length
  const int* hint = nullptr;            // rows (hints) that are tried first: those held in a program like it
  int hints = 0;
};

// NOT_CONVERGED: too many iterations, or H not positive definite. INSIDE: nothing had to be solved.
enum ProgramStatus : int { OPTIMAL = 0, INFEASIBLE = 1, NOT_CONVERGED = 2, INSIDE = 3 };

template <class R>
struct ProgramSolution {
  ProgramStatus status;
  const R* z;         // (n)
  const int* active;  // rows that are held (count)
  int count, iterations;
};

}  // namespace sarrus

SARRUS_BEGIN

constexpr double DEPENDENT = 1e-11;  // a normal counts as dependent on the active ones below this share of it
constexpr double ROUNDED = 1e-13;    // rows shorter than this, or than this share of the longest, are zero
constexpr int REFINEMENTS = 3;

template <class T>
struct ProgramWork {
  T *W, *R, *z, *d, *step, *r;  // (n, n) by columns, (n, n) by columns, (n) each
  T *u, *size;                  // multipliers of the active rows (n + 1), lengths of all rows (m)
  int *active, *state;          // rows by position (n); per row 0, or the side at which it is held (m)
  int q, fixed, iterations;     // active rows, how many of them for good

  SARRUS_HD ProgramWork(const Program<T>& p, Arena& arena) {
    arena.take(p.n * p.n, W, R);
    arena.take(p.n, z, d, step, active);
    arena.take(p.n + 1, r, u);
    arena.take(p.m, size, state);
  }
};

// Lengths of all rows; those that are nothing but rounding are zero
template <class T>
SARRUS_HD void measure_rows(const Program<T>& p, ProgramWork<T>& w) {
  T longest = T(1);
  for (int i = 0; i < p.m; ++i) {
    const T* row = p.A + i * p.n;
    w.size[i] = sqrt_(inner(row, row, p.n));
    longest = larger(w.size[i], longest);
  }
  for (int i = 0; i < p.m; ++i)
    if (w.size[i] < ROUNDED * longest) w.size[i] = T(0);
}

// W = L^-T of H = L L^T, by columns; false where H is not positive definite
template <class T>
SARRUS_FN bool begin(const Program<T>& p, ProgramWork<T>& w) {
  int n = p.n;
  copy(w.z, p.z0, n);
  measure_rows(p, w);
  fill(w.state, p.m);
  w.q = w.fixed = w.iterations = 0;
  set_identity(w.W, n);
  if (!p.H) return true;
  T* L = w.R;  // its room is free until rows become active
  if (!cholesky(p.H, n, L)) return false;
  for (int c = 0; c < n; ++c) upper_inverse_column(L, n, c, w.W + c * n);
  return true;
}

// d = W^T (side times row), the step W_2 d_2 of z, and r = R^-1 d_1; returns |d_2|^2
template <class T>
SARRUS_FN T directions(const Program<T>& p, int row, int side, ProgramWork<T>& w) {
  int n = p.n;
  for (int c = 0; c < n; ++c) w.d[c] = inner(w.W + c * n, p.A + row * n, n) * T(side);
  combine_rows(w.step, w.d + w.q, w.W + w.q * n, n - w.q, n);
  for (int k = w.q - 1; k >= 0; --k) {
    T s = w.d[k];
    for (int c = k + 1; c < w.q; ++c) s -= w.R[c * n + k] * w.r[c];
    w.r[k] = s / w.R[k * n + k];
  }
  return inner(w.d + w.q, w.d + w.q, n - w.q);
}

// Turn the columns a and b of W so that y of (x, y) becomes zero; x becomes the length.
template <class T>
SARRUS_HD void turn_columns(T& x, T& y, T* a, T* b, int n, T& c, T& s) {
  T length = sqrt_(x * x + y * y);
  c = length > 0 ? x / length : T(1), s = length > 0 ? y / length : T(0);
  x = length, y = T(0);
  for (int i = 0; i < n; ++i) {
    T t = c * a[i] + s * b[i];
    b[i] = c * b[i] - s * a[i];
    a[i] = t;
  }
}

// The row whose d was just computed becomes the last active one.
template <class T>
SARRUS_FN void hold(const Program<T>& p, int row, int side, T multiplier, ProgramWork<T>& w) {
  int n = p.n;
  T c, s;
  for (int k = n - 1; k > w.q; --k) turn_columns(w.d[k - 1], w.d[k], w.W + (k - 1) * n, w.W + k * n, n, c, s);
  for (int k = 0; k <= w.q; ++k) w.R[w.q * n + k] = w.d[k];
  w.u[w.q] = multiplier;
  w.active[w.q] = row;
  w.state[row] = side;
  ++w.q;
}

// The active row at a position is let go.
template <class T>
SARRUS_FN void release(const Program<T>& p, int at, ProgramWork<T>& w) {
  int n = p.n;
  w.state[w.active[at]] = 0;
  --w.q;
  for (int k = at; k < w.q; ++k) {
    w.active[k] = w.active[k + 1];
    w.u[k] = w.u[k + 1];
    copy(w.R + k * n, w.R + (k + 1) * n, n);
  }
  for (int k = at; k < w.q; ++k) {  // the columns behind it have one entry too many each
    T c, s;
    turn_columns(w.R[k * n + k], w.R[k * n + k + 1], w.W + k * n, w.W + (k + 1) * n, n, c, s);
    for (int j = k + 1; j < w.q; ++j) {
      T &x = w.R[j * n + k], &y = w.R[j * n + k + 1], t = c * x + s * y;
      y = c * y - s * x;
      x = t;
    }
  }
}

// By how much z violates a row, and at which side of it z would be held
template <class T>
SARRUS_HD T violation(const Program<T>& p, int row, const T* z, int& side) {
  T y = inner(p.A + row * p.n, z, p.n), below = p.lower[row] - y, above = y - p.upper[row];
  side = below >= above ? 1 : -1;
  return side > 0 ? below : above;
}

// The active row whose multiplier reaches zero first, after a step `length` along w.r; -1 where none does
template <class T>
SARRUS_HD int first_to_drop(const ProgramWork<T>& w, T& length) {
  int drop = -1;
  for (int k = w.fixed; k < w.q; ++k) {
    if (!(w.r[k] > 0) || (drop >= 0 && !(w.u[k] < length * w.r[k]))) continue;
    drop = k;
    length = w.u[k] / w.r[k];
  }
  return drop;
}

// Whether the row of w.d, `reach` of whose squared length is left, depends on the active ones
template <class T>
SARRUS_HD bool depends_on_active(const Program<T>& p, const T& reach, const ProgramWork<T>& w) {
  return !(reach > DEPENDENT * DEPENDENT * inner(w.d, w.d, p.n)) || w.q == p.n;
}

// Bring one violated row to its bound, letting go of others where needed.
template <class T>
SARRUS_FN ProgramStatus bring(const Program<T>& p, int row, int side, int most, ProgramWork<T>& w) {
  T multiplier = T(0);
  while (++w.iterations < most) {
    int ignored;
    T far = violation(p, row, w.z, ignored), reach = directions(p, row, side, w), until_drop = T(0);
    bool dependent = depends_on_active(p, reach, w);
    if (dependent && far <= p.tol * w.size[row]) return OPTIMAL;
    int drop = first_to_drop(w, until_drop);
    if (dependent && drop < 0) return INFEASIBLE;
    T full = dependent ? T(0) : far / reach;
    bool drops = dependent || (drop >= 0 && until_drop < full);
    T length = drops ? until_drop : full;
    if (!dependent) add_scaled(w.z, length, w.step, p.n);
    subtract_scaled(w.u, length, w.r, w.q);
    multiplier += length;
    if (!drops) {
      hold(p, row, side, multiplier, w);
      return OPTIMAL;
    }
    release(p, drop, w);
  }
  return NOT_CONVERGED;
}

// z afresh: z0 + W_1 R^-T (bounds - A z0) for the active rows
template <class T>
SARRUS_FN void refine(const Program<T>& p, ProgramWork<T>& w) {
  int n = p.n;
  copy(w.z, p.z0, n);
  for (int k = 0; k < w.q; ++k) {
    int row = w.active[k], side = w.state[row];
    T bound = side > 0 ? p.lower[row] : p.upper[row];
    T s = (bound - inner(p.A + row * n, p.z0, n)) * T(side);
    s = less_products(s, w.R + k * n, w.r, k);
    w.r[k] = s / w.R[k * n + k];
  }
  for (int k = 0; k < w.q; ++k) add_scaled(w.z, w.r[k], w.W + k * n, n);
}

// w.u = R^-1 r, after refine()
template <class T>
SARRUS_HD void find_multipliers(const Program<T>& p, ProgramWork<T>& w) {
  for (int k = w.q - 1; k >= 0; --k) {
    T s = w.r[k];
    for (int c = k + 1; c < w.q; ++c) s -= w.R[c * p.n + k] * w.u[c];
    w.u[k] = s / w.R[k * p.n + k];
  }
}

// The violated row that is farthest off, or -1
template <class T>
SARRUS_FN int farthest(const Program<T>& p, const ProgramWork<T>& w, int& side) {
  int found = -1, s;
  T most = p.tol;
  for (int i = 0; i < p.m; ++i) {
    if (w.state[i]) continue;
    T far = violation(p, i, w.z, s);
    bool zero = w.size[i] == 0;
    if (zero ? far > p.tol : far > most * w.size[i]) {
      most = zero ? most : far / w.size[i];
      found = i, side = s;
    }
  }
  return found;
}

template <class T>
SARRUS_HD int most_iterations(const Program<T>& p) {
  return 50 + 10 * (p.n + p.m);
}

// Add violated rows until none is left
template <class T>
SARRUS_FN ProgramStatus add_violated(const Program<T>& p, int most, ProgramWork<T>& w) {
  int side = 1;
  for (int round = 0; round < REFINEMENTS; ++round) {
    int row, added = 0;
    while ((row = farthest(p, w, side)) >= 0) {
      ++added;
      if (w.size[row] == 0) return INFEASIBLE;
      ProgramStatus status = bring(p, row, side, most, w);
      if (status != OPTIMAL) return status;
    }
    if (round && !added) break;
    refine(p, w);
  }
  return OPTIMAL;
}

template <class T>
SARRUS_FN ProgramStatus find_active_rows(const Program<T>& p, ProgramWork<T>& w) {
  int most = most_iterations(p), side = 1;
  for (int i = 0; i < p.m; ++i)
    if (p.lower[i] == p.upper[i] && w.size[i] > 0) {
      violation(p, i, w.z, side);
      ProgramStatus status = bring(p, i, side, most, w);
      if (status != OPTIMAL) return status;
      w.fixed = w.q;
    }
  for (int i = 0; i < p.hints; ++i) {
    int row = p.hint[i];
    if (row >= p.m || w.state[row] || w.size[row] == 0) continue;
    if (!(violation(p, row, w.z, side) > p.tol * w.size[row])) continue;
    ProgramStatus status = bring(p, row, side, most, w);
    if (status != OPTIMAL) return status;
  }
  return add_violated(p, most, w);
}

template <class T>
SARRUS_FN ProgramSolution<T> solve_program(const Program<T>& p, ProgramWork<T>& w) {
  ProgramStatus status = begin(p, w) ? find_active_rows(p, w) : NOT_CONVERGED;
  return {status, w.z, w.active, w.q, w.iterations};
}

// The same for a program that differs from the last one, which was solved with w, in z0 alone: its active
// rows stay, where their multipliers R^-1 r do not change sign.
template <class T>
SARRUS_FN ProgramSolution<T> solve_again(const Program<T>& p, ProgramWork<T>& w) {
  refine(p, w);
  find_multipliers(p, w);
  w.iterations = 0;
  for (int k = w.fixed; k < w.q; ++k)
    if (w.u[k] < 0) return solve_program(p, w);
  return {add_violated(p, most_iterations(p), w), w.z, w.active, w.q, w.iterations};
}

SARRUS_END
