// Which mechanisms use the augmented inertia (factor/augmented_inertia.hpp), and in which order its rows are
// eliminated: an entry for every branch of the tree and every pair of columns of a row of J.
#pragma once

#include "solve/factor/augmented_inertia.hpp"

SARRUS_BEGIN

constexpr int LEAST_AUGMENTED = 33;        // coordinates: smaller mechanisms have strides of their own
constexpr int FEW_ROWS = 12, DEEP = 32;    // rows, and coordinates above one on average: factor/few_rows.hpp
constexpr long MOST_BRANCHES = 4'000'000;  // entries of M: longer chains have other means

SARRUS_FN bool augmented_pays(const auto& m) {
  if (m.nv < LEAST_AUGMENTED || m.nc == 0 || m.n_user_rows) return false;
  long branches = 0;
  each_branch(m, [&](int, int) { ++branches; });
  return branches <= MOST_BRANCHES;
}

// in: ints(n), memory of the plan for n integers; e, bound to the size of the model
template <class M, class Ints>
SARRUS_FN void plan_augmented(const M& m, Ints ints, EliminationOrder& e, FrontPlan& plan) {
  clear(e.graph, e.n * e.words);
  long branches = 0, pairs = 0;
  each_branch(m, [&](int k, int j) {
    connect(e, k, j);
    ++branches;
  });
  int* entry = ints(m.ne + m.nk + 1);
  plan.group_entry = entry;
  each_group(m, [&](int, int rows, const int* cols, int n) {
    *entry++ = plan.row_entries;
    plan.row_entries += rows * n;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < i; ++j) connect(e, cols[i], cols[j]);
    pairs += n * (n + 1) / 2;
    plan.widest = larger(n, plan.widest);
  });
  plan.branches = branches;
  plan.few_rows = m.nfl == 0 && m.nc <= FEW_ROWS && branches >= static_cast<long>(DEEP) * m.nv;
  minimum_degree(e);
  postorder(e);
  plan_fronts(e, ints, plan);
  int *inertia = ints(branches), *targets = ints(pairs);
  plan.inertia_target = inertia, plan.group_target = targets;
  each_branch(m, [&](int k, int j) { *inertia++ = place_of(e, plan, k, j); });
  each_group(m, [&](int, int, const int* cols, int n) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j) *targets++ = place_of(e, plan, cols[i], cols[j]);
  });
}

SARRUS_END
