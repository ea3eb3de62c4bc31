// The states of many copies between two calls, and what their steps are searched for: passes of singular
// poses.
#pragma once

#include <algorithm>
#include <cmath>
#include <mutex>
#include <vector>

#include "../tables.hpp"

namespace sarrus {

constexpr double REACH = 2;  // minima of the pivot up to this multiple of its
                             // change per step may be passes
constexpr double NO_PIVOT = 1e300;
constexpr double CLOSE_PIVOT = 1e-2;  // NEAR_SINGULAR of the kernel: loops are closed to rounding

// What the fixed steps of a copy have lost so far (kernels/integrate/step_error.hpp); all without units.
struct FixedStepError {
  double moved = 0,
         faster = 0;               // sums of what is missing in (1), twice over each pair of steps
  double sampled = 0;              // sum of what is missing in (2), over `samples` steps
  double jumps = 0, samples = 0;   // steps at whose beginning inputs jump, and
                                   // those of them that were tested
  double speed = 0, quickest = 0;  // largest speed and acceleration so far

  // Whether the next step at whose beginning inputs jump is tested: the first ones, and then one in so many
  static constexpr int SAMPLED = 8;
  bool samples_jump() {
    long before = long(jumps++);
    return before < SAMPLED || before % SAMPLED == 0;
  }
};
constexpr double STEP_ROUNDING = 1e-15;  // of a number
constexpr double ACCURATE_PIVOT = 5e-2;  // 5 NEAR_SINGULAR: below, accelerations are those of limits

// What a copy carries from one call to the next, besides q and v.
struct Carried {
  History before;
  double next_step = 0, drift = 0, velocity_drift = 0;
  double pivots[2] = {NO_PIVOT, NO_PIVOT}, ranks[2] = {-1, -1};  // of the last two states
  long steps = 0,
       alone = 0;  // taken, and those of them that were not taken in a lane
  int seen = 0;    // states since the start
  StepStatus status = StepStatus::STOPPED;
  bool fresh = true;      // no step was taken since the start
  bool single = true;     // the last step was not taken in a lane
  bool unusable = false;  // stopped by inputs that are not finite
  int usual = 0;          // last states away from singular poses, under the same inputs
  bool sampled = false;   // the present step is tested by (2)
  FixedStepError error;

  bool away_from_singular(long nv) const {
    return pivots[1] > ACCURATE_PIVOT && ranks[1] == before.largest_rank && ranks[1] < nv;
  }
};

// What tests of steps of size h need   room: (4 nv)
struct StepTest {
  const ModelD& m;
  const Tables& tables;
  double h;
  double* room;
};

struct CopyStates {
  long n = 0, nq = 0, nv = 0, nu = 0, tail = 0;
  std::vector<double> q, v, tails;
  std::vector<Carried> carried;
  // (q, v, u) of the last three states of each copy, by their number modulo 3; and those around a minimum of
  // the pivot or a change of rank: copy, step, pivot, rank, q, v, u
  std::vector<double> recent, passed;
  std::vector<double> begun;  // (a, u) at the beginning of steps from the same states
  std::vector<double> modes;  // (n, mode_width)
  long mode_width = 0;
  std::mutex passing;

  long wide() const { return nq + nv + nu; }
  void resize(long count) {
    n = count;
    q.assign(n * nq, NAN), v.assign(n * nv, NAN), tails.resize(n * tail);
    carried.assign(n, {});
    recent.resize(3 * n * wide());
    begun.resize(3 * n * (nv + nu));
    modes.resize(n * mode_width);
    passed.clear();
  }
  double* mode(long i) { return modes.data() + i * mode_width; }
  const double* mode(long i) const { return modes.data() + i * mode_width; }
  // Copy i has changed its mode: pivots, ranks and accelerations from before say nothing about those after.
  void note_change(long i, const RunState& s) {
    Carried& c = carried[i];
    c.usual = 0;
    c.pivots[0] = c.pivots[1] = NO_PIVOT;
    if (c.ranks[1] >= 0) c.ranks[0] = c.ranks[1] = s.rank;
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
  const double* recent_state(long i, int ago) const {
    return recent.data() + (3 * i + (carried[i].seen + 2 - ago) % 3) * wide();
  }
  double* begun_at(long i, int ago) {
    return begun.data() + (3 * i + (carried[i].seen + 2 - ago) % 3) * (nv + nu);
  }
  // Largest entry of x (nv) without units
  double largest(const double* x, const ModelD& m) const {
    double most = 0;
    for (int j = 0; j < nv; ++j) most = std::max(most, std::abs(x[j]) / m.unit[j]);
    return most;
  }
  // A step begins at the last state of copy i, with acceleration a (nv) under inputs u (nu).
  void begin_step(long i, const double* a, const double* u, const StepTest& test) {
    Carried& c = carried[i];
    std::copy_n(u, nu, std::copy_n(a, nv, begun_at(i, 0)));
    bool usual = c.away_from_singular(nv);
    bool known = usual && c.usual > 0, same = known && std::equal(u, u + nu, begun_at(i, 1) + nv);
    c.usual = !usual ? 0 : same ? c.usual + 1 : 1;
    c.sampled = known && !same && c.error.samples_jump();
    if (usual) c.error.quickest = std::max(c.error.quickest, largest(a, test.m));
    if (c.usual >= 3 && c.usual % 2 == 1) add_missing(i, test);  // every step belongs to one pair
  }
  // What the last two steps of copy i miss, in its error
  void add_missing(long i, const StepTest& test) {
    FixedStepError& e = carried[i].error;
    ReachedStates x = {};
    for (int k = 0; k < 3; ++k)
      x.q[k] = recent_state(i, 2 - k), x.v[k] = x.q[k] + nq, x.a[k] = begun_at(i, 2 - k);
    x.h = test.h;
    StepError missing = test.tables.runs.missing(test.m, x, test.room);
    double far = 0;
    for (int j = 0; j < nq; ++j) far = std::max(far, std::abs(x.q[1][j]));
    e.moved += 2 * std::max(missing.moved - STEP_ROUNDING * far, 0.0);
    e.faster += 2 * std::max(missing.faster - STEP_ROUNDING * e.speed, 0.0);
  }
  // A step has ended in the state s. accelerate(u, a) finds the acceleration there.
  template <class Accelerate>
  void end_step(long i, const RunState& s, const StepTest& test, Accelerate accelerate) {
    FixedStepError& e = carried[i].error;
    e.speed = std::max(e.speed, largest(s.v, test.m));
    if (!carried[i].sampled || !(s.pivot > ACCURATE_PIVOT)) return;
    const double *begun = begun_at(i, 0), *from = recent_state(i, 0);
    accelerate(begun + nv, test.room);
    ReachedStates two = {{from, s.q}, {from + nq, s.v}, {begun, test.room}, test.h};
    e.sampled += test.tables.runs.missing_in_one(test.m, two);
    e.samples += 1;
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
    run.store_mode(mode(i));
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
    run.load_mode(mode(i));
    bool fine = run.restore({t, q.data() + i * nq, v.data() + i * nv, 0}, before, c.next_step);
    run.load_tail(tails.data() + i * tail);
    return fine;
  }
};

}  // namespace sarrus
