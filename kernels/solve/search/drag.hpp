// Drags a point of a body towards a target, on the constraints and within the limits of the coordinates.
//
// The displacement x of least kinetic energy that moves the point by e as far as the rows allow:
//
//   min x^T M x + |G_p x - e|^2 / mu    s.t.    J x = 0,   lower - q <= x <= upper - q                    (1)
//
// C = N (N^T M N)^-1 N^T is what a generalized force moves, x = C G^T f, with G the Jacobian of the point
// and, below it, the rows of the coordinates that are held at a limit:
//
//   (G C G^T + diag(mu, 0)) f = [e; limit - q],      f >= 0 at lower limits, <= 0 at upper ones           (2)
//
// [Khatib1987] eq. (51) is (2) without limits and mu. Each step is short against the distance to a singular
// pose, is closed again by Newton with the rank of the pose it starts from, and is taken only where the
// correction is small against it and the point comes nearer: the path never leaves its branch.
#pragma once

#include "solve/search/projection.hpp"
#include "tree/body_frames.hpp"

SARRUS_BEGIN

constexpr int MOST_HELD = 12;             // limits that are held at once
constexpr int MOST_ROUNDS = 40;           // of the active set
constexpr double DRAG_STEP = 0.15;        // of any coordinate in one step [rad], or times L [m]
constexpr double DRAG_FLOOR = 2e-3;       // the same however near a singular pose is
constexpr double DRAG_PIVOT_RATE = 4;     // pivots fall by at most this per radian or L, with a margin of two
constexpr double DRAG_SOFT = 1e-5;        // mu over the trace of G_p C G_p^T
constexpr double DRAG_CORRECTION = 0.25;  // largest correction relative to the step
constexpr double DRAG_DONE = 1e-10;       // a step that ends the drag
constexpr double LIMIT_SLACK = 1e-11;     // by which a coordinate may be beyond its limit

// What is dragged: point (3) of a body to target (3) in the world; limits (nv) each.
template <class R>
struct Dragged {
  int body;
  const R *point, *target, *lower, *upper;
  const int* position;  // (nv) entry of q of each coordinate, -1: none
  const R* drive;       // (3 nd), held
};

template <class T, int LDC>
struct DragWork : Workspace<T, LDC> {
  static constexpr int MOST = 3 + MOST_HELD;
  T *q1, *q2, *Jp, *columns, *zeros;  // columns: C G^T, (MOST, ld)
  T A[MOST * MOST], f[MOST], right[MOST];
  int held[MOST_HELD], side[MOST_HELD], n_held = 0, rank = -1;

  SARRUS_HD DragWork(const Model<real<T>>& m, Arena& arena) : Workspace<T, LDC>(m, arena) {
    arena.take(m.nq, q1, q2);
    arena.take(6 * m.nv, Jp);
    arena.take(MOST * this->ld, columns);
    arena.take(this->ld + m.nv, zeros);
    if (arena.at) fill(zeros, this->ld + m.nv);
  }
};

// Rows at q, and M where `inertia`; the factorization holds w.rank, or decides it where that is -1
template <class T, int LDC>
SARRUS_FN bool factorize_pose(const Model<real<T>>& m, const T* q, const Dragged<real<T>>& d, bool inertia,
                              DragWork<T, LDC>& w) {
  place(m, q, w.tree);
  move(m, w.zeros, w.tree);
  constraints(m, State<T>{q, w.zeros, d.drive, nullptr}, w.tree, w.ld, w.rows);
  for (int r = 0; r < m.nc; ++r)
    if (!m.row_holonomic[r]) w.rows.phi[r] = T(0);
  if (!inertia) return true;
  weigh(m, w.tree, w.bodies.I);
  inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
  factorize(m, w.rows.J, w.M, w.ld, w.rank, w.factor);
  if (w.factor.first_rows < m.nc) complete(m, w.ld, w.factor);
  finish(m, w.M, w.ld, w.factor);
  return w.factor.spd;
}

// q1 onto the rows by Newton in the mass metric
template <class T, int LDC>
SARRUS_FN bool close_pose(const Model<real<T>>& m, const Dragged<real<T>>& d, DragWork<T, LDC>& w) {
  T last = T(real<T>(1e300));
  for (int i = 0; i < NEWTON_STEPS; ++i) {
    factorize_pose(m, w.q1, d, false, w);
    T r = position_residual(m, w);
    if (!(r < real<T>(1))) return false;
    if (r <= real<T>(CLOSED) || (r <= real<T>(CLOSED_ENOUGH) && r > last / 2)) return true;
    if (!factorize_pose(m, w.q1, d, true, w)) return false;
    last = r;
    negate(w.extra, w.rows.phi, m.nc);
    normal_step(m, w.extra, w);
    integrate(m, w.q1, w.a, w.q2);
    copy(w.q1, w.q2, m.nq);
  }
  return false;
}

