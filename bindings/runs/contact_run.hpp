// A run in which surfaces touch, slide, stick and rebound, beside all else that changes the mode of a run:
// ModalRun with more guards, a force and a solver (kernels/integrate/contacts).
//
// What contacts do is a force that the steps of a mode are given with their inputs; it follows from equations
// as long as the mode stays, so that steps are smooth.
#pragma once

#include <algorithm>
#include <vector>

#include "../scratch.hpp"
#include "integrate/contacts/correct_contacts.hpp"
#include "integrate/contacts/settle_all.hpp"
#include "modal_run.hpp"

SARRUS_BEGIN

struct ContactWork {
  ModelD acting;  // the view that rows of contacts are taken of
  ContactMotion<0> motion;
  ContactSettler<0> settler;
  double* v;  // with padding
  unsigned char *stops, *hits, *beyond, *pushes, *resting;

  static int joints(const ModeTable& table) { return table.count + table.frictions; }
  ContactWork(const ModelD& m, const ModeTable& table, SlotMode* modes, Arena& arena)
      : acting(m), motion(acting, arena, joints(table)), settler(motion, modes, arena, joints(table)) {
    arena.take(motion.c.w.ld, v);
    arena.take(3 * m.nslot, stops);
    arena.take(m.nslot, hits);
    arena.take(4 * m.nslot, beyond);
    arena.take(table.count, pushes);
    arena.take(table.frictions, resting);
  }
};

struct ContactRun : ModalRun<0> {
  using Base = ModalRun<0>;
  static constexpr int MOST_CONTACT_CHANGES = 500;  // of the mode by contacts, within SHORT
  static constexpr double SHORT = 1e-9;             // [s]
  static constexpr double NEARLY_STOPPED = 1e-7;    // of the speeds
  static constexpr double LEAST_PART = 1e-5;        // of the speed from rest: speeds count as this at least
  ZeroedMemory room;
  ContactWork* surf = nullptr;
  std::vector<double> by_contacts, applied, padded;

  ContactRun(const ModelD& model, const ModePlan& given, const Options& options, const Outside& calls)
      : Base(model, given, options, calls, with_contacts(this, calls), model.nslot,
             model.nslot * SLOT_NUMBERS + CONTACT_MODE_REST),
        by_contacts(m.nv),
        applied(m.nv) {
    Arena measure(nullptr);
    ContactWork measured(m, table, modes(), measure);
    room.need(measure.used);
    Arena arena(room.aligned);
    surf = new ContactWork(m, table, modes(), arena);
    padded.assign(surf->motion.c.w.ld, 0);
  }
  ~ContactRun() override { delete surf; }
  ContactRun(const ContactRun&) = delete;

  static Outside with_contacts(ContactRun* self, const Outside& calls) {
    Outside own = calls;
    own.context = self;
    own.inputs = &ContactRun::ask_with_contacts;
    return own;
  }
  SlotMode* modes() { return reinterpret_cast<SlotMode*>(numbers.data() + mode_size(table, parameters)); }
  ContactRest& rest() { return *reinterpret_cast<ContactRest*>(modes() + m.nslot); }
  bool closed() {
    return any_of(m.nslot, [&](int k) { return modes()[k].state != SLOT_OPEN; });
  }
  // Rows of contacts are those in the freedoms that the rows of the mode leave.
  void act_in_mode() { surf->acting = f->rows.view, surf->motion.c.joint.n = 0; }

  // ---------------------------------------------------------------- forces

