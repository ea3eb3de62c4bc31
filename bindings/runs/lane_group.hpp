// Copies that a thread steps together: regular steps of several at once in lanes, the others one by one with
// a run of their own.
#pragma once

#include <algorithm>
#include <memory>
#include <tuple>

#include "copy_inputs.hpp"
#include "copy_states.hpp"

namespace sarrus {

constexpr int MOST_LANES = 8;

// The lanes of a thread: one set where all rows act, else one for each kind of mode; of contacts of surfaces for
// the one in which all are open.
struct LanesOfCopies {
  std::unique_ptr<LaneSteps> same;
  std::unique_ptr<ModalLanes> modal;

  LanesOfCopies(const Tables& tables, const ModelD& m, const ModePlan* plan, bool touch, const Options& o) {
    if (touch)
      modal.reset(tables.runs.make_contact_lanes(m, o));
    else if (plan)
      modal.reset(tables.runs.make_modal_lanes(m, *plan, o));
    else
      same.reset(tables.runs.make_lanes(m, o));
  }
  bool exist() const { return same || modal; }
  int kind(const double* mode) { return modal ? modal->kind(mode) : 0; }
  LaneSteps& of(int kind) { return modal ? modal->lanes(kind) : *same; }
  void keep_few() {
    if (modal) modal->keep_few();
  }
};

// A copy of the group: its inputs, and its acceleration and force (nv) at its last state.
struct Member {
  CopyInputs inputs;
  long id = 0;
  double *a = nullptr, *tau = nullptr;
  bool active = false;  // it is fine
  bool ends = false;    // its mode ends at its last state
  int kind = 0;         // of its mode
};

// Members in lanes 0 ... count - 1
struct Together {
  LaneSteps& lanes;
  int count, rank;
  Member* member[MOST_LANES];
  LaneState state[MOST_LANES];
  int all() const { return (1 << count) - 1; }
  template <class Use>
  void each(int used, Use use) {
    for (int l = 0; l < count; ++l)
      if (used >> l & 1) use(l, *member[l]);
  }
};

// Copies, or steps, from first to last - 1
struct Span {
  long first, last;
};

// The step after `step` steps, from time t to time t1. last: nobody needs accelerations there, but modes do.
struct GroupStep {
  long step;
  double t, t1;
  bool last;
};

struct LaneGroup {
  CopyStates& x;
  LanesOfCopies& lanes;
  Run& run;            // for single steps, with `single` as its source
  CopyInputs& single;  // inputs of the copy that the run is at
  const std::vector<Scheduled>* schedule;
  std::vector<Member> members;
  std::vector<double> numbers;        // a, tau of all members
  std::vector<Member*> order, alone;  // stepped in lanes, and by themselves

