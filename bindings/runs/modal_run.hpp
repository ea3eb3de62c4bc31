// A run whose mode changes (kernels/integrate/modes): compiled steps in one mode, settled anew where it ends.
#pragma once

#include <algorithm>
#include <vector>

#include "integrate/modes/mode_step.hpp"
#include "run.hpp"

SARRUS_BEGIN

// What a modal run works with, in one block of memory.
template <int LD>
struct ModalWork {
  ActiveRows<double> rows;  // of the mode
  Unilateral<LD> u;
  Guards before, now, lower;
  double *q, *v, *room, *tau, *drive, *user, *lam, *by_load;
  unsigned char *unique, *flags, *stops;
  signed char* changes;
  Spatial<double>* W;

  ModalWork(const ModelD& m, const ModeTable& table, Arena& arena) : u(m, table, arena) {
    rows.bind(m, arena);
    for (Guards* g : {&before, &now, &lower}) g->bind(arena, table);
    arena.take(m.nq, q);
    arena.take(u.w.ld, v, room, tau);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
    arena.take(m.nc, lam, unique, W);
    arena.take(table.frictions, by_load, stops);
    arena.take(table.count, changes);
    arena.take(2 * (table.count + table.frictions), flags);
  }
};

template <int LD>
struct ModalRun : Run {
  using Inner = SizedRun<LD, Called<false, false>>;
  const ModelD& m;
  const ModePlan& plan;
  const ModeTable& table;
  Outside outside;
  int parameters;
  std::vector<double> numbers, tail;
  Mode mode;
  std::vector<char> memory;
  ModalWork<LD>* x = nullptr;
  Inner* inner = nullptr;
  std::vector<int> places;  // of the rows of the mode before
  StepStatus trouble = StepStatus::FINE;
  std::vector<double> q0, v0, a0;  // where the present step began
  double speed = 0;                // the largest since the mode began
  double t0 = 0, size0 = 0;
  History history0;
  int spent = 0;  // evaluations in modes before
  long changes = 0;

  ModalRun(const ModelD& model, const ModePlan& given, const Options& options, const Outside& calls)
      : m(model), plan(given), table(given.table), outside(calls), parameters(m.nev + m.nk) {
    numbers.assign(mode_size(table, parameters), 0.0);
    mode = mode_at(table, parameters, numbers.data());
    Arena measure(nullptr);
    ModalWork<LD> measured(m, table, measure);
    memory.assign(measure.used + 4096, 0);
    Arena arena(memory.data() + (-reinterpret_cast<unsigned long long>(memory.data()) & 63));
    x = new ModalWork<LD>(m, table, arena);
    std::copy_n(m.el_values, m.nev, mode.values);
    std::copy_n(m.k_offset, m.nk, mode.values + m.nev);
    x->rows.direct(table, mode.direction);
    x->rows.choose(mode.values, [](int) { return true; });
    inner = new Inner(x->rows.view, options, outside);
    tail.resize(inner->tail_size());
    q0.resize(m.nq), v0.resize(m.nv), a0.resize(m.nv);
  }
  ~ModalRun() override {
    delete inner;
    delete x;
  }
  ModalRun(const ModalRun&) = delete;

  // ---------------------------------------------------------------- the mode

  int mode_numbers() const override { return static_cast<int>(numbers.size()); }
  void store_mode(double* to) const override { std::copy(numbers.begin(), numbers.end(), to); }
  void load_mode(const double* from) override { std::copy_n(from, numbers.size(), numbers.begin()); }

  long mode_changes() const override { return changes; }

