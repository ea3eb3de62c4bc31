// The problems of control laws, instantiated for one instruction set. Solutions lie in the memory of the
// thread until its next call.
#pragma once

#include "../scratch.hpp"
#include "algebra/symmetric_eigenvalues.hpp"
#include "control/input_response.hpp"
#include "control/least_norm_inputs.hpp"
#include "control/limited_inputs.hpp"
#include "control/priority_levels.hpp"
#include "control_table.hpp"

SARRUS_BEGIN
namespace {

// solve(work) with memory for Work(problem, arena); returns what it returns
template <class Work, class Problem, class Solve>
auto with_work(const Problem& problem, Solve solve) {
  decltype(solve(*static_cast<Work*>(nullptr))) found{};
  with_arena([&](Arena& arena, bool ready) {
    Work w(problem, arena);
    if (ready) found = solve(w);
  });
  return found;
}

template <int LD>
ResponseStatus response_sized(const DenseTerms<double>& d, InputResponse<double>& out) {
  return with_work<ResponseWork<double, LD>>(d, [&](auto& w) { return respond_to_inputs(d, out, w); });
}

ResponseStatus response_1(const DenseTerms<double>& d, InputResponse<double>& out) {
  if (d.m.nv <= 8) return response_sized<8>(d, out);
  if (d.m.nv <= 16) return response_sized<16>(d, out);
  if (d.m.nv <= 24) return response_sized<24>(d, out);
  if (d.m.nv <= 32) return response_sized<32>(d, out);
  return response_sized<0>(d, out);
}

void row_rates_1(const Model<double>& m, const double* q, const double* v, const double* drive,
                 double* rate_J, double* rate_gamma) {
  with_work<Tangent<double, 0>>(m, [&](auto& d) {
    differentiate_rows(m, State<double>{q, v, drive, nullptr}, d);
    for (int r = 0; r < m.nc; ++r) {
      rate_gamma[r] = d.rate_gamma(r);
      for (int j = 0; j < m.nv; ++j) rate_J[r * m.nv + j] = d.rate_J(r, j);
    }
    return 0;
  });
}

LeastNormSolution<double> least_norm_1(const LeastNormProblem<double>& in) {
  return with_work<LeastNormWork<double>>(in, [&](auto& w) {
    least_norm_inputs(in, w);
    return w.found;
  });
}

ProgramSolution<double> program_1(const Program<double>& p) {
  return with_work<ProgramWork<double>>(p, [&](auto& w) { return solve_program(p, w); });
}

LimitedSolution<double> limited_1(const LimitedProblem<double>& in) {
  return with_work<LimitedWork<double>>(in, [&](auto& w) { return limited_inputs(in, w); });
}

bool controllable_1(const ControllableProblem<double>& in, ControllableBasis<double>& found) {
  return with_work<ControllableWork<double>>(in, [&](auto& w) {
    bool inertia = controllable_basis(in, w);
    found = w.found;
    return inertia;
  });
}

PrioritySolution<double> priorities_1(const PriorityProblem<double>& in) {
  return with_work<PriorityWork<double>>(in, [&](auto& w) {
    solve_priorities(in, w);
    return w.found;
  });
}

LevelSolution<double> level_1(const LevelProblem<double>& in) {
  return with_work<LevelWork<double>>(in, [&](auto& w) {
    split_level(in, w);
    return w.found;
  });
}

void input_rows_1(const MultiplierLimits<double>& in, const InputRows<double>& out) {
  rows_on_inputs(in, out);
}

void eigenvalues_1(double* A, int n, double* values, double* V) { eigenvalues(A, n, values, V); }

}  // namespace
SARRUS_END
