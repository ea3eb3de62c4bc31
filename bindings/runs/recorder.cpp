#include "recorder.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "../arrays.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {

constexpr double SLACK = 1e-9;  // of a sample time: rounding in sums of steps

struct Recorder {
  nb::object kernel_ref;  // keeps the kernel alive
  const Kernel& k;
  nb::object on_inputs, on_acceleration;
  std::unique_ptr<Run> run;
  bool adaptive, called, supplies_inertia;
  bool sampled;                  // inputs are asked for at the samples only: nothing but tau, held in between
  double sample_dt, origin = 0;  // samples at origin + k sample_dt, infinite: at the start only
  double samples = 0;            // how many were taken
  std::vector<double> held;
  std::vector<double> t, q, v, a, tau, drift, velocity_drift, pivot;
  std::vector<int> rank;
  size_t steps = 0;
  int earlier = 0;           // evaluations before a resumed state
  std::vector<double> kept;  // snapshot from before the first step that the end of the run cut short

  Recorder(nb::object kernel, nb::dict o, nb::object inputs, nb::object acceleration, bool inertia)
      : kernel_ref(kernel),
        k(nb::cast<const Kernel&>(kernel)),
        on_inputs(inputs),
        on_acceleration(acceleration) {
    RunOptions r;
    r.method = nb::cast<int>(o["method"]);
    r.correction = nb::cast<int>(o["correction"]);
    r.damping = nb::cast<double>(o["damping"]);
    r.stiffness = nb::cast<double>(o["stiffness"]);
    r.rtol = nb::cast<double>(o["rtol"]);
    r.atol = nb::cast<double>(o["atol"]);
    r.least_step = nb::cast<double>(o["least_step"]);
    r.keep_energy = nb::cast<bool>(o["keep_energy"]);
    r.energy = nb::cast<double>(o["energy"]);
    r.slope = nb::cast<int>(o["slope"]);
    adaptive = r.method >= 2;
    sampled = nb::cast<bool>(o["sampled"]);
    sample_dt = nb::cast<double>(o["sample_dt"]);
    held.assign(k.m.nv, 0.0);
    called = !inputs.is_none();
    supplies_inertia = inertia;
    Outside outside;
    outside.context = this;
    if (called) outside.inputs = &Recorder::ask;
    if (!acceleration.is_none()) outside.acceleration = &Recorder::ask_acceleration;
    outside.supplies_inertia = inertia;
    run.reset(k.tables.runs.make(k.m, r, outside));
  }

  static Out copy_of(const double* x, size_t n) {
    Fresh<Out> y({n});
    for (size_t i = 0; i < n; ++i) y.data[i] = x[i];
    return y.array;
  }
  // values of a returned array, or nothing where Python answered None; false on a wrong size
  static bool fill_from(nb::handle x, double* to, size_t rows, size_t cols, size_t ld) {
    if (x.is_none()) return true;
    auto y = nb::cast<In>(x);
    if (y.size() != rows * cols) return false;
    for (size_t r = 0; r < rows; ++r)
      for (size_t c = 0; c < cols; ++c) to[r * ld + c] = y.data()[r * cols + c];
    return true;
  }

