// Gradients through single steps, as a table of functions (kernels/integrate/step_gradient.hpp).
#pragma once

#include "run_table.hpp"

namespace sarrus {

// Gradients by the state after a step, q (nq) and v (nv); those by the state and the actuated forces before
// it, and whether they were found.
struct GradientArrays {
  const double *end_q, *end_v;
  double *q, *v, *u;
  unsigned char* swept;
};

struct GradientTable {
  void (*step_gradient)(const ModelD&, States, const StepCall&, Held actuated, GradientArrays);
};

}  // namespace sarrus
