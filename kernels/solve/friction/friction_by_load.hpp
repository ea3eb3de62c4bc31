// Friction of bearings that slide, mu times their load: the forces f that belong to a state.
//
//   f -> motion under f -> loads -> bounds mu F -> f                                                      (1)
//
// Accelerations, multipliers and loads (bearing_loads.hpp) are sums over columns with the coefficients
// x = (1, f, |lam|): the motion without friction, a unit force along each bearing, and what gears add that
// are driven apart whatever the sign of their lam. Rounds of (1) are sums over a few numbers then. Every
// second round goes on to the limit of a geometric sequence (Aitken), unless it only grows. Where friction
// changes loads by more than it is itself (a screw that locks itself lifts a heavy load), whole rounds would
// swing wider and wider and turn loads around: the first step is a small one, which tells the slope.
#pragma once

#include "base/products.hpp"
#include "solve/friction/bearing_loads.hpp"
#include "solve/friction/unit_forces.hpp"

SARRUS_BEGIN

constexpr double BOUNDS_SETTLED = 1e-12;  // change of the bounds in a round of (1), relative to the largest
constexpr int MOST_BOUND_ROUNDS = 200;
constexpr double ENDLESS = 1e100;  // bounds that grow beyond do not settle

// What (1) needs: of the bearings that slide. Columns of motions are kept in slabs of LANES.
template <class T>
struct SlidingBearings {
  int most = 0, count = 0;                             // bearings of the model, and those that slide
  int slabs = 0, rows = 0;                             // of columns; rows of each: nv accelerations, nc lam
  int wide = 0;                                        // loads of all bearings, padded
  const BearingFriction::Parameters<real<T>>** given;  // (most)
  int *at, *first;                                     // (most) coordinate, and which loads are its own
  T* way;                                              // (most) 1 or -1
  T* motion;                                           // (slabs, rows, LANES)
  T* pick;                                             // (rows, wide): loads by unit acceleration, unit lam
  T *load, *sum;                                       // (columns, wide), (wide): their sum
  T *x, *room;                                         // (columns), (nc, LANES)
  T *bound, *next, *change;                            // (most)
  T* force;                                            // (nv) the generalized force
  Spatial<T>* momentum;                                // (nv) of what a coordinate carries, by its unit rate
  int* carried;                                        // (nn) 1: node of the subtree in question

  // to: of the same workspace
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m, Rows<T>& to) {
    each_bearing(m, [&](int, const auto& c) { ++most, wide += BearingFriction::loads(c); });
    if (!most) return;
    slabs = most / LANES + 1, rows = m.nv + m.nc, wide = (wide + LANES - 1) / LANES * LANES;
    int columns = slabs * LANES + m.nm;
    arena.take(most, given, at, first, way, bound, next, change);
    arena.take(slabs * rows * LANES, motion);
    arena.take(rows * wide, pick);
    arena.take(columns * wide, load);
    arena.take(wide, sum);
    arena.take(columns, x);
    arena.take(m.nc * LANES, room);
    arena.take(m.nv, force, momentum);
    arena.take(m.nn, carried);
    arena.take(m.nc, to.W);
  }

  // Those that slide in a state with velocities v (nv)
  SARRUS_HD void select(const Model<real<T>>& m, const T* v) {
    count = 0;
    int loads = 0;
    each_bearing(m, [&](int i, const auto& c) {
      real<T> d = c.direction;
      if (d == 0) d = value(v[m.cf_v[i]]) > 0 ? 1 : value(v[m.cf_v[i]]) < 0 ? -1 : 0;
      if (d == 0 || d == real<T>(CoulombFriction::HELD)) return;
      given[count] = &c, at[count] = m.cf_v[i], first[count] = loads, way[count++] = T(d);
      loads += BearingFriction::loads(c);
    });
  }
  SARRUS_HD int columns(const Model<real<T>>& m) const { return 1 + count + m.nm; }
  // Row r of the motions in column c
  SARRUS_HD T& entry(int r, int c) { return motion[(c / LANES * rows + r) * LANES + c % LANES]; }
  // Its sum over the columns
  SARRUS_HD T summed(int r) const {
    T s = dot(motion + r * LANES, x, LANES);
    for (int k = 1; k < slabs; ++k) s += dot(motion + (k * rows + r) * LANES, x + k * LANES, LANES);
    return s;
  }
};

// w.a of a force w.rhs (nv) alone, at the same state
template <class T, int LDC>
SARRUS_FN void accelerate_by_force(const Model<real<T>>& m, Workspace<T, LDC>& w) {
  if constexpr (LDC == 0)
    if (w.open_tree) return solve_articulated(m, w.tree, w.rhs, w.articulated, w.a);
  fill(w.y, w.ld);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
  refine(m, w);
}

