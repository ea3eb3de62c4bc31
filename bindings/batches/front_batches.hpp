// The order of elimination of the augmented inertia, once per model.
#pragma once

#include <new>

#include "../scratch.hpp"
#include "batch_table.hpp"
#include "solve/factor/augmented_plan.hpp"

SARRUS_BEGIN
namespace {

struct OrderWork : EliminationOrder {
  OrderWork(const ModelD& m, Arena& arena) { bind(arena, m.nv); }
};

const FrontPlan* plan_model(const ModelD& m, const ModelMemory& memory) {
  if (!augmented_pays(m)) return nullptr;
  auto* plan = new (memory.take(memory.owner, sizeof(FrontPlan) / sizeof(int) + 1)) FrontPlan();
  with_work<OrderWork>(m, [&](OrderWork& e) {
    plan_augmented(m, [&](size_t n) { return memory.take(memory.owner, n); }, e, *plan);
    return 0;
  });
  return plan;
}

}  // namespace
SARRUS_END
