// Solves a contact problem: Newton's method from given modes, then interior points, then fixed radii.
//
//   1. Newton's steps from the forces at hand, which end at once where the modes are those of the last call.
//   2. Interior points for where these do not converge, then Newton.
//   3. Radii of the discs as a fixed point: with given ones the problem is convex and always solved, and
//      every solution is one more place where Newton's steps begin [Haslinger1983].
//
// What is not solved to CONTACT_TOL by then is said to be so. `python -m bench.contact_problem` counts.
#pragma once

#include "contacts/problem/interior_path.hpp"
#include "contacts/problem/newton.hpp"

SARRUS_BEGIN

constexpr int WARM_STEPS = 8;           // of Newton's method, from the forces at hand
constexpr int RADIUS_ROUNDS = 40;       // fixed points of radii that are tried
constexpr int WHOLE_ROUNDS = 5;         // rounds that take the new radii, and as many their mean
constexpr double LARGER_START = 10;     // of the second path, times the first
constexpr double LEAST_RADIUS = 1e-12;  // of the first one: paths need an inside
constexpr double CLOSING = 1e-9;        // of the largest speed: contacts that close

struct ContactSolver {
  ContactProblem p;
  ContactNewton newton;
  ContactPath path;
  double *fixed, *share;  // (blocks) as given, while radii are fixed
  double* least;          // (n) forces of the least residual
  double residual;
  int steps;

  SARRUS_HD void bind(Arena& arena, int rows, int freedoms, int blocks) {
    p.bind(arena, rows, freedoms);
    newton.bind(arena, rows);
    path.bind(arena, rows, freedoms, blocks);
    arena.take(blocks, fixed, share);
    arena.take(rows, least);
  }
};

// Newton's steps from p.lam; whether they end at a solution. s.least keeps the best forces.
SARRUS_FN bool finish(ContactSolver& s, int most) {
  double now = newton_steps(s.p, s.newton, most);
  ++s.steps;
  if (now < s.residual) s.residual = now, copy(s.least, s.p.lam, s.p.n);
  return s.residual <= CONTACT_TOL;
}

// The problem with the radii s.fixed, whose pushes give new radii
SARRUS_FN void solve_with_radii(ContactSolver& s, double size, double mixed) {
  ContactProblem& p = s.p;
  for (int k = 0; k < p.blocks; ++k) {
    ForceBlock& at = p.block[k];
    swap_(at.fixed, s.fixed[k]);
    s.share[k] = at.share;
    at.share = 0;
  }
  s.steps += follow_path(p, size, s.path);
  for (int k = 0; k < p.blocks; ++k) {
    ForceBlock& at = p.block[k];
    swap_(at.fixed, s.fixed[k]);
    at.share = s.share[k];
    if (at.kind == BlockKind::DISC) s.fixed[k] += mixed * (radius_of(at, p.lam) - s.fixed[k]);
    if (carries(p, at)) s.fixed[k] = larger(s.fixed[k], LEAST_RADIUS * size);
  }
}

SARRUS_FN bool by_fixed_radii(ContactSolver& s, double size) {
  ContactProblem& p = s.p;
  for (int k = 0; k < p.blocks; ++k) s.fixed[k] = p.block[k].fixed + p.block[k].share * size / 2;
  for (int round = 0; round < RADIUS_ROUNDS; ++round) {
    solve_with_radii(s, size, round / WHOLE_ROUNDS % 2 == 0 ? 1 : 0.5);
    if (finish(s, MAP_STEPS)) return true;
  }
  return false;
}

// Whether a contact closes whose parts cannot move
SARRUS_FN bool is_pressed(const ContactProblem& p, double fastest) {
  return any_of(p.blocks, [&](int k) {
    const ForceBlock& at = p.block[k];
    return at.kind == BlockKind::PUSH && p.scale[at.row] == 0 && p.b[at.row] < -CLOSING * fastest;
  });
}
// Whether the only push does not push apart what it presses
SARRUS_FN bool is_painleve(const ContactProblem& p) {
  int pushes = 0, row = -1;
  for (int k = 0; k < p.blocks; ++k)
    if (p.block[k].kind == BlockKind::PUSH && p.scale[p.block[k].row] > 0) ++pushes, row = p.block[k].row;
  return pushes == 1 && !(p.W[row * p.n + row] > 0);
}

// Brings A, B, b and blocks of s.p into the form that solve_contacts() takes. PRESSED: there is no solution
SARRUS_FN ContactOutcome prepare_contacts(ContactSolver& s) {
  ContactProblem& p = s.p;
  double fastest = largest_of(p.n, [&](int i) { return abs_(p.b[i]); });
  measure_blocks(p);
  if (is_pressed(p, fastest)) return ContactOutcome::PRESSED;
  scale_problem(p);
  return is_painleve(p) ? ContactOutcome::PAINLEVE : ContactOutcome::SOLVED;
}

// in: s.p as prepared; warm: s.p.lam are forces (scaled) of a problem like it. out: s.p.lam, s.p.u
SARRUS_FN ContactFound solve_contacts(ContactSolver& s, bool warm) {
  ContactProblem& p = s.p;
  double size = largest_of(p.n, [&](int i) { return abs_(p.b[i]); });
  s.residual = 1e300, s.steps = 0;
  if (!warm) fill(p.lam, p.n);
  bool found = finish(s, warm ? WARM_STEPS : 1);
  for (double start = size; !found && start > 0 && start <= LARGER_START * size; start *= LARGER_START) {
    s.steps += follow_path(p, start, s.path);
    found = finish(s, MAP_STEPS);
  }
  if (!found && size > 0) found = by_fixed_radii(s, size);
  copy(p.lam, s.least, p.n);
  speeds(p, p.lam, p.u);
  return {found ? ContactOutcome::SOLVED : ContactOutcome::UNSOLVED, s.residual, s.steps};
}

SARRUS_END
