// A run of fixed steps in which surfaces touch, slide, stick and rebound, and nothing is located.
//
// Each step is that of the run without contacts, in the mode at its beginning. Where the mode has ended at its
// end, contacts are settled there: of order 1 across changes, of the order of the method between them.
#pragma once

#include "contact_run.hpp"
#include "integrate/contacts/pass_watch.hpp"

SARRUS_BEGIN

struct ContactSteps : ContactRun {
  static constexpr int MOST_MOVES = 8;
  static constexpr double ROUNDED = 1e-12;  // of L: what corrections move inside by more is moved out, too
  std::vector<double> moved, force;
  std::vector<char> room;  // of pass
  PassWatch pass;
  bool stepped = false;  // the settled state is the end of a step
  bool known = false;    // a mode was loaded
  bool inside = false;   // what was hit could not be moved apart

  ContactSteps(const ModelD& model, const Options& options, const Outside& calls, double often)
      : ContactRun(model, options, calls, often), moved(model.nq), force(model.nv) {
    Arena measure(nullptr);
    pass.bind(m, measure);
    room.assign(measure.used + 128, 0);
    Arena arena(room.data() + (-reinterpret_cast<unsigned long long>(room.data()) & 63));
    pass.bind(m, arena);
  }

  // Slots that are closed or inside each other meet by positions alone, loops kept
  bool meet(double t) override {
    take_depths();
    for (int j = 0; j < m.nv; ++j) force[j] = applied[j] + (closed() ? x->x.Q[j] : 0);
    if (any_of(m.nslot, [&](int k) { return x->settler.deep[k] > 0; }))
      rewind_to_touch(x->x, here(), modes(), x->settler.deep, force.data(), x->v);
    for (int round = 0; round < MOST_MOVES; ++round) {
      auto meets = [&](int k) {
        x->hits[k] = x->hits[k] || gap(k) < -std::max(modes()[k].margin, ROUNDED * m.length[0]);
        return modes()[k].state != SLOT_OPEN || (x->hits[k] && gap(k) < 0);
      };
      if (!move_onto(x->x, here(), modes(), meets, moved.data())) break;
      RunState s = inner->state();
      if (!inner->restore({t, moved.data(), x->v, 0}, inner->history(), s.step))
        return fail(inner->state().status);
      s = inner->state();
      std::copy_n(s.q, m.nq, x->q);
      std::copy_n(s.v, m.nv, x->v);
    }
    inside = any_of(m.nslot, [&](int k) { return x->hits[k] && gap(k) < -NOT_INSIDE * m.length[0]; });
    return true;
  }
  bool settle_step(const ContactGuards& at) {
    if (!settle_end(at)) return false;
    return !inside || fail(StepStatus::OPEN_GAP);
  }
  double gap(int k) const { return in_use(x->x.c.slot[k]) ? x->x.c.slot[k].gap : 0; }
  // How far what has come inside within this step is inside; what corrections have moved inside has no depth
  void take_depths() {
    for (int k = 0; k < m.nslot; ++k)
      x->settler.deep[k] = stepped && x->hits[k] ? std::max(0.0, -gap(k) - modes()[k].margin) : 0;
  }
  // In the mode that is loaded, or with all slots open: they close where surfaces touch
  bool start(double t, const double* q, const double* v, int rank) override {
    trouble = StepStatus::FINE;
    speed = 0, stepped = false, x->settler.flight = 0;
    recent()[0] = 0, recent()[1] = t;
    from_time(t);
    x->settler.touches = known ? 0 : CONTACT_TOUCHES;
    std::fill_n(x->stops, 3 * m.nslot, 0);
    if (!inner->start(t, q, v, rank)) return fail(inner->state().status);
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    place(m, x->q, x->x.c.w.tree);
    if (!find_slots(x->x.c)) return fail(StepStatus::NO_MODE);
    double deepest = 0, touches = CONTACT_TOUCHES * m.length[0];
    for (int k = 0; k < m.nslot; ++k) {
      SlotMode& mode = modes()[k];
      if (gap(k) > touches) mode.state = SLOT_OPEN;
      x->hits[k] = gap(k) < -mode.margin;
      deepest = std::max(deepest, -gap(k));
    }
    if (deepest > MOST_INSIDE * m.length[0]) return fail(StepStatus::OPEN_GAP);
    if (!meet(t) || (inside && !fail(StepStatus::OPEN_GAP)) || !settle_at(t)) return false;
    x->settler.touches = CONTACT_TOUCHES;
    return true;
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    trouble = StepStatus::FINE;
    from_time(at.t);
    x->settler.touches = CONTACT_TOUCHES;
    ++changes;
    if (outside.mode_chosen) outside.mode_chosen(outside.context);
    if (!inner->restore(at, history, step)) return fail(inner->state().status);
    return look_at_state(x->before);
  }
  // The mode, with the largest speed so far behind its slots. Times are those from its state on.
  int mode_numbers() const override { return m.nslot * SLOT_NUMBERS + CONTACT_STEP_REST; }
  void store_mode(double* to) const override {
    double* rest = std::copy_n(numbers.begin(), m.nslot * SLOT_NUMBERS, to);
    *rest++ = speed;
    std::copy(numbers.begin() + m.nslot * SLOT_NUMBERS, numbers.end(), rest);
    for (int k = 0; k < m.nslot; ++k) reinterpret_cast<SlotMode*>(to)[k].until -= inner->state().t;
  }
  void load_mode(const double* from) override {
    long slots = m.nslot * SLOT_NUMBERS;
    std::copy_n(from, slots, numbers.begin());
    speed = from[slots];
    std::copy_n(from + slots + 1, CONTACT_MODE_REST, numbers.begin() + slots);
    known = any_of(mode_numbers(), [&](int i) { return from[i] != 0; });
  }
  void from_time(double t) {
    for (int k = 0; k < m.nslot; ++k) modes()[k].until += t;
  }
  // Where surfaces have come inside each other on the way: back to there. False: steps failed
  bool stop_at_pass() {
    RunState s = inner->state();
    double h = s.t - t0, part = pass.first(m, {q0.data(), v0.data(), s.q, s.v, h}, modes());
    if (part == 1) return true;
    x->settler.flight = part * h;
    return go_to(t0 + part * h);
  }
  static constexpr double MOST_INSIDE = 1e-2;  // of L: a start that is further inside is refused
  bool step(double h, double t_end) override {
    mark();
    x->settler.flight = h, stepped = false;
    if (x->before.ends()) return settle_step(x->before);
    if (!inner->step(h, t_end)) return fail(inner->state().status);
    if (!look_at_state(x->now)) return false;
    stepped = true;
    if (!stop_at_pass()) return false;
    return x->now.ends() || rebounds_over(inner->state().t) ? settle_step(x->now) : accept();
  }
};

SARRUS_END
