// Of all forces that give the motion found, those of least norm, and which of them the motion determines.
//
// At a motion the forces that are left to choose are linear: pushes of contacts that do not open, with the
// friction of those that slide, and the friction of those that stick. With their directions C in the freedoms
//
//   min |z|    subject to   C^T z = g,   z in K: pushes and discs within their limits                     (1)
//
// Forces that are not unique are those with an entry in a null vector of C^T. Without limits (1) is a
// projection on the row space. With them the dual problem
//
//   min_y  |C y|^2 / 2 - |C y - P(C y)|^2 / 2 - g.y ,    z = P(C y)                                       (2)
//
// with P the projection on K is convex, smooth and of the size of the freedoms; its gradient is C^T z - g
// [Moreau1965]. Newton's method with a line search solves it.
#pragma once

#include "algebra/triangular.hpp"
#include "contacts/problem/cone_problem.hpp"

SARRUS_BEGIN

constexpr double FORCE_RANK = 1e-10;   // of the longest: directions that are shorter add nothing
constexpr double FORCE_LOOSE = 1e-12;  // square of an entry of the unit null vectors: the force is not unique
constexpr double STILL = 1e-9;         // of the largest speed: contacts that do not slide, or do not open
constexpr int DUAL_STEPS = 60, DUAL_HALVINGS = 30;
constexpr double DUAL_WEIGHT = 1e-12, DUAL_ENDED = 1e-14;  // of the largest curvature; of |g|

struct LeastForces {
  int count, rank;               // forces to choose, rank of C
  int *row, *place;              // (n) row of a force, and the force of a row; -1: it is not chosen
  double *C, *Q, *T;             // (n, d) by force; (d, n) orthonormal rows that span C^T; (n, d) P' C
  double *z, *weight;            // (n) force times weight: friction that goes with a push counts
  double *x, *projected;         // (n) C y and P(C y)
  double *kept, *speed, *room;   // (n) forces before, speeds
  double *H, *L;                 // (d, d) curvature of (2)
  double *y, *tried, *g, *step;  // (d)
  unsigned char* unique;         // (n)

  SARRUS_HD void bind(Arena& arena, int n, int d) {
    arena.take(n, row, place, z, weight, x, projected, kept, speed, room, unique);
    arena.take(n * d, C, Q, T);
    arena.take(d * d, H, L);
    arena.take(d, y, tried, g, step);
  }
};

SARRUS_HD bool is_push(const ForceBlock& at) { return at.kind == BlockKind::PUSH; }

// One more force to choose, along row i of the problem: its direction per unit of the force as it is given
SARRUS_HD void choose_force(const ContactProblem& p, int i, LeastForces& w) {
  int k = w.count++;
  w.row[k] = i, w.place[i] = k, w.weight[k] = 1;
  set_scaled(w.C + k * p.d, 1 / p.scale[i], p.B + i * p.d, p.d);
}

// The friction of a disc that slides, in proportion to its push, which is chosen
SARRUS_FN void slide_with_push(const ContactProblem& p, const ForceBlock& at, LeastForces& w) {
  int k = w.place[at.push];
  double speed = length_of(p.u + at.row, at.size), share = at.share * p.scale[at.row] / p.scale[at.push];
  for (int i = at.row; i < at.row + at.size; ++i)
    add_scaled(w.C + k * p.d, -share * p.u[i] / speed / p.scale[i], p.B + i * p.d, p.d);
  w.weight[k] = sqrt_(w.weight[k] * w.weight[k] + share * share);
}

// Pushes of contacts that do not open
SARRUS_FN void choose_pushes(const ContactProblem& p, double still, LeastForces& w) {
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (is_push(at) && p.scale[at.row] > 0 && p.u[at.row] <= still) choose_force(p, at.row, w);
  }
}
// Friction of a disc: by its push where it slides, chosen where it sticks
SARRUS_FN void choose_friction(const ContactProblem& p, const ForceBlock& at, double still, LeastForces& w) {
  bool pushed = at.push >= 0 && w.place[at.push] >= 0 && at.share > 0;
  bool slides = length_of(p.u + at.row, at.size) > still;
  if (slides && pushed) slide_with_push(p, at, w);
  if (slides || !(pushed || at.fixed > 0)) return;
  for (int i = at.row; i < at.row + at.size; ++i) choose_force(p, i, w);
}

// Which forces the motion p.u leaves to choose
SARRUS_FN void choose_forces(const ContactProblem& p, double still, LeastForces& w) {
  w.count = 0;
  for (int i = 0; i < p.n; ++i) w.place[i] = -1;
  choose_pushes(p, still, w);
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (!is_push(at) && p.scale[at.row] > 0) choose_friction(p, at, still, w);
  }
  for (int k = 0; k < w.count; ++k) {
    set_scaled(w.C + k * p.d, 1 / w.weight[k], w.C + k * p.d, p.d);
    w.z[k] = p.lam[w.row[k]] * p.scale[w.row[k]] * w.weight[k];
  }
}

