// Copies in the lanes of one group: regular steps all at once, the others one by one with a run of their own.
#pragma once

#include <memory>

#include "copy_inputs.hpp"
#include "copy_states.hpp"

namespace sarrus {

struct LaneGroup {
  CopyStates& x;
  LaneSteps& lanes;
  Run& run;            // for single steps, with `single` as its source
  CopyInputs& single;  // inputs of the copy that the run is at
  std::vector<CopyInputs> sources;
  std::vector<LaneState> states;
  std::vector<double> a, tau;  // (width, nv)
  std::vector<long> id;
  int active = 0;  // lanes with a copy that is fine

  LaneGroup(CopyStates& copies, LaneSteps& several, Run& one, CopyInputs& source)
      : x(copies), lanes(several), run(one), single(source) {
    int width = lanes.width();
    sources.reserve(width);
    for (int l = 0; l < width; ++l) sources.push_back(source);
    states.resize(width), id.resize(width);
    a.resize(width * x.nv), tau.resize(width * x.nv);
  }
  double* acceleration(int l) { return a.data() + l * x.nv; }
  double* force(int l) { return tau.data() + l * x.nv; }
  Carried& carried(int l) { return x.carried[id[l]]; }

  template <class Use>
  void each_active(Use use) {
    for (int l = 0; l < lanes.width(); ++l)
      if (active >> l & 1) use(l);
  }
  // Copies whose next inputs are not finite stop.
  void stop_unusable() {
    each_active([&](int l) {
      if (sources[l].usable) return;
      carried(l).unusable = true;
      carried(l).status = StepStatus::NOT_FINITE;
      active &= ~(1 << l);
    });
  }
  // Copies first .. last at time t, after `step` steps; lost(copy) is called for those without an
  // acceleration
  template <class Lost>
  void begin(long first, long last, long step, double t, Lost lost) {
    active = 0;
    int needed = 0;
    for (int l = 0; l < lanes.width(); ++l) {
      id[l] = std::min(first + l, last - 1);
      if (first + l >= last || carried(l).status != StepStatus::FINE) continue;
      active |= 1 << l;
      sources[l].begin(id[l], step);
      if (carried(l).single) {
        if (restore(l, step, t)) continue;
        active &= ~(1 << l);
        lost(id[l]);
      } else {
        sample(l, t, x.q.data() + id[l] * x.nq, x.v.data() + id[l] * x.nv);
        needed |= 1 << l;
      }
    }
    by_rank(needed, [&](int used, int rank) {
      lanes.accelerate(states.data(), used, rank);
      for (int l = 0; l < lanes.width(); ++l)
        if (used >> l & 1) std::copy_n(lanes.end(l).a, x.nv, acceleration(l));
    });
  }
  // The single run at the state of a lane
  bool restore(int l, long step, double t) {
    single.begin(id[l], step);
    bool fine = x.restore(id[l], t, run);
    if (!fine) carried(l).status = run.state().status;
    take_inputs(l);
    std::copy_n(run.state().a, x.nv, acceleration(l));
    std::copy_n(run.state().tau, x.nv, force(l));
    return fine;
  }
  void take_inputs(int l) {
    sources[l].u = single.u, sources[l].next = single.next, sources[l].usable = single.usable;
  }
  void sample(int l, double t, const double* q, const double* v) {
    sources[l].supply({t, q, v, 0}, {force(l), nullptr, nullptr, nullptr, nullptr, 0});
  }
  // call(used, rank) for lanes with the same rank
  template <class Function>
  void by_rank(int used, Function call) {
    while (used) {
      int same = 0, rank = carried(__builtin_ctz(used)).before.largest_rank;
      for (int l = 0; l < lanes.width(); ++l) {
        const Carried& c = carried(l);
        states[l] = {x.q.data() + id[l] * x.nq,
                     x.v.data() + id[l] * x.nv,
                     acceleration(l),
                     force(l),
                     c.pivots[1],
                     c.before.pivot};
        if (used >> l & 1 && c.before.largest_rank == rank) same |= 1 << l;
      }
      call(same, rank);
      used &= ~same;
    }
  }
  // LaneSteps whose step from `step` at time t to time t1 is regular. last: nobody needs their accelerations
  // there. reached(lane, state) is called for all lanes that make the step.
  template <class Reached>
  void step(long step, double t, double t1, bool last, Reached reached) {
    int done = 0, candidates = 0;
    for (int l = 0; l < lanes.width(); ++l)
      if (active >> l & 1 && carried(l).ranks[1] == carried(l).before.largest_rank && !carried(l).fresh)
        candidates |= 1 << l;
    by_rank(candidates, [&](int used, int rank) {
      int fine = lanes.step(states.data(), used, rank, t1 - t);
      if (!fine) return;
      if (!last) {
        for (int l = 0; l < lanes.width(); ++l)
          if (fine >> l & 1) {
            RunState s = lanes.end(l);
            sample(l, t1, s.q, s.v);
          }
        fine = lanes.accelerate_end(states.data(), fine);
      }
      for (int l = 0; l < lanes.width(); ++l)
        if (fine >> l & 1) {
          RunState s = lanes.end(l);
          if (!last) std::copy_n(s.a, x.nv, acceleration(l));
          x.keep(id[l], s, t1 - t);
          reached(l, s);
        }
      done |= fine;
    });
    for (int l = 0; l < lanes.width(); ++l)
      if (active >> l & 1 && !(done >> l & 1)) step_single(l, step, t, t1, reached);
  }
  template <class Reached>
  void step_single(int l, long step, double t, double t1, Reached reached) {
    bool fine = restore(l, step, t);
    while (fine && run.state().t < t1) fine = run.step(t1 - run.state().t, t1);
    x.keep(id[l], run);
    if (!fine) {
      active &= ~(1 << l);
      return;
    }
    carried(l).alone += 1;
    take_inputs(l);
    std::copy_n(run.state().a, x.nv, acceleration(l));
    std::copy_n(run.state().tau, x.nv, force(l));
    reached(l, run.state());
  }
};

}  // namespace sarrus
