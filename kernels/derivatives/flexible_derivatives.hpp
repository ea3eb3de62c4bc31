// Derivatives of what deflections of flexible bodies add to M a + h: by deflections q and their rates v in
// dual numbers at a fixed motion of the floating frame, by that motion as in (3) of tree_derivatives.hpp.
#pragma once

#include "constraints/row_slopes.hpp"
#include "derivatives/tree_derivatives.hpp"

SARRUS_BEGIN

template <class T>
struct DeflectionSlopes {
  using D = Dual<T>;
  Deflections<D> bent;
  D *q, *v, *a;        // (nv), of the coordinates of one body
  Spatial<T>* motion;  // (nv) slopes of efforts by the twist of the floating frame

  // Bound where there are flexible bodies only
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    if (!m.nfl) return;
    bent.bind(arena, m);
    arena.take(m.nv, q, v, a, motion);
  }
};

// Motion of a floating frame, with the joint accelerations
template <class T>
struct FloatingMotion {
  Mat3<T> R;
  Vec3<T> p;
  Spatial<T> V, A;
};

// out: d.bent; returns the wrench on the node of b   in: d.q, d.v, d.a
template <class T>
SARRUS_FN Spatial<Dual<T>> deflection_forces(const Model<real<T>>& m, int b, const FloatingMotion<Dual<T>>& f,
                                             DeflectionSlopes<T>& d) {
  deflect_body(m, b, d.q, f.R, f.p, d.bent);
  move_body(m, b, d.v, Floating<Dual<T>>{f.R, f.p, f.V}, d.bent);
  accelerate_body(m, b, d.a, d.bent);
  for (int k = m.fl_v[b]; k < m.fl_v[b] + m.fl_n[b]; ++k) d.bent.effort[k] += dot(d.bent.P[k], f.A);
  const Inertia<Dual<T>>& I = d.bent.more[b];
  return d.bent.wrench[b] + I * f.A + cross_force(f.V, I * f.V);
}

// out: d.motion (5)'s slopes by V, of b
template <class T>
SARRUS_FN void slopes_by_motion(const Model<real<T>>& m, int b, FloatingMotion<Dual<T>> f,
                                DeflectionSlopes<T>& d) {
  const Spatial<T> V = value_of(f.V);
  int first = m.fl_v[b], end = first + m.fl_n[b];
  for (int k = first; k < end; ++k) d.motion[k] = zero6<T>();
  for (int c = 0; c < 6; ++c) {
    f.V = lift(V, unit_twist<T>(c));
    deflection_forces(m, b, f, d);
    for (int k = first; k < end; ++k) d.motion[k] = d.motion[k] + unit_twist<T>(c) * d.bent.effort[k].b;
  }
}

// Adds column k, whose deflection or rate is x, to E
template <class T>
SARRUS_FN void add_deflection_column(const Model<real<T>>& m, int b, int k, const Tree<T>& t,
                                     const FloatingMotion<Dual<T>>& f, Dual<T>& x, int ld,
                                     DeflectionSlopes<T>& d, T* E) {
  x.b = T(1);
  Spatial<T> W = slope_of(deflection_forces(m, b, f, d));
  x.b = T(0);
  for (int j = m.fl_v[b]; j < m.fl_v[b] + m.fl_n[b]; ++j) E[j * ld + k] += d.bent.effort[j].b;
  for (int up = m.fl_node[b]; up > 0; up = m.parent[up])
    for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j) E[j * ld + k] += dot(t.S[j], W);
}

// Adds the rows of the coordinates of b, in the columns of those that move its floating frame
template <class T>
SARRUS_FN void add_deflection_rows(const Model<real<T>>& m, int b, const Tree<T>& t, const TreeTangent<T>& g,
                                   int ld, const DeflectionSlopes<T>& d, T* dq, T* dv) {
  const Spatial<T>& V = t.V[m.fl_node[b]];
  for (int up = m.fl_node[b]; up > 0; up = m.parent[up])
    for (int j = m.iv[up]; j < m.iv[up] + joint_nv(m.joint[up]); ++j)
      for (int k = m.fl_v[b]; k < m.fl_v[b] + m.fl_n[b]; ++k) {
        const Spatial<T>& P = t.bent.P[k];
        dq[k * ld + j] += dot(P, g.xi[j] + cross_motion(g.alpha[j], V)) + dot(d.motion[k], g.alpha[j]);
        dv[k * ld + j] += dot(P, g.eta[j] + cross_motion(t.S[j], V)) + dot(d.motion[k], t.S[j]);
      }
}

// Added to dq, dv (nv rows of stride ld)   in: t with a in A, tangent_quantities() in g
template <class T>
SARRUS_FN void add_deflection_derivatives(const Model<real<T>>& m, const T* q, const T* v, const T* a,
                                          const Tree<T>& t, const TreeTangent<T>& g, int ld,
                                          DeflectionSlopes<T>& d, T* dq, T* dv) {
  using D = Dual<T>;
  Vec3<T> o = zero3<T>();
  Spatial<T> still = zero6<T>();
  for (int b = 0; b < m.nfl; ++b) {
    int i = m.fl_node[b], first = m.fl_v[b];
    for (int k = 0; k < m.fl_n[b]; ++k)
      d.q[k] = D(q[m.fl_q[b] + k]), d.v[k] = D(v[first + k]), d.a[k] = D(a[first + k]);
    FloatingMotion<D> f = {lift(t.R[i], o), lift(t.p[i], o), lift(t.V[i], still), lift(t.A[i], still)};
    for (int k = 0; k < m.fl_n[b]; ++k) {
      add_deflection_column(m, b, first + k, t, f, d.q[k], ld, d, dq);
      add_deflection_column(m, b, first + k, t, f, d.v[k], ld, d, dv);
    }
    slopes_by_motion(m, b, f, d);
    add_deflection_rows(m, b, t, g, ld, d, dq, dv);
  }
}

SARRUS_END
