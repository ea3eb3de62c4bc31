// Where constraints hold that can be put down elsewhere than declared, and whether they stay there: what
// src/sarrus/control/state/footing.py does, for laws that run without Python.
#pragma once

#include "constraints/latch.hpp"
#include "control/step_data.hpp"

namespace sarrus {

// A constraint that can be put down: its rows, whether it is a point or a foot on the ground, or fixed
struct Contact {
  int first, rows;
  bool point, foot, fixed;
};

struct FootingTables {
  int contacts;
  const Contact* contact;
  const double *normals, *per_row, *watched;  // (nc) each
  double near, still, damping;                // gap, speed that count as movement; rate of settling [1/s]
};

}  // namespace sarrus

SARRUS_BEGIN

constexpr double PLACED =
    1e-6;  // gap, lengths over L, from which a fixed foot stands elsewhere than declared

// What is remembered of the places. values: parameters of elements and offsets of couplings, as they hold now
struct Footing {
  double *place, *settling, *values;            // (nc), (nc), (nev + nk)
  unsigned char *rows, *held, *opened, *fresh;  // (nc), (contacts) each
  double t;
  bool seen, settles, moved, latched;  // seen: rows are known; moved: something did in the last step

  SARRUS_HD Footing(const FootingTables& s, const Model<double>& m, Arena& arena) {
    arena.take(m.nc, place, settling);
    arena.take(m.nev + m.nk, values);
    arena.take(m.nc, rows);
    arena.take(s.contacts, held, opened, fresh);
  }
};

// Everything is where it was declared; true where it was not
SARRUS_FN bool forget_places(const FootingTables& s, const Model<double>& m, Footing& f) {
  bool was = f.latched;
  fill(f.place, m.nc);
  for (int i = 0; i < s.contacts; ++i) f.held[i] = f.opened[i] = f.fresh[i] = 0;
  f.t = -HUGE_VAL, f.seen = f.settles = f.moved = f.latched = false;
  for (int i = 0; i < m.nev; ++i) f.values[i] = m.el_values[i];
  for (int i = 0; i < m.nk; ++i) f.values[m.nev + i] = m.k_offset[i];
  return was;
}

// Largest |x_i - y_i| w_i
SARRUS_HD double largest_weighed(const double* x, const double* y, const double* w, int n) {
  double most = 0;
  for (int i = 0; i < n; ++i) {
    double size = abs_(x[i] - (y ? y[i] : 0.0)) * w[i];
    if (!(size <= most)) most = size;
  }
  return most;
}

SARRUS_HD bool holds(const unsigned char* rows, int r) { return !rows || rows[r]; }

// Whether the same constraints hold as before and none of them has moved
SARRUS_FN bool rests(const FootingTables& s, int nc, const ControlFound<double>& found,
                     const unsigned char* rows, const Footing& f) {
  if (!f.seen || any_of(nc, [&](int r) { return holds(rows, r) != bool(f.rows[r]); })) return false;
  return found.gap <= s.near && largest_weighed(found.measured, f.place, s.watched, nc) <= s.near &&
         largest_weighed(found.slip, nullptr, s.watched, nc) <= s.still;
}

// Notes which contacts hold now, which of them were just put down, and which have been open
SARRUS_FN void note_held(const FootingTables& s, const unsigned char* rows, bool goes_on, Footing& f) {
  for (int i = 0; i < s.contacts; ++i) {
    bool now = holds(rows, s.contact[i].first);
    f.fresh[i] = now && !(goes_on && f.held[i]);
    f.opened[i] = f.opened[i] || !now;
    f.held[i] = now;
  }
}

// Gap up to which a contact is where it was
SARRUS_HD double allowed_gap(const FootingTables& s, int i, const Footing& f) {
  const Contact& one = s.contact[i];
  if (one.point) return f.fresh[i] ? -1.0 : s.near;
  if (one.foot) return f.fresh[i] && one.fixed ? PLACED : s.near;
  return f.opened[i] ? s.near : HUGE_VAL;
}

// Whether a contact with the ground, put down before, moves along it or away from it
SARRUS_FN bool moves(const FootingTables& s, int i, const double* slip, const Footing& f) {
  const Contact& one = s.contact[i];
  if (!(one.point || one.foot) || f.fresh[i]) return false;
  double off = 0, along = 0;
  for (int r = one.first; r < one.first + one.rows; ++r) {
    double speed = slip[r] * s.per_row[r], normal = s.normals[r];
    if (normal == 0)
      along += speed * speed;
    else
      off = larger(normal * speed, off);
  }
  return off > s.still || sqrt_(along) > s.still;
}

// Rates at which contacts that move are to be brought to rest
SARRUS_FN void settle_contacts(const FootingTables& s, int nc, const double* slip, Footing& f) {
  bool some = false;
  fill(f.settling, nc);
  for (int i = 0; i < s.contacts; ++i) {
    if (!f.held[i] || !moves(s, i, slip, f)) continue;
    some = true;
    for (int r = 0; r < s.contact[i].rows; ++r) f.settling[s.contact[i].first + r] = s.damping;
  }
  f.moved = f.moved || some, f.settles = some && s.damping != 0;
}

// Puts contacts down where they are that stand elsewhere; whether a parameter of the mechanism changed
// in: q as it was measured; tree, placed there
SARRUS_FN bool put_down(const FootingTables& s, const Model<double>& m, const double* phi, const double* q,
                        Tree<double>& tree, Footing& f) {
  bool changed = false;
  for (int i = 0; i < s.contacts; ++i) {
    const Contact& one = s.contact[i];
    double square = 0;
    for (int r = one.first; r < one.first + one.rows; ++r) {
      double size = (phi[r] - f.place[r]) * s.per_row[r];
      square += size * size;
    }
    if (!f.held[i] || !(sqrt_(square) > allowed_gap(s, i, f))) continue;
    f.moved = f.moved || !f.fresh[i];
    if (one.point) {
      for (int r = one.first; r < one.first + one.rows; ++r) f.place[r] = phi[r];
      continue;
    }
    if (!changed) place(m, q, tree);
    latch_rows(m, State<double>{q, nullptr, nullptr, nullptr}, tree, one.first, one.first + one.rows,
               f.values);
    changed = f.latched = true;
  }
  return changed;
}

// After a step at the present places: whether the mechanism has changed, so that the step is to be repeated
SARRUS_FN bool follow_contacts(const FootingTables& s, const Model<double>& m, double t, const double* q,
                               const unsigned char* rows, const ControlFound<double>& found,
                               Tree<double>& tree, Footing& f) {
  bool goes_on = t > f.t;
  f.settles = f.moved = false, f.t = t;
  if (!s.contacts || rests(s, m.nc, found, rows, f)) return false;
  for (int r = 0; r < m.nc; ++r) f.rows[r] = holds(rows, r);
  f.seen = true;
  note_held(s, rows, goes_on, f);
  settle_contacts(s, m.nc, found.slip, f);
  return put_down(s, m, found.measured, q, tree, f);
}

SARRUS_END
