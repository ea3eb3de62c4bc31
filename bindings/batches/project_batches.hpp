// Batch loop of the projection onto the constraints.
#pragma once

#include "../strides.hpp"
#include "solve/search/project_state.hpp"
#include "tree_batches.hpp"

SARRUS_BEGIN
namespace {

template <class Work>
void project_one(const ModelD& m, const States& s, const ProjectOptions& o, long i, double* user, Work& w,
                 ProjectedArrays out) {
  const ProjectHow one{o.part, o.metric ? o.metric + i * m.nv * m.nv : nullptr, o.user_rows, o.owner};
  const State<double> x{s.q + i * m.nq, s.v + i * m.nv, s.drive ? s.drive + i * 3 * m.nd : nullptr, nullptr};
  out.status[i] = project_state(m, x, user, one, w, out.gap[i]);
  bool found = out.status[i] == PROJECTED;
  for (int j = 0; j < m.nq; ++j) out.q[i * m.nq + j] = found ? w.q1[j] : NAN;
  for (int j = 0; j < m.nv; ++j) out.v[i * m.nv + j] = found ? w.v[j] : NAN;
}

// The memory belongs to the call: functions of the user's may call the kernel themselves.
void project_n(const ModelD& m, States s, const ProjectOptions& o, ProjectedArrays out) {
  sized(m, [&](auto ld) {
    using Work = NearestWork<double, decltype(ld)::width>;
    struct WithUser : Work {
      double* user;
      WithUser(const ModelD& model, Arena& arena) : Work(model, arena) {
        arena.take(model.n_user_rows * (3 + model.nv), user);
      }
    };
    Arena measure(nullptr);
    WithUser measured(m, measure);
    Scratch own;
    Arena arena(own.need(measure.used + 64));
    WithUser w(m, arena);
    if (m.sparse) w.factor.by_entries = BY_ENTRIES;
    for (long i = 0; i < s.n; ++i) project_one<Work>(m, s, o, i, w.user, w, out);
  });
}

}  // namespace
SARRUS_END
