// Runs for one instruction set (SARRUS_ISA).
#include "run.hpp"

#include "../strides.hpp"
#include "integrate/linear_feedback.hpp"
#include "integrate/step_error.hpp"
#include "modal_run.hpp"
#include "step_batches.hpp"

SARRUS_BEGIN

Run* make_contact_run(const ModelD& m, const ModePlan* plan, const Options& o, ContactWay way,
                      const Outside& outside);

Run* make_run(const ModelD& m, const Options& o, const Outside& outside) {
  bool accelerations = outside.acceleration && !o.method.implicit;
  if (outside.supplies_inertia && accelerations) return new SizedRun<0, Called<true, true>>(m, o, outside);
  if (outside.supplies_inertia) return new SizedRun<0, Called<true, false>>(m, o, outside);
  if (accelerations) return new SizedRun<0, Called<false, true>>(m, o, outside);
  return make_steps_in_mode(m, o, outside);
}
StepsInMode* make_steps_in_mode(const ModelD& m, const Options& o, const Outside& outside) {
  return sized(m, [&](auto ld) -> StepsInMode* {
    return new SizedRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
  });
}

namespace {

Run* make_modal(const ModelD& m, const ModePlan& plan, const Options& o, const Outside& outside) {
  return sized(m, [&](auto ld) -> Run* { return new ModalRun<decltype(ld)::width>(m, plan, o, outside); });
}

void friction(const ModelD& m, const ModePlan& plan, const double* mode, const StatesInMode& x,
              const FrictionArrays& out) {
  sized(m, [&](auto ld) { friction_in_mode<decltype(ld)::width>(m, plan, mode, x, out); });
}

void friction_at(const ModelD& m, const ModePlan& plan, const double* mode, const StatesInMode& x,
                 const FrictionAtStates& out) {
  sized(m, [&](auto ld) { friction_of_states<decltype(ld)::width>(m, plan, mode, x, out); });
}

void feedback(const ModelD& m, FeedbackLaw law, FeedbackState x, double* room, double* u) {
  apply_feedback(m, LinearFeedback<double>{law.K, law.q, law.v, law.u}, x.nu,
                 State<double>{x.q, x.v, nullptr, nullptr}, room, u);
}

Reached reached(const ReachedStates& x) {
  return {{x.q[0], x.q[1], x.q[2]}, {x.v[0], x.v[1], x.v[2]}, {x.a[0], x.a[1], x.a[2]}, x.h};
}
StepError missing(const ModelD& m, const ReachedStates& x, double* room) {
  Lost lost = missing_in_two_steps(m, reached(x), room);
  return {lost.moved, lost.faster};
}
double missing_in_one(const ModelD& m, const ReachedStates& x) { return missing_in_one_step(m, reached(x)); }

}  // namespace

const RunTable& run_table() {
  static const RunTable table = {.make = make_run,
                                 .make_modal = make_modal,
                                 .make_contacts = make_contact_run,
                                 .friction_in_mode = friction,
                                 .friction_of_states = friction_at,
                                 .step = step_n,
                                 .step_derivatives = step_derivatives_n,
                                 .make_lanes = make_lanes,
                                 .make_modal_lanes = make_modal_lanes,
                                 .make_contact_lanes = make_contact_lanes,
                                 .feedback = feedback,
                                 .missing = missing,
                                 .missing_in_one = missing_in_one};
  return table;
}

SARRUS_END
