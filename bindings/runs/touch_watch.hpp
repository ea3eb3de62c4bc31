// Whether surfaces touch at poses, of steps that are taken without them.
#pragma once

#include "integrate/contacts/pass_watch.hpp"
#include "integrate/contacts/settle_contacts.hpp"

SARRUS_BEGIN

struct TouchWatch {
  PassWatch pass;
  int* near;        // (npair)
  double *q0, *v0;  // where a part of a step begins
  double t0 = 0;
  bool watches = false, touched = false;

  void bind(const Model<double>& m, Arena& arena) {
    pass.bind(m, arena);
    arena.take(m.npair + 1, near);
    arena.take(m.nq, q0);
    arena.take(m.nv, v0);
  }
  // Before and after a part of a step
  void begin(const auto& s) {
    if (!watches || touched) return;
    double limit = CONTACT_TOUCHES * s.m.length[0];
    touched = !all_above(s.m, s.q, limit, [&](int) { return limit; });
    copy(q0, s.q, s.m.nq);
    copy(v0, s.v, s.m.nv);
    t0 = s.t;
  }
  void end(const auto& s) {
    if (!watches || touched) return;
    touched = !stays_open(s.m, s.q, nullptr) || passes(s.m, {q0, v0, s.q, s.v, s.t - t0}, nullptr);
  }
  // Whether surfaces pass through each other between two states
  bool passes(const Model<double>& m, const StepPath& s, const SlotMode* modes) {
    return pass.first(m, s, modes) < 1;
  }
  // Whether no open contact has closed at a pose   modes (nslot), or null: their margins are none
  bool stays_open(const Model<double>& m, const double* q, const SlotMode* modes) {
    return all_above(m, q, 0, [&](int k) { return modes ? -modes[k].margin : 0.0; });
  }

 private:
  // Whether all gaps are at least limit_of(slot), of which none is above `most`, and all pairs are resolved
  template <class Limit>
  bool all_above(const Model<double>& m, const double* q, double most, Limit limit_of) {
    place(m, q, pass.tree);
    surround(m, pass.tree, pass.around);
    int count = near_pairs(m, pass.around, most, near);
    return all_of(count, [&](int i) {
      int first = m.pair_slot[near[i]];
      if (contact_points(m, near[i], pass.tree, pass.slot + first) != POINTS_FOUND) return false;
      return all_of(m.pair_slots[near[i]],
                    [&](int k) { return pass.slot[first + k].gap >= limit_of(first + k); });
    });
  }
};

SARRUS_END
