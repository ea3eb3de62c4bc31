// Guards: numbers at a state that become negative where a mode ends.
//
//   speed   of a coordinate that slides, in its direction
//   load    1 less the friction of coordinates that stick over its bounds.
//   Where rows that stick depend on
//           each other the friction is one of many: they hold while some
//           friction within the bounds does
//   push    of a closed contact, relative to the largest force; likewise
//   gap     of an open contact
//   slots   of contacts of surfaces (integrate/contacts/contact_guards.hpp), where a run knows them
#pragma once

#include "integrate/modes/settle.hpp"

SARRUS_BEGIN

constexpr double PULLS = 1e-8;      // of the largest force: contacts that pull by more open
constexpr double WRONG_WAY = 1e-6;  // of its largest speed: a coordinate that
                                    // slides backwards faster sticks

struct Guards {
  double *speed, *load, *push, *gap;  // (frictions), (1), (groups), (groups)
  double* slots;                      // as many as given to bind()
  int n = 0;                          // all of them, one behind the other from `speed` on
  const ModeTable* table;

  SARRUS_HD void bind(Arena& arena, const ModeTable& given, int of_slots = 0) {
    table = &given;
    n = given.frictions + 1 + 2 * given.count + of_slots;
    arena.take(n, speed);
    load = speed + given.frictions, push = load + 1, gap = push + given.count, slots = gap + given.count;
  }
  // Whether coordinate k began to slide against its direction
  SARRUS_HD bool backwards(const Mode& mode, int k) const {
    return mode.direction[k] != 0 && mode.armed[k] == 0 && speed[k] < -WRONG_WAY * mode.fastest[k];
  }
  SARRUS_HD bool stops(const Mode& mode, int k) const {
    return mode.direction[k] != 0 && mode.armed[k] != 0 && !(speed[k] > 0);
  }
  // Whether guard i says that the mode has ended
  SARRUS_HD bool ends(const Mode& mode, int i) const {
    if (i < table->frictions) return stops(mode, i) || backwards(mode, i);
    bool opens = i > table->frictions + table->count && i < table->frictions + 1 + 2 * table->count;
    return opens ? !(speed[i] > 0) : speed[i] < 0;
  }
  SARRUS_HD bool end(const Mode& mode) const {
    bool yes = false;
    for (int i = 0; i < n; ++i) yes = yes || ends(mode, i);
    return yes;
  }
};

// A state that a run has reached, with its multipliers: of rows of the view
// `rows`
struct ReachedState {
  State<double> at;
  const double *tau, *lam;      // (nv) applied; (nc of the view)
  const double* by_load;        // (frictions) friction by load
  const unsigned char* unique;  // (nc of the view) which multipliers the motion determines
};

// The largest force of a state, those in [N] times L
template <int LDC>
SARRUS_FN double largest_force(const Unilateral<LDC>& u, const Model<double>& view, const ReachedState& x) {
  double rows = largest_of(view.nc, [&](int r) { return abs_(x.lam[r]) * view.row_unit[r]; });
  double applied = largest_of(u.m.nv, [&](int j) { return abs_(x.tau[j]) * u.m.unit[j]; });
  double held =
      largest_of(u.table.frictions, [&](int k) { return u.fixed[k] * u.m.unit[u.table.coordinate[k]]; });
  return larger(larger(rows, applied), held);
}

// Whether all that sticks and all contacts can hold, by some of the forces that
// give the same motion
template <int LDC>
SARRUS_FN bool can_hold(Unilateral<LDC>& u, const ReachedState& x, const Mode& mode, unsigned char* resting) {
  for (int k = 0; k < u.table.frictions; ++k) resting[k] = mode.direction[k] == 0;
  if (!open_problem(u, x.at, mode, resting, nullptr)) return false;
  if (!solve_unilateral(u, Use{x.tau, x.at.v, resting, 1 + mode.slack[0], 0})) return false;
  bool holds = true;
  for (int k = 0; k < u.table.frictions; ++k) holds = holds && u.direction[k] == mode.direction[k];
  for (int i = 0; i < u.contacts; ++i) holds = holds && !(u.box.rate[u.frictions + i] > 0);
  return holds;
}

