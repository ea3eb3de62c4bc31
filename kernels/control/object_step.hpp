// The part of a control step that is about an object held by several arms, [Lin2018].
//
// The load on the object, a wrench F at its centre of mass and a payload, enters the equations of motion.
// With e the error of its pose, [x''; w'] = c - T e'', and the mobility W = J P J^T of the object within the
// constraints,
//
//   inertia e'' + damping e' + stiffness e = -T^T F                                                       (1)
//
// gives the acceleration J a = wanted. Without an inertia, (1) has the object's own, W^-1. What differs from
// the acceleration that the constraints prescribe and would need forces without bound, since an arm is about
// to be stretched, is reduced unless min_controllability is 0: `attainable`.
#pragma once

#include "algebra/lu.hpp"
#include "control/measured_state.hpp"
#include "control/payload.hpp"

SARRUS_BEGIN

constexpr double STRETCHED =
    0.05;  // least over middle eigenvalue of the mobility below which an arm is stretched
constexpr double LOCKED = 1e-9;  // eigenvalues below this share of the largest one: the body cannot move

// M and h with the load on the object
template <class T, int LDC>
SARRUS_FN void load_object(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                           ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  const HeldObject<T>& object = s.object;
  const T origin[3] = {T(0), T(0), T(0)};
  T *R = w.output.R, *p = w.output.p, *V = w.output.V, *A = w.output.A, *J = w.output.J;
  if (in.payload) {
    accelerate_tree(m, f.v, w.rest, w.tree);
    body_pose(m, object.body, w.tree, R, p);
    body_motion(m, object.body, w.tree, V, A);
    body_jacobian(m, object.body, origin, w.tree, J);
    add_payload(m.nv, R, V, A, J, in.payload, m.gravity, f.M, f.h);
  }
  if (!in.external) return;
  body_jacobian(m, object.body, object.com, w.tree, J);
  for (int i = 0; i < 6; ++i) subtract_scaled(f.h, in.external[i], J + i * m.nv, m.nv);
}

// x (6) <- A^-1 x or A^-T x; false where A (6, 6) is singular
template <class T>
SARRUS_HD bool solve_six(const T* A, bool transposed, T* x) {
  T entries[36];
  int row[6];
  Lu<T> lu;
  lu.A = entries, lu.row = row, lu.n = 6;
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) entries[6 * i + j] = transposed ? A[6 * j + i] : A[6 * i + j];
  if (!factorize_lu(lu)) return false;
  solve_lu(lu, x);
  return true;
}

template <class T>
SARRUS_HD void multiply_six(const T* A, const T* x, T* y) {
  for (int i = 0; i < 6; ++i) y[i] = inner(A + 6 * i, x, 6);
}

// a (6): the part of an acceleration that bounded forces on the object produce; false where all of it is.
// Where the least eigenvalue of the mobility without units falls below STRETCHED times the middle one,
// accelerations are reduced by s^2 / (s^2 + d^2), as in control/least_norm_inputs.hpp.
template <class T>
SARRUS_FN bool attainable(const T* mobility, const T* unit, T* a) {
  T bare[36], U[36], s[6], along[6];
  for (int i = 0; i < 6; ++i)
    for (int j = 0; j < 6; ++j) bare[6 * i + j] = mobility[6 * i + j] / (unit[i] * unit[j]);
  eigenvalues(bare, 6, s, U);
  T middle = s[3] <= real<T>(LOCKED) * s[5] ? s[5] : s[3], least = s[0] > 0 ? s[0] : T(0);
  if (middle > 0 && least >= real<T>(STRETCHED) * middle) return false;
  T share = middle > 0 ? least / middle / real<T>(STRETCHED) : T(0), reach = real<T>(STRETCHED) * middle;
  T d = (real<T>(1) - share * share) * reach * reach;
  for (int e = 0; e < 6; ++e) {
    along[e] = sum_of<T>(6, [&](int i) { return U[6 * i + e] * a[i] / unit[i]; });
    along[e] = middle > 0 ? along[e] * s[e] * s[e] / (s[e] * s[e] + d) : T(0);
  }
  for (int i = 0; i < 6; ++i) a[i] = unit[i] * inner(U + 6 * i, along, 6);
  return true;
}

