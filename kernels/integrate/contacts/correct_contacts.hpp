// Corrections of contacts that are closed: gaps of zero, and no speed where nothing slides. In the mass
// metric, along the freedoms that loops leave.
#pragma once

#include "integrate/contacts/contact_guards.hpp"

SARRUS_BEGIN

// Gaps of the chosen contacts into c.bias; the largest
template <int LDC>
SARRUS_HD double take_gaps(ContactRows<LDC>& c) {
  double far = 0;
  for (int i = 0; i < c.rows; ++i) {
    c.bias[i] = c.row_kind[i] == NORMAL_ROW ? c.slot[c.which[c.row_contact[i]]].gap : 0;
    far = larger(abs_(c.bias[i]), far);
  }
  return far;
}

// Rows along normals alone, and those of friction for which holds(block)
template <int LDC, class Holds>
SARRUS_FN void keep_normals(ContactMotion<LDC>& x, Holds holds) {
  ContactRows<LDC>& c = x.c;
  for (int k = 0; k < c.blocks; ++k)
    x.gliding[k] = c.block[k].kind != NORMAL_ROW && !holds(c.block[k]), x.guided[k] = 0;
  for (int i = 0; i < c.rows; ++i) x.unit_way[i] = 0;
  keep_rows(x);
}
// Whether friction of a block sticks in a mode
template <int LDC>
SARRUS_HD bool sticks_in(const ContactRows<LDC>& c, const SlotMode* modes, const ContactBlock& b) {
  const SlotMode& mode = modes[c.which[b.contact]];
  return mode.state != SLOT_OPEN && mode.slides[friction_index(b.kind)] == STICKS;
}

// q at which the gaps of the chosen contacts are zero, to first order   in: take_gaps(), respond()
template <int LDC, class Holds>
SARRUS_FN bool close_gaps(ContactMotion<LDC>& x, const double* from, double* q, Holds holds) {
  ContactRows<LDC>& c = x.c;
  keep_normals(x, holds);
  if (!solve_rows_kept(x, c.bias)) return false;
  spread_forces(x);
  fill(x.Q, c.w.ld);
  add_response(x, x.Q);
  integrate(c.m, from, x.Q, q);
  return true;
}

// The same for the contacts of which meets(slot); what sticks stays. False: nothing to be moved, or it cannot
// be.
template <int LDC, class Choose>
SARRUS_FN bool move_onto(ContactMotion<LDC>& x, const State<double>& s, const SlotMode* modes, Choose meets,
                         double* q) {
  ContactRows<LDC>& c = x.c;
  if (!open_state(c, s) || !choose_contacts(c, meets)) return false;
  respond(c);
  return take_gaps(c) > 1e-13 * c.m.length[0] &&
         close_gaps(x, s.q, q, [&](const ContactBlock& b) { return sticks_in(c, modes, b); });
}

// Speeds of slots that are `deep` (nslot) inside become those at their touch; so moving out adds no energy:
//
//   u_touch^2 = u^2 + 2 a deep,   a < 0 the acceleration of the gap by forces alone                      (1)
//
// under the force tau, which contacts of the mode are part of; what is closed keeps its speeds. What speeds
// add to the acceleration comes with the pose to which the slots are moved.
template <int LDC>
SARRUS_FN void rewind_to_touch(ContactMotion<LDC>& x, const State<double>& s, const SlotMode* modes,
                               const double* deep, const double* tau, double* v) {
  ContactRows<LDC>& c = x.c;
  fill(x.Q, c.w.ld);
  if (!open_state(c, {s.q, x.Q, s.drive, s.user})) return;
  if (!choose_contacts(c, [&](int k) { return modes[k].state != SLOT_OPEN || deep[k] > 0; })) return;
  row_speeds(c, v, c.u);
  respond(c);
  move_freely(c, tau);
  keep_normals(x, [&](const ContactBlock& b) { return sticks_in(c, modes, b); });
  for (int i = 0; i < c.rows; ++i) {
    double gained = 2 * c.bias[i] * deep[c.which[c.row_contact[i]]], u = c.u[i];
    bool changes = c.row_kind[i] == NORMAL_ROW && u < 0 && gained < 0;
    c.bias[i] = changes ? u + sqrt_(larger(u * u + gained, 0.0)) : 0;
  }
  if (!solve_rows_kept(x, c.bias)) return;
  spread_forces(x);
  add_response(x, v);
}

// q and v onto the closed slots. Returns whether they moved.
template <int LDC>
SARRUS_FN bool correct_contacts(ContactMotion<LDC>& x, const State<double>& s, const SlotMode* modes,
                                double speed, double* q, double* v) {
  ContactRows<LDC>& c = x.c;
  if (!open_state(c, s)) return false;
  if (!choose_contacts(c, [&](int k) { return modes[k].state != SLOT_OPEN; })) return false;
  respond(c);
  row_speeds(c, v, c.u);
  glide_by_mode(x, modes, c.u, SLIP_STILL * speed);
  for (int k = 0; k < c.blocks; ++k) x.gliding[k] |= x.guided[k];
  for (int i = 0; i < c.rows; ++i) x.unit_way[i] = 0;
  keep_rows(x);
  double far = take_gaps(c), fast = 0;
  for (int i = 0; i < x.n; ++i) fast = larger(abs_(c.u[x.kept[i]]), fast);
  if (!(far > 1e-15 * c.m.length[0]) && !(fast > 1e-14 * speed)) return false;
  if (solve_rows_kept(x, c.u)) spread_forces(x), add_response(x, v);
  close_gaps(x, s.q, q, [](const ContactBlock&) { return false; });
  return true;
}

SARRUS_END
