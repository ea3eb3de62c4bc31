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
  int ld;

  bool inputs(const ModelD& m, double t, const double* q, const double* v, double* tau, double* drive,
              double* user, double* M, double* h, int stage) const {
    if (outside.inputs) return outside.inputs(outside.context, t, q, v, tau, drive, user, M, h, ld, stage);
    fill(tau, m.nv);
    return true;
  }
  bool acceleration(double t, const double* q, const double* v, double* a) const {
    return outside.acceleration(outside.context, t, q, v, a);
  }
};

inline Options options(const RunOptions& o) {
  Options k;
  k.tableau = o.method >= 2 ? DOPRI5 : o.method == 1 ? SEMI_IMPLICIT_EULER : RK4;
  k.semi_implicit = o.method == 1;
  k.adaptive = o.method >= 2;
  k.correction = o.correction;
  k.damping = o.damping;
  k.stiffness = o.stiffness;
  k.rtol = o.rtol;
  k.atol = o.atol;
  k.least_step = o.least_step;
  k.keep_energy = o.keep_energy;
  k.energy = o.energy;
  k.slope = o.slope;
  return k;
}

// Padding is zero and stays zero.
inline void* cleared(unsigned long long size) {
  unsigned long long bytes = (size + 4096) / 64 * 64;
  char* memory = static_cast<char*>(aligned_alloc(64, bytes));
  for (unsigned long long i = 0; i < bytes; ++i) memory[i] = 0;
  return memory;
}

template <int LD, class S>
struct SizedRun : Run {
  const ModelD& m;
  Options o;
  S source;
  void* memory;
  Stepper<double, LD>* s;
  double next_step = 0;

  SizedRun(const ModelD& model, const RunOptions& given, const Outside& outside)
      : m(model), o(options(given)), source{outside, 0} {
    Arena measure(nullptr);
    Stepper<double, LD> probe(m, measure);
    source.ld = probe.w.ld;
    memory = cleared(measure.used);
    Arena arena(memory);
    s = new Stepper<double, LD>(m, arena);
    if (m.sparse && !S::supplies_inertia && given.method <= 2)  // explicit methods
      s->w.factor.by_entries = BY_ENTRIES;
  }
  ~SizedRun() override {
    delete s;
    free(memory);
  }
  SizedRun(const SizedRun&) = delete;

  bool start(double t, const double* q, const double* v) override {
    for (int j = 0; j < m.nq; ++j) s->q1[j] = q[j];
    for (int j = 0; j < m.nv; ++j) s->v1[j] = v[j];
    s->status = FINE;
    s->rank = s->most_rank = -1;
    s->tight = true;
    return sarrus::start(m, source, o, t, *s);
  }
  bool restore(double t, const double* q, const double* v, const RunMemory& memory) override {
    for (int j = 0; j < m.nq; ++j) s->q1[j] = q[j];
    for (int j = 0; j < m.nv; ++j) s->v1[j] = v[j];
    s->status = FINE;
    next_step = memory.step;
    Memory before{memory.pivot_before, memory.step_before, memory.calm, memory.most_rank, memory.tight != 0};
    return sarrus::restore(m, source, o, t, before, *s);
  }
  RunMemory remember() const override {
    return {s->pivot_before, s->step_before, s->calm, next_step, s->most_rank, s->tight};
  }
  bool step(double h, double t_end) override {
    next_step = h;
    return sarrus::step(m, source, o, next_step, t_end, *s);
  }
  RunState state() const override {
    return {s->t, s->drift, s->velocity_drift, s->pivot,  next_step,     s->q, s->v,
            s->a, s->tau,   s->rank,           s->status, s->evaluations};
  }
};

template <int LD, class S>
struct ImplicitRun : SizedRun<LD, S> {
  using Base = SizedRun<LD, S>;
  void* more;
  Radau<double, LD>* r;

  ImplicitRun(const ModelD& model, const RunOptions& given, const Outside& outside)
      : Base(model, given, outside) {
    Arena measure(nullptr);
    Radau<double, LD> probe(this->m, measure, this->source.ld);
    more = cleared(measure.used);
    Arena arena(more);
    r = new Radau<double, LD>(this->m, arena, this->source.ld);
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
    return implicit_step(this->m, this->source, this->o, this->next_step, t_end, *this->s, *r);
  }
  int tail_size() const override { return 2 + 2 * STAGES * this->source.ld; }
  void store_tail(double* to) const override {
    int n = STAGES * this->source.ld;
    to[0] = r->past_step, to[1] = r->past_error;
    for (int i = 0; i < n; ++i) to[2 + i] = r->past_u[i], to[2 + n + i] = r->past_v[i];
  }
  void load_tail(const double* from) override {
    int n = STAGES * this->source.ld;
    r->past_step = from[0], r->past_error = from[1];
    for (int i = 0; i < n; ++i) r->past_u[i] = from[2 + i], r->past_v[i] = from[2 + n + i];
  }
};

SARRUS_END
