// Runs with contacts of surfaces for one instruction set (SARRUS_ISA).
#include <memory>

#include "contact_run.hpp"

SARRUS_BEGIN

Run* make_contact_run(const ModelD& m, const Options& o, const Outside& outside, double dt) {
  return new ContactRun(m, o, outside, dt);
}

SARRUS_END
