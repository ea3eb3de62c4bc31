// A pose at rest: unbalanced forces along the free directions, and how accelerations change along them.
//
// With F the free directions (orthonormal, lengths divided by L; without motion of held coordinates) and y =
// F^T dq,
//
//   a_y = F^T a,    A = F^T da/dq F                                                                       (1)
//
// da/dq is that of derivatives/dynamics_derivatives.hpp. Rows of the user's have no derivatives: with them
// da/dq F are differences of accelerations at neighbouring closed poses.
#pragma once

#include "derivatives/dynamics_derivatives.hpp"
#include "solve/factor/tangent_bases.hpp"
#include "solve/search/assembly.hpp"
#include "solve/search/projection.hpp"
#include "solve/search/rank_loss.hpp"

SARRUS_BEGIN

constexpr double SLOPE_STEP = 1e-3;  // of the differences, in free directions

// What is at rest: applied force (nv), inputs by the coordinates on which they act, coordinates that are held
// and how poses are closed.
template <class T>
struct RestProblem {
  const T *tau, *u;
  const int *actuated, *held;
  int n_u, n_held;
  Selected closing, moving;  // rows and coordinates: without held ones, and with
  const real<T>* patterns;   // of the first
  bool differences;          // rows of the user's
};

template <class T>
struct RestWork : AssemblyWork<T> {
  Recursive<T, 0> motion;
  Pivoted<T> held;
  SingularValues<T> s;  // of small systems, and of J
  RankLossRoom<T> loss;
  T *at, *applied, *u;          // pose (nq), all applied forces (nv), inputs (n_u)
  T *a, *h;                     // acceleration and bias (nv)
  T *N, *F, *A, *inertia, *da;  // (nv, nv), da (2 of them)
  T *a_y, *near;                // (nv)
  T *x, *g;                     // (ld), (nv + nu)
  T largest_inertia;
  int rank, n, free;  // freedoms, those without held coordinates

  SARRUS_HD RestWork(const Model<real<T>>& m, int n_u, Arena& arena)
      : AssemblyWork<T>(m, arena), motion(m, arena) {
    int most = m.nv + n_u;
    held.bind(arena, m.nv, m.nv);
    s.bind(arena, larger(m.nc, most), most);
    loss.bind(arena, m);
    arena.take(m.nq, at);
    arena.take(m.nv, applied, a, h, a_y, near);
    arena.take(n_u, u);
    arena.take(m.nv * m.nv, N, F, A, inertia);
    arena.take(2 * m.nv * m.nv, da);
    arena.take(Stride<0>(most), x);
    arena.take(most, g);
  }
};

// w.N (nv, n): directions in which poses can move   in: the factorization in w.motion
template <class T>
SARRUS_FN void free_directions(const Model<real<T>>& m, RestWork<T>& w) {
  Workspace<T, 0>& at = w.motion.w;
  w.n = all_holonomic(m) ? velocity_directions(m, at.ld, at.factor, w.x, w.N)
                         : position_directions(m, at.ld, at.rows.J, w.d.p, w.x, w.N);
}

// w.F (nv, free): those of w.N without motion of the held coordinates
template <class T>
SARRUS_FN void leave_out_held(const Model<real<T>>& m, const RestProblem<T>& p, RestWork<T>& w) {
  for (int k = 0; k < p.n_held; ++k)
    for (int e = 0; e < w.n; ++e) w.held.at(k, e) = w.N[p.held[k] * w.n + e];
  eliminate(w.held, p.n_held, w.n, real<T>(0), real<T>(1e-9));
  int rank = w.held.rank();
  w.free = w.n - rank;
  for (int c = 0; c < w.free; ++c) {
    basis_vector(w.held, rank + c, w.x);
    for (int j = 0; j < m.nv; ++j) {
      w.F[j * w.free + c] = sum_of<T>(w.n, [&](int e) { return w.N[j * w.n + e] * w.x[e]; });
    }
  }
}

// x: the shortest least-squares solution of the system (rows, columns) in w.s.p.A with right side w.g
template <class T>
SARRUS_FN void solve_small(int rows, int columns, RestWork<T>& w, T* x) {
  fill(x, w.s.p.ld);
  if (columns == 0 || !decompose(w.s, rows, columns) || w.s.count == 0) return;
  solve_damped(w.s, w.s.rank(w.s.s[0] * real<T>(1e-12)), T(0), w.g, x);
}

// w.applied of the inputs w.u
template <class T>
SARRUS_HD void apply_inputs(const Model<real<T>>& m, const RestProblem<T>& p, RestWork<T>& w) {
  copy(w.applied, p.tau, m.nv);
  for (int k = 0; k < p.n_u; ++k) w.applied[p.actuated[k]] += w.u[k];
}

// The smallest change of the inputs that balances held coordinates: N^T S^T du = N^T (h - applied)
template <class T>
SARRUS_FN void hold(const Model<real<T>>& m, const RestProblem<T>& p, RestWork<T>& w) {
  for (int e = 0; e < w.n; ++e) {
    w.g[e] = sum_of<T>(
        m.nv, [&](int j) { return w.N[j * w.n + e] * m.unit[j] * (w.motion.w.h[j] - w.applied[j]); });
    for (int k = 0; k < p.n_u; ++k) {
      int j = p.actuated[k];
      w.s.at(e, k) = w.N[j * w.n + e] * m.unit[j];
    }
  }
  solve_small(w.n, p.n_u, w, w.x);
  add(w.u, w.x, p.n_u);
  apply_inputs(m, p, w);
}

