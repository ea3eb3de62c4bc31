// A run in which surfaces touch, slide, stick and rebound: steps in one mode of all contact points, taken
// again to where it ends, and settled anew there (kernels/integrate/contacts).
//
// Steps are those of the run without contacts. What contacts do is a force that it is asked for with the
// inputs; it follows from equations as long as the mode stays, so that steps are smooth.
#pragma once

#include <algorithm>
#include <vector>

#include "integrate/contacts/correct_contacts.hpp"
#include "integrate/contacts/settle_contacts.hpp"
#include "integrate/modes/mode_step.hpp"
#include "run.hpp"

SARRUS_BEGIN

struct ContactWork {
  ContactMotion<0> x;
  ContactSettler<0> settler;
  ContactGuards before, now, lower;
  double *q, *v, *tau, *drive, *user;
  unsigned char *stops, *hits, *beyond;

  ContactWork(const ModelD& m, SlotMode* modes, Arena& arena) : x(m, arena), settler(x, modes, arena) {
    for (ContactGuards* g : {&before, &now, &lower}) g->bind(arena, m.nslot);
    arena.take(m.nq, q);
    arena.take(x.c.w.ld, v, tau);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
    arena.take(3 * m.nslot, stops);
    arena.take(m.nslot, hits);
    arena.take(4 * m.nslot, beyond);
  }
};

struct ContactRun : Run {
  const ModelD& m;
  Outside outside;
  std::vector<double>
      numbers;  // of the mode: SlotMode of each slot, then changes within a step and since when
  std::vector<char> memory;
  ContactWork* x = nullptr;
  std::unique_ptr<Run> inner;
  std::vector<double> tail, q0, v0, a0, modes0, by_contacts, applied, padded;
  double t0 = 0, size0 = 0, speed = 0, dt;
  History history0;
  StepStatus trouble = StepStatus::FINE;
  long changes = 0;
  ModeEntry entry;

  ContactRun(const ModelD& model, const Options& options, const Outside& calls, double often)
      : m(model), outside(calls), dt(often) {
    numbers.assign(m.nslot * SLOT_NUMBERS + CONTACT_MODE_REST, 0.0);
    Arena measure(nullptr);
    ContactWork measured(m, modes(), measure);
    memory.assign(measure.used + 4096, 0);
    Arena arena(memory.data() + (-reinterpret_cast<unsigned long long>(memory.data()) & 63));
    x = new ContactWork(m, modes(), arena);
    by_contacts.assign(m.nv, 0), applied.assign(m.nv, 0), padded.assign(x->x.c.w.ld, 0);
    Outside own = calls;
    own.context = this;
    own.inputs = &ContactRun::ask_with_contacts;
    own.mark = own.back = own.mode_ends = own.mode_chosen = nullptr;
    inner.reset(make_run(m, options, own));
    tail.resize(inner->tail_size()), q0.resize(m.nq), v0.resize(m.nv), a0.resize(m.nv);
    entry.touched = x->settler.events;
  }
  ~ContactRun() override { delete x; }
  ContactRun(const ContactRun&) = delete;

  SlotMode* modes() { return reinterpret_cast<SlotMode*>(numbers.data()); }
  double* recent() { return numbers.data() + m.nslot * SLOT_NUMBERS; }
  bool closed() {
    return any_of(m.nslot, [&](int k) { return modes()[k].state != SLOT_OPEN; });
  }
  bool fail(StepStatus why) {
    trouble = why;
    return false;
  }

  // ---------------------------------------------------------------- forces

