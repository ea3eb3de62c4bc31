// Batch loops over forces of contacts.
#pragma once

#include "../scratch.hpp"
#include "integrate/contacts/settle_contacts.hpp"
#include "problem_table.hpp"

#include <algorithm>
#include <cmath>

SARRUS_BEGIN
namespace {

struct ContactForceWork {
  ContactMotion<0> x;
  double* v;
  SlotMode* modes;
  ContactForceWork(const ModelD& m, Arena& arena) : x(m, arena) {
    arena.take(x.c.w.ld, v);
    arena.take(m.nslot, modes);
  }
};

// Forces by the law at a state: of slots that touch and do not separate
ContactFound forces_by_law(ContactMotion<0>& x, const State<double>& s, const double* tau) {
  ContactRows<0>& c = x.c;
  double still = CONTACT_STILL * speed_of(c, s.v);
  if (!open_state(c, s)) return {ContactOutcome(-1), 1, 0};
  choose_contacts(c, [&](int k) { return c.slot[k].gap <= CONTACT_TOUCHES * c.m.length[0]; });
  row_speeds(c, s.v, c.u);
  for (int i = 0; i < c.contacts; ++i)
    if (normal_speed(c, i, c.u) > still) c.slot[c.which[i]].gap = FAR_AWAY;
  choose_contacts(c, [&](int k) { return c.slot[k].gap <= CONTACT_TOUCHES * c.m.length[0]; });
  row_speeds(c, s.v, c.u);
  respond(c);
  move_freely(c, tau);
  return solve_accelerations(x, still);
}

// Guided slots whose force across the line is more than a small part of the friction slide freely: the mode
// ends there. Whether there are some
bool leave_lines(const ContactMotion<0>& x, SlotMode* modes) {
  const ContactRows<0>& c = x.c;
  double size = 1e-6 * contact_force_size(x);
  bool some = false;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    if (!x.guided[k] || std::abs(x.f[b.row + 1]) <= size) continue;
    modes[c.which[b.contact]].slides[0] = SLIDES;
    some = true;
  }
  return some;
}

// Forces in a mode; where they depend on each other, those of least norm within their limits
bool forces_of_mode(ContactMotion<0>& x, const State<double>& s, const double* tau, SlotMode* modes) {
  if (!forces_in_mode(x, s, tau, modes)) return false;
  if (leave_lines(x, modes) && !forces_in_mode(x, s, tau, modes)) return false;
  if (x.c.rank >= x.n || !mode_holds(x)) return forces_in_mode(x, s, tau, modes);
  find_least_forces(x.impact.solver.p, x.least);
  take_forces(x, x.impact.solver.p.lam);
  return true;
}

// One block of rows: its force, moment and slip, added to those of its slot
void store_block(const ContactMotion<0>& x, const ContactBlock& b, long at, const ContactForceArrays& out) {
  const ContactRows<0>& c = x.c;
  const ContactPoint<double>& slot = c.slot[c.which[b.contact]];
  store((slot.point_a + slot.point_b) * 0.5 + c.w.tree.O[0], out.point + 3 * at);
  double* to = (b.kind <= TANGENT_ROW ? out.force : out.moment) + 3 * at;
  for (int r = b.row; r < b.row + b.size; ++r) {
    double e[3];
    store(c.direction[r], e);
    add_scaled(to, x.f[r], e, 3);
    if (b.kind == TANGENT_ROW) add_scaled(out.slip + 3 * at, c.u[r], e, 3);
  }
}
void store_unique(const ContactMotion<0>& x, long first, bool by_law, unsigned char* unique) {
  const ContactRows<0>& c = x.c;
  bool loose = c.rank < x.n;
  for (int r = 0; r < x.n; ++r) {
    unsigned char& to = unique[first + c.which[c.row_contact[x.kept[r]]]];
    to = to && (by_law ? x.least.unique[r] != 0 : !loose);
  }
}
void store_forces(const ContactMotion<0>& x, long i, bool by_law, const ContactForceArrays& out) {
  long first = i * x.c.m.nslot;
  for (int k = 0; k < x.c.blocks; ++k)
    store_block(x, x.c.block[k], first + x.c.which[x.c.block[k].contact], out);
  store_unique(x, first, by_law, out.unique);
  copy(out.generalized + i * x.c.m.nv, x.Q, x.c.m.nv);
}

void contact_forces_n(const ModelD& m, const StatesOfContacts& s, const ContactForceArrays& out) {
  with_work<ContactForceWork>(m, [&](ContactForceWork& w) {
    long n = s.states.n;
    fill(out.force, 3 * n * m.nslot);
    fill(out.moment, 3 * n * m.nslot);
    fill(out.point, 3 * n * m.nslot);
    fill(out.slip, 3 * n * m.nslot);
    for (long i = 0; i < n * m.nslot; ++i) out.unique[i] = 1;
    for (long i = 0; i < n; ++i) {
      const States& all = s.states;
      State<double> at = {all.q + i * m.nq, all.v + i * m.nv, all.drive + 3 * i * m.nd,
                          all.user + i * m.n_user_rows * (3 + m.nv)};
      fill(w.v, w.x.c.w.ld);
      copy(w.v, at.v, m.nv);
      at.v = w.v;
      const double* tau = s.tau + i * m.nv;
      if (s.modes) std::copy_n(reinterpret_cast<const SlotMode*>(s.modes) + i * m.nslot, m.nslot, w.modes);
      ContactFound found = {ContactOutcome::SOLVED, 0, 0};
      if (!s.modes)
        found = forces_by_law(w.x, at, tau);
      else if (!forces_of_mode(w.x, at, tau, w.modes))
        found.outcome = ContactOutcome(-1);
      out.outcome[i] = int(found.outcome), out.residual[i] = found.residual;
      fill(out.generalized + i * m.nv, m.nv);
      if (found.outcome == ContactOutcome::SOLVED) store_forces(w.x, i, !s.modes, out);
    }
    return 0;
  });
}

}  // namespace
SARRUS_END
