// Least inputs: of all inputs that give the outputs their accelerations, the shortest, and what they leave
// open.
//
//   J a = wanted,  a = a0 + B u,  u = C x:     G x = g,   x = G^+ g + Z z,   G Z = 0 (1)
//
// J, G and g without units. Below the rows of the outputs come, where chosen, rows that slow down what they
// leave free, K a = -c K v. With X the tangent directions that the outputs do not see, K = X^T in units of
// the coordinates, or, in the mass metric, K = (X^T M X)^-1 X^T M: rows that forces on the outputs do not
// excite [Khatib1987].
#pragma once

#include "control/control_data.hpp"
#include "solve/pivoted_matrix.hpp"

SARRUS_BEGIN

template <class T>
struct LeastWork {
  Pivoted<T> felt, reached, seen, asked;
  T *JN, *y, *more, *weighed, *square;  // (k, dof), one row, (dof, nv) twice, (dof, dof)
  LeastFound<T> found;

  SARRUS_HD LeastWork(const Asked<T>& in, Arena& arena) {
    int most = in.k + (in.damping != 0 ? in.dof : 0), wide = in.n + in.nv + in.dof + LANES;
    felt.bind(arena, in.dof, in.n);
    reached.bind(arena, in.dof, in.k);
    seen.bind(arena, in.k, in.dof);
    asked.bind(arena, most, in.n);
    JN = arena.template take<T>(in.k * in.dof);
    more = arena.template take<T>(in.dof * in.nv);
    weighed = arena.template take<T>(in.dof * in.nv);
    square = arena.template take<T>(in.dof * in.dof);
    y = arena.template take<T>(wide);
    found.G = arena.template take<T>(most * in.n);
    found.g = arena.template take<T>(most);
    found.x = arena.template take<T>(in.n);
    found.Z = arena.template take<T>(in.n * in.n);
  }
};

// Row `at` of G and g from a row j (nv) on accelerations and its right side, both divided by `unit`
template <class T>
SARRUS_FN void ask(const Asked<T>& in, const T* j, T right, T unit, int at, LeastWork<T>& w) {
  T *on_u = w.y, *G = w.found.G + at * in.n, inv = real<T>(1) / unit;
  for (int i = 0; i < in.n; ++i) on_u[i] = T(0);
  for (int c = 0; c < in.nv; ++c) {
    if (j[c] == 0) continue;
    right -= j[c] * in.a0[c];
    for (int i = 0; i < in.n; ++i) on_u[i] += j[c] * inv * in.B[c * in.n + i];
  }
  bool full = in.metric && !in.diagonal;
  for (int i = 0; i < in.n; ++i) G[i] = full ? T(0) : in.metric ? on_u[i] * in.metric[i] : on_u[i];
  if (full)
    for (int r = 0; r < in.n; ++r)
      for (int i = 0; i < in.n; ++i) G[i] += on_u[r] * in.metric[r * in.n + i];
  w.found.g[at] = right * inv;
}

// K = (X^T M X)^-1 X^T M in place of the rows X (count, nv) of w.more
template <class T>
SARRUS_FN void weigh_leftover(const Asked<T>& in, int count, LeastWork<T>& w) {
  int nv = in.nv;
  for (int e = 0; e < count; ++e)
    for (int c = 0; c < nv; ++c) {
      T s = T(0);
      for (int k = 0; k < nv; ++k) s += in.M[c * nv + k] * w.more[e * nv + k];
      w.weighed[e * nv + c] = s;
    }
  for (int i = 0; i < count; ++i)
    for (int k = 0; k <= i; ++k) {
      T s = T(0);
      for (int c = 0; c < nv; ++c) s += w.more[i * nv + c] * w.weighed[k * nv + c];
      w.square[i * count + k] = s;
    }
  for (int j = 0; j < count; ++j)  // Cholesky; the rows of X^T M are solved along
    for (int i = j; i < count; ++i) {
      T s = w.square[i * count + j];
      for (int k = 0; k < j; ++k) s -= w.square[i * count + k] * w.square[j * count + k];
      w.square[i * count + j] = i == j ? sqrt_(s) : s / w.square[j * count + j];
    }
  for (int c = 0; c < nv; ++c) {
    for (int i = 0; i < count; ++i) {
      T s = w.weighed[i * nv + c];
      for (int k = 0; k < i; ++k) s -= w.square[i * count + k] * w.more[k * nv + c];
      w.more[i * nv + c] = s / w.square[i * count + i];
    }
    for (int i = count - 1; i >= 0; --i) {
      T s = w.more[i * nv + c];
      for (int k = i + 1; k < count; ++k) s -= w.square[k * count + i] * w.more[k * nv + c];
      w.more[i * nv + c] = s / w.square[i * count + i];
    }
  }
}

