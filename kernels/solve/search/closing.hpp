// Closing constraints: a trust-region Levenberg-Marquardt method on the manifold, then Newton's method.
//
// Each step solves, in coordinates without units x = dv / unit and with r = phi / row_unit,
//
//   min |r + J x|^2 + mu |x|^2   subject to |x| <= radius                                                 (1)
//
// by a singular value decomposition: x = -V diag(s / (s^2 + mu)) U^T r, the smallest solution. Redundant rows
// become independent off the manifold, with singular values s ~ |r| that carry no information. Therefore mu
// is at least min(|r|^2, 0.5), which keeps the convergence quadratic. Large mechanisms solve (1) by entries
// (solve/factor/damped_rows.hpp), with rows and coordinates that take no part as zeros.
//
// Couplings that are linear in the coordinates (gears, drives) need one step of any length. Where that is
// more than a turn, which steps within the radius reach late or never, it goes first.
#pragma once

#include "constraints/whole_angles.hpp"
#include "solve/factor/damped_rows.hpp"
#include "solve/factor/singular_values.hpp"
#include "solve/limit_rows.hpp"

SARRUS_BEGIN

constexpr double CLOSED_TOL = 1e-10;  // closed when no |phi| / row_unit exceeds this
constexpr double DAMPING_FLOOR = 1e-16;
constexpr double LARGEST_FLOOR = 0.5;
constexpr double STATIONARY = 1e-8;  // predicted decrease of |r|^2, relative, below which no direction helps
constexpr int MOST_ITERATIONS = 120;
constexpr int MOST_POLISHING = 8;
constexpr double WHOLE_TURN = 6.283185307179586;  // |x| of a step onto linear rows that goes first
constexpr double LINEAR_OPEN = 0.1;  // |phi| / row_unit of a linear row that may need such a step
constexpr double POLISHED = 4e-16;   // |phi| / row_unit that are rounding

// Rows to close and coordinates to move.
struct Selected {
  const int *rows, *columns;
  int n_rows, n_columns;
};

template <class T>
struct ClosingWork {
  Workspace<T, 0> w;
  SingularValues<T> d;
  T *q, *trial, *v, *dv;          // (nq), (nq), rest and a step (nv)
  T *r, *J, *r_trial, *J_trial;   // (rows), (rows, columns) without units; by entries: all rows and columns
  T *x, *along;                   // a step (columns), s_i u_i . r
  bool by_entries;                // for large mechanisms
  T *r_all, *x_all;               // (nc), (nv)
  unsigned char *closed, *moved;  // (nc), (nv) whether a row is selected, and a coordinate

  SARRUS_HD ClosingWork(const Model<real<T>>& m, Arena& arena) : w(m, arena) {
    d.bind(arena, m.nc, m.nv);
    arena.take(m.nq, q, trial);
    arena.take(w.ld, v, dv);
    arena.take(m.nc, r, r_trial);
    arena.take(m.nc * m.nv, J, J_trial);
    arena.take(w.ld + m.nc, x, along);
    arena.take(m.nc, r_all, closed);
    arena.take(m.nv, x_all, moved);
    by_entries = m.fronts && m.nv > MOST_SINGULAR_VALUES;
    if (arena.at) fill(v, w.ld);
  }
};

// out: r, J at q   at(q) evaluates w.rows there; whole: with whole angles. False where an entry is not
// finite.
template <class T, class At>
SARRUS_FN bool residual(const Model<real<T>>& m, const Selected& s, At at, const T* q, bool whole,
                        ClosingWork<T>& w, T* r, T* J) {
  at(q);
  if (whole) whole_angles(m, w.w.tree, w.w.ld, w.w.rows);
  T sum = T(0);
  for (int k = 0; k < s.n_rows; ++k) {
    int row = s.rows[k];
    r[k] = w.w.rows.phi[row] / m.row_unit[row];
    sum += r[k] * real<T>(0);
    for (int c = 0; !w.by_entries && c < s.n_columns; ++c) {
      int j = s.columns[c];
      J[k * s.n_columns + c] = w.w.rows.J[row * w.w.ld + j] * m.unit[j] / m.row_unit[row];
      sum += J[k * s.n_columns + c] * real<T>(0);
    }
  }
  return sum == 0 && (!w.by_entries || rows_without_units(m, w.w.rows.J, w.w.ld, w.closed, w.moved, J));
}