enum RestStatus { AT_REST, NO_INERTIA_AT_REST, SINGULAR_AT_REST, MOVING_DRIVE, NOT_ASSEMBLED };

// Evaluates the pose w.at at rest, with the inputs that hold: all but A of (1)
// rows(q, v): evaluates the rows of AssemblyWork::w there; state(q): all that the kernel evaluates of the
// state at rest
template <class T, class Rows, class State>
SARRUS_FN RestStatus rest_at(const Model<real<T>>& m, const RestProblem<T>& p, Rows rows, State state,
                             RestWork<T>& w) {
  copy(w.u, p.u, p.n_u);
  apply_inputs(m, p, w);
  auto s = state(w.at);
  if (p.n_held || p.differences) {
    evaluate(m, s, w.motion.w);
    factorize_rows(m, w.motion.w);
    free_directions(m, w);
    if (p.n_held) hold(m, p, w);
  }
  if (p.differences) {
    accelerate(m, w.applied, w.motion.w);
  } else {
    Derivatives<T> to = {w.da, w.da + m.nv * m.nv, nullptr, nullptr, nullptr, nullptr, nullptr};
    differentiate_recursively(m, s, w.applied, to, w.motion);
  }
  if (velocity_residual(m, w.v, w.motion.w) > real<T>(1e-9)) return MOVING_DRIVE;
  if (!w.motion.w.factor.spd) return NO_INERTIA_AT_REST;
  free_directions(m, w);
  leave_out_held(m, p, w);
  w.rank = w.motion.w.factor.rank_rows;
  w.largest_inertia = T(0);
  for (int j = 0; j < m.nv; ++j) {
    w.a[j] = w.motion.w.a[j];
    w.h[j] = w.motion.w.h[j];
    for (int k = 0; k < m.nv; ++k) {
      T inertia = w.motion.w.M[j * w.motion.w.ld + k], size = abs_(inertia);
      w.inertia[j * m.nv + k] = inertia;
      w.largest_inertia = larger(size, w.largest_inertia);
    }
  }
  if (w.rank < m.nc) {
    rows(w.at, w.v);
    load_rows(m, w.w, w.d);
    if (!decompose(w.d, m.nc, m.nv)) return SINGULAR_AT_REST;
    auto moved = [&](const T* v) { rows(w.at, v); };
    if (loses_rank_here(m, moved, w.d, w.rank, w.w, w.loss)) return SINGULAR_AT_REST;
  }
  return AT_REST;
}

// Largest entry of the tangent part of h - applied, held coordinates left out
template <class T>
SARRUS_FN T unbalanced(const Model<real<T>>& m, RestWork<T>& w) {
  T worst = T(0);
  for (int c = 0; c < w.free; ++c) {
    w.g[c] =
        sum_of<T>(m.nv, [&](int j) { return w.F[j * w.free + c] * m.unit[j] * (w.h[j] - w.applied[j]); });
  }
  for (int j = 0; j < m.nv; ++j) {
    T s = sum_of<T>(w.free, [&](int c) { return w.F[j * w.free + c] * w.g[c]; });
    s = abs_(s) / m.unit[j];
    worst = larger(s, worst);
  }
  return worst;
}

// da/dq F[:, c] by differences of fourth order over poses closed again; into w.near. False where one does not
// close.
template <class T, class Rows, class State>
SARRUS_FN bool slope_by_differences(const Model<real<T>>& m, const RestProblem<T>& p, Rows rows, State state,
                                    int c, RestWork<T>& w) {
  constexpr double weight[4] = {1. / 12, -2. / 3, 2. / 3, -1. / 12}, at[4] = {-2, -1, 1, 2};
  fill(w.near, m.nv);
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < m.nv; ++j) w.dv[j] = w.F[j * w.free + c] * (m.unit[j] * real<T>(at[i] * SLOPE_STEP));
    integrate(m, w.at, w.dv, w.q);
    close_rows(m, p.moving, [&](const T* q) { rows(q, w.v); }, w);
    if (!is_closed(w.r, p.moving.n_rows)) return false;
    auto s = state(w.q);
    evaluate(m, s, w.motion.w);
    prepare(m, s, w.rank, static_cast<Tangent<T, 0>*>(nullptr), w.motion.w);
    accelerate(m, w.applied, w.motion.w);
    for (int j = 0; j < m.nv; ++j) w.near[j] += w.motion.w.a[j] * real<T>(weight[i] / SLOPE_STEP);
  }
  return true;
}

// A and a_y of (1)
template <class T, class Rows, class State>
SARRUS_FN bool rest_slopes(const Model<real<T>>& m, const RestProblem<T>& p, Rows rows, State state,
                           RestWork<T>& w) {
  int nv = m.nv, n = w.free;
  for (int c = 0; c < n; ++c) {
    w.a_y[c] = sum_of<T>(nv, [&](int j) { return w.F[j * n + c] * w.a[j] / m.unit[j]; });
    if (p.differences) {
      if (!slope_by_differences(m, p, rows, state, c, w)) return false;
    } else {
      for (int j = 0; j < nv; ++j) {
        w.near[j] = sum_of<T>(nv, [&](int k) { return w.da[j * nv + k] * w.F[k * n + c] * m.unit[k]; });
      }
    }
    for (int i = 0; i < n; ++i) {
      w.A[i * n + c] = sum_of<T>(nv, [&](int j) { return w.F[j * n + i] * w.near[j] / m.unit[j]; });
    }
  }
  return true;
}

SARRUS_END
