// Contact problems for one instruction set (SARRUS_ISA).
#include "../scratch.hpp"
#include "contact_force_batches.hpp"
#include "contacts/problem/impact.hpp"
#include "contacts/problem/least_forces.hpp"
#include "problem_table.hpp"

SARRUS_BEGIN
namespace {

struct ProblemWork {
  Impact impact;
  LeastForces least;

  ProblemWork(const GivenProblem& g, Arena& arena) {
    impact.bind(arena, g.n, g.d, g.blocks);
    least.bind(arena, g.n, g.d);
  }
};

void take(const GivenProblem& g, ProblemWork& w) {
  ContactProblem& p = w.impact.solver.p;
  p.n = g.n, p.d = g.d, p.blocks = g.blocks;
  copy(p.A, g.A, g.n * g.d);
  copy(p.B, g.B, g.n * g.d);
  copy(p.b, g.b, g.n);
  for (int k = 0; k < g.blocks; ++k) p.block[k] = g.block[k], w.impact.e[k] = g.restitution[k];
}
// lam and u without scales
void give(const ContactProblem& p, const double* lam, const double* u, const LeastForces& least,
          const SolvedProblem& out) {
  for (int i = 0; i < p.n; ++i) {
    out.lam[i] = lam[i] * p.scale[i];
    out.u[i] = p.scale[i] > 0 ? u[i] / p.scale[i] : p.b[i];
    out.unique[i] = least.unique[i];
  }
}

ContactFound solve(const GivenProblem& g, const SolvedProblem& out) {
  return with_work<ProblemWork>(g, [&](ProblemWork& w) {
    ContactSolver& s = w.impact.solver;
    ContactProblem& p = s.p;
    take(g, w);
    fill(p.lam, p.n);
    fill(p.u, p.n);
    fill(w.least.unique, p.n);
    ContactOutcome outcome = prepare_contacts(s);
    if (outcome != ContactOutcome::SOLVED) return ContactFound{outcome, 1, 0};
    for (int i = 0; g.start && i < p.n; ++i) p.lam[i] = p.scale[i] > 0 ? g.start[i] / p.scale[i] : 0;
    ContactFound found = solve_contacts(s, g.start != nullptr);
    if (found.outcome == ContactOutcome::SOLVED) find_least_forces(p, w.least);
    give(p, p.lam, p.u, w.least, out);
    return found;
  });
}

ImpactFound impact(const GivenProblem& g, const SolvedProblem& out) {
  return with_work<ProblemWork>(g, [&](ProblemWork& w) {
    Impact& x = w.impact;
    take(g, w);
    fill(x.total, g.n);
    fill(x.after, g.n);
    fill(w.least.unique, g.n);
    ImpactFound found = solve_impact(x, g.law);
    if (found.solution.outcome != ContactOutcome::SOLVED) return found;
    bool one_problem = g.law == Restitution::NEWTON || found.used == 0;
    find_least_forces(x.solver.p, w.least);
    if (one_problem) copy(x.total, x.solver.p.lam, g.n);
    give(x.solver.p, x.total, x.after, w.least, out);
    return found;
  });
}

}  // namespace

const ProblemTable& problem_table() {
  static const ProblemTable table = {.solve = solve, .impact = impact, .forces = contact_forces_n};
  return table;
}

SARRUS_END
