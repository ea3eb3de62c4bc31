// Batches for one instruction set (SARRUS_ISA).
#include "bearing_batches.hpp"
#include "centroidal_batches.hpp"
#include "constraint_batches.hpp"
#include "front_batches.hpp"
#include "linear_batches.hpp"
#include "project_batches.hpp"
#include "solve_batches.hpp"

SARRUS_BEGIN

const BatchTable& batch_table() {
#define SARRUS_FILL(name, ...) .name = name##_n,
  static const BatchTable table = {.stays_sparse = sparse,
                                   .plan_fronts = plan_model,
                                   .split_rows = split_rows_of,
                                   SARRUS_ORDINARY_CALLS(SARRUS_FILL) SARRUS_OTHER_CALLS(SARRUS_FILL)};
#undef SARRUS_FILL
  return table;
}

SARRUS_END