  bool ask_outside(const Instant<double>& at, const Supplied<double>& to) {
    if (outside.inputs) return outside.inputs(outside.context, at, to);
    fill(to.tau, m.nv);
    return true;
  }
  // Inputs of the steps: the applied force, and that of contacts in the present mode
  static bool ask_with_contacts(void* self, const Instant<double>& at, const Supplied<double>& to) {
    auto& r = *static_cast<ContactRun*>(self);
    if (!r.ask_outside(at, to)) return false;
    if (at.stage == ROWS_ONLY) return true;
    std::copy_n(to.tau, r.m.nv, r.applied.begin());
    std::fill(r.by_contacts.begin(), r.by_contacts.end(), 0.0);
    if (!r.closed()) return true;
    std::copy_n(at.v, r.m.nv, r.padded.begin());
    State<double> s = {at.q, r.padded.data(), to.drive, to.user};
    bool known = r.find_forces(s);
    for (int j = 0; j < r.m.nv; ++j) {
      r.by_contacts[j] = known ? r.surf->motion.Q[j] : std::nan("");
      to.tau[j] += r.by_contacts[j];
    }
    return true;
  }
  // Forces of contacts in the mode, under the force `applied`
  bool find_forces(const State<double>& at) {
    act_in_mode();
    if (rest().by_law == 0) return forces_in_mode(surf->motion, at, applied.data(), modes());
    bool known = open_joints_in_mode(at) && forces_by_law(surf->motion);
    surf->motion.c.joint.n = 0;
    return known;
  }
  // The rows of contacts with those of joints that the mode holds, and what they do
  bool open_joints_in_mode(const State<double>& at) {
    for (int k = 0; k < table.frictions; ++k) surf->resting[k] = mode.direction[k] == 0;
    open_joints(f->u, at, mode, surf->resting, 1 + mode.slack[0], surf->motion.c.joint, surf->acting);
    return forces_in_mode(surf->motion, at, applied.data(), modes());
  }
  void take_state() override {
    Base::take_state();
    std::copy_n(applied.data(), m.nv, x->tau);
  }

  // ---------------------------------------------------------------- what ends the mode

  // Whether forces within all limits, those of joints among them, give the motion of the mode
  bool law_holds(const State<double>& at) {
    ContactMotion<0>& motion = surf->motion;
    if (!table.frictions && !any_contact(f->u, mode))
      return motion.c.rank < motion.c.rows && mode_holds(motion);
    bool holds = open_joints_in_mode(at) && motion.c.rank < motion.c.rows && mode_holds(motion);
    motion.c.joint.n = 0;
    return holds;
  }
  // Whether what is held by rows stays within its limits by their multipliers
  bool look_at_rows(const State<double>& at, const RunState& s, Guards& to) {
    if (!needs_forces(table, mode)) return true;
    if (!inner->multipliers(f->lam, f->unique)) f->find_multipliers(at, s.a, inner->state().tau);
    fill(f->by_load, table.frictions);
    ReachedState reached = {at, applied.data(), f->lam, f->by_load, f->unique};
    return look_at_multipliers(f->u, f->rows, reached, mode, to).holds;
  }
  bool look_at_state(Guards& to) override {
    RunState s = inner->state();
    std::copy_n(s.v, m.nv, surf->v);
    State<double> at = ask(s.t, s.q, surf->v);
    ContactGuards slots = {to.slots};
    rest().speed = std::max(rest().speed, speed_of(surf->motion.c, surf->v));
    look_at_speeds(table, mode, s.v, to);
    if (!find_forces(at)) return fail(no_terms());
    if (closed()) rest().speed = std::max(rest().speed, LEAST_PART * speed_from_rest(surf->motion));
    look_at_slots(surf->motion, modes(), rest().speed, slots);
    bool hold = look_at_rows(at, s, to);
    if (!(hold && forces_fit(slots, m.nslot)) && law_holds(at)) {
      hold_slots(slots, m.nslot);
      to.load[0] = larger(to.load[0], 0.0);
      for (int g = 0; g < table.count; ++g) to.push[g] = larger(to.push[g], 0.0);
    }
    look_at_open_contacts(at, to);
    note_state(s);
    return true;
  }
  void look_at_open_contacts(const State<double>& at, Guards& to) {
    if (!any_of(table.count, [&](int g) { return is_open_contact(table, mode, g); })) return;
    all_rows(f->u, at, f->u.lam);
    look_at_gaps(table, mode, [&](int row) { return f->u.w.rows.phi[row]; }, to);
  }
  // Also where a gap is negative somewhere within the step: the states between by cubics
  double place_of_turning() override { return std::min(Base::place_of_turning(), dip_within()); }
  double dip_within() {
    RunState s = inner->state();
    double h = s.t - t0;
    std::vector<double> q(m.nq), dq(m.nv), end(m.nv), rate(m.nv);
    difference(m, q0.data(), s.q, end.data());
    increment_rate(m, end.data(), s.v, rate.data());
    ContactRows<0>& c = surf->motion.c;
    for (int place = 1; place < 8; ++place) {
      double p = place / 8.0, r = 1 - p;
      for (int j = 0; j < m.nv; ++j)
        dq[j] = end[j] * p * p * (3 - 2 * p) + h * p * r * (v0[j] * r - rate[j] * p);
      integrate(m, q0.data(), dq.data(), q.data());
      sarrus::place(m, q.data(), c.w.tree);
      if (!find_slots(c)) return 1;
      for (int k = 0; k < m.nslot; ++k)
        if (modes()[k].state == SLOT_OPEN && in_use(c.slot[k]) && c.slot[k].gap + modes()[k].margin < 0)
          return p;
    }
    return 1;
  }

