// What control asks of the kernel, straight from and to NumPy arrays: the functions of sarrus._kernel that
// need no mechanism. Their arguments come from our own code: shapes are checked, values are not.
#pragma once

#include "kernel.hpp"

namespace sarrus {

void open_control_door(nb::module_& m);

}  // namespace sarrus
