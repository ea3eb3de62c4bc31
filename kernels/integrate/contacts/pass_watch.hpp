// Surfaces that pass through each other within a step: at its end nothing tells, or what is thin pushes out
// on the wrong side.
//
// No gap changes faster than points of one surface move as seen from the other. Where that way is longer than
// both gaps together, the gap is followed along a cubic between the two states by steps that cannot pass a
// contact, [Mirtich1996] ch. 2, and near it by small parts of the step.
#pragma once

#include "contacts/near_pairs.hpp"
#include "solve/contact/contact_mode.hpp"
#include "tree/manifold.hpp"

SARRUS_BEGIN

constexpr double PASS_MARGIN = 1.25;    // of speeds at both ends: what they may be in between
constexpr double PASS_LEAST = 1e-3;     // of the smaller surface: shorter ways pass through nothing
constexpr double PASS_PART = 1. / 256;  // of a step: how finely contacts are searched for
constexpr double PASS_INSIDE = 1e-9;    // of L: less is none

struct StepPath {
  const double *q0, *v0, *q1, *v1;
  double h;
};

struct PassWatch {
  Tree<double> tree;
  ContactPoint<double>* slot;    // (nslot)
  Surroundings<double>* around;  // (ns)
  double *way, *least;           // (npair) how far surfaces move in the step; what their gap was at least
  double *end, *rate, *dq;       // (nv) increment of the step, its rate there; (nv)
  double* q;                     // (nq)

  SARRUS_HD void bind(const Model<double>& m, Arena& arena) {
    tree.bind(arena, m);
    arena.take(m.nslot, slot);
    arena.take(m.ns, around);
    arena.take(m.npair, way, least);
    arena.take(m.nv, end, rate, dq);
    arena.take(m.nq, q);
  }

  // The first part of a step, 1 at most, at which surfaces of which no point is closed have come inside each
  // other   modes (nslot), or null: all are open
  SARRUS_FN double first(const Model<double>& m, const StepPath& s, const SlotMode* modes) {
    look(m, s.q0, s.v0, s.h, false);
    look(m, s.q1, s.v1, s.h, true);
    double found = 1;
    bool known = false;
    for (int pair = 0; pair < m.npair; ++pair) {
      if (!(way[pair] > least[pair]) || !may_pass(m, pair, modes)) continue;
      if (!known) difference(m, s.q0, s.q1, end), increment_rate(m, end, s.v1, rate), known = true;
      found = smaller(found, follow(m, s, pair, modes));
    }
    return found;
  }

 private:
  // Ways and least gaps of all pairs, of both ends of a step
  SARRUS_FN void look(const Model<double>& m, const double* at, const double* v, double h, bool second) {
    place(m, at, tree);
    move(m, v, tree);
    surround(m, tree, around);
    for (int pair = 0; pair < m.npair; ++pair) {
      const Surroundings<double>&a = around[m.pair_a[pair]], &b = around[m.pair_b[pair]];
      auto [on_a, on_b] = nodes_of(m, pair);
      Spatial<double> V = tree.V[on_b] - tree.V[on_a];
      double far = PASS_MARGIN * h * smaller(fastest(V, a), fastest(V, b)), gap = larger(apart(a, b), 0.0);
      way[pair] = second ? larger(way[pair], far) : far;
      least[pair] = second ? least[pair] + gap : gap;
    }
  }
  static SARRUS_HD double fastest(const Spatial<double>& V, const Surroundings<double>& s) {
    return s.kind == BELOW_PLANE ? FAR_AWAY : norm(V.lin + cross(V.ang, s.centre)) + norm(V.ang) * s.radius;
  }
  // Half spaces have no other side; what is closed is held
  SARRUS_FN bool may_pass(const Model<double>& m, int pair, const SlotMode* modes) const {
    const Surroundings<double>&a = around[m.pair_a[pair]], &b = around[m.pair_b[pair]];
    if (a.kind == BELOW_PLANE || b.kind == BELOW_PLANE) return false;
    if (!(way[pair] > PASS_LEAST * smaller(a.radius, b.radius))) return false;
    int first = m.pair_slot[pair];
    return !modes || all_of(m.pair_slots[pair], [&](int k) { return modes[first + k].state == SLOT_OPEN; });
  }
  // Gap of a pair at a part p of the step
  SARRUS_FN double gap_at(const Model<double>& m, const StepPath& s, int pair, double p) {
    double r = 1 - p;
    for (int j = 0; j < m.nv; ++j)
      dq[j] = end[j] * p * p * (3 - 2 * p) + s.h * p * r * (s.v0[j] * r - rate[j] * p);
    integrate(m, s.q0, dq, q);
    place(m, q, tree);
    ContactPoint<double>* points = slot + m.pair_slot[pair];
    if (contact_points(m, pair, tree, points) != POINTS_FOUND) return FAR_AWAY;
    double gap = FAR_AWAY;
    for (int k = 0; k < m.pair_slots[pair]; ++k) gap = smaller(gap, points[k].gap);
    return gap;
  }
  SARRUS_FN double follow(const Model<double>& m, const StepPath& s, int pair, const SlotMode* modes) {
    double limit = PASS_INSIDE * m.length[0];
    for (int k = 0; modes && k < m.pair_slots[pair]; ++k)
      limit = larger(limit, modes[m.pair_slot[pair] + k].margin);
    double gap = gap_at(m, s, pair, 0), last = gap_at(m, s, pair, 1);
    if (last > 0 && gap + last > way[pair]) return 1;
    for (double p = 0; p < 1;) {
      p += larger(gap / way[pair], PASS_PART);
      if (!(p < 1)) break;
      gap = gap_at(m, s, pair, p);
      if (gap < -limit) return p;
    }
    return 1;
  }
};

SARRUS_END
