// One state projected onto the constraints, its rows from the kernel and from the user.
#pragma once

#include "solve/search/nearest_state.hpp"

SARRUS_BEGIN

// How to project: a value of Part for each row (nc) or null to close all, the metric (nv, nv) or null for the
// inertia, and the user's rows (n_user_rows, 3 + nv) at other states, asked of their owner.
struct ProjectHow {
  const unsigned char* part = nullptr;
  const double* metric = nullptr;
  void (*user_rows)(void* owner, const double* q, const double* v, double* rows) = nullptr;
  void* owner = nullptr;
};

// Rows at other poses
template <class Work>
struct RowsAt {
  const Model<double>& m;
  const ProjectHow& o;
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

// w.M: the metric, given or the inertia at q
template <class Work>
void set_metric(const Model<double>& m, const double* q, const double* given, Work& w) {
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

// The state in w.q1 and w.v where the result is PROJECTED; gap: largest |phi| of the given one, lengths
// over L   in: user, room for rows of the user
template <class Work>
Projected project_state(const Model<double>& m, const State<double>& x, double* user, const ProjectHow& o,
                        Work& w, double& gap) {
  for (int r = 0; r < m.nc; ++r) w.part[r] = o.part ? o.part[r] : int(CLOSE), w.kept[r] = 0;
  RowsAt<Work> rows{m, o, x.v, x.drive, user, w};
  set_metric(m, x.q, o.metric, w);
  rows(x.q, true);
  for (int r = 0; r < m.nc; ++r) w.kept[r] = w.part[r] == KEPT ? w.rows.phi[r] : 0;
  leave_out_rows(m, true, w);
  gap = position_residual(m, w);
  return nearest_state(m, x.q, x.v, rows, w);
}

SARRUS_END