template <class T>
SARRUS_HD T squared(const T* r, int n) {
  return sum_of<T>(n, [&](int k) { return r[k] * r[k]; });
}

template <class T>
SARRUS_HD T worst_row(const T* r, int n) {
  return largest_of(n, [&](int k) { return abs_(r[k]); });
}

// Whether all rows are closed; NaN is not.
template <class T>
SARRUS_HD bool is_closed(const T* r, int n) {
  return all_of(n, [&](int k) { return abs_(r[k]) <= real<T>(CLOSED_TOL); });
}

// mu of (1) at least, rr = |r|^2
template <class T>
SARRUS_HD T least_damping(const T& rr) {
  return T(real<T>(DAMPING_FLOOR)) + smaller(rr, T(real<T>(LARGEST_FLOOR)));
}

// As closing_step(), for large mechanisms; radius < 0: Newton's step
template <class T>
SARRUS_FN void closing_step_by_entries(const Model<real<T>>& m, const Selected& s, real<T> radius,
                                       ClosingWork<T>& w) {
  fill(w.r_all, m.nc);
  scatter(w.r_all, s.rows, w.r, s.n_rows);
  T mu = radius < 0 ? T(0) : least_damping(squared(w.r, s.n_rows));
  bool found = damped_step(m, w.J, w.r_all, mu, radius, w.w.factor.augmented, w.x_all);
  for (int c = 0; c < s.n_columns; ++c) w.x[c] = found ? w.x_all[s.columns[c]] : T(0);
}

// w.x: the minimiser of (1) with this mu, or a larger one so that |x| equals the radius (< 0: none)
template <class T>
SARRUS_FN void closing_step(const Selected& s, const T* r, const T* J, T mu, real<T> radius,
                            ClosingWork<T>& w) {
  SingularValues<T>& d = w.d;
  for (int k = 0; k < s.n_rows; ++k)
    for (int c = 0; c < s.n_columns; ++c) d.at(k, c) = J[k * s.n_columns + c];
  decompose(d, s.n_rows, s.n_columns);
  T total = T(0);
  for (int i = 0; i < d.count; ++i) {
    w.along[i] = along_left(d, i, r);
    total += w.along[i] * w.along[i];
  }
  auto size = [&](T mu) {
    T sum = T(0);
    for (int i = 0; i < d.count; ++i) {
      T y = w.along[i] / (d.s[i] * d.s[i] + mu);
      sum += y * y;
    }
    return sqrt_(sum);
  };
  if (radius >= 0 && size(mu) > radius) {
    T low = mu, high = sqrt_(total) / radius;
    for (int n = 0; n < 60; ++n) {
      mu = sqrt_(low * high);
      if (size(mu) > radius)
        low = mu;
      else
        high = mu;
      if (high < low * real<T>(1.05)) break;
    }
    mu = high;
  }
  fill(w.x, d.p.ld);
  for (int i = 0; i < d.count; ++i) {
    T y = -(w.along[i] / (d.s[i] * d.s[i] + mu));
    add_scaled(w.x, y, d.W + i * d.count, d.count);
  }
  turn_back(d.p, w.x);
}

// w.trial: q moved by w.x
template <class T>
SARRUS_HD void try_step(const Model<real<T>>& m, const Selected& s, ClosingWork<T>& w) {
  fill(w.dv, m.nv);
  for (int c = 0; c < s.n_columns; ++c) w.dv[s.columns[c]] = m.unit[s.columns[c]] * w.x[c];
  integrate(m, w.q, w.dv, w.trial);
}

