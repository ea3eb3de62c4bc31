// Control for one instruction set (SARRUS_ISA).
#include "solvers.hpp"

SARRUS_BEGIN

const ControlTable& control_table() {
  static const ControlTable table = {
      .response = response_1,
      .row_rates = row_rates_1,
      .least_norm = least_norm_1,
      .program = program_1,
      .limited = limited_1,
      .controllable = controllable_1,
      .priorities = priorities_1,
      .level = level_1,
      .input_rows = input_rows_1,
      .eigenvalues = eigenvalues_1,
  };
  return table;
}

SARRUS_END
