// Settles the mode of contacts at a state: an impact where something closes, then the law at accelerations,
// which says what stays closed, what sticks and which way the rest slides.
//
// Rebounds that follow each other ever faster end in finite time. Where one is slower than LOW_REBOUND times
// the first, the sum of all that follow is taken at once: the contact counts as closed until
//
//   t + 2 u+ / (g_n (1 - e))                                                                              (1)
#pragma once

#include "integrate/contacts/contact_guards.hpp"

SARRUS_BEGIN

constexpr double CONTACT_TOUCHES = 1e-9;  // of L: slots this close take part
constexpr double CONTACT_STILL = 1e-10;   // of the speeds: slower is at rest
constexpr double NOT_INSIDE = 1e-6;       // of L: penetration that may stay
constexpr double LOW_REBOUND = 1e-6;      // of the fastest approach of a slot

enum class SettleEnd : int { SETTLED, UNSOLVED, PRESSED, PAINLEVE, NO_TERMS, INSIDE };

// What has happened to each slot: bits of an event
enum SlotEvent : int { EVENT_TOUCH = 1, EVENT_IMPACT = 2, EVENT_STICK = 4, EVENT_SLIP = 8, EVENT_LIFT = 16 };

struct ContactCause {
  double t, speed;              // time, and the largest speed (lengths) of the run so far
  const unsigned char* stops;   // (3 nslot) friction whose sliding has come to its end
  const unsigned char* hits;    // (nslot) slots that touch
  const unsigned char* beyond;  // (4 nslot) a push, or friction that sticks, is beyond its limit
};

SARRUS_HD SettleEnd end_of(ContactOutcome outcome) {
  return outcome == ContactOutcome::SOLVED     ? SettleEnd::SETTLED
         : outcome == ContactOutcome::PRESSED  ? SettleEnd::PRESSED
         : outcome == ContactOutcome::PAINLEVE ? SettleEnd::PAINLEVE
                                               : SettleEnd::UNSOLVED;
}

template <int LDC>
struct ContactSettler {
  ContactMotion<LDC>& x;
  SlotMode* modes;
  double *v0, *speeds;    // (ld) before the impact; (rows) speeds before it
  unsigned char* active;  // (nslot)
  unsigned char* low;     // (nslot) rebounds that are summed up
  signed char* events;    // (nslot) SlotEvent
  double* deep;           // (nslot) [m] how far past the touch speeds are: of steps that end behind it
  double residual = 0, used = 1;
  double touches = CONTACT_TOUCHES;  // 0 where it is known which slots are closed
  double flight = 0;                 // [s] rebounds that are shorter are summed up, too

  SARRUS_HD ContactSettler(ContactMotion<LDC>& motion, SlotMode* given, Arena& arena)
      : x(motion), modes(given) {
    int slots = x.c.m.nslot;
    arena.take(x.c.w.ld, v0);
    arena.take(SLOT_ROWS * slots, speeds);
    arena.take(slots, active, low, events);
    arena.take(slots, deep);
  }
};

// Rows of the active slots at a state, with their speeds and responses
template <int LDC>
SARRUS_FN bool open_active(ContactSettler<LDC>& g, const State<double>& s) {
  ContactRows<LDC>& c = g.x.c;
  if (!open_state(c, s)) return false;
  choose_contacts(c, [&](int k) { return g.active[k] != 0; });
  row_speeds(c, s.v, c.u);
  respond(c);
  return true;
}

// Of the numbers u of rows that along the normal of a contact
template <int LDC>
SARRUS_HD double normal_speed(const ContactRows<LDC>& c, int contact, const double* u) {
  for (int k = 0; k < c.blocks; ++k)
    if (c.block[k].contact == contact && c.block[k].kind == NORMAL_ROW) return u[c.block[k].row];
  return 0;
}

