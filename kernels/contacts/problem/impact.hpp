// Impacts: contacts of which some close, with restitution and friction.
//
//   Newton    0 <= lam_n,  u_n+ + e min(u_n-, 0) >= 0,  complementary                                     (1)
//   Poisson   one impact without rebound, lam_c; then one with pushes of at least e lam_c                 (2)
//
// and Coulomb's law between impulses and the speeds u_t+ after it; (2) is that of [Glocker2001], with
// friction in both. The energy changes by
//
//   lam.(u- + u+) / 2                                                                                     (3)
//
// e = 0 never adds any. With friction and e > 0 (3) may be positive: all e are then multiplied by the largest
// number at which it is not. Rebounds that no motion has (parts that jam) count as e = 0.
#pragma once

#include "contacts/problem/solve_contacts.hpp"

SARRUS_BEGIN

constexpr int RESTITUTION_HALVINGS = 50;
constexpr double ENERGY_ROUNDED = 1e-13;  // of the energy that impulses take and give

struct Impact {
  ContactSolver solver;
  double *before, *e;      // (n) speeds before; (blocks) restitution of pushes
  double *first, *held;    // (n) impulses of the first part of (2), least pushes of the second
  double *radius, *total;  // (blocks) radii without those; (n) impulses in all
  double* after;           // (n) speeds after

  SARRUS_HD void bind(Arena& arena, int n, int d, int blocks) {
    solver.bind(arena, n, d, blocks);
    arena.take(n, before, first, held, total, after);
    arena.take(blocks, e, radius);
  }
};

// (1) with `part` of the coefficients
SARRUS_FN ContactFound newton_impact(Impact& x, double part, bool warm) {
  ContactProblem& p = x.solver.p;
  copy(p.b, x.before, p.n);
  auto rebound = [&](const ForceBlock& at, int k) {
    return at.kind == BlockKind::PUSH ? part * x.e[k] * smaller(x.before[at.row], 0.0) : 0;
  };
  for (int k = 0; k < p.blocks; ++k) p.b[p.block[k].row] += rebound(p.block[k], k);
  ContactFound found = solve_contacts(x.solver, warm);
  copy(x.total, p.lam, p.n);
  copy(x.after, p.u, p.n);
  for (int k = 0; k < p.blocks; ++k) x.after[p.block[k].row] -= rebound(p.block[k], k);
  return found;
}

// (2), from the impulses x.first and the speeds in x.after of its first part
SARRUS_FN ContactFound poisson_impact(Impact& x, double part, bool warm) {
  ContactProblem& p = x.solver.p;
  fill(x.held, p.n);
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (at.kind == BlockKind::PUSH) x.held[at.row] = part * x.e[k] * x.first[at.row];
  }
  for (int k = 0; k < p.blocks; ++k) {
    ForceBlock& at = p.block[k];
    x.radius[k] = at.fixed;
    if (at.push >= 0) at.fixed += at.share * x.held[at.push];
  }
  for (int i = 0; i < p.n; ++i)
    p.b[i] = x.before[i] + inner(p.W + i * p.n, x.first, p.n) + inner(p.W + i * p.n, x.held, p.n);
  ContactFound found = solve_contacts(x.solver, warm);
  copy(x.after, p.u, p.n);
  set_sum(x.total, x.first, x.held, p.n);
  add(x.total, p.lam, p.n);
  for (int k = 0; k < p.blocks; ++k) p.block[k].fixed = x.radius[k];
  return found;
}

// (3), and the sum of its terms without signs
struct ImpactEnergy {
  double change = 0, terms = 0;
  SARRUS_HD bool grows() const { return change > ENERGY_ROUNDED * terms; }
};
SARRUS_FN ImpactEnergy energy_of(const Impact& x) {
  ImpactEnergy sum;
  for (int i = 0; i < x.solver.p.n; ++i) {
    sum.change += x.total[i] * (x.before[i] + x.after[i]) / 2;
    sum.terms += abs_(x.total[i]) * (abs_(x.before[i]) + abs_(x.after[i])) / 2;
  }
  return sum;
}

// An impact with `part` of the coefficients; (2) needs its first part in x.first
SARRUS_FN ContactFound impact_with(Impact& x, Restitution law, double part, bool warm) {
  return law == Restitution::NEWTON || part == 0 ? newton_impact(x, part, warm)
                                                 : poisson_impact(x, part, warm);
}
SARRUS_FN ContactFound first_impact(Impact& x, Restitution law) {
  if (law == Restitution::NEWTON) return newton_impact(x, 1, false);
  ContactFound found = newton_impact(x, 0, false);
  copy(x.first, x.total, x.solver.p.n);
  return found.outcome == ContactOutcome::SOLVED ? poisson_impact(x, 1, true) : found;
}
SARRUS_HD bool fits(const Impact& x, const ContactFound& found) {
  return found.outcome == ContactOutcome::SOLVED && !energy_of(x).grows();
}

// The largest part of the coefficients with which an impact adds no energy, solved with it
SARRUS_FN ImpactFound reduced_impact(Impact& x, Restitution law, bool jams) {
  double used = 0, more = 1;
  for (int half = 0; !jams && half < RESTITUTION_HALVINGS; ++half) {
    double part = (used + more) / 2;
    (fits(x, impact_with(x, law, part, true)) ? used : more) = part;
  }
  ContactFound found = impact_with(x, law, used, !jams);
  return {found, used, energy_of(x).change};
}

// in: x.solver.p with A, B and the speeds before as b, x.e. out: x.total and x.after, scaled
SARRUS_FN ImpactFound solve_impact(Impact& x, Restitution law) {
  ContactProblem& p = x.solver.p;
  ContactOutcome outcome = prepare_contacts(x.solver);
  if (outcome != ContactOutcome::SOLVED) return {{outcome, 1, 0}, 0, 0};
  copy(x.before, p.b, p.n);
  bool rebounds = any_of(p.blocks, [&](int k) { return p.block[k].kind == BlockKind::PUSH && x.e[k] > 0; });
  ContactFound found = rebounds ? first_impact(x, law) : newton_impact(x, 0, false);
  if (!rebounds || fits(x, found)) return {found, 1, energy_of(x).change};
  return reduced_impact(x, law, found.outcome != ContactOutcome::SOLVED);
}

SARRUS_END