// The columns of motions one by one: for factorizations by entries, and where accelerations are refined
template <class T, int LDC>
SARRUS_FN void columns_one_by_one(const Model<real<T>>& m, Workspace<T, LDC>& w, SlidingBearings<T>& b) {
  for (int c = 0; c <= b.count; ++c) {
    if (c > 0) {
      fill(w.rhs, w.ld);
      w.rhs[b.at[c - 1]] = T(1);
      accelerate_by_force(m, w);
    }
    multipliers(m, w, b.room);
    for (int j = 0; j < m.nv; ++j) b.entry(j, c) = w.a[j];
    for (int r = 0; r < m.nc; ++r) b.entry(m.nv + r, c) = b.room[r];
  }
  demand(m, w.tree, w.bodies);
  sum_over_subtrees(m, w.bodies.F);
  if (w.open_tree) sum_inertias(m, w.bodies);
}

// out: the columns of motions   in: w.a, w.rhs of the motion without friction
template <class T, int LDC>
SARRUS_FN void friction_columns(const Model<real<T>>& m, Workspace<T, LDC>& w, SlidingBearings<T>& b) {
  fill(b.motion, b.slabs * b.rows * LANES);
  if (w.factor.sparse || w.open_tree || cancels(m, w)) return columns_one_by_one(m, w, b);
  for (int j = 0; j < m.nv; ++j) b.entry(j, 0) = (w.rhs[j] - dot(w.M + j * w.ld, w.a, w.ld)) * m.unit[j];
  for (int k = 0; k < b.count; ++k) b.entry(b.at[k], 1 + k) = T(m.unit[b.at[k]]);
  for (int s = 0; s < b.slabs; ++s) {
    T* slab = b.motion + s * b.rows * LANES;
    solve_force_columns(m, w.ld, w.factor, s == 0, slab, b.room, slab + m.nv * LANES);
  }
  for (int j = 0; j < m.nv; ++j) b.entry(j, 0) = w.a[j];
}

// What loads teeth, the multiplier of their mesh, as loads_of_bearing() does
template <class T>
SARRUS_HD void loads_of_mesh(const Model<real<T>>& m, int mesh, int at, SlidingBearings<T>& b) {
  int row = row_of_mesh(m, mesh);
  if (row >= 0) b.pick[(m.nv + row) * b.wide + at] = T(1);
}

// What a unit of each row of the motions loads bearing j with, into b.pick, which is zero; what it is loaded
// with without accelerations and rows, into column 0 of the loads, and what |lam| of each mesh does.
template <class T, int LDC>
SARRUS_HD void loads_of_bearing(const Model<real<T>>& m, const Workspace<T, LDC>& w, int j,
                                SlidingBearings<T>& b) {
  int node = static_cast<int>(b.given[j]->node), at = b.first[j];
  const Seat<T> seat = seat_of(w.tree, *b.given[j]);
  auto pick = [&](int row, const Spatial<T>& W) { add_loads(seat, W, b.pick + row * b.wide + at); };
  for (int i = 0; i < m.nn; ++i) b.carried[i] = i == node || (i > node && b.carried[m.parent[i]]);
  for (int up = m.parent[node]; up > 0; up = m.parent[up])
    each_coordinate(m, up, [&](int k) { pick(k, w.bodies.Ic[node] * w.tree.S[k]); });
  for (int i = node; i < m.nn; ++i)
    if (b.carried[i]) each_coordinate(m, i, [&](int k) { pick(k, b.momentum[k]); });
  for (int e = 0; e < m.ne; ++e) {
    int sign = b.carried[m.el_a[e]] - b.carried[m.el_b[e]];
    for (int r = m.el_row[e]; sign && r < m.el_row[e] + m.el_rows[e]; ++r)
      pick(m.nv + r, w.rows.W[r] * real<T>(sign));
  }
  add_loads(seat, w.bodies.F[node], b.load + at);
  for (int i = 0; i < m.nm; ++i) {
    int sign = b.carried[m.mesh_b[i]] - b.carried[m.mesh_a[i]];
    if (!sign) continue;
    MeshWrench<T> mesh = mesh_wrench(m, i, w.tree);
    add_loads(seat, mesh.constant * real<T>(sign), b.load + at);
    pick(m.nv + m.mesh_row[i], mesh.by_lam * real<T>(sign));
    add_loads(seat, mesh.by_size * real<T>(sign), b.load + (1 + b.count + i) * b.wide + at);
  }
}

// out: the columns of loads   in: those of motions, w.tree (moved), w.rows.W, w.bodies.Ic, and w.bodies.F,
// the wrenches of subtrees without accelerations and rows, as bias() leaves them
template <class T, int LDC>
SARRUS_FN void load_columns(const Model<real<T>>& m, Workspace<T, LDC>& w, SlidingBearings<T>& b) {
  int constant = 0, last = b.count;  // columns of motions
  fill(b.pick, b.rows * b.wide);
  fill(b.load, b.columns(m) * b.wide);
  for (int i = 1; i < m.nn; ++i)
    each_coordinate(m, i, [&](int k) { b.momentum[k] = w.bodies.Ic[i] * w.tree.S[k]; });
  for (int j = 0; j < b.count; ++j) {
    int mesh = BearingFriction::mesh(*b.given[j]);
    if (mesh < 0)
      loads_of_bearing(m, w, j, b);
    else
      loads_of_mesh(m, mesh, b.first[j], b);
  }
  copy(b.sum, b.load + constant * b.wide, b.wide);
  for (int c = 0; c <= last; c += LANES) {
    int n = smaller(last + 1 - c, LANES);
    Coefficients<T> columns = {b.motion + c * b.rows, 1, LANES};
    product(columns, b.pick, b.wide, n, b.rows, b.wide, b.load + c * b.wide, b.wide);
  }
  axpy(b.load + constant * b.wide, T(1), b.sum, b.wide);
}

