// Batch loops over the centre of mass and the momentum about it.
#pragma once

#include "derivatives/centroidal_derivatives.hpp"
#include "tree_batches.hpp"

SARRUS_BEGIN
namespace {

struct CentroidalWork : TreeWork {
  Spatial<double>* A;  // (nv)

  CentroidalWork(const ModelD& m, Arena& arena) : TreeWork(m, arena) { arena.take(m.nv, A); }
};

// use(i, x, w) with the bodies placed and weighed
template <class Use>
inline void each_weighed(const ModelD& m, const States& s, Use use) {
  each_state<CentroidalWork>(m, s, [&](long i, const State<double>& x, CentroidalWork& w) {
    place(m, x.q, w.tree);
    weigh_subtrees(m, w.tree, w.bodies);
    use(i, x, w);
  });
}

void center_of_mass_n(const ModelD& m, States s, double* c) {
  each_weighed(m, s, [&](long i, auto&, CentroidalWork& w) {
    store(center_of_mass(w.bodies) + w.tree.O[0], c + 3 * i);
  });
}

void centroidal_momentum_n(const ModelD& m, States s, double* h) {
  each_weighed(m, s, [&](long i, auto& x, CentroidalWork& w) {
    move(m, x.v, w.tree);
    store(momentum(m, w.tree, w.bodies), h + 6 * i);
  });
}

void centroidal_momentum_rate_n(const ModelD& m, States s, const double* a, double* rate) {
  each_weighed(m, s, [&](long i, auto& x, CentroidalWork& w) {
    accelerate_tree(m, x.v, a + i * m.nv, w.tree);
    store(momentum_rate(m, w.tree, w.bodies), rate + 6 * i);
  });
}

void centroidal_momentum_matrix_n(const ModelD& m, States s, double* A) {
  each_weighed(m, s, [&](long i, auto&, CentroidalWork& w) {
    momentum_matrix(m, w.tree, w.bodies, w.A);
    for (int k = 0; k < m.nv; ++k)
      for (int r = 0; r < 6; ++r) A[(6 * i + r) * m.nv + k] = entry(w.A[k], r);
  });
}

void center_of_mass_jacobian_n(const ModelD& m, States s, double* J) {
  each_weighed(m, s, [&](long i, auto&, CentroidalWork& w) {
    momentum_matrix(m, w.tree, w.bodies, w.A);
    for (int k = 0; k < m.nv; ++k) {
      double column[3];
      store(of_center(w.bodies, w.A[k]), column);
      for (int r = 0; r < 3; ++r) J[(3 * i + r) * m.nv + k] = column[r];
    }
  });
}

void center_of_mass_velocity_n(const ModelD& m, States s, double* velocity) {
  each_weighed(m, s, [&](long i, auto& x, CentroidalWork& w) {
    move(m, x.v, w.tree);
    store(of_center(w.bodies, momentum(m, w.tree, w.bodies)), velocity + 3 * i);
  });
}

void center_of_mass_acceleration_n(const ModelD& m, States s, const double* a, double* acceleration) {
  each_weighed(m, s, [&](long i, auto& x, CentroidalWork& w) {
    accelerate_tree(m, x.v, a + i * m.nv, w.tree);
    store(of_center(w.bodies, momentum_rate(m, w.tree, w.bodies)), acceleration + 3 * i);
  });
}

void centroidal_momentum_matrix_rate_n(const ModelD& m, States s, double* out) {
  using Work = CentroidalDerivatives<double>;
  each_state<Work>(
      m, s, [&](long i, auto& x, Work& d) { momentum_matrix_rate(m, x.q, x.v, d, out + 6 * i * m.nv); });
}

void centroidal_momentum_derivative_n(const ModelD& m, States s, double* out) {
  using Work = CentroidalDerivatives<double>;
  each_state<Work>(m, s,
                   [&](long i, auto& x, Work& d) { momentum_slopes(m, x.q, x.v, d, out + 6 * i * m.nv); });
}

}  // namespace
SARRUS_END
