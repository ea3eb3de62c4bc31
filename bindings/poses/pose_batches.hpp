// Batch loops over searches for poses.
#pragma once

#include "../scratch.hpp"
#include "pose_table.hpp"
#include "solve/redundant_rows.hpp"
#include "solve/search/sweep.hpp"

SARRUS_BEGIN
namespace {

// Rows of the constraints at any state, at the drives of one of the batch, into the workspace w.
struct RowsOf {
  const ModelD& m;
  const UserRows& rows;
  const double* drive;
  double* user;
  Workspace<double, 0>& w;

  void operator()(const double* q, const double* v) const {
    if (rows.at) rows.at(rows.owner, q, v, user);
    place(m, q, w.tree);
    move(m, v, w.tree);
    constraints(m, State<double>{q, v, drive, user}, w.tree, w.ld, w.rows);
  }
};

// use(i, rows, w) for each state, w.q there. The memory belongs to the call: functions of the user's may call
// the kernel themselves.
template <class Room, class Use>
void each_start(const ModelD& m, const States& s, const UserRows& rows, Use use) {
  struct Work : Room {
    double* user;
    Work(const ModelD& model, Arena& arena) : Room(model, arena) {
      arena.take(model.n_user_rows * (3 + model.nv), user);
    }
  };
  Arena measure(nullptr);
  Work measured(m, measure);
  Scratch own;
  Arena arena((rows.at ? own : scratch).need(measure.used + 64));
  Work w(m, arena);
  for (long i = 0; i < s.n; ++i) {
    for (int j = 0; j < m.nq; ++j) w.q[j] = s.q[i * m.nq + j];
    RowsOf at{m, rows, s.drive ? s.drive + i * 3 * m.nd : nullptr, w.user, w.w};
    use(i, at, static_cast<Room&>(w));
  }
}

Selected selected(const Closed& c) { return {c.rows, c.columns, c.n_rows, c.n_columns}; }

void store_closing(const ModelD& m, int n_rows, long i, const ClosingWork<double>& w, ClosingArrays out) {
  for (int j = 0; j < m.nq; ++j) out.q[i * m.nq + j] = w.q[j];
  for (int k = 0; k < n_rows; ++k) out.r[i * n_rows + k] = w.r[k];
}

void close_n(const ModelD& m, States s, UserRows user, Closed which, ClosingArrays out) {
  each_start<ClosingWork<double>>(m, s, user, [&](long i, const RowsOf& rows, ClosingWork<double>& w) {
    out.iterations[i] = close_rows(m, selected(which), [&](const double* q) { rows(q, w.v); }, w);
    store_closing(m, which.n_rows, i, w, out);
  });
}

void assemble_n(const ModelD& m, States s, UserRows user, Closed which, const double* patterns,
                ClosingArrays out) {
  using Work = AssemblyWork<double>;
  each_start<Work>(m, s, user, [&](long i, const RowsOf& rows, Work& w) {
    auto at = [&](const double* q) { rows(q, w.v); };
    out.iterations[i] = assemble(m, selected(which), at, patterns, w);
    store_closing(m, which.n_rows, i, w, out);
  });
}

void sweep_n(const ModelD& m, States s, UserRows user, const SweepPlan& plan, SweepArrays out) {
  using Work = SweepWork<double>;
  int n = plan.count, n_rows = plan.free.n_rows;
  SweptPath path{plan.index, plan.position, plan.n_swept,       nullptr,
                 plan.held,  plan.n_held,   selected(plan.free)};
  each_start<Work>(m, s, user, [&](long i, const RowsOf& rows, Work& w) {
    path.values = plan.values + i * n * plan.n_swept;
    for (int k = 0; k < plan.n_swept; ++k) w.q[path.position[k]] = path.values[k];
    assemble(m, path.free, [&](const double* q) { rows(q, w.v); }, plan.patterns, w);
    double* q = out.q + i * n * m.nq;
    for (int k = 0; k < n_rows; ++k) out.r[i * n_rows + k] = w.r[k];
    out.reached[i] = 0;
    if (is_closed(w.r, n_rows)) {
      out.reached[i] = sweep(m, path, rows, n, w, {q, out.singular + i * n, out.end + i});
    } else {
      for (int j = 0; j < m.nq; ++j) q[j] = w.q[j];
    }
  });
}

// Whether all rows beyond `rank` depend on others of their element here and nearby, seen without elimination
// in: rows evaluated in w
bool clearly_redundant(const ModelD& m, const State<double>& x, int rank, Tangent<double, 0>& d,
                       Workspace<double, 0>& w, double* v) {
  if (!m.fronts || m.nd) return false;
  Augmented<double>& a = w.factor.augmented;
  pack_rows(m, w.rows.J, w.ld, a);
  if (!choose_rows(m, a) || a.rank != rank) return false;
  general_motion(m, v);
  differentiate_rows(m, State<double>{x.q, v, x.drive, x.user}, d);
  return redundant_for_good(m, d, 1.0, a);
}

void loses_rank_n(const ModelD& m, States s, UserRows user, int given, unsigned char* yes) {
  struct Room {
    Workspace<double, 0> w;
    Tangent<double, 0> rates;
    SingularValues<double> d;
    RankLossRoom<double> loss;
    double *q, *v;
    Room(const ModelD& model, Arena& arena) : w(model, arena), rates(model, arena) {
      d.bind(arena, model.nc, model.nv);
      loss.bind(arena, model);
      arena.take(model.nq, q);
      arena.take(w.ld, v);
      if (arena.at) fill(v, w.ld);
    }
  };
  each_start<Room>(m, s, user, [&](long i, const RowsOf& rows, Room& r) {
    rows(r.q, r.v);
    auto at = [&](const double* v) { rows(r.q, v); };
    if (m.nv > MOST_SINGULAR_VALUES) {
      State<double> x{r.q, r.v, s.drive ? s.drive + i * 3 * m.nd : nullptr, nullptr};
      yes[i] = 0;
      if (given >= 0 && clearly_redundant(m, x, given, r.rates, r.w, r.loss.x)) return;
      if (m.sparse) r.w.factor.by_entries = BY_ENTRIES;
      factorize(m, r.w.rows.J, static_cast<const double*>(nullptr), r.w.ld, given, r.w.factor);
      if (r.w.factor.rank_rows < m.nc) complete(m, r.w.ld, r.w.factor);
      yes[i] = loses_rank_here(m, at, r.w, r.loss);
      return;
    }
    load_rows(m, r.w, r.d);
    int rank = decompose(r.d, m.nc, m.nv) ? r.d.rank(m.rank_tol[0]) : 0;
    if (given >= 0 && given < r.d.count) rank = given;
    yes[i] = loses_rank_here(m, at, r.d, rank, r.w, r.loss);
  });
}

}  // namespace
SARRUS_END
