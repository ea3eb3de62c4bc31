// One compiled mechanism: copies of the model's arrays, a view of them, and the functions of the kernel.
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <vector>

#include "base/platform.hpp"
#include "tables.hpp"

namespace sarrus {

namespace nb = nanobind;

const Tables& best_tables();  // by what the processor offers; SARRUS_ISA in the environment overrides
void export_constants(nb::module_& m);  // tolerances, and what Python reads of models and kinds

struct Kernel {
  ModelD m;
  const Tables& tables;
  std::vector<std::shared_ptr<void>> memory;  // of the arrays of m

  Kernel(nb::dict sizes, nb::dict fields);
  Kernel(const Kernel&) = delete;
};

}  // namespace sarrus