template <int LDC>
SARRUS_FN SettleEnd hit_with(ContactSettler<LDC>& g, double* v, double still) {
  ContactRows<LDC>& c = g.x.c;
  ImpactFound found = solve_velocities(g.x, [&](int contact) {
    bool closes = normal_speed(c, contact, g.speeds) < -still;
    bool rebounds = closes && !g.low[c.which[contact]];
    return rebounds ? c.law(contact, RESTITUTION) : 0.0;
  });
  g.residual = found.solution.residual, g.used = found.used;
  if (found.solution.outcome != ContactOutcome::SOLVED) return end_of(found.solution.outcome);
  copy(v, g.v0, c.w.ld);
  add_response(g.x, v);
  row_speeds(c, v, c.u);
  return SettleEnd::SETTLED;
}

// Rebounds of a contact that are slower are summed up   in: move_freely() where flights may be short
template <int LDC>
SARRUS_HD double low_rebound(const ContactSettler<LDC>& g, int contact) {
  const ContactRows<LDC>& c = g.x.c;
  double falls = g.flight > 0 ? -normal_speed(c, contact, c.bias) * g.flight / 2 : 0;
  return larger(falls, LOW_REBOUND * g.modes[c.which[contact]].fastest);
}

// Whether a contact can have come as deep as it is within the time of flight
template <int LDC>
SARRUS_HD bool can_be_so_deep(const ContactSettler<LDC>& g, int contact, double approach) {
  const ContactRows<LDC>& c = g.x.c;
  if (!(g.flight > 0)) return true;
  double way = g.flight * (abs_(approach) + g.flight * abs_(normal_speed(c, contact, c.bias)));
  return g.deep[c.which[contact]] <= 2 * way + NOT_INSIDE * c.m.length[0];
}

// The impact of the active slots, where one closes; v after it
template <int LDC>
SARRUS_FN SettleEnd hit(ContactSettler<LDC>& g, double* v, double still) {
  ContactRows<LDC>& c = g.x.c;
  copy(g.speeds, c.u, c.rows);
  copy(g.v0, v, c.w.ld);
  bool closes = false;
  for (int i = 0; i < c.contacts; ++i) {
    double approach = -normal_speed(c, i, c.u);
    if (!can_be_so_deep(g, i, approach)) return SettleEnd::INSIDE;
    SlotMode& mode = g.modes[c.which[i]];
    if (!(approach > still)) continue;
    closes = true;
    g.events[c.which[i]] |= EVENT_IMPACT;
    mode.fastest = larger(mode.fastest, approach);
  }
  if (!closes) return SettleEnd::SETTLED;
  SettleEnd end = hit_with(g, v, still);
  if (end != SettleEnd::SETTLED) return end;
  bool again = false;
  for (int i = 0; i < c.contacts; ++i) {
    int slot = c.which[i];
    double after = normal_speed(c, i, c.u);
    bool rebounds = (g.events[slot] & EVENT_IMPACT) && after > still * 1e-6;
    if (rebounds && after < low_rebound(g, i) && c.law(i, RESTITUTION) < 1)
      g.low[slot] = again = 1, g.modes[slot].until = after;
  }
  if (!again) return end;
  row_speeds(c, g.v0, c.u);
  return hit_with(g, v, still);
}

// Velocities of what rests are zero to rounding
template <int LDC>
SARRUS_FN void bring_to_rest(ContactSettler<LDC>& g, const ContactCause& cause, double* v, double still) {
  ContactMotion<LDC>& x = g.x;
  ContactRows<LDC>& c = x.c;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    bool stopped = b.kind != NORMAL_ROW && cause.stops[3 * c.which[b.contact] + friction_index(b.kind)];
    x.gliding[k] = b.kind != NORMAL_ROW && !stopped && length_of(c.u + b.row, b.size) > still;
    x.guided[k] = 0;
    for (int i = b.row; i < b.row + b.size; ++i) x.unit_way[i] = 0;
  }
  keep_rows(x);
  if (!solve_rows_kept(x, c.u)) return;
  spread_forces(x);
  add_response(x, v);
  row_speeds(c, v, c.u);
}

