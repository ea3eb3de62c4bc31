// A control law that runs by itself: what src/sarrus/control/core/law.py does around the one call of a
// control step. From a measured state to inputs, nothing is allocated.
//
//   references -> load on a held object -> step, for all ranks in doubt -> places of contacts -> transition
#pragma once

#include "control/law/law.hpp"
#include "control/law/law_verdict.hpp"

SARRUS_BEGIN

// Load on a held object, as far as the law knows it
struct LawLoad {
  double wrench[6] = {}, payload[PAYLOAD_NUMBERS] = {};
  bool has_wrench = false, has_payload = false;
};

template <int LDC>
SARRUS_FN ControlStatus estimate_load(Law<LDC>& s, const ControlInput<double>& now, LawLoad& to) {
  const ObserverTables& o = *s.tables.observer;
  auto& own = s.observer;
  ControlInput<double> in = s.question(now.t, now.q, now.v);
  in.payload = o.own;
  double dt = now.t - s.seen.before.t;
  ObserverInput<double> asked{s.last, nullptr, 1.0 - __builtin_exp(-o.bandwidth * dt),
                              __builtin_exp(-dt / o.memory), true};
  ControlFound<double> found{};
  Arena results(own.kept);
  bind_results(own.setup, results, found);
  observe<double, LDC>(own.setup, in, {o.length, o.farthest, o.payload}, asked, s.seen, found,
                       Arena(own.work));
  if (found.status != STEPPED) return found.status;
  const double* estimate = s.seen.estimate;
  copy(to.wrench, o.compensates ? estimate + 6 : estimate, 6);
  if (o.compensates) copy(to.payload, estimate + 12, PAYLOAD_NUMBERS);
  to.has_wrench = true, to.has_payload = o.compensates;
  return STEPPED;
}

template <int LDC>
SARRUS_FN ControlStatus find_load(Law<LDC>& s, const ControlInput<double>& in, LawLoad& to) {
  bool displaced = s.tables.displaced;
  if (s.tables.observer) {
    ControlStatus status = estimate_load(s, in, to);
    if (status != STEPPED) return status;
    displaced = !s.seen.ready;
  }
  if (displaced) {
    to.has_wrench = true;
    if (!displacement_wrench<double, LDC>(s.step.setup, in, Arena(s.step.work), to.wrench)) return NOT_FINITE;
  }
  to.has_payload = to.has_payload || s.tables.own;
  for (int i = 0; s.tables.own && i < PAYLOAD_NUMBERS; ++i) to.payload[i] += s.tables.own[i];
  return STEPPED;
}

// The step for choices of ranks, with its inputs selected
template <int LDC>
SARRUS_FN void run_step(Law<LDC>& s, ControlInput<double>& in, const int* ranks, int count, void* kept,
                        ControlFound<double>& found) {
  in.ranks = ranks, in.ranks_given = count;
  Arena results(kept);
  found = {};
  bind_results(s.step.setup, results, found);
  control_step<double, LDC>(s.step.setup, in, found, Arena(s.step.work));
  if (found.status == STEPPED) control_inputs(s.step.setup, in, found, Arena(s.step.work));
}

// The choices of ranks of one step
struct LawChoices {
  int count = 0;
  bool solved = true, limited = false;
};

template <int LDC>
SARRUS_HD void keep_choice(Law<LDC>& s, const ControlFound<double>& f, LawChoices& all) {
  int n = s.step.setup.n;
  double* at = s.inputs + 2 * n * all.count;
  all.solved = all.solved && is_solved(f), all.limited = all.limited || is_limited(s.step.setup, f);
  copy(at, f.inputs, n);
  copy(at + n, f.u, n);
  s.weights[all.count++] = weight_of(f.ranks);
}

