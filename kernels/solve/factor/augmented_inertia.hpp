// Constrained dynamics of large mechanisms away from singular poses: the augmented inertia
//
//   H = M + J^T W J,   M a - J^T lam = f,  J a = g                                                       (1)
//   a <- a + H^-1 (r_f + J^T W r_g),   lam <- lam + W (r_g - J da)                                        (2)
//
// r_f, r_g are what is left of (1): the augmented Lagrangian method [Bayo1996] with refinement. H is positive
// definite, its pattern does not depend on the pose, and its order of elimination is found once
// (algebra/elimination_order.hpp). Each iteration reduces the error by 1 / (1 + W s^2), s^2 the smallest
// eigenvalue of J M^-1 J^T, and by the rounding of H: three or four of them reach the accuracy of the
// orthogonal factorization (docs/decisions/0033-augmented-inertia.md).
//
// Only rows that are independent take part. That s is far from zero is watched by power iteration on
//
//   B = (1 + W^1/2 J M^-1 J^T W^1/2)^-1 = 1 - W^1/2 J H^-1 J^T W^1/2                                      (3)
//
// whose largest eigenvalue is 1 / (1 + W s^2). Elsewhere the orthogonal factorization decides the rank.
#pragma once

#include "algebra/front_factorization.hpp"
#include "constraints/constraints.hpp"
#include "tree/articulated_inertia.hpp"

SARRUS_BEGIN

constexpr double LEAST_AUGMENT = 1e6,
                 MOST_AUGMENT = 1e9;  // W, relative to 1 / (J diag(M)^-1 J^T) of each row
constexpr double LESS_AUGMENT = 1e6;  // at most, where rounding leaves H not positive definite: long chains
constexpr double AUGMENTED = 4e4;     // W s^2: three iterations reach SOLVED
constexpr double LEAST_SHARE = 2e-4;  // sqrt(s^2) / W below which the orthogonal factorization acts
constexpr double SURELY_DEPENDENT = 1e-9, SURELY_INDEPENDENT = 1e-3;  // rows among those of their element
constexpr int MOST_SOLVES = 12;                                       // iterations (2)
constexpr double SOLVED = 1e-13, SOLVED_ENOUGH = 1e-9;  // expected next change, and last one, relative
constexpr double DROPPED_ROW = 1e-8;                    // what rows that were left out may miss, relative

// What solve/factor/few_rows.hpp keeps instead of H, where the plan says so
template <class T>
struct FewRows {
  Articulated<T> tree;
  T* X;                             // (rows, nv) M^-1 J^T of the rows that take part
  T *S, *L, *scaled, *vectors, *y;  // (rows, rows) J M^-1 J^T, factorized; room
  bool at_tree = false;             // M is that of the poses at hand: its entries were not computed

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    tree.bind(arena, m);
    arena.take(m.nc * static_cast<long>(m.nv), X);
    arena.take(m.nc * m.nc, S, L, scaled, vectors);
    arena.take(m.nc, y);
  }
};

template <class T>
struct Augmented {
  Fronts<T> fronts;
  FewRows<T> few;
  T *rows, *branches;             // entries of J, group by group, and of M, as in each_branch(): those of H
  T *rows_now, *branches_now;     // the same at the last evaluation
  T *weight, *lam, *gap, *probe;  // (nc) W; multipliers; r_g; vector of the power iteration
  T *force, *change, *light;      // (nv); 1 / M_jj
  T* near;                        // (nq) a pose nearby
  T* room;                        // (2, MAX_ROWS + 1, widest) rows of one group, and their rates
  unsigned char* taken;           // (nc) whether a row takes part
  int rank;                       // their number
  real<T> augment, most;          // W, relative, and its bound
  real<T> share;                  // s, relative: sqrt(W s^2 / augment)
  real<T> distance;               // share times the shortest row: zero at singular poses

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    fronts.bind(arena, *m.fronts);
    arena.take(m.fronts->row_entries, rows, rows_now);
    arena.take(m.fronts->branches, branches, branches_now);
    arena.take(m.nc, weight, lam, gap, probe, taken);
    arena.take(m.nv, force, change, light);
    arena.take(m.nq, near);
    arena.take(2 * (MAX_ROWS + 1) * padded(m.fronts->widest), room);
    if (m.fronts->few_rows) few.bind(arena, m);
  }
};