// The unit way (3) along which a block slides, from its parts along the rows
template <int LDC>
SARRUS_FN void store_way(const ContactRows<LDC>& c, const ContactBlock& b, const double* along, double* way) {
  fill(way, 3);
  if (b.kind == TORSION_ROW) {
    way[0] = along[0];
    return;
  }
  for (int i = 0; i < b.size; ++i) {
    double e[3];
    store(c.direction[b.row + i], e);
    add_scaled(way, along[i], e, 3);
  }
}

// Where sliding begins: its direction along the rows of a block. Friction is against it and known to
// CONTACT_TOL; the rate, what gravity and friction leave of each other, may be no larger than that.
template <int LDC>
SARRUS_FN void beginning_way(const ContactMotion<LDC>& x, const ContactBlock& b, const double* rate,
                             double* way) {
  const double* force = x.f + b.row;
  double size = length_of(force, b.size);
  double most = largest_of(x.c.rows, [&](int i) { return abs_(x.f[i]); });
  bool known = size > MODE_RATE * most;
  if (!known) size = length_of(rate, b.size);
  for (int i = 0; i < b.size; ++i) way[i] = (known ? -force[i] : rate[i]) / size;
}

// Whether a block gives way: its rate shows it, or its force is what ended the mode and at its limit by the
// law. There the rate may still be below what counts as one, and the mode would be chosen again without end.
template <int LDC>
SARRUS_FN bool gives_way(const ContactMotion<LDC>& x, const ContactBlock& b, double rate, double push,
                         double small, const unsigned char* beyond) {
  if (rate > small) return true;
  bool ended = beyond[4 * x.c.which[b.contact] + (b.kind == NORMAL_ROW ? 0 : 1 + friction_index(b.kind))];
  if (!ended || !(rate > 0)) return false;
  if (b.kind == NORMAL_ROW) return push <= CONTACT_PULLS * contact_force_size(x);
  return length_of(x.f + b.row, b.size) >= (1 - CONE_SLACK) * b.share * push;
}

// The new mode of a slot's friction, by speeds and by the rates that the law has found
template <int LDC>
SARRUS_FN void choose_friction_mode(ContactSettler<LDC>& g, const ContactBlock& b, double push, double small,
                                    const unsigned char* beyond) {
  const ContactMotion<LDC>& x = g.x;
  int slot = x.c.which[b.contact], which = friction_index(b.kind);
  bool glides = x.gliding[&b - x.c.block];
  double rate[2] = {0, 0}, &state = g.modes[slot].slides[which];
  for (int i = 0; i < b.size; ++i) rate[i] = rate_after(x, b.row + i);
  bool slides = glides || gives_way(x, b, length_of(rate, b.size), push, small, beyond);
  if (b.kind == TANGENT_ROW && slides != (state != STICKS))
    g.events[slot] |= slides ? EVENT_SLIP : EVENT_STICK;
  state = !slides ? STICKS : glides || b.kind != TANGENT_ROW ? SLIDES : GUIDED;
  double way[2] = {0, 0};
  if (glides)
    copy(way, x.unit_way + b.row, b.size);
  else if (slides)
    beginning_way(x, b, rate, way);
  store_way(x.c, b, way, g.modes[slot].way + 3 * which);
}

// Opens a slot
SARRUS_HD void leave(SlotMode& mode, double gap, signed char& events) {
  if (mode.state != SLOT_OPEN && !(events & EVENT_IMPACT)) events |= EVENT_LIFT;
  mode.state = SLOT_OPEN;
  mode.margin = gap < 0 ? -gap : 0;
  fill(mode.slides, 3);
}

