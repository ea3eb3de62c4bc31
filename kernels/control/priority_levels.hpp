// Strict priorities by mass-weighted orthogonalization, [DeSapio2010] algorithm 2.
//
//   X^T M X = 1,   a = a0 + X w,   w = X^T S^T C x                                                        (1)
//   s_i = s_(i-1) + Z (A_i Z)^+ (b_i - A_i s_(i-1)),   Z_i = Z null(A_i Z),   A_i = J_i E                 (2)
//
// X spans the tangent directions of the constraints, and E = X U those that the actuators control, w = U s.
// Where the rank of a matrix is beyond doubt its rows are eliminated with pivoting; U is then 1. Otherwise,
// and where a level is damped, singular values decide.
#pragma once

#include "control/least_norm_inputs.hpp"

SARRUS_BEGIN

template <class T>
struct ControllableWork {
  Pivoted<T> actuated;       // (S N)^T without units
  SingularValues<T> inputs;  // X^T S^T C
  T *MN, *L, *X, *row;
  ControllableBasis<T> found;

  SARRUS_HD ControllableWork(const ControllableProblem<T>& in, Arena& arena) {
    actuated.bind(arena, in.dof, in.n);
    inputs.bind(arena, in.dof, in.n);
    arena.take(in.nv * in.dof, MN, X, found.E);
    arena.take(in.dof * in.dof, L);
    arena.take(2 * (in.n + in.dof + LANES), row);
    arena.take(in.n * in.dof, found.to_x);
    arena.take(in.n * in.n, found.internal);
  }
};

// X = N L^-T with N^T M N = L L^T; false where that is not positive definite
template <class T>
SARRUS_FN bool mass_basis(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  int dof = in.dof;
  for (int j = 0; j < in.nv; ++j) {
    T* row = w.MN + j * dof;
    for (int i = 0; i < dof; ++i) row[i] = T(0);
    for (int c = 0; c < in.nv; ++c)
      for (int i = 0; i < dof; ++i) row[i] += in.M[j * in.nv + c] * in.N[c * dof + i];
  }
  for (int i = 0; i < dof * dof; ++i) w.L[i] = T(0);
  for (int c = 0; c < in.nv; ++c)
    for (int i = 0; i < dof; ++i)
      for (int k = 0; k <= i; ++k) w.L[i * dof + k] += in.N[c * dof + i] * w.MN[c * dof + k];
  for (int j = 0; j < dof; ++j)
    for (int i = j; i < dof; ++i) {
      T s = w.L[i * dof + j];
      for (int k = 0; k < j; ++k) s -= w.L[i * dof + k] * w.L[j * dof + k];
      if (i == j && !(s > 0)) return false;
      w.L[i * dof + j] = i == j ? sqrt_(s) : s / w.L[j * dof + j];
    }
  T size = T(0);
  for (int c = 0; c < in.nv; ++c) {
    T* x = w.X + c * dof;
    for (int i = 0; i < dof; ++i) {  // L x = row of N
      T s = in.N[c * dof + i];
      for (int k = 0; k < i; ++k) s -= w.L[i * dof + k] * x[k];
      x[i] = s / w.L[i * dof + i];
      size += x[i] * x[i] / (in.unit[c] * in.unit[c]);
    }
  }
  w.found.size = sqrt_(size);
  return true;
}

// Every motion is controllable beyond doubt: E = X, least-norm inputs by substitution
template <class T>
SARRUS_FN void use_all_motions(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  T *one = w.row, *x = w.row + in.n + in.dof + LANES;
  for (int i = 0; i < in.nv * in.dof; ++i) w.found.E[i] = w.X[i];
  for (int i = 0; i < in.dof; ++i) {
    for (int k = 0; k < in.dof; ++k) one[k] = T(k == i ? 1 : 0);
    shortest(w.inputs.p, one, x);
    for (int c = 0; c < in.n; ++c) w.found.to_x[c * in.dof + i] = x[c];
  }
}

// The r strongest singular vectors of X^T S^T C: E = X U, to_x = V / s
template <class T>
SARRUS_FN void use_strongest_motions(const ControllableProblem<T>& in, int r, ControllableWork<T>& w) {
  const SingularValues<T>& d = w.inputs;
  right_vectors(d, 0, r, w.row, w.found.to_x);
  for (int c = 0; c < in.n; ++c)
    for (int e = 0; e < r; ++e) w.found.to_x[c * r + e] = w.found.to_x[c * r + e] / d.s[e];
  for (int c = 0; c < in.nv; ++c)
    for (int e = 0; e < r; ++e) w.found.E[c * r + e] = along_left(d, e, w.X + c * in.dof) / d.s[e];
}

