// Contact points of surfaces, as methods of Queries, and what a description asks of pairs of shapes.
#pragma once

#include "../queries/arguments.hpp"

namespace sarrus {

void bind_contacts(nb::module_& m, nb::class_<Queries>& queries);

}  // namespace sarrus
