// What control asks of the kernel, instantiated for one instruction set. Answers lie in the memory of the
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

template <int LD>
int respond_sized(const DenseTerms<double>& d, const AffineMaps<double>& out) {
  int how = 0;
  with_arena([&](Arena& arena, bool ready) {
    AffineWork<double, LD> w(d, arena);
    if (ready) how = affine_maps(d, out, w);
  });
  return how;
}

int respond_1(const DenseTerms<double>& d, const AffineMaps<double>& out) {
  if (d.m.nv <= 8) return respond_sized<8>(d, out);
  if (d.m.nv <= 16) return respond_sized<16>(d, out);
  if (d.m.nv <= 24) return respond_sized<24>(d, out);
  if (d.m.nv <= 32) return respond_sized<32>(d, out);
  return respond_sized<0>(d, out);
}

LeastFound<double> least_1(const Asked<double>& asked) {
  LeastFound<double> found;
  with_arena([&](Arena& arena, bool ready) {
    LeastWork<double> w(asked, arena);
    if (!ready) return;
    least_inputs(asked, w);
    found = w.found;
  });
  return found;
}

Answer<double> program_1(const Program<double>& p) {
  Answer<double> answer{};
  with_arena([&](Arena& arena, bool ready) {
    DualWork<double> w(p, arena);
    if (!ready) return;
    Solved how = solve_program(p, w);
    answer = {how, w.z, w.active, w.q, w.iterations};
  });
  return answer;
}

LimitedFound<double> limited_1(const Limited<double>& in) {
  LimitedFound<double> found{};
  with_arena([&](Arena& arena, bool ready) {
    LimitedWork<double> w(in, arena);
    if (ready) found = choose(in, w);
  });
  return found;
}

int reach_1(const ReachAsked<double>& in, ReachFound<double>& found) {
  int how = 0;
  with_arena([&](Arena& arena, bool ready) {
    ReachWork<double> w(in, arena);
    if (!ready) return;
    how = reach(in, w);
    found = w.found;
  });
  return how;
}

LevelsFound<double> levels_1(const LevelsAsked<double>& in) {
  LevelsFound<double> found{};
  with_arena([&](Arena& arena, bool ready) {
    LevelsWork<double> w(in, arena);
    if (!ready) return;
    descend(in, w);
    found = w.found;
  });
  return found;
}

void limit_rows_1(const LimitRows<double>& in, double* R, double* lower, double* upper, double* reserve) {
  rows_on_inputs(in, R, lower, upper, reserve);
}

void eigenvalues_1(double* A, int n, double* values, double* V) { eigenvalues(A, n, values, V); }

}  // namespace
SARRUS_END
