// What a law in the kernel consists of, as dicts of numbers and arrays: for laws that are written as C++.
#pragma once

#include "law_setup.hpp"

namespace sarrus {

nb::dict tables_of(const ControlStep& s);
nb::dict tables_of(const ForceFeedbackState<double>& f);

}  // namespace sarrus