  bool ask_outside(const Instant<double>& at, const Supplied<double>& to) {
    if (outside.inputs) return outside.inputs(outside.context, at, to);
    fill(to.tau, m.nv);
    return true;
  }
  // Inputs of the inner run: the applied force, and that of contacts in the present mode
  static bool ask_with_contacts(void* self, const Instant<double>& at, const Supplied<double>& to) {
    auto& r = *static_cast<ContactRun*>(self);
    if (!r.ask_outside(at, to)) return false;
    if (at.stage == ROWS_ONLY) return true;
    std::copy_n(to.tau, r.m.nv, r.applied.begin());
    std::fill(r.by_contacts.begin(), r.by_contacts.end(), 0.0);
    if (!r.closed()) return true;
    std::copy_n(at.v, r.m.nv, r.padded.begin());
    State<double> s = {at.q, r.padded.data(), to.drive, to.user};
    bool known = forces_in_mode(r.x->x, s, r.applied.data(), r.modes());
    for (int j = 0; j < r.m.nv; ++j) {
      r.by_contacts[j] = known ? r.x->x.Q[j] : std::nan("");
      to.tau[j] += r.by_contacts[j];
    }
    return true;
  }
  // Drives and user rows at x->q, x->v; the applied force in x->tau
  bool ask_force(double t, const double* v, double* tau, int stage = BETWEEN_STEPS) {
    return ask_outside({t, x->q, v, stage}, {tau, x->drive, x->user, nullptr, nullptr, 0});
  }
  State<double> here() const { return {x->q, x->v, x->drive, x->user}; }

  // The guards at the state of the inner run
  bool look_at_state(ContactGuards& to) {
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    if ((m.nd || m.n_user_rows) && !ask_force(s.t, x->v, x->tau, ROWS_ONLY)) return fail(StepStatus::STOPPED);
    speed = std::max(speed, speed_of(x->x.c, x->v));
    if (!look(x->x, here(), applied.data(), modes(), speed, to)) return fail(StepStatus::NO_MODE);
    return true;
  }

  // ---------------------------------------------------------------- the end of a mode

  StepStatus status_of(SettleEnd end) const {
    switch (end) {
      case SettleEnd::UNSOLVED:
        return StepStatus::CONTACT_UNSOLVED;
      case SettleEnd::PRESSED:
        return StepStatus::CONTACT_PRESSED;
      case SettleEnd::PAINLEVE:
        return StepStatus::CONTACT_PAINLEVE;
      case SettleEnd::NO_TERMS:
        return StepStatus::NO_MODE;
      case SettleEnd::INSIDE:
        return StepStatus::OPEN_GAP;
      default:
        return StepStatus::FINE;
    }
  }
  bool too_many(double t) {
    double* r = recent();
    if (t > r[1] + dt * 1e-6) r[0] = 0, r[1] = t;
    return ++r[0] > MOST_CONTACT_CHANGES;
  }
  static constexpr int MOST_CONTACT_CHANGES = 500;  // of the mode within 1e-6 of a step

  // Settles at time t and the state x->q, x->v with the causes x->hits, x->stops, and goes on from there.
  bool settle_at(double t) {
    if (too_many(t)) return fail(StepStatus::CHATTER);
    ContactCause cause = {t, std::max(speed, speed_of(x->x.c, x->v)), x->stops, x->hits, x->beyond};
    auto force = [&](const double* v, double* tau) { return ask_force(t, v, tau); };
    if (!ask_force(t, x->v, x->tau)) return fail(StepStatus::STOPPED);
    SettleEnd end = settle_contacts(x->settler, here(), x->v, cause, x->tau, force);
    std::fill_n(x->stops, 3 * m.nslot, 0);
    std::fill_n(x->hits, m.nslot, 0);
    std::fill_n(x->beyond, 4 * m.nslot, 0);
    if (end != SettleEnd::SETTLED) return fail(status_of(end));
    recent()[2] = x->settler.used;
    ++changes;
    if (outside.mode_chosen) outside.mode_chosen(outside.context);
    int rank = inner->state().rank;
    if (!inner->start(t, x->q, x->v, rank > 0 ? rank : -1)) return fail(inner->state().status);
    return look_at_state(x->before);
  }
  bool settle_end(const ContactGuards& at) {
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    for (int k = 0; k < m.nslot; ++k) {
      x->hits[k] = at.of(k)[0] < 0;
      for (int i = 0; i < 4; ++i) x->beyond[4 * k + i] = at.of(k)[1 + i] < 0;
      for (int i = 0; i < 3; ++i) x->stops[3 * k + i] = at.of(k)[5 + i] < 0;
    }
    if (outside.mode_ends) outside.mode_ends(outside.context);
    return meet(s.t) && settle_at(s.t);
  }
  // What closes meets at x->q: the end of a mode is located
  virtual bool meet(double) { return true; }

