// Forces of a person at a mechanism: inputs that are held, coordinates that are held at a value, and a point
// of a body that is pulled by a spring with a damper.
//
//   tau = within(lower, u - k (q - q_held) - d v, upper) + J_p^T (k_p (target - x) - d_p x')             (1)
#pragma once

#include "tree/body_frames.hpp"

SARRUS_BEGIN

// By coordinate (nv): input, stiffness, damping and value that are held, limits of their sum; entry of q,
// -1 where there is none (then the stiffness is not used).
template <class R>
struct Holding {
  const R *u, *stiffness, *damping, *value, *lower, *upper;
  const int* position;
};

// The point (3) of a body, -1 for none; target (3) in the world [m]; stiffness [N/m], damping [N s/m]
template <class R>
struct Pull {
  int body;
  const R *point, *target;
  R stiffness, damping;
};

template <class T>
struct PullWork {
  Tree<T> tree;
  T* J;         // (6, nv)
  int* branch;  // (nn)
  SARRUS_HD PullWork(const Model<real<T>>& m, Arena& arena) {
    tree.bind(arena, m);
    arena.take(6 * m.nv, J);
    arena.take(m.nn, branch);
  }
};

// tau (nv) of (1) at (q, v)
template <class T>
SARRUS_FN void pull_and_hold(const Model<real<T>>& m, const Holding<real<T>>& h, const Pull<real<T>>& p,
                             const T* q, const T* v, PullWork<T>& w, T* tau) {
  for (int j = 0; j < m.nv; ++j) {
    T x = h.u[j] - h.damping[j] * v[j];
    if (h.position[j] >= 0) x -= h.stiffness[j] * (q[h.position[j]] - h.value[j]);
    tau[j] = x > h.upper[j] ? T(h.upper[j]) : x < h.lower[j] ? T(h.lower[j]) : x;
  }
  if (p.body < 0) return;
  place_branch(m, m.body_node[p.body], q, w.branch, w.tree);
  body_jacobian(m, p.body, p.point, w.tree, w.J);
  T R[9], at[3];
  body_pose(m, p.body, w.tree, R, at);
  for (int i = 0; i < 3; ++i) {
    T speed = sum_of<T>(m.nv, [&](int j) { return w.J[i * m.nv + j] * v[j]; });
    at[i] = plus_products(at[i], R + 3 * i, p.point, 3);
    T force = p.stiffness * (p.target[i] - at[i]) - p.damping * speed;
    add_scaled(tau, force, w.J + i * m.nv, m.nv);
  }
}

SARRUS_END
