// Contact points of a pair of surfaces of the model: one for each slot of the pair.
#pragma once

#include "contacts/pairs/kinds.hpp"
#include "tree/kinematics.hpp"

SARRUS_BEGIN

// use(meeting, a, b, exchanged) with the parameters of shapes of kinds and values of two surfaces, in the
// order in which their kinds are known; false where they are not
template <class R, class F>
SARRUS_HD bool with_pair(int kind_a, const R* values_a, int kind_b, const R* values_b, F use) {
  bool known = false;
  with_shape(kind_a, values_a, [&]<class KindA>(KindA, const auto& a) {
    with_shape(kind_b, values_b, [&]<class KindB>(KindB, const auto& b) {
      if constexpr (Meeting<KindA, KindB>::known) {
        known = true;
        use(Meeting<KindA, KindB>(), a, b, false);
      } else if constexpr (Meeting<KindB, KindA>::known) {
        known = true;
        use(Meeting<KindB, KindA>(), b, a, true);
      }
    });
  });
  return known;
}

// Number of slots of a pair; -1 where its kinds are not known together
template <class R>
SARRUS_FN int contact_slots(int kind_a, const R* values_a, int kind_b, const R* values_b) {
  int slots = -1;
  with_pair(kind_a, values_a, kind_b, values_b,
            [&](auto meeting, const auto& a, const auto& b, bool) { slots = meeting.slots(a, b); });
  return slots;
}

// The frame of a surface, for that of its node
template <class T>
SARRUS_HD Frame<T> surface_frame(const Model<real<T>>& m, int surface, const Frame<T>& node) {
  return fixed_in(node, m.sf_R + 9 * surface, m.sf_p + 3 * surface);
}

// out: the slots of the pair (pair_slots), points in the axes and from the origin in which the frames of the
// nodes of its surfaces are; returns a ContactStatus
template <class T>
SARRUS_FN int contact_points(const Model<real<T>>& m, int pair, const Frame<T>& node_a,
                             const Frame<T>& node_b, ContactPoint<T>* slots) {
  int a = m.pair_a[pair], b = m.pair_b[pair], status = POINTS_FOUND;
  Frame<T> A = surface_frame(m, a, node_a), B = surface_frame(m, b, node_b);
  with_pair(m.sf_kind[a], m.sf_values + m.sf_begin[a], m.sf_kind[b], m.sf_values + m.sf_begin[b],
            [&](auto meeting, const auto& first, const auto& second, bool exchanged) {
              status = meeting.points(first, exchanged ? B : A, second, exchanged ? A : B, slots);
              for (int k = 0; exchanged && k < m.pair_slots[pair]; ++k) exchange(slots[k]);
            });
  return status;
}

// The nodes of the surfaces of a pair
struct PairNodes {
  int a, b;
};
template <class R>
SARRUS_HD PairNodes nodes_of(const Model<R>& m, int pair) {
  return {m.sf_node[m.pair_a[pair]], m.sf_node[m.pair_b[pair]]};
}

template <class T>
SARRUS_HD Frame<T> node_frame(const Tree<T>& t, int node) {
  return {t.R[node], t.p[node]};
}

// The same of the placed tree; points from its reference point O
template <class T>
SARRUS_HD int contact_points(const Model<real<T>>& m, int pair, const Tree<T>& t, ContactPoint<T>* slots) {
  auto [a, b] = nodes_of(m, pair);
  return contact_points(m, pair, node_frame(t, a), node_frame(t, b), slots);
}

// Velocity of b relative to a at the points of a slot, for the twists of their nodes about O
template <class T>
SARRUS_HD Vec3<T> velocity_at(const ContactPoint<T>& slot, const Spatial<T>& Va, const Spatial<T>& Vb) {
  return Vb.lin + cross(Vb.ang, slot.point_b) - Va.lin - cross(Va.ang, slot.point_a);
}

SARRUS_END
