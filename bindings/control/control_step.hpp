// sarrus._kernel.ControlStep: one step of a control law in one call.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void bind_control_step(nb::module_& m);

}  // namespace sarrus
