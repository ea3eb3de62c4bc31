// Impacts of contacts at a state.
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

enum class SettleEnd : int { SETTLED, UNSOLVED, PRESSED, PAINLEVE, NO_TERMS, INSIDE, OPEN, CONTRADICTION };

// What has happened to each slot: bits of an event
enum SlotEvent : int {
  EVENT_TOUCH = 1,
  EVENT_IMPACT = 2,
  EVENT_STICK = 4,
  EVENT_SLIP = 8,
  EVENT_LIFT = 16,
  EVENT_TURNING_STICKS = 32,  // torsion or rolling
  EVENT_TURNING_SLIPS = 64
};

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
  double *v_given, *v0;   // (ld) before anything, and before the impact
  double* speeds;         // (rows) before anything
  unsigned char* active;  // (nslot)
  unsigned char* low;     // (nslot) rebounds that are summed up
  unsigned char*
      rests;  // (nslot) what comes to rest within a step of fixed length, a bit for each kind of row
  signed char* events;  // (nslot) SlotEvent
  double* deep;         // (nslot) [m] how far past the touch speeds are: of steps that end behind it
  double residual = 0, used = 1;
  bool shared =
      false;  // joints may hold what contacts that slide hold, too: friction is then that of the law
  double touches = CONTACT_TOUCHES;  // 0 where it is known which slots are closed
  double flight = 0;                 // [s] rebounds that are shorter are summed up, too

  SARRUS_HD ContactSettler(ContactMotion<LDC>& motion, SlotMode* given, Arena& arena, int joints)
      : x(motion), modes(given) {
    int slots = x.c.m.nslot;
    arena.take(x.c.w.ld, v_given, v0);
    arena.take(x.c.room + joints, speeds);
    arena.take(slots, active, low, rests, events);
    arena.take(slots, deep);
  }
};

// Rows of the active slots at a state, with their speeds and responses
template <int LDC>
SARRUS_FN bool open_active(ContactSettler<LDC>& g, const State<double>& s) {
  ContactRows<LDC>& c = g.x.c;
  if (!open_state(c, s)) return false;
  if (!choose_contacts(c, [&](int k) { return g.active[k] != 0; })) return false;
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

// Notes which slots are hit, and how fast. False: one is deeper than its speed explains
template <int LDC>
SARRUS_FN bool note_hits(ContactSettler<LDC>& g, double still) {
  const ContactRows<LDC>& c = g.x.c;
  bool fine = true;
  for (int i = 0; i < c.contacts; ++i) {
    double approach = -normal_speed(c, i, g.speeds);
    fine = fine && can_be_so_deep(g, i, approach);
    if (!(approach > still)) continue;
    SlotMode& mode = g.modes[c.which[i]];
    g.events[c.which[i]] |= EVENT_IMPACT;
    mode.fastest = larger(mode.fastest, approach);
  }
  return fine;
}

// Whether nothing closes faster than forces make it within the time of flight   in: move_freely()
template <int LDC>
SARRUS_HD bool is_slow_hit(const ContactSettler<LDC>& g) {
  const ContactRows<LDC>& c = g.x.c;
  return !any_of(c.contacts, [&](int i) { return normal_speed(c, i, c.u) < -g.flight * rate_size(g.x); });
}

// Leaves out the impact: what closes is brought to rest, find_rests()
template <int LDC>
SARRUS_FN SettleEnd leave_out(ContactSettler<LDC>& g, double* v) {
  copy(v, g.v0, g.x.c.w.ld);
  row_speeds(g.x.c, v, g.x.c.u);
  return SettleEnd::SETTLED;
}

// Notes which rebounds are summed up. Whether there are some
template <int LDC>
SARRUS_FN bool sum_up_low(ContactSettler<LDC>& g, double still) {
  const ContactRows<LDC>& c = g.x.c;
  bool again = false;
  for (int i = 0; i < c.contacts; ++i) {
    int slot = c.which[i];
    double after = normal_speed(c, i, c.u);
    bool rebounds = (g.events[slot] & EVENT_IMPACT) && after > still * 1e-6;
    if (rebounds && after < low_rebound(g, i) && c.law(i, RESTITUTION) < 1)
      g.low[slot] = again = 1, g.modes[slot].until = after;
  }
  return again;
}

// The impact of the active slots and of stops, where one closes; v after it   in: g.speeds before whatever
// else has changed v, c.u
template <int LDC>
SARRUS_FN SettleEnd hit(ContactSettler<LDC>& g, double* v, double still) {
  ContactRows<LDC>& c = g.x.c;
  copy(g.v0, v, c.w.ld);
  if (!note_hits(g, still)) return SettleEnd::INSIDE;
  bool closes =
      any_of(c.blocks, [&](int k) { return is_push(c.block[k].kind) && c.u[c.block[k].row] < -still; });
  if (!closes) return SettleEnd::SETTLED;
  SettleEnd end = hit_with(g, v, still);
  if (end != SettleEnd::SETTLED) return end == SettleEnd::UNSOLVED && is_slow_hit(g) ? leave_out(g, v) : end;
  if (!sum_up_low(g, still)) return end;
  row_speeds(c, g.v0, c.u);
  return hit_with(g, v, still);
}

SARRUS_END
