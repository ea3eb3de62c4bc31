// Derivatives of single steps for one instruction set (SARRUS_ISA).
#include "integrate/step_derivatives.hpp"

#include <cstring>
#include <vector>

#include "../scratch.hpp"
#include "run.hpp"

SARRUS_BEGIN
namespace {

using D = Dual<double, Pack<BLOCK>>;

// The held force along directions; drives from outside, which depend on time only.
struct HeldForce {
  static constexpr bool supplies_inertia = false;
  static constexpr bool supplies_acceleration = false;
  const D* tau;
  const Outside& outside;
  std::vector<double> drive;

  bool inputs(const ModelD& m, const Instant<D>& at, const Supplied<D>& to) {
    for (int j = 0; j < m.nv; ++j) to.tau[j] = tau[j];
    if (!outside.inputs) return true;
    Supplied<double> plain = {nullptr, drive.data(), nullptr, nullptr, nullptr, 0};
    if (!outside.inputs(outside.context, {at.t, nullptr, nullptr, at.stage}, plain)) return false;
    for (int k = 0; k < 3 * m.nd; ++k) to.drive[k] = D(drive[k]);
    return true;
  }
  bool acceleration(const Instant<D>&, D*) const { return false; }
};

struct Work {
  DifferentiatedStep<D, 0, HeldForce> step;

  struct Problem {
    const ModelD& m;
    const Options& options;
    HeldForce& source;
  };
  Work(const Problem& p, Arena& arena) : step(p.m, p.options, p.source, arena) {}
};

}  // namespace

void step_derivatives_n(const ModelD& m, States x, const StepCall& call, Held actuated, SlopeArrays out) {
  HeldForce source{nullptr, call.outside, std::vector<double>(3 * m.nd)};
  Work::Problem problem{m, call.options, source};
  Arena measure(nullptr);
  Work measured(problem, measure);
  Scratch memory;
  std::memset(memory.need(measure.used + 64), 0, measure.used);
  Arena arena(memory.memory);
  Work work(problem, arena);
  source.tau = work.step.tau;
  long n = 2 * m.nv, nu = actuated.count;
  for (long i = 0; i < x.n; ++i) {
    StepFrom<double> from = {x.q + i * m.nq, x.v + i * m.nv, call.tau + i * m.nv, call.t,
                             call.h,         call.parts,     actuated.index,      actuated.count};
    StepSlopes<double> to = {out.A + i * n * n, out.B + i * n * nu, out.q + i * m.nq, out.v + i * m.nv};
    bool fine = step_slopes(from, to, work.step);
    out.status[i] = static_cast<int>(work.step.s.status);
    if (fine) continue;
    std::memset(memory.memory, 0, measure.used);  // numbers that are not finite stay in padding
    std::fill_n(to.A, n * n, NAN), std::fill_n(to.B, n * nu, NAN);
    std::fill_n(to.q, m.nq, NAN), std::fill_n(to.v, m.nv, NAN);
  }
}

SARRUS_END
