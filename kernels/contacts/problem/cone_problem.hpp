// The contact problem: forces in friction cones, of rows whose speeds (or accelerations) they change.
//
//   u = W lam + b,    W = A B^T                                                                           (1)
//   push   0 <= lam_n,  u_n >= 0,  lam_n u_n = 0                                                          (2)
//   disc   |lam_t| <= r = share lam_n + fixed,   lam_t = -r u_t / |u_t| where u_t is not zero             (3)
//
// A holds the rows in the freedoms that loops leave (J_c N with N^T M N = 1), B the directions in which the
// forces act. They differ where a contact already slides: its friction goes with its push. A contact has one
// push and discs of one or two rows: friction, torsion, rolling. Dry friction of a joint is a disc of its
// own, whose radius is `fixed`; a stop is a push. (3) is maximum dissipation on the cone itself, no pyramid.
//
// Whatever the units of rows are, forces are scaled so that W has the diagonal 1. The natural map
//
//   F(lam) = lam - P(lam - u)                                                                             (4)
//
// with P the projection on lam_n >= 0 and on the discs of the radii at hand is zero at solutions alone
// [AlartCurnier1991]; its largest entry, relative to the largest force, is the residual.
#pragma once

#include "base/arena.hpp"
#include "base/vectors.hpp"
#include "contacts/problem/problem_data.hpp"

SARRUS_BEGIN

constexpr double CONTACT_TOL = 1e-10;     // residual of a solution, of the largest force
constexpr double CONTACT_WANTED = 1e-13;  // residual that steps go on to while they still come closer
constexpr double FORCE_FLOOR = 1e-5;      // of the forces that would stop the free motion, and
constexpr double FORCE_CEILING = 1e3;     // times these: between them the largest force counts
constexpr double ROW_GONE = 1e-12;        // length of a block's rows, of the longest: it cannot move

struct ContactProblem {
  int n = 0, d = 0, blocks = 0;  // rows, freedoms, blocks
  double *A, *B, *b;             // (n, d), (n, d), (n): what is given
  ForceBlock* block;             // (blocks) likewise
  double* W;                     // (n, n) scaled as lam is
  double* scale;                 // (n) given force = scale times the one here; 0: the row cannot move
  double *lam, *u;               // (n) forces and speeds, scaled

  SARRUS_HD void bind(Arena& arena, int rows, int freedoms) {
    arena.take(rows * freedoms, A, B);
    arena.take(rows * rows, W);
    arena.take(rows, b, scale, lam, u);
    arena.take(rows, block);
  }
  SARRUS_HD const double* row(int i) const { return A + i * d; }
};

SARRUS_HD double length_of(const double* x, int n) { return sqrt_(inner(x, x, n)); }

// Radius of a disc for pushes lam
SARRUS_HD double radius_of(const ForceBlock& k, const double* lam) {
  double r = k.fixed + (k.push >= 0 ? k.share * lam[k.push] : 0);
  return r > 0 ? r : 0;
}

// The scale of each block, by the mean length of its rows
SARRUS_FN void measure_blocks(ContactProblem& p) {
  int d = p.d;
  auto square = [&](int i) { return inner(p.row(i), p.row(i), d); };
  double longest = largest_of(p.n, square);
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    double size = sum_of<double>(at.size, [&](int i) { return square(at.row + i); }) / at.size;
    bool gone = !(size > ROW_GONE * ROW_GONE * longest);
    for (int i = at.row; i < at.row + at.size; ++i) p.scale[i] = gone ? 0 : 1 / sqrt_(size);
  }
}

// Scales A, B, b and the blocks so that W_ii = 1 on average for the rows of each, and computes W.
SARRUS_FN void scale_problem(ContactProblem& p) {
  int d = p.d;
  for (int k = 0; k < p.blocks; ++k) {
    ForceBlock& at = p.block[k];
    double s = p.scale[at.row];
    at.fixed = s > 0 ? at.fixed / s : 0;
    if (at.push >= 0) at.share = s > 0 ? at.share * p.scale[at.push] / s : 0;
  }
  for (int i = 0; i < p.n; ++i) {
    set_scaled(p.A + i * d, p.scale[i], p.A + i * d, d);
    set_scaled(p.B + i * d, p.scale[i], p.B + i * d, d);
    p.b[i] *= p.scale[i];
  }
  for (int i = 0; i < p.n; ++i)
    for (int j = 0; j < p.n; ++j) p.W[i * p.n + j] = inner(p.row(i), p.B + j * d, d);
}

// u = W lam + b
SARRUS_FN void speeds(const ContactProblem& p, const double* lam, double* u) {
  for (int i = 0; i < p.n; ++i) u[i] = p.b[i] + inner(p.W + i * p.n, lam, p.n);
}

// z <- P(z) for the radii of pushes lam
SARRUS_FN void project_forces(const ContactProblem& p, const double* lam, double* z) {
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    double* x = z + at.row;
    if (at.kind == BlockKind::PUSH) {
      x[0] = larger(x[0], 0.0);
      continue;
    }
    double r = radius_of(at, lam), size = length_of(x, at.size);
    if (size > r) set_scaled(x, r / size, x, at.size);
  }
}

// The residual at lam, for its speeds u: the larger one of two shares. As forces are given, of the largest
// force. Scaled, also of the speeds that are to be changed: where contacts jam there is no solution, but ever
// larger forces would be ever better as a share of themselves.   room (n)
SARRUS_FN double residual_of(const ContactProblem& p, const double* lam, const double* u, double* room) {
  set_difference(room, lam, u, p.n);
  project_forces(p, lam, room);
  double off = 0, given_off = 0, force = 0, given_force = 0, free = 0, given_free = 0;
  for (int i = 0; i < p.n; ++i) {
    double s = p.scale[i], x = abs_(lam[i] - room[i]);
    off = x <= off ? off : x;  // NaN is no solution
    given_off = x * s <= given_off ? given_off : x * s;
    force = larger(abs_(lam[i]), force), given_force = larger(abs_(lam[i]) * s, given_force);
    free = larger(abs_(p.b[i]), free), given_free = larger(abs_(p.b[i]) * s, given_free);
  }
  if (off == 0) return 0;
  double share = off / within(force, FORCE_FLOOR * free, FORCE_CEILING * free);
  double given = given_off / larger(given_force, FORCE_FLOOR * given_free);
  return given <= share ? share : given;
}

SARRUS_END
