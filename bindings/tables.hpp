// The kernel compiled for one instruction set, as tables of its functions by name.
#pragma once

#include "batches/batch_table.hpp"
#include "contacts/contact_table.hpp"
#include "contacts/problem_table.hpp"
#include "control/control_table.hpp"
#include "poses/pose_table.hpp"
#include "runs/gradient_table.hpp"
#include "runs/run_table.hpp"

namespace sarrus {

struct Tables {
  const char* isa;
  const BatchTable& batches;
  const PoseTable& poses;
  const RunTable& runs;
  const GradientTable& gradients;
  const ControlTable& control;
  const ContactTable& contacts;
  const ProblemTable& problems;
};

// Each instruction set defines these in its own namespace: variant.cpp in batches/, poses/, runs/, control/
// and contacts/, gradient_variant.cpp in runs/, problem_variant.cpp in contacts/.
#define SARRUS_DECLARE_TABLES(isa)       \
  namespace isa {                        \
  const BatchTable& batch_table();       \
  const PoseTable& pose_table();         \
  const RunTable& run_table();           \
  const GradientTable& gradient_table(); \
  const ControlTable& control_table();   \
  const ContactTable& contact_table();   \
  const ProblemTable& problem_table();   \
  }

}  // namespace sarrus