// column k of C G^T: what the generalized force g (nv) moves
template <class T, int LDC>
SARRUS_FN void add_column(const Model<real<T>>& m, int k, const T* g, DragWork<T, LDC>& w) {
  copy(w.rhs, g, m.nv);
  fill(w.y, w.ld);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.columns + k * w.ld);
}

// row k of G times column c
template <class T, int LDC>
SARRUS_HD T row_times(const Model<real<T>>& m, int k, const T* column, const DragWork<T, LDC>& w) {
  if (k >= 3) return column[w.held[k - 3]];
  return sum_of<T>(m.nv, [&](int j) { return w.Jp[k * m.nv + j] * column[j]; });
}

// The largest entry of the diagonal (of rows of length S) that is not used yet and has not fallen to rounding
// of what it was first; -1 where there is none
template <int S, class T>
SARRUS_HD int drag_pivot(const T* A, int n, const bool* used, const T* first) {
  int best = -1;
  for (int i = 0; i < n; ++i) {
    bool may = !used[i] && A[i * S + i] > real<T>(1e-9) * first[i];
    if (may && (best < 0 || A[i * S + i] > A[best * S + best])) best = i;
  }
  return best;
}

// f of (2) by elimination with pivots on the diagonal; dependent rows get none. In: right (n)
template <class T, int LDC>
SARRUS_FN void solve_forces(int n, T soft, DragWork<T, LDC>& w) {
  constexpr int S = DragWork<T, LDC>::MOST;
  bool used[S] = {};
  T first[S];
  for (int i = 0; i < 3; ++i) w.A[i * S + i] += soft;
  for (int i = 0; i < n; ++i) first[i] = w.A[i * S + i];
  copy(w.f, w.right, n);
  for (int round = 0; round < n; ++round) {  // Gauss and Jordan
    int p = drag_pivot<S>(w.A, n, used, first);
    if (p < 0) break;
    used[p] = true;
    for (int i = 0; i < n; ++i) {
      if (i == p) continue;
      T x = w.A[i * S + p] / w.A[p * S + p];
      subtract_scaled(w.A + i * S, x, w.A + p * S, n);
      w.f[i] -= x * w.f[p];
    }
  }
  for (int i = 0; i < n; ++i) w.f[i] = used[i] ? w.f[i] / w.A[i * S + i] : T(0);
}

// Lets one limit go that pulls the wrong way; false where there is none
template <class T, int LDC>
SARRUS_HD bool release_held(int nv, DragWork<T, LDC>& w) {
  for (int i = 0; i < w.n_held; ++i) {
    if (!(w.f[3 + i] * real<T>(w.side[i]) > real<T>(0))) continue;
    --w.n_held;
    w.held[i] = w.held[w.n_held], w.side[i] = w.side[w.n_held];
    copy(w.columns + (3 + i) * w.ld, w.columns + (3 + w.n_held) * w.ld, nv);
    return true;
  }
  return false;
}

// By how much coordinate j with value x is beyond its upper and lower limit, without units
template <class T>
struct Beyond {
  T above, below;
};
template <class T>
SARRUS_HD Beyond<T> beyond_limits(const Model<real<T>>& m, const Dragged<real<T>>& d, int j, const T& x) {
  return {(x - d.upper[j]) / m.unit[j], (d.lower[j] - x) / m.unit[j]};
}

// Holds the limit that x (w.a) violates most, or lets one go that pulls the wrong way; false: neither
template <class T, int LDC>
SARRUS_FN bool change_held(const Model<real<T>>& m, const T* q, const Dragged<real<T>>& d,
                           DragWork<T, LDC>& w) {
  if (release_held(m.nv, w)) return true;
  int worst = -1, side = 0;
  T most = T(real<T>(LIMIT_SLACK));
  for (int j = 0; j < m.nv; ++j) {
    bool known = any_of(w.n_held, [&](int i) { return w.held[i] == j; });
    if (d.position[j] < 0 || known) continue;
    auto [above, below] = beyond_limits(m, d, j, T(q[d.position[j]] + w.a[j]));
    if (!(above > most || below > most)) continue;
    worst = j, side = above > below ? 1 : -1, most = larger(above, below);
  }
  if (worst < 0 || w.n_held == MOST_HELD) return false;
  w.held[w.n_held] = worst, w.side[w.n_held++] = side;
  fill(w.change, m.nv);
  w.change[worst] = T(1);
  add_column(m, 2 + w.n_held, w.change, w);
  return true;
}

