// sarrus._kernel.contact_problem and contact_impact: one contact problem, from its matrices.
#pragma once

#include <nanobind/nanobind.h>

namespace sarrus {

void bind_contact_problem(nanobind::module_& m);

}  // namespace sarrus
