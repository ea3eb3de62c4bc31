// Rows that are lost at a singular pose, replaced by their limit: solve/forward_dynamics.hpp (2).
#pragma once

#include "algebra/dual.hpp"
#include "constraints/constraints.hpp"
#include "solve/factor/few_rows.hpp"
#include "solve/factor/solve.hpp"
#include "tree/manifold.hpp"

SARRUS_BEGIN

// Whether articulated inertias take the place of M: large mechanisms without constraints.
template <class T, int LDC>
SARRUS_HD bool may_be_open(const Model<real<T>>& m) {
  return LDC == 0 && Plain<T>::value && m.nc == 0 && m.nfl == 0;
}

template <class T, int LDC>
struct Workspace {
  Stride<LDC> ld;
  Tree<T> tree;
  Bodies<T> bodies;
  Rows<T> rows;
  Factor<T> factor;
  T *M, *h, *rhs, *a, *y, *extra, *force, *change;
  bool zeros_stay = false;  // M and J are zero but for their entries: only these are written
  bool by_entries = false;  // M and J of the last evaluation are in factor.augmented, not in M and rows.J
  bool open_tree = false;   // `articulated` instead of M
  Articulated<T> articulated;

  SARRUS_HD Workspace(const Model<real<T>>& m, Arena& arena) : ld(m.nv) {
    tree.bind(arena, m);
    bodies.bind(arena, m);
    rows.bind(arena, m, ld);
    factor.bind(arena, m, ld);
    arena.take(m.nv * ld, M);
    arena.take(ld, h, rhs, a, y, force, change);
    arena.take(m.nc, extra);
    if (may_be_open<T, LDC>(m)) articulated.bind(arena, m);
  }
};

// Constraint rows along the motion at constant v, as dual numbers.
template <class T, int LDC>
struct Tangent {
  using D = Dual<T>;
  Stride<LDC> ld;
  Tree<D> tree;
  Rows<D> rows;
  D *q, *v, *q_moved, *drive, *user;

  SARRUS_HD Tangent(const Model<real<T>>& m, Arena& arena) : ld(m.nv) {
    tree.bind(arena, m);
    rows.bind(arena, m, ld);
    arena.take(m.nq, q, q_moved);
    arena.take(m.nv, v);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
  }
  SARRUS_HD T rate_J(int row, int column) const { return rows.J[row * ld + column].b; }
  SARRUS_HD T rate_gamma(int row) const { return rows.gamma[row].b; }
};

// M by entries at the poses of w.tree, unless few rows need none   in: w.bodies.I
template <class T, int LDC>
SARRUS_FN void inertia_by_entries(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  Augmented<T>& a = w.factor.augmented;
  a.few.at_tree = m.fronts->few_rows;
  if (!a.few.at_tree) inertia_by_branches(m, w.tree, w.bodies, a.branches_now);
}

// M at the poses of w.tree, or what takes its place   in: w.bodies.I
template <class T, int LDC>
SARRUS_FN void evaluate_inertia(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  if constexpr (LDC == 0 && Plain<T>::value)
    if (w.open_tree) {
      w.factor.spd = factorize_articulated(m, w.tree, w.articulated);
      return;
    }
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.by_entries) return inertia_by_entries(m, w);
  if (w.zeros_stay) return inertia_branches(m, w.tree, w.bodies, w.ld, w.M);
  inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
}

// The constraint rows at a state, whose tree is w.tree.
template <class T, int LDC>
SARRUS_FN void evaluate_rows(const Model<real<T>>& m, const State<T>& s, Workspace<T, LDC>& w) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.by_entries) return constraints_by_entries(m, s, w.tree, w.rows, w.factor.augmented);
  if (w.zeros_stay) return constraint_entries(m, s, w.tree, w.ld, w.rows);
  constraints(m, s, w.tree, w.ld, w.rows);
}

// M and J where the orthogonal factorization reads them.
template <class T, int LDC>
SARRUS_FN void make_dense(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  if constexpr (Factor<T>::template maybe_augmented<Stride<LDC>>)
    if (w.by_entries) {
      bool at_tree = by_few_rows(m, w.factor.augmented);
      if (at_tree) inertia_branches(m, w.tree, w.bodies, w.ld, w.M);
      unpack_entries(m, w.factor.augmented, w.ld, w.rows.J, at_tree ? nullptr : w.M);
    }
  w.by_entries = false;
}

// M, h and the constraint rows at a state.
template <class T, int LDC>
SARRUS_FN void evaluate(const Model<real<T>>& m, const State<T>& s, Workspace<T, LDC>& w) {
  place(m, s.q, w.tree);
  move(m, s.v, w.tree);
  weigh(m, w.tree, w.bodies.I);
  bias(m, s.q, s.v, w.tree, w.bodies, w.h);
  subtract_user_forces(m, s.user, w.h);
  evaluate_inertia(m, w);
  constraints(m, s, w.tree, w.ld, w.rows);
}

// J' and gamma' along the motion: q moves with v, the drives with time (their third derivative is taken
// as zero), rows computed outside are held.
template <class T, int LDC>
SARRUS_FN void differentiate_rows(const Model<real<T>>& m, const State<T>& s, Tangent<T, LDC>& d) {
  using D = Dual<T>;
  copy(d.q, s.q, m.nq);
  for (int i = 0; i < m.nv; ++i) d.v[i] = D(T(0), s.v[i]);
  integrate(m, d.q, d.v, d.q_moved);
  copy(d.v, s.v, m.nv);
  for (int k = 0; k < m.nd; ++k) {
    d.drive[3 * k] = D(s.drive[3 * k], s.drive[3 * k + 1]);
    d.drive[3 * k + 1] = D(s.drive[3 * k + 1], s.drive[3 * k + 2]);
    d.drive[3 * k + 2] = D(s.drive[3 * k + 2]);
  }
  for (int i = 0; s.user && i < m.n_user_rows * (3 + m.nv); ++i) d.user[i] = D(s.user[i]);
  place(m, d.q_moved, d.tree);
  move(m, d.v, d.tree);
  constraints(m, State<D>{d.q_moved, d.v, d.drive, d.user}, d.tree, d.ld, d.rows);
}