// w.q, w.r, w.J <- those of the trial
template <class T>
SARRUS_HD void accept_trial(const Model<real<T>>& m, ClosingWork<T>& w) {
  copy(w.q, w.trial, m.nq);
  swap_(w.r, w.r_trial);
  swap_(w.J, w.J_trial);
}

// |r + J x|^2 of a step
template <class T>
SARRUS_FN T left_after(const Model<real<T>>& m, const Selected& s, ClosingWork<T>& w) {
  T left = T(0);
  if (w.by_entries) {
    add_rows_times(m, w.J, w.x_all, w.r_all);
    return squared(w.r_all, m.nc);
  }
  for (int k = 0; k < s.n_rows; ++k) {
    T e = w.r[k];
    e = plus_products(e, w.J + k * s.n_columns, w.x, s.n_columns);
    left += e * e;
  }
  return left;
}

// Whether a row of the model is a coupling that is linear in its coordinates
template <class R>
SARRUS_HD bool is_linear(const Model<R>& m, int row) {
  for (int k = 0; k < m.nk; ++k) {
    if (m.k_row[k] != row) continue;
    for (int i = m.k_begin[k]; i < m.k_end[k]; ++i)
      if (m.kt_knots[i]) return false;
    return true;
  }
  return false;
}

// w.closed: the selected rows, or only the linear ones of them
template <class T>
SARRUS_HD void mark_rows(const Model<real<T>>& m, const Selected& s, bool all, ClosingWork<T>& w) {
  fill(w.closed, m.nc);
  for (int k = 0; k < s.n_rows; ++k) w.closed[s.rows[k]] = all || is_linear(m, s.rows[k]);
}

// w.x by whichever factorization the mechanism has; mu counts for the dense one
template <class T>
SARRUS_HD void any_closing_step(const Model<real<T>>& m, const Selected& s, T mu, real<T> radius,
                                ClosingWork<T>& w) {
  if (w.by_entries)
    closing_step_by_entries(m, s, radius, w);
  else
    closing_step(s, w.r, w.J, mu, radius, w);
}

// Makes the rows that are not in w.closed zero, as if they were closed
template <class T>
SARRUS_HD void ignore_open_rows(const Selected& s, ClosingWork<T>& w) {
  for (int k = 0; k < s.n_rows; ++k) {
    if (w.closed[s.rows[k]]) continue;
    w.r[k] = T(0);
    if (!w.by_entries) fill(w.J + k * s.n_columns, s.n_columns);
  }
}

// Newton's step of w.q onto the linear rows alone, if it is far; otherwise w.q stays.
template <class T, class At>
SARRUS_FN void approach_linear_rows(const Model<real<T>>& m, const Selected& s, At at, ClosingWork<T>& w) {
  if (m.nk == 0 || s.n_columns == 0) return;
  mark_rows(m, s, false, w);
  T worst = T(0);
  if (residual(m, s, at, w.q, true, w, w.r, w.J)) {
    ignore_open_rows(s, w);
    worst = worst_row(w.r, s.n_rows);
  }
  if (worst > real<T>(LINEAR_OPEN)) {
    any_closing_step(m, s, T(real<T>(DAMPING_FLOOR)), real<T>(-1), w);
    try_step(m, s, w);
    if (squared(w.x, s.n_columns) > real<T>(WHOLE_TURN * WHOLE_TURN)) copy(w.q, w.trial, m.nq);
  }
  mark_rows(m, s, true, w);
}

// The radius after a step of the given size with a gain over the predicted one
template <class T>
SARRUS_HD real<T> next_radius(const T& gain, const T& size, real<T> radius, real<T> longest) {
  if (gain < real<T>(0.25)) return real<T>(0.3) * size;
  if (!(gain > real<T>(0.75))) return radius;
  return smaller(larger(real<T>(2.5) * size, radius), longest);
}

