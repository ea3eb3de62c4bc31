// Batch loops over friction by load.
#pragma once

#include "solve/friction/bearing_loads.hpp"
#include "solve_batches.hpp"

SARRUS_BEGIN
namespace {

struct BearingWork : TreeWork {
  Spatial<double>*outer, *W;  // (nn), (nc)
  BearingWork(const ModelD& m, Arena& arena) : TreeWork(m, arena) {
    arena.take(m.nn, outer);
    arena.take(m.nc, W);
  }
};

// Wrenches on bodies at their origins (nb, 6), as wrenches on nodes about O
void gather_wrenches(const ModelD& m, const double* given, BearingWork& w) {
  for (int i = 0; i < m.nn; ++i) w.outer[i] = zero6<double>();
  for (int b = 0; given && b < m.nb; ++b, given += 6) {
    Vec3<double> force = {given[0], given[1], given[2]}, moment = {given[3], given[4], given[5]};
    int node = m.body_node[b];
    Vec3<double> p = point_of(w.tree, node, m.p_NB + 3 * b);
    w.outer[node] = w.outer[node] + Spatial<double>{force, moment + cross(p, force)};
  }
}

// Friction by load along the coordinates (nv) under the wrenches of joints w.bodies.F, against v (nv)
template <class Work>
void store_bounds(const ModelD& m, const Work& w, const double* v, const double* lam, double* to) {
  fill(to, m.nv);
  each_bearing(m, [&](int k, const auto& c) {
    double speed = v[m.cf_v[k]], way = speed > 0 ? -1 : speed < 0 ? 1 : 0;
    to[m.cf_v[k]] += bearing_bound(m, w.tree, c, Transmitted<double>{w.bodies.F, lam}, way);
  });
}

void bearing_bounds_n(const ModelD& m, States s, const double* a, const double* lam, const double* outer,
                      double* bounds) {
  each_state<BearingWork>(m, s, [&](long i, const State<double>& x, BearingWork& w) {
    place(m, x.q, w.tree);
    move(m, x.v, w.tree);
    weigh(m, w.tree, w.bodies.I);
    load_by_formulas(m, x.q, x.v, w.tree, w.bodies);
    gather_wrenches(m, outer ? outer + 6 * i * m.nb : nullptr, w);
    row_wrenches(m, w.tree, w.W);
    joint_wrenches(m, w.tree, RowMotion<double>{a + i * m.nv, lam + i * m.nc, w.W}, w.outer, w.bodies);
    store_bounds(m, w, x.v, lam + i * m.nc, bounds + i * m.nv);
  });
}

}  // namespace
SARRUS_END
