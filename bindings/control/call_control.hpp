// What control asks of the kernel, straight from and to NumPy arrays: the functions of sarrus._kernel that
// need no mechanism. Their arguments come from our own code: shapes are checked, values are not.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void bind_control(nb::module_& m);

}  // namespace sarrus
