// Gradients through single steps for one instruction set (SARRUS_ISA).
#include "integrate/step_gradient.hpp"

#include <algorithm>
#include <cstring>

#include "../scratch.hpp"
#include "../strides.hpp"
#include "gradient_table.hpp"

SARRUS_BEGIN
namespace {

template <int LD>
struct GradientWork {
  StepGradient<double, LD> s;

  struct Problem {
    const ModelD& m;
    const Tableau& tableau;
  };
  GradientWork(const Problem& p, Arena& arena) : s(p.m, p.tableau, arena) {}
};

template <int LD>
void sweep_states(const ModelD& m, States x, const StepCall& call, GradientArrays out) {
  using Work = GradientWork<LD>;
  typename Work::Problem problem{m, call.options.method.tableau};
  Arena measure(nullptr);
  Work measured(problem, measure);
  Scratch& memory = scratch;
  std::memset(memory.need(measure.used + 64), 0, measure.used);
  Arena arena(memory.memory);
  Work work(problem, arena);
  for (long i = 0; i < x.n; ++i) {
    GradientAt<double> at = {x.q + i * m.nq, x.v + i * m.nv,       call.tau + i * m.nv,
                             call.h,         out.end_q + i * m.nq, out.end_v + i * m.nv};
    out.swept[i] = step_gradient(at, work.s, out.q + i * m.nv, out.v + i * m.nv, out.tau + i * m.nv);
    if (!out.swept[i])
      std::memset(memory.memory, 0, measure.used);  // numbers that are not finite stay in padding
  }
}

void step_gradient_n(const ModelD& m, States x, const StepCall& call, GradientArrays out) {
  if (call.parts != 1 || !may_sweep(m, call.options.method)) {
    std::fill_n(out.swept, x.n, 0);
    return;
  }
  sized(m, [&](auto ld) { sweep_states<decltype(ld)::width>(m, x, call, out); });
}

}  // namespace

const GradientTable& gradient_table() {
  static const GradientTable table = {.step_gradient = step_gradient_n};
  return table;
}

SARRUS_END
