// sarrus._kernel.Run: steps with the GIL released, keeps what was asked for, calls Python only through the
// callback slot.
#pragma once

#include <memory>
#include <vector>

#include "../kernel_object.hpp"

namespace sarrus {

void bind_run(nb::module_& m);

}  // namespace sarrus
