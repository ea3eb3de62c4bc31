// Runs with contacts of surfaces for one instruction set (SARRUS_ISA).
#include <memory>

#include "contact_steps.hpp"

SARRUS_BEGIN

Run* make_contact_run(const ModelD& m, const ModePlan* plan, const Options& o, ContactWay way,
                      const Outside& outside) {
  if (way == ContactWay::STEPS) return new ContactSteps(m, plan, o, outside);
  return new ContactRun(m, *plan, o, outside);
}

SARRUS_END
