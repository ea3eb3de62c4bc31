#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void bind_tracer(nb::module_& m, nb::class_<Kernel>& kernel);

}  // namespace sarrus
