// Whether surfaces touch at poses, of steps that are taken without them.
#pragma once

#include "contacts/near_pairs.hpp"
#include "integrate/contacts/settle_contacts.hpp"

SARRUS_BEGIN

struct TouchWatch {
  Tree<double> tree;
  ContactPoint<double>* slot;    // (nslot)
  Surroundings<double>* around;  // (ns)
  int* near;                     // (npair)
  bool watches = false, touched = false;

  void bind(const Model<double>& m, Arena& arena) {
    tree.bind(arena, m);
    arena.take(m.nslot, slot);
    arena.take(m.ns, around);
    arena.take(m.npair + 1, near);
  }
  // Before and after a part of a step
  void begin(const auto& s) {
    double limit = CONTACT_TOUCHES * s.m.length[0];
    if (watches && !touched) touched = !all_above(s.m, s.q, limit, [&](int) { return limit; });
  }
  void end(const auto& s) {
    if (watches && !touched) touched = !stays_open(s.m, s.q, nullptr);
  }
  // Whether no open contact has closed at a pose   modes (nslot), or null: their margins are none
  bool stays_open(const Model<double>& m, const double* q, const SlotMode* modes) {
    return all_above(m, q, 0, [&](int k) { return modes ? -modes[k].margin : 0.0; });
  }

 private:
  // Whether all gaps are at least limit_of(slot), of which none is above `most`, and all pairs are resolved
  template <class Limit>
  bool all_above(const Model<double>& m, const double* q, double most, Limit limit_of) {
    place(m, q, tree);
    surround(m, tree, around);
    int count = near_pairs(m, around, most, near);
    return all_of(count, [&](int i) {
      int first = m.pair_slot[near[i]];
      if (contact_points(m, near[i], tree, slot + first) != POINTS_FOUND) return false;
      return all_of(m.pair_slots[near[i]], [&](int k) { return slot[first + k].gap >= limit_of(first + k); });
    });
  }
};

SARRUS_END