// What look_at_forces() finds of contacts, and of coordinates at rest
struct HeldBy {
  bool unique = true;  // the motion determines all of these forces
  double load = 0;     // the largest share of a bound
};
template <int LDC>
SARRUS_FN HeldBy look_at_pushes(const Unilateral<LDC>& u, const ActiveRows<double>& rows,
                                const ReachedState& x, Guards& to) {
  HeldBy found;
  double size = largest_force(u, rows.view, x);
  for (int g = 0; g < u.table.count; ++g) {
    const RowGroup& group = u.table.groups[g];
    int r = group.kind == GroupKind::CONTACT ? rows.place[group.normal] : -1;
    if (r < 0) continue;
    to.push[g] = (size > 0 ? group.side * x.lam[r] * rows.view.row_unit[r] / size : 0) + PULLS;
    found.unique = found.unique && x.unique[r];
  }
  return found;
}
template <int LDC>
SARRUS_FN HeldBy look_at_friction(const Unilateral<LDC>& u, const ActiveRows<double>& rows,
                                  const ReachedState& x) {
  HeldBy found;
  for (int k = 0; k < u.table.frictions; ++k) {
    int r = rows.place[u.table.groups[u.table.count - u.table.frictions + k].begin];
    if (r < 0) continue;
    double bound = u.fixed[k] + x.by_load[k], share = abs_(x.lam[r]) / (bound > 0 ? bound : 1e-300);
    found.load = share <= found.load ? found.load : share;  // NaN does not hold
    found.unique = found.unique && x.unique[r];
  }
  return found;
}

// Whether rows at rest and contacts hold by the given multipliers, and whether the motion determines these.
struct Holding {
  bool holds, unique;
};
// Load and pushes by the multipliers of x, those of the view `rows`
template <int LDC>
SARRUS_FN Holding look_at_multipliers(Unilateral<LDC>& u, const ActiveRows<double>& rows,
                                      const ReachedState& x, const Mode& mode, Guards& to) {
  friction_at_rest(u.m, u.table, u.fixed);
  HeldBy pushes = look_at_pushes(u, rows, x, to), friction = look_at_friction(u, rows, x);
  to.load[0] = 1 + mode.slack[0] - friction.load;
  bool holds = to.load[0] >= 0 && !any_of(u.table.count, [&](int g) { return to.push[g] < 0; });
  return {holds, pushes.unique && friction.unique};
}

// Load and pushes, by some of the multipliers that give the same motion
template <int LDC>
SARRUS_FN void look_at_forces(Unilateral<LDC>& u, const ActiveRows<double>& rows, const ReachedState& x,
                              const Mode& mode, unsigned char* resting, Guards& to) {
  Holding found = look_at_multipliers(u, rows, x, mode, to);
  if (found.holds || found.unique || !can_hold(u, x, mode, resting)) return;
  to.load[0] = larger(to.load[0], 0.0);
  for (int g = 0; g < u.table.count; ++g) to.push[g] = larger(to.push[g], 0.0);
}

// Whether guards need forces: some row is held or some contact is closed.
SARRUS_HD bool needs_forces(const ModeTable& table, const Mode& mode) {
  return any_of(table.count, [&](int g) {
    GroupKind kind = table.groups[g].kind;
    return mode.closed[g] != 0 && (kind == GroupKind::CONTACT || kind == GroupKind::HELD);
  });
}
SARRUS_HD bool is_open_contact(const ModeTable& table, const Mode& mode, int g) {
  return table.groups[g].kind == GroupKind::CONTACT && mode.closed[g] == 0;
}

// Speeds, and 1 for all other guards
SARRUS_FN void look_at_speeds(const ModeTable& table, const Mode& mode, const double* v, Guards& to) {
  for (int i = 0; i < to.n; ++i) to.speed[i] = 1;
  for (int k = 0; k < table.frictions; ++k)
    if (mode.direction[k] != 0) to.speed[k] = mode.direction[k] * v[table.coordinate[k]];
}
// Gaps of open contacts; phi(row) of the whole model
template <class Gap>
SARRUS_FN void look_at_gaps(const ModeTable& table, const Mode& mode, Gap phi, Guards& to) {
  for (int g = 0; g < table.count; ++g)
    if (is_open_contact(table, mode, g))
      to.gap[g] = table.groups[g].side * phi(table.groups[g].normal) + mode.margin[g];
}

// All guards at a state; forces only where they are needed (x.lam not null)
template <int LDC>
SARRUS_FN void look(Unilateral<LDC>& u, const ActiveRows<double>& rows, const ReachedState& x,
                    const Mode& mode, unsigned char* resting, Guards& to) {
  const ModeTable& table = u.table;
  look_at_speeds(table, mode, x.at.v, to);
  if (x.lam) look_at_forces(u, rows, x, mode, resting, to);
  if (!any_of(table.count, [&](int g) { return is_open_contact(table, mode, g); })) return;
  all_rows(u, x.at, u.lam);
  look_at_gaps(table, mode, [&](int row) { return u.w.rows.phi[row]; }, to);
}

SARRUS_END
