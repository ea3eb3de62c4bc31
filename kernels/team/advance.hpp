// Many steps of one copy by a team, with the arguments of the recorded kernel `advance`
// (src/sarrus/tracing/cuda_text.py), which means the same.
#pragma once

#include "team/step.hpp"

SARRUS_BEGIN

constexpr double WHOLE_TURN = 6.283185307179586;

// Arrays of all copies and what is asked for; null where there is none
template <class T>
struct TeamRun {
  int first, last, most;  // numbers of steps: of the inputs, of the end; at most so many steps
  T dt;
  double* q;  // (copies, nq)
  T* v;       // (copies, nv)
  const T* u;
  long long u_copy, u_step;
  const T* tau;
  long long tau_copy;
  double* q_kept;
  T* v_kept;
  int every, rows;
  int* reached;
  unsigned* guards;
  T* drifts;
  const double* units;
  int* due;
  double* errors;
  const int* actuated;
  int nu;
  int tested;               // one step in so many is taken in two halves as well
  double halves, rounding;  // error over what two halves differ, and what of it is rounding
};

// The copy of a team; `exists` is false for a team that has none and runs along with another's
struct Place {
  long long copy;
  bool exists;
};

// The state of a copy into s, positions without whole turns
template <class S, class T, class Team>
SARRUS_HD void load_copy(S& s, const TeamRun<T>& run, long long copy, Team& team) {
  const double* q = run.q + copy * s.m.nq;
  team.each(s.m.nq, [&](int j) {
    double whole = s.p.turning[j] ? round_(q[j] * (1 / WHOLE_TURN)) : 0.0;
    if (s.p.turns) s.turns[j] = T(whole);
    s.q[j] = T(q[j] - whole * WHOLE_TURN);
  });
  team.each(s.m.nv, [&](int j) { s.v[j] = run.v[copy * s.m.nv + j]; });
}

// A state (q, v), with whole turns, to some row of positions and velocities
template <class S, class T, class Team>
SARRUS_HD void store_state(const S& s, const T* q, const T* v, double* q_row, T* v_row, Team& team) {
  team.each(s.m.nq,
            [&](int j) { q_row[j] = double(q[j]) + (s.p.turns ? double(s.turns[j]) * WHOLE_TURN : 0.0); });
  team.each(s.m.nv, [&](int j) { v_row[j] = v[j]; });
}

// Forces of a step: tau and inputs
template <class S, class T, class Team>
SARRUS_HD void load_force(S& s, const TeamRun<T>& run, long long copy, int step, Team& team) {
  const T* input = run.u ? run.u + copy * run.u_copy + (step - run.first) * run.u_step : nullptr;
  team.each(s.m.nv, [&](int j) {
    T sum = run.tau ? run.tau[copy * run.tau_copy + j] : T(0);
    for (int k = 0; input && k < run.nu; ++k)
      if (run.actuated[k] == j) sum += input[k];
    s.force[j] = sum;
  });
}

// (q1, v1) becomes the state
template <class S, class Team>
SARRUS_HD void begin_at_end(S& s, Team& team) {
  team.each(s.m.nq, [&](int j) { s.q[j] = s.q1[j]; });
  team.each(s.m.nv, [&](int j) { s.v[j] = s.v1[j]; });
}

// Angles of the state between -pi and pi
template <class S, class Team>
SARRUS_HD void wrap_angles(S& s, Team& team) {
  using T = typename S::T;
  if (!s.p.turns) return;
  team.each(s.m.nq, [&](int j) {
    if (!s.p.turning[j]) return;
    T x = s.q[j], whole = round_(x * T(1 / WHOLE_TURN));
    s.q[j] = (x - whole * T(WHOLE_TURN)) - whole * T(WHOLE_TURN - double(T(WHOLE_TURN)));
    s.turns[j] += whole;
  });
}

// What two halves differ by from a step, in units of which its numbers have `size`, without what is rounding
template <class T>
SARRUS_HD double step_error_of(const TeamRun<T>& run, double apart, double size) {
  return larger(run.halves * apart - run.rounding * size, 0.0);
}

