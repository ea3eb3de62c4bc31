// Plus and minus on the configuration manifold, joint by joint (tree/joints.hpp).
#pragma once

#include "tree/joints.hpp"

SARRUS_BEGIN

// out: q (may not alias q0)   in: q0, dv
template <class T>
SARRUS_FN void integrate(const Model<real<T>>& m, const T* q0, const T* dv, T* q) {
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto j) { j.integrate(q0 + m.iq[i], dv + m.iv[i], q + m.iq[i]); });
}
// out: dv with integrate(q0, dv) = q1
template <class T>
SARRUS_FN void difference(const Model<real<T>>& m, const T* q0, const T* q1, T* dv) {
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto j) { j.difference(q0 + m.iq[i], q1 + m.iq[i], dv + m.iv[i]); });
}
// out: rate (nv) of the increment u when integrate(q0, u) moves with velocity v
template <class T>
SARRUS_FN void increment_rate(const Model<real<T>>& m, const T* u, const T* v, T* rate) {
  for (int i = 1; i < m.nn; ++i)
    with_joint(m.joint[i], [&](auto j) { j.rate(u + m.iv[i], v + m.iv[i], rate + m.iv[i]); });
}

SARRUS_END