// Whether the acceleration a (6) had to be reduced; it never is where nothing shall be damped
template <class T>
SARRUS_FN bool is_reduced(const ControlSetup<T>& s, const ControlFound<T>& f, T* a) {
  return s.min_controllability > 0 && attainable(f.mobility, f.row_unit, a);
}

// w.output: frame of a point of a body at the measured state, its motion where a = 0 and its Jacobian
template <class T, int LDC>
SARRUS_FN void measure_frame(const ControlSetup<T>& s, const ControlInput<T>& in, int body, const T* point,
                             ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  OutputWork<T>& o = w.output;
  place(m, in.q, w.tree);
  accelerate_tree(m, in.v, w.rest, w.tree);
  body_pose(m, body, w.tree, o.R, o.p);
  body_motion(m, body, w.tree, o.V, o.A);
  body_jacobian(m, body, point, w.tree, o.J);
}

// F (6): wrench that explains the displacement of the object at rest, -T^-T (damping e' + stiffness e) at the
// measured state, (1) without its acceleration; false where T is singular
template <class T, int LDC>
SARRUS_FN bool displacement_wrench(const ControlSetup<T>& s, const ControlInput<T>& in, Arena arena, T* F) {
  ControlWork<T, LDC> w(s, arena);
  OutputWork<T>& o = w.output;
  const Output<T>& pose = s.output[0];
  measure_frame(s, in, pose.body, pose.point, w);
  move_point(o.R, pose.point, o.p, o.V, o.A);
  track_pose(pose, in.targets + pose.at, o);
  for (int i = 0; i < 6; ++i)
    F[i] = -(inner(s.object.damping + 6 * i, o.rate, 6) + inner(s.object.stiffness + 6 * i, o.e, 6));
  return solve_six(o.map, true, F);
}

// f.mobility, f.stretched and f.wanted by (1); false where T or the inertia is singular
template <class T, int LDC>
SARRUS_FN bool want_impedance(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                              ControlWork<T, LDC>& w) {
  const HeldObject<T>& object = s.object;
  int nv = s.model->nv;
  const T *map = w.maps, *P = f.response.inverse_inertia;
  T bound[6], pull[6], free[6], turned[6], row[6], F[6];
  for (int i = 0; i < 6; ++i) {
    const T* J = f.task_J + i * nv;
    F[i] = in.external ? in.external[i] : T(0);
    bound[i] = inner(J, f.response.prescribed, nv);
    T* JP = w.output.J + i * nv;
    for (int j = 0; j < nv; ++j) JP[j] = inner(J, P + j * nv, nv);
    for (int k = 0; k < 6; ++k) f.mobility[6 * i + k] = inner(JP, f.task_J + k * nv, nv);
    pull[i] = inner(object.damping + 6 * i, f.rate, 6) + inner(object.stiffness + 6 * i, f.e, 6);
  }
  if (object.inertia) {
    for (int i = 0; i < 6; ++i)
      for (int k = 0; k < 6; ++k) pull[i] += map[6 * k + i] * F[k];
    if (!solve_six(object.inertia, false, pull)) return false;
    multiply_six(map, pull, turned);
    for (int i = 0; i < 6; ++i) free[i] = f.wanted[i] + turned[i] - bound[i], row[i] = bound[i];
  } else {
    if (!solve_six(map, true, pull)) return false;
    add(pull, F, 6);
    multiply_six(f.mobility, pull, turned);
    for (int i = 0; i < 6; ++i) free[i] = f.wanted[i] - bound[i], row[i] = bound[i] + turned[i];
  }
  f.stretched = is_reduced(s, f, free);
  set_sum(f.wanted, row, free, 6);
  return true;
}

// f.disturbance (nc, 6): multipliers per unit of the wrenches that the contacts shall bear
template <class T>
SARRUS_HD void find_disturbance(const ControlSetup<T>& s, ControlFound<T>& f) {
  for (int r = 0; r < f.nc; ++r)
    for (int e = 0; e < 6; ++e) {
      const T* row = f.response.lam_per_force + r * s.model->nv + s.object.column;
      f.disturbance[6 * r + e] = sum_of<T>(6, [&](int k) { return row[k] * s.object.reserve[6 * k + e]; });
    }
}

SARRUS_END
