// Batch loops over forces of contacts.
#pragma once

#include "../scratch.hpp"
#include "integrate/contacts/settle_all.hpp"
#include "problem_table.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

SARRUS_BEGIN
namespace {

struct ContactForceWork {
  ModelD acting;  // whose rows act
  ContactMotion<0> x;
  Unilateral<0> u;
  double *v, *rows;  // with padding; of the mode
  SlotMode* modes;
  unsigned char* resting;
  static int joints(const ModeTable& table) { return table.count + table.frictions; }
  ContactForceWork(const ModelD& m, const ModeTable& table, Arena& arena)
      : acting(m), x(acting, arena, joints(table)), u(m, table, arena) {
    arena.take(x.c.w.ld, v);
    arena.take(m.nslot, modes);
    arena.take(table.frictions, resting);
    arena.take(mode_size(table, m.nev + m.nk), rows);
  }
};

// Forces by the law at a state: of slots that touch and do not separate
ContactFound forces_without_mode(ContactMotion<0>& x, const State<double>& s, const double* tau) {
  ContactRows<0>& c = x.c;
  double still = CONTACT_STILL * speed_of(c, s.v);
  if (!open_state(c, s)) return {ContactOutcome(-1), 1, 0};
  auto touches = [&](int k) { return c.slot[k].gap <= CONTACT_TOUCHES * c.m.length[0]; };
  if (!choose_contacts(c, touches)) return {ContactOutcome(-1), 1, 0};
  row_speeds(c, s.v, c.u);
  for (int i = 0; i < c.contacts; ++i)
    if (normal_speed(c, i, c.u) > still) c.slot[c.which[i]].gap = FAR_AWAY;
  choose_contacts(c, touches);
  row_speeds(c, s.v, c.u);
  respond(c);
  move_freely(c, tau);
  return solve_accelerations(x, still);
}

// Forces in a mode; where they depend on each other, those of least norm within their limits, if such exist
enum class Within { LIMITS, NONE, UNKNOWN };
Within forces_of_mode(ContactMotion<0>& x, const State<double>& s, const double* tau, SlotMode* modes) {
  if (!forces_in_mode(x, s, tau, modes)) return Within::UNKNOWN;
  if (x.c.rank >= (x.c.joint.n ? x.c.rows : x.n)) return Within::LIMITS;
  if (!mode_holds(x)) return forces_in_mode(x, s, tau, modes) ? Within::NONE : Within::UNKNOWN;
  find_least_forces(x.impact.solver.p, x.least);
  take_forces(x, x.impact.solver.p.lam);
  return Within::LIMITS;
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
    if (c.row_contact[x.kept[r]] == NO_CONTACT) continue;
    unsigned char& to = unique[first + c.which[c.row_contact[x.kept[r]]]];
    to = to && (by_law ? x.least.unique[r] != 0 : !loose);
  }
}
void store_forces(const ContactMotion<0>& x, long i, bool by_law, const ContactForceArrays& out) {
  long first = i * x.c.m.nslot;
  for (int k = 0; k < x.c.blocks; ++k)
    if (int contact = x.c.block[k].contact; contact != NO_CONTACT)
      store_block(x, x.c.block[k], first + x.c.which[contact], out);
  store_unique(x, first, by_law, out.unique);
  copy(out.generalized + i * x.c.m.nv, x.Q, x.c.m.nv);
}

// The rows of contacts, and those of joints that the mode of all rows holds
void open_rows(ContactForceWork& w, const StatesOfContacts& all, const State<double>& s, double share) {
  if (!all.table) return;
  Mode mode = mode_at(*all.table, w.u.m.nev + w.u.m.nk, w.rows);
  for (int k = 0; k < all.table->frictions; ++k) w.resting[k] = mode.direction[k] == 0;
  open_joints(w.u, s, mode, w.resting, share, w.x.c.joint, w.acting);
}
// What contacts do, without the joint rows beside them
void leave_out_joints(ContactMotion<0>& x) {
  ContactRows<0>& c = x.c;
  for (int i = c.rows - c.joint.n; i < c.rows; ++i) axpy(x.Q, -x.f[i], c.J + i * c.w.ld, c.w.ld);
}
ContactFound forces_at(ContactForceWork& w, const StatesOfContacts& s, long i) {
  const ModelD& m = w.u.m;
  const States& all = s.states;
  fill(w.v, w.x.c.w.ld);
  copy(w.v, all.v + i * m.nv, m.nv);
  State<double> at = {all.q + i * m.nq, w.v, all.drive + 3 * i * m.nd,
                      all.user + i * m.n_user_rows * (3 + m.nv)};
  const double* tau = s.tau + i * m.nv;
  open_rows(w, s, at, 1);
  if (!s.modes) return forces_without_mode(w.x, at, tau);
  std::copy_n(reinterpret_cast<const SlotMode*>(s.modes) + i * m.nslot, m.nslot, w.modes);
  Within found = forces_of_mode(w.x, at, tau, w.modes);
  if (found == Within::NONE &&
      w.x.c.joint.n) {  // joints that begin to slide are a little beyond their limits
    open_rows(w, s, at, 1 + BREAKING);
    found = forces_of_mode(w.x, at, tau, w.modes);
  }
  leave_out_joints(w.x);
  return {found != Within::UNKNOWN ? ContactOutcome::SOLVED : ContactOutcome(-1), 0, 0};
}

void contact_forces_n(const ModelD& m, const StatesOfContacts& s, const ContactForceArrays& out) {
  const ModeTable none, &table = s.table ? *s.table : none;
  Arena measure(nullptr);
  [[maybe_unused]] ContactForceWork measured(m, table, measure);
  ZeroedMemory room(measure.used);
  Arena arena(room.aligned);
  ContactForceWork w(m, table, arena);
  long n = s.states.n;
  if (s.table) std::copy_n(s.rows, mode_size(table, m.nev + m.nk), w.rows);
  for (double* to : {out.force, out.moment, out.point, out.slip}) fill(to, 3 * n * m.nslot);
  for (long i = 0; i < n * m.nslot; ++i) out.unique[i] = 1;
  for (long i = 0; i < n; ++i) {
    ContactFound found = forces_at(w, s, i);
    out.outcome[i] = int(found.outcome), out.residual[i] = found.residual;
    fill(out.generalized + i * m.nv, m.nv);
    if (found.outcome == ContactOutcome::SOLVED) store_forces(w.x, i, !s.modes, out);
  }
}

}  // namespace
SARRUS_END
