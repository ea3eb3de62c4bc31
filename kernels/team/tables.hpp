// Steps of one copy by a *team*: some threads of a device that share memory, each of which does a part of
// every loop. A team has
//
//   each(n, f)   f(i) for i from 0 to n - 1, in any order and at the same time; then all see what was written
//   most(n, f)   the largest f(i), at least 0, for all of the team; NaN where one is
//   any(x)       whether x holds for some team that runs in step with this one
//   rounds(updates, width, begin, end, f)   f(update, may_invert) for those of a round, round after round;
//                may_invert.value: whether its number is even, so that it may have reciprocals
//
// What a loop writes is read after it only. So a team of one thread, in any order of i, computes the same
// numbers: tests run teams of the processor.
//
// TeamTables say in which order a mechanism's parts come. They are data: the code is that of all mechanisms.
#pragma once

#include "base/vectors.hpp"
#include "tree/fields.hpp"

SARRUS_BEGIN

// x[to] -= x[a] x[b] x[d], or x[to] = 1 / x[a] where d is the largest Index; see team/elimination.hpp.
// Indices count bytes.
template <class Index>
struct alignas(4 * sizeof(Index)) Update {
  Index to, a, b, d;
};

// X(name, number of entries), integers
// clang-format off
#define SARRUS_TEAM_SIZES(X) \
  X(levels) /* of nodes by their distance from the ground */ \
  X(shares) /* of levels, in which no two nodes have the same parent */ \
  X(branches) /* entries of M on and below its diagonal */ \
  X(kept_entries) /* of J, of the rows that are kept */ \
  X(unknowns) /* nv, then one for each row that is kept */ X(entries) /* of the factor, at least as many as inertias of nodes have, and as J has rows */ \
  X(width) /* updates of a round */ X(factor_rounds) X(back_rounds) X(solve_rounds) \
  X(newton_steps)
#define SARRUS_TEAM_FIELDS(X) \
  /* nodes but the ground, level after level, and their parents */ \
  X(level_begin, t.levels + 1) X(share_begin, t.shares + 1) X(level_node, m.nn - 1) X(level_parent, m.nn - 1) \
  X(node_of, m.nv) \
  /* of entries M_kj: k, the column j, and where the entry goes; where the diagonal lies */ \
  X(branch_of, t.branches) X(branch_column, t.branches) X(branch_place, t.branches) X(diagonal, m.nv) \
  /* rows that are kept; of their entries: the row, where they come from, where they go, their columns */ \
  X(kept_row, t.unknowns - m.nv) X(kept_begin, t.unknowns - m.nv + 1) X(kept_of, t.kept_entries) \
  X(kept_source, t.kept_entries) X(kept_place, t.kept_entries) X(kept_column, t.kept_entries) \
  /* whether a position is an angle of which sines and cosines alone matter */ \
  X(turning, m.nq)
// clang-format on

// Sources of entries of J: the wrench of a row along the axis of a coordinate, against it, a coordinate that
// moves neither body, or coupling source - COUPLED
constexpr int ALONG = 0, AGAINST = 1, MOVED = 2, COUPLED = 3;

template <class R, class Index>
struct TeamTables {
#define SARRUS_SIZE(name) int name = 0;
  SARRUS_TEAM_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(name, count) const int* name = nullptr;
  SARRUS_TEAM_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
  // rounds of the factorization, of its back substitution, of a solution
  const Update<Index>* updates = nullptr;
  R pivot_part = 0;          // smallest pivot of J over the measure of elimination.hpp, at one pose
  R closed = 0, enough = 0;  // residual that counts as closed; times so much, where rounding allows no better
  R off = 0, dropped = 0;  // what velocities, and accelerations of rows that are left out, may miss, relative
  R rounding = 0;          // of residuals, for each unit of q
  bool turns = false;      // whether some position is `turning`
  bool tested = false;     // near misses are looked for
};

// sizes and indices: as in SARRUS_TEAM_SIZES and SARRUS_TEAM_FIELDS, one behind the other; limits (6): the
// numbers from `pivot_part` on
template <class R, class Index>
SARRUS_HD TeamTables<R, Index> tables_of(const Model<R>& m, const int* sizes, const int* indices,
                                         const R* limits, const Update<Index>* updates) {
  TeamTables<R, Index> t;
#define SARRUS_SIZE(name) t.name = *sizes++;
  SARRUS_TEAM_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(name, count) t.name = indices, indices += count;
  SARRUS_TEAM_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
  t.updates = updates;
  t.pivot_part = limits[0], t.closed = limits[1], t.enough = limits[2];
  t.off = limits[3], t.dropped = limits[4], t.rounding = limits[5];
  for (int j = 0; j < m.nq; ++j) t.turns = t.turns || t.turning[j];
  t.tested = m.nc > 0 && all_of(m.nc, [&](int r) { return m.row_holonomic[r] != 0; });
  return t;
}

SARRUS_END
