// Guards of contacts of surfaces: numbers at a state that become negative where the mode ends.
//
//   gap     of an open slot
//   push    of a closed one, relative to the largest force
//   cone    of friction that sticks: 1 less its share of the limit
//   speed   of friction that slides, in its direction
//
// Where forces depend on each other, pushes and cones are those of one solution of many: the mode holds while
// the law of contacts, solved with all of them, finds the same motion.
#pragma once

#include "solve/contact/contact_motion.hpp"

SARRUS_BEGIN

constexpr double CONTACT_PULLS = 1e-9;  // of the largest force: pushes below minus this open
constexpr double CONE_SLACK = 1e-9;     // of the limit: friction beyond it slides
constexpr double SLIP_BACK = 1e-13;     // of the speeds: sliding backwards by more has ended
constexpr double SLIP_ENDS = 2e-10;     // of the speeds: slower sliding may stick, in whatever direction
constexpr double MODE_RATE = 1e-8;      // of the accelerations: rates that count as none
constexpr double GUIDE_FORCE = 1e-8;    // of the friction: across the line of a guided slot

struct ContactGuards {
  double* at;  // (nslot, SLOT_GUARDS)
  SARRUS_HD double* of(int slot) const { return at + slot * SLOT_GUARDS; }
};

// Largest rate of a row that contacts have to change
template <int LDC>
SARRUS_HD double rate_size(const ContactMotion<LDC>& x) {
  return largest_of(x.c.rows, [&](int i) { return abs_(x.c.bias[i]); });
}
// Rate of a row under the forces x.f
template <int LDC>
SARRUS_HD double rate_after(const ContactMotion<LDC>& x, int i) {
  return x.c.bias[i] + inner(x.c.W + i * x.c.rows, x.f, x.c.rows);
}

// Whether the law, with what glides as in the mode, keeps all kept rows at rest   in: forces_in_mode()
template <int LDC>
SARRUS_FN bool mode_holds(ContactMotion<LDC>& x) {
  ContactSolver& s = x.impact.solver;
  state_problem(x, x.c.bias, [](int) { return 0.0; });
  if (prepare_contacts(s) != ContactOutcome::SOLVED) return false;
  if (solve_contacts(s, false).outcome != ContactOutcome::SOLVED) return false;
  take_forces(x, s.p.lam);
  double size = rate_size(x);
  return all_of(x.n, [&](int i) { return abs_(rate_after(x, x.kept[i])) <= MODE_RATE * size; });
}

// Speed of a block along the way in which it slides
template <int LDC>
SARRUS_FN double speed_along(const ContactRows<LDC>& c, const ContactBlock& b, const double* way) {
  double along = 0;
  for (int i = b.row; i < b.row + b.size; ++i) {
    const Vec3<double>& e = c.direction[i];
    along += c.u[i] * (b.kind == TORSION_ROW ? way[0] : e.x * way[0] + e.y * way[1] + e.z * way[2]);
  }
  return along;
}

// The speed and the largest force that guards are compared with
struct GuardSizes {
  double speed, force;
};

// Guards of friction that slides, under the push: its speed, and the force across the line of a guided one
template <int LDC>
SARRUS_FN void look_at_sliding(const ContactMotion<LDC>& x, int k, const double* way, double push,
                               GuardSizes size, double* g) {
  const ContactBlock& b = x.c.block[k];
  int which = friction_index(b.kind);
  double fast = length_of(x.c.u + b.row, b.size);
  double back = x.guided[k] ? 2 * SLIP_ENDS : SLIP_BACK;  // guided: from the slow end of sliding on
  g[5 + which] = speed_along(x.c, b, way) + back * size.speed;
  if (!x.guided[k] && fast < SLIP_ENDS * size.speed) g[5 + which] = -1;
  if (!x.guided[k] || !(fast > SLIP_ENDS * size.speed)) return;
  double across = abs_(x.f[b.row + 1]);
  if (across > CONTACT_PULLS * size.force)
    g[2 + which] = GUIDE_FORCE - across / larger(b.share * push, 1e-300);
}
// The guard of friction that sticks
template <int LDC>
SARRUS_HD double cone_guard(const ContactMotion<LDC>& x, const ContactBlock& b, double push, double force) {
  double limit = b.share * larger(push, 0.0), size = length_of(x.f + b.row, b.size);
  return size <= CONTACT_PULLS * force ? 1 : 1 + CONE_SLACK - size / larger(limit, 1e-300);
}