// The step for all ranks that are possible; s.found is that of the weightiest
template <int LDC>
SARRUS_FN LawChoices run_ranks(Law<LDC>& s, ControlInput<double>& in) {
  LawChoices all;
  int p = 3 * s.step.setup.forces.p;
  double sum = 0, began = s.feedback.last;
  copy(s.at_start, s.integrals, p);
  run_step(s, in, nullptr, 0, s.step.kept, s.found);
  if (s.found.status != STEPPED) return all;
  keep_choice(s, s.found, all);
  if (s.found.ranks.count > 0) {
    double ended = s.feedback.last;
    copy(s.at_end, s.integrals, p);
    auto run = [&](const int* ranks, int count, RankRule<double>& rule) {
      ControlFound<double> other{};
      run_step(s, in, ranks, count, s.step.other_kept, other);
      if (other.status != STEPPED) return false;
      rule = other.ranks;
      keep_choice(s, other, all);
      return true;
    };
    auto restore = [&] { copy(s.integrals, s.at_start, p), s.feedback.last = began; };
    OtherRanks<decltype(run), decltype(restore)>{run, restore}.others(s.found.ranks);
    copy(s.integrals, s.at_end, p);
    s.feedback.last = ended;
  }
  for (int i = 0; i < all.count; ++i) sum += s.weights[i];
  for (int i = 0; i < all.count; ++i) s.weights[i] /= sum;
  return all;
}

// Share of an offset that is left after some time of its duration
SARRUS_HD double left_of(double elapsed, double duration) {
  double s = elapsed / duration;
  s = s > 0 ? s : 0.0;
  return 1.0 - minimum_jerk(s < 1 ? s : 1.0);
}

// s.offset at time t, null where none is left
template <int LDC>
SARRUS_HD const double* offset_at(Law<LDC>& s, double t) {
  if (!s.fades) return nullptr;
  double left = left_of(t - s.began, s.tables.transition);
  for (int i = 0; i < s.step.setup.n; ++i) s.offset[i] = left * s.jump[i];
  return s.offset;
}

// The inputs of the weightiest choice again, with another offset
template <int LDC>
SARRUS_FN void select_again(Law<LDC>& s, const double* offset, LawChoices& all) {
  ControlInput<double> in{};
  in.hints = &s.step.hints, in.along = s.step.along, in.offset = offset;
  if (s.step.setup.forces.p) in.feedback = &s.feedback;
  control_inputs(s.step.setup, in, s.found, Arena(s.step.work));
  all.solved = all.solved && is_solved(s.found);
  copy(s.inputs, s.found.inputs, s.step.setup.n);
  copy(s.inputs + s.step.setup.n, s.found.u, s.step.setup.n);
}

// Inputs that start from those before where the rows that hold, or their rank, have changed
template <int LDC>
SARRUS_FN void smooth(Law<LDC>& s, double t, LawChoices& all) {
  int n = s.step.setup.n, rank = s.found.response.rank;
  if (s.tables.transition == 0) return;
  bool differs = rank != s.rank || s.some_rows != s.had_rows ||
                 (s.some_rows && any_of(s.m.nc, [&](int r) { return s.rows[r] != s.last_rows[r]; }));
  if (s.rank >= 0 && differs) {
    select_again(s, nullptr, all);
    for (int i = 0; i < n; ++i) s.jump[i] = s.before[i] - s.inputs[i];
    s.began = t, s.fades = true;
    select_again(s, offset_at(s, t), all);
  }
  if (t - s.began >= s.tables.transition) s.fades = false;
  s.rank = rank, s.had_rows = s.some_rows;
  for (int r = 0; r < s.m.nc; ++r) s.last_rows[r] = s.rows[r];
  copy(s.before, s.inputs, n);
}

// s.u within the bounds of motors
template <int LDC>
SARRUS_HD void cut_at_motors(Law<LDC>& s) {
  const ControlLimits<double>& limits = s.step.setup.limits;
  for (int i = 0; limits.least && i < s.step.setup.n; ++i)
    s.u[i] = s.u[i] < limits.least[i] ? limits.least[i] : s.u[i] > limits.most[i] ? limits.most[i] : s.u[i];
}

// Where limits cannot hold with the motion: the inputs of the motion alone, as far as motors give them
template <int LDC>
SARRUS_FN void leave_limits(Law<LDC>& s) {
  const ControlSetup<double>& setup = s.step.setup;
  ControlFound<double>& f = s.found;
  ControlInput<double> in{};
  if (setup.levels)
    start_without_limits(setup, in, f), copy(s.u, f.u, setup.n);
  else
    apply_metric(metric_of(setup, f), f.least.x, setup.n, 1, s.u);
  cut_at_motors(s);
}

