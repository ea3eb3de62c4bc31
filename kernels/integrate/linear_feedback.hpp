// Inputs of a linear feedback about a reference state: u = u_r - K [difference(q_r, q); v - v_r].
#pragma once

#include "constraints/constraints.hpp"
#include "tree/manifold.hpp"

SARRUS_BEGIN

// K (nu, 2 nv), reference q (nq), v (nv), u (nu)
template <class T>
struct LinearFeedback {
  const T *K, *q, *v, *u;
};

// out: u (nu)   room: (nv)
template <class T>
SARRUS_FN void apply_feedback(const Model<real<T>>& m, const LinearFeedback<T>& law, int nu,
                              const State<T>& x, T* room, T* u) {
  difference(m, law.q, x.q, room);
  for (int i = 0; i < nu; ++i) {
    const T* K = law.K + 2 * i * m.nv;
    T sum = law.u[i];
    for (int j = 0; j < m.nv; ++j) sum -= K[j] * room[j] + K[m.nv + j] * (x.v[j] - law.v[j]);
    u[i] = sum;
  }
}

SARRUS_END
