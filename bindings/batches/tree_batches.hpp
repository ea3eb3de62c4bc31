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

// State i of a batch
State<double> state_at(const ModelD& m, const States& s, long i) {
  return {s.q + i * m.nq, s.v ? s.v + i * m.nv : nullptr, s.drive ? s.drive + i * 3 * m.nd : nullptr,
          s.user ? s.user + i * m.n_user_rows * (3 + m.nv) : nullptr};
}

// The tree alone, for functions without constraints.
template <class F>
inline void with_tree(const ModelD& m, F body) {
  with_arena([&](Arena& arena, bool ready) {
    Tree<double> t;
    t.bind(arena, m);
    Bodies<double> b;
    b.bind(arena, m);
    double* M = arena.take<double>(m.nv * Stride<0>(m.nv));
    if (ready) body(t, b, M);
  });
}

// Rows of nv entries (stride ld) into an array without padding.
void store_matrix(const ModelD& m, const double* from, int rows, int ld, double* to) {
  unpad(from, ld, Stride<0>(m.nv), rows, m.nv, 1, to);
}

void mass_matrix_n(const ModelD& m, States s, double* out) {
  with_tree(m, [&](auto& t, auto& b, double* M) {
    Stride<0> ld(m.nv);
    for (int i = 0; i < s.n; ++i) {
      place(m, state_at(m, s, i).q, t);
      weigh(m, t, b.I);
      inertia_matrix(m, t, b, ld, M);
      store_matrix(m, M, m.nv, ld, out + static_cast<long>(i) * m.nv * m.nv);
    }
  });
}

void rnea_n(const ModelD& m, States s, const double* a, double* f) {
  with_tree(m, [&](auto& t, auto& b, double*) {
    for (int i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, t);
      rnea(m, x.q, x.v, a + static_cast<long>(i) * m.nv, t, b, f + static_cast<long>(i) * m.nv);
    }
  });
}

void energy_n(const ModelD& m, States s, double* out) {
  with_tree(m, [&](auto& t, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, t);
      move(m, x.v, t);
      energy(m, x.q, x.v, t, out + 2L * i);
    }
  });
}

void poses_n(const ModelD& m, States s, double* R, double* p) {
  with_tree(m, [&](auto& t, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      place(m, state_at(m, s, i).q, t);
      for (int b = 0; b < m.nb; ++b) {
        long k = static_cast<long>(i) * m.nb + b;
        body_pose(m, b, t, R + 9 * k, p + 3 * k);
      }
    }
  });
}

void body_motion_n(const ModelD& m, States s, const double* a, double* V, double* A) {
  with_tree(m, [&](auto& t, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, t);
      accelerate_tree(m, x.v, a + static_cast<long>(i) * m.nv, t);
      for (int b = 0; b < m.nb; ++b) {
        long k = static_cast<long>(i) * m.nb + b;
        body_motion(m, b, t, V + 6 * k, A + 6 * k);
      }
    }
  });
}

void frames_n(const ModelD& m, States s, FrameArrays out) {
  with_arena([&](Arena& arena, bool ready) {
    Tree<double> t;
    t.bind(arena, m);
    double* a = arena.take<double>(m.nv);
    if (!ready) return;
    fill(a, m.nv);
    for (int i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, t);
      accelerate_tree(m, x.v, a, t);
      for (long k = static_cast<long>(i) * m.nb, b = 0; b < m.nb; ++b, ++k) {
        body_pose(m, static_cast<int>(b), t, out.R + 9 * k, out.p + 3 * k);
        body_motion(m, static_cast<int>(b), t, out.V + 6 * k, out.A + 6 * k);
      }
    }
  });
}

void jacobian_n(const ModelD& m, States s, int body, const double* point, double* J) {
  with_tree(m, [&](auto& t, auto&, double*) {
    for (int i = 0; i < s.n; ++i) {
      place(m, state_at(m, s, i).q, t);
      body_jacobian(m, body, point, t, J + static_cast<long>(i) * 6 * m.nv);
    }
  });
}

void point_1(const ModelD& m, States s, int body, const double* point, FrameArrays out, double* J) {
  with_arena([&](Arena& arena, bool ready) {
    Tree<double> t;
    t.bind(arena, m);
    double* a = arena.take<double>(m.nv);
    if (!ready) return;
    fill(a, m.nv);
    place(m, s.q, t);
    accelerate_tree(m, s.v, a, t);
    body_pose(m, body, t, out.R, out.p);
    body_motion(m, body, t, out.V, out.A);
    move_point(out.R, point, out.p, out.V, out.A);
    body_jacobian(m, body, point, t, J);
  });
}

void integrate_n(const ModelD& m, int n, const double* q, const double* dv, double* out) {
  for (long i = 0; i < n; ++i) integrate(m, q + i * m.nq, dv + i * m.nv, out + i * m.nq);
}

void difference_n(const ModelD& m, int n, const double* q0, const double* q1, double* dv) {
  for (long i = 0; i < n; ++i) difference(m, q0 + i * m.nq, q1 + i * m.nq, dv + i * m.nv);
}

}  // namespace
SARRUS_END
