// A run of fixed steps in which surfaces touch, slide, stick and rebound, and nothing is located.
//
// Each step is that of the run without contacts, in the mode at its beginning. Where the mode has ended at its
// end, contacts are settled there: of order 1 across changes, of the order of the method between them.
#pragma once

#include "contact_run.hpp"

SARRUS_BEGIN

struct ContactSteps : ContactRun {
  static constexpr int MOST_MOVES = 8;
  std::vector<double> moved;
  bool stepped = false;  // the settled state is the end of a step
  bool inside = false;   // what was hit could not be moved apart

  ContactSteps(const ModelD& model, const Options& options, const Outside& calls, double often)
      : ContactRun(model, options, calls, often), moved(model.nq) {}

  // Slots that are closed or inside each other meet by positions alone, loops kept
  bool meet(double t) override {
    take_depths();
    for (int round = 0; round < MOST_MOVES; ++round) {
      auto meets = [&](int k) { return modes()[k].state != SLOT_OPEN || (x->hits[k] && gap(k) < 0); };
      if (!move_onto(x->x, here(), meets, moved.data())) break;
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
  bool step(double h, double t_end) override {
    mark();
    x->settler.flight = h, stepped = false;
    if (x->before.ends()) return settle_step(x->before);
    if (!inner->step(h, t_end)) return fail(inner->state().status);
    if (!look_at_state(x->now)) return false;
    stepped = true;
    return x->now.ends() || rebounds_over(inner->state().t) ? settle_step(x->now) : accept();
  }
};

SARRUS_END