// x less its parts along `count` orthonormal rows of Q, twice: the second time for rounding
SARRUS_FN void take_out(double* x, const double* Q, int count, int n) {
  for (int again = 0; again < 2; ++again)
    for (int k = 0; k < count; ++k) subtract_scaled(x, inner(Q + k * n, x, n), Q + k * n, n);
}

// Orthonormal rows w.Q that span those of C^T: the longest that is left is next
SARRUS_FN void span_rows(int d, LeastForces& w) {
  int n = w.count;
  double* Q = w.Q;
  for (int j = 0; j < d; ++j)
    for (int k = 0; k < n; ++k) Q[j * n + k] = w.C[k * d + j];
  double first = 0;
  for (w.rank = 0; w.rank < smaller(d, n); ++w.rank) {
    int best = w.rank;
    for (int j = w.rank; j < d; ++j) {
      take_out(Q + j * n, Q, w.rank, n);
      if (length_of(Q + j * n, n) > length_of(Q + best * n, n)) best = j;
    }
    double size = length_of(Q + best * n, n);
    first = larger(size, first);
    if (!(size > FORCE_RANK * first)) break;
    swap_entries(Q + best * n, Q + w.rank * n, n);
    set_scaled(Q + w.rank * n, 1 / size, Q + w.rank * n, n);
  }
}

// Whether force k has no entry in any null vector
SARRUS_HD bool is_determined(const LeastForces& w, int k) {
  double left = 1;
  for (int j = 0; j < w.rank; ++j) left -= w.Q[j * w.count + k] * w.Q[j * w.count + k];
  return left <= FORCE_LOOSE;
}
SARRUS_FN void find_unique(const ContactProblem& p, double still, LeastForces& w) {
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    bool moves = p.scale[at.row] > 0 || (is_push(at) && p.b[at.row] > still);
    for (int i = at.row; i < at.row + at.size; ++i)  // parts that cannot move press each other as they like
      w.unique[i] = w.place[i] < 0 ? moves : is_determined(w, w.place[i]);
  }
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (is_push(at) || at.push < 0 || w.unique[at.push]) continue;
    for (int i = at.row; i < at.row + at.size; ++i) w.unique[i] = w.unique[i] && w.place[i] >= 0;
  }
}

// p.lam from w.z, with the friction of what slides
SARRUS_FN void return_forces(ContactProblem& p, double still, const LeastForces& w) {
  for (int k = 0; k < w.count; ++k) p.lam[w.row[k]] = w.z[k] / w.weight[k] / p.scale[w.row[k]];
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    double speed = length_of(p.u + at.row, at.size);
    if (is_push(at) || !(speed > still) || !(p.scale[at.row] > 0)) continue;
    set_scaled(p.lam + at.row, -radius_of(at, p.lam) / speed, p.u + at.row, at.size);
  }
}
// Whether the forces p.lam give the motion p.u within the limits
SARRUS_FN bool are_forces(const ContactProblem& p, LeastForces& w) {
  speeds(p, p.lam, w.speed);
  return residual_of(p, p.lam, w.speed, w.room) <= CONTACT_TOL;
}

// The discs of a push that are chosen, at w.x: use(block, share of the push's z, fixed radius)
template <class Use>
SARRUS_HD void each_disc(const ContactProblem& p, const LeastForces& w, int push, Use use) {
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (is_push(at) || at.push != push || w.place[at.row] < 0) continue;
    double s = p.scale[at.row];
    use(at, push >= 0 ? at.share * s / p.scale[push] / w.weight[w.place[push]] : 0, at.fixed * s);
  }
}

// A disc of radius r: w.projected, and w.T for the change `dr` (d) of its radius (null: none)
SARRUS_FN void project_disc(const ContactProblem& p, const ForceBlock& at, double r, double share,
                            const double* dz, LeastForces& w) {
  int d = p.d, i = w.place[at.row];
  const double* x = w.x + i;  // rows of a block stay together
  double size = length_of(x, at.size);
  if (size <= r) {
    copy(w.projected + i, x, at.size);
    copy(w.T + i * d, w.C + i * d, at.size * d);
    return;
  }
  for (int j = 0; j < at.size; ++j) {
    double* T = w.T + (i + j) * d;
    w.projected[i + j] = r * x[j] / size;
    fill(T, d);
    if (dz) add_scaled(T, share * x[j] / size, dz, d);
    for (int k = 0; k < at.size; ++k)
      add_scaled(T, r / size * ((j == k ? 1 : 0) - x[j] * x[k] / (size * size)), w.C + (i + k) * d, d);
  }
}