  // ---------------------------------------------------------------- how the next one begins

  StepStatus no_terms() const {
    return surf->motion.c.full ? StepStatus::CONTACT_TOO_MANY : StepStatus::NO_MODE;
  }
  StepStatus status_of(SettleEnd end) const {
    switch (end) {
      case SettleEnd::UNSOLVED:
        return StepStatus::CONTACT_UNSOLVED;
      case SettleEnd::PRESSED:
        return StepStatus::CONTACT_PRESSED;
      case SettleEnd::PAINLEVE:
        return StepStatus::CONTACT_PAINLEVE;
      case SettleEnd::NO_TERMS:
        return no_terms();
      case SettleEnd::INSIDE:
      case SettleEnd::OPEN:
        return StepStatus::OPEN_GAP;
      case SettleEnd::CONTRADICTION:
        return StepStatus::CONTRADICTION;
      default:
        return StepStatus::FINE;
    }
  }
  // Whether the mode has changed too often; contacts may, as rebounds do
  bool chatters(double t) {
    auto by = [](const unsigned char* flags, int n) {
      return any_of(n, [&](int i) { return flags[i] != 0; });
    };
    if (!by(surf->hits, m.nslot) && !by(surf->stops, 3 * m.nslot) && !by(surf->beyond, 4 * m.nslot))
      return too_many(t);
    ContactRest& recent = rest();
    if (t > recent.since + SHORT || t < recent.since) recent.changes = 0, recent.since = t;
    return ++recent.changes > MOST_CONTACT_CHANGES;
  }
  void clear_contacts() {
    std::fill_n(surf->stops, 3 * m.nslot, 0);
    std::fill_n(surf->hits, m.nslot, 0);
    std::fill_n(surf->beyond, 4 * m.nslot, 0);
    std::fill_n(surf->pushes, table.count, 0);
  }
  bool settle_at(double t, bool starts, bool breaks) override {
    if (!starts && (chatters(t) || !meet(t)))
      return trouble != StepStatus::FINE ? false : fail(StepStatus::CHATTER);
    State<double> at = ask(t, x->q, x->v);
    std::vector<double> tau(x->tau, x->tau + m.nv);
    std::fill_n(x->touched, table.count, 0);
    Cause cause = {t, plan.dt, tau.data(), x->changes, x->touched, &entry.group, x->stops, starts, breaks};
    double fastest = std::max({rest().speed, speed_of(surf->motion.c, x->v), LEAST_RATE * m.length[0]});
    ContactCause of_contacts = {t, fastest, surf->stops, surf->hits, surf->beyond};
    auto ask_again = [&] {
      if (!ask_force(t, BETWEEN_STEPS)) return false;
      std::copy_n(x->tau, m.nv, tau.begin());
      return true;
    };
    JointSettler<0> joints = {f->u, mode, cause, surf->acting, surf->resting, surf->pushes};
    SettleEnd end =
        settle_all(surf->settler, joints, Settled{x->q, x->v, at.drive, at.user}, of_contacts, ask_again);
    clear_cause();
    clear_contacts();
    if (end != SettleEnd::SETTLED) return fail(status_of(end));
    std::copy_n(surf->settler.events, m.nslot, x->touched + table.count);
    rest().used = surf->settler.used, rest().by_law = surf->settler.shared;
    return go_on(t, x->q, x->v, starts);
  }
  bool begins_anew() const override { return true; }
  bool settle_end(const Guards& at) override {
    ContactGuards slots = {at.slots};
    for (int k = 0; k < m.nslot; ++k) {
      const double* g = slots.of(k);
      surf->hits[k] = g[0] < 0;
      for (int i = 0; i < 4; ++i) surf->beyond[4 * k + i] = g[1 + i] < 0;
      for (int i = 0; i < 3; ++i) surf->stops[3 * k + i] = g[5 + i] < 0 && modes()[k].slides[i] != GUIDED;
    }
    for (int g = 0; g < table.count; ++g) surf->pushes[g] = at.push[g] < 0;
    return Base::settle_end(at);
  }
  // What closes meets at x->q: the end of a mode is located
  virtual bool meet(double) { return true; }