// Guards of closed slots   in: forces_in_mode()
template <int LDC>
SARRUS_FN void look_at_contacts(const ContactMotion<LDC>& x, const SlotMode* modes, GuardSizes size,
                                ContactGuards& to) {
  const ContactRows<LDC>& c = x.c;
  double push = 0;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    if (b.contact == NO_CONTACT) continue;
    const SlotMode& mode = modes[c.which[b.contact]];
    int which = friction_index(b.kind);
    double* g = to.of(c.which[b.contact]);
    if (b.kind == NORMAL_ROW) {
      push = x.f[b.row];
      g[1] = mode.state == SLOT_REBOUNDS ? 1 : push / size.force + CONTACT_PULLS;
    } else if (x.gliding[k]) {
      look_at_sliding(x, k, mode.way + 3 * which, push, size, g);
    } else {
      g[2 + which] = cone_guard(x, b, push, size.force);
    }
  }
}

// The largest force, those among them that would stop a part of the free motion. Rows along which nothing can
// move (across a plane machine) have responses of rounding.
template <int LDC>
SARRUS_FN double contact_force_size(const ContactMotion<LDC>& x) {
  const ContactRows<LDC>& c = x.c;
  double force = largest_of(c.rows, [&](int i) { return abs_(x.f[i]); });
  double most = largest_of(c.rows, [&](int i) { return c.W[i * c.rows + i]; });
  double stops = largest_of(c.rows, [&](int i) {
    double response = c.W[i * c.rows + i];
    return response > RESPONSE_GONE * most ? abs_(c.bias[i]) / response : 0.0;
  });
  return larger(larger(force, 1e-3 * stops), 1e-300);
}

// Whether pushes and cones are within their limits
SARRUS_HD bool forces_fit(const ContactGuards& g, int slots) {
  return all_of(slots, [&](int k) { return all_of(4, [&](int i) { return g.of(k)[1 + i] >= 0; }); });
}

// Forces of contacts beside joint rows that hold the same: by the law, sliding in the directions of the mode.
// x.Q is that of contacts.   in: forces_in_mode() with joint rows
template <int LDC>
SARRUS_FN bool forces_by_law(ContactMotion<LDC>& x) {
  ContactSolver& s = x.impact.solver;
  ContactRows<LDC>& c = x.c;
  state_problem(x, c.bias, [](int) { return 0.0; });
  if (prepare_contacts(s) != ContactOutcome::SOLVED) return false;
  if (solve_contacts(s, false).outcome != ContactOutcome::SOLVED) return false;
  find_least_forces(s.p, x.least);
  take_forces(x, s.p.lam);
  for (int i = c.rows - c.joint.n; i < c.rows; ++i) axpy(x.Q, -x.f[i], c.J + i * c.w.ld, c.w.ld);
  return true;
}

// All guards at a state, by one solution of many   in: forces of contacts in the mode
template <int LDC>
SARRUS_FN void look_at_slots(ContactMotion<LDC>& x, const SlotMode* modes, double speed, ContactGuards& to) {
  ContactRows<LDC>& c = x.c;
  for (int i = 0; i < c.m.nslot * SLOT_GUARDS; ++i) to.at[i] = 1;
  look_at_contacts(x, modes, {speed, contact_force_size(x)}, to);
  for (int k = 0; k < c.m.nslot; ++k)
    if (modes[k].state == SLOT_OPEN && in_use(c.slot[k])) to.of(k)[0] = c.slot[k].gap + modes[k].margin;
}
// Pushes and cones hold by forces that are not those of look_at_slots()
SARRUS_HD void hold_slots(ContactGuards& to, int slots) {
  for (int k = 0; k < slots; ++k)
    for (int i = 1; i < 5; ++i) to.of(k)[i] = larger(to.of(k)[i], 0.0);
}

SARRUS_END
