// A control law with the memory of its steps, for laws that run without Python: law_step.hpp.
#pragma once

#include "control/control_step.hpp"
#include "control/law/law_tables.hpp"
#include "control/law/rank_choices.hpp"
#include "control/wrench_observer.hpp"
#include "solve/search/project_state.hpp"

SARRUS_BEGIN

// A law with the memory of its steps. LDC: stride of its matrices, 0 for one that is known at run time
template <int LDC>
struct Law {
  using Nearest = NearestWork<double, LDC>;

  // One control step: its setup, room for its work, for its results and for those of other ranks
  struct Step {
    ControlSetup<double> setup;
    char *work, *kept, *other_kept;
    int* hint_rows;
    double* along;
    Hints hints;

    Step(const ControlSetup<double>& given, const Model<double>& m, Arena& arena) : setup(given) {
      Arena results(nullptr), stages(nullptr);
      ControlFound<double> found{};
      setup.model = &m;
      bind_results(setup, results, found);
      ControlWork<double, LDC> w(setup, stages);
      measure_stages<double, LDC>(setup, stages);
      arena.take(int(stages.used + 64), work);
      arena.take(int(results.used + 64), kept, other_kept);
      arena.take(setup.limits.m + setup.n + m.nc + setup.limits.cones + 1, hint_rows);
      arena.take(2 * setup.limits.cones + 1, along);
      hints = {hint_rows, 0};
    }
    void forget() {
      hints.count = 0;
      fill(along, 2 * setup.limits.cones + 1);
    }
  };

  const LawTables& tables;
  Model<double> m;
  Step step, observer;
  Nearest nearest;
  Footing footing;
  ControlFound<double> found{};
  ForceFeedbackState<double> feedback{};
  ObserverState<double> seen{};
  unsigned char *rows, *given, *last_rows;
  bool some_rows, had_rows;
  double *targets, *desired, *last;       // (numbers), (p), inputs of the last step (nu)
  double *weights, *inputs;               // of all choices of ranks: x and u, (2, n) each
  double *x, *u;                          // selected (n)
  double *offset, *jump, *before;         // of a transition (n): now, at its beginning; x of the last step
  double *resistance, *starting;          // dry friction (nv)
  double *integrals, *at_start, *at_end;  // what the feedback of forces remembers: now, around a step
  double start, latest, began;            // times [s]: first, last, of a transition
  int rank, usual_rank;  // of the constraints: in the last step (-1: none yet), the largest so far
  bool fades;            // whether a transition is under way
  ControlStatus failed;  // why the last step failed

  Law(const LawTables& t, Arena& arena)
      : tables(t),
        m(t.model),
        step(t.setup, m, arena),
        observer(t.observer ? t.observer->setup : t.setup, m, arena),
        nearest(m, arena),
        footing(t.footing, m, arena) {
    int n = t.setup.n, p = t.setup.forces.p;
    arena.take(m.nc, rows, last_rows, seen.rows);
    arena.take(t.setup.outputs, given);
    arena.take(t.setup.numbers, targets);
    arena.take(p, desired);
    arena.take(t.nu, last);
    arena.take(MOST_CHOICES, weights);
    arena.take(2 * n * MOST_CHOICES, inputs);
    arena.take(n, x, u, offset, jump, before);
    arena.take(m.nv, resistance, starting);
    arena.take(3 * p + 1, integrals, at_start, at_end);
    arena.take(6 * n, seen.before.B, seen.after.B);
    if (arena.at) begin();
  }

  // As the law was built
  void begin() {
    const LawTables& t = tables;
    m.el_values = footing.values, m.k_offset = footing.values + m.nev;
    some_rows = t.rows != nullptr;
    for (int r = 0; r < m.nc; ++r) rows[r] = t.rows ? t.rows[r] : 1;
    for (int o = 0; o < t.setup.outputs; ++o) given[o] = 0;
    copy(targets, t.targets, t.setup.numbers);
    fill(last, t.nu);
    step.forget(), observer.forget();
    if (const ForceTables* f = t.forces) {
      int p = t.setup.forces.p;
      copy(desired, f->desired, p);
      feedback = {
          p,  f->kf, f->ki, f->inverse, f->cap, f->filter_time, integrals, integrals + p, integrals + 2 * p,
          NAN};
    }
    reset();
  }

  // Forgets the past: integrals, transitions, estimates, places
  void reset() {
    start = HUGE_VAL, latest = -HUGE_VAL, began = 0;
    rank = -1, usual_rank = some_rows ? 0 : tables.usual_rank, fades = false;
    fill(last, tables.nu);
    fill(integrals, 3 * tables.setup.forces.p);
    feedback.last = NAN;
    double *before = seen.before.B, *after = seen.after.B;
    unsigned char* held = seen.rows;
    seen = {};
    seen.before.B = before, seen.after.B = after, seen.rows = held;
    if (forget_places(tables.footing, tables.model, footing)) step.forget();
  }

  // Rows [first, first + count) hold from now on, or are open
  void hold(int first, int count, int holds) {
    for (int r = first; r < first + count; ++r) rows[r] = holds != 0;
    some_rows = any_of(m.nc, [&](int r) { return !rows[r]; });
    usual_rank = 0;
  }

  // The target of an output from now on
  void target(int output, const double* numbers, int count) {
    copy(targets + tables.setup.output[output].at, numbers, count);
    given[output] = 1;
  }

  // Desired values of regulated forces from now on
  void want_forces(const double* values) { copy(desired, values, tables.setup.forces.p); }

  const unsigned char* active() const { return some_rows ? rows : nullptr; }

  // The nearest state on the constraints of `part`, as ControlOwner asks for it
  static SARRUS_FN int project(void* self, const unsigned char* part, double* q, double* v) {
    Law& law = *static_cast<Law*>(self);
    double gap;
    if (law.m.sparse) law.nearest.factor.by_entries = BY_ENTRIES;
    int status = project_state(law.m, {q, v, nullptr, nullptr}, nullptr, {part}, law.nearest, gap);
    for (int j = 0; j < law.m.nq; ++j) q[j] = status == PROJECTED ? law.nearest.q1[j] : NAN;
    for (int j = 0; j < law.m.nv; ++j) v[j] = status == PROJECTED ? law.nearest.v[j] : NAN;
    return status;
  }

  ControlInput<double> question(double t, const double* q, const double* v) {
    ControlInput<double> in{};
    in.q = q, in.v = v, in.t = t, in.rows = active();
    in.owner.self = this, in.owner.project = project;
    return in;
  }
};

SARRUS_END
