// Dry friction at rest and contacts that push, in one problem at one state.
//
// Whether a contact opens depends on the friction of coordinates at rest, and that on the pushes of contacts.
// The acceleration minimizes Gauss' function plus the friction power,
//
//   min_a  |a - a_free|_M^2 / 2 + sum_k c_k |a_k|    with  J a = gamma,  side (J_n a - gamma_n) >= 0      (1)
//
// which has one solution, whatever rows depend on each other. In the friction f and the pushes it is a box
// problem (algebra/box_problem.hpp) with the accelerations a_0 + G f along the rows that take part. Of all
// velocities that penetrate no contact an impact leaves the one nearest to the velocity before it in the mass
// metric (Moreau): the same problem for velocities, without friction, whose forces are finite.
//
// Bounds by load c = c_0 + mu F depend on the motion: a fixed point from the friction that holds whatever is
// at rest, so that what can stick sticks.
#pragma once

#include "algebra/box_problem.hpp"
#include "constraints/active_rows.hpp"
#include "solve/friction_by_load.hpp"
#include "solve/projection.hpp"

SARRUS_BEGIN

constexpr double UNILATERAL_ROUNDING = 1e-12;  // of the largest acceleration, and of the largest direction
constexpr double NO_BOUND = 1e-12;             // of the largest bound: smaller ones hold nothing
constexpr double HOLDS = 1e4;                  // times the largest applied force: friction that holds all

