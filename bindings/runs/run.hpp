// A run of many steps over kernels/integrate/step.hpp, with its own memory and one callback slot.
#pragma once

#include <cstdlib>

#include "integrate/implicit/implicit_step.hpp"
#include "integrate/step.hpp"
#include "run_table.hpp"

SARRUS_BEGIN

// The source that calls out. Without a callback: zero applied force.
template <bool INERTIA, bool ACCELERATION>
struct Called {
  static constexpr bool supplies_inertia = INERTIA;
  static constexpr bool supplies_acceleration = ACCELERATION;
  Outside outside;

  bool inputs(const ModelD& m, const Instant<double>& at, const Supplied<double>& to) const {
    if (outside.inputs) return outside.inputs(outside.context, at, to);
    fill(to.tau, m.nv);
    return true;
  }
  bool acceleration(const Instant<double>& at, double* a) const {
    return outside.acceleration(outside.context, at, a);
  }
};

// Padding is zero and stays zero.
inline void* cleared(unsigned long long size) {
  unsigned long long bytes = (size + 4096) / 64 * 64;
  char* memory = static_cast<char*>(aligned_alloc(64, bytes));
  for (unsigned long long i = 0; i < bytes; ++i) memory[i] = 0;
  return memory;
}

template <int LD, class S>
struct SizedRun : Run {
  using Steps = Stepper<double, LD, S>;
  const ModelD& m;
  Options o;
  S source;
  void* memory;
  Steps* s;
  double next_step = 0;

  SizedRun(const ModelD& model, const Options& options, const Outside& outside)
      : m(model), o(options), source{outside} {
    Arena measure(nullptr);
    Steps probe(m, o, source, measure);
    memory = cleared(measure.used);
    Arena arena(memory);
    s = new Steps(m, o, source, arena);
    if (m.sparse && !S::supplies_inertia && !o.method.implicit) s->w.factor.by_entries = BY_ENTRIES;
  }
  ~SizedRun() override {
    delete s;
    free(memory);
  }
  SizedRun(const SizedRun&) = delete;

  void set_trial_state(const double* q, const double* v) {
    for (int j = 0; j < m.nq; ++j) s->q1[j] = q[j];
    for (int j = 0; j < m.nv; ++j) s->v1[j] = v[j];
    s->status = StepStatus::FINE;
  }
  bool start(double t, const double* q, const double* v) override {
    set_trial_state(q, v);
    s->rank = s->before.largest_rank = -1;
    s->before.close_to_rounding = true;
    return sarrus::start(*s, t);
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    set_trial_state(at.q, at.v);
    next_step = step;
    return sarrus::restore(*s, at.t, history);
  }
  History history() const override { return s->before; }
  bool step(double h, double t_end) override {
    next_step = h;
    return sarrus::step(*s, next_step, t_end);
  }
  RunState state() const override {
    return {.t = s->t,
            .drift = s->drift,
            .velocity_drift = s->velocity_drift,
            .pivot = s->pivot,
            .step = next_step,
            .q = s->q,
            .v = s->v,
            .a = s->a,
            .tau = s->tau,
            .rank = s->rank,
            .evaluations = s->evaluations,
            .status = s->status};
  }
};

template <int LD, class S>
struct ImplicitRun : SizedRun<LD, S> {
  using Base = SizedRun<LD, S>;
  void* more;
  Radau<double, LD>* r;

  ImplicitRun(const ModelD& model, const Options& options, const Outside& outside)
      : Base(model, options, outside) {
    Arena measure(nullptr);
    Radau<double, LD> probe(this->m, measure, this->s->w.ld);
    more = cleared(measure.used);
    Arena arena(more);
    r = new Radau<double, LD>(this->m, arena, this->s->w.ld);
  }
  ~ImplicitRun() override {
    delete r;
    free(more);
  }

  bool start(double t, const double* q, const double* v) override {
    r->past_step = 0;
    return Base::start(t, q, v);
  }
  bool step(double h, double t_end) override {
    this->next_step = h;
    return implicit_step(*this->s, *r, this->next_step, t_end);
  }
  int size() const { return STAGES * this->s->w.ld; }
  int tail_size() const override { return 2 + 2 * size(); }
  void store_tail(double* to) const override {
    int n = size();
    to[0] = r->past_step, to[1] = r->past_error;
    for (int i = 0; i < n; ++i) to[2 + i] = r->past_u[i], to[2 + n + i] = r->past_v[i];
  }
  void load_tail(const double* from) override {
    int n = size();
    r->past_step = from[0], r->past_error = from[1];
    for (int i = 0; i < n; ++i) r->past_u[i] = from[2 + i], r->past_v[i] = from[2 + n + i];
  }
};

SARRUS_END