// Trust-region steps from w.q; returns the number of iterations.
template <class T, class At>
SARRUS_FN int descend(const Model<real<T>>& m, const Selected& s, At at, ClosingWork<T>& w) {
  if (!residual(m, s, at, w.q, true, w, w.r, w.J)) return 1;
  real<T> radius = real<T>(0.3) * sqrt_(real<T>(larger(s.n_columns, 1))), longest = 2 * radius;
  for (int n = 0; n < MOST_ITERATIONS; ++n) {
    if (worst_row(w.r, s.n_rows) <= real<T>(CLOSED_TOL) || s.n_columns == 0) return n;
    T rr = squared(w.r, s.n_rows);
    any_closing_step(m, s, least_damping(rr), radius, w);
    T predicted = rr - left_after(m, s, w), size = sqrt_(squared(w.x, s.n_columns));
    if (predicted <= real<T>(STATIONARY) * rr) return n;
    try_step(m, s, w);
    bool fine = residual(m, s, at, w.trial, true, w, w.r_trial, w.J_trial);
    T gain = fine ? (rr - squared(w.r_trial, s.n_rows)) / predicted : T(-1);
    if (gain > real<T>(1e-3)) accept_trial(m, w);
    radius = next_radius(gain, size, radius, longest);
    if (radius < real<T>(1e-12)) return n + 1;
  }
  return MOST_ITERATIONS;
}

// w.x: Newton's step -J^+ r, by substitution where the rows are independent beyond doubt
template <class T>
SARRUS_FN void newton_step(const Model<real<T>>& m, const Selected& s, ClosingWork<T>& w) {
  if (w.by_entries) return closing_step_by_entries(m, s, real<T>(-1), w);
  for (int k = 0; k < s.n_rows; ++k)
    for (int c = 0; c < s.n_columns; ++c) w.d.at(k, c) = w.J[k * s.n_columns + c];
  if (!independent(w.d, s.n_rows, s.n_columns, real<T>(REGULAR)))
    return closing_step(s, w.r, w.J, least_damping(squared(w.r, s.n_rows)), real<T>(-1), w);
  shortest(w.d.p, w.r, w.x);
  negate(w.x, w.x, s.n_columns);
}

// Newton steps q - J^+ phi [Aghili2005] eq. (37), as long as each makes the residual clearly smaller.
template <class T, class At>
SARRUS_FN int polish(const Model<real<T>>& m, const Selected& s, At at, ClosingWork<T>& w) {
  residual(m, s, at, w.q, false, w, w.r, w.J);
  for (int n = 0; n < MOST_POLISHING; ++n) {
    T size = worst_row(w.r, s.n_rows);
    if (!(size > real<T>(POLISHED) && size <= real<T>(1e-4)) || s.n_columns == 0) return n;
    newton_step(m, s, w);
    try_step(m, s, w);
    if (!residual(m, s, at, w.trial, false, w, w.r_trial, w.J_trial)) return n;
    if (!(worst_row(w.r_trial, s.n_rows) < real<T>(0.7) * size)) return n;
    accept_trial(m, w);
  }
  return MOST_POLISHING;
}

// Moves w.q until the rows close; w.r: what is left, with whole angles. Returns the number of iterations.
template <class T, class At>
SARRUS_FN int close_rows(const Model<real<T>>& m, const Selected& s, At at, ClosingWork<T>& w) {
  mark_rows(m, s, true, w);
  fill(w.moved, m.nv);
  for (int c = 0; c < s.n_columns; ++c) w.moved[s.columns[c]] = 1;
  approach_linear_rows(m, s, at, w);
  int n = descend(m, s, at, w);
  n += polish(m, s, at, w);
  residual(m, s, at, w.q, true, w, w.r, w.J);
  return n;
}

SARRUS_END
