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
constexpr double GUIDE_ENDS = 3e-7;     // of the speeds: friction that has begun to slide follows them

struct ContactGuards {
  double* at;  // (nslot, SLOT_GUARDS)
  SARRUS_HD double* of(int slot) const { return at + slot * SLOT_GUARDS; }
};

// A speed of what sets out from rest under such rates; rounding of forces changes speeds by parts of it
template <int LDC>
SARRUS_HD double speed_from_rest(const ContactMotion<LDC>& x) {
  return sqrt_(rate_size(x) * x.c.m.length[0]);
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

// The guard of friction that slides: its speed
template <int LDC>
SARRUS_FN void look_at_sliding(const ContactMotion<LDC>& x, const ContactBlock& b, const double* way,
                               GuardSizes size, double* g) {
  double fast = length_of(x.c.u + b.row, b.size), along = speed_along(x.c, b, way);
  g[5 + friction_index(b.kind)] = fast < SLIP_ENDS * size.speed ? -1 : along + SLIP_BACK * size.speed;
}
// The guard of friction that begins to slide: until it does, or sticks again by the law
template <int LDC>
SARRUS_FN void look_at_guided(const ContactMotion<LDC>& x, int k, double run_speed, double* g) {
  const ContactBlock& b = x.c.block[k];
  double speed = larger(run_speed, speed_from_rest(x)), fast = length_of(x.c.u + b.row, b.size);
  bool stops = fast > SLIP_ENDS * speed && !x.gliding[k];
  g[5 + friction_index(b.kind)] = stops ? -1 : 1 - fast / (GUIDE_ENDS * speed);
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
    } else if (x.guided[k]) {
      look_at_guided(x, k, size.speed, g);
    } else if (x.gliding[k]) {
      look_at_sliding(x, b, mode.way + 3 * which, size, g);
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