template <class T>
SARRUS_FN ControllableBasis<T> controllable_basis(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  const T* C = in.metric.C;
  w.found.inertia = mass_basis(in, w);
  if (!w.found.inertia) return w.found;
  load_actuated(in, w.actuated);
  eliminate(w.actuated, in.dof, in.n, real<T>(0), in.min_controllability);
  w.found.r = w.actuated.rank();
  for (int i = 0; i < in.dof; ++i)
    for (int c = 0; c < in.n; ++c) {
      T s = T(0);
      if (C && !in.metric.diagonal)
        for (int r = 0; r < in.n; ++r) s += w.X[in.columns[r] * in.dof + i] * C[r * in.n + c];
      else
        s = w.X[in.columns[c] * in.dof + i] * (C ? C[c] : T(1));
      w.inputs.at(i, c) = s;
    }
  if (w.found.r == in.dof && independent(w.inputs, in.dof, in.n, real<T>(0)))
    use_all_motions(in, w);
  else if (decompose(w.inputs, in.dof, in.n))
    use_strongest_motions(in, w.found.r, w);
  else
    w.found.r = -1;
  if (w.found.r >= 0) right_vectors(w.inputs, w.found.r, in.n, w.row, w.found.internal);
  return w.found;
}

// One level at a time: A Z y = right.
template <class T>
struct LevelWork {
  SingularValues<T> rows, whole;  // A Z and A
  Pivoted<T> columns;             // (A Z)^T
  T *AZ, *right, *y, *column;     // (k, open), (k), (open), (open)
  LevelSolution<T> found;

  SARRUS_HD LevelWork(const LevelProblem<T>& in, Arena& arena) : LevelWork(in.k, in.r, arena) {}
  SARRUS_HD LevelWork(int k, int r, Arena& arena) {
    int most = r > k ? r : k;
    rows.bind(arena, k, r);
    whole.bind(arena, k, r);
    columns.bind(arena, r, k);
    arena.take(k * r, AZ);
    arena.take(most + LANES, right, y);
    arena.take(r + LANES, column);
    arena.take(r, found.values);
    arena.take(r * r, found.used, found.left);
    found.y = y;
  }
};

// A Z (k, open) and right = b - A s
template <class T>
SARRUS_HD void project_level(const LevelProblem<T>& in, LevelWork<T>& w) {
  for (int r = 0; r < in.k; ++r) {
    const T* A = in.A + r * in.r;
    w.right[r] = in.b[r];
    for (int i = 0; i < in.r; ++i) w.right[r] -= A[i] * in.s[i];
    for (int m = 0; m < in.open; ++m) {
      T sum = T(0);
      for (int i = 0; i < in.r; ++i) sum += A[i] * in.Z[i * in.open + m];
      w.AZ[r * in.open + m] = sum;
    }
  }
}

// Rank and damping of A Z, where as many directions are used as there are rows, or all that are open, beyond
// doubt; false otherwise. With more rows than directions y is found too.
template <class T>
SARRUS_FN bool is_regular(const LevelProblem<T>& in, T least, LevelWork<T>& w) {
  w.found.rank = in.k < in.open ? in.k : in.open;
  if (in.k <= in.open) return independent(w.rows, in.k, in.open, least);
  for (int r = 0; r < in.k; ++r)
    for (int i = 0; i < in.open; ++i) w.columns.at(i, r) = w.AZ[r * in.open + i];
  eliminate(w.columns, in.open, in.k, real<T>(REGULAR), least);
  if (w.columns.rank() < in.open) return false;
  nearest(w.columns, w.right, w.y);
  return true;
}

// The same through singular values. Where the weakest one falls below damping |A|, all are damped:
// s / (s^2 + d^2), d^2 = (damping |A|)^2 - weakest^2. The rank is -1 where an entry is not a number.
template <class T>
SARRUS_FN void damp_level(const LevelProblem<T>& in, LevelWork<T>& w) {
  w.found.rank = -1;
  if (!decompose(w.rows, in.k, in.open)) return;
  int rank = w.found.rank = w.rows.rank(in.zero);
  for (int e = 0; e < rank; ++e) w.found.values[e] = w.rows.s[e];
  w.whole.p.load(in.A, in.k, in.r);
  if (rank == 0 || !(in.damping > 0) || !decompose(w.whole, in.k, in.r)) return;
  T threshold = in.damping * w.whole.s[0], weakest = w.rows.s[rank - 1];
  T d2 = threshold * threshold - weakest * weakest;
  w.found.damped = d2 > 0 ? d2 : T(0);
}