// The coefficients x of friction of the size `bound`
template <class T>
SARRUS_HD void set_coefficients(const Model<real<T>>& m, SlidingBearings<T>& b) {
  for (int k = 0; k < b.count; ++k) b.x[1 + k] = -b.way[k] * b.bound[k];
  for (int i = 0; i < m.nm; ++i) b.x[1 + b.count + i] = abs_(b.summed(m.nv + m.mesh_row[i]));
}

// next: the bounds under friction of the size `bound`
template <class T>
SARRUS_HD void next_bounds(const Model<real<T>>& m, SlidingBearings<T>& b) {
  set_coefficients(m, b);
  combine(b.sum, b.x, b.load, 0, b.columns(m), b.wide);
  for (int j = 0; j < b.count; ++j) {
    double way = -double(value(b.way[j]));
    b.next[j] = BearingFriction::bound(*b.given[j], b.sum + b.first[j], way);
  }
}

// What one round changed: the largest change, changes along those of the round before and their square
struct BoundChange {
  double most = 0, along = 0, before = 1e-300;
};

template <class T>
SARRUS_HD BoundChange compare_bounds(const SlidingBearings<T>& b) {
  BoundChange round;
  for (int k = 0; k < b.count; ++k) {
    double last = value(b.change[k]), now = value(b.next[k]) - value(b.bound[k]);
    round.most = abs_(now) <= round.most ? round.most : abs_(now);  // NaN never settles
    round.along += now * last, round.before += last * last;
  }
  return round;
}

// Which part of the change of a round the next step is
struct StepOfBounds {
  static constexpr double FIRST = 1.0 / 16;
  double part = 1;

  // grown: the change of this round over the one before, along the latter. The step goes on to the limit of
  // a geometric sequence where whole steps would overshoot, and in every second round.
  SARRUS_HD void choose(int round, double grown) {
    double ratio = 1 + (grown - 1) / part;  // of whole steps
    bool limit = ratio < -1 || (round % 2 == 1 && ratio < 1 && abs_(ratio) > 0.1);
    part = round == 0 ? FIRST : limit ? 1 / (1 - ratio) : 1;
  }
};

template <class T>
SARRUS_HD void step_bounds(double part, SlidingBearings<T>& b) {
  for (int k = 0; k < b.count; ++k) {
    b.change[k] = b.next[k] - b.bound[k];
    T x = part == 1 ? b.next[k] : b.bound[k] + b.change[k] * real<T>(part);
    b.bound[k] = x > real<T>(0) ? x : T(0);
  }
}

// Rounds of (1) from no friction on; false where they do not settle.
template <class T>
SARRUS_FN bool settle_bounds(const Model<real<T>>& m, SlidingBearings<T>& b) {
  double size = 0, latest = 0;
  bool straight = false;  // the last step was a whole one
  StepOfBounds step;
  fill(b.x, b.slabs * LANES + m.nm);
  b.x[0] = T(1);
  fill(b.bound, b.count);
  fill(b.change, b.count);
  for (int i = 0; i < MOST_BOUND_ROUNDS; ++i) {
    next_bounds(m, b);
    size = larger(largest_of(b.count, [&](int k) { return double(value(b.next[k])); }), size);
    auto [most, along, before] = compare_bounds(b);
    bool converges = straight && most < 0.1 * latest;
    double to_come = converges ? 100 * most * most / latest : most;  // at most
    bool settled = size < ENDLESS && to_come <= BOUNDS_SETTLED * size;
    step.choose(i, along / before);
    step_bounds(settled ? 1.0 : step.part, b);
    if (settled) return true;
    latest = most, straight = step.part == 1;
  }
  return false;
}

// out: b.force (nv), w.a with it; false where (1) does not settle   in: w.a, w.rhs without that friction,
// w.tree (moved), w.bodies as evaluate() left it, w factorized, not by the augmented inertia   w.rhs is lost
template <class T, int LDC>
SARRUS_FN bool friction_by_load(const Model<real<T>>& m, const T* v, Workspace<T, LDC>& w,
                                SlidingBearings<T>& b) {
  b.select(m, v);
  fill(b.force, m.nv);
  if (!b.count) return true;
  friction_columns(m, w, b);
  load_columns(m, w, b);
  if (!settle_bounds(m, b)) return false;
  set_coefficients(m, b);
  for (int k = 0; k < b.count; ++k) b.force[b.at[k]] += b.x[1 + k];
  for (int j = 0; j < m.nv; ++j) w.a[j] = b.summed(j);
  return true;
}

SARRUS_END