  // ---------------------------------------------------------------- steps

  // After a step whose mode goes on: onto the contacts, and the directions of sliding
  bool accept() override {
    if (rebounds_over(inner->state().t)) return settle_end(x->now);
    if (closed()) {
      keep_directions();
      RunState s = inner->state();
      std::vector<double> q(s.q, s.q + m.nq);
      std::copy_n(s.v, m.nv, surf->v);
      State<double> at = ask(s.t, s.q, surf->v);
      act_in_mode();
      if (correct_contacts(surf->motion, at, modes(), rest().speed, q.data(), surf->v)) {
        History past = inner->history();
        if (!inner->restore({s.t, q.data(), surf->v, 0}, past, s.step)) return fail(inner->state().status);
        if (!look_at_state(x->now)) return false;
      }
    }
    return Base::accept();
  }
  // in: look_at_state()
  void keep_directions() {
    ContactMotion<0>& motion = surf->motion;
    ContactRows<0>& c = motion.c;
    for (int k = 0; k < c.blocks; ++k) {
      const ContactBlock& b = c.block[k];
      if (!motion.gliding[k] || b.kind == TORSION_ROW) continue;
      store_way(c, b, motion.unit_way + b.row, modes()[c.which[b.contact]].way + 3 * friction_index(b.kind));
    }
  }
  // Where steps have become too short: sliding that is next to its end sticks
  bool ends_instead() override {
    if (inner->state().status != StepStatus::STEP_COLLAPSED) return false;
    if (!go_to(t0)) return false;
    ContactRows<0>& c = surf->motion.c;
    for (int i = 0; i < x->now.n; ++i) x->now.speed[i] = 1;
    bool some = false;
    for (int k = 0; k < c.blocks; ++k) {
      const ContactBlock& b = c.block[k];
      if (!surf->motion.gliding[k] || length_of(c.u + b.row, b.size) > NEARLY_STOPPED * rest().speed)
        continue;
      ContactGuards{x->now.slots}.of(c.which[b.contact])[5 + friction_index(b.kind)] = -1;
      some = true;
    }
    return some && settle_end(x->now);
  }
  // Also where rebounds are over
  double next_end(double t_end) override {
    double t = inner->state().t, end = Base::next_end(t_end);
    for (int k = 0; k < m.nslot; ++k)
      if (modes()[k].state == SLOT_REBOUNDS && modes()[k].until > t) end = std::min(end, modes()[k].until);
    return end;
  }
  bool rebounds_over(double t) {
    return any_of(m.nslot, [&](int k) { return modes()[k].state == SLOT_REBOUNDS && modes()[k].until <= t; });
  }

  // ---------------------------------------------------------------- the interface of a run

  bool start(double t, const double* q, const double* v, int rank) override {
    for (int k = 0; k < m.nslot; ++k) modes()[k] = {};
    rest() = {};
    rest().since = t;
    clear_contacts();
    return Base::start(t, q, v, rank);
  }
  RunState state() const override {
    RunState s = Base::state();
    s.tau = applied.data();
    return s;
  }
};

SARRUS_END
