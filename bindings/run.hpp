// A run of many steps over kernels/step.hpp, with its own memory and one callback slot.
#pragma once

#include <cstdlib>

#include "../kernels/step.hpp"
#include "table.hpp"

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
  k.tableau = o.method == 2 ? DOPRI5 : o.method == 1 ? SEMI_IMPLICIT_EULER : RK4;
  k.semi_implicit = o.method == 1;
  k.adaptive = o.method == 2;
  k.correction = o.correction;
  k.damping = o.damping;
  k.stiffness = o.stiffness;
  k.rtol = o.rtol;
  k.atol = o.atol;
  k.least_step = o.least_step;
  k.keep_energy = o.keep_energy;
  k.energy = o.energy;
  return k;
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
    unsigned long long bytes = (measure.used + 4096) / 64 * 64;
    memory = aligned_alloc(64, bytes);
    char* bytes_at = static_cast<char*>(memory);
    for (unsigned long long i = 0; i < bytes; ++i) bytes_at[i] = 0;  // padding is zero and stays zero
    Arena arena(memory);
    s = new Stepper<double, LD>(m, arena);
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

SARRUS_END
