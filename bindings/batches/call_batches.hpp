// The functions of states of sarrus._kernel.Kernel. Each takes a batch, arrays whose first axis numbers the
// states, or one state: q, v, forces and results are then without that axis.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void import_numpy();
void bind_batches(nb::class_<Kernel>& kernel);

}  // namespace sarrus
