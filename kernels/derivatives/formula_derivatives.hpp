// Derivatives of the generalized forces of formulas (tree/forces/formulas.hpp) by tangent increments of q,
// and by v: the tree and the formulas once for each direction, in dual numbers.
#pragma once

#include "tree/forces/formulas.hpp"
#include "tree/manifold.hpp"

SARRUS_BEGIN

template <class T>
struct FormulaSlopes {
  using D = Dual<T>;
  Tree<D> tree;
  Spatial<D>* W;                   // (nn)
  D *q, *moved, *v, *zero, *room;  // (nq), (nq), (nv), (nv), (nfs)
  D* Q;                            // (nv) generalized forces

  // Bound where there are formulas only
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    if (!m.nfm) return;
    tree.bind(arena, m);
    arena.take(m.nn, W);
    arena.take(m.nq, q, moved);
    arena.take(m.nv, v, zero, Q);
    arena.take(m.nfs, room);
  }
};

// out: d.Q   in: d.q, d.v, d.zero (an increment of q)
template <class T>
SARRUS_FN void formula_forces(const Model<real<T>>& m, FormulaSlopes<T>& d) {
  using D = Dual<T>;
  integrate(m, d.q, d.zero, d.moved);
  place(m, d.moved, d.tree);
  move(m, d.v, d.tree);
  for (int i = 0; i < m.nn; ++i) d.W[i] = zero6<D>();
  for (int k = 0; k < m.nv; ++k) d.Q[k] = D(T(0));
  subtract_formula_forces(m, d.moved, d.v, d.room, d.Q);
  for (int k = 0; k < m.nv; ++k) d.Q[k] = -d.Q[k];
  add_formula_wrenches(m, d.moved, d.v, d.tree, d.room, d.W);
  for (int i = m.nn - 1; i > 0; --i) {
    for (int k = m.iv[i]; k < m.iv[i] + joint_nv(m.joint[i]); ++k) d.Q[k] += dot(d.tree.S[k], d.W[i]);
    d.W[m.parent[i]] = d.W[m.parent[i]] + d.W[i];
  }
}

// dq, dv (nv rows of stride ld) -= dQ/dq, dQ/dv
template <class T>
SARRUS_FN void subtract_formula_slopes(const Model<real<T>>& m, const T* q, const T* v, int ld,
                                       FormulaSlopes<T>& d, T* dq, T* dv) {
  using D = Dual<T>;
  for (int i = 0; i < m.nq; ++i) d.q[i] = D(q[i]);
  for (int k = 0; k < m.nv; ++k) d.v[k] = D(v[k]), d.zero[k] = D(T(0));
  auto along = [&](D& x, int k, T* slopes) {
    x.b = T(1);
    formula_forces(m, d);
    for (int j = 0; j < m.nv; ++j) slopes[j * ld + k] -= d.Q[j].b;
    x.b = T(0);
  };
  for (int k = 0; k < m.nv; ++k) {
    along(d.zero[k], k, dq);
    along(d.v[k], k, dv);
  }
}

SARRUS_END
