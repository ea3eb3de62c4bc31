// Dry friction at rest and contacts that push, in one problem at one state.
//
// Whether a contact opens depends on the friction of coordinates at rest, and
// that on the pushes of contacts. The acceleration minimizes Gauss' function
// plus the friction power,
//
//   min_a  |a - a_free|_M^2 / 2 + sum_k c_k |a_k|    with  J a = gamma,  side
//   (J_n a - gamma_n) >= 0      (1)
//
// which has one solution, whatever rows depend on each other. In the friction f
// and the pushes it is a box problem (algebra/box_problem.hpp) with the
// accelerations a_0 + G f along the rows that take part. Of all velocities that
// penetrate no contact an impact leaves the one nearest to the velocity before
// it in the mass metric (Moreau): the same problem for velocities, without
// friction, whose forces are finite.
//
// Bounds by load c = c_0 + mu F depend on the motion: a fixed point from the
// friction that holds whatever is at rest, so that what can stick sticks.
#pragma once

#include "algebra/box_problem.hpp"
#include "constraints/active_rows.hpp"
#include "solve/friction/friction_by_load.hpp"
#include "solve/search/projection.hpp"

SARRUS_BEGIN

constexpr double UNILATERAL_ROUNDING = 1e-12;  // of the largest acceleration, and of the largest direction
constexpr double NO_BOUND = 1e-12;             // of the largest bound: smaller ones hold nothing
constexpr double BOUNDS_ROUNDED = 1e-9;  // of the largest bound: loads of badly conditioned poses round to it
constexpr double HOLDS = 1e4;            // times the largest applied force: friction that holds all

template <int LDC>
struct Unilateral {
  const Model<double>& m;
  const ModeTable& table;
  ActiveRows<double> rows;  // those that act, without held coordinates
  Workspace<double, LDC> w;
  Spatial<double>* W;    // (nc) wrenches of these rows
  Model<double> chosen;  // the rows without the normals of contacts
  double* chosen_unit;   // (nc)
  int* chosen_row;       // (nc) which row of `rows` each is
  int *friction,
      *contact;  // which coordinates of the table, which groups take part
  int frictions = 0, contacts = 0;
  bool by_load = false;  // some friction grows with loads
  double *A, *X;         // (n, ld) rows without units, and the motion by a unit force
                         // along each
  double *right,
      *right_v;  // (n) gamma and b of the contacts' rows, without units
  double *fixed, *extra, *bound, *next,
      *change;                             // (frictions of the table) bounds
  double* direction;                       // (frictions of the table) what solve_unilateral() finds
  double *force, *a, *lam;                 // (nv) friction of rows that take part,
                                           // acceleration; (nc) multipliers
  const Spatial<double>* outer = nullptr;  // (nn) further wrenches on nodes about O, or null
  BoxProblem box;

  SARRUS_HD Unilateral(const Model<double>& model, const ModeTable& given, Arena& arena)
      : m(model), table(given), w(m, arena) {
    int most = table.frictions + table.count;
    rows.bind(m, arena);
    arena.take(m.nc, W, chosen_unit, chosen_row, lam);
    arena.take(most, friction, contact, right, right_v);
    arena.take(most * w.ld, A, X);
    arena.take(table.frictions, fixed, extra, bound, next, change, direction);
    arena.take(w.ld, force, a);
    box.bind(arena, most);
    each_bearing(m, [&](int, const auto&) { by_load = true; });
  }
  SARRUS_HD int n() const { return frictions + contacts; }
  SARRUS_HD const double* row(int i) const { return A + i * w.ld; }
};

// Friction at rest (frictions) without that by load: Coulomb friction at the
// speed zero
SARRUS_FN void friction_at_rest(const Model<double>& m, const ModeTable& table, double* out) {
  for (int k = 0; k < table.frictions; ++k) {
    out[k] = 0;
    for (int i = 0; i < m.ncf; ++i)
      if (m.cf_v[i] == table.coordinate[k] && m.cf_kind[i] == CoordinateForceKind::CoulombFriction)
        out[k] += parameters_at<CoulombFriction>(m.cf_values + m.cf_begin[i]).breakaway;
  }
}

// Largest entry of a velocity or an acceleration (nv) without units
SARRUS_HD double largest_rate(const Model<double>& m, const double* x) {
  return largest_of(m.nv, [&](int j) { return abs_(x[j]) / m.unit[j]; });
}

// Row of the normal of a contact that takes part, among those that act; -1:
// none does
template <int LDC>
SARRUS_HD int normal_row(const Unilateral<LDC>& u, int g, const unsigned char* gone) {
  const RowGroup& group = u.table.groups[g];
  bool takes_part = group.kind == GroupKind::CONTACT && !(gone && gone[g]);
  return takes_part ? u.rows.place[group.normal] : -1;
}
template <int LDC>
SARRUS_HD bool is_normal(const Unilateral<LDC>& u, int g, int row) {
  return u.table.groups[g].kind == GroupKind::CONTACT && row == u.table.groups[g].normal;
}

