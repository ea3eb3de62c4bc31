// Searches for poses for one instruction set (SARRUS_ISA).
#include "pose_batches.hpp"
#include "rest_batches.hpp"

SARRUS_BEGIN

const PoseTable& pose_table() {
  static const PoseTable table = {
      .close = close_n,
      .assemble = assemble_n,
      .sweep = sweep_n,
      .equilibrium = equilibrium_n,
      .loses_rank = loses_rank_n,
  };
  return table;
}

SARRUS_END
