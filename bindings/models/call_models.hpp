// What the compilation of descriptions needs: poses, principal moments, whether everything has inertia.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void bind_models(nb::module_& m, nb::class_<Kernel>& kernel);

}  // namespace sarrus
