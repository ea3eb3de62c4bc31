// Batch loops over the contact points of surfaces.
#pragma once

#include "contacts/contact_points.hpp"
#include "contacts/moving_frame.hpp"
#include "contacts/near_pairs.hpp"

#include "../scratch.hpp"
#include "contact_table.hpp"

#include <limits>

SARRUS_BEGIN
namespace {

template <class T>
struct SlotWork {
  Tree<double> tree;
  ContactPoint<T>* slots;        // (nslot)
  Surroundings<double>* around;  // (ns)

  SlotWork(const ModelD& m, Arena& arena) {
    tree.bind(arena, m);
    arena.take(m.nslot, slots);
    arena.take(m.ns, around);
  }
};

// use(i, w) with state i placed and moving
template <class T, class Use>
inline void each_moved(const ModelD& m, const States& s, Use use) {
  with_work<SlotWork<T>>(m, [&](SlotWork<T>& w) {
    for (long i = 0; i < s.n; ++i) {
      place(m, s.q + i * m.nq, w.tree);
      move(m, s.v + i * m.nv, w.tree);
      use(i, w);
    }
  });
}

constexpr double NONE = std::numeric_limits<double>::quiet_NaN();

void store_slot(const ModelD& m, const Tree<double>& t, int k, const ContactPoint<double>& slot,
                const ContactArrays& out, long at) {
  if (!in_use(slot)) {
    out.gap[at] = std::numeric_limits<double>::infinity();
    for (double* x : {out.normal, out.point_a, out.point_b, out.speed}) fill(x + 3 * at, 3, NONE);
    return;
  }
  auto [a, b] = nodes_of(m, m.slot_pair[k]);
  out.gap[at] = slot.gap;
  store(slot.normal, out.normal + 3 * at);
  store(slot.point_a + t.O[0], out.point_a + 3 * at);
  store(slot.point_b + t.O[0], out.point_b + 3 * at);
  store(velocity_at(slot, t.V[a], t.V[b]), out.speed + 3 * at);
}

void contacts_n(const ModelD& m, States s, ContactArrays out) {
  each_moved<double>(m, s, [&](long i, auto& w) {
    for (int pair = 0; pair < m.npair; ++pair)
      out.status[i * m.npair + pair] = contact_points(m, pair, w.tree, w.slots + m.pair_slot[pair]);
    for (int k = 0; k < m.nslot; ++k) store_slot(m, w.tree, k, w.slots[k], out, i * m.nslot + k);
  });
}

void gap_rates_n(const ModelD& m, States s, const double* a, double* rate, double* acceleration) {
  using D = Moving<double>;
  each_moved<D>(m, s, [&](long i, auto& w) {
    add_accelerations(m, a + i * m.nv, w.tree);
    for (int pair = 0; pair < m.npair; ++pair) {
      auto [on_a, on_b] = nodes_of(m, pair);
      contact_points(m, pair, moving_frame(w.tree, on_a), moving_frame(w.tree, on_b),
                     w.slots + m.pair_slot[pair]);
    }
    for (int k = 0; k < m.nslot; ++k) {
      bool used = in_use(w.slots[k]);
      rate[i * m.nslot + k] = used ? w.slots[k].gap.a.b : NONE;
      acceleration[i * m.nslot + k] = used ? w.slots[k].gap.b.b : NONE;
    }
  });
}

void near_pairs_n(const ModelD& m, States s, double reach, int* pairs, int* count) {
  with_work<SlotWork<double>>(m, [&](SlotWork<double>& w) {
    for (long i = 0; i < s.n; ++i) {
      place(m, s.q + i * m.nq, w.tree);
      surround(m, w.tree, w.around);
      count[i] = near_pairs(m, w.around, reach, pairs + i * m.npair);
    }
  });
}

}  // namespace
SARRUS_END