// visit(first row, number of rows, columns, their number) for every group of rows with the same columns
template <class R, class F>
SARRUS_HD void each_group(const Model<R>& m, F visit) {
  for (int i = 0; i < m.ne; ++i)
    visit(m.el_row[i], m.el_rows[i], m.sup_col + m.el_sup_begin[i], m.el_sup_end[i] - m.el_sup_begin[i]);
  for (int c = 0; c < m.nk; ++c) visit(m.k_row[c], 1, m.kt_v + m.k_begin[c], m.k_end[c] - m.k_begin[c]);
}

// visit(row, its entries, its columns, their number) for every row, whose entries are in `rows`
template <class T, class F>
SARRUS_HD void each_row(const Model<real<T>>& m, T* rows, F visit) {
  each_group(m, [&](int first, int count, const int* cols, int n) {
    for (int r = first; r < first + count; ++r, rows += n) visit(r, rows, cols, n);
  });
}

// The same for those that take part in H.
template <class T, class F>
SARRUS_HD void each_taken(const Model<real<T>>& m, const Augmented<T>& a, F visit) {
  each_row(m, a.rows, [&](int r, const T* row, const int* cols, int n) {
    if (a.taken[r]) visit(r, row, cols, n);
  });
}

// y (nc) = J x at the last evaluation
template <class T>
SARRUS_FN void rows_times(const Model<real<T>>& m, const Augmented<T>& a, const T* x, T* y) {
  each_row(m, a.rows_now, [&](int r, const T* row, const int* cols, int n) {
    y[r] = sum_of<T>(n, [&](int i) { return row[i] * x[cols[i]]; });
  });
}

// y (nc) = |J| |x| at the last evaluation
template <class T>
SARRUS_FN void rows_times_sizes(const Model<real<T>>& m, const Augmented<T>& a, const T* x, T* y) {
  each_row(m, a.rows_now, [&](int r, const T* row, const int* cols, int n) {
    y[r] = sum_of<T>(n, [&](int i) { return abs_(row[i] * x[cols[i]]); });
  });
}

// phi, b, gamma, and J by its entries   in: the state, t (placed and moved)
template <class T>
SARRUS_FN void constraints_by_entries(const Model<real<T>>& m, const State<T>& s, const Tree<T>& t,
                                      Rows<T>& r, Augmented<T>& a) {
  const int* begin = m.fronts->group_entry;
  element_rows(m, s, t, r, [&](int i, int k, int at, const T& x) {
    int first = m.el_sup_begin[i], n = m.el_sup_end[i] - first;
    a.rows_now[begin[i] + k * n + at - first] = x;
  });
  coupling_values(m, s, r);
  for (int c = 0; c < m.nk; ++c)
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i)
      a.rows_now[begin[m.ne + c] + i - m.k_begin[c]] = slope_of_term(m, i, s.q);
}

// The entries of dense J and M, and back
template <class T>
SARRUS_FN void pack_rows(const Model<real<T>>& m, const T* J, int ld, Augmented<T>& a) {
  each_row(m, a.rows_now, [&](int r, T* row, const int* cols, int n) {
    for (int i = 0; i < n; ++i) row[i] = J[r * static_cast<long>(ld) + cols[i]];
  });
}
template <class T>
SARRUS_FN void pack_entries(const Model<real<T>>& m, const T* J, const T* M, int ld, Augmented<T>& a) {
  T* entry = a.branches_now;
  a.few.at_tree = m.fronts->few_rows;
  if (!a.few.at_tree) each_branch(m, [&](int k, int j) { *entry++ = M[k * static_cast<long>(ld) + j]; });
  pack_rows(m, J, ld, a);
}
template <class T>
SARRUS_FN void unpack_entries(const Model<real<T>>& m, const Augmented<T>& a, int ld, T* J, T* M) {
  const T* entry = a.branches_now;
  if (M)
    each_branch(m, [&](int k, int j) {
      M[k * static_cast<long>(ld) + j] = M[j * static_cast<long>(ld) + k] = *entry++;
    });
  each_row(m, a.rows_now, [&](int r, const T* row, const int* cols, int n) {
    for (int i = 0; i < n; ++i) J[r * static_cast<long>(ld) + cols[i]] = row[i];
  });
}

// y_r = J_r x of the rows that take part
template <class T>
SARRUS_FN void taken_times(const Model<real<T>>& m, const Augmented<T>& a, const T* x, T* y) {
  each_taken(m, a, [&](int r, const T* row, const int* cols, int n) {
    y[r] = sum_of<T>(n, [&](int i) { return row[i] * x[cols[i]]; });
  });
}

// x (nv) += J^T y of the rows that take part
template <class T>
SARRUS_FN void add_taken_transposed(const Model<real<T>>& m, const Augmented<T>& a, const T* y, T* x) {
  each_taken(m, a, [&](int r, const T* row, const int* cols, int n) {
    for (int i = 0; i < n; ++i) x[cols[i]] += row[i] * y[r];
  });
}