// Whether any entry of x (n) is not zero
template <class T>
SARRUS_HD bool moving(const T* v, int n) {
  return any_of(n, [&](int j) { return value(v[j]) != 0; });
}

// Left null vector j of J (units of the rows), in x (lc), by position: U e_{rank + j}
template <class T>
SARRUS_HD void left_null(const Factor<T>& f, int j, T* x) {
  fill(x, f.lc);
  if constexpr (Plain<T>::value)
    if (f.sparse) {
      x[f.left.col[f.rank_rows + j]] = T(1);
      for (int i = f.rank_rows - 1; i >= 0; --i) reflect(f.left, i, x);
      return;
    }
  x[f.rank_rows + j] = T(1);
  if constexpr (Plain<T>::value) {  // a row without entries is a null vector by itself
    bool empty = all_of(f.rank_rows, [&](int i) { return f.U[i * f.lc + f.rank_rows + j] == 0; });
    if (empty) return;
  }
  for (int i = f.rank_rows - 1; i >= 0; --i) apply_U(f, i, x);
}

// x (nc) <- its part along the left null space of J, in the order of declaration; f.work is room
template <class T>
SARRUS_FN void left_null_part(const Model<real<T>>& m, const Factor<T>& f, T* x) {
  T* y = f.work;
  fill(y, f.lc);
  for (int i = 0; i < m.nc; ++i) y[i] = at_position(f, x, i, m.nc);
  auto turn = [&](int k) {
    if constexpr (Plain<T>::value)
      if (f.sparse) return reflect(f.left, k, y);
    apply_U(f, k, y);
  };
  for (int k = 0; k < f.rank_rows; ++k) turn(k);
  for (int k = 0; k < f.rank_rows; ++k) y[f.sparse ? f.left.col[k] : k] = T(0);
  for (int k = f.rank_rows - 1; k >= 0; --k) turn(k);
  for (int i = 0; i < m.nc; ++i) x[row_at(f, i)] = y[i];
}

// Eliminates limit rows, which stand in Y behind the rows of J.
template <template <class, int> class Work, class T, int LDC>
SARRUS_FN void place_limit_rows(const Model<real<T>>& m, int lost, real<T> tol, Work<T, LDC>& w) {
  Factor<T>& f = w.factor;
  for (int i = 0; i < lost; ++i) {
    T *row = f.Y + (m.nc + i) * w.ld, s = T(0);
    bool zero = Plain<T>::value && !moving(row, m.nv);  // as those of rows that are always redundant
    for (int k = 0; !zero && k < f.rank_rows; ++k) reflect(f, k, w.ld, row);
    s = plus_products(s, row + f.rank_rows, row + f.rank_rows, m.nv - f.rank_rows);
    f.norm[m.nc + i] = f.norm_ref[m.nc + i] = s;
    f.order[m.nc + i] = T(real<T>(i));
    f.unit[m.nc + i] = T(1);
  }
  if constexpr (Factor<T>::template maybe_sparse<Stride<LDC>>)
    if (f.sparse) return eliminate_limit_rows(m, lost, tol, f);
  eliminate_rows(f, m.nc, m.nc + lost, m.nv, w.ld, tol, -1, true);
}

// Rows (2), eliminated behind those of J. A velocity outside the tangent cone by more than `cone` has no
// smooth continuation: then nothing is added.
// in: J' and gamma' of d (rate_J, rate_gamma); gamma and the factorization of J in w
template <template <class, int> class Work, class T, int LDC, class Rates>
SARRUS_FN void add_limit_rows(const Model<real<T>>& m, const T* v, real<T> cone, real<T> tol, const Rates& d,
                              Work<T, LDC>& w) {
  Factor<T>& f = w.factor;
  int lost = m.nc - f.rank_rows, ld = w.ld;
  T speed2 = sum_of<T>(m.nv, [&](int j) { return v[j] * v[j] / (m.unit[j] * m.unit[j]); });
  T inv = real<T>(1) / sqrt_(speed2);
  T* x = f.work;
  for (int i = 0; i < lost; ++i) {
    left_null(f, i, x);
    T *row = f.Y + (m.nc + i) * ld, conflict = T(0), right = T(0), size = T(0);
    fill(row, ld);
    for (int k = 0; k < m.nc; ++k) size += x[k] * x[k] * f.unit[k] * f.unit[k];
    T dimensionless =
        real<T>(1) / sqrt_(size);  // of w^T J, so that its tolerances mean the same for all rows
    for (int k = 0; k < m.nc; ++k) {
      if constexpr (Plain<T>::value)
        if (x[k] == 0) continue;  // most entries of the null vectors of large mechanisms
      int r = row_at(f, k);
      T wk = x[k] * dimensionless;
      conflict += wk * w.rows.gamma[r];
      right += wk * d.rate_gamma(r);
      for (int j = 0; j < m.nv; ++j) row[j] += wk * d.rate_J(r, j) * (m.unit[j] * real<T>(3));
    }
    if (abs_(value(conflict)) > value(speed2) * cone) return;
    set_scaled(row, inv, row, m.nv);
    w.extra[i] = right * inv;
  }
  place_limit_rows(m, lost, tol, w);
}

SARRUS_END
