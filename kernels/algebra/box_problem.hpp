// The box problem: forces within bounds, of rows whose accelerations they change.
//
//   min_f  f.G f / 2 + g.f    with  low_k <= f_k <= high_k                                                (1)
//
// g are the accelerations without these forces, G what the forces add to them. Friction at rest has the
// bounds -c and c, a contact that pushes 0 and infinity. The accelerations g + G f are unique: zero along
// rows within their bounds, not negative on the lower one, not positive on the upper one. Where G is singular
// several f give them: of these the one of least norm is taken.
//
// A small weight on |f|^2 makes the problem strictly convex, so that a primal active-set method ends
// [Nocedal2006] algorithm 16.3; the forces between their bounds are then solved for without it.
#pragma once

#include "base/arena.hpp"
#include "base/padded_rows.hpp"
#include "base/vectors.hpp"

SARRUS_BEGIN

constexpr double BOX_STILL = 1e-9;      // of the largest acceleration, also that by the forces: less is zero
constexpr double BOX_SINGULAR = 1e-10;  // of the largest entry of G: pivots below count as zero
constexpr double BOX_REGULAR = 1e-11;   // of the same: weight of |f|^2
constexpr double BOX_LOOSE = 1e-6;      // entry of a null vector of G from which on a force is not unique
constexpr double BOX_UNBOUNDED = 1e300;

struct BoxProblem {
  int n = 0;                   // rows
  double *G, *g, *low, *high;  // (n, n), (n): what is given
  double *f, *rate;            // (n): the forces and g + G f, rounding left out
  unsigned char* unique;       // (n) whether every solution has this force
  double *H, *L, *x, *z, *c;   // room: (n, n), (n, n), (n)
  int *bound, *order;          // (n) -1, 1: on its lower, upper bound; 0: between

  SARRUS_HD void bind(Arena& arena, int most) {
    arena.take(most * most, G, H, L);
    arena.take(most, g, low, high, f, rate, x, z, c);
    arena.take(most, unique);
    arena.take(most, bound, order);
  }
  SARRUS_HD double entry(int i, int j) const { return G[i * n + j]; }
};

// Pivoted Cholesky factors of the rows `order`[0 .. count) of G: G = B B^T with B (count, rank) in b.L, by
// rows of stride n. Returns the rank; pivots below `least` count as zero.
SARRUS_FN int semidefinite_factors(BoxProblem& b, int count, double least) {
  double* left = b.z;  // diagonal of what is left
  for (int i = 0; i < count; ++i) left[i] = b.entry(b.order[i], b.order[i]);
  for (int k = 0; k < count; ++k) {
    int p = k;
    for (int i = k + 1; i < count; ++i) p = left[i] > left[p] ? i : p;
    if (!(left[p] > least)) return k;
    swap_(b.order[k], b.order[p]);
    swap_(left[k], left[p]);
    for (int j = 0; j < k; ++j) swap_(b.L[k * b.n + j], b.L[p * b.n + j]);
    double d = sqrt_(left[k]);
    b.L[k * b.n + k] = d;
    for (int i = k + 1; i < count; ++i) {
      double s = b.entry(b.order[i], b.order[k]);
      for (int j = 0; j < k; ++j) s -= b.L[i * b.n + j] * b.L[k * b.n + j];
      b.L[i * b.n + k] = s / d;
      left[i] -= s / d * (s / d);
    }
  }
  return count;
}

// x <- (B^T B)^-1 x for B (count, rank) of semidefinite_factors(); H is used
SARRUS_FN void solve_normal(BoxProblem& b, int count, int rank, double* x) {
  for (int i = 0; i < rank; ++i)
    for (int j = 0; j <= i; ++j) {
      double s = 0;
      for (int k = i; k < count; ++k) s += b.L[k * b.n + i] * b.L[k * b.n + j];
      for (int k = 0; k < j; ++k) s -= b.H[i * b.n + k] * b.H[j * b.n + k];
      b.H[i * b.n + j] = i == j ? sqrt_(s) : s / b.H[j * b.n + j];
    }
  for (int i = 0; i < rank; ++i) {
    for (int j = 0; j < i; ++j) x[i] -= b.H[i * b.n + j] * x[j];
    x[i] /= b.H[i * b.n + i];
  }
  for (int i = rank - 1; i >= 0; --i) {
    for (int j = i + 1; j < rank; ++j) x[i] -= b.H[j * b.n + i] * x[j];
    x[i] /= b.H[i * b.n + i];
  }
}