  static bool ask(void* self, double t, const double* q, const double* v, double* tau, double* drive,
                  double* user, double* M, double* h, int ld, int stage) {
    auto& r = *static_cast<Recorder*>(self);
    const ModelD& m = r.k.m;
    if (r.sampled && !(stage == 0 && r.due(t))) {
      std::copy(r.held.begin(), r.held.end(), tau);
      return true;
    }
    nb::gil_scoped_acquire gil;
    nb::object answer = r.on_inputs(t, copy_of(q, m.nq), copy_of(v, m.nv), stage);
    if (answer.is_none()) return false;
    auto parts = nb::cast<nb::tuple>(answer);
    size_t nv = m.nv, nu = m.n_user_rows, nd = m.nd;
    bool fine = parts.size() == 5 && fill_from(parts[0], tau, 1, nv, nv) &&
                fill_from(parts[1], drive, 1, 3 * nd, 3 * nd) &&
                fill_from(parts[2], user, 1, nu * (3 + nv), 1);
    if (fine && r.supplies_inertia)
      fine = fill_from(parts[3], M, nv, nv, ld) && fill_from(parts[4], h, 1, nv, nv);
    if (!fine)
      throw nb::value_error("the inputs of a run must be (tau, drive, user, M, h) of the model's sizes");
    if (r.sampled) {
      r.held.assign(tau, tau + m.nv);
      r.samples = std::floor((t - r.origin) / r.sample_dt + SLACK) + 1;
    }
    return true;
  }
  bool due(double time) const { return samples == 0 || time >= origin + (samples - SLACK) * sample_dt; }
  static bool ask_acceleration(void* self, double t, const double* q, const double* v, double* a) {
    auto& r = *static_cast<Recorder*>(self);
    nb::gil_scoped_acquire gil;
    nb::object answer = r.on_acceleration(t, copy_of(q, r.k.m.nq), copy_of(v, r.k.m.nv));
    return !answer.is_none() && fill_from(answer, a, 1, r.k.m.nv, r.k.m.nv);
  }

  void record() {
    RunState s = run->state();
    t.push_back(s.t);
    q.insert(q.end(), s.q, s.q + k.m.nq);
    v.insert(v.end(), s.v, s.v + k.m.nv);
    a.insert(a.end(), s.a, s.a + k.m.nv);
    tau.insert(tau.end(), s.tau, s.tau + k.m.nv);
    drift.push_back(s.drift);
    velocity_drift.push_back(s.velocity_drift);
    pivot.push_back(s.pivot);
    rank.push_back(s.rank);
  }

  bool start(double time, In q0, In v0) {
    const double *x = checked(q0, "q", {size_t(k.m.nq)}), *y = checked(v0, "v", {size_t(k.m.nv)});
    bool fine;
    origin = time;
    {
      nb::gil_scoped_release free;
      fine = run->start(time, x, y);
    }
    if (fine) record();
    return fine;
  }

  // The present state as numbers: t, q, v, tau, what it owes to the steps before, and how many those were.
  std::vector<double> snapshot() const {
    RunState s = run->state();
    RunMemory m = run->remember();
    std::vector<double> x{s.t};
    x.insert(x.end(), s.q, s.q + k.m.nq);
    x.insert(x.end(), s.v, s.v + k.m.nv);
    x.insert(x.end(), s.tau, s.tau + k.m.nv);
    double rest[] = {m.pivot_before,
                     m.step_before,
                     m.calm,
                     m.step,
                     double(m.tight),
                     double(steps ? m.most_rank : -1),
                     double(earlier + s.evaluations),
                     double(steps)};
    std::vector<double> tail(run->tail_size());
    run->store_tail(tail.data());
    x.insert(x.end(), tail.begin(), tail.end());
    x.insert(x.end(), std::begin(rest), std::end(rest));
    return x;
  }
  Out checkpoint() const {
    std::vector<double> x = kept.empty() ? snapshot() : kept;
    return copy_of(x.data(), x.size());
  }
  // Go on from a checkpoint of a run that began at time `begin`, with the same options.
  bool resume(double begin, In from) {
    size_t nq = k.m.nq, nv = k.m.nv, more = run->tail_size();
    const double* x = checked(from, "checkpoint", {1 + nq + 2 * nv + more + 8});
    const double *v0 = x + 1 + nq, *tau0 = v0 + nv, *tail = tau0 + nv, *rest = tail + more;
    RunMemory memory{rest[0], rest[1], rest[2], rest[3], int(rest[5]), int(rest[4])};
    origin = begin;
    steps = static_cast<size_t>(rest[7]);
    held.assign(tau0, tau0 + nv);
    samples = std::isinf(sample_dt) ? 1 : std::floor((x[0] - origin) / sample_dt + SLACK) + 1;
    earlier = int(rest[6]) - 1;  // the state itself was counted when it was arrived at
    bool fine;
    {
      nb::gil_scoped_release free;
      fine = run->restore(x[0], x + 1, v0, memory);
      run->load_tail(tail);
    }
    if (fine) record();
    return fine;
  }

