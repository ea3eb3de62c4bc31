// Runs with contacts of surfaces for one instruction set (SARRUS_ISA).
#include <memory>

#include "contact_steps.hpp"

SARRUS_BEGIN

Run* make_contact_run(const ModelD& m, const Options& o, ContactWay way, const Outside& outside, double dt) {
  if (way == ContactWay::STEPS) return new ContactSteps(m, o, outside, dt);
  return new ContactRun(m, o, outside, dt);
}

SARRUS_END
