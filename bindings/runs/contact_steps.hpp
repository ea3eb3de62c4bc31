// A run of fixed steps in which surfaces touch, slide, stick and rebound, and nothing is located.
//
// Each step is that of the run without contacts, in the mode at its beginning. Where the mode has ended at its
// end, contacts are settled there: of order 1 across changes, of the order of the method between them.
#pragma once

#include "contact_run.hpp"
#include "integrate/contacts/pass_watch.hpp"

SARRUS_BEGIN

// A plan in which all rows of a model act
struct AllRows {
  ModePlan plan;
  explicit AllRows(const ModelD& m) {
    plan.groups.push_back({0, m.nc, GroupKind::ALWAYS, 0, 1, false});
    plan.table = {1, 0, plan.groups.data(), nullptr};
  }
};

struct ContactSteps : private AllRows, ContactRun {
  static constexpr int MOST_MOVES = 8;
  static constexpr double ROUNDED = 1e-12;     // of L: what corrections move inside by more is moved out, too
  static constexpr double MOST_INSIDE = 1e-2;  // of L: a start that is further inside is refused
  std::vector<double> moved, force;
  std::vector<char> room_of_pass;
  PassWatch pass;
  const int skipped;     // numbers of a mode that are not stored: without a plan, those of rows
  bool stepped = false;  // the settled state is the end of a step
  bool known = false;    // a mode was loaded
  bool inside = false;   // what was hit could not be moved apart

  ContactSteps(const ModelD& model, const ModePlan* given, const Options& options, const Outside& calls)
      : AllRows(model),
        ContactRun(model, given ? *given : AllRows::plan, options, calls),
        moved(model.nq),
        force(model.nv),
        skipped(given ? 0 : mode_size(table, parameters)) {
    Arena measure(nullptr);
    pass.bind(m, measure);
    room_of_pass.assign(measure.used + 128, 0);
    Arena arena(room_of_pass.data() + (-reinterpret_cast<unsigned long long>(room_of_pass.data()) & 63));
    pass.bind(m, arena);
    if (!given) mode.closed[0] = 1;
  }

