// Runs for one instruction set (SARRUS_ISA).
#include "run.hpp"

#include "../strides.hpp"
#include "integrate/linear_feedback.hpp"
#include "step_batches.hpp"

SARRUS_BEGIN

Run* make_run(const ModelD& m, const Options& o, const Outside& outside) {
  bool accelerations = outside.acceleration && !o.method.implicit;
  if (outside.supplies_inertia && accelerations) return new SizedRun<0, Called<true, true>>(m, o, outside);
  if (outside.supplies_inertia) return new SizedRun<0, Called<true, false>>(m, o, outside);
  if (accelerations) return new SizedRun<0, Called<false, true>>(m, o, outside);
  return sized(m, [&](auto ld) -> Run* {
    return new SizedRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
  });
}

namespace {

void feedback(const ModelD& m, FeedbackLaw law, FeedbackState x, double* room, double* u) {
  apply_feedback(m, LinearFeedback<double>{law.K, law.q, law.v, law.u}, x.nu,
                 State<double>{x.q, x.v, nullptr, nullptr}, room, u);
}

}  // namespace

const RunTable& run_table() {
  static const RunTable table = {.make = make_run,
                                 .step = step_n,
                                 .step_derivatives = step_derivatives_n,
                                 .make_lanes = make_lanes,
                                 .feedback = feedback};
  return table;
}

SARRUS_END
