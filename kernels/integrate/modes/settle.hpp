// Settles the mode at a state: constraints close or open, with an impact where
// something closes, contacts that would pull open, and coordinates with dry
// friction stick or begin to slide.
#pragma once

#include "constraints/latch.hpp"
#include "integrate/modes/unilateral.hpp"
#include "integrate/options.hpp"

SARRUS_BEGIN

constexpr double AT_REST = 1e-10;       // of the largest speed (lengths over L):
                                        // coordinates that are slower rest
constexpr double NEAR_REST = 1e-5;      // of its largest speed in a mode: a slower
                                        // coordinate rests at its end
constexpr double LEAST_FASTEST = 1e-5;  // of the largest speed: least of what `fastest` of a mode starts from
constexpr double BREAKING = 1e-6;       // of the bounds: left out of them to find
                                        // which coordinates begin to slide
constexpr double FRICTION_SLACK = 1e-9;  // of the bounds: load beyond them at which coordinates slide
constexpr double STANDS = 1e-9;          // of the speeds (lengths over L): a contact that opens slower stands
constexpr double LEAST_RATE = 1e-6;      // lower bound of the speeds that others are compared with
constexpr double TOUCHES = 1e-9;         // of L: contacts this close take part in impacts
constexpr double BELOW = 1e-13;          // of L: penetration at which contacts on the surface touch again
constexpr double MOST_MISS = 1e-6;       // of the speeds: what velocities after an impact may miss
constexpr double MOST_GAP = 1e-6;        // of L: largest gap of a constraint that closes

// Why the mode is settled.
struct Cause {
  double t, dt;                // time, and the step of the run [s]
  const double* tau;           // (nv) applied force
  const signed char* changes;  // (groups) 1: closes, -1: opens, 0: stays
  signed char* touched;        // (groups) out: 1 where one closes, even if it opens again
  int* open_group;             // out: one that was to close where it is open
  const unsigned char* stops;  // (frictions) 1: has come to rest, whatever is
                               // left of its velocity
  bool starts;                 // the first mode of a run
  bool breaks;                 // a load just exceeds its bounds, or a contact pulls
};

// A state whose velocity may change (ld), with drives and user rows there
struct Settled {
  const double* q;
  double* v;
  const double *drive, *user;
  SARRUS_HD State<double> state() const { return {q, v, drive, user}; }
};

// out: phi of all rows of the whole model in w.rows.phi, J v - b in rate (nc)
template <int LDC>
SARRUS_FN void all_rows(Unilateral<LDC>& u, const State<double>& s, double* rate) {
  place(u.m, s.q, u.w.tree);
  move(u.m, s.v, u.w.tree);
  constraint_values(u.m, s, u.w.tree, u.w.rows, rate);
  for (int r = 0; r < u.m.nc; ++r) rate[r] -= u.w.rows.b[r];
}

// Closes a group, where it is a latch at the present pose. False: it is open by
// too much.   in: all_rows()
template <int LDC>
SARRUS_FN bool close_group(Unilateral<LDC>& u, const State<double>& s, int g, Mode& mode) {
  const RowGroup& group = u.table.groups[g];
  mode.closed[g] = 1;
  if (group.latch) {
    latch_rows(u.m, s, u.w.tree, group.begin, group.end, mode.values);
    return true;
  }
  for (int r = group.begin; r < group.end; ++r)
    if (u.m.row_holonomic[r] && abs_(u.w.rows.phi[r]) > MOST_GAP * u.m.row_unit[r]) return false;
  return true;
}

// Whether an open contact touches and does not separate   in: all_rows(), its
// rate
template <int LDC>
SARRUS_HD bool arrives(const Unilateral<LDC>& u, int g, const double* rate, double speed) {
  const RowGroup& group = u.table.groups[g];
  double least = STANDS * (speed > LEAST_RATE ? speed : LEAST_RATE) * u.m.row_unit[group.normal];
  return group.side * u.w.rows.phi[group.normal] <= TOUCHES * u.m.length[0] &&
         group.side * rate[group.normal] <= least;
}

// Velocity onto all closed rows, nearest in the mass metric. False: none
// satisfies them. before: its largest entry without units
template <int LDC>
SARRUS_FN bool close_velocity(Unilateral<LDC>& u, const Settled& x, const Mode& mode, double before) {
  Workspace<double, LDC>& w = u.w;
  u.rows.choose_constraints(u.table, mode);
  evaluate(u.rows.view, x.state(), w);
  factorize_rows(u.rows.view, w);
  for (int again = 0; again < 2; ++again) {
    velocity_residual(u.rows.view, x.v, w);
    normal_step(u.rows.view, w.extra, w);
    for (int j = 0; j < u.m.nv; ++j) x.v[j] += w.a[j];
  }
  double asked =
      largest_of(u.rows.view.nc, [&](int r) { return abs_(w.rows.b[r]) / u.rows.view.row_unit[r]; });
  return velocity_residual(u.rows.view, x.v, w) <= MOST_MISS * larger(larger(asked, before), LEAST_RATE);
}