// z of least |H z + x|^2 over the rows that are free (bound 0), by Cholesky: H_FF z_F = -x_F
SARRUS_FN void solve_free_rows(BoxProblem& b) {
  int count = 0, n = b.n;
  for (int i = 0; i < n; ++i)
    if (b.bound[i] == 0) b.order[count++] = i;
  for (int a = 0; a < count; ++a) {
    for (int j = 0; j <= a; ++j) {
      double s = b.H[b.order[a] * n + b.order[j]];
      for (int k = 0; k < j; ++k) s -= b.L[a * n + k] * b.L[j * n + k];
      b.L[a * n + j] = a == j ? sqrt_(s) : s / b.L[j * n + j];
    }
    double s = -b.x[b.order[a]];
    for (int k = 0; k < a; ++k) s -= b.L[a * n + k] * b.z[b.order[k]];
    b.z[b.order[a]] = s / b.L[a * n + a];
  }
  for (int a = count - 1; a >= 0; --a) {
    double s = b.z[b.order[a]];
    for (int k = a + 1; k < count; ++k) s -= b.L[k * n + a] * b.z[b.order[k]];
    b.z[b.order[a]] = s / b.L[a * n + a];
  }
}

// Largest entry of G
SARRUS_HD double box_size(const BoxProblem& b) {
  double size = 0;
  for (int i = 0; i < b.n * b.n; ++i) size = abs_(b.G[i]) > size ? abs_(b.G[i]) : size;
  return size;
}

// Whether the acceleration of a contact is prescribed by other rows: no push changes it
SARRUS_HD bool prescribed(const BoxProblem& b, int i, double size) {
  return b.high[i] >= BOX_UNBOUNDED && b.entry(i, i) <= BOX_SINGULAR * size;
}

// How large force i can be: its bounds, or of a contact what the accelerations of its row ask for
SARRUS_HD double size_of_force(const BoxProblem& b, int i, double size) {
  double low = abs_(b.low[i]), high = abs_(b.high[i]), rate = abs_(b.g[i]);
  double most = low > high ? low : high;
  if (b.high[i] < BOX_UNBOUNDED) return most > 0 ? most : 1;
  if (prescribed(b, i, size)) return low > 0 ? low : 1;
  for (int j = 0; j < b.n; ++j)
    if (b.high[j] < BOX_UNBOUNDED) rate += abs_(b.entry(i, j)) * b.high[j];
  double push = low + rate / b.entry(i, i);
  return push > 0 ? push : 1;
}

// The problem in y = f / c with the weight of |f|^2 in H; y at its start in b.f
SARRUS_FN void scale_problem(BoxProblem& b, double size) {
  int n = b.n;
  double push = 0;
  for (int i = 0; i < n; ++i) {
    b.c[i] = size_of_force(b, i, size);
    push = abs_(b.g[i]) / b.c[i] > push ? abs_(b.g[i]) / b.c[i] : push;
    b.bound[i] = b.high[i] >= BOX_UNBOUNDED ? -1 : 0;
    b.f[i] = b.bound[i] ? b.low[i] / b.c[i] : 0;
  }
  double weight = BOX_REGULAR * (size > push ? size : push);
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) b.H[i * n + j] = (b.entry(i, j) + (i == j ? weight : 0)) * b.c[i] * b.c[j];
}

// From y towards the minimum z over the free rows, as far as the bounds allow. Returns the row that meets its
// bound first, which it stays on; -1: none does.
SARRUS_FN int step_within_bounds(BoxProblem& b) {
  double part = 1;
  int first = -1;
  for (int i = 0; i < b.n; ++i) {
    if (b.bound[i] != 0) continue;
    double low = b.low[i] / b.c[i], high = b.high[i] / b.c[i], step = b.z[i] - b.f[i];
    double allowed = b.z[i] < low ? (low - b.f[i]) / step : b.z[i] > high ? (high - b.f[i]) / step : 1;
    if (allowed < part) part = allowed, first = i;
  }
  for (int i = 0; i < b.n; ++i)
    if (b.bound[i] == 0) b.f[i] += part * (b.z[i] - b.f[i]);
  if (first < 0) return -1;
  b.bound[first] = b.z[first] < b.f[first] ? -1 : 1;
  b.f[first] = (b.bound[first] < 0 ? b.low[first] : b.high[first]) / b.c[first];
  return first;
}

// The row on a bound whose release gains most, -1: none
SARRUS_FN int row_to_release(const BoxProblem& b, double size) {
  double most = 0;
  int found = -1;
  for (int i = 0; i < b.n; ++i) {
    if (b.bound[i] == 0 || b.low[i] == b.high[i] || prescribed(b, i, size)) continue;
    double slope = b.c[i] * b.g[i];
    for (int j = 0; j < b.n; ++j) slope += b.H[i * b.n + j] * b.f[j];
    double gain = b.bound[i] < 0 ? -slope : slope;
    if (gain > most && gain > 1e-14 * b.H[i * b.n + i]) most = gain, found = i;
  }
  return found;
}

