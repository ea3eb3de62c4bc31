// Least-norm inputs: of all inputs that give the outputs their accelerations, the shortest, and the
// directions that they leave open.
//
//   J a = wanted,   a = a0 + B u,   u = C x:      G x = g,   x = G^+ g + Z z,   G Z = 0                   (1)
//
// J, G and g without units. Below the rows of the outputs stand, where chosen, rows that damp the null-space
// motions of the outputs, K a = -c K v. With X the tangent directions that the outputs do not see, K = X^T in
// units of the coordinates, or, in the mass metric, K = (X^T M X)^-1 X^T M: rows that forces on the outputs
// do not excite [Khatib1987].
//
// Near a pose where actuators or outputs lose a motion, singular values are damped [Chiaverini1997]:
//
//   s / (s^2 + d^2),   d^2 = (1 - (controllability / min)^2) (min s_max)^2                                (2)
#pragma once

#include "control/rank_weights.hpp"
#include "solve/factor/singular_values.hpp"

SARRUS_BEGIN

template <class T>
struct LeastNormWork {
  Pivoted<T> actuated, output, seen;    // (S N)^T, (J N)^T and J N without units
  SingularValues<T> task;               // G
  T *JN, *y, *K, *KM, *square, *share;  // (k, dof), one row, (dof, nv) twice, (dof, dof), (most)
  LeastNormSolution<T> found;

  SARRUS_HD LeastNormWork(const LeastNormProblem<T>& in, Arena& arena) {
    int k = in.task.k, most = k + (in.damping != 0 ? in.dof : 0), wide = in.n + in.nv + in.dof + LANES;
    actuated.bind(arena, in.dof, in.n);
    output.bind(arena, in.dof, k);
    seen.bind(arena, k, in.dof);
    task.bind(arena, most, in.n);
    arena.take(k * in.dof, JN);
    arena.take(in.dof * in.nv, K, KM);
    arena.take(in.dof * in.dof, square);
    arena.take(wide, y);
    arena.take(most * in.n, found.G);
    arena.take(most, found.g, share);
    arena.take(in.n, found.x);
    arena.take(in.n * in.n, found.Z);
  }
};

// Row `at` of G and g from a row j (nv) on accelerations and its right side, both divided by `unit`
template <class T>
SARRUS_FN void add_row(const LeastNormProblem<T>& in, const T* j, T right, T unit, int at,
                       LeastNormWork<T>& w) {
  T *on_u = w.y, *G = w.found.G + at * in.n, inv = real<T>(1) / unit;
  const T* C = in.metric.C;
  fill(on_u, in.n);
  for (int c = 0; c < in.nv; ++c) {
    if (j[c] == 0) continue;
    right -= j[c] * in.a0[c];
    add_scaled(on_u, j[c] * inv, in.B + c * in.n, in.n);
  }
  if (!C)
    copy(G, on_u, in.n);
  else if (in.metric.diagonal)
    multiply(G, on_u, C, in.n);
  else
    combine_rows(G, on_u, C, in.n, in.n);
  w.found.g[at] = right * inv;
}

// K = (X^T M X)^-1 X^T M in place of the rows X^T (count, nv) of w.K
template <class T>
SARRUS_FN void weigh_by_mass(const LeastNormProblem<T>& in, int count, LeastNormWork<T>& w) {
  int nv = in.nv;
  for (int e = 0; e < count; ++e)
    for (int c = 0; c < nv; ++c) {
      w.KM[e * nv + c] = sum_of<T>(nv, [&](int k) { return in.M[c * nv + k] * w.K[e * nv + k]; });
    }
  for (int i = 0; i < count; ++i)
    for (int k = 0; k <= i; ++k) {
      w.square[i * count + k] = sum_of<T>(nv, [&](int c) { return w.K[i * nv + c] * w.KM[k * nv + c]; });
    }
  cholesky_in_place(w.square, count);
  copy(w.K, w.KM, count * nv);
  for (int c = 0; c < nv; ++c) {
    solve_lower(w.square, count, nv, w.K + c);
    solve_upper(w.square, count, nv, w.K + c);
  }
}

// Rows that damp the null-space motions of the outputs; returns their number.
template <class T>
SARRUS_FN int damp_null_space(const LeastNormProblem<T>& in, LeastNormWork<T>& w) {
  int k = in.task.k;
  w.seen.load(w.JN, k, in.dof);
  eliminate(w.seen, k, in.dof, real<T>(LOST), real<T>(0));
  int unseen = in.dof - w.seen.rank();
  for (int e = 0; e < unseen; ++e) {
    basis_vector(w.seen, w.seen.rank() + e, w.y);
    for (int c = 0; c < in.nv; ++c) {
      T s = sum_of<T>(in.dof, [&](int i) { return in.N[c * in.dof + i] * w.y[i]; });
      w.K[e * in.nv + c] = in.by_mass ? s : s / (in.unit[c] * in.unit[c]);
    }
  }
  if (in.by_mass) weigh_by_mass(in, unseen, w);
  for (int e = 0; e < unseen; ++e) {
    T *row = w.K + e * in.nv, speed = inner(row, in.v, in.nv);
    add_row(in, row, -(in.damping * speed), T(1), k + e, w);
  }
  return unseen;
}

