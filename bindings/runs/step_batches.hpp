// Steps of a batch of states, each on its own (kernels/integrate/single_step.hpp).
#pragma once

#include <vector>

#include "../scratch.hpp"
#include "../strides.hpp"
#include "integrate/single_step.hpp"
#include "integrate/step_error.hpp"
#include "run.hpp"
#include "touch_watch.hpp"

SARRUS_BEGIN
namespace {

// The held force; drives and user rows from outside.
struct HeldForce {
  static constexpr bool supplies_inertia = false;
  static constexpr bool supplies_acceleration = false;
  const double* tau;
  const Outside& outside;

  bool inputs(const ModelD& m, const Instant<double>& at, const Supplied<double>& to) const {
    if (outside.inputs && !outside.inputs(outside.context, at, to)) return false;
    for (int j = 0; j < m.nv; ++j) to.tau[j] = tau[j];
    return true;
  }
  bool acceleration(const Instant<double>&, double*) const { return false; }
};

// A Stepper with its source and what its step loses; padding of rows is zero and stays zero.
template <int LD>
struct StepWork {
  HeldForce source;
  Stepper<double, LD, HeldForce> s;
  StepLoss<double> loss;
  TouchWatch touch;

  struct Problem {
    const ModelD& m;
    const StepCall& call;
  };
  StepWork(const Problem& p, Arena& arena)
      : source{nullptr, p.call.outside}, s(p.m, p.call.options, source, arena) {
    loss.bind(p.m, arena, s.w.ld);
    touch.bind(p.m, arena);
    if (p.m.sparse) s.w.factor.by_entries = BY_ENTRIES;
  }
  // To state i of a call
  void load(const States& x, const StepCall& call, long i, bool watches) {
    const ModelD& m = s.m;
    source.tau = call.tau + i * m.nv;
    for (int j = 0; j < m.nq; ++j) s.q1[j] = x.q[i * m.nq + j];
    for (int j = 0; j < m.nv; ++j) s.v1[j] = x.v[i * m.nv + j];
    s.status = StepStatus::FINE;
    s.end = 1e300;
    loss.error = 0;
    touch.touched = false, touch.watches = watches;
  }
  // Seen before and after each part of the step
  void begin(const auto& at) { loss.begin(at), touch.begin(at); }
  void end(auto& at) { loss.end(at), touch.end(at); }
};

// The sizes of the model that the memory of a thread was last used for: where they are the same, so are the
// places of all arrays, and their padding is zero already.
struct Stepped {
  std::vector<int> sizes;
  unsigned long long used = 0;
  bool same(const ModelD& m, unsigned long long bytes) {
    std::vector<int> now;
#define SARRUS_SIZE(name) now.push_back(m.name);
    SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
    bool yes = now == sizes && bytes == used;
    sizes = std::move(now), used = bytes;
    return yes;
  }
};
thread_local Stepped stepped;

void store_state(const ModelD& m, const RunState& x, long i, SteppedArrays out) {
  bool fine = x.status == StepStatus::FINE;
  out.status[i] = static_cast<int>(x.status);
  for (int j = 0; j < m.nq; ++j) out.q[i * m.nq + j] = fine ? x.q[j] : NAN;
  for (int j = 0; j < m.nv; ++j) out.v[i * m.nv + j] = fine ? x.v[j] : NAN;
}

// Methods that are implicit, at times: a run for each state.
void run_step_n(const ModelD& m, States x, const StepCall& call, SteppedArrays out) {
  HeldForce source{nullptr, call.outside};
  struct Context {
    const ModelD& m;
    HeldForce& source;
  } context{m, source};
  Outside outside;
  outside.context = &context;
  outside.inputs = [](void* c, const Instant<double>& at, const Supplied<double>& to) {
    auto& found = *static_cast<Context*>(c);
    return found.source.inputs(found.m, at, to);
  };
  Run* run = make_run(m, call.options, outside);
  for (long i = 0; i < x.n; ++i) {
    source.tau = call.tau + i * m.nv;
    double end = call.t + call.h, size = 0, steps = 0;
    bool fine = run->start(call.t, x.q + i * m.nq, x.v + i * m.nv, -1);
    while (fine && run->state().t < end) fine = run->step(size, end), size = run->state().step, ++steps;
    store_state(m, run->state(), i, out);
    out.error[i] = fine ? steps * call.options.rtol : NAN;  // what tolerances allow
  }
  delete run;
}

void step_n(const ModelD& m, States x, const StepCall& call, SteppedArrays out) {
  if (call.options.method.implicit) return run_step_n(m, x, call, out);
  sized(m, [&](auto ld) {
    using Work = StepWork<decltype(ld)::width>;
    typename Work::Problem problem{m, call};
    Arena measure(nullptr);
    Work measured(problem, measure);
    Scratch own;  // functions of the user's may take steps themselves
    bool shared = !call.outside.inputs;
    Scratch& memory = shared ? scratch : own;
    memory.need(measure.used + 64);
    if (!shared || !stepped.same(m, measure.used)) std::memset(memory.memory, 0, measure.used);
    Arena arena(memory.memory);
    Work work(problem, arena);
    auto& s = work.s;
    for (long i = 0; i < x.n; ++i) {
      if (s.status != StepStatus::FINE) std::memset(memory.memory, 0, measure.used);  // also what padding has
      work.load(x, call, i, out.touched != nullptr);
      bool fine =
          start_alone(s, call.t, call.h / call.parts) && steps_alone(s, call.t, call.h, call.parts, work);
      out.error[i] = fine ? work.loss.error : NAN;
      if (out.touched) out.touched[i] = work.touch.touched;
      if (s.status != StepStatus::FINE) stepped = {};
      store_state(m, {s.t, 0, 0, 0, 0, s.q, s.v, s.a, s.tau, s.rank, s.evaluations, s.status}, i, out);
    }
  });
}

}  // namespace
SARRUS_END
