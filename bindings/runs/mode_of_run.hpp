// The mode of a run: what ends it at a state, and how the next one begins there (kernels/integrate/modes).
#pragma once

#include "integrate/modes/mode_step.hpp"
#include "mode_forces.hpp"
#include "outside_steps.hpp"
#include "solve/contact/contact_mode.hpp"

SARRUS_BEGIN

// What a modal run works with, in one block of memory.
template <int LD>
struct ModalWork {
  ModeForces<LD> forces;
  Guards before, now, lower;
  double *q, *v, *room, *tau, *drive, *user, *wrenches;
  unsigned char *flags, *stops;
  signed char *changes, *touched;

  // slots: of surfaces that may touch
  ModalWork(const ModelD& m, const ModeTable& table, Arena& arena, int slots = 0) : forces(m, table, arena) {
    for (Guards* g : {&before, &now, &lower}) g->bind(arena, table, slots * SLOT_GUARDS);
    arena.take(m.nq, q);
    arena.take(forces.u.w.ld, v, room, tau);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
    arena.take(6 * m.nb, wrenches);
    arena.take(table.frictions, stops);
    arena.take(table.count, changes);
    arena.take(table.count + slots, touched);
    arena.take(2 * (table.count + table.frictions), flags);
  }
};

template <int LD>
struct ModeOfRun : Run {
  const ModelD& m;
  const ModePlan& plan;
  const ModeTable& table;
  Outside outside;
  int parameters;
  std::vector<double> numbers;  // of the mode, and of what a derived run knows behind it
  Mode mode;
  std::vector<char> memory;
  ModalWork<LD>* x = nullptr;
  ModeForces<LD>* f = nullptr;
  StepsInMode* inner = nullptr;
  std::vector<int> places;  // of the rows of the mode before
  StepStatus trouble = StepStatus::FINE;
  double speed = 0;  // the largest since the mode began
  int spent = 0;     // evaluations in modes before
  long changes = 0;
  ModeEntry entry;

  // within: what steps ask; slots, more: of surfaces that may touch, and numbers of their mode
  ModeOfRun(const ModelD& model, const ModePlan& given, const Options& options, const Outside& calls,
            const Outside& within, int slots = 0, int more = 0)
      : m(model), plan(given), table(given.table), outside(calls), parameters(m.nev + m.nk) {
    numbers.assign(mode_size(table, parameters) + more, 0.0);
    mode = mode_at(table, parameters, numbers.data());
    Arena measure(nullptr);
    ModalWork<LD> measured(m, table, measure, slots);
    memory.assign(measure.used + 4096, 0);
    Arena arena(memory.data() + (-reinterpret_cast<unsigned long long>(memory.data()) & 63));
    x = new ModalWork<LD>(m, table, arena, slots);
    f = &x->forces;
    std::copy_n(m.el_values, m.nev, mode.values);
    std::copy_n(m.k_offset, m.nk, mode.values + m.nev);
    f->rows.bearings = outside.bearings_slide;
    f->rows.direct(table, mode.direction);
    f->rows.choose(mode.values, [](int) { return true; });
    inner = make_steps(options, within);
    entry.touched = x->touched;
  }
  ~ModeOfRun() override {
    delete inner;
    delete x;
  }
  ModeOfRun(const ModeOfRun&) = delete;

  StepsInMode* make_steps(const Options& o, const Outside& within) {
    const ModelD& view = f->rows.view;
    if (outside.steps) return new RunOutside(view, *outside.steps);
    if (outside.acceleration && !o.method.implicit)
      return new SizedRun<0, Called<false, true>>(view, o, within);
    if constexpr (LD == 0) return make_steps_in_mode(view, o, within);
    return new SizedRun<LD, Called<false, false>>(view, o, within);
  }

  int mode_numbers() const override { return static_cast<int>(numbers.size()); }
  void store_mode(double* to) const override { std::copy(numbers.begin(), numbers.end(), to); }
  void load_mode(const double* from) override { std::copy_n(from, numbers.size(), numbers.begin()); }
  long mode_changes() const override { return changes; }
  ModeEntry mode_entry() const override { return entry; }

  bool fail(StepStatus why) {
    trouble = why;
    return false;
  }
  // Whether other rows act than before
  bool choose_rows() {
    const ActiveRows<double>& rows = f->rows;
    places.assign(rows.place, rows.place + m.nc);
    f->choose(mode);
    ++changes;
    spent += inner->state().evaluations;
    inner->rebuild();
    if (outside.mode_chosen) outside.mode_chosen(outside.context);
    return !std::equal(places.begin(), places.end(), rows.place);
  }

  // ---------------------------------------------------------------- what Python supplies