// y (nv) = M x, by the entries at the last factorization
template <class T>
SARRUS_FN void branches_times(const Model<real<T>>& m, const Augmented<T>& a, const T* x, T* y) {
  const T* entry = a.branches;
  fill(y, m.nv);
  each_branch(m, [&](int k, int j) {
    y[k] += *entry * x[j];
    if (j != k) y[j] += *entry * x[k];
    ++entry;
  });
}

// Rows that are independent of the other rows of their element; false where that is not clear.
template <class T>
SARRUS_FN bool choose_rows(const Model<real<T>>& m, Augmented<T>& a) {
  bool clear = true;
  int width = padded(m.fronts->widest);
  a.rank = 0;
  const T* row = a.rows_now;
  each_group(m, [&](int first, int rows, const int* cols, int n) {
    int kept = 0;
    for (int r = first; r < first + rows; ++r, row += n) {
      T *y = a.room + kept * width, left = T(0);
      for (int i = 0; i < n; ++i) y[i] = row[i] * (m.unit[cols[i]] / m.row_unit[r]);
      for (int k = 0; k < kept; ++k) {
        const T* e = a.room + k * width;
        T s = sum_of<T>(n, [&](int i) { return e[i] * y[i]; });
        subtract_scaled(y, s, e, n);
      }
      left = plus_products(left, y, y, n);
      left = sqrt_(left);
      a.taken[r] = left > real<T>(SURELY_INDEPENDENT);
      clear = clear && (a.taken[r] || left < real<T>(SURELY_DEPENDENT));
      if (!a.taken[r]) continue;
      for (int i = 0; i < n; ++i) y[i] = y[i] / left;
      ++kept;
    }
    a.rank += kept;
  });
  return clear;
}

// Adds J^T W J of one group, whose rows are weighted in a.room, to the entries `to`; returns behind them.
template <class T>
SARRUS_HD const int* add_products(int kept, int n, int width, const int* to, Augmented<T>& a) {
  T *U = a.fronts.U, *sum = a.room + kept * width;
  for (int i = 0; i < n; ++i) {
    for (int j = 0; j <= i; ++j) sum[j] = T(0);
    for (int k = 0; k < kept; ++k) {
      const T* y = a.room + k * width;
      T yi = y[i];
      for (int j = 0; j <= i; ++j) sum[j] += yi * y[j];
    }
    for (int j = 0; j <= i; ++j) U[to[j]] += sum[j];
    to += i + 1;
  }
  return to;
}

// H at the last evaluation, factorized; false where it is not positive definite   in: a.taken
template <class T>
SARRUS_FN bool factorize_augmented(const Model<real<T>>& m, Augmented<T>& a) {
  const FrontPlan& plan = *m.fronts;
  fill(a.fronts.U, plan.entries);
  copy(a.branches, a.branches_now, plan.branches);
  copy(a.rows, a.rows_now, plan.row_entries);
  const int* to = plan.inertia_target;
  const T *entry = a.branches, *row = a.rows;
  each_branch(m, [&](int k, int j) {
    a.fronts.U[*to++] += *entry;
    if (j == k) a.light[k] = real<T>(1) / *entry;
    ++entry;
  });
  int width = padded(plan.widest);
  to = plan.group_target;
  each_group(m, [&](int first, int rows, const int* cols, int n) {
    int kept = 0;
    for (int r = first; r < first + rows; ++r, row += n) {
      if (!a.taken[r]) continue;
      T s = T(0), *y = a.room + kept++ * width;
      for (int i = 0; i < n; ++i) s += row[i] * row[i] * a.light[cols[i]];
      a.weight[r] = a.augment / s;
      T root = sqrt_(a.weight[r]);
      set_scaled(y, root, row, n);
    }
    to = add_products(kept, n, width, to, a);
  });
  return factorize_fronts(plan, a.fronts);
}

// One step of the power iteration (3); returns the estimate of the largest eigenvalue of B.
template <class T>
SARRUS_FN T probe_augmented(const Model<real<T>>& m, Augmented<T>& a) {
  fill(a.change, m.nv);
  for (int r = 0; r < m.nc; ++r) a.gap[r] = a.taken[r] ? a.probe[r] * sqrt_(a.weight[r]) : T(0);
  add_taken_transposed(m, a, a.gap, a.change);
  solve_fronts(*m.fronts, a.fronts, a.change);
  taken_times(m, a, a.change, a.gap);
  T before = T(0), after = T(0);
  for (int r = 0; r < m.nc; ++r) {
    if (!a.taken[r]) continue;
    T x = a.probe[r] - a.gap[r] * sqrt_(a.weight[r]);
    before += a.probe[r] * a.probe[r];
    after += x * x;
    a.gap[r] = x;
  }
  T size = sqrt_(after);
  for (int r = 0; r < m.nc; ++r) a.probe[r] = a.taken[r] ? a.gap[r] / size : T(0);
  return size / sqrt_(before);
}