// s.x, s.u: the mean over all choices, within the bounds of motors
template <int LDC>
SARRUS_FN void take_mean(Law<LDC>& s, const LawChoices& all) {
  int n = s.step.setup.n;
  copy(s.x, s.inputs, n);
  copy(s.u, s.inputs + n, n);
  if (all.count == 1) return;
  for (int i = 0; i < n; ++i) s.u[i] *= s.weights[0];
  for (int c = 1; c < all.count; ++c)
    for (int i = 0; i < n; ++i) s.u[i] += rounded(s.weights[c] * s.inputs[(2 * c + 1) * n + i]);
  cut_at_motors(s);
  if (s.step.setup.forces.p) {
    ControlInput<double> in{};
    in.feedback = &s.feedback;
    settle_forces(s.step.setup, in, s.u, s.found);
  }
  ControlFound<double>& f = s.found;
  for (int j = 0; j < s.m.nv; ++j) f.a[j] = f.response.a0[j] + inner(f.response.B + j * n, s.u, n);
}

// One step with the resistance that is given; s.u are its inputs
template <int LDC>
SARRUS_FN LawStatus step_once(Law<LDC>& s, double t, const double* q, const double* v,
                              const double* resistance) {
  ControlInput<double> in = s.question(t, q, v);
  LawLoad load;
  in.targets = s.targets, in.null_force = s.tables.null_force, in.resistance = resistance;
  in.hints = &s.step.hints, in.along = s.step.along, in.offset = offset_at(s, t);
  if (s.step.setup.forces.p) in.desired = s.desired, in.applied = nullptr, in.feedback = &s.feedback;
  s.failed = find_load(s, in, load);
  if (s.failed != STEPPED) return LAW_FAILED;
  in.external = load.has_wrench ? load.wrench : nullptr;
  in.payload = load.has_payload ? load.payload : nullptr;
  in.settling = s.footing.settles ? s.footing.settling : nullptr;
  LawChoices all = run_ranks(s, in);
  if (follow_contacts(s.tables.footing, s.m, t, q, s.active(), s.found, s.nearest.tree, s.footing)) {
    s.step.forget();
    in.settling = s.footing.settles ? s.footing.settling : nullptr;
    all = run_ranks(s, in);
  }
  s.failed = s.found.status;
  if (s.failed != STEPPED) return LAW_FAILED;
  smooth(s, t, all);
  take_mean(s, all);
  if (!all.solved) leave_limits(s);
  return verdict(s, all.solved, all.limited);
}

// The same with the dry friction of what moves, then with that of what rests and is to move
template <int LDC>
SARRUS_FN LawStatus step_with_friction(Law<LDC>& s, double t, const double* q, const double* v) {
  const FrictionTables& friction = s.tables.friction;
  if (!friction.k) return step_once(s, t, q, v, nullptr);
  moving_friction(friction, v, s.m.nv, s.resistance);
  LawStatus status = step_once(s, t, q, v, s.resistance);
  if (status == LAW_FAILED) return status;
  set_metric(s.m, q, nullptr, s.nearest);
  for (int j = 0; j < s.m.nv; ++j) s.starting[j] = s.nearest.M[j * s.nearest.ld + j];
  if (!add_starting_friction(friction, v, s.found.a, s.starting, s.resistance)) return status;
  return step_once(s, t, q, v, s.resistance);
}

// Whether a state is made of numbers
SARRUS_HD bool is_finite(const double* x, int n) {
  return sum_of<double>(n, [&](int i) { return x[i] * 0.0; }) == 0.0;
}

// A step from a measured state to inputs u (nu). Where it fails, u are those of the last step.
template <int LDC>
SARRUS_FN LawStatus take_step(Law<LDC>& s, double t, const double* q, const double* v, double* u) {
  LawStatus status = LAW_FAILED;
  s.failed = NOT_FINITE;
  if (is_finite(&t, 1) && is_finite(q, s.m.nq) && is_finite(v, s.m.nv)) {
    if (t <= s.start && t < s.latest) s.reset();
    if (s.latest == -HUGE_VAL) s.start = t;
    s.latest = larger(t, s.latest);
    follow_references(s.step.setup, s.tables.reference, s.tables.references, s.given, t, s.targets);
    status = step_with_friction(s, t, q, v);
  }
  bool usable = status != LAW_FAILED && is_finite(s.u, s.step.setup.n);
  if (!usable) status = LAW_FAILED;
  if (usable)
    for (int i = 0; i < s.step.setup.n; ++i) s.last[s.tables.used[i]] = s.u[i];
  copy(u, s.last, s.tables.nu);
  return status;
}

SARRUS_END
