// Batch loop of the projection onto the constraints.
#pragma once

#include "../strides.hpp"
#include "solve/search/nearest_state.hpp"
#include "tree_batches.hpp"

SARRUS_BEGIN
namespace {

// One state of a batch: rows at other poses, from the kernel and from the user.
template <class Work>
struct RowsAt {
  const ModelD& m;
  const ProjectOptions& o;
  const double *v, *drive;
  double* user;
  Work& w;

  void operator()(const double* q, bool positions) const {
    if (o.user_rows) o.user_rows(o.owner, q, v, user);
    State<double> x{q, v, drive, user};
    place(m, q, w.tree);
    move(m, v, w.tree);
    constraints(m, x, w.tree, w.ld, w.rows);
    leave_out_rows(m, positions, w);
  }
};

// w.M: the metric of state i, given or the inertia at q
template <class Work>
void set_metric(const ModelD& m, const double* q, const double* given, Work& w) {
  if (given) {
    for (int r = 0; r < m.nv; ++r) {
      fill(w.M + r * w.ld, w.ld);
      for (int j = 0; j < m.nv; ++j) w.M[r * w.ld + j] = given[r * m.nv + j];
    }
    return;
  }
  place(m, q, w.tree);
  weigh(m, w.tree, w.bodies.I);
  inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
}

template <class Work>
void project_one(const ModelD& m, const States& s, const ProjectOptions& o, long i, double* user, Work& w,
                 ProjectedArrays out) {
  const double *q = s.q + i * m.nq, *v = s.v + i * m.nv;
  for (int r = 0; r < m.nc; ++r) w.part[r] = o.part ? o.part[r] : int(CLOSE), w.kept[r] = 0;
  RowsAt<Work> rows{m, o, v, s.drive ? s.drive + i * 3 * m.nd : nullptr, user, w};
  set_metric(m, q, o.metric ? o.metric + i * m.nv * m.nv : nullptr, w);
  rows(q, true);
  for (int r = 0; r < m.nc; ++r) w.kept[r] = w.part[r] == KEPT ? w.rows.phi[r] : 0;
  leave_out_rows(m, true, w);
  out.gap[i] = position_residual(m, w);
  out.status[i] = nearest_state(m, q, v, rows, w);
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
