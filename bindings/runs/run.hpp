// A run of many steps over kernels/integrate/step.hpp, with its own memory and one callback slot.
#pragma once

#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "integrate/implicit/automatic_step.hpp"
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

// A run within one mode.
struct StepsInMode : Run {
  virtual void rebuild() {}                     // for the rows that the model has now
  virtual void applied(double* tau) const = 0;  // (nv) at the state, without friction by load
  // lam (nc) at the state and which of it the motion determines; false: not known
  virtual bool multipliers(double*, unsigned char*) { return false; }
};

// One run. Implicit methods have their Radau data behind the Stepper; a source that supplies accelerations
// has no derivatives for them.
template <int LD, class S>
struct SizedRun : StepsInMode {
  using Steps = Stepper<double, LD, S>;
  const ModelD& m;
  Options o;
  S source;
  void* memory = nullptr;
  unsigned long long bytes = 0;
  Steps* s = nullptr;
  Radau<double, LD>* r = nullptr;
  StiffnessWatch watch;
  double next_step = 0;

  SizedRun(const ModelD& model, const Options& options, const Outside& outside)
      : m(model), o(options), source{outside} {
    rebuild();
  }
  void rebuild() override {
    Arena measure(nullptr);
    drop();
    build(measure);
    drop();
    if (measure.used + 4096 > bytes) {
      free(memory);
      bytes = measure.used + 4096;
      memory = std::calloc(bytes, 1);  // padding is zero and stays zero; pages come when written
    } else {
      std::memset(memory, 0, measure.used + 64);
    }
    Arena arena(static_cast<char*>(memory) + (-reinterpret_cast<unsigned long long>(memory) & 63));
    build(arena);
    bool structured = !S::supplies_inertia && (!o.method.implicit || o.method.switches);
    if (m.sparse && !S::supplies_inertia) s->w.factor.by_entries = BY_ENTRIES;
    if (m.sparse && r) r->r.w.factor.by_entries = BY_ENTRIES;
    s->regular.allowed = s->may_be_regular() && structured && !o.euclidean;
    s->w.open_tree = structured && may_be_open<double, LD>(m);
    s->w.zeros_stay = m.fronts && !S::supplies_inertia;
  }
  void build(Arena& arena) {
    s = new Steps(m, o, source, arena);
    if (o.method.implicit) r = new Radau<double, LD>(m, arena, s->w.ld);
  }
  void drop() {
    delete s;
    delete r;
    s = nullptr, r = nullptr;
  }
  ~SizedRun() override {
    drop();
    free(memory);
  }
  SizedRun(const SizedRun&) = delete;

  void set_trial_state(const double* q, const double* v) {
    if (s->status != StepStatus::FINE)
      std::memset(memory, 0,
                  bytes);  // numbers that are not finite stay in padding
    for (int j = 0; j < m.nq; ++j) s->q1[j] = q[j];
    for (int j = 0; j < m.nv; ++j) s->v1[j] = v[j];
    s->status = StepStatus::FINE;
  }
  bool start(double t, const double* q, const double* v, int largest_rank) override {
    set_trial_state(q, v);
    s->rank = -1;
    s->before.largest_rank = largest_rank;
    s->before.close_to_rounding = true;
    if (r) r->past_step = 0;
    watch = {};
    next_step = 0;
    return sarrus::start(*s, t);
  }
  bool restore(const Instant<double>& at, const History& history, double step) override {
    set_trial_state(at.q, at.v);
    next_step = step;
    return sarrus::restore(*s, at.t, history);
  }
  History history() const override { return s->before; }
  void end_at(double t) override { s->end = t; }
  bool step(double h, double t_end) override {
    next_step = h > 0 ? h : first_step(*s);
    if (double most = longest_step(*s); next_step > most) next_step = most;
    if constexpr (!S::supplies_acceleration) {
      if (o.method.switches) return automatic_step(*s, *r, watch, next_step, t_end);
      if (r) return implicit_step(*s, *r, next_step, t_end);
    }
    return sarrus::step(*s, next_step, t_end);
  }
  RunState state() const override {
    return {s->t, s->drift, s->velocity_drift, s->pivot,       next_step, s->q, s->v,
            s->a, s->tau,   s->rank,           s->evaluations, s->status};
  }
  void applied(double* tau) const override {
    for (int j = 0; j < m.nv; ++j) tau[j] = s->tau[j] - (s->load_is_in ? s->bearings.force[j] : 0);
  }
  bool multipliers(double* lam, unsigned char* unique) override {
    if (S::supplies_acceleration) return false;
    auto& w = s->w;
    for (int j = 0; j < m.nv; ++j) w.rhs[j] = s->tau[j] - w.h[j];
    copy(w.a, s->a, w.ld);
    sarrus::multipliers(m, w, lam);
    bool fewer = w.factor.rank_rows < m.nc;
    for (int k = 0; k < m.nc; ++k) unique[k] = !fewer;
    if (fewer && !w.factor.regular) uniqueness(m, w.factor, unique);
    return true;
  }
  // past_step, past_error, past_u, past_v of implicit steps, and the choice between them and explicit ones
  static constexpr int WATCHED = sizeof(StiffnessWatch) / sizeof(double);
  int tail_size() const override { return r ? WATCHED + 2 + 2 * STAGES * s->w.ld : 0; }
  void store_tail(double* to) const override {
    if (!r) return;
    int n = STAGES * s->w.ld;
    const StiffnessWatch& w = watch;
    for (double x : {w.implicit, w.hints, w.calm, w.needed, w.stable}) *to++ = x;
    to[0] = r->past_step, to[1] = r->past_error;
    for (int i = 0; i < n; ++i) to[2 + i] = r->past_u[i], to[2 + n + i] = r->past_v[i];
  }
  void load_tail(const double* from) override {
    if (!r) return;
    int n = STAGES * s->w.ld;
    for (double* x : {&watch.implicit, &watch.hints, &watch.calm, &watch.needed, &watch.stable}) *x = *from++;
    r->past_step = from[0], r->past_error = from[1];
    for (int i = 0; i < n; ++i) r->past_u[i] = from[2 + i], r->past_v[i] = from[2 + n + i];
  }
};

Run* make_run(const ModelD& m, const Options& o, const Outside& outside);
StepsInMode* make_steps_in_mode(const ModelD& m, const Options& o, const Outside& outside);
LaneSteps* make_lanes(const ModelD& m, const Options& o);
ModalLanes* make_modal_lanes(const ModelD& m, const ModePlan& plan, const Options& o);
ModalLanes* make_contact_lanes(const ModelD& m, const Options& o);
void step_derivatives_n(const ModelD& m, States x, const StepCall& call, Held actuated, SlopeArrays out);

SARRUS_END
