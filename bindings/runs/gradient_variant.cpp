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
  double* forces;  // (nv)

  struct Problem {
    const ModelD& m;
    const Tableau& tableau;
  };
  GradientWork(const Problem& p, Arena& arena) : s(p.m, p.tableau, arena) { arena.take(p.m.nv, forces); }
};

template <int LD>
void sweep_states(const ModelD& m, States x, const StepCall& call, Held actuated, GradientArrays out) {
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
    out.swept[i] = step_gradient(at, work.s, out.q + i * m.nq, out.v + i * m.nv, work.forces);
    for (int k = 0; k < actuated.count; ++k) out.u[i * actuated.count + k] = work.forces[actuated.index[k]];
    // numbers that are not finite would stay in padding
    if (!out.swept[i]) std::memset(memory.memory, 0, measure.used);
  }
}

void step_gradient_n(const ModelD& m, States x, const StepCall& call, Held actuated, GradientArrays out) {
  if (call.parts != 1 || !may_sweep(m, call.options.method)) {
    std::fill_n(out.swept, x.n, 0);
    return;
  }
  sized(m, [&](auto ld) { sweep_states<decltype(ld)::width>(m, x, call, actuated, out); });
}

}  // namespace

const GradientTable& gradient_table() {
  static const GradientTable table = {.step_gradient = step_gradient_n};
  return table;
}

SARRUS_END
