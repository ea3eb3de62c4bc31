// sarrus._kernel.StepResult: what one step of a control law found.
#pragma once

#include "../numpy.hpp"
#include "control/step_data.hpp"

#include <cstdlib>
#include <memory>
#include <new>

namespace sarrus {

namespace nb = nanobind;

struct Free {
  void operator()(void* memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, Free>;

inline Memory allocate(unsigned long long bytes) {
  Memory memory(std::aligned_alloc(64, (bytes + 127) / 64 * 64));
  if (!memory) throw std::bad_alloc();
  return memory;
}

// What one step found; arrays are views of its memory.
struct StepResult {
  Memory memory;
  ControlFound<double> f{};
  int nq, nv, nc, n;   // nc: all rows
  int all_limits;      // number of rows of limits
  int forces;          // number of regulated forces
  double seconds = 0;  // spent on limits
  double weight = 1;   // of this choice of the ranks in doubt
  nb::list others;     // results of the other choices
};

void bind_step_result(nb::module_& m);

}  // namespace sarrus
