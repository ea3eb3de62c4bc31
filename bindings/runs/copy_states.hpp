// The states of many copies between two calls, and what their steps are searched for: passes of singular poses.
#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "run_table.hpp"

namespace sarrus {

constexpr double REACH = 2;  // minima of the pivot up to this multiple of its change per step may be passes
constexpr double NO_PIVOT = 1e300;
constexpr double CLOSE_PIVOT = 1e-2;  // NEAR_SINGULAR of the kernel: loops are closed to rounding

// What a copy carries from one call to the next, besides q and v.
struct Carried {
  History before;
  double next_step = 0, drift = 0, velocity_drift = 0;
  double pivots[2] = {NO_PIVOT, NO_PIVOT}, ranks[2] = {-1, -1};  // of the last two states
  long steps = 0;
  int seen = 0;  // states since the start
  StepStatus status = StepStatus::STOPPED;
  bool fresh = true;      // no step was taken since the start
  bool single = true;     // the last step was not taken in a lane
  bool unusable = false;  // stopped by inputs that are not finite
};

struct CopyStates {
  long n = 0, nq = 0, nv = 0, nu = 0, tail = 0;
  std::vector<double> q, v, tails;
  std::vector<Carried> carried;
  // (q, v, u) of the last three states of each copy, by their number modulo 3; and those around a minimum of the pivot or a
  // change of rank: copy, step, pivot, rank, q, v, u
  std::vector<double> recent, passed;
  std::mutex passing;

  long wide() const { return nq + nv + nu; }
  void resize(long count) {
    n = count;
    q.assign(n * nq, NAN), v.assign(n * nv, NAN), tails.resize(n * tail);
    carried.assign(n, {});
    recent.resize(3 * n * wide());
    passed.clear();
  }
  // Copy i has reached a state, after `steps` steps, with the inputs u (nu) before it.
  void look(long i, const RunState& s, long steps, const double* u) {
    Carried& c = carried[i];
    double* now = recent.data() + (3 * i + c.seen++ % 3) * wide();
    std::copy_n(u, nu, std::copy_n(s.v, nv, std::copy_n(s.q, nq, now)));
    c.fresh = c.ranks[1] < 0;
    c.steps = steps;
    c.drift = std::max(c.drift, s.drift);
    c.velocity_drift = std::max(c.velocity_drift, s.velocity_drift);
    bool second = c.pivots[0] == NO_PIVOT;  // the state before was the first one
    double rise = second ? s.pivot - c.pivots[1] : std::max(c.pivots[0], s.pivot) - c.pivots[1];
    bool dip = c.pivots[1] < c.pivots[0] && c.pivots[1] <= s.pivot && c.pivots[1] <= REACH * rise;
    if (c.ranks[1] >= 0 && (dip || s.rank != c.ranks[1])) note_pass(i, s, steps, second ? 1 : 2);
    c.pivots[0] = c.pivots[1], c.pivots[1] = s.pivot;
    c.ranks[0] = c.ranks[1], c.ranks[1] = s.rank;
  }
  // The last `before` states and the present one, as three (the first one twice where there are two)
  void note_pass(long i, const RunState& s, long steps, int before) {
    std::lock_guard lock(passing);
    const Carried& c = carried[i];
    double pivots[] = {c.pivots[0], c.pivots[1], s.pivot}, ranks[] = {c.ranks[0], c.ranks[1], double(s.rank)};
    for (int j = 0; j < 3; ++j) {
      int which = std::max(j, 2 - before);
      passed.insert(passed.end(), {double(i), double(steps - 2 + which), pivots[which], ranks[which]});
      const double* x = recent.data() + (3 * i + (c.seen + which) % 3) * wide();
      passed.insert(passed.end(), x, x + wide());
    }
  }
  void keep(long i, const Run& run) {
    RunState s = run.state();
    Carried& c = carried[i];
    c.status = c.unusable ? StepStatus::NOT_FINITE : s.status;
    if (s.status != StepStatus::FINE) return;
    std::copy_n(s.q, nq, q.data() + i * nq);
    std::copy_n(s.v, nv, v.data() + i * nv);
    run.store_tail(tails.data() + i * tail);
    c.before = run.history();
    c.next_step = s.step;
    c.single = true;
  }
  // The state after a regular step of size h in a lane.
  void keep(long i, const RunState& s, double h) {
    Carried& c = carried[i];
    std::copy_n(s.q, nq, q.data() + i * nq);
    std::copy_n(s.v, nv, v.data() + i * nv);
    c.before = {c.pivots[1], h, c.before.regular_step, c.before.largest_rank, s.pivot < CLOSE_PIVOT, false};
    c.single = false;
  }
  bool restore(long i, double t, Run& run) const {
    const Carried& c = carried[i];
    History before = c.before;
    if (c.fresh) before.largest_rank = -1;
    bool fine = run.restore({t, q.data() + i * nq, v.data() + i * nv, 0}, before, c.next_step);
    run.load_tail(tails.data() + i * tail);
    return fine;
  }
};

}  // namespace sarrus