  LaneGroup(CopyStates& copies, LanesOfCopies& several, Run& one, CopyInputs& source, const ModePlan* plan,
            int most)
      : x(copies),
        lanes(several),
        run(one),
        single(source),
        schedule(plan ? &plan->schedule : nullptr),
        members(most, Member{source}) {
    numbers.resize(2 * most * x.nv);
    for (int i = 0; i < most; ++i)
      members[i].a = numbers.data() + 2 * i * x.nv, members[i].tau = members[i].a + x.nv;
  }
  Carried& carried(const Member& one) { return x.carried[one.id]; }
  bool any_active() const {
    return std::any_of(members.begin(), members.end(), [](const Member& one) { return one.active; });
  }
  template <class Use>
  void each_active(Use use) {
    for (Member& one : members)
      if (one.active) use(one);
  }
  // Copies whose next inputs are not finite stop.
  void stop_unusable() {
    each_active([&](Member& one) {
      if (one.inputs.usable) return;
      carried(one).unusable = true;
      carried(one).status = StepStatus::NOT_FINITE;
      one.active = false;
    });
  }
  // Copies at time t, after `step` steps; lost(copy) is called for those without an acceleration
  template <class Lost>
  void begin(Span copies, long step, double t, Lost lost) {
    order.clear();
    lanes.keep_few();
    for (Member& one : members) {
      one.id = copies.first++, one.ends = false;
      one.active = one.id < copies.last && carried(one).status == StepStatus::FINE;
      if (!one.active) continue;
      one.inputs.begin(one.id, step);
      one.kind = lanes.kind(x.mode(one.id));
      if (carried(one).single || one.kind < 0) {
        one.active = restore(one, step, t);
        if (!one.active) lost(one.id);
      } else {
        sample(one, t, x.q.data() + one.id * x.nq, x.v.data() + one.id * x.nv);
        order.push_back(&one);
      }
    }
    together([&](Together& some) {
      some.lanes.accelerate(some.state, some.all(), some.rank);
      int held = some.lanes.modes_hold(some.state, some.all());
      some.each(some.all(), [&](int l, Member& one) {
        std::copy_n(some.lanes.end(l).a, x.nv, one.a);
        one.ends = !(held >> l & 1);
      });
    });
  }
  // The single run at the state of a member
  bool restore(Member& one, long step, double t) {
    single.begin(one.id, step);
    bool fine = x.restore(one.id, t, run);
    if (!fine) carried(one).status = run.state().status;
    take_run(one);
    return fine;
  }
  void take_run(Member& one) {
    one.inputs.u = single.u, one.inputs.next = single.next, one.inputs.usable = single.usable;
    one.ends = run.at_end_of_mode();
    std::copy_n(run.state().a, x.nv, one.a);
    std::copy_n(run.state().tau, x.nv, one.tau);
  }
  void sample(Member& one, double t, const double* q, const double* v) {
    one.inputs.supply({t, q, v, 0}, {one.tau, nullptr, nullptr, nullptr, nullptr, 0});
  }
  LaneState state_of(const Member& one) {
    const Carried& c = carried(one);
    return {x.q.data() + one.id * x.nq,
            x.v.data() + one.id * x.nv,
            one.a,
            one.tau,
            c.pivots[1],
            c.before.pivot,
            x.mode(one.id)};
  }
  // use(some) for the members of `order`, of one kind and rank at a time
  template <class Use>
  void together(Use use) {
    auto sort = [&](const Member* one) { return std::pair(one->kind, carried(*one).before.largest_rank); };
    std::sort(order.begin(), order.end(),
              [&](auto* a, auto* b) { return std::tuple(sort(a), a->id) < std::tuple(sort(b), b->id); });
    for (size_t i = 0; i < order.size();) {
      auto found = sort(order[i]);
      Together some = {lanes.of(found.first), 0, found.second, {}, {}};
      for (; i < order.size() && some.count < some.lanes.width() && sort(order[i]) == found; ++i)
        some.member[some.count] = order[i], some.state[some.count++] = state_of(*order[i]);
      use(some);
    }
  }
  // Whether the clock changes a mode behind t, at t1 at the latest
  bool switched(double t, double t1) const {
    return schedule && std::any_of(schedule->begin(), schedule->end(), [&](const Scheduled& one) {
             return one.t > t && (one.t <= t1 || same_time(one.t, t1));
           });
  }
  bool may_be_regular(Member& one) {
    one.kind = lanes.kind(x.mode(one.id));
    const Carried& c = carried(one);
    return one.kind >= 0 && !one.ends && c.ranks[1] == c.before.largest_rank && !c.fresh;
  }
  // reached(member, state) is called for all that make the step.
  template <class Reached>
  void step(const GroupStep& now, Reached reached) {
    order.clear(), alone.clear();
    lanes.keep_few();
    bool in_lanes = !switched(now.t, now.t1);
    each_active([&](Member& one) { (in_lanes && may_be_regular(one) ? order : alone).push_back(&one); });
    together([&](Together& some) {
      int fine = step_together(some, now);
      some.each(fine, [&](int l, Member& one) {
        RunState s = some.lanes.end(l);
        if (needs_end(now)) std::copy_n(s.a, x.nv, one.a);
        x.keep(one.id, s, now.t1 - now.t);
        reached(one, s);
      });
      some.each(some.all() & ~fine, [&](int, Member& one) { alone.push_back(&one); });
    });
    for (Member* one : alone) step_single(*one, now, reached);
  }
  bool needs_end(const GroupStep& now) const { return !now.last || lanes.modal; }
  // The lanes whose step is regular and whose modes go on
  int step_together(Together& some, const GroupStep& now) {
    int fine = some.lanes.step(some.state, some.all(), some.rank, now.t1 - now.t);
    if (!fine || !needs_end(now)) return fine;
    some.each(fine, [&](int l, Member& one) {
      RunState s = some.lanes.end(l);
      sample(one, now.t1, s.q, s.v);
    });
    fine = some.lanes.accelerate_end(some.state, fine);
    return fine ? some.lanes.modes_go_on(some.state, fine, now.t1 - now.t) : 0;
  }
  template <class Reached>
  void step_single(Member& one, const GroupStep& now, Reached reached) {
    bool fine = restore(one, now.step, now.t);
    long changes = run.mode_changes();
    while (fine && run.state().t < now.t1) fine = run.step(now.t1 - run.state().t, now.t1);
    x.keep(one.id, run);
    if (!fine) {
      one.active = false;
      return;
    }
    if (run.mode_changes() != changes) x.note_change(one.id, run.state());
    carried(one).alone += 1;
    take_run(one);
    reached(one, run.state());
  }
};

}  // namespace sarrus