// (S N)^T without units: the share of each tangent direction that the actuators move
template <class T>
SARRUS_HD void load_actuated(const ResponseView<T>& in, Pivoted<T>& to) {
  for (int c = 0; c < in.n; ++c) {
    long long j = in.columns[c];
    for (int i = 0; i < in.dof; ++i) to.at(i, c) = in.N[j * in.dof + i] / in.unit[j];
  }
}

// How far the state is from one at which actuators or outputs lose a motion: smallest over largest pivot.
template <class T>
SARRUS_FN void controllability(const LeastNormProblem<T>& in, LeastNormWork<T>& w) {
  int k = in.task.k;
  load_actuated(in, w.actuated);
  eliminate(w.actuated, in.dof, in.n, real<T>(LOST), real<T>(0));
  for (int r = 0; r < k; ++r)
    for (int i = 0; i < in.dof; ++i) {
      T s = sum_of<T>(in.nv, [&](int c) { return in.task.J[r * in.nv + c] * in.N[c * in.dof + i]; });
      w.JN[r * in.dof + i] = w.output.at(i, r) = s / in.task.row_unit[r];
    }
  eliminate(w.output, in.dof, k, real<T>(LOST), real<T>(0));
  T actuated = smallest_share(w.actuated), output = smallest_share(w.output);
  w.found.controllability = smaller(actuated, output);
  w.found.controllable = w.actuated.rank();
}

// The size of G if constraints, other actuators and masses did not stand in the way of any row or input
template <class T>
SARRUS_FN T free_size_of(const LeastNormProblem<T>& in) {
  T rows = T(0), inputs = T(0);
  for (int r = 0; r < in.task.k; ++r) {
    T size = free_size<T>(in, in.task.J + r * in.nv) / in.task.row_unit[r];
    rows += size * size;
  }
  for (int i = 0; i < in.n; ++i) {
    long long j = in.columns[i];
    T on = in.metric.C ? in.metric.C[in.metric.diagonal ? i : i * in.n + i] : T(1);
    T size = on * free_mobility<T>(in, int(j));
    inputs += size * size;
  }
  return sqrt_(rows * inputs);
}

// Rank and damping of G: rows that depend on each other count once, (2) where a motion is nearly lost. The
// rank is -1 where an entry is not a number.
template <class T>
SARRUS_FN T choose_damping(const LeastNormProblem<T>& in, LeastNormWork<T>& w) {
  bool weak = w.found.controllability < in.min_controllability;
  w.found.damped = false;
  w.found.rank = w.found.rows;
  T scale = in.ranks ? free_size_of(in) : T(0);
  bool regular = independent(w.task, w.found.rows, in.n, real<T>(0)) && !weak;
  if (regular && !is_doubtful(w.task.p, scale, in.ranks)) return T(0);
  w.task.p.load(w.found.G, w.found.rows, in.n);
  w.found.rank = -1;
  if (!decompose(w.task, w.found.rows, in.n)) return T(0);
  T most = w.task.count ? w.task.s[0] : T(0);
  w.found.rank = decide_rank(w.task.s, w.task.count, scale, T(most * real<T>(LOST)), DOUBT_OUTPUTS, 0,
                             in.ranks, w.share);
  if (regular && w.found.rank == w.found.rows) {  // after all
    w.task.p.load(w.found.G, w.found.rows, in.n);
    independent(w.task, w.found.rows, in.n, real<T>(0));
    return T(0);
  }
  w.found.damped = w.found.rank > 0 && weak;
  if (!w.found.damped) return T(0);
  T share = w.found.controllability / in.min_controllability, d = in.min_controllability * most;
  return (real<T>(1) - share * share) * d * d;
}

template <class T>
SARRUS_FN LeastNormSolution<T> least_norm_inputs(const LeastNormProblem<T>& in, LeastNormWork<T>& w) {
  const TaskRows<T>& task = in.task;
  controllability(in, w);
  for (int r = 0; r < task.k; ++r) add_row(in, task.J + r * in.nv, task.wanted[r], task.row_unit[r], r, w);
  w.found.rows = task.k + (in.damping != 0 ? damp_null_space(in, w) : 0);
  w.task.p.load(w.found.G, w.found.rows, in.n);
  T d2 = choose_damping(in, w);
  if (w.found.rank < 0) return w.found;
  solve_damped(w.task, w.found.rank, d2, w.found.g, w.y);
  copy(w.found.x, w.y, in.n);
  right_vectors(w.task, w.found.rank, in.n, w.y, w.found.Z);
  return w.found;
}

SARRUS_END
