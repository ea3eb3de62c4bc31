// Forces declared in the description: wrenches on nodes, subtracted from F (which collects what the joints
// must supply), generalized forces on coordinates, subtracted from tau and so added to h; and their energy.
#pragma once

#include "tree/forces/formulas.hpp"
#include "tree/forces/kinds.hpp"

SARRUS_BEGIN

// F_i -= wrenches of the forces between nodes
template <class T>
SARRUS_FN void subtract_wrenches(const Model<real<T>>& m, const Tree<T>& t, Spatial<T>* F) {
  for (int i = 0; i < m.nf; ++i)
    with_force(m, i, [&](auto kind, const auto& c) {
      int a = m.fo_a[i], b = m.fo_b[i];
      Spatial<T> W = kind.load(c, pair_of(t, a, b, c)).wrench;
      F[b] = F[b] - W;
      F[a] = F[a] + W;
    });
}

// Wrench W (6) on b about point B of force i, in world axes, and that point (3) in the world   in: t (moved)
template <class T>
SARRUS_FN void force_wrench(const Model<real<T>>& m, int i, const Tree<T>& t, T* W, T* at) {
  with_force(m, i, [&](auto kind, const auto& c) {
    Pair<T> p = pair_of(t, m.fo_a[i], m.fo_b[i], c);
    Spatial<T> L = kind.load(c, p).wrench;
    store(Spatial<T>{L.lin, L.ang - cross(p.pB, L.lin)}, W);
    store(p.pB + t.O[0], at);
  });
}

// Smoothed Coulomb friction of coordinate k
template <class T>
SARRUS_HD T coulomb_friction(const Model<real<T>>& m, int k, const T& v) {
  return tanh_(v / m.friction_speed[k]) * m.friction[k];
}

// h += damping, friction, springs and stops of coordinates
template <class T>
SARRUS_FN void subtract_joint_forces(const Model<real<T>>& m, const T* q, const T* v, T* h) {
  for (int k = 0; k < m.nv; ++k) h[k] += v[k] * m.damping[k];
  for (int k = 0; k < m.nv; ++k)
    if (m.friction[k] != 0) h[k] += coulomb_friction(m, k, v[k]);
  for (int i = 0; i < m.ncf; ++i)
    with_coordinate_force(m, i, [&](auto kind, const auto& c) {
      h[m.cf_v[i]] += kind.template resistance<T>(c, q[m.cf_q[i]], v[m.cf_v[i]]);
    });
}

// sum += energy of all forces that have one   in: t (moved)
template <class T>
SARRUS_FN void add_force_energy(const Model<real<T>>& m, const T* q, const Tree<T>& t, T& sum) {
  for (int i = 0; i < m.nf; ++i)
    with_force(m, i, [&](auto kind, const auto& c) {
      sum += kind.load(c, pair_of(t, m.fo_a[i], m.fo_b[i], c)).energy;
    });
  for (int i = 0; i < m.ncf; ++i)
    with_coordinate_force(m, i,
                          [&](auto kind, const auto& c) { sum += kind.template energy<T>(c, q[m.cf_q[i]]); });
}

SARRUS_END
