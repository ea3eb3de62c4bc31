// Forces declared in the description, as wrenches on nodes (accumulated with a minus sign into F, which
// collects what the joints must supply) and as generalized forces on coordinates.
#pragma once

#include "tree/kinematics.hpp"

SARRUS_BEGIN

// Wrench of a point spring on node b (the reaction acts on a), along r = p_b - p_a of length l:
//   f = -(k (1 - l0/l) + c l'/l) r
// and its energy k (l - l0)^2 / 2. At zero length it has no direction, and pulls with -k r where l0 = 0,
// which is smooth there, and with nothing otherwise.
template <class T>
struct SpringForce {
  Spatial<T> wrench;
  T energy;
};

constexpr double SPRING_APART = 1e-24;  // squared length [m^2] below which a spring has no direction

template <class T>
SARRUS_HD SpringForce<T> point_spring(const Model<real<T>>& m, int s, const Tree<T>& t) {
  int a = m.ps_a[s], b = m.ps_b[s];
  real<T> k = m.ps_stiffness[s], rest = m.ps_rest[s];
  Vec3<T> pa = t.p[a] + turn(t.R[a], m.ps_p_a + 3 * s);
  Vec3<T> pb = t.p[b] + turn(t.R[b], m.ps_p_b + 3 * s);
  Vec3<T> r = pb - pa;
  T l2 = dot(r, r);
  auto apart = l2 > real<T>(SPRING_APART);
  T inv = select(apart, real<T>(1) / sqrt_(select(apart, l2, T(1))), T(0));
  Spatial<T> line = force_at(pb, r);
  T rate = dot(line, t.V[b] - t.V[a]) * inv;  // l'
  T pull = select(apart, T(k) - inv * (k * rest) + rate * inv * m.ps_damping[s], T(rest == 0 ? k : 0));
  // l^2 - 2 l l0 + l0^2 without the root of zero
  T energy = (l2 - l2 * inv * (2 * rest) + rest * rest) * (k * real<T>(0.5));
  return {line * (-pull), energy};
}

template <class T>
SARRUS_HD Spatial<T> constant_wrench(const Model<real<T>>& m, int w, const Tree<T>& t) {
  int i = m.w_node[w];
  const real<T>* x = m.w_wrench + 6 * w;
  Vec3<T> p = t.p[i] + turn(t.R[i], m.w_point + 3 * w);
  Vec3<T> f = {T(x[0]), T(x[1]), T(x[2])}, n = {T(x[3]), T(x[4]), T(x[5])};
  if (m.w_local[w]) f = turn(t.R[i], x), n = turn(t.R[i], x + 3);
  return {f, cross(p, f) + n};
}

// F_i -= wrenches of springs and constant wrenches
template <class T>
SARRUS_FN void subtract_wrenches(const Model<real<T>>& m, const Tree<T>& t, Spatial<T>* F) {
  for (int s = 0; s < m.nps; ++s) {
    Spatial<T> W = point_spring(m, s, t).wrench;
    F[m.ps_b[s]] = F[m.ps_b[s]] - W;
    F[m.ps_a[s]] = F[m.ps_a[s]] + W;
  }
  for (int w = 0; w < m.nw; ++w) F[m.w_node[w]] = F[m.w_node[w]] - constant_wrench(m, w, t);
}

// How far a coordinate is beyond its stop: negative below the lower one, positive above the upper one.
template <class T>
SARRUS_HD T stop_overrun(const Model<real<T>>& m, int s, const T* q) {
  T x = q[m.st_q[s]], low = x - m.st_lower[s], high = x - m.st_upper[s];
  return select(low < real<T>(0), low, select(high > real<T>(0), high, T(0)));
}

// h -= joint springs, dampers, friction and stops
template <class T>
SARRUS_FN void subtract_joint_forces(const Model<real<T>>& m, const T* q, const T* v, T* h) {
  for (int k = 0; k < m.nv; ++k) h[k] += v[k] * m.damping[k];
  for (int k = 0; k < m.nv; ++k)
    if (m.friction[k] != 0) h[k] += tanh_(v[k] / m.friction_speed[k]) * m.friction[k];
  for (int s = 0; s < m.njs; ++s) h[m.js_v[s]] += (q[m.js_q[s]] - m.js_rest[s]) * m.js_stiffness[s];
  for (int s = 0; s < m.nst; ++s) {
    T x = stop_overrun(m, s, q);
    T resist = x * m.st_stiffness[s] + v[m.st_v[s]] * m.st_damping[s];
    // a stop pushes, it never pulls: the resisting force has the sign of the overrun
    h[m.st_v[s]] += select(x * resist > real<T>(0), resist, T(0));
  }
}

SARRUS_END
