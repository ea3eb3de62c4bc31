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
  SingularValues<T> actuated;  // (S N)^T without units
  SingularValues<T> inputs;    // X^T S^T C
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
    combine_rows(row, in.M + j * in.nv, in.N, in.nv, dof);
  }
  fill(w.L, dof * dof);
  for (int c = 0; c < in.nv; ++c)
    for (int i = 0; i < dof; ++i)
      for (int k = 0; k <= i; ++k) w.L[i * dof + k] += in.N[c * dof + i] * w.MN[c * dof + k];
  if (!cholesky_in_place(w.L, dof)) return false;
  T size = T(0);
  for (int c = 0; c < in.nv; ++c) {
    T* x = w.X + c * dof;
    copy(x, in.N + c * dof, dof);
    solve_lower(w.L, dof, 1, x);
    for (int i = 0; i < dof; ++i) size += x[i] * x[i] / (in.unit[c] * in.unit[c]);
  }
  w.found.size = sqrt_(size);
  return true;
}

// Every motion is controllable beyond doubt: E = X, least-norm inputs by substitution
template <class T>
SARRUS_FN void use_all_motions(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  T *one = w.row, *x = w.row + in.n + in.dof + LANES;
  copy(w.found.E, w.X, in.nv * in.dof);
  for (int i = 0; i < in.dof; ++i) {
    fill(one, in.dof);
    one[i] = T(1);
    shortest(w.inputs.p, one, x);
    set_column(w.found.to_x + i, in.dof, x, in.n);
  }
}

// The r strongest singular vectors of X^T S^T C: E = X U, to_x = V / s
template <class T>
SARRUS_FN void use_strongest_motions(const ControllableProblem<T>& in, int r, ControllableWork<T>& w) {
  const SingularValues<T>& d = w.inputs;
  right_vectors(d, 0, r, w.row, w.found.to_x);
  for (int c = 0; c < in.n; ++c) divide(w.found.to_x + c * r, w.found.to_x + c * r, d.s, r);
  for (int c = 0; c < in.nv; ++c)
    for (int e = 0; e < r; ++e) w.found.E[c * r + e] = along_left(d, e, w.X + c * in.dof) / d.s[e];
}

// X^T S^T C, which the inputs move, into w.inputs
template <class T>
SARRUS_HD void load_inputs(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  const T* C = in.metric.C;
  bool full = C && !in.metric.diagonal;
  for (int i = 0; i < in.dof; ++i) {
    auto moved = [&](int c) { return w.X[in.columns[c] * in.dof + i]; };
    for (int c = 0; c < in.n; ++c)
      w.inputs.at(i, c) = full ? sum_of<T>(in.n, [&](int r) { return moved(r) * C[r * in.n + c]; })
                               : moved(c) * (C ? C[c] : T(1));
  }
}

// The number of motions that the actuators control
template <class T>
SARRUS_FN int reached_motions(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  Pivoted<T>& p = w.actuated.p;
  load_actuated(in, p);
  eliminate(p, in.dof, in.n, real<T>(0), in.min_controllability);
  int r = p.rank();
  if (!is_doubtful(p, T(1), in.ranks)) return r;
  load_actuated(in, p);
  if (!decompose(w.actuated, in.dof, in.n)) return r;
  return decide_rank(w.actuated.s, w.actuated.count, T(1), in.min_controllability, DOUBT_REACH, 0, in.ranks,
                     w.row);
}

template <class T>
SARRUS_FN ControllableBasis<T> controllable_basis(const ControllableProblem<T>& in, ControllableWork<T>& w) {
  w.found.inertia = mass_basis(in, w);
  if (!w.found.inertia) return w.found;
  w.found.r = reached_motions(in, w);
  load_inputs(in, w);
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
  SingularValues<T> rows, whole;       // A Z and A
  Pivoted<T> columns;                  // (A Z)^T
  T *AZ, *right, *y, *column, *share;  // (k, open), (k), (open), (open), (open)
  LevelSolution<T> found;

  SARRUS_HD LevelWork(const LevelProblem<T>& in, Arena& arena) : LevelWork(in.k, in.r, arena) {}
  SARRUS_HD LevelWork(int k, int r, Arena& arena) {
    int most = larger(r, k);
    rows.bind(arena, k, r);
    whole.bind(arena, k, r);
    columns.bind(arena, r, k);
    arena.take(k * r, AZ);
    arena.take(most + LANES, right, y);
    arena.take(r + LANES, column);
    arena.take(r, found.values, share);
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
    w.right[r] = less_products(w.right[r], A, in.s, in.r);
    for (int m = 0; m < in.open; ++m) {
      w.AZ[r * in.open + m] = sum_of<T>(in.r, [&](int i) { return A[i] * in.Z[i * in.open + m]; });
    }
  }
}