// Whether the velocity of coordinate j is rounding beside the largest speed
SARRUS_HD bool is_slow(const Model<double>& m, int j, const double* v, double speed) {
  return abs_(v[j]) <= AT_REST * speed * m.unit[j];
}

// Contacts that separate after the impact open, unless they would touch again
// within one step: such short flights, of which there may be infinitely many,
// are not resolved.   room: (ld), flags: (groups, frictions)
template <int LDC>
SARRUS_FN void open_leaving(Unilateral<LDC>& u, const Settled& x, const Cause& cause, Mode& mode,
                            double* room, unsigned char* gone, unsigned char* resting) {
  const ModeTable& table = u.table;
  int ld = u.w.ld;
  double speed = largest_rate(u.m, x.v);
  for (int k = 0; k < table.frictions; ++k) resting[k] = 0;
  open_problem(u, x.state(), mode, resting, nullptr);
  if (!u.contacts) return;
  copy(room, x.v, ld);
  impact_velocity(u, room);
  auto opening = [&](int i) { return dot(u.row(i), room, ld) - u.right_v[i]; };
  for (int g = 0; g < table.count; ++g) gone[g] = 0;
  for (int i = 0; i < u.contacts; ++i) gone[u.contact[i]] = opening(i) > STANDS * larger(speed, LEAST_RATE);
  if (!any_of(table.count, [&](int g) { return gone[g] != 0; })) return;
  State<double> after = {x.q, room, x.drive, x.user};
  for (int k = 0; k < table.frictions; ++k) resting[k] = is_slow(u.m, table.coordinate[k], room, speed);
  open_problem(u, after, mode, resting, gone);
  solve_unilateral(u, Use{cause.tau, room, resting, 1, 0});
  copy(u.force, u.a, ld);  // acceleration without those that leave
  for (int k = 0; k < table.frictions; ++k) resting[k] = 0;
  open_problem(u, after, mode, resting, nullptr);
  for (int i = 0; i < u.contacts; ++i) {
    if (!gone[u.contact[i]]) continue;
    double towards_closing = u.right[i] - dot(u.row(i), u.force, ld);
    if (2 * opening(i) >= towards_closing * cause.dt) mode.closed[u.contact[i]] = 0;
  }
}

// Which coordinates rest: by their speed, or because they have come to rest
template <int LDC>
SARRUS_FN void find_resting(const Unilateral<LDC>& u, const double* v, const Cause& cause, const Mode& mode,
                            unsigned char* resting) {
  double speed = largest_rate(u.m, v);
  for (int k = 0; k < u.table.frictions; ++k) {
    int j = u.table.coordinate[k];
    bool stops = cause.stops[k] || (!cause.starts && abs_(v[j]) <= NEAR_REST * mode.fastest[k]);
    resting[k] = stops || is_slow(u.m, j, v, speed);
  }
}

// Takes over which contacts open and which coordinates stick. Returns whether the mode changes.
template <int LDC>
SARRUS_FN bool take_solution(const Unilateral<LDC>& u, Mode& mode) {
  bool changed = false;
  for (int i = 0; i < u.contacts; ++i)
    if (u.box.rate[u.frictions + i] > 0) mode.closed[u.contact[i]] = 0, changed = true;
  for (int k = 0; k < u.table.frictions; ++k) {
    changed = changed || u.direction[k] != mode.direction[k];
    mode.direction[k] = u.direction[k];
    mode.closed[u.table.count - u.table.frictions + k] = u.direction[k] == 0;
  }
  return changed;
}
// Opens the contact that pushes least.
template <int LDC>
SARRUS_FN void open_weakest(const Unilateral<LDC>& u, Mode& mode) {
  int least = 0;
  for (int i = 1; i < u.contacts; ++i)
    if (u.box.f[u.frictions + i] < u.box.f[u.frictions + least]) least = i;
  mode.closed[u.contact[least]] = 0;
}

// Opens contacts that would pull and lets coordinates stick or slide.   False: there is no friction by load
template <int LDC>
SARRUS_FN bool release(Unilateral<LDC>& u, const Settled& x, const Cause& cause, Mode& mode,
                       unsigned char* resting) {
  find_resting(u, x.v, cause, mode, resting);
  open_problem(u, x.state(), mode, resting, nullptr);
  double breaking = cause.breaks ? BREAKING : 0;
  if (u.n() == 0)  // all slide: steps find the friction by load
    directions_of(u.table, x.v, resting, u.direction);
  else if (!solve_unilateral(u, Use{cause.tau, x.v, resting, 1 - breaking, breaking}))
    return false;
  bool changed = take_solution(u, mode);
  // a contact that pulls too little to show beside other accelerations
  if (cause.breaks && !changed && u.contacts) open_weakest(u, mode);
  return true;
}

