// What control asks of the kernel, straight from and to NumPy arrays: the functions of sarrus._kernel that
// need no mechanism. Their arguments come from our own code: shapes are checked, values are not.
#pragma once

#include "../kernel_object.hpp"

namespace sarrus {

void bind_control(nb::module_& m);

// (J', gamma') along v, (nc, nv) and (nc,), of a model without user rows
nb::tuple row_rates_of(const Kernel& k, nb::handle q, nb::handle v, nb::handle drive);

}  // namespace sarrus
