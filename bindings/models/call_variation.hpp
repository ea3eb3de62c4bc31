// Kernel.variation: derivatives of motions where the numbers of the model change, too.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void bind_variation(nb::class_<Kernel>& kernel);

}  // namespace sarrus
