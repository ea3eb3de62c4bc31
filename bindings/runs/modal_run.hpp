// A run whose mode changes: compiled steps in one mode, taken again to where it ends, and settled anew there.
#pragma once

#include "mode_of_run.hpp"

SARRUS_BEGIN

template <int LD>
struct ModalRun : ModeOfRun<LD> {
  using Base = ModeOfRun<LD>;
  using Base::m, Base::plan, Base::table, Base::outside, Base::mode, Base::x, Base::inner, Base::trouble,
      Base::speed, Base::fail, Base::look_at_state, Base::settle_at, Base::go_on, Base::too_many;
  std::vector<double> tail, q0, v0, a0;  // where the present step began
  double t0 = 0, size0 = 0;
  History history0;

  ModalRun(const ModelD& model, const ModePlan& given, const Options& options, const Outside& calls)
      : ModalRun(model, given, options, calls, calls) {}
  ModalRun(const ModelD& model, const ModePlan& given, const Options& options, const Outside& calls,
           const Outside& within, int slots = 0, int more = 0)
      : Base(model, given, options, calls, within, slots, more),
        tail(inner->tail_size()),
        q0(m.nq),
        v0(m.nv),
        a0(m.nv) {}

  // ---------------------------------------------------------------- the end of a mode

  // At the end of a mode, with the guards there: what has ended it
  virtual bool settle_end(const Guards& at) {
    bool breaks = at.load[0] < 0, again = false;
    for (int k = 0; k < table.frictions; ++k) x->stops[k] = at.stops(mode, k), again |= at.backwards(mode, k);
    if (again) return stick_again(at);
    end_mode();
    for (int g = 0; g < table.count; ++g) {
      breaks = breaks || at.push[g] < 0;
      x->changes[g] = !(at.gap[g] > 0);
    }
    return settle_at(inner->state().t, false, breaks);
  }
  void end_mode() {
    this->take_state();
    if (outside.mode_ends) outside.mode_ends(outside.context);
  }
  // Coordinates that began to slide and moved the other way stick: the step is as if it had not been tried.
  bool stick_again(const Guards& at) {
    for (int k = 0; k < table.frictions; ++k)
      if (at.backwards(mode, k)) mode.direction[k] = 0, mode.closed[table.count - table.frictions + k] = 1;
    if (too_many(t0)) return fail(StepStatus::CHATTER);
    mode.slack[0] = HESITANT;
    if (outside.back) outside.back(outside.context);
    this->clear_cause();
    std::fill_n(x->touched, table.count, 0);
    return go_on(t0, q0.data(), v0.data(), false);
  }
  // What is due at time t, unless the mode has it already; whether anything is
  bool schedule(double t) {
    bool due = false;
    for (const Scheduled& one : plan.schedule)
      if (same_time(one.t, t) && one.closes != (mode.closed[one.group] != 0))
        due = true, x->changes[one.group] = one.closes ? 1 : -1;
    return due;
  }
  // Whether it is still to come: what is due a rounding later may have been done
  bool is_ahead(const Scheduled& one) const {
    double now = inner->state().t;
    bool done = same_time(one.t, now) && one.closes == (mode.closed[one.group] != 0);
    return one.t > now && !done;
  }
  virtual bool switch_by_clock(double t) {
    if (!schedule(t)) return true;
    end_mode();
    return settle_at(t, false, false);
  }
  bool change_mode(const Instant<double>& at, const signed char* changes) override {
    std::copy_n(at.q, m.nq, x->q);
    std::copy_n(at.v, m.nv, x->v);
    std::copy_n(changes, table.count, x->changes);
    schedule(at.t);
    trouble = StepStatus::FINE;
    if (!this->ask_force(at.t, BETWEEN_STEPS)) return fail(StepStatus::STOPPED);
    return settle_at(at.t, false, false);
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
    return look_at_state(x->now);
  }
  // A place in the step, at whose ends no mode ends, where it may end; 1: none
  virtual double place_of_turning() {
    RunState s = inner->state();
    return turning_place(table, mode, StepEnds{v0.data(), a0.data(), s.v, s.a, s.t - t0});
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
  // After a step whose mode goes on
  virtual bool accept() {
    note_sliding(table, mode, x->now);
    std::copy_n(x->now.speed, x->now.n, x->before.speed);
    return true;
  }
  // The first time from which on the mode is another one, or t_end
  virtual double next_end(double t_end) {
    double end = t_end;
    for (const Scheduled& one : plan.schedule)
      if (is_ahead(one)) end = std::min(end, one.t);
    return end;
  }
  // Where no step could be taken: whether the mode ends instead
  virtual bool ends_instead() { return false; }
  // Whether the mode ends within the step that was taken, whose end has been looked at; the inner run is then
  // at a time at which it has ended. False also where steps failed (trouble).
  bool ends_within() {
    if (x->now.end(mode)) return true;
    double reached = inner->state().t, place = place_of_turning();
    if (place == 1) return false;
    if (!go_to(t0 + place * (reached - t0))) return false;
    return x->now.end(mode) || (go_to(reached) && x->now.end(mode));
  }
  bool step(double h, double t_end) override {
    mark();
    if (x->before.end(mode)) return settle_end(x->before);
    if (!inner->step(h, next_end(t_end))) return ends_instead() || fail(inner->state().status);
    if (!look_at_state(x->now)) return false;
    if (ends_within()) return locate() && settle_end(x->now);
    if (trouble != StepStatus::FINE || !accept()) return false;
    return switch_by_clock(inner->state().t);
  }

  // ---------------------------------------------------------------- the interface of a run

  bool start(double t, const double* q, const double* v, int) override {
    trouble = StepStatus::FINE;
    std::copy_n(q, m.nq, x->q);
    std::copy_n(v, m.nv, x->v);
    speed = 0;
    std::fill_n(x->tau, m.nv, 0.0);
    this->clear_cause();
    mode.recent[0] = 0, mode.recent[1] = t;
    if (!this->ask_force(t, 0)) return fail(StepStatus::STOPPED);
    return settle_at(t, true, false);
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    trouble = StepStatus::FINE;
    speed = 0;
    this->choose_rows();
    if (!inner->restore(at, history, step)) return fail(inner->state().status);
    this->find_held_rank();
    return look_at_state(x->before);
  }
  bool at_end_of_mode() const override { return x->before.end(mode); }
  RunState state() const override {
    RunState s = inner->state();
    if (trouble != StepStatus::FINE) s.status = trouble;
    s.evaluations += this->spent;
    return s;
  }
  void end_at(double) override {}  // guards need the acceleration of every state
  History history() const override { return inner->history(); }
  int tail_size() const override { return inner->tail_size(); }
  void store_tail(double* to) const override { inner->store_tail(to); }
  void load_tail(const double* from) override { inner->load_tail(from); }
};

SARRUS_END
