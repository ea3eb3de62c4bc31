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

// q at which the gaps of the chosen contacts are zero, to first order   in: take_gaps(), respond()
template <int LDC>
SARRUS_FN bool close_gaps(ContactMotion<LDC>& x, const double* from, double* q) {
  ContactRows<LDC>& c = x.c;
  for (int k = 0; k < c.blocks; ++k) x.gliding[k] = c.block[k].kind != NORMAL_ROW, x.guided[k] = 0;
  for (int i = 0; i < c.rows; ++i) x.unit_way[i] = 0;
  keep_rows(x);
  if (!solve_rows_kept(x, c.bias)) return false;
  spread_forces(x);
  fill(x.Q, c.w.ld);
  add_response(x, x.Q);
  integrate(c.m, from, x.Q, q);
  return true;
}

// The same for the contacts of which meets(slot). False: nothing to be moved, or it cannot be.
template <int LDC, class Choose>
SARRUS_FN bool move_onto(ContactMotion<LDC>& x, const State<double>& s, Choose meets, double* q) {
  ContactRows<LDC>& c = x.c;
  if (!open_state(c, s)) return false;
  choose_contacts(c, meets);
  respond(c);
  return take_gaps(c) > 1e-13 * c.m.length[0] && close_gaps(x, s.q, q);
}

// q and v onto the closed slots. Returns whether they moved.
template <int LDC>
SARRUS_FN bool correct_contacts(ContactMotion<LDC>& x, const State<double>& s, const SlotMode* modes,
                                double speed, double* q, double* v) {
  ContactRows<LDC>& c = x.c;
  if (!open_state(c, s)) return false;
  c.modes = modes;
  choose_contacts(c, [&](int k) { return modes[k].state != SLOT_OPEN; });
  c.modes = nullptr;
  respond(c);
  row_speeds(c, v, c.u);
  glide_by_mode(x, modes, c.u, SLIP_STILL * speed);
  for (int i = 0; i < c.rows; ++i) x.unit_way[i] = 0;
  keep_rows(x);
  double far = take_gaps(c), fast = 0;
  for (int i = 0; i < x.n; ++i) fast = larger(abs_(c.u[x.kept[i]]), fast);
  if (!(far > 1e-15 * c.m.length[0]) && !(fast > 1e-14 * speed)) return false;
  if (solve_rows_kept(x, c.u)) spread_forces(x), add_response(x, v);
  close_gaps(x, s.q, q);
  return true;
}

SARRUS_END