  bool acts(int g) const { return mode.closed[g] != 0; }
  // Whether other rows act than before
  bool choose_rows() {
    int g = 0;
    places.assign(x->rows.place, x->rows.place + m.nc);
    x->rows.direct(table, mode.direction);
    x->rows.choose(mode.values, [&](int r) {
      while (table.groups[g].end <= r) ++g;
      return acts(g);
    });
    ++changes;
    spent += inner->state().evaluations;
    inner->rebuild();
    return !std::equal(places.begin(), places.end(), x->rows.place);
  }
  // Drives and rows of the user at a state
  State<double> ask(double t, const double* q, const double* v) {
    if (outside.inputs && (m.nd || m.n_user_rows))
      outside.inputs(outside.context, {t, q, v, ROWS_ONLY}, {x->tau, x->drive, x->user, nullptr, nullptr, 0});
    return {q, v, x->drive, x->user};
  }
  // The guards at the state of the inner run
  void look_at_state(Guards& to) {
    RunState s = inner->state();
    ReachedState reached = {ask(s.t, s.q, s.v), x->tau, nullptr, x->by_load, x->unique};
    bool forces = false;
    for (int g = 0; g < table.count; ++g)
      forces = forces || (acts(g) && (table.groups[g].kind == GroupKind::CONTACT ||
                                      table.groups[g].kind == GroupKind::HELD));
    if (forces) {
      inner->multipliers(x->lam, x->unique);
      std::fill_n(x->by_load, table.frictions, 0.0);
      if (x->u.by_load) inner->loads(table, x->lam, x->W, x->by_load);
      inner->applied(x->tau);
      reached.lam = x->lam;
    }
    look(x->u, x->rows, reached, mode, x->flags, to);
    speed = std::max(speed, largest_speed(m, s.v));
    for (int k = 0; k < table.frictions; ++k)
      mode.fastest[k] = std::max(mode.fastest[k], std::abs(s.v[table.coordinate[k]]));
  }
  // Settles the mode at time t and the state x->q, x->v, and goes on from there.
  bool settle_at(double t, bool starts, bool breaks) {
    if (!starts && too_many(t)) return fail(StepStatus::CHATTER);
    if (outside.inputs && starts)
      outside.inputs(outside.context, {t, x->q, x->v, 0}, {x->tau, x->drive, x->user, nullptr, nullptr, 0});
    State<double> at = ask_keeping_force(t);
    std::copy_n(x->tau, m.nv, x->room);
    std::vector<double> tau(x->tau, x->tau + m.nv);
    Cause cause = {t, plan.dt, tau.data(), x->changes, x->stops, starts, breaks};
    StepStatus found = settle(x->u, Settled{x->q, x->v, at.drive, at.user}, cause, mode, x->room, x->flags);
    clear_cause();
    if (found != StepStatus::FINE) return fail(found);
    return go_on(t, x->q, x->v, starts);
  }
  // From a state whose velocity is that of the new mode. A run through a singular pose keeps its rank while
  // only directions change.
  bool go_on(double t, const double* q, const double* v, bool starts) {
    History history = inner->history();
    bool anew = choose_rows() || starts;
    bool fine = anew ? inner->start(t, q, v, -1) : inner->restore({t, q, v, 0}, history, 0);
    if (!fine) return fail(inner->state().status);
    double change = 0;
    speed = std::max(largest_speed(m, v), speed);
    for (int j = 0; j < m.nv; ++j)
      change = std::max(change, std::abs(inner->state().v[j] - v[j]) / m.unit[j]);
    if (!starts && change > MOST_VELOCITY_CHANGE * speed) return fail(StepStatus::NO_MODE);
    speed = 0;
    look_at_state(x->before);
    return true;
  }
  State<double> ask_keeping_force(double t) {
    std::vector<double> tau(x->tau, x->tau + m.nv);
    State<double> at = ask(t, x->q, x->v);
    std::copy(tau.begin(), tau.end(), x->tau);
    return at;
  }
  void clear_cause() {
    std::fill_n(x->changes, table.count, 0);
    std::fill_n(x->stops, table.frictions, 0);
  }
  bool too_many(double t) {
    if (t > mode.recent[1] + plan.dt || t < mode.recent[1]) mode.recent[0] = 0, mode.recent[1] = t;
    return ++mode.recent[0] > MOST_CHANGES;
  }
  bool fail(StepStatus why) {
    trouble = why;
    return false;
  }
  void take_state() {
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    inner->applied(x->tau);
  }
  // At the end of a mode, with the guards there: what has ended it
  bool change_mode(const Guards& at) {
    take_state();
    bool breaks = false, again = false;
    for (int k = 0; k < table.frictions; ++k) x->stops[k] = at.stops(mode, k), again |= at.backwards(mode, k);
    if (again) return stick_again(at);
    breaks = at.load[0] < 0;
    for (int g = 0; g < table.count; ++g) {
      breaks = breaks || at.push[g] < 0;
      x->changes[g] = !(at.gap[g] > 0);
    }
    return settle_at(inner->state().t, false, breaks);
  }
  // Coordinates that began to slide and moved the other way stick: the step is as if it had not been tried.
  bool stick_again(const Guards& at) {
    for (int k = 0; k < table.frictions; ++k)
      if (at.backwards(mode, k)) mode.direction[k] = 0, mode.closed[table.count - table.frictions + k] = 1;
    if (too_many(t0)) return fail(StepStatus::CHATTER);
    mode.slack[0] = HESITANT;
    if (outside.back) outside.back(outside.context);
    clear_cause();
    return go_on(t0, q0.data(), v0.data(), false);
  }

  // ---------------------------------------------------------------- steps