// Puts the normal rows of closed contacts behind those of friction in u.A.
template <int LDC>
SARRUS_FN void take_normals(Unilateral<LDC>& u, const unsigned char* gone) {
  const Rows<double>& rows = u.w.rows;
  int ld = u.w.ld;
  u.contacts = 0;
  for (int g = 0; g < u.table.count; ++g) {
    int r = normal_row(u, g, gone), i = u.n();
    if (r < 0) continue;
    double scale = u.table.groups[g].side / u.rows.view.row_unit[r];
    fill(u.A + i * ld, ld);
    set_scaled(u.A + i * ld, scale, rows.J + r * ld, u.m.nv);
    u.right[i] = rows.gamma[r] * scale, u.right_v[i] = rows.b[r] * scale;
    u.contact[u.contacts++] = g;
  }
}
// Moves the other rows to the front of w.rows: the model `chosen` has these
// alone.
template <int LDC>
SARRUS_FN void keep_other_rows(Unilateral<LDC>& u) {
  Rows<double>& rows = u.w.rows;
  int ld = u.w.ld, n = 0;
  for (int g = 0; g < u.table.count; ++g)
    for (int whole = u.table.groups[g].begin; whole < u.table.groups[g].end; ++whole) {
      int r = u.rows.place[whole];
      if (r < 0 || is_normal(u, g, whole)) continue;
      if (n != r) copy(rows.J + n * ld, rows.J + r * ld, ld);
      rows.gamma[n] = rows.gamma[r], rows.b[n] = rows.b[r];
      u.chosen_unit[n] = u.rows.view.row_unit[r], u.chosen_row[n++] = r;
    }
  u.chosen = u.rows.view;
  u.chosen.nc = n;
  u.chosen.row_unit = u.chosen_unit;
  u.chosen.ne = u.chosen.nk = u.chosen.nm = 0;
}
// Puts one row for each coordinate at rest (frictions) to the front of u.A.
template <int LDC>
SARRUS_FN void take_resting(Unilateral<LDC>& u, const unsigned char* resting) {
  int ld = u.w.ld;
  u.frictions = 0;
  for (int k = 0; k < u.table.frictions; ++k) {
    if (!resting[k]) continue;
    int j = u.table.coordinate[k];
    fill(u.A + u.frictions * ld, ld);
    u.A[u.frictions * ld + j] = 1 / u.m.unit[j];
    u.right[u.frictions] = u.right_v[u.frictions] = 0;
    u.friction[u.frictions++] = k;
  }
}
SARRUS_HD double sign_of(double x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

// Directions (frictions) in which coordinates slide; 0 for those at rest
SARRUS_FN void directions_of(const ModeTable& table, const double* v, const unsigned char* resting,
                             double* direction) {
  for (int k = 0; k < table.frictions; ++k) direction[k] = resting[k] ? 0 : sign_of(v[table.coordinate[k]]);
}

// The problem at a state in a mode: of coordinates `resting` (frictions), and
// of closed contacts but those that are `gone` (groups; null: none is). False:
// the inertia is not positive definite.
template <int LDC>
SARRUS_FN bool open_problem(Unilateral<LDC>& u, const State<double>& s, const Mode& mode,
                            const unsigned char* resting, const unsigned char* gone) {
  Workspace<double, LDC>& w = u.w;
  const ModeTable& table = u.table;
  int ld = w.ld;
  directions_of(table, s.v, resting, u.next);
  u.rows.direct(table, u.next);
  u.rows.choose_constraints(table, mode);
  evaluate(u.rows.view, s, w);
  if (u.by_load) row_wrenches(u.rows.view, w.tree, u.W);
  take_resting(u, resting);
  take_normals(u, gone);
  keep_other_rows(u);
  friction_at_rest(u.m, table, u.fixed);
  fill(u.extra, table.frictions);
  factorize_rows(u.chosen, w);
  for (int i = 0; i < u.n(); ++i) {
    for (int j = 0; j < u.m.nv; ++j) w.rhs[j] = u.A[i * ld + j];
    accelerate_by_force(u.chosen, w);
    copy(u.X + i * ld, w.a, ld);
  }
  return w.factor.spd;
}

// G and g of the box problem for a motion x (ld) without the forces, right
// sides r (n)
template <int LDC>
SARRUS_FN void fill_box(Unilateral<LDC>& u, const double* x, const double* r) {
  int n = u.box.n = u.n(), ld = u.w.ld;
  double most = largest_rate(u.m, x);
  for (int i = 0; i < n; ++i) {
    double rate = dot(u.row(i), x, ld) - r[i];
    u.box.g[i] = abs_(rate) <= UNILATERAL_ROUNDING * most ? 0 : rate;
    for (int j = 0; j < n; ++j) u.box.G[i * n + j] = dot(u.row(i), u.X + j * ld, ld);
  }
  double size = largest_of(n, [&](int i) { return u.box.G[i * n + i]; });
  for (int i = 0; i < n; ++i)
    if (u.box.G[i * n + i] <= UNILATERAL_ROUNDING * UNILATERAL_ROUNDING * size)
      for (int j = 0; j < n; ++j) u.box.G[i * n + j] = u.box.G[j * n + i] = 0;
}

// v (ld) after an inelastic impact of the closed rows; contacts push and do not
// pull. No friction takes part.
template <int LDC>
SARRUS_FN void impact_velocity(Unilateral<LDC>& u, double* v) {
  Workspace<double, LDC>& w = u.w;
  for (int again = 0; again < 2; ++again) {  // the second solve makes up for the rounding of the first
    velocity_residual(u.chosen, v, w);
    normal_step(u.chosen, w.extra, w);
    for (int j = 0; j < u.m.nv; ++j) v[j] += w.a[j];
  }
  fill_box(u, v, u.right_v);
  for (int i = 0; i < u.n(); ++i) u.box.low[i] = 0, u.box.high[i] = BOX_UNBOUNDED;
  solve_box(u.box);
  for (int i = 0; i < u.n(); ++i) axpy(v, u.box.f[i], u.X + i * w.ld, w.ld);
}

// What a solution of (1) is wanted for: applied force tau (nv), velocities v
// (nv), which coordinates of the table rest, the share of the bounds that can
// be used, and what contacts push with at least, relative to the largest force
struct Use {
  const double *tau, *v;
  const unsigned char* resting;
  double share, least;
};
// Directions, bounds, and the friction by load of what slides, from u.extra.
// Returns the largest bound.
template <int LDC>
SARRUS_FN double set_bounds(Unilateral<LDC>& u, const Use& x) {
  const ModeTable& table = u.table;
  fill(u.force, u.w.ld);
  directions_of(table, x.v, x.resting, u.direction);
  for (int k = 0; k < table.frictions; ++k) {
    int j = table.coordinate[k];
    u.force[j] -= u.direction[k] * u.extra[k];
    u.bound[k] = x.share * (u.fixed[k] + u.extra[k]) * u.m.unit[j];
  }
  return largest_of(table.frictions, [&](int k) { return u.bound[k]; });
}
// Limits of the forces: friction within its bounds, pushes without end
template <int LDC>
SARRUS_FN void set_box(Unilateral<LDC>& u, const Use& x, double largest_bound) {
  for (int i = 0; i < u.frictions; ++i) {
    double c = u.bound[u.friction[i]];
    u.box.high[i] = c > NO_BOUND * largest_bound ? c : 0;
    u.box.low[i] = -u.box.high[i];
  }
  for (int i = u.frictions; i < u.n(); ++i) u.box.low[i] = x.least, u.box.high[i] = BOX_UNBOUNDED;
}
// One solution of (1) with bounds by load u.extra: u.force, u.a, u.direction
template <int LDC>
SARRUS_FN void solve_with_bounds(Unilateral<LDC>& u, const Use& x) {
  Workspace<double, LDC>& w = u.w;
  const Model<double>& m = u.m;
  double largest_bound = set_bounds(u, x);
  set_sum(w.change, x.tau, u.force, m.nv);
  accelerate(u.chosen, w.change, w);
  refine(u.chosen, w);
  copy(u.a, w.a, w.ld);
  fill_box(u, u.a, u.right);
  set_box(u, x, largest_bound);
  solve_box(u.box);
  double fastest = largest_rate(m, u.a);  // without these forces: what they leave may be rounding
  for (int i = 0; i < u.n(); ++i) axpy(u.a, u.box.f[i], u.X + i * w.ld, w.ld);
  fastest = larger(largest_rate(m, u.a), fastest);
  for (int i = 0; i < u.frictions; ++i) {
    int k = u.friction[i], j = u.table.coordinate[k];
    bool moves = abs_(u.a[j]) / m.unit[j] > BOX_STILL * fastest;
    u.force[j] += u.box.f[i] / m.unit[j];
    u.direction[k] = u.box.high[i] != 0 ? sign_of(u.box.rate[i]) : moves ? sign_of(u.a[j]) : 0;
  }
}

// u.next: bounds by load in the motion that solve_with_bounds() found under tau
template <int LDC>
SARRUS_FN void bounds_by_load(Unilateral<LDC>& u, const double* tau) {
  Workspace<double, LDC>& w = u.w;
  const Model<double>& m = u.m;
  fill(u.lam, m.nc);
  for (int j = 0; j < m.nv; ++j) w.rhs[j] = tau[j] + u.force[j] - w.h[j];
  for (int i = 0; i < u.contacts; ++i) {
    const RowGroup& group = u.table.groups[u.contact[i]];
    double push = u.box.f[u.frictions + i];
    int r = u.rows.place[group.normal];
    u.lam[r] = group.side * push / u.rows.view.row_unit[r];
    for (int j = 0; j < m.nv; ++j) w.rhs[j] += push * u.A[(u.frictions + i) * w.ld + j];
  }
  copy(w.a, u.a, w.ld);
  multipliers(u.chosen, w, w.extra);
  for (int r = 0; r < u.chosen.nc; ++r) u.lam[u.chosen_row[r]] = w.extra[r];
  joint_wrenches(u.rows.view, w.tree, RowMotion<double>{u.a, u.lam, u.W}, u.outer, w.bodies);
  fill(u.next, u.table.frictions);
  const Transmitted<double> carried = {w.bodies.F, u.lam};
  each_bearing(m, [&](int i, const auto& c) {
    double way = sign_of(u.force[m.cf_v[i]]);
    for (int k = 0; k < u.table.frictions; ++k)
      if (u.table.coordinate[k] == m.cf_v[i])
        u.next[k] += bearing_bound(u.rows.view, w.tree, c, carried, way);
  });
}

// The largest force that acts, or that friction can hold, those in [N] times L
template <int LDC>
SARRUS_FN double size_of_forces(const Unilateral<LDC>& u, const double* tau) {
  const Model<double>& m = u.m;
  double applied = largest_of(m.nv, [&](int j) { return abs_(tau[j] - u.w.h[j]) * m.unit[j]; });
  double held =
      largest_of(u.table.frictions, [&](int k) { return u.fixed[k] * m.unit[u.table.coordinate[k]]; });
  return larger(applied, held);
}

// A round of the fixed point of bounds by load, from u.extra to u.next.
struct BoundsRound {
  double most = 0;   // change
  double grown = 0;  // the change of this round over the one before, along the latter
};
template <int LDC>
SARRUS_FN BoundsRound compare_bounds(const Unilateral<LDC>& u, int count) {
  BoundsRound round;
  double along = 0, before = 1e-300;
  for (int k = 0; k < count; ++k) {
    double now = u.next[k] - u.extra[k], last = u.change[k];
    round.most = abs_(now) <= round.most ? round.most : abs_(now);  // NaN does not settle
    along += now * last, before += last * last;
  }
  round.grown = along / before;
  return round;
}
// A part of the step from u.extra to u.next; their difference is u.change.
template <int LDC>
SARRUS_FN void step_bounds(Unilateral<LDC>& u, int count, double part) {
  for (int k = 0; k < count; ++k) {
    u.change[k] = u.next[k] - u.extra[k];
    u.extra[k] = part == 1 ? u.next[k] : larger(u.extra[k] + u.change[k] * part, 0.0);
  }
}

// The fixed point of bounds by load, from the friction that holds whatever is
// at rest.   False: there is none.
template <int LDC>
SARRUS_FN bool settle_bounds(Unilateral<LDC>& u, const Use& x, double size) {
  int count = u.table.frictions;
  fill(u.change, count);
  for (int k = 0; k < count; ++k)
    u.extra[k] = x.resting[k] ? HOLDS * size / u.m.unit[u.table.coordinate[k]] : 0;
  solve_with_bounds(u, x);
  bounds_by_load(u, x.tau);
  for (int k = 0; k < count; ++k) u.extra[k] = x.resting[k] ? u.next[k] : 0;
  double largest = largest_of(count, [&](int k) { return u.next[k]; }), most = 0;
  StepOfBounds step;
  for (int round = 0; round < MOST_BOUND_ROUNDS; ++round) {
    solve_with_bounds(u, x);
    bounds_by_load(u, x.tau);
    BoundsRound now = compare_bounds(u, count);
    largest = larger(largest_of(count, [&](int k) { return u.next[k]; }), largest);
    most = now.most;
    if (most <= BOUNDS_SETTLED * largest) {
      copy(u.extra, u.next, count);
      return true;
    }
    if (!(largest < ENDLESS)) return false;
    step.choose(round, now.grown);
    step_bounds(u, count, step.part);
  }
  return most <= BOUNDS_ROUNDED * largest;
}

// (1): u.a, u.box, u.direction.   False: friction by load finds no force.
template <int LDC>
SARRUS_FN bool solve_unilateral(Unilateral<LDC>& u, Use x) {
  double size = size_of_forces(u, x.tau);
  x.least *= size;
  if (u.by_load && !settle_bounds(u, x, size)) return false;
  solve_with_bounds(u, x);
  return true;
}

SARRUS_END
