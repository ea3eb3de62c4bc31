// The new mode of contacts: the law at accelerations says what stays closed, what sticks and which way the
// rest slides. It is part of settle_all.hpp, the impact before it is in contact_impact.hpp.
#pragma once

#include "integrate/contacts/contact_impact.hpp"

SARRUS_BEGIN

// Velocities of what rests are zero to rounding
template <int LDC>
SARRUS_FN void bring_to_rest(ContactSettler<LDC>& g, const ContactCause& cause, double* v, double still) {
  ContactMotion<LDC>& x = g.x;
  ContactRows<LDC>& c = x.c;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    x.gliding[k] = x.guided[k] = 0;
    if (goes_with_push(b.kind) && !cause.stops[3 * c.which[b.contact] + friction_index(b.kind)])
      x.gliding[k] = length_of(c.u + b.row, b.size) > still && !(g.rests[c.which[b.contact]] >> b.kind & 1);
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
  if (slides != (state != STICKS))
    g.events[slot] |= b.kind == TANGENT_ROW ? (slides ? EVENT_SLIP : EVENT_STICK)
                                            : (slides ? EVENT_TURNING_SLIPS : EVENT_TURNING_STICKS);
  state = !slides ? STICKS : glides || b.size == 1 ? SLIDES : GUIDED;
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
    if (b.contact == NO_CONTACT) continue;
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
// The law at velocities over the time of flight, with all that forces do meanwhile; x.f: forces
//
//   u+ = u + flight (a + W f),   a without contacts                                                     (2)
//
// in: c.u, move_freely()
template <int LDC>
SARRUS_FN ContactFound solve_over_flight(ContactSettler<LDC>& g) {
  ContactMotion<LDC>& x = g.x;
  ContactRows<LDC>& c = x.c;
  copy(g.speeds, c.u, c.rows);
  for (int i = 0; i < c.rows; ++i) c.u[i] += g.flight * c.bias[i];
  ContactFound found = solve_velocities(x, [](int) { return 0.0; }).solution;
  for (int i = 0; i < c.rows; ++i) x.f[i] /= g.flight;
  copy(c.u, g.speeds, c.rows);
  return found;
}

// Which pushes and frictions have ended their motion when a step is over.
//
// A light foot that is pressed down separates from the floor after an impact elsewhere, at 1 mm/s, and is
// back after a microsecond. If it were open for a whole step it would hit the floor far too fast, and open
// again.
// in: c.u after impacts, move_freely(). out: g.rests (nslot), a bit for each kind of rows
template <int LDC>
SARRUS_FN void find_rests(ContactSettler<LDC>& g, double still) {
  ContactMotion<LDC>& x = g.x;
  ContactRows<LDC>& c = x.c;
  fill(g.rests, c.m.nslot);
  if (!(g.flight > 0)) return;
  double small = larger(still, MODE_RATE * g.flight * rate_size(x));
  if (solve_over_flight(g).outcome != ContactOutcome::SOLVED) return;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    double ends = 0;
    for (int i = b.row; i < b.row + b.size; ++i) {
      double u = c.u[i] + g.flight * rate_after(x, i);
      ends += u * u;
    }
    if (b.contact != NO_CONTACT && !(ends > small * small)) g.rests[c.which[b.contact]] |= 1 << b.kind;
  }
}

// Slots that separate open.
template <int LDC>
SARRUS_FN void leave_separating(ContactSettler<LDC>& g, double still) {
  const ContactRows<LDC>& c = g.x.c;
  find_rests(g, still);
  for (int i = 0; i < c.contacts; ++i) {
    int slot = c.which[i];
    if (!(normal_speed(c, i, c.u) > still) || g.rests[slot] >> NORMAL_ROW & 1) continue;
    g.active[slot] = 0;
    leave(g.modes[slot], c.slot[slot].gap, g.events[slot]);
  }
}

SARRUS_END