// A push with its discs: the nearest forces within the limits. The derivative of the distance by the push is
// concave, so that Newton's steps from zero end.
SARRUS_FN void project_push(const ContactProblem& p, int push, LeastForces& w) {
  int d = p.d, k = w.place[push];
  double z = 0, slope = 1;
  for (int step = 0; step < 8; ++step) {
    double off = z - w.x[k];
    slope = 1;
    each_disc(p, w, push, [&](const ForceBlock& at, double share, double fixed) {
      double excess = length_of(w.x + w.place[at.row], at.size) - share * z - fixed;
      if (!(excess > 0)) return;
      off -= share * excess;
      slope += share * share;
    });
    if (off >= 0) break;
    z -= off / slope;
  }
  double* dz = w.T + k * d;
  fill(dz, d);
  w.projected[k] = z;
  if (z > 0) {
    add_scaled(dz, 1 / slope, w.C + k * d, d);
    each_disc(p, w, push, [&](const ForceBlock& at, double share, double fixed) {
      const double* x = w.x + w.place[at.row];
      double size = length_of(x, at.size);
      if (!(size > share * z + fixed)) return;
      for (int j = 0; j < at.size; ++j)
        add_scaled(dz, share * x[j] / size / slope, w.C + (w.place[at.row] + j) * d, d);
    });
  }
  each_disc(p, w, push, [&](const ForceBlock& at, double share, double fixed) {
    project_disc(p, at, share * z + fixed, share, dz, w);
  });
}

// (2) at y, with w.x, w.projected and w.T
SARRUS_FN double dual_value(const ContactProblem& p, const double* y, LeastForces& w) {
  for (int k = 0; k < w.count; ++k) w.x[k] = inner(w.C + k * p.d, y, p.d);
  for (int k = 0; k < p.blocks; ++k)
    if (is_push(p.block[k]) && w.place[p.block[k].row] >= 0) project_push(p, p.block[k].row, w);
  each_disc(p, w, -1,
            [&](const ForceBlock& at, double, double fixed) { project_disc(p, at, fixed, 0, nullptr, w); });
  double sum = -inner(w.g, y, p.d);
  for (int k = 0; k < w.count; ++k) {
    double off = w.x[k] - w.projected[k];
    sum += (w.x[k] * w.x[k] - off * off) / 2;
  }
  return sum;
}

// w.step <- minus the gradient of (2); returns its length
SARRUS_FN double dual_slope(const ContactProblem& p, LeastForces& w) {
  copy(w.step, w.g, p.d);
  for (int k = 0; k < w.count; ++k) subtract_scaled(w.step, w.projected[k], w.C + k * p.d, p.d);
  return length_of(w.step, p.d);
}

// Newton's step of (2) into w.step, which holds minus the gradient
SARRUS_FN bool dual_step(const ContactProblem& p, LeastForces& w) {
  int d = p.d;
  fill(w.H, d * d);
  for (int k = 0; k < w.count; ++k)
    for (int j = 0; j < d; ++j) add_scaled(w.H + j * d, w.C[k * d + j], w.T + k * d, d);
  double most = largest_of(d, [&](int j) { return w.H[j * d + j]; });
  for (int j = 0; j < d; ++j) w.H[j * d + j] += DUAL_WEIGHT * most;
  if (!cholesky(w.H, d, w.L)) return false;
  solve_lower(w.L, d, 1, w.step);
  solve_upper(w.L, d, 1, w.step);
  return true;
}

// w.z <- solution of (1)
SARRUS_FN void minimize_dual(const ContactProblem& p, LeastForces& w) {
  int d = p.d;
  fill(w.g, d);
  for (int k = 0; k < w.count; ++k) add_scaled(w.g, w.z[k], w.C + k * d, d);
  fill(w.y, d);
  for (int k = 0; k < w.count; ++k) add_scaled(w.y, w.z[k] / w.count, w.C + k * d, d);
  double size = length_of(w.g, d), value = dual_value(p, w.y, w);
  for (int step = 0; step < DUAL_STEPS; ++step) {
    double slope = dual_slope(p, w);
    if (!(slope > DUAL_ENDED * size) || !dual_step(p, w)) break;
    double t = 1, now = value;
    for (int half = 0; half < DUAL_HALVINGS; ++half, t /= 2) {
      for (int j = 0; j < d; ++j) w.tried[j] = w.y[j] + t * w.step[j];
      now = dual_value(p, w.tried, w);
      if (now <= value) break;
    }
    if (!(now <= value)) break;
    value = now;
    copy(w.y, w.tried, d);
  }
  dual_value(p, w.y, w);
  copy(w.z, w.projected, w.count);
}

// p.lam at a solution becomes the force of least norm; w.unique
SARRUS_FN void find_least_forces(ContactProblem& p, LeastForces& w) {
  double still = STILL * largest_of(p.n, [&](int i) { return abs_(p.b[i]); });
  choose_forces(p, still, w);
  span_rows(p.d, w);
  find_unique(p, still, w);
  if (w.rank == w.count) return;
  copy(w.kept, p.lam, p.n);
  double* along = w.room;
  copy(along, w.z, w.count);
  take_out(along, w.Q, w.rank, w.count);
  subtract(w.z, along, w.count);
  return_forces(p, still, w);
  if (are_forces(p, w)) return;
  minimize_dual(p, w);
  return_forces(p, still, w);
  if (!are_forces(p, w)) copy(p.lam, w.kept, p.n);
}

SARRUS_END
