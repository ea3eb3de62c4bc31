// Control for one instruction set (SARRUS_ISA). Solutions lie in the memory of the thread until its next call.
#include "../scratch.hpp"
#include "../strides.hpp"
#include "algebra/symmetric_eigenvalues.hpp"
#include "control/control_step.hpp"
#include "control/priority_levels.hpp"
#include "control/wrench_observer.hpp"
#include "control_table.hpp"

SARRUS_BEGIN
namespace {

// A solver of the kernel with the memory that it works in.
template <class Work, auto solve, class Problem, class... More>
auto solved(const Problem& problem, More&... more) {
  return with_work<Work>(problem, [&](Work& w) { return solve(problem, more..., w); });
}

template <int LD>
constexpr auto response = solved<ResponseWork<double, LD>, respond_to_inputs<double, LD>, DenseTerms<double>,
                                 InputResponse<double>>;

ResponseStatus response_1(const DenseTerms<double>& d, InputResponse<double>& out) {
  if (d.m.nv <= 8) return response<8>(d, out);
  if (d.m.nv <= 16) return response<16>(d, out);
  if (d.m.nv <= 24) return response<24>(d, out);
  if (d.m.nv <= 32) return response<32>(d, out);
  return response<0>(d, out);
}

ProgramSolution<double> cone_program(const Program<double>& p, const Cones<double>& cones) {
  Arena measure(nullptr);
  ConeWork<double> measured(p.n, p.m, cones.count, measure);
  Arena arena(scratch.need(measure.used + 64));
  ConeWork<double> work(p.n, p.m, cones.count, arena);
  return solve_cone_program(p, cones, work);
}

ControlMemory step_memory(const ControlSetup<double>& s) {
  Arena kept(nullptr), work(nullptr);
  ControlFound<double> found{};
  bind_results(s, kept, found);
  sized(*s.model, [&](auto ld) {
    constexpr int LD = decltype(ld)::width;
    ControlWork<double, LD> w(s, work);
    measure_stages<double, LD>(s, work);
  });
  return {work.used + 64, kept.used + 64};
}

void step_1(const ControlSetup<double>& s, const ControlInput<double>& in, ControlFound<double>& found,
            void* work, void* kept) {
  Arena results(kept);
  bind_results(s, results, found);
  sized(*s.model, [&](auto ld) { control_step<double, decltype(ld)::width>(s, in, found, Arena(work)); });
}

void inputs_1(const ControlSetup<double>& s, const ControlInput<double>& in, ControlFound<double>& found,
              void* work) {
  control_inputs(s, in, found, Arena(work));
}

bool displacement_1(const ControlSetup<double>& s, const ControlInput<double>& in, void* work,
                    double* wrench) {
  return sized(*s.model, [&](auto ld) {
    return displacement_wrench<double, decltype(ld)::width>(s, in, Arena(work), wrench);
  });
}

void observe_1(const ControlSetup<double>& s, const ControlInput<double>& in, const ObserverSetup<double>& o,
               const ObserverInput<double>& given, ObserverState<double>& state, ControlFound<double>& found,
               void* work, void* kept) {
  Arena results(kept);
  bind_results(s, results, found);
  sized(*s.model,
        [&](auto ld) { observe<double, decltype(ld)::width>(s, in, o, given, state, found, Arena(work)); });
}

}  // namespace

const ControlTable& control_table() {
  static const ControlTable table = {
      .step_memory = step_memory,
      .step = step_1,
      .inputs = inputs_1,
      .displacement = displacement_1,
      .observe = observe_1,
      .settle_step = settle_forces<double>,
      .command = command<double>,
      .settle = settle<double>,
      .response = response_1,
      .least_norm = solved<LeastNormWork<double>, least_norm_inputs<double>>,
      .program = solved<ProgramWork<double>, solve_program<double>>,
      .cone_program = cone_program,
      .limited = solved<LimitedWork<double>, limited_inputs<double>>,
      .controllable = solved<ControllableWork<double>, controllable_basis<double>>,
      .priorities = solved<PriorityWork<double>, solve_priorities<double>>,
      .level = solved<LevelWork<double>, split_level<double>>,
      .eigenvalues = eigenvalues<double>,
  };
  return table;
}

SARRUS_END