  // Slots that are closed or inside each other meet by positions alone, loops kept
  bool meet(double t) override {
    ContactMotion<0>& motion = surf->motion;
    take_depths();
    take_forces_in_mode();
    act_in_mode();
    if (any_of(m.nslot, [&](int k) { return surf->settler.deep[k] > 0; }))
      rewind_to_touch(motion, ask(t, x->q, x->v), modes(), surf->settler.deep, force.data(), x->v);
    for (int round = 0; round < MOST_MOVES; ++round) {
      auto meets = [&](int k) {
        surf->hits[k] = surf->hits[k] || gap(k) < -std::max(modes()[k].margin, ROUNDED * m.length[0]);
        return modes()[k].state != SLOT_OPEN || surf->hits[k];
      };
      if (!move_onto(motion, ask(t, x->q, x->v), modes(), meets, moved.data())) break;
      // first order leaves loops open by the square of the way, and the speeds are those of the pose before
      if (!inner->start(t, moved.data(), x->v, -1)) return fail(inner->state().status);
      RunState s = inner->state();
      std::copy_n(s.q, m.nq, x->q);
      std::copy_n(s.v, m.nv, x->v);
      act_in_mode();
    }
    inside = any_of(m.nslot, [&](int k) { return surf->hits[k] && gap(k) < -NOT_INSIDE * m.length[0]; });
    return true;
  }
  bool settle_step(const Guards& at) {
    if (!settle_end(at)) return false;
    return !inside || fail(StepStatus::OPEN_GAP);
  }
  double gap(int k) const { return in_use(surf->motion.c.slot[k]) ? surf->motion.c.slot[k].gap : 0; }
  // How far what has come inside within this step is inside; what corrections have moved inside has no depth
  void take_depths() {
    for (int k = 0; k < m.nslot; ++k)
      surf->settler.deep[k] = stepped && surf->hits[k] ? std::max(0.0, -gap(k) - modes()[k].margin) : 0;
  }
  // In the mode that is loaded, or with all slots open: they close where surfaces touch
  bool start(double t, const double* q, const double* v, int rank) override {
    trouble = StepStatus::FINE;
    stepped = false, surf->settler.flight = 0;
    rest().changes = 0, rest().since = t;
    from_time(t);
    surf->settler.touches = known ? 0 : CONTACT_TOUCHES;
    clear_cause();
    clear_contacts();
    if (!inner->start(t, q, v, rank)) return fail(inner->state().status);
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    if (!open_at(t) || (inside && !fail(StepStatus::OPEN_GAP))) return false;
    if (!ask_force(t, BETWEEN_STEPS)) return fail(StepStatus::STOPPED);
    bool settled = settle_at(t, true, false);
    surf->settler.touches = CONTACT_TOUCHES;
    return settled;
  }
  // Slots that are far open, those that are hit, and what is inside moves out
  bool open_at(double t) {
    place(m, x->q, surf->motion.c.w.tree);
    if (!find_slots(surf->motion.c)) return fail(StepStatus::NO_MODE);
    double deepest = 0, touches = CONTACT_TOUCHES * m.length[0];
    for (int k = 0; k < m.nslot; ++k) {
      SlotMode& mode = modes()[k];
      if (gap(k) > touches) mode.state = SLOT_OPEN;
      surf->hits[k] = gap(k) < -mode.margin;
      deepest = std::max(deepest, -gap(k));
    }
    if (deepest > MOST_INSIDE * m.length[0]) return fail(StepStatus::OPEN_GAP);
    return meet(t);
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    from_time(at.t);
    surf->settler.touches = CONTACT_TOUCHES;
    return ContactRun::restore(at, history, step);
  }
  // Times of a stored mode are those from its state on.
  int mode_numbers() const override { return ContactRun::mode_numbers() - skipped; }
  void store_mode(double* to) const override {
    std::copy(numbers.begin() + skipped, numbers.end(), to);
    auto* slots = reinterpret_cast<SlotMode*>(to + mode_size(table, parameters) - skipped);
    for (int k = 0; k < m.nslot; ++k) slots[k].until -= inner->state().t;
  }
  void load_mode(const double* from) override {
    std::copy_n(from, mode_numbers(), numbers.begin() + skipped);
    const double* slots = numbers.data() + mode_size(table, parameters);
    known = any_of(m.nslot * SLOT_NUMBERS + CONTACT_MODE_REST, [&](int i) { return slots[i] != 0; });
  }
  void from_time(double t) {
    for (int k = 0; k < m.nslot; ++k) modes()[k].until += t;
  }
  // Whether an open slot that touches closes again under forces that have changed since it was settled
  bool falls_back() {
    ContactRows<0>& c = surf->motion.c;
    double touches = CONTACT_TOUCHES * m.length[0];
    auto near = [&](int k) {
      return modes()[k].state == SLOT_OPEN && in_use(c.slot[k]) && gap(k) <= touches;
    };
    if (!any_of(m.nslot, near)) return false;
    take_forces_in_mode();
    RunState s = inner->state();
    std::copy_n(s.v, m.nv, surf->v);
    act_in_mode();
    if (!open_state(c, ask(s.t, s.q, surf->v)) || !choose_contacts(c, near)) return false;
    row_speeds(c, surf->v, c.u);
    move_freely(c, force.data());
    double still = CONTACT_STILL * std::max(rest().speed, 1e-300), small = MODE_RATE * speed_of(c, c.free);
    return any_of(c.contacts, [&](int i) {
      return std::abs(normal_speed(c, i, c.u)) <= still && normal_speed(c, i, c.bias) < -small;
    });
  }
  void take_forces_in_mode() {
    for (int j = 0; j < m.nv; ++j) force[j] = applied[j] + (closed() ? surf->motion.Q[j] : 0);
  }
  // Where surfaces have come inside each other on the way: back to there. False: steps failed
  bool stop_at_pass() {
    RunState s = inner->state();
    double h = s.t - t0, part = pass.first(m, {q0.data(), v0.data(), s.q, s.v, h}, modes());
    if (part == 1) return true;
    surf->settler.flight = part * h;
    return go_to(t0 + part * h);
  }
  bool step(double h, double t_end) override {
    mark();
    surf->settler.flight = h, stepped = false;
    if (x->before.end(mode) || falls_back()) return settle_step(x->before);
    if (!inner->step(h, t_end)) return fail(inner->state().status);
    if (!look_at_state(x->now)) return false;
    stepped = true;
    if (!stop_at_pass()) return false;
    return x->now.end(mode) || rebounds_over(inner->state().t) ? settle_step(x->now) : accept();
  }
};

SARRUS_END
