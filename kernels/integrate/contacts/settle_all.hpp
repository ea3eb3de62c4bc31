// Settles the mode at a state, of everything at once: groups of rows close and open, contacts of surfaces and
// stops that close make an impact, and the law at accelerations says what stays closed, which contacts and
// which coordinates with dry friction stick, and which way the rest slides.
//
// All rows that act are a view of the model, in whose freedoms the problem of contacts lives. What pushes
// only (stops, sr.Contact) and dry friction at rest are joint rows of that problem. No friction of joints
// takes part in impacts: it is finite.
#pragma once

#include "integrate/contacts/settle_contacts.hpp"
#include "integrate/modes/settle.hpp"

SARRUS_BEGIN

constexpr double GIVES_RATE = 1e-2;  // of the rate of joints that BREAKING leaves at least

// What is settled beside contacts. `acting` is the model of the rows of contacts.
template <int LDC>
struct JointSettler {
  Unilateral<LDC>& u;
  Mode& mode;
  const Cause& cause;
  Model<double>& acting;
  unsigned char* resting;       // (frictions)
  const unsigned char* beyond;  // (groups) a push is beyond its limit
};

// Joint rows, in lengths: of coordinates `resting` (frictions), and of what is closed and pushes only;
// `acting`: the view of all other rows that act. share: of the friction, that can be used
template <int LDC>
SARRUS_FN void open_joints(Unilateral<LDC>& u, const State<double>& s, const Mode& mode,
                           const unsigned char* resting, double share, JointRows& to, Model<double>& acting) {
  const ModeTable& table = u.table;
  directions_of(table, s.v, resting, u.next);
  u.rows.direct(table, u.next);
  u.rows.choose_constraints(table, mode);
  if (any_contact(u, mode)) evaluate(u.rows.view, s, u.w);
  take_resting(u, resting);
  take_normals(u, nullptr);
  friction_at_rest(u.m, table, u.fixed);
  to.n = u.n(), to.frictions = u.frictions;
  double L = u.m.length[0];
  for (int i = 0; i < to.n; ++i) {
    set_scaled(to.A + i * u.w.ld, L, u.row(i), u.w.ld);
    to.right[i] = L * u.right[i], to.right_v[i] = L * u.right_v[i];
  }
  for (int i = 0; i < u.frictions; ++i) {
    int k = u.friction[i];
    to.most[i] = share * u.fixed[k] * u.m.unit[table.coordinate[k]] / L;
  }
  int g = 0;
  u.rows.choose(mode.values, [&](int r) {
    while (table.groups[g].end <= r) ++g;
    return table.groups[g].kind != GroupKind::HELD && mode.closed[g] != 0 && !is_normal(u, g, r);
  });
  acting = u.rows.view;
}

// Velocity v (ld) onto the rows that act. False: none satisfies them   in: open_state()
template <int LDC>
SARRUS_FN bool onto_rows(ContactRows<LDC>& c, double* v, double before) {
  for (int again = 0; again < 2; ++again) {
    velocity_residual(c.m, v, c.w);
    normal_step(c.m, c.w.extra, c.w);
    for (int j = 0; j < c.m.nv; ++j) v[j] += c.w.a[j];
  }
  double asked = largest_of(c.m.nc, [&](int r) { return abs_(c.w.rows.b[r]) / c.m.row_unit[r]; });
  return velocity_residual(c.m, v, c.w) <= MOST_MISS * larger(larger(asked, before), LEAST_RATE);
}

// Of the numbers of rows that of joint row i
template <int LDC>
SARRUS_HD int joint_row(const ContactRows<LDC>& c, int i) {
  return c.rows - c.joint.n + i;
}
// Opens what pushes only and separates. Whether something with rows besides its normal has
template <int LDC>
SARRUS_FN bool open_separating(JointSettler<LDC>& j, const ContactRows<LDC>& c, double still) {
  bool more = false;
  for (int i = 0; i < j.u.contacts; ++i) {
    const RowGroup& group = j.u.table.groups[j.u.contact[i]];
    if (!(c.u[joint_row(c, j.u.frictions + i)] > still)) continue;
    j.mode.closed[j.u.contact[i]] = 0;
    more = more || group.end > group.begin + 1;
  }
  return more;
}

// Groups that close and whatever hits: v after both   in: find_active()
template <int LDC>
SARRUS_FN SettleEnd settle_velocities(ContactSettler<LDC>& g, JointSettler<LDC>& j, const Settled& x,
                                      bool closes, double still) {
  ContactRows<LDC>& c = g.x.c;
  double before = largest_rate(j.u.m, x.v);
  for (int k = 0; k < j.u.table.frictions; ++k) j.resting[k] = 0;
  copy(g.v_given, x.v, c.w.ld);
  for (bool again = true; again;) {
    copy(x.v, g.v_given, c.w.ld);
    open_joints(j.u, x.state(), j.mode, j.resting, 1, c.joint, j.acting);
    if (!open_active(g, x.state())) return SettleEnd::NO_TERMS;
    copy(g.speeds, c.u, c.rows);
    if (closes && !onto_rows(c, x.v, before)) return SettleEnd::CONTRADICTION;
    if (closes) row_speeds(c, x.v, c.u);
    if (g.flight > 0) move_freely(c, j.cause.tau);
    SettleEnd end = hit(g, x.v, still);
    if (end != SettleEnd::SETTLED) return end;
    again = open_separating(j, c, still) && closes;
  }
  leave_separating(g, still);
  return SettleEnd::SETTLED;
}

