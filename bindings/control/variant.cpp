// Control for one instruction set (SARRUS_ISA).
#include "solvers.hpp"

SARRUS_BEGIN

const ControlTable& control_table() {
  static const ControlTable table = {
      .respond = respond_1,
      .least = least_1,
      .program = program_1,
      .limited = limited_1,
      .reach = reach_1,
      .levels = levels_1,
      .limit_rows = limit_rows_1,
      .eigenvalues = eigenvalues_1,
  };
  return table;
}

SARRUS_END