// w.a: the displacement (1) at q, where the pose is factorized, for a motion e (3) of the point
template <class T, int LDC>
SARRUS_FN void drag_direction(const Model<real<T>>& m, const T* q, const Dragged<real<T>>& d, const T* e,
                              DragWork<T, LDC>& w) {
  constexpr int S = DragWork<T, LDC>::MOST;
  body_jacobian(m, d.body, d.point, w.tree, w.Jp);
  for (int k = 0; k < 3; ++k) add_column(m, k, w.Jp + k * m.nv, w);
  w.n_held = 0;
  for (int round = 0; round < MOST_ROUNDS; ++round) {
    int n = 3 + w.n_held;
    T soft = T(0);
    for (int i = 0; i < n; ++i)
      for (int k = 0; k < n; ++k) w.A[i * S + k] = row_times(m, i, w.columns + k * w.ld, w);
    for (int i = 0; i < 3; ++i) w.right[i] = e[i], soft += w.A[i * S + i];
    for (int i = 3; i < n; ++i) {
      int j = w.held[i - 3];
      w.right[i] = (w.side[i - 3] > 0 ? d.upper[j] : d.lower[j]) - q[d.position[j]];
    }
    solve_forces(n, soft * real<T>(DRAG_SOFT) + real<T>(1e-300), w);
    fill(w.a, w.ld);
    for (int k = 0; k < n; ++k) axpy(w.a, w.f[k], w.columns + k * w.ld, w.ld);
    if (!change_held(m, q, d, w)) return;
  }
}

// Largest |x| (nv) without units
template <class T>
SARRUS_HD T drag_size(const Model<real<T>>& m, const T* x) {
  return largest_of(m.nv, [&](int j) { return abs_(x[j]) / m.unit[j]; });
}

// e (3) = target - point at the pose of w.tree; its square
template <class T, int LDC>
SARRUS_HD T drag_error(const Model<real<T>>& m, const Dragged<real<T>>& d, const DragWork<T, LDC>& w, T* e) {
  T R[9], p[3], squared = T(0);
  body_pose(m, d.body, w.tree, R, p);
  for (int i = 0; i < 3; ++i) {
    T x = p[i];
    x = plus_products(x, R + 3 * i, d.point, 3);
    e[i] = d.target[i] - x;
    squared += e[i] * e[i];
  }
  return squared;
}

// By how much coordinates are beyond their limits, without units
template <class T>
SARRUS_HD T beyond_limits(const Model<real<T>>& m, const T* q, const Dragged<real<T>>& d) {
  T most = T(0);
  for (int j = 0; j < m.nv; ++j) {
    if (d.position[j] < 0) continue;
    auto [above, below] = beyond_limits(m, d, j, q[d.position[j]]);
    most = larger(below, larger(above, most));
  }
  return most;
}

// How far one step may lead, without units, by the distance to a singular pose
template <class T, int LDC>
SARRUS_HD T longest_drag(const DragWork<T, LDC>& w) {
  T pivot = T(real<T>(1e300));
  for (int k = 0; k < w.factor.rank_rows; ++k) pivot = smaller(abs_(pivot_of(w.factor, k, w.ld)), pivot);
  return within(pivot / real<T>(DRAG_PIVOT_RATE), real<T>(DRAG_FLOOR), real<T>(DRAG_STEP));
}

// q1: the pose reached by `along` (nv), of the given size, times `share`, closed; false where closing it
// leads too far away
template <class T, int LDC>
SARRUS_FN bool try_drag(const Model<real<T>>& m, const Dragged<real<T>>& d, const T* q, const T* along,
                        const T& share, const T& size, DragWork<T, LDC>& w) {
  set_scaled(w.change, share, along, m.nv);
  integrate(m, q, w.change, w.q1);
  if (!close_pose(m, d, w)) return false;
  difference(m, q, w.q1, w.force);
  subtract_scaled(w.force, share, along, m.nv);
  return !(drag_size(m, w.force) > real<T>(DRAG_CORRECTION) * share * size);
}

// One step of the drag from q (nq), closed; false where there is none. Out: q
template <class T, int LDC>
SARRUS_FN bool drag_step(const Model<real<T>>& m, const Dragged<real<T>>& d, T* q, DragWork<T, LDC>& w) {
  w.rank = -1;
  if (!factorize_pose(m, q, d, true, w)) return false;
  w.rank = w.factor.rank_rows;
  T e[3], before = drag_error(m, d, w, e), beyond = beyond_limits(m, q, d), most = longest_drag(w);
  drag_direction(m, q, d, e, w);
  T size = drag_size(m, w.a), share = size > most ? most / size : T(1);
  if (!(size > real<T>(DRAG_DONE))) return false;
  copy(w.zeros + w.ld, w.a, m.nv);
  const T* along = w.zeros + w.ld;
  for (; share * size > real<T>(DRAG_DONE); share *= real<T>(0.4)) {
    if (!try_drag(m, d, q, along, share, size, w)) continue;
    T now = beyond_limits(m, w.q1, d), ignored[3];
    bool comes_back = now < beyond, allowed = comes_back || now <= real<T>(1e-6);
    bool nearer = drag_error(m, d, w, ignored) < before || (comes_back && beyond > real<T>(LIMIT_SLACK));
    if (!allowed || !nearer) continue;
    copy(q, w.q1, m.nq);
    return true;
  }
  return false;
}

SARRUS_END