  // ---------------------------------------------------------------- steps

  void mark() {
    RunState s = inner->state();
    t0 = s.t, size0 = s.step, history0 = inner->history(), modes0 = numbers;
    std::copy_n(s.q, m.nq, q0.begin());
    std::copy_n(s.v, m.nv, v0.begin());
    std::copy_n(s.a, m.nv, a0.begin());
    inner->store_tail(tail.data());
    if (outside.mark) outside.mark(outside.context);
  }
  bool go_to(double t) {
    if (outside.back) outside.back(outside.context);
    bool fine = inner->restore({t0, q0.data(), v0.data(), 0}, history0, size0);
    inner->load_tail(tail.data());
    while (fine && inner->state().t < t) fine = inner->step(t - inner->state().t, t);
    if (!fine) return fail(inner->state().status);
    return look_at_state(x->now);
  }
  // The time at which the first guard that has ended at `hi` is zero on the line between both
  double first_zero(const ContactGuards& lo, const ContactGuards& hi, double from, double to) const {
    double first = to;
    for (int i = 0; i < hi.n; ++i)
      if (hi.at[i] < 0 && lo.at[i] > 0)
        first = std::min(first, from + (to - from) * lo.at[i] / (lo.at[i] - hi.at[i]));
    return first;
  }
  bool locate() {
    double end = inner->state().t;
    EndSearch search(t0, end, std::max(LOCATED * (end - t0), 4 * 2.2e-16 * std::abs(end)));
    std::copy_n(x->before.at, x->before.n, x->lower.at);
    std::vector<double> kept(x->now.at, x->now.at + x->now.n);
    while (!search.found()) {
      std::copy(kept.begin(), kept.end(), x->now.at);
      double t = search.next(first_zero(x->lower, x->now, search.lo, search.hi));
      if (!go_to(t)) return false;
      if (x->now.ends()) {
        search.hi = t;
        std::copy_n(x->now.at, x->now.n, kept.begin());
      } else {
        search.lo = t;
        std::copy_n(x->now.at, x->now.n, x->lower.at);
      }
    }
    return inner->state().t == search.hi || go_to(search.hi);
  }
  // Whether a gap is negative somewhere within the step whose end is fine: the states between by cubics
  double dip_within(double reached) {
    RunState s = inner->state();
    double h = reached - t0;
    std::vector<double> q(m.nq), dq(m.nv), end(m.nv), rate(m.nv);
    difference(m, q0.data(), s.q, end.data());
    increment_rate(m, end.data(), s.v, rate.data());
    ContactRows<0>& c = x->x.c;
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
  // After a step whose mode goes on: onto the contacts, and the directions of sliding
  bool accept() {
    if (closed()) {
      keep_directions();
      RunState s = inner->state();
      std::copy_n(s.q, m.nq, x->q);
      std::copy_n(s.v, m.nv, x->v);
      std::vector<double> q(s.q, s.q + m.nq);
      if (correct_contacts(x->x, here(), modes(), speed, q.data(), x->v)) {
        History past = inner->history();
        if (!inner->restore({s.t, q.data(), x->v, 0}, past, s.step)) return fail(inner->state().status);
        if (!look_at_state(x->now)) return false;
      }
    }
    std::copy_n(x->now.at, x->now.n, x->before.at);
    return true;
  }
  // in: look_at_state()
  void keep_directions() {
    ContactRows<0>& c = x->x.c;
    for (int k = 0; k < c.blocks; ++k) {
      const ContactBlock& b = c.block[k];
      if (!x->x.gliding[k] || b.kind == TORSION_ROW) continue;
      double* way = modes()[c.which[b.contact]].way + 3 * friction_index(b.kind);
      fill(way, 3);
      for (int i = b.row; i < b.row + b.size; ++i) {
        way[0] += x->x.unit_way[i] * c.direction[i].x;
        way[1] += x->x.unit_way[i] * c.direction[i].y;
        way[2] += x->x.unit_way[i] * c.direction[i].z;
      }
    }
  }
  // Where steps have become too short: sliding that is next to its end sticks. False: nothing is
  bool stops_all() {
    if (inner->state().status != StepStatus::STEP_COLLAPSED) return false;
    if (!go_to(t0)) return false;
    ContactRows<0>& c = x->x.c;
    for (int i = 0; i < x->now.n; ++i) x->now.at[i] = 1;
    bool some = false;
    for (int k = 0; k < c.blocks; ++k) {
      const ContactBlock& b = c.block[k];
      if (!x->x.gliding[k] || length_of(c.u + b.row, b.size) > NEARLY_STOPPED * speed) continue;
      x->now.of(c.which[b.contact])[5 + friction_index(b.kind)] = -1;
      some = true;
    }
    return some && settle_end(x->now);
  }
  static constexpr double NEARLY_STOPPED = 1e-7;  // of the speeds
  // The first time at which rebounds are over, or t_end
  double next_end(double t_end) {
    double t = inner->state().t, end = t_end;
    for (int k = 0; k < m.nslot; ++k)
      if (modes()[k].state == SLOT_REBOUNDS && modes()[k].until > t) end = std::min(end, modes()[k].until);
    return end;
  }
  bool rebounds_over(double t) {
    return any_of(m.nslot, [&](int k) { return modes()[k].state == SLOT_REBOUNDS && modes()[k].until <= t; });
  }
  // Whether the mode ends within the step that was taken, whose end has been looked at; the inner run is then
  // at a time at which it has ended. False also where steps failed (trouble).
  bool ends_within() {
    if (x->now.ends()) return true;
    double reached = inner->state().t, place = dip_within(reached);
    if (place == 1) return false;
    if (!go_to(t0 + place * (reached - t0))) return false;
    return x->now.ends() || (go_to(reached) && x->now.ends());
  }
  bool step(double h, double t_end) override {
    mark();
    if (x->before.ends()) return settle_end(x->before);
    if (!inner->step(h, next_end(t_end))) return stops_all() || fail(inner->state().status);
    if (!look_at_state(x->now)) return false;
    if (ends_within()) return locate() && settle_end(x->now);
    if (trouble != StepStatus::FINE) return false;
    return rebounds_over(inner->state().t) ? settle_end(x->now) : accept();
  }

  // ---------------------------------------------------------------- the interface of a run

  bool start(double t, const double* q, const double* v, int rank) override {
    trouble = StepStatus::FINE;
    speed = 0;
    for (int k = 0; k < m.nslot; ++k) modes()[k] = {};
    recent()[0] = 0, recent()[1] = t;
    if (!inner->start(t, q, v, rank)) return fail(inner->state().status);
    RunState s = inner->state();
    std::copy_n(s.q, m.nq, x->q);
    std::copy_n(s.v, m.nv, x->v);
    return settle_at(t);
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    trouble = StepStatus::FINE;
    speed = 0;
    ++changes;
    if (outside.mode_chosen) outside.mode_chosen(outside.context);
    if (!inner->restore(at, history, step)) return fail(inner->state().status);
    return look_at_state(x->before);
  }
  RunState state() const override {
    RunState s = inner->state();
    if (trouble != StepStatus::FINE) s.status = trouble;
    s.tau = applied.data();
    return s;
  }
  void end_at(double) override {}  // guards need the acceleration of every state
  History history() const override { return inner->history(); }
  int tail_size() const override { return inner->tail_size(); }
  void store_tail(double* to) const override { inner->store_tail(to); }
  void load_tail(const double* from) override { inner->load_tail(from); }
  int mode_numbers() const override { return static_cast<int>(numbers.size()); }
  void store_mode(double* to) const override { std::copy(numbers.begin(), numbers.end(), to); }
  void load_mode(const double* from) override { std::copy_n(from, numbers.size(), numbers.begin()); }
  long mode_changes() const override { return changes; }
  ModeEntry mode_entry() const override { return entry; }
};

SARRUS_END
