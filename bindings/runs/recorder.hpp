// sarrus._kernel.Run: steps with the GIL released, records what was asked for, calls Python only through the
// callback slot. And what Python needs to describe a run: methods, options, statuses.
#pragma once

#include <limits>
#include <memory>
#include <vector>

#include "../kernel_object.hpp"

namespace sarrus {

struct RunOptions : Options {
  ContactWay contacts = ContactWay::IGNORED;
  bool sampled = false;  // inputs are asked for at the samples only: nothing but
                         // tau, held in between
  double sample_dt = std::numeric_limits<double>::infinity();  // infinite: at the start only
};

void bind_run_options(nb::module_& m);
void bind_run(nb::module_& m);
void bind_copies(nb::module_& m);
void bind_mode_plan(nb::module_& m);
const ModePlan& plan_of(nb::handle object);

}  // namespace sarrus
