// Friction of bearings that slide, mu times their load: what the joints of a motion transmit, and the forces
// that belong to it.
//
//   F_i = sum over the subtree of node i of [I A + V x* I V - declared wrenches - wrenches of the rows]   (1)
//   f -> motion under f -> F -> bounds mu F -> f                                                          (2)
//
// (1) is Newton and Euler for what joint i carries [Featherstone2008] sec. 5.3. At a state F is affine in the
// forces f of the bearings: one motion without them and one acceleration for each give that map, and the
// rounds of (2) are sums over a few wrenches. Every second round goes on to the limit of a geometric
// sequence (Aitken), unless it only grows.
#pragma once

#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

constexpr double BOUNDS_SETTLED = 1e-12;  // change of the bounds in a round of (2), relative to the largest
constexpr int MOST_BOUND_ROUNDS = 200;

// visit(i, parameters) for each bearing, i its number among the forces on coordinates
template <class R, class F>
SARRUS_HD void each_bearing(const Model<R>& m, F visit) {
  for (int i = 0; i < m.ncf; ++i)
    if (m.cf_kind[i] == CoordinateForceKind::BearingFriction)
      visit(i, parameters_at<BearingFriction>(m.cf_values + m.cf_begin[i]));
}

template <class R>
SARRUS_HD int count_bearings(const Model<R>& m) {
  int n = 0;
  each_bearing(m, [&](int, const auto&) { ++n; });
  return n;
}

// out: W (nc) of rows between nodes, constraints/row.hpp; others are not written   in: t (moved)
template <class T>
SARRUS_FN void row_wrenches(const Model<real<T>>& m, const Tree<T>& t, Spatial<T>* W) {
  for (int i = 0; i < m.ne; ++i) {
    Row<T> rows[MAX_ROWS];
    with_element(m, i,
                 [&](auto kind, const auto& c) { kind.rows(c, pair_of(t, m.el_a[i], m.el_b[i], c), rows); });
    for (int k = 0; k < m.el_rows[i]; ++k) W[m.el_row[i] + k] = rows[k].W;
  }
}

// Wrenches of the rows for multipliers lam (nc), subtracted from F (nn)
template <class T>
SARRUS_HD void subtract_row_wrenches(const Model<real<T>>& m, const Spatial<T>* W, const T* lam,
                                     Spatial<T>* F) {
  for (int i = 0; i < m.ne; ++i) {
    Spatial<T> sum = zero6<T>();
    for (int r = m.el_row[i]; r < m.el_row[i] + m.el_rows[i]; ++r) sum = sum + W[r] * lam[r];
    F[m.el_b[i]] = F[m.el_b[i]] - sum;
    F[m.el_a[i]] = F[m.el_a[i]] + sum;
  }
}

// out: w.F (nn), the accelerations of the nodes by those of the coordinates a (nv) alone
template <class T>
SARRUS_HD void node_accelerations(const Model<real<T>>& m, const Tree<T>& t, const T* a, Bodies<T>& w) {
  w.F[0] = zero6<T>();
  for (int i = 1; i < m.nn; ++i) w.F[i] = w.F[m.parent[i]] + joint_twist(m, i, t, a);
}

template <class T>
SARRUS_HD void sum_over_subtrees(const Model<real<T>>& m, Spatial<T>* F) {
  for (int i = m.nn - 1; i > 0; --i) F[m.parent[i]] = F[m.parent[i]] + F[i];
}

// A motion, and the wrenches of the rows at its pose
template <class T>
struct RowMotion {
  const T *a, *lam;     // (nv), (nc)
  const Spatial<T>* W;  // (nc)
};

// out: w.F (nn) of (1), about O   in: t (moved), w.I
// outer (nn): further wrenches on nodes about O, or null
template <class T>
SARRUS_FN void joint_wrenches(const Model<real<T>>& m, const Tree<T>& t, const RowMotion<T>& x,
                              const Spatial<T>* outer, Bodies<T>& w) {
  node_accelerations(m, t, x.a, w);
  for (int i = 1; i < m.nn; ++i) w.F[i] = w.I[i] * (t.A[i] + w.F[i]) + cross_force(t.V[i], w.I[i] * t.V[i]);
  subtract_wrenches(m, t, w.F);
  subtract_row_wrenches(m, x.W, x.lam, w.F);
  for (int i = 1; outer && i < m.nn; ++i) w.F[i] = w.F[i] - outer[i];
  sum_over_subtrees(m, w.F);
}

// How w.F of (1) changes with accelerations and multipliers
template <class T>
SARRUS_FN void joint_wrench_changes(const Model<real<T>>& m, const Tree<T>& t, const RowMotion<T>& x,
                                    Bodies<T>& w) {
  node_accelerations(m, t, x.a, w);
  for (int i = 1; i < m.nn; ++i) w.F[i] = w.I[i] * w.F[i];
  subtract_row_wrenches(m, x.W, x.lam, w.F);
  sum_over_subtrees(m, w.F);
}

// The wrench of F (nn) at the point of a bearing
template <class T, class C>
SARRUS_HD Spatial<T> bearing_wrench(const Tree<T>& t, const C& c, const Spatial<T>* F) {
  const Spatial<T>& W = F[static_cast<int>(c.node)];
  return {W.lin, W.ang - cross(point_of(t, static_cast<int>(c.node), c.p), W.lin)};
}