// What a copy has come to; the same in all threads of its team
template <class T>
struct Progress {
  int step, last, test, since, failed = 0;
  bool moved = false;  // by the last step
  T open, velocity_open;
};

// After the two halves of the step to the state in run.q and run.v, which ended at (q1, v1): what they differ
// goes to the errors of the copy.
template <class S, class T, class Team>
SARRUS_HD void note_difference(S& s, const TeamRun<T>& run, long long copy, Progress<T>& at, Team& team) {
  const double *q = run.q + copy * s.m.nq, *unit = run.units, *speed_unit = run.units + s.m.nq;
  const T* v = run.v + copy * s.m.nv;
  auto whole = [&](int j) { return s.p.turns ? double(s.turns[j]) * WHOLE_TURN : 0.0; };
  double apart = team.most(s.m.nq, [&](int j) { return abs_(q[j] - whole(j) - double(s.q1[j])) / unit[j]; });
  double size = team.most(s.m.nq, [&](int j) { return abs_(double(s.q1[j])) / unit[j]; });
  double faster =
      team.most(s.m.nv, [&](int j) { return abs_(double(v[j]) - double(s.v1[j])) / speed_unit[j]; });
  double speed = team.most(s.m.nv, [&](int j) { return abs_(double(v[j])) / speed_unit[j]; });
  double* errors = run.errors + 5 * copy;
  int since = at.step - at.since;
  team.each(1, [&](int) {
    for (int k = 0; k < 2; ++k) errors[2 + k] += since * errors[k];
    errors[0] = step_error_of(run, apart, larger(size, 1.0));
    errors[1] = step_error_of(run, faster, speed);
    errors[4] = larger(speed, errors[4]);
  });
  at.since = at.step;
  at.test = at.step + run.tested;
}

// After the step itself: whether it counts, and whether a test is due
template <class T>
SARRUS_HD bool note_step(const StepReport<T>& found, bool going, Progress<T>& at) {
  at.moved = going && found.guards == 0;
  if (going) at.failed = found.guards;
  if (!at.moved) return false;
  at.open = larger(found.drift, at.open);
  at.velocity_open = larger(found.velocity_drift, at.velocity_open);
  return at.step >= at.test;
}

// Puts the state to come into run.q and run.v, and the state itself back where the halves begin.
template <class S, class T, class Team>
SARRUS_HD void begin_test(S& s, const TeamRun<T>& run, long long copy, bool exists, bool moved, Team& team) {
  const T *q = moved ? s.q1 : s.q, *v = moved ? s.v1 : s.v;
  if (exists) store_state(s, q, v, run.q + copy * s.m.nq, run.v + copy * s.m.nv, team);
  s.factored = false;
}

// The end of the step becomes the state where it counts; after a test it lies in run.q and run.v.
template <class S, class T, class Team>
SARRUS_HD void accept_step(S& s, const TeamRun<T>& run, long long copy, bool tested, Progress<T>& at,
                           Team& team) {
  if (tested)
    load_copy(s, run, copy, team);
  else if (at.moved)
    begin_at_end(s, team);
  s.factored = s.factored && at.moved && !tested;
  wrap_angles(s, team);
  at.step += at.moved ? 1 : 0;
}

// Takes one step of the copy where it is `going`, and its halves where a test is due. Copies that are not
// going take part: teams of a warp run in step.
template <class S, class T, class Team>
SARRUS_HD void advance_once(S& s, const TeamRun<T>& run, const Place& place, bool going, Progress<T>& at,
                            Team& team) {
  load_force(s, run, place.copy, going ? at.step : run.first, team);
  bool test = false, tested = false;
  int failed = 0;
  for (int k = 0; k < 3; ++k) {  // the step, its halves
    StepReport<T> found = step_by_team(s, k == 0 ? run.dt : run.dt * T(0.5), team);
    if (k == 0) {
      test = note_step(found, going, at);
      tested = team.any(test);
      if (!tested) break;
      begin_test(s, run, place.copy, place.exists, at.moved, team);
    } else {
      failed |= found.guards;
      if (k == 1) begin_at_end(s, team);
    }
  }
  if (test && failed == 0) note_difference(s, run, place.copy, at, team);
  accept_step(s, run, place.copy, tested, at, team);
}

