#include "call_problem.hpp"

#include "../kernel_object.hpp"
#include "../numpy.hpp"
#include "../runs/recorder.hpp"

#include <vector>

namespace sarrus {

using namespace nb::literals;

namespace {

const char* word(ContactOutcome outcome) {
  const char* words[] = {"solved", "unsolved", "pressed", "painleve"};
  return words[static_cast<int>(outcome)];
}

// Arguments of both calls, checked. table (blocks, 4) int64: 0 push or 1 disc, first row, rows, row of the
// push or -1; limits (blocks, 2): share of the push, fixed radius
struct ProblemArguments {
  int n, d, blocks;
  Dense A, B, b, limits, restitution, start;
  std::vector<ForceBlock> block;

  ProblemArguments(nb::handle A_, nb::handle B_, nb::handle b_, nb::handle table, nb::handle limits_)
      : n(int(length_of(A_))),
        d(int(length_of(A_, 1))),
        blocks(int(length_of(table))),
        A(A_, "A", {n, d}),
        B(B_, "B", {n, d}),
        b(b_, "b", {n}),
        limits(limits_, "limits", {blocks, 2}) {
    const long long* x = data_of<long long>(table, {blocks, 4});
    if (!x) throw nb::value_error("`table` must be (blocks, 4), int64");
    for (int k = 0; k < blocks; ++k, x += 4) {
      bool fits = x[0] >= 0 && x[0] <= 1 && x[1] >= 0 && x[2] >= 1 && x[2] <= 2 && x[1] + x[2] <= n &&
                  x[3] >= -1 && x[3] < n;
      if (!fits) throw nb::value_error("`table` names rows that are not there");
      block.push_back({BlockKind(x[0]), int(x[1]), int(x[2]), int(x[3]), limits[2 * k], limits[2 * k + 1]});
    }
  }
  GivenProblem given(Restitution law) const {
    return {n, d, blocks, A, B, b, restitution, start, block.data(), law};
  }
};

nb::dict solve_problem(nb::handle A, nb::handle B, nb::handle b, nb::handle table, nb::handle limits,
                       nb::handle start) {
  ProblemArguments x(A, B, b, table, limits);
  std::vector<double> none(x.blocks, 0.0);
  x.start = Dense::or_none(start, "start", {x.n});
  GivenProblem given = x.given(Restitution::NEWTON);
  given.restitution = none.data();
  NewArray lam({x.n}), u({x.n});
  New<unsigned char> unique({x.n});
  ContactFound found = best_tables().problems.solve(given, {lam, u, unique});
  nb::dict out;
  out["outcome"] = word(found.outcome);
  out["residual"] = found.residual;
  out["steps"] = found.steps;
  out["lam"] = lam.object;
  out["u"] = u.object;
  out["unique"] = unique.object;
  return out;
}

nb::dict solve_impact_of(nb::handle A, nb::handle u, nb::handle table, nb::handle limits,
                         nb::handle restitution, bool poisson) {
  ProblemArguments x(A, A, u, table, limits);
  x.restitution = Dense(restitution, "restitution", {x.blocks});
  NewArray lam({x.n}), after({x.n});
  New<unsigned char> unique({x.n});
  ImpactFound found = best_tables().problems.impact(
      x.given(poisson ? Restitution::POISSON : Restitution::NEWTON), {lam, after, unique});
  nb::dict out;
  out["outcome"] = word(found.solution.outcome);
  out["residual"] = found.solution.residual;
  out["used"] = found.used;
  out["energy"] = found.energy;
  out["lam"] = lam.object;
  out["u"] = after.object;
  out["unique"] = unique.object;
  return out;
}

// (force (n, nslot, 3) on b, moment likewise, point of contact, slip (n, nslot, 3), which forces are unique (n, nslot), generalized force (n, nv),
// outcome (n,), residual (n,)) of n states q, v under tau in all; modes (n, nslot, numbers), None: by the law. plan, rows:
// the mode of all rows, or None: all act
nb::tuple contact_forces(const Kernel& k, nb::tuple states, nb::handle modes, nb::handle plan,
                         nb::handle rows) {
  npy_intp n = length_of(states[0]), nv = k.m.nv, slots = k.m.nslot;
  Dense q(states[0], "q", {n, k.m.nq}), v(states[1], "v", {n, nv}), tau(states[2], "tau", {n, nv});
  Dense drive(states[3], "drive", {n, k.m.nd, 3}), user(states[4], "user", {n, k.m.n_user_rows, 3 + nv});
  Dense numbers = Dense::or_none(modes, "modes", {n, slots, SLOT_NUMBERS});
  const ModeTable* table = plan.is_none() ? nullptr : &plan_of(plan).table;
  Dense mode = Dense::or_none(rows, "rows", {table ? mode_size(*table, k.m.nev + k.m.nk) : 0});
  NewArray force({n, slots, 3}), moment({n, slots, 3}), point({n, slots, 3}), slip({n, slots, 3}),
      generalized({n, nv}), residual({n});
  New<unsigned char> unique({n, slots});
  New<int> outcome({n});
  {
    nb::gil_scoped_release free;
    k.tables.problems.forces(k.m, {{int(n), q, v, drive, user}, tau, numbers, table, mode},
                             {force, moment, point, slip, unique, generalized, outcome, residual});
  }
  return nb::make_tuple(force, moment, point, slip, unique, generalized, outcome, residual);
}

}  // namespace

void bind_contact_problem(nb::module_& m) {
  m.def("contact_problem", &solve_problem, "A"_a, "B"_a, "b"_a, "table"_a, "limits"_a, "start"_a.none());
  m.def("contact_forces", &contact_forces, "kernel"_a, "states"_a, "modes"_a.none(),
        "plan"_a.none() = nb::none(), "rows"_a.none() = nb::none());
  m.attr("SLOT_NUMBERS") = SLOT_NUMBERS;
  m.attr("CONTACT_MODE_REST") = CONTACT_MODE_REST;
  m.def("contact_impact", &solve_impact_of, "A"_a, "u"_a, "table"_a, "limits"_a, "restitution"_a,
        "poisson"_a);
}

}  // namespace sarrus