  // At most `count` steps towards t_end; fixed steps end at times t0 + i dt, those of varying size never
  // pass a sample. Keeps every `every`-th state and the last one. Returns the number of steps taken.
  size_t advance(double t0, double dt, double t_end, size_t count, size_t every) {
    nb::gil_scoped_release free;
    size_t done = 0;
    double h = adaptive && steps ? run->state().step : dt;
    while (done < count && run->state().t < t_end) {
      double target = t_end;
      if (adaptive) {
        double next = std::floor((run->state().t - origin) / sample_dt + SLACK) + 1;
        if (origin + next * sample_dt < t_end) target = origin + next * sample_dt;
      } else {
        target = t0 + static_cast<double>(steps + 1) * dt;
        if (target > t_end - 1e-9 * dt) target = t_end;
        h = target - run->state().t;
      }
      if (kept.empty() && (adaptive ? h >= (t_end - run->state().t) * (1 - 1e-12) : target == t_end))
        kept = snapshot();
      if (!run->step(h, target)) break;
      ++steps;
      ++done;
      h = run->state().step;
      if (steps % every == 0 || run->state().t >= t_end) record();
    }
    return done;
  }

  // what was kept since the last call
  nb::tuple take() {
    nb::tuple kept = records();
    for (auto* x : {&t, &q, &v, &a, &tau, &drift, &velocity_drift, &pivot}) x->clear();
    rank.clear();
    return kept;
  }
  nb::tuple records() const {
    size_t n = t.size(), nq = k.m.nq, nv = k.m.nv;
    auto array = [&](const std::vector<double>& x, size_t width) {
      Fresh<Out> y({n, width});
      std::copy(x.begin(), x.end(), y.data);
      return y.array;
    };
    Fresh<Ints> ranks({n});
    std::copy(rank.begin(), rank.end(), ranks.data);
    return nb::make_tuple(array(t, 1), array(q, nq), array(v, nv), array(a, nv), array(tau, nv),
                          array(drift, 1), array(velocity_drift, 1), array(pivot, 1), ranks.array);
  }
};

// The garbage collector sees what a run refers to: a controller may hold on to what called it.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Recorder& r = *nb::inst_ptr<Recorder>(self);
  for (const nb::object* x : {&r.kernel_ref, &r.on_inputs, &r.on_acceleration}) Py_VISIT(x->ptr());
  return 0;
}
int clear(PyObject* self) {
  Recorder& r = *nb::inst_ptr<Recorder>(self);
  r.on_inputs.reset();
  r.on_acceleration.reset();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void bind_run(nb::module_& m) {
  nb::class_<Recorder>(m, "Run", nb::type_slots(slots))
      .def(nb::init<nb::object, nb::dict, nb::object, nb::object, bool>(), "kernel"_a, "options"_a,
           "inputs"_a.none() = nb::none(), "acceleration"_a.none() = nb::none(), "supplies_inertia"_a = false)
      .def("start", &Recorder::start, "t"_a, "q"_a, "v"_a)
      .def("advance", &Recorder::advance, "t0"_a, "dt"_a, "t_end"_a, "count"_a, "every"_a = 1)
      .def("resume", &Recorder::resume, "begin"_a, "checkpoint"_a)
      .def("checkpoint", &Recorder::checkpoint)
      .def("records", &Recorder::records)
      .def("take", &Recorder::take)
      .def_prop_ro("steps", [](const Recorder& r) { return r.steps; })
      .def_prop_ro("status", [](const Recorder& r) { return r.run->state().status; })
      .def_prop_ro("evaluations", [](const Recorder& r) { return r.earlier + r.run->state().evaluations; })
      .def_prop_ro("state", [](const Recorder& r) {
        RunState s = r.run->state();
        return nb::make_tuple(s.t, Recorder::copy_of(s.q, r.k.m.nq), Recorder::copy_of(s.v, r.k.m.nv),
                              Recorder::copy_of(s.a, r.k.m.nv));
      });
}

}  // namespace sarrus
