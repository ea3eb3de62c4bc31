// Batch loops over the functions of the tree, which know no constraints.
#pragma once

#include "base/products.hpp"
#include "constraints/row.hpp"
#include "tree/body_frames.hpp"
#include "tree/inertia_and_bias.hpp"
#include "tree/manifold.hpp"

#include "../scratch.hpp"
#include "batch_table.hpp"

SARRUS_BEGIN
namespace {

inline State<double> state_of(const ModelD& m, const States& s, long i) {
  return {s.q + i * m.nq, s.v ? s.v + i * m.nv : nullptr, s.drive ? s.drive + i * 3 * m.nd : nullptr,
          s.user ? s.user + i * m.n_user_rows * (3 + m.nv) : nullptr};
}

// use(i, x, w): state x, number i of the batch, with the memory w
template <class Work, class Use>
inline void each_state(const ModelD& m, const States& s, Use use) {
  with_work<Work>(m, [&](Work& w) {
    for (long i = 0; i < s.n; ++i) {
      State<double> x = state_of(m, s, i);
      use(i, x, w);
    }
  });
}

struct TreeWork {
  Tree<double> tree;
  Bodies<double> bodies;
  Stride<0> ld;
  double *M, *rest;  // (nv, ld), and accelerations of zero (nv)
  int* branch;       // (nn)

  TreeWork(const ModelD& m, Arena& arena) : ld(m.nv) {
    tree.bind(arena, m);
    bodies.bind(arena, m);
    arena.take(m.nv * ld, M);
    arena.take(m.nv, rest);
    arena.take(m.nn, branch);
    if (arena.at) fill(rest, m.nv);
  }
};

// use(i, x, w) with the bodies placed
template <class Use>
inline void each_placed(const ModelD& m, const States& s, Use use) {
  each_state<TreeWork>(m, s, [&](long i, const State<double>& x, TreeWork& w) {
    place(m, x.q, w.tree);
    use(i, x, w);
  });
}

// use(i, w) with a body placed, and all that carry it
template <class Use>
inline void each_placed_body(const ModelD& m, const States& s, int body, Use use) {
  each_state<TreeWork>(m, s, [&](long i, const State<double>& x, TreeWork& w) {
    place_branch(m, m.body_node[body], x.q, w.branch, w.tree);
    use(i, w);
  });
}

// Rows of nv entries (stride ld) into an array without padding.
void store_matrix(const ModelD& m, const double* from, int rows, int ld, double* to) {
  unpad(from, ld, Stride<0>(m.nv), rows, m.nv, 1, to);
}

void mass_matrix_n(const ModelD& m, States s, double* M) {
  each_placed(m, s, [&](long i, auto&, TreeWork& w) {
    weigh(m, w.tree, w.bodies.I);
    inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
    store_matrix(m, w.M, m.nv, w.ld, M + i * m.nv * m.nv);
  });
}

void rnea_n(const ModelD& m, States s, const double* a, double* f) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    rnea(m, x.q, x.v, a ? a + i * m.nv : w.rest, w.tree, w.bodies, f + i * m.nv);
  });
}

void bias_n(const ModelD& m, States s, double* h) { rnea_n(m, s, nullptr, h); }

void energy_n(const ModelD& m, States s, double* out) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    move(m, x.v, w.tree);
    energy(m, x.q, x.v, w.tree, out + 2 * i);
  });
}

void poses_n(const ModelD& m, States s, double* R, double* p) {
  each_placed(m, s, [&](long i, auto&, TreeWork& w) {
    for (int b = 0; b < m.nb; ++b) body_pose(m, b, w.tree, R + 9 * (i * m.nb + b), p + 3 * (i * m.nb + b));
  });
}

void body_motion_n(const ModelD& m, States s, const double* a, double* V, double* A) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    accelerate_tree(m, x.v, a + i * m.nv, w.tree);
    for (int b = 0; b < m.nb; ++b) body_motion(m, b, w.tree, V + 6 * (i * m.nb + b), A + 6 * (i * m.nb + b));
  });
}

void deflection_wrenches_n(const ModelD& m, States s, const double* a, double* W) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    accelerate_tree(m, x.v, a + i * m.nv, w.tree);
    for (int b = 0; b < m.nfl; ++b) store(deflection_wrench(m, b, w.tree), W + 6 * (i * m.nfl + b));
  });
}

// Frame k of the arrays: that of a body   in: w.tree, accelerated
void store_frame(const ModelD& m, int body, const TreeWork& w, const FrameArrays& out, long k) {
  body_pose(m, body, w.tree, out.R + 9 * k, out.p + 3 * k);
  body_motion(m, body, w.tree, out.V + 6 * k, out.A + 6 * k);
}

void frames_n(const ModelD& m, States s, FrameArrays out) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    accelerate_tree(m, x.v, w.rest, w.tree);
    for (int b = 0; b < m.nb; ++b) store_frame(m, b, w, out, i * m.nb + b);
  });
}

void pose_n(const ModelD& m, States s, int body, double* R, double* p) {
  each_placed_body(m, s, body,
                   [&](long i, TreeWork& w) { body_pose(m, body, w.tree, R + 9 * i, p + 3 * i); });
}

void jacobian_n(const ModelD& m, States s, BodyPoint at, double* J) {
  each_placed_body(m, s, at.body, [&](long i, TreeWork& w) {
    double *of_state = J + i * 6 * m.nv, R[9], p[3], none[12] = {};
    body_jacobian(m, at.body, at.point, w.tree, of_state);
    if (at.as == WORLD_ALIGNED) return;
    body_pose(m, at.body, w.tree, R, p);
    move_point(R, at.point, p, none, none + 6);
    for (int k = 0; k < m.nv; ++k) express(at.as, R, p, m.nv, of_state + k);
  });
}

void point_motion_n(const ModelD& m, States s, const double* a, BodyPoint at, double* V, double* A) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    double R[9], p[3], v6[6], a6[6];
    accelerate_tree(m, x.v, a ? a + i * m.nv : w.rest, w.tree);
    body_pose(m, at.body, w.tree, R, p);
    body_motion(m, at.body, w.tree, v6, a6);
    move_point(R, at.point, p, v6, a6);
    express(at.as, R, p, 1, v6);
    express(at.as, R, p, 1, a6);
    for (int k = 0; V && k < 6; ++k) V[6 * i + k] = v6[k];
    for (int k = 0; A && k < 6; ++k) A[6 * i + k] = a6[k];
  });
}

void point_n(const ModelD& m, States s, BodyPoint at, FrameArrays out, double* J) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    accelerate_tree(m, x.v, w.rest, w.tree);
    store_frame(m, at.body, w, out, i);
    move_point(out.R + 9 * i, at.point, out.p + 3 * i, out.V + 6 * i, out.A + 6 * i);
    body_jacobian(m, at.body, at.point, w.tree, J + i * 6 * m.nv);
  });
}

void integrate_n(const ModelD& m, States s, const double* dv, double* out) {
  for (long i = 0; i < s.n; ++i) integrate(m, s.q + i * m.nq, dv + i * m.nv, out + i * m.nq);
}

void difference_n(const ModelD& m, States s, const double* q1, double* dv) {
  for (long i = 0; i < s.n; ++i) difference(m, s.q + i * m.nq, q1 + i * m.nq, dv + i * m.nv);
}

}  // namespace
SARRUS_END