// (1) of bearing_friction.hpp; the axis of a hinge or slide is z of its node
template <class T, class C>
SARRUS_HD T bearing_bound(const Tree<T>& t, const C& c, const Spatial<T>& wrench) {
  return BearingFriction::bound(c, t.R[static_cast<int>(c.node)].z, wrench);
}

// What (2) needs: of the bearings that slide.
template <class T>
struct SlidingBearings {
  int most = 0, count = 0;                             // bearings of the model, and those that slide
  const BearingFriction::Parameters<real<T>>** given;  // (most)
  int* at;                                             // (most) coordinate
  T* way;                                              // (most) 1 or -1
  Spatial<T>* wrench;                                  // (most) without friction
  Spatial<T>* slope;                                   // (most, most): row k by a force of one along at[k]
  T *bound, *next, *change;                            // (most)
  T *force, *lam;                                      // (nv) the generalized force; (nc)
  Spatial<T>* W;                                       // (nc) of the rows

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    most = count_bearings(m);
    if (!most) return;
    arena.take(most, given, at, way, wrench, bound, next, change);
    arena.take(most * most, slope);
    arena.take(m.nv, force);
    arena.take(m.nc, lam, W);
  }

  // Those that slide in a state with velocities v (nv)
  SARRUS_HD void select(const Model<real<T>>& m, const T* v) {
    count = 0;
    each_bearing(m, [&](int i, const auto& c) {
      real<T> d = c.direction;
      if (d == 0) d = value(v[m.cf_v[i]]) > 0 ? 1 : value(v[m.cf_v[i]]) < 0 ? -1 : 0;
      if (d == 0 || d == real<T>(CoulombFriction::HELD)) return;
      given[count] = &c, at[count] = m.cf_v[i], way[count++] = T(d);
    });
  }
};

// next: the bounds under friction of the size `bound`
template <class T>
SARRUS_HD void next_bounds(const Tree<T>& t, SlidingBearings<T>& b) {
  for (int j = 0; j < b.count; ++j) {
    Spatial<T> W = b.wrench[j];
    for (int k = 0; k < b.count; ++k) W = W - b.slope[k * b.count + j] * (b.way[k] * b.bound[k]);
    b.next[j] = bearing_bound(t, *b.given[j], W);
  }
}

// Rounds of (2) from no friction on; false where they do not settle.
template <class T>
SARRUS_FN bool settle_bounds(const Tree<T>& t, SlidingBearings<T>& b) {
  double size = 0;
  for (int k = 0; k < b.count; ++k) b.bound[k] = b.change[k] = T(0);
  for (int i = 0; i < MOST_BOUND_ROUNDS; ++i) {
    next_bounds(t, b);
    double most = 0, along = 0, before = 1e-300;
    for (int k = 0; k < b.count; ++k) {
      double x = value(b.next[k]), last = value(b.change[k]), now = x - value(b.bound[k]);
      size = x > size ? x : size;
      most = abs_(now) <= most ? most : abs_(now);  // NaN never settles
      along += now * last, before += last * last;
      b.change[k] = b.next[k] - b.bound[k];
      b.bound[k] = b.next[k];
    }
    if (most <= BOUNDS_SETTLED * size) return true;
    double ratio = along / before;
    if (i % 2 == 1 && ratio < 1 && abs_(ratio) > 0.1)
      for (int k = 0; k < b.count; ++k) {
        T x = b.bound[k] + b.change[k] * real<T>(ratio / (1 - ratio));
        b.bound[k] = x > real<T>(0) ? x : T(0);
      }
  }
  return false;
}

// w.a of a force w.rhs (nv) alone, at the same state
template <class T, int LDC>
SARRUS_FN void accelerate_by_force(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  if constexpr (LDC == 0)
    if (w.open_tree) return solve_articulated(m, w.tree, w.rhs, w.articulated, w.a);
  fill(w.y, w.ld);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
  refine(m, w);
}

// out: b.force (nv); false where (2) does not settle   in: w.a, w.rhs without that friction, w.tree (moved),
// w.bodies.I, w factorized, not by the augmented inertia   w.a, w.rhs and w.bodies.F are lost
template <class T, int LDC>
SARRUS_FN bool friction_by_load(const Model<real<T>>& m, const T* v, Workspace<T, LDC>& w,
                                SlidingBearings<T>& b) {
  b.select(m, v);
  for (int j = 0; j < m.nv; ++j) b.force[j] = T(0);
  if (!b.count) return true;
  multipliers(m, w, b.lam);
  row_wrenches(m, w.tree, b.W);
  RowMotion<T> motion = {w.a, b.lam, b.W};
  joint_wrenches(m, w.tree, motion, static_cast<const Spatial<T>*>(nullptr), w.bodies);
  for (int j = 0; j < b.count; ++j) b.wrench[j] = bearing_wrench(w.tree, *b.given[j], w.bodies.F);
  for (int k = 0; k < b.count; ++k) {
    fill(w.rhs, w.ld);
    w.rhs[b.at[k]] = T(1);
    accelerate_by_force(m, w);
    multipliers(m, w, b.lam);
    joint_wrench_changes(m, w.tree, motion, w.bodies);
    for (int j = 0; j < b.count; ++j)
      b.slope[k * b.count + j] = bearing_wrench(w.tree, *b.given[j], w.bodies.F);
  }
  if (!settle_bounds(w.tree, b)) return false;
  for (int k = 0; k < b.count; ++k) b.force[b.at[k]] -= b.way[k] * b.bound[k];
  return true;
}

SARRUS_END