// One level   out: w.found, without the directions used   in: pivots above `least` leave no doubt of the
// rank, unless it is zero
template <class T>
SARRUS_FN void solve_level(const LevelProblem<T>& in, T least, LevelWork<T>& w) {
  LevelSolution<T>& found = w.found;
  found.damped = T(0), found.rank = 0;
  project_level(in, w);
  w.rows.p.load(w.AZ, in.k, in.open);
  if (in.k == 0 || in.open == 0)
    independent(w.rows, 0, in.open, real<T>(0));
  else if (in.damping > 0 || !(least > 0) || !is_regular(in, least, w))
    damp_level(in, w);
  else if (in.k > in.open)
    return;  // all directions are used, and y is known
  if (found.rank < 0) return;
  solve_damped(w.rows, found.rank, found.damped, w.right, w.y);
  right_vectors(w.rows, found.rank, in.open, w.column, found.left);
}

// The same through singular values, with the directions used
template <class T>
SARRUS_FN LevelSolution<T> split_level(const LevelProblem<T>& in, LevelWork<T>& w) {
  solve_level(in, T(0), w);
  right_vectors(w.rows, 0, w.found.rank, w.column, w.found.used);
  return w.found;
}

template <class T>
struct PriorityWork {
  LevelWork<T> level;
  T *Z, *next;  // (r, open)
  PrioritySolution<T> found;

  SARRUS_HD PriorityWork(const PriorityProblem<T>& in, Arena& arena) : level(in.task.k, in.r, arena) {
    int k = in.task.k;
    arena.take(in.r * in.r, Z, next);
    arena.take(k * in.r, found.A);
    arena.take(k, found.b);
    arena.take(in.levels, found.zero, found.damped);
    arena.take(in.r, found.s);
    arena.take(in.levels * in.r * in.r, found.left);
    arena.take(in.levels + 1, found.open);
  }
};

// A, b and the size of what counts as zero, of the rows [begin, end)
template <class T>
SARRUS_FN T level_rows(const PriorityProblem<T>& in, int begin, int end, PriorityWork<T>& w) {
  T size = T(0);
  for (int r = begin; r < end; ++r) {
    const T* j = in.task.J + r * in.nv;
    T inv = real<T>(1) / in.task.row_unit[r], right = in.task.wanted[r], *A = w.found.A + r * in.r;
    for (int i = 0; i < in.r; ++i) A[i] = T(0);
    for (int c = 0; c < in.nv; ++c) {
      if (j[c] == 0) continue;
      T bare = j[c] * inv * in.unit[c];
      size += bare * bare;
      right -= j[c] * in.a0[c];
      for (int i = 0; i < in.r; ++i) A[i] += j[c] * inv * in.E[c * in.r + i];
    }
    w.found.b[r] = right * inv;
  }
  return sqrt_(size) * in.size;
}

// s += Z y,   Z <- Z left
template <class T>
SARRUS_HD void step_down(const LevelProblem<T>& level, const LevelSolution<T>& found, PriorityWork<T>& w) {
  int open = level.open, still = open - found.rank;
  for (int i = 0; i < level.r; ++i) {
    for (int m = 0; m < open; ++m) w.found.s[i] += w.Z[i * open + m] * found.y[m];
    for (int e = 0; e < still; ++e) {
      T s = T(0);
      for (int m = 0; m < open; ++m) s += w.Z[i * open + m] * found.left[m * still + e];
      w.next[i * still + e] = s;
    }
  }
  swap_(w.Z, w.next);
}

// All levels
template <class T>
SARRUS_FN PrioritySolution<T> solve_priorities(const PriorityProblem<T>& in, PriorityWork<T>& w) {
  int open = in.r, begin = 0;
  LevelSolution<T>& one = w.level.found;
  for (int i = 0; i < in.r; ++i) {
    w.found.s[i] = T(0);
    for (int k = 0; k < in.r; ++k) w.Z[i * in.r + k] = T(i == k ? 1 : 0);
  }
  w.found.open[0] = open;
  w.found.finite = true;
  for (int i = 0; i < in.levels; ++i) {
    int end = static_cast<int>(in.ends[i]);
    T zero = w.found.zero[i] = level_rows(in, begin, end, w);
    LevelProblem<T> level{end - begin,       in.r,      open, w.found.A + begin * in.r,
                          w.found.b + begin, w.found.s, w.Z,  zero * in.rank_tol,
                          in.damping[i]};
    one.left = w.found.left + i * in.r * in.r;
    solve_level(level, zero * real<T>(REGULAR), w.level);
    if (one.rank < 0)
      w.found.finite = false;
    else
      step_down(level, one, w), open -= one.rank;
    w.found.damped[i] = one.damped;
    w.found.open[i + 1] = open;
    begin = end;
  }
  w.found.Z = w.Z;
  return w.found;
}

SARRUS_END
