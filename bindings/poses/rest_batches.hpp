// Batch loop over searches for equilibria.
#pragma once

#include "derivatives/equilibrium.hpp"
#include "pose_batches.hpp"

SARRUS_BEGIN
namespace {

struct RestRoom : EquilibriumWork<double> {
  double* user;
  RestRoom(const ModelD& m, int n_u, Arena& arena) : EquilibriumWork<double>(m, n_u, arena) {
    arena.take(m.n_user_rows * (3 + m.nv), user);
  }
};

// From closed poses. The memory belongs to the call, as in each_start.
void equilibrium_n(const ModelD& m, States s, UserRows user, const RestPlan& plan, RestArrays out) {
  Arena measure(nullptr);
  RestRoom measured(m, plan.n_u, measure);
  Scratch own;
  Arena arena((user.at ? own : scratch).need(measure.used + 64));
  RestRoom w(m, plan.n_u, arena);
  for (long i = 0; i < s.n; ++i) {
    const double* drive = s.drive ? s.drive + i * 3 * m.nd : nullptr;
    RowsOf rows{m, user, drive, w.user, w.w};
    auto state = [&](const double* q) {
      if (user.at) user.at(user.owner, q, w.v, w.user);
      return State<double>{q, w.v, drive, w.user};
    };
    RestProblem<double> p = {
        plan.tau + i * m.nv, plan.u + i * plan.n_u,  plan.actuated,         plan.held,     plan.n_u,
        plan.n_held,         selected(plan.closing), selected(plan.moving), plan.patterns, m.n_user_rows > 0};
    for (int j = 0; j < m.nq; ++j) w.at[j] = s.q[i * m.nq + j];
    RestStatus status = AT_REST;
    out.ends[2 * i] = find_rest(m, p, rows, state, status, w);
    out.ends[2 * i + 1] = status;
    out.residual[i] = status == AT_REST ? unbalanced(m, w) : NAN;
    for (int j = 0; j < m.nq; ++j) out.q[i * m.nq + j] = w.at[j];
    for (int k = 0; k < plan.n_u; ++k) out.u[i * plan.n_u + k] = w.u[k];
    for (int j = 0; j < m.nv; ++j) out.a[i * m.nv + j] = w.a[j];
  }
}

}  // namespace
SARRUS_END