// Rows that slow down what the outputs do not see; returns their number.
template <class T>
SARRUS_FN int damp_leftover(const Asked<T>& in, LeastWork<T>& w) {
  for (int r = 0; r < in.k; ++r)
    for (int i = 0; i < in.dof; ++i) w.seen.at(r, i) = w.JN[r * in.dof + i];
  eliminate(w.seen, in.k, in.dof, real<T>(LOST), real<T>(0));
  int unseen = in.dof - w.seen.rank();
  for (int e = 0; e < unseen; ++e) {
    basis_vector(w.seen, w.seen.rank() + e, w.y);
    for (int c = 0; c < in.nv; ++c) {
      T s = T(0);
      for (int i = 0; i < in.dof; ++i) s += in.N[c * in.dof + i] * w.y[i];
      w.more[e * in.nv + c] = in.M ? s : s / (in.unit[c] * in.unit[c]);
    }
  }
  if (in.M) weigh_leftover(in, unseen, w);
  for (int e = 0; e < unseen; ++e) {
    T *row = w.more + e * in.nv, speed = T(0);
    for (int c = 0; c < in.nv; ++c) speed += row[c] * in.v[c];
    ask(in, row, -(in.damping * speed), T(1), in.k + e, w);
  }
  return unseen;
}

// How far the state is from one at which actuators or outputs lose a motion.
template <class T>
SARRUS_FN void sharpness(const Asked<T>& in, LeastWork<T>& w) {
  for (int i = 0; i < in.dof; ++i)
    for (int c = 0; c < in.n; ++c) {
      long long j = in.columns[c];
      w.felt.at(i, c) = in.N[j * in.dof + i] / in.unit[j];
    }
  eliminate(w.felt, in.dof, in.n, real<T>(LOST), real<T>(0));
  for (int r = 0; r < in.k; ++r)
    for (int i = 0; i < in.dof; ++i) {
      T s = T(0);
      for (int c = 0; c < in.nv; ++c) s += in.J[r * in.nv + c] * in.N[c * in.dof + i];
      w.JN[r * in.dof + i] = w.reached.at(i, r) = s / in.row_unit[r];
    }
  eliminate(w.reached, in.dof, in.k, real<T>(LOST), real<T>(0));
  T feel = smallest_share(w.felt), reach = smallest_share(w.reached);
  w.found.sharpness = feel < reach ? feel : reach;
  w.found.motions = w.felt.rank();
}

// out: everything that is found
template <class T>
SARRUS_FN void least_inputs(const Asked<T>& in, LeastWork<T>& w) {
  sharpness(in, w);
  for (int r = 0; r < in.k; ++r) ask(in, in.J + r * in.nv, in.wanted[r], in.row_unit[r], r, w);
  w.found.rows = in.k + (in.damping != 0 ? damp_leftover(in, w) : 0);
  for (int r = 0; r < w.found.rows; ++r)
    for (int i = 0; i < in.n; ++i) w.asked.at(r, i) = w.found.G[r * in.n + i];
  eliminate(w.asked, w.found.rows, in.n, real<T>(REGULAR), real<T>(0));
  w.found.regular = w.asked.rank() == w.found.rows;
  if (!w.found.regular) return;
  shortest(w.asked, w.found.g, w.y);
  for (int i = 0; i < in.n; ++i) w.found.x[i] = w.y[i];
  int open = in.n - w.found.rows;
  for (int e = 0; e < open; ++e) {
    basis_vector(w.asked, w.found.rows + e, w.y);
    for (int i = 0; i < in.n; ++i) w.found.Z[i * open + e] = w.y[i];
  }
}

SARRUS_END