// A vector for the power iteration that no direction is likely to be orthogonal to.
template <class T>
SARRUS_FN void begin_probe(const Model<real<T>>& m, Augmented<T>& a) {
  unsigned x = 1;
  for (int r = 0; r < m.nc; ++r) {
    x = x * 1664525u + 1013904223u;
    a.probe[r] = T(real<T>(x >> 8) / (1 << 23) - real<T>(1));
  }
}

// The shortest row that takes part, without units: a row that vanishes is a singular pose.
template <class T>
SARRUS_FN real<T> shortest_row(const Model<real<T>>& m, const Augmented<T>& a) {
  real<T> least = 1e300;
  each_taken(m, a, [&](int r, const T* row, const int* cols, int n) {
    T squared = T(0);
    for (int i = 0; i < n; ++i) {
      T x = row[i] * (m.unit[cols[i]] / m.row_unit[r]);
      squared += x * x;
    }
    real<T> length = value(sqrt_(squared));
    least = smaller(length, least);
  });
  return least;
}

// out: a.share and a.distance, after so many steps of the power iteration
template <class T>
SARRUS_FN void watch_augmented(const Model<real<T>>& m, int steps, Augmented<T>& a) {
  T largest = T(0);
  for (int i = 0; i < steps; ++i) largest = probe_augmented(m, a);
  a.share = sqrt_((real<T>(1) / largest - real<T>(1)) / a.augment);
  a.distance = a.share * shortest_row(m, a);
}

// Chooses W for the next factorization by a.share.
template <class T>
SARRUS_HD void choose_augment(Augmented<T>& a) {
  real<T> wanted = real<T>(AUGMENTED) / (a.share * a.share);
  a.augment = smaller(wanted, a.most);
  if (!(a.augment > real<T>(LEAST_AUGMENT))) a.augment = real<T>(LEAST_AUGMENT);
}

// What (1) asks for
template <class T>
struct AugmentedTask {
  const T *g, *f;  // (nc), (nv)
  int most;        // iterations
  real<T> scale;   // of the result, without units
};

// a.force = r_f + J^T W r_g, and lam + W r_g, at x; times(x, y): y = M x
template <class T, class Times>
SARRUS_FN void augmented_forces(const Model<real<T>>& m, const AugmentedTask<T>& task, const T* x,
                                bool at_zero, Times times, Augmented<T>& a) {
  if (at_zero) {
    copy(a.force, task.f, m.nv);
    multiply(a.lam, a.weight, task.g, m.nc);
    return add_taken_transposed(m, a, a.lam, a.force);
  }
  times(x, a.force);
  taken_times(m, a, x, a.gap);
  for (int r = 0; r < m.nc; ++r) a.lam[r] += a.weight[r] * (task.g[r] - a.gap[r]);
  set_difference(a.force, task.f, a.force, m.nv);
  add_taken_transposed(m, a, a.lam, a.force);
}

// x (nv) of (1); false where the iteration (2) does not get there
template <class T, class Times>
SARRUS_FN bool solve_augmented(const Model<real<T>>& m, AugmentedTask<T> task, Times times, T* x,
                               Augmented<T>& a) {
  T last = T(0), size = T(0);
  fill(x, m.nv);
  for (int i = 0; i < task.most; ++i) {
    augmented_forces(m, task, x, i == 0, times, a);
    copy(a.change, a.force, m.nv);
    solve_fronts(*m.fronts, a.fronts, a.change);
    taken_times(m, a, a.change, a.gap);
    size = T(0);
    for (int r = 0; r < m.nc; ++r) a.lam[r] -= a.weight[r] * a.gap[r];
    for (int j = 0; j < m.nv; ++j) {
      x[j] += a.change[j];
      T step = abs_(a.change[j]) / m.unit[j], now = abs_(x[j]) / m.unit[j];
      size = step > size || step != step ? step : size;
      if (now > task.scale) task.scale = now;
    }
    if (i > 0 && size * size <= real<T>(SOLVED) * task.scale * last) return true;
    if (i > 1 && !(size < real<T>(0.25) * last)) break;
    last = size;
  }
  return size <= real<T>(SOLVED_ENOUGH) * task.scale;
}

SARRUS_END