template <int LDC>
struct Unilateral {
  const Model<double>& m;
  const ModeTable& table;
  ActiveRows<double> rows;  // those that act, without held coordinates
  Workspace<double, LDC> w;
  Spatial<double>* W;       // (nc) wrenches of these rows
  Model<double> chosen;     // the rows without the normals of contacts
  double* chosen_unit;      // (nc)
  int* chosen_row;          // (nc) which row of `rows` each is
  int *friction, *contact;  // which coordinates of the table, which groups take part
  int frictions = 0, contacts = 0;
  bool by_load = false;     // some friction grows with loads
  double *A, *X;            // (n, ld) rows without units, and the motion by a unit force along each
  double *right, *right_v;  // (n) gamma and b of the contacts' rows, without units
  double *fixed, *extra, *bound, *next, *change;  // (frictions of the table) bounds
  double* direction;                              // (frictions of the table) what solve_unilateral() finds
  double *force, *a, *lam;  // (nv) friction of rows that take part, acceleration; (nc) multipliers
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

// Friction at rest (frictions) without that by load: Coulomb friction at the speed zero
SARRUS_FN void friction_at_rest(const Model<double>& m, const ModeTable& table, double* out) {
  for (int k = 0; k < table.frictions; ++k) {
    out[k] = 0;
    for (int i = 0; i < m.ncf; ++i)
      if (m.cf_v[i] == table.coordinate[k] && m.cf_kind[i] == CoordinateForceKind::CoulombFriction)
        out[k] += parameters_at<CoulombFriction>(m.cf_values + m.cf_begin[i]).breakaway;
  }
}

// Puts the normal rows of closed contacts into u.A and the other rows in front of w.rows.
template <int LDC>
SARRUS_FN void separate_normals(Unilateral<LDC>& u, const unsigned char* gone) {
  Workspace<double, LDC>& w = u.w;
  const Model<double>& view = u.rows.view;
  int ld = w.ld, n = 0;
  u.contacts = 0;
  for (int g = 0; g < u.table.count; ++g) {
    const RowGroup& group = u.table.groups[g];
    int r = group.kind == GroupKind::CONTACT ? u.rows.place[group.normal] : -1;
    if (r < 0 || (gone && gone[g])) continue;
    int i = u.frictions + u.contacts;
    double scale = group.side / view.row_unit[r];
    for (int j = 0; j < ld; ++j) u.A[i * ld + j] = j < u.m.nv ? w.rows.J[r * ld + j] * scale : 0;
    u.right[i] = w.rows.gamma[r] * scale, u.right_v[i] = w.rows.b[r] * scale;
    u.contact[u.contacts++] = g;
  }
  for (int g = 0; g < u.table.count; ++g)
    for (int whole = u.table.groups[g].begin; whole < u.table.groups[g].end; ++whole) {
      int r = u.rows.place[whole];
      if (r < 0 || (u.table.groups[g].kind == GroupKind::CONTACT && whole == u.table.groups[g].normal))
        continue;
      for (int j = 0; n != r && j < ld; ++j) w.rows.J[n * ld + j] = w.rows.J[r * ld + j];
      w.rows.gamma[n] = w.rows.gamma[r], w.rows.b[n] = w.rows.b[r];
      u.chosen_unit[n] = view.row_unit[r], u.chosen_row[n++] = r;
    }
  u.chosen = view;
  u.chosen.nc = n;
  u.chosen.row_unit = u.chosen_unit;
  u.chosen.ne = u.chosen.nk = u.chosen.nm = 0;
}

// The problem at a state in a mode: of coordinates `resting` (frictions), and of closed contacts but those
// that are `gone` (groups; null: none is).   False: the inertia is not positive definite.
template <int LDC>
SARRUS_FN bool open_problem(Unilateral<LDC>& u, const State<double>& s, const Mode& mode,
                            const unsigned char* resting, const unsigned char* gone) {
  Workspace<double, LDC>& w = u.w;
  const ModeTable& table = u.table;
  int ld = w.ld;
  double* direction = u.next;
  for (int k = 0; k < table.frictions; ++k) {
    double x = s.v[table.coordinate[k]];
    direction[k] = resting[k] ? 0 : x > 0 ? 1 : x < 0 ? -1 : 0;
  }
  u.rows.direct(table, direction);
  int g = 0;
  u.rows.choose(mode.values, [&](int r) {
    while (table.groups[g].end <= r) ++g;
    return table.groups[g].kind != GroupKind::HELD && mode.closed[g] != 0;
  });
  evaluate(u.rows.view, s, w);
  if (u.by_load) row_wrenches(u.rows.view, w.tree, u.W);
  u.frictions = 0;
  for (int k = 0; k < table.frictions; ++k) {
    if (!resting[k]) continue;
    fill(u.A + u.frictions * ld, ld);
    u.A[u.frictions * ld + table.coordinate[k]] = 1 / u.m.unit[table.coordinate[k]];
    u.right[u.frictions] = u.right_v[u.frictions] = 0;
    u.friction[u.frictions++] = k;
  }
  separate_normals(u, gone);
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

// G and g of the box problem for a motion x (ld) without the forces, right sides r (n)
template <int LDC>
SARRUS_FN void fill_box(Unilateral<LDC>& u, const double* x, const double* r) {
  int n = u.box.n = u.n(), ld = u.w.ld;
  double most = 0, size = 0;
  for (int j = 0; j < u.m.nv; ++j) most = abs_(x[j]) / u.m.unit[j] > most ? abs_(x[j]) / u.m.unit[j] : most;
  for (int i = 0; i < n; ++i) {
    double rate = dot(u.row(i), x, ld) - r[i];
    u.box.g[i] = abs_(rate) <= UNILATERAL_ROUNDING * most ? 0 : rate;
    for (int j = 0; j < n; ++j) u.box.G[i * n + j] = dot(u.row(i), u.X + j * ld, ld);
    size = u.box.G[i * n + i] > size ? u.box.G[i * n + i] : size;
  }
  for (int i = 0; i < n; ++i)
    if (u.box.G[i * n + i] <= UNILATERAL_ROUNDING * UNILATERAL_ROUNDING * size)
      for (int j = 0; j < n; ++j) u.box.G[i * n + j] = u.box.G[j * n + i] = 0;
}

// v (ld) after an inelastic impact of the closed rows; contacts push and do not pull. No friction takes part.
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

// What a solution of (1) is wanted for: applied force tau (nv), velocities v (nv), which coordinates of the
// table rest, the share of the bounds that can be used, and what contacts push with at least, relative to
// the largest force
struct Use {
  const double *tau, *v;
  const unsigned char* resting;
  double share, least;
};
// One solution of (1) with bounds by load u.extra: u.force, u.a, u.direction
template <int LDC>
SARRUS_FN void solve_with_bounds(Unilateral<LDC>& u, const Use& x) {
  Workspace<double, LDC>& w = u.w;
  const ModeTable& table = u.table;
  const Model<double>& m = u.m;
  double most = 0;
  fill(u.force, w.ld);
  for (int k = 0; k < table.frictions; ++k) {
    int j = table.coordinate[k];
    u.direction[k] = x.resting[k] ? 0 : x.v[j] > 0 ? 1 : x.v[j] < 0 ? -1 : 0;
    u.force[j] -= u.direction[k] * u.extra[k];
    u.bound[k] = x.share * (u.fixed[k] + u.extra[k]) * m.unit[j];
    most = u.bound[k] > most ? u.bound[k] : most;
  }
  for (int j = 0; j < m.nv; ++j) w.change[j] = x.tau[j] + u.force[j];
  accelerate(u.chosen, w.change, w);
  refine(u.chosen, w);
  copy(u.a, w.a, w.ld);
  double fastest = 0;  // also without the forces that are sought: what they leave may be rounding
  for (int j = 0; j < m.nv; ++j)
    fastest = abs_(u.a[j]) / m.unit[j] > fastest ? abs_(u.a[j]) / m.unit[j] : fastest;
  fill_box(u, u.a, u.right);
  for (int i = 0; i < u.n(); ++i) {
    bool rests = i < u.frictions;
    double c = rests ? u.bound[u.friction[i]] : 0;
    u.box.high[i] = !rests ? BOX_UNBOUNDED : c > NO_BOUND * most ? c : 0;
    u.box.low[i] = rests ? -u.box.high[i] : x.least;
  }
  solve_box(u.box);
  for (int i = 0; i < u.n(); ++i) axpy(u.a, u.box.f[i], u.X + i * w.ld, w.ld);
  for (int j = 0; j < m.nv; ++j)
    fastest = abs_(u.a[j]) / m.unit[j] > fastest ? abs_(u.a[j]) / m.unit[j] : fastest;
  for (int i = 0; i < u.frictions; ++i) {
    int k = u.friction[i], j = table.coordinate[k];
    u.force[j] += u.box.f[i] / m.unit[j];
    double rate = u.box.rate[i];
    if (u.box.high[i] == 0) rate = abs_(u.a[j]) / m.unit[j] > BOX_STILL * fastest ? u.a[j] : 0;
    u.direction[k] = rate > 0 ? 1 : rate < 0 ? -1 : 0;
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
  each_bearing(m, [&](int i, const auto& c) {
    for (int k = 0; k < u.table.frictions; ++k)
      if (u.table.coordinate[k] == m.cf_v[i]) u.next[k] += bearing_bound(w.tree, c, w.bodies.F);
  });
}

// (1): u.a, u.box, u.direction.   False: friction by load finds no force.
template <int LDC>
SARRUS_FN bool solve_unilateral(Unilateral<LDC>& u, Use x) {
  const Model<double>& m = u.m;
  int count = u.table.frictions;
  double size = 0;
  for (int j = 0; j < m.nv; ++j) {
    double f = abs_(x.tau[j] - u.w.h[j]) * m.unit[j];
    size = f > size ? f : size;
  }
  for (int k = 0; k < count; ++k) {
    double c = u.fixed[k] * m.unit[u.table.coordinate[k]];
    size = c > size ? c : size;
  }
  x.least *= size;
  if (!u.by_load) {
    solve_with_bounds(u, x);
    return true;
  }
  for (int k = 0; k < count; ++k) {
    u.change[k] = 0;
    u.extra[k] = x.resting[k] ? HOLDS * size / m.unit[u.table.coordinate[k]] : 0;
  }
  solve_with_bounds(u, x);
  bounds_by_load(u, x.tau);
  copy(u.extra, u.next, count);
  double largest = 0;
  for (int k = 0; k < count; ++k) largest = u.extra[k] > largest ? u.extra[k] : largest;
  for (int round = 0; round < MOST_BOUND_ROUNDS; ++round) {
    solve_with_bounds(u, x);
    bounds_by_load(u, x.tau);
    double most = 0, along = 0, before = 1e-300;
    for (int k = 0; k < count; ++k) {
      double now = u.next[k] - u.extra[k], last = u.change[k];
      largest = u.next[k] > largest ? u.next[k] : largest;
      most = abs_(now) <= most ? most : abs_(now);
      along += now * last, before += last * last;
      u.change[k] = now, u.extra[k] = u.next[k];
    }
    if (most <= BOUNDS_SETTLED * largest) {
      solve_with_bounds(u, x);
      return true;
    }
    if (!(largest < ENDLESS)) return false;
    double ratio = along / before;
    if (round % 2 == 1 && ratio < 1 && abs_(ratio) > 0.1)
      for (int k = 0; k < count; ++k) {
        double limit = u.extra[k] + u.change[k] * ratio / (1 - ratio);
        u.extra[k] = limit > 0 ? limit : 0;
      }
  }
  return false;
}

SARRUS_END
