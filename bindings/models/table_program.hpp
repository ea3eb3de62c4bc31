// TableProgram: the arrays of a model as a function of the numbers that its description was given. The calls
// of the description are recorded once (sarrus/varied.py); the instructions run for each variant.
#pragma once

#include <nanobind/nanobind.h>

namespace sarrus {

void bind_table_program(nanobind::module_& m);

}  // namespace sarrus