// Modes of the active slots from the law at accelerations
template <int LDC>
SARRUS_FN void choose_modes(ContactSettler<LDC>& g, const ContactCause& cause) {
  ContactMotion<LDC>& x = g.x;
  ContactRows<LDC>& c = x.c;
  double small = MODE_RATE * rate_size(x), t = cause.t, push = 0;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    int slot = c.which[b.contact];
    SlotMode& mode = g.modes[slot];
    if (b.kind != NORMAL_ROW) {
      if (mode.state != SLOT_OPEN) choose_friction_mode(g, b, push, small, cause.beyond);
      continue;
    }
    push = x.f[b.row];
    if (gives_way(x, b, rate_after(x, b.row), push, small, cause.beyond)) {
      leave(mode, c.slot[slot].gap, g.events[slot]);
      continue;
    }
    double e = c.law(b.contact, RESTITUTION);
    if (g.low[slot] && c.bias[b.row] < 0) {
      mode.state = SLOT_REBOUNDS;
      mode.until = t + 2 * mode.until / (-c.bias[b.row] * (1 - e));  // (1)
    } else if (mode.state == SLOT_OPEN || (mode.state == SLOT_REBOUNDS && mode.until <= t)) {
      if (!(g.events[slot] & EVENT_IMPACT)) g.events[slot] |= EVENT_TOUCH;
      mode.state = SLOT_CLOSED;
    }
  }
}

// Slots that take part: closed ones, those that were hit and those that touch   in: find_slots()
template <int LDC>
SARRUS_FN void find_active(ContactSettler<LDC>& g, const ContactCause& cause) {
  const ContactRows<LDC>& c = g.x.c;
  for (int k = 0; k < c.m.nslot; ++k) {
    bool near = in_use(c.slot[k]) && c.slot[k].gap <= g.touches * c.m.length[0];
    g.active[k] = in_use(c.slot[k]) && (near || cause.hits[k] || g.modes[k].state != SLOT_OPEN);
    if (!g.active[k] && g.modes[k].state != SLOT_OPEN) leave(g.modes[k], 0, g.events[k]);
  }
}
// Slots that separate open
template <int LDC>
SARRUS_FN void leave_separating(ContactSettler<LDC>& g, double still) {
  const ContactRows<LDC>& c = g.x.c;
  for (int i = 0; i < c.contacts; ++i) {
    int slot = c.which[i];
    if (!(normal_speed(c, i, c.u) > still)) continue;
    g.active[slot] = 0;
    leave(g.modes[slot], c.slot[slot].gap, g.events[slot]);
  }
}

// in: modes; q, v at a state. out: v, modes, g.events   force(v, tau): the applied force at velocities v
template <int LDC, class Force>
SARRUS_FN SettleEnd settle_contacts(ContactSettler<LDC>& g, State<double> s, double* v,
                                    const ContactCause& cause, double* tau, Force force) {
  ContactRows<LDC>& c = g.x.c;
  double still = CONTACT_STILL * larger(cause.speed, 1e-300);
  s.v = v;
  g.used = 1;
  fill(g.events, c.m.nslot);
  fill(g.low, c.m.nslot);
  if (!open_state(c, s)) return SettleEnd::NO_TERMS;
  find_active(g, cause);
  if (!open_active(g, s)) return SettleEnd::NO_TERMS;
  if (g.flight > 0) move_freely(c, tau);
  SettleEnd end = hit(g, v, still);
  if (end != SettleEnd::SETTLED) return end;
  leave_separating(g, still);
  if (!open_active(g, s)) return SettleEnd::NO_TERMS;
  // where loops leave no motion along a friction (a dead centre), speeds cannot be brought to zero
  double slow = 1.01 * SLIP_ENDS * larger(cause.speed, 1e-300);
  bring_to_rest(g, cause, v, slow);
  if (!force(v, tau) || !open_active(g, s)) return SettleEnd::NO_TERMS;
  move_freely(c, tau);
  ContactFound found = solve_accelerations(g.x, slow);
  g.residual = found.residual;
  if (found.outcome != ContactOutcome::SOLVED) return end_of(found.outcome);
  choose_modes(g, cause);
  return SettleEnd::SETTLED;
}

SARRUS_END