// Velocities of what rests are zero to rounding; j.resting
template <int LDC>
SARRUS_FN bool settle_rest(ContactSettler<LDC>& g, JointSettler<LDC>& j, const Settled& x,
                           const ContactCause& cause, double before, double still_speed) {
  still(j.u, x.v, before);
  find_resting(j.u, x.v, j.cause, j.mode, j.resting);
  open_joints(j.u, x.state(), j.mode, j.resting, 1, g.x.c.joint, j.acting);
  if (!open_active(g, x.state())) return false;
  bring_to_rest(g, cause, x.v, still_speed);
  return true;
}

// What the law at accelerations says of joint rows
template <int LDC>
SARRUS_FN void take_joints(JointSettler<LDC>& j, const ContactMotion<LDC>& x, const double* v) {
  Unilateral<LDC>& u = j.u;
  const ModeTable& table = u.table;
  double small = MODE_RATE * rate_size(x);
  directions_of(table, v, j.resting, j.mode.direction);
  for (int i = 0; i < x.c.joint.n; ++i) {
    int row = joint_row(x.c, i);
    double rate = rate_after(x, row);
    if (i >= u.frictions) {
      if (rate > small) j.mode.closed[u.contact[i - u.frictions]] = 0;
      continue;
    }
    double giving = GIVES_RATE * BREAKING * x.c.joint.most[i] * x.c.W[row * x.c.rows + row];
    bool moves = abs_(rate) > (j.cause.breaks && giving > 0 ? smaller(small, giving) : small);
    j.mode.direction[u.friction[i]] = moves ? sign_of(rate) : 0;
  }
  for (int k = 0; k < table.frictions; ++k)
    j.mode.closed[table.count - table.frictions + k] = j.mode.direction[k] == 0;
}

// The law at accelerations under the force tau (nv)
template <int LDC>
SARRUS_FN SettleEnd settle_accelerations(ContactSettler<LDC>& g, JointSettler<LDC>& j, const Settled& x,
                                         const ContactCause& cause, const double* tau, double still) {
  ContactRows<LDC>& c = g.x.c;
  open_joints(j.u, x.state(), j.mode, j.resting, j.cause.breaks ? 1 - BREAKING : 1, c.joint, j.acting);
  if (!open_active(g, x.state())) return SettleEnd::NO_TERMS;
  move_freely(c, tau);
  double size = rate_size(g.x);
  for (int i = 0; i < j.u.contacts; ++i)
    if (j.beyond[j.u.contact[i]]) c.bias[joint_row(c, j.u.frictions + i)] += BREAKING * size;
  ContactFound found = solve_accelerations(g.x, still);
  if (found.outcome != ContactOutcome::SOLVED && g.flight > 0) found = solve_over_flight(g);
  g.residual = found.residual;
  if (found.outcome != ContactOutcome::SOLVED) return end_of(found.outcome);
  choose_modes(g, cause);
  take_joints(j, g.x, x.v);
  return SettleEnd::SETTLED;
}

SARRUS_HD bool slides(const SlotMode& mode) {
  return mode.state != SLOT_OPEN && any_of(3, [&](int i) { return mode.slides[i] != STICKS; });
}

// in: modes; q, v at a state. out: v, modes, g.events   ask(): j.cause.tau, the applied force at v
template <int LDC, class Ask>
SARRUS_FN SettleEnd settle_all(ContactSettler<LDC>& g, JointSettler<LDC>& j, const Settled& x,
                               const ContactCause& cause, Ask ask) {
  ContactRows<LDC>& c = g.x.c;
  double quiet = CONTACT_STILL * larger(cause.speed, 1e-300);
  double before = largest_rate(j.u.m, x.v);
  g.used = 1;
  fill(g.events, c.m.nslot);
  fill(g.low, c.m.nslot);
  all_rows(j.u, x.state(), j.u.lam);
  bool closes = change_groups(j.u, x, j.cause, j.mode, before);
  if (*j.cause.open_group >= 0) return SettleEnd::OPEN;
  place(c.m, x.q, c.w.tree);
  if (!find_slots(c)) return SettleEnd::NO_TERMS;
  find_active(g, cause);
  SettleEnd end = settle_velocities(g, j, x, closes, quiet);
  if (end != SettleEnd::SETTLED) return end;
  // where loops leave no motion along a friction (a dead centre), speeds cannot be brought to zero
  double slow = 1.01 * SLIP_ENDS * larger(cause.speed, 1e-300);
  if (!settle_rest(g, j, x, cause, before, slow) || !ask()) return SettleEnd::NO_TERMS;
  end = settle_accelerations(g, j, x, cause, j.cause.tau, slow);
  g.shared = c.joint.n > 0 && c.rank < c.rows && any_of(c.m.nslot, [&](int k) { return slides(g.modes[k]); });
  c.joint.n = 0;
  if (end == SettleEnd::SETTLED) enter_mode(j.u, x, j.mode);
  return end;
}

SARRUS_END