// Rank and damping of A Z, where as many directions are used as there are rows, or all that are open, beyond
// doubt; false otherwise. With more rows than directions y is found too.
template <class T>
SARRUS_FN bool is_regular(const LevelProblem<T>& in, T least, LevelWork<T>& w) {
  w.found.rank = smaller(in.k, in.open);
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
  int rank = decide_rank(w.rows.s, w.rows.count, in.scale, in.zero, DOUBT_LEVEL, in.level, in.ranks, w.share);
  w.found.rank = rank;
  if (rank < w.rows.count && w.rows.s[rank] > in.zero)  // not by rounding alone
    w.found.cut = sqrt_(w.rows.s[rank] * (rank ? w.rows.s[rank - 1] : in.scale));
  copy(w.found.values, w.rows.s, rank);
  w.whole.p.load(in.A, in.k, in.r);
  if (rank == 0 || !(in.damping > 0) || !decompose(w.whole, in.k, in.r)) return;
  T threshold = in.damping * w.whole.s[0], weakest = w.rows.s[rank - 1];
  T d2 = threshold * threshold - weakest * weakest;
  w.found.damped = d2 > 0 ? d2 : T(0);
}

template <class T>
SARRUS_FN void start_level(const LevelProblem<T>& in, LevelWork<T>& w) {
  project_level(in, w);
  w.rows.p.load(w.AZ, in.k, in.open);
}

// is_regular(), where singular values do not leave the rank in doubt
template <class T>
SARRUS_FN bool is_surely_regular(const LevelProblem<T>& in, T least, LevelWork<T>& w) {
  if (!is_regular(in, least, w)) return false;
  int rank = w.found.rank;
  if (!is_doubtful(in.k > in.open ? w.columns : w.rows.p, in.scale, in.ranks)) return true;
  int before = in.ranks->count;
  start_level(in, w);
  damp_level(in, w);
  bool all = w.found.rank == rank;
  start_level(in, w);
  if (all) return is_regular(in, least, w);
  in.ranks->count = before;  // it is decided again
  return false;
}

// One level   out: w.found, without the directions used   in: pivots above `least` leave no doubt of the
// rank, unless it is zero
template <class T>
SARRUS_FN void solve_level(const LevelProblem<T>& in, T least, LevelWork<T>& w) {
  LevelSolution<T>& found = w.found;
  found.damped = found.cut = T(0), found.rank = 0;
  start_level(in, w);
  if (in.k == 0 || in.open == 0)
    independent(w.rows, 0, in.open, real<T>(0));
  else if (in.damping > 0 || !(least > 0) || !is_surely_regular(in, least, w))
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
    fill(A, in.r);
    for (int c = 0; c < in.nv; ++c) {
      if (j[c] == 0) continue;
      T bare = j[c] * inv * in.unit[c];
      size += bare * bare;
      right -= j[c] * in.a0[c];
      add_scaled(A, j[c] * inv, in.E + c * in.r, in.r);
    }
    w.found.b[r] = right * inv;
  }
  return sqrt_(size) * in.size;
}

// The size of these rows if nothing stood in their way
template <class T>
SARRUS_FN T level_scale(const PriorityProblem<T>& in, int begin, int end) {
  T squared = T(0);
  for (int r = begin; r < end; ++r) {
    T size = free_size<T>(in, in.task.J + r * in.nv) / in.task.row_unit[r];
    squared += size * size;
  }
  return sqrt_(squared);
}

// s += Z y,   Z <- Z left
template <class T>
SARRUS_HD void step_down(const LevelProblem<T>& level, const LevelSolution<T>& found, PriorityWork<T>& w) {
  int open = level.open, still = open - found.rank;
  for (int i = 0; i < level.r; ++i) {
    w.found.s[i] = plus_products(w.found.s[i], w.Z + i * open, found.y, open);
    for (int e = 0; e < still; ++e) {
      w.next[i * still + e] =
          sum_of<T>(open, [&](int m) { return w.Z[i * open + m] * found.left[m * still + e]; });
    }
  }
  swap_(w.Z, w.next);
}

// All levels
template <class T>
SARRUS_FN PrioritySolution<T> solve_priorities(const PriorityProblem<T>& in, PriorityWork<T>& w) {
  int open = in.r, begin = 0;
  LevelSolution<T>& one = w.level.found;
  fill(w.found.s, in.r);
  set_identity(w.Z, in.r);
  w.found.open[0] = open;
  w.found.finite = true;
  for (int i = 0; i < in.levels; ++i) {
    int end = static_cast<int>(in.ends[i]);
    T zero = w.found.zero[i] = level_rows(in, begin, end, w);
    LevelProblem<T> level{end - begin,       in.r,      open, w.found.A + begin * in.r,
                          w.found.b + begin, w.found.s, w.Z,  zero * in.rank_tol,
                          in.damping[i]};
    level.scale = level_scale(in, begin, end), level.level = i, level.ranks = in.ranks;
    one.left = w.found.left + i * in.r * in.r;
    solve_level(level, zero * real<T>(REGULAR), w.level);
    if (one.cut > 0 && in.ranks) w.found.zero[i] = one.cut / in.rank_tol;
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