// What a run knows of its new mode   in: the state
template <int LDC>
SARRUS_FN void enter_mode(Unilateral<LDC>& u, const Settled& x, Mode& mode) {
  double L = u.m.length[0], speed = larger(largest_rate(u.m, x.v), LEAST_RATE);
  all_rows(u, x.state(), u.lam);
  for (int g = 0; g < u.table.count; ++g) {
    const RowGroup& group = u.table.groups[g];
    double gap = group.kind == GroupKind::CONTACT ? group.side * u.w.rows.phi[group.normal] : 1;
    mode.margin[g] = gap > TOUCHES * L ? 0 : larger(-gap, 0.0) + BELOW * L;
  }
  for (int k = 0; k < u.table.frictions; ++k) {
    int j = u.table.coordinate[k];
    double least = LEAST_FASTEST * speed * u.m.unit[j];
    mode.armed[k] = mode.direction[k] * x.v[j] > 0;
    mode.fastest[k] = larger(abs_(x.v[j]), least);
  }
  mode.slack[0] = FRICTION_SLACK;
  mode.fresh[0] = 0;
}

// Groups open and close as the cause says, and where contacts touch. Returns
// whether some close; *cause.open_group: one that cannot, -1 where all can. in:
// all_rows(), the largest speed
template <int LDC>
SARRUS_FN bool change_groups(Unilateral<LDC>& u, const Settled& x, const Cause& cause, Mode& mode,
                             double speed) {
  bool any = false;
  *cause.open_group = -1;
  for (int g = 0; g < u.table.count; ++g) {
    bool contact = u.table.groups[g].kind == GroupKind::CONTACT;
    bool touches = contact && mode.closed[g] == 0 && cause.changes[g] >= 0 && arrives(u, g, u.lam, speed);
    if (cause.changes[g] < 0) mode.closed[g] = 0;
    if (!touches && cause.changes[g] <= 0) continue;
    any = true;
    cause.touched[g] = 1;
    if (!close_group(u, x.state(), g, mode)) *cause.open_group = g;
  }
  return any;
}
template <int LDC>
SARRUS_HD bool any_contact(const Unilateral<LDC>& u, const Mode& mode) {
  return any_of(u.table.count,
                [&](int g) { return u.table.groups[g].kind == GroupKind::CONTACT && mode.closed[g] != 0; });
}
// Velocities that are rounding are zero, beside the speeds before and after: an
// impact may leave nothing else. Where all of them are, the mechanism is at rest: what is
// left (down to 4.9e-324) has no direction.
template <int LDC>
SARRUS_FN void still(const Unilateral<LDC>& u, double* v, double before) {
  double now = largest_rate(u.m, v), speed = larger(larger(now, before), LEAST_RATE);
  if (now <= AT_REST * speed) fill(v, u.m.nv);
  for (int k = 0; k < u.table.frictions; ++k)
    if (int j = u.table.coordinate[k]; is_slow(u.m, j, v, speed)) v[j] = 0;
}

// The mode from here on, and the velocity in it. ask_force(): cause.tau at the
// velocity after an impact. room: (ld), flags: (2 groups + 2 frictions)
template <int LDC, class Ask>
SARRUS_FN StepStatus settle(Unilateral<LDC>& u, const Settled& x, const Cause& cause, Mode& mode,
                            double* room, unsigned char* flags, Ask ask_force) {
  unsigned char *gone = flags, *resting = gone + u.table.count;
  all_rows(u, x.state(), u.lam);
  double speed = largest_rate(u.m, x.v);
  bool closes = change_groups(u, x, cause, mode, speed), contacts = any_contact(u, mode);
  if (*cause.open_group >= 0) return StepStatus::OPEN_GAP;
  if (contacts && (closes || cause.starts)) open_leaving(u, x, cause, mode, room, gone, resting);
  if (closes) {
    if (!close_velocity(u, x, mode, speed)) return StepStatus::CONTRADICTION;
    ask_force();
  }
  still(u, x.v, speed);
  if (contacts || u.table.frictions) {
    if (!release(u, x, cause, mode, resting)) return StepStatus::UNSETTLED;
    if (!u.w.factor.spd) return StepStatus::SINGULAR_INERTIA;
  }
  enter_mode(u, x, mode);
  return StepStatus::FINE;
}

SARRUS_END