// Where a copy stands
template <class T>
SARRUS_HD Progress<T> progress_of(const TeamRun<T>& run, long long copy) {
  Progress<T> at;
  at.step = at.since = run.reached[copy];
  at.last = run.last - at.step > run.most ? at.step + run.most : run.last;
  at.test = run.units ? run.due[copy] : at.last;
  at.open = run.drifts[2 * copy];
  at.velocity_open = run.drifts[2 * copy + 1];
  return at;
}

// The same back
template <class T>
SARRUS_HD void store_progress(const TeamRun<T>& run, long long copy, const Progress<T>& at) {
  run.reached[copy] = at.step;
  run.guards[copy] = at.failed;
  run.drifts[2 * copy] = at.open;
  run.drifts[2 * copy + 1] = at.velocity_open;
  if (!run.units) return;
  run.due[copy] = at.test;
  double* errors = run.errors + 5 * copy;
  for (int k = 0; k < 2; ++k) errors[2 + k] += (at.step - at.since) * errors[k];
}

// Steps of one copy
template <class S, class T, class Team>
SARRUS_HD void advance_copy(S& s, const TeamRun<T>& run, const Place& place, Team& team) {
  long long copy = place.copy;
  Progress<T> at = progress_of(run, copy);
  load_copy(s, run, copy, team);
  for (;;) {
    bool going = place.exists && !at.failed && at.step < at.last;
    if (!team.any(going)) break;
    at.moved = false;
    advance_once(s, run, place, going, at, team);
    if (!at.moved || !run.rows || at.step % run.every != 0) continue;
    long long row = copy * run.rows + at.step / run.every - run.first / run.every - 1;
    store_state(s, s.q, s.v, run.q_kept + row * s.m.nq, run.v_kept + row * s.m.nv, team);
  }
  if (!place.exists) return;
  store_state(s, s.q, s.v, run.q + copy * s.m.nq, run.v + copy * s.m.nv, team);
  team.each(1, [&](int) { store_progress(run, copy, at); });
}

// a at (q, v) under tau, all of one copy; returns the guards that do not pass. Rows that are left out
// have to
// hold too.
template <class S, class T, class Team>
SARRUS_HD int acceleration_by_team(S& s, const T* q, const T* v, const T* tau, T* a, Team& team) {
  auto& m = s.m;
  team.each(m.nq, [&](int j) { s.q[j] = q[j]; });
  team.each(m.nv, [&](int j) { s.v[j] = v[j], s.force[j] = tau[j]; });
  StepReport<T> found;
  evaluate_by_team(s, Pass::STAGE, s.q, s.v, team);
  enter_right_side(s, Pass::STAGE, s.q, s.v, team);
  enter_matrix(s, Pass::STAGE, s.q, s.v, team);
  solve_by_team(s, Pass::STAGE, team);
  found.require(PIVOT, smallest_pivot_of(m, s.p, s.e, team) > T(NEAR_SINGULAR));
  team.each(m.nv, [&](int j) { a[j] = s.v1[j] = s.e.solution(j); });
  T size = largest_by_team(m, s.v1, team);
  T scale = size + team.most(m.nc, [&](int r) { return abs_(s.rows.gamma[r]) / m.row_unit[r]; });
  T* gamma = s.e.x;  // the equations have been solved
  team.each(m.nc, [&](int r) { gamma[r] = s.rows.gamma[r]; });
  move_by_team(m, s.p, s.v1, s.tree, team);
  rows_by_team(m, State<T>{s.q, s.v1, nullptr, nullptr}, s.tree, s.rows, s.Jv, team);  // J a in place of J v
  T off = team.most(m.nc, [&](int r) { return abs_(gamma[r] - s.Jv[r]) / m.row_unit[r]; });
  found.require(DECISION, size < T(FASTEST));
  found.require(RANK, off <= scale * s.p.dropped);
  return found.guards;
}

SARRUS_END
