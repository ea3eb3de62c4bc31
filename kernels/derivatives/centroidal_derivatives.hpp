// Derivatives of the momentum about the centre of mass, with dual numbers: A' along v, and d(A v)/dq.
#pragma once

#include "algebra/dual.hpp"
#include "tree/centroidal.hpp"
#include "tree/manifold.hpp"

SARRUS_BEGIN

template <class T>
struct CentroidalDerivatives {
  using D = Dual<T>;
  Tree<D> tree;
  Bodies<D> bodies;
  Spatial<D>* A;            // (nv)
  D *q, *moved, *step, *v;  // (nq), (nq) after the step (nv), velocities (nv)

  SARRUS_HD CentroidalDerivatives(const Model<real<T>>& m, Arena& arena) {
    tree.bind(arena, m);
    bodies.bind(arena, m);
    arena.take(m.nv, A);
    arena.take(m.nq, q, moved);
    arena.take(m.nv, step, v);
  }
};

template <class T>
SARRUS_FN void load_state(const Model<real<T>>& m, const T* q, const T* v, CentroidalDerivatives<T>& d) {
  copy(d.q, q, m.nq);
  for (int k = 0; k < m.nv; ++k) d.v[k] = Dual<T>(v[k]), d.step[k] = Dual<T>(T(0));
}

// The bodies along the direction in d.step
template <class T>
SARRUS_FN void place_along_step(const Model<real<T>>& m, CentroidalDerivatives<T>& d) {
  integrate(m, d.q, d.step, d.moved);
  place(m, d.moved, d.tree);
  weigh_subtrees(m, d.tree, d.bodies);
}

// out: A' (6, nv), row by row
template <class T>
SARRUS_FN void momentum_matrix_rate(const Model<real<T>>& m, const T* q, const T* v,
                                    CentroidalDerivatives<T>& d, T* out) {
  load_state(m, q, v, d);
  for (int k = 0; k < m.nv; ++k) d.step[k].b = v[k];
  place_along_step(m, d);
  momentum_matrix(m, d.tree, d.bodies, d.A);
  for (int k = 0; k < m.nv; ++k)
    for (int r = 0; r < 6; ++r) out[r * m.nv + k] = entry(d.A[k], r).b;
}

// out: d(A v)/dq (6, nv), row by row, with respect to tangent increments of q
template <class T>
SARRUS_FN void momentum_slopes(const Model<real<T>>& m, const T* q, const T* v, CentroidalDerivatives<T>& d,
                               T* out) {
  load_state(m, q, v, d);
  for (int k = 0; k < m.nv; ++k) {
    d.step[k].b = T(1);
    place_along_step(m, d);
    move(m, d.v, d.tree);
    Spatial<Dual<T>> h = momentum(m, d.tree, d.bodies);
    for (int r = 0; r < 6; ++r) out[r * m.nv + k] = entry(h, r).b;
    d.step[k].b = T(0);
  }
}

SARRUS_END