// Which rows are on their bounds, and the forces f of the problem with the weight
SARRUS_FN void find_bounds(BoxProblem& b, double size) {
  int n = b.n;
  scale_problem(b, size);
  for (int round = 0; round < 20 * n + 100; ++round) {
    for (int i = 0; i < n; ++i) {
      b.x[i] = b.c[i] * b.g[i];
      for (int j = 0; j < n; ++j)
        if (b.bound[j] != 0) b.x[i] += b.H[i * n + j] * b.f[j];
    }
    solve_free_rows(b);
    if (step_within_bounds(b) >= 0) continue;
    int released = row_to_release(b, size);
    if (released < 0) break;
    b.bound[released] = 0;
  }
  for (int i = 0; i < n; ++i)
    b.f[i] = b.bound[i] < 0 ? b.low[i] : b.bound[i] > 0 ? b.high[i] : b.c[i] * b.f[i];
}

// What the other forces leave of row i for those between their bounds
SARRUS_FN double left_for_free(const BoxProblem& b, int i) {
  double right = -b.g[i];
  for (int j = 0; j < b.n; ++j)
    if (b.bound[j] != 0) right -= b.entry(i, j) * b.f[j];
  return right;
}
// The forces between their bounds without the weight, of least norm, where these stay within the bounds
SARRUS_FN void solve_without_weight(BoxProblem& b, double size) {
  int count = 0, n = b.n;
  for (int i = 0; i < n; ++i)
    if (b.bound[i] == 0) b.order[count++] = i;
  int rank = semidefinite_factors(b, count, BOX_SINGULAR * size);
  auto columns = [&](int a) { return a < rank ? a + 1 : rank; };  // of row a of L
  for (int k = 0; k < rank; ++k) b.x[k] = 0;
  for (int a = 0; a < count; ++a) {
    double right = left_for_free(b, b.order[a]);
    for (int k = 0; k < columns(a); ++k) b.x[k] += b.L[a * n + k] * right;
  }
  solve_normal(b, count, rank, b.x);
  solve_normal(b, count, rank, b.x);
  for (int a = 0; a < count; ++a) {
    double s = 0;
    for (int k = 0; k < columns(a); ++k) s += b.L[a * n + k] * b.x[k];
    b.z[b.order[a]] = s;
  }
  auto beyond = [&](int a) {
    int i = b.order[a];
    return !(b.z[i] >= b.low[i] && b.z[i] <= b.high[i]);
  };
  if (any_of(count, beyond)) return;
  for (int a = 0; a < count; ++a) b.f[b.order[a]] = b.z[b.order[a]];
}

// Which forces the accelerations determine: of rows at rest, those without part in null vectors of G
SARRUS_FN void find_unique(BoxProblem& b, double size) {
  int count = 0, n = b.n;
  for (int i = 0; i < n; ++i) {
    b.unique[i] = 1;
    if (b.rate[i] == 0) b.order[count++] = i;
  }
  int rank = semidefinite_factors(b, count, BOX_SINGULAR * size);
  for (int a = 0; a < count && rank < count; ++a) {  // 1 - |B (B^T B)^-1 B^T e_a|
    for (int k = 0; k < rank; ++k) b.x[k] = k <= a ? b.L[a * n + k] : 0;
    solve_normal(b, count, rank, b.x);
    double s = 1;
    for (int k = 0; k <= a && k < rank; ++k) s -= b.L[a * n + k] * b.x[k];
    b.unique[b.order[a]] = s <= BOX_LOOSE * BOX_LOOSE;
  }
}

// f, rate, unique of (1)
SARRUS_FN void solve_box(BoxProblem& b) {
  int n = b.n;
  double size = box_size(b), most = 0;
  find_bounds(b, size);
  solve_without_weight(b, size);
  for (int i = 0; i < n; ++i) {
    double sum = b.g[i], sizes = 0;
    for (int j = 0; j < n; ++j) {
      double force = b.high[j] < BOX_UNBOUNDED ? b.high[j] : abs_(b.f[j]);
      sum += b.entry(i, j) * b.f[j], sizes += abs_(b.entry(i, j)) * force;
    }
    b.rate[i] = !prescribed(b, i, size) ? sum : b.g[i] > 0 ? b.g[i] : 0;
    most = abs_(b.g[i]) > most ? abs_(b.g[i]) : most;
    most = sizes > most ? sizes : most;
  }
  for (int i = 0; i < n; ++i)
    if (abs_(b.rate[i]) <= BOX_STILL * most || (n == 1 && b.bound[i] == 0)) b.rate[i] = 0;
  find_unique(b, size);
}

SARRUS_END