  void mark() {
    RunState s = inner->state();
    t0 = s.t, size0 = s.step, history0 = inner->history();
    std::copy_n(s.q, m.nq, q0.begin());
    std::copy_n(s.v, m.nv, v0.begin());
    std::copy_n(s.a, m.nv, a0.begin());
    inner->store_tail(tail.data());
    if (outside.mark) outside.mark(outside.context);
  }
  // From the beginning of the present step to time t
  bool go_to(double t) {
    if (outside.back) outside.back(outside.context);
    bool fine = inner->restore({t0, q0.data(), v0.data(), 0}, history0, size0);
    inner->load_tail(tail.data());
    while (fine && inner->state().t < t) fine = inner->step(t - inner->state().t, t);
    if (!fine) return fail(inner->state().status);
    look_at_state(x->now);
    return true;
  }
  // A place in the step, whose end is fine, where a coordinate that slides may have turned round; 1: none
  double turning_place() {
    RunState s = inner->state();
    double h = s.t - t0;
    for (double place : PLACES)
      for (int k = 0; k < table.frictions; ++k) {
        int j = table.coordinate[k];
        double d = mode.direction[k];
        bool sure = d == 0 || mode.armed[k] == 0 || d * a0[j] > 0;  // a cubic overshoots where a grows
        if (!sure && d * cubic(v0[j], a0[j], s.v[j], s.a[j], h, place) <= 0) return place;
      }
    return 1;
  }
  // To the time within the step at which the mode ends; the state is at a time where it has ended.
  bool locate() {
    double end = inner->state().t;
    EndSearch search(t0, end, std::max(LOCATED * (end - t0), 4 * 2.2e-16 * std::abs(end)));
    std::copy_n(x->before.speed, x->before.n, x->lower.speed);
    Guards upper = x->now;
    std::vector<double> kept(x->now.speed, x->now.speed + x->now.n);
    auto keep = [&] { std::copy_n(x->now.speed, x->now.n, kept.begin()); };
    while (!search.found()) {
      std::copy(kept.begin(), kept.end(), x->now.speed);
      double t = search.next(first_zero(mode, x->lower, upper, search.lo, search.hi));
      if (!go_to(t)) return false;
      if (x->now.end(mode)) {
        search.hi = t;
        keep();
      } else {
        search.lo = t;
        std::copy_n(x->now.speed, x->now.n, x->lower.speed);
      }
    }
    return inner->state().t == search.hi || go_to(search.hi);
  }
  void accept() {
    for (int k = 0; k < table.frictions; ++k)
      if (x->now.speed[k] > 0 && mode.direction[k] != 0) mode.armed[k] = 1;
    std::copy_n(x->now.speed, x->now.n, x->before.speed);
  }
  bool switch_by_clock(double t) {
    bool due = false;
    for (const Scheduled& one : plan.schedule)
      if (one.t == t) due = true, x->changes[one.group] = one.closes ? 1 : -1;
    if (!due) return true;
    take_state();
    return settle_at(t, false, false);
  }
  bool step(double h, double t_end) override {
    if (x->before.end(mode) && !change_mode(x->before)) return false;
    double end = t_end;
    for (const Scheduled& one : plan.schedule)
      if (one.t > inner->state().t) end = std::min(end, one.t);
    mark();
    if (!inner->step(h, end)) return fail(inner->state().status);
    look_at_state(x->now);
    bool ended = x->now.end(mode);
    double reached = inner->state().t, place = ended ? 1 : turning_place();
    if (place < 1) {
      if (!go_to(t0 + place * (reached - t0))) return false;
      ended = x->now.end(mode);
      if (!ended && !go_to(reached)) return false;
    }
    if (ended) return locate() && change_mode(x->now);
    accept();
    return switch_by_clock(reached);
  }

  // ---------------------------------------------------------------- the interface of a run

  bool start(double t, const double* q, const double* v, int) override {
    trouble = StepStatus::FINE;
    std::copy_n(q, m.nq, x->q);
    std::copy_n(v, m.nv, x->v);
    speed = 0;
    std::fill_n(x->tau, m.nv, 0.0);
    clear_cause();
    mode.recent[0] = 0, mode.recent[1] = t;
    return settle_at(t, true, false);
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    trouble = StepStatus::FINE;
    choose_rows();
    if (!inner->restore(at, history, step)) return fail(inner->state().status);
    look_at_state(x->before);
    return true;
  }
  RunState state() const override {
    RunState s = inner->state();
    if (trouble != StepStatus::FINE) s.status = trouble;
    s.evaluations += spent;
    return s;
  }
  void end_at(double) override {}  // guards need the acceleration of every state
  History history() const override { return inner->history(); }
  int tail_size() const override { return inner->tail_size(); }
  void store_tail(double* to) const override { inner->store_tail(to); }
  void load_tail(const double* from) override { inner->load_tail(from); }
};

SARRUS_END
