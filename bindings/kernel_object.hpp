// One compiled mechanism: copies of the model's arrays, a view of them, and the functions of the kernel.
#pragma once

#include <nanobind/nanobind.h>

#include <vector>

#include "base/platform.hpp"
#include "tables.hpp"

namespace sarrus {

namespace nb = nanobind;

const Tables& best_tables();  // by what the processor offers; SARRUS_ISA in the environment overrides
void export_tolerances(nb::module_& m);
nb::list model_sizes();
nb::list model_fields();
nb::dict closure_angular();  // angular rows of closures by name
nb::dict nodes();            // primitive joints: name to (nq, nv)
nb::dict kinds();            // of elements and forces, by family and name: widths of their parameters

struct Kernel {
  ModelD m;
  const Tables& tables;
  std::vector<std::vector<double>> reals;
  std::vector<std::vector<int>> ints;

  Kernel(nb::dict sizes, nb::dict fields);
  Kernel(const Kernel&) = delete;
};

}  // namespace sarrus