  // Drives and rows of the user at a state; x->tau stays
  State<double> ask(double t, const double* q, const double* v) {
    if (!outside.inputs || (!m.nd && !m.n_user_rows)) return {q, v, x->drive, x->user};
    std::copy_n(x->tau, m.nv, x->room);
    outside.inputs(outside.context, {t, q, v, ROWS_ONLY}, {x->tau, x->drive, x->user, nullptr, nullptr, 0});
    std::copy_n(x->room, m.nv, x->tau);
    return {q, v, x->drive, x->user};
  }
  // The applied force at a state, into x->tau
  bool ask_force(double t, int stage) {
    return !outside.inputs || outside.inputs(outside.context, {t, x->q, x->v, stage},
                                             {x->tau, x->drive, x->user, nullptr, nullptr, 0});
  }
  const double* ask_wrenches(double t, const State<double>& s) {
    if (!outside.wrenches || !m.n_user_rows || !f->u.by_load) return nullptr;
    outside.wrenches(outside.context, {t, s.q, s.v, 0}, x->wrenches);
    return x->wrenches;
  }

  // ---------------------------------------------------------------- what ends the mode

  // The guards at the state of the inner run
  virtual bool look_at_state(Guards& to) {
    RunState s = inner->state();
    inner->applied(x->tau);
    ReachedState reached = {ask(s.t, s.q, s.v), x->tau, nullptr, f->by_load, f->unique};
    if (needs_forces(table, mode) || !outside.bearings_slide) {
      if (!inner->multipliers(f->lam, f->unique)) f->find_multipliers(reached.at, s.a, s.tau);
      f->find_loads(reached.at, mode, s.a, ask_wrenches(s.t, reached.at));
      leave_out_loads();
      reached.lam = f->lam;
    }
    look(f->u, f->rows, reached, mode, x->flags, to);
    note_state(s);
    return true;
  }
  void note_state(const RunState& s) {
    speed = std::max(speed, largest_rate(m, s.v));
    note_speeds(table, mode, s.v);
  }

  // ---------------------------------------------------------------- how the next one begins

  // Friction by load of what slides, where `inputs` adds it, is no part of the applied force.
  void leave_out_loads() {
    for (int k = 0; !outside.bearings_slide && k < table.frictions; ++k)
      x->tau[table.coordinate[k]] += mode.direction[k] * f->by_load[k];
  }
  // in: the guards at the state
  virtual void take_state() {
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    inner->applied(x->tau);
    leave_out_loads();
  }
  // Settles the mode at time t and the state x->q, x->v under the force x->tau, and goes on from there.
  virtual bool settle_at(double t, bool starts, bool breaks) {
    if (!starts && too_many(t)) return fail(StepStatus::CHATTER);
    State<double> at = ask(t, x->q, x->v);
    f->u.outer = nullptr;
    if (const double* given = ask_wrenches(t, at)) {
      place(m, x->q, f->u.w.tree);
      f->take_wrenches(given);
    }
    std::vector<double> tau(x->tau, x->tau + m.nv);
    std::fill_n(x->touched, table.count, 0);
    Cause cause = {t, plan.dt, tau.data(), x->changes, x->touched, &entry.group, x->stops, starts, breaks};
    auto ask_again = [&] {
      if (ask_force(t, BETWEEN_STEPS)) std::copy_n(x->tau, m.nv, tau.begin());
    };
    StepStatus found =
        settle(f->u, Settled{x->q, x->v, at.drive, at.user}, cause, mode, x->room, x->flags, ask_again);
    clear_cause();
    if (found != StepStatus::FINE) return fail(found);
    return go_on(t, x->q, x->v, starts);
  }
  // From a state whose velocity is that of the new mode. A run through a singular pose keeps its rank while
  // only directions change.
  bool go_on(double t, const double* q, const double* v, bool starts) {
    History history = inner->history();
    bool anew = choose_rows() || starts || outside.steps || begins_anew();
    bool fine = anew ? inner->start(t, q, v, -1) : inner->restore({t, q, v, 0}, history, 0);
    if (!fine) return fail(inner->state().status);
    double change = 0;
    speed = std::max(largest_rate(m, v), speed);
    for (int j = 0; j < m.nv; ++j)
      change = std::max(change, std::abs(inner->state().v[j] - v[j]) / m.unit[j]);
    if (!starts && change > MOST_VELOCITY_CHANGE * larger(speed, LEAST_RATE))
      return fail(StepStatus::NO_MODE);
    speed = 0;
    find_held_rank();
    return look_at_state(x->before);
  }
  virtual bool begins_anew() const { return false; }  // the steps of each mode
  void find_held_rank() {
    bool any = false;
    for (int k = 0; k < table.frictions; ++k) any = any || f->holds(k);
    RunState s = inner->state();
    entry.held_rank = any ? s.rank - f->rank_without_held(ask(s.t, s.q, s.v), mode) : 0;
  }
  void clear_cause() {
    std::fill_n(x->changes, table.count, 0);
    std::fill_n(x->stops, table.frictions, 0);
  }
  bool too_many(double t) {
    if (t > mode.recent[1] + plan.dt || t < mode.recent[1]) mode.recent[0] = 0, mode.recent[1] = t;
    return ++mode.recent[0] > MOST_CHANGES;
  }
};

SARRUS_END
