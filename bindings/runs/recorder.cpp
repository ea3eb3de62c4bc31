#include "recorder.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <string>

#include "../numpy.hpp"
#include "python_steps.hpp"
#include "recorded_modes.hpp"

namespace sarrus {

using namespace nb::literals;

namespace {

constexpr double GRID_SLACK = 1e-6;  // of a fixed step: one that ends so shortly
                                     // before a multiple ends there

// What a checkpoint stores behind t, q, v, tau and the numbers of the kind of
// run (Run::store_tail).
struct StoredHistory {
  double pivot, step, regular_step, next_step, close_to_rounding, largest_rank, evaluations, steps;
};
constexpr npy_intp STORED = sizeof(StoredHistory) / sizeof(double);

// One quantity of the recorded states: a number (width 0) or a vector of each.
struct Column {
  const char* name;
  npy_intp width;
  std::vector<double> values = {};
};

// What Python supplies to a run; None: nothing. inputs(t, q, v, stage),
// acceleration(t, q, v), wrenches(t, q, v) of functions on bodies, chosen(mode)
// as the rows of another mode have been chosen, and steps that are not the
// kernel's.
struct Callbacks {
  nb::object inputs, acceleration, wrenches, chosen, steps;
};

struct Recorder {
  nb::object kernel_ref;  // keeps the kernel alive
  const Kernel& k;
  Callbacks on;
  nb::object plan_ref;
  const RunOptions o;
  bool supplies_inertia;
  std::unique_ptr<Run> run;
  double origin = 0;   // samples at origin + k sample_dt
  double samples = 0;  // how many were taken
  std::vector<double> held;
  std::vector<Column> columns;
  size_t steps = 0;
  int earlier = 0;           // evaluations before a resumed state
  std::vector<double> kept;  // snapshot from before the first step that the end
                             // of the run cut short
  RecordedModes modes;
  OutsideSteps outside_steps;
  StepsOfPython stepped;
  struct {
    std::vector<double> held;
    double samples = 0;
  } marked;  // at the beginning of the present step

  Recorder(nb::object kernel, const RunOptions& options, nb::object inputs, nb::object acceleration,
           bool inertia, nb::object plan, nb::object begun, nb::object wrenches, nb::object chosen,
           nb::object steps_of_python)
      : kernel_ref(kernel),
        k(nb::cast<const Kernel&>(kernel)),
        on{inputs, acceleration, wrenches, chosen, steps_of_python},
        plan_ref(plan),
        o(options),
        supplies_inertia(inertia),
        held(k.m.nv, 0.0),
        stepped(on.steps, k.m) {
    npy_intp nq = k.m.nq, nv = k.m.nv;
    columns = {
        {"t", 0},     {"q", nq},   {"v", nv},  {"a", nv}, {"tau", nv}, {"drift", 0}, {"velocity_drift", 0},
        {"pivot", 0}, {"rank", 0}, {"mode", 0}};
    Outside outside;
    outside.context = this;
    if (!inputs.is_none()) outside.inputs = &Recorder::ask;
    if (!acceleration.is_none()) outside.acceleration = &Recorder::ask_acceleration;
    outside.supplies_inertia = inertia;
    if (plan.is_none()) {
      run.reset(k.tables.runs.make(k.m, o, outside));
      return;
    }
    hear_of_modes(outside);
    if (!wrenches.is_none()) outside.wrenches = &Recorder::ask_wrenches;
    outside.bearings_slide = wrenches.is_none() && acceleration.is_none();
    outside_steps = stepped.steps();
    if (!on.steps.is_none()) outside.steps = &outside_steps;
    bool touches = o.contacts != ContactWay::IGNORED;
    const ModePlan& given = plan_of(plan);
    run.reset(touches ? k.tables.runs.make_contacts(k.m, &given, o, o.contacts, outside)
                      : k.tables.runs.make_modal(k.m, given, o, outside));
    modes.width = run->mode_numbers();
    modes.groups = given.table.count + (touches ? k.m.nslot : 0);
    begin(Dense(begun, "begun", {mode_size(given.table, k.m.nev + k.m.nk)}), given);
  }

  // ---------------------------------------------------------------- modes

  // The mode before anything is settled; no surfaces touch in it
  void begin(const double* numbers, const ModePlan& given) {
    std::vector<double> all(modes.width, 0.0);
    std::copy_n(numbers, mode_size(given.table, k.m.nev + k.m.nk), all.begin());
    run->load_mode(all.data());
  }
  void hear_of_modes(Outside& outside) {
    outside.mark = [](void* self) { static_cast<Recorder*>(self)->mark(); };
    outside.back = [](void* self) { static_cast<Recorder*>(self)->back(); };
    outside.mode_ends = [](void* self) { static_cast<Recorder*>(self)->record(); };
    outside.mode_chosen = [](void* self) { static_cast<Recorder*>(self)->mode_chosen(); };
  }

  void mark() { marked = {held, samples}; }
  void back() { held = marked.held, samples = marked.samples; }
  void mode_chosen() {
    modes.add(*run);
    if (on.chosen.is_none()) return;
    nb::gil_scoped_acquire gil;
    on.chosen(modes.last());
  }
  static void ask_wrenches(void* self, const Instant<double>& at, double* outer) {
    auto& r = *static_cast<Recorder*>(self);
    nb::gil_scoped_acquire gil;
    nb::object answer = r.on.wrenches(at.t, NewArray({r.k.m.nq}, at.q), NewArray({r.k.m.nv}, at.v));
    fill_from(answer, outer, r.k.m.nb, 6, 6);
  }
  // At a state of the mode with this number groups close (1) and open (-1); changes (groups,) int8. The run
  // may have come to later modes by then: it goes back.
  bool change_mode(npy_intp mode, double time, nb::handle q0, nb::handle v0, nb::handle given) {
    Dense x(q0, "q", {k.m.nq}), y(v0, "v", {k.m.nv});
    auto* changes = data_of<signed char>(given, {modes.groups});
    if (!changes) throw nb::value_error("`changes` must be int8, one for each group of rows");
    modes.require(mode);
    bool fine, later = mode != modes.count() - 1;
    if (time < run->state().t) back();
    if (later) run->load_mode(modes.numbers.data() + mode * modes.width);
    {
      nb::gil_scoped_release free;
      fine = run->change_mode({time, x, y, 0}, changes);
    }
    kept.clear();
    if (fine) record();
    return fine;
  }

  // ---------------------------------------------------------------- what
  // Python supplies

  // values of a returned array, or nothing where Python answered None; false on
  // a wrong size
  static bool fill_from(nb::handle x, double* to, npy_intp rows, npy_intp cols, npy_intp ld) {
    if (x.is_none()) return true;
    Dense y(x);
    if (y.size() != rows * cols) return false;
    for (npy_intp r = 0; r < rows; ++r)
      for (npy_intp c = 0; c < cols; ++c) to[r * ld + c] = y[r * cols + c];
    return true;
  }

  static bool ask(void* self, const Instant<double>& at, const Supplied<double>& to) {
    auto& r = *static_cast<Recorder*>(self);
    const ModelD& m = r.k.m;
    if (r.o.sampled && !(at.stage == 0 && r.due(at.t))) {
      std::copy(r.held.begin(), r.held.end(), to.tau);
      return true;
    }
    nb::gil_scoped_acquire gil;
    std::copy(r.held.begin(), r.held.end(),
              to.tau);  // stays where Python answers None for tau
    nb::object answer = r.on.inputs(at.t, NewArray({m.nq}, at.q), NewArray({m.nv}, at.v), at.stage);
    if (answer.is_none()) return false;
    if (!r.read_inputs(nb::cast<nb::tuple>(answer), to))
      throw nb::value_error(
          "the inputs of a run must be (tau, drive, user, M, "
          "h) of the model's sizes");
    if (r.o.sampled) {
      r.held.assign(to.tau, to.tau + m.nv);
      r.samples = r.samples_until(at.t);
    }
    return true;
  }
  bool read_inputs(const nb::tuple& parts, const Supplied<double>& to) const {
    npy_intp nv = k.m.nv, nu = k.m.n_user_rows, nd = k.m.nd;
    bool fine = parts.size() == 5 && fill_from(parts[0], to.tau, 1, nv, nv) &&
                fill_from(parts[1], to.drive, 1, 3 * nd, 3 * nd) &&
                fill_from(parts[2], to.user, 1, nu * (3 + nv), 1);
    if (!fine || !supplies_inertia) return fine;
    return fill_from(parts[3], to.M, nv, nv, to.ld) && fill_from(parts[4], to.h, 1, nv, nv);
  }
  // Whether the time of sample `number` has come
  bool reached(double time, double number) const {
    return time + TIME_ROUNDING * std::abs(time) >= origin + number * o.sample_dt;
  }
  // Number of samples up to a time, that at the time itself included.
  double samples_until(double time) const {
    if (std::isinf(o.sample_dt)) return 1;
    double number = std::floor((time - origin) / o.sample_dt);
    while (reached(time, number)) ++number;
    return number;
  }
  bool due(double time) const { return samples == 0 || reached(time, samples); }
  static bool ask_acceleration(void* self, const Instant<double>& at, double* a) {
    auto& r = *static_cast<Recorder*>(self);
    nb::gil_scoped_acquire gil;
    nb::object answer = r.on.acceleration(at.t, NewArray({r.k.m.nq}, at.q), NewArray({r.k.m.nv}, at.v));
    return !answer.is_none() && fill_from(answer, a, 1, r.k.m.nv, r.k.m.nv);
  }

  void record() {
    RunState s = run->state();
    double rank = s.rank, mode = modes.now(*run);
    const double* from[] = {&s.t, s.q, s.v, s.a, s.tau, &s.drift, &s.velocity_drift, &s.pivot, &rank, &mode};
    for (size_t i = 0; i < columns.size(); ++i) {
      std::vector<double>& to = columns[i].values;
      to.insert(to.end(), from[i], from[i] + std::max<npy_intp>(columns[i].width, 1));
    }
  }

  // rank: that J has nearby; -1: not known
  bool start(double time, nb::handle q0, nb::handle v0, int rank) {
    Dense x(q0, "q", {k.m.nq}), y(v0, "v", {k.m.nv});
    bool fine;
    origin = time;
    {
      nb::gil_scoped_release free;
      fine = run->start(time, x, y, rank);
    }
    if (fine) record();
    return fine;
  }

  // Starts at each of n states, with the force tau (n, nv) held there, and
  // records it. J has nearby at least the given rank (n). Returns where the
  // constraints could be closed (n).
  New<unsigned char> start_each(nb::handle times, nb::handle q0, nb::handle v0, nb::handle tau0,
                                nb::handle ranks) {
    npy_intp n = length_of(times), nq = k.m.nq, nv = k.m.nv;
    Dense t(times, "t", {n}), q(q0, "q", {n, nq}), v(v0, "v", {n, nv}), tau(tau0, "tau", {n, nv});
    const long long* rank = indices(ranks, "rank", n, k.m.nc + 1);
    New<unsigned char> closed({n});
    nb::gil_scoped_release free;
    samples = 1;  // none is due
    for (npy_intp i = 0; i < n; ++i) {
      held.assign(tau + i * nv, tau + (i + 1) * nv);
      closed[i] = run->start(t[i], q + i * nq, v + i * nv, int(rank[i]));
      record();
    }
    return closed;
  }

  // The present state as numbers: t, q, v, tau, what it owes to the steps
  // before, and how many those were.
  std::vector<double> snapshot() const {
    RunState s = run->state();
    History past = run->history();
    std::vector<double> x{s.t}, tail(run->tail_size());
    x.insert(x.end(), s.q, s.q + k.m.nq);
    x.insert(x.end(), s.v, s.v + k.m.nv);
    x.insert(x.end(), s.tau, s.tau + k.m.nv);
    run->store_tail(tail.data());
    x.insert(x.end(), tail.begin(), tail.end());
    x.resize(x.size() + run->mode_numbers());
    run->store_mode(x.data() + x.size() - run->mode_numbers());
    StoredHistory rest{.pivot = past.pivot,
                       .step = past.step,
                       .regular_step = past.regular_step,
                       .next_step = s.step,
                       .close_to_rounding = double(past.close_to_rounding),
                       .largest_rank = double(steps ? past.largest_rank : -1),
                       .evaluations = double(earlier + s.evaluations),
                       .steps = double(steps)};
    auto numbers = std::bit_cast<std::array<double, STORED>>(rest);
    x.insert(x.end(), numbers.begin(), numbers.end());
    return x;
  }
  NewArray checkpoint() const {
    std::vector<double> x = kept.empty() ? snapshot() : kept;
    return NewArray({npy_intp(x.size())}, x.data());
  }
  // Go on from a checkpoint of a run that began at time `begin`, with the same
  // options.
  bool resume(double begin, nb::handle from) {
    npy_intp nq = k.m.nq, nv = k.m.nv, more = run->tail_size(), wide = run->mode_numbers();
    Dense x(from, "checkpoint", {1 + nq + 2 * nv + more + wide + STORED});
    const double *q0 = x.data + 1, *v0 = q0 + nq, *tau0 = v0 + nv, *tail = tau0 + nv, *mode = tail + more;
    std::array<double, STORED> numbers;
    std::copy(mode + wide, mode + wide + STORED, numbers.begin());
    auto rest = std::bit_cast<StoredHistory>(numbers);
    History history{rest.pivot, rest.step, rest.regular_step, int(rest.largest_rank),
                    rest.close_to_rounding != 0};
    origin = begin;
    steps = static_cast<size_t>(rest.steps);
    held.assign(tau0, tau0 + nv);
    samples = samples_until(x[0]);
    earlier = int(rest.evaluations) - 1;  // the state itself was counted when it was accepted
    bool fine;
    {
      nb::gil_scoped_release free;
      run->load_mode(mode);
      fine = run->restore({x[0], q0, v0, 0}, history, rest.next_step);
      run->load_tail(tail);
    }
    if (fine) record();
    return fine;
  }

  // Latest end of a step from time t, of methods that choose their steps and of
  // others
  double next_sample(double t, double t_end) const {
    return std::min(origin + samples_until(t) * o.sample_dt, t_end);
  }
  static double next_multiple(double t, double t0, double dt, double t_end) {
    double target = t0 + (std::floor((t - t0) / dt + GRID_SLACK) + 1) * dt;
    return target > t_end - 1e-9 * dt ? t_end : target;
  }

  // After a step: the state is recorded. `whole`: no mode ended before the end of the step.
  void note_step(bool whole, size_t every, double t_end) {
    steps += whole;
    if (!whole || steps % every == 0 || run->state().t >= t_end) record();
  }

  // At most `count` steps towards t_end; fixed steps end at times t0 + i dt,
  // those of varying size never pass a sample. Keeps every `every`-th state and
  // the last one. Returns the number of steps taken.
  size_t advance(double t0, double dt, double t_end, size_t count, size_t every) {
    nb::gil_scoped_release free;
    size_t done = 0;
    bool adaptive = o.method.adaptive;
    double h = adaptive && steps ? run->state().step : dt;
    while (done < count && run->state().t < t_end) {
      double t = run->state().t, target = adaptive ? next_sample(t, t_end) : next_multiple(t, t0, dt, t_end);
      if (!adaptive) h = target - t;
      if (kept.empty() && h >= (t_end - t) * (1 - 1e-12)) kept = snapshot();  // it may be cut short there
      if (!run->step(h, target)) break;
      ++done;
      h = run->state().step;
      note_step(adaptive || run->state().t >= target, every, t_end);
    }
    return done;
  }

  // What was recorded since the last call, by name.
  nb::dict take() {
    nb::dict out;
    for (Column& c : columns) {
      npy_intp n = c.values.size();
      out[c.name] = NewArray(c.width ? Shape{n / c.width, c.width} : Shape{n}, c.values.data());
      c.values.clear();
    }
    return out;
  }
};

// The garbage collector sees what a run refers to: a controller may hold on to
// what called it.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (!nb::inst_ready(self)) return 0;
  const Recorder& r = *nb::inst_ptr<Recorder>(self);
  for (const nb::object* x : {&r.kernel_ref, &r.plan_ref, &r.on.inputs, &r.on.acceleration, &r.on.wrenches,
                              &r.on.chosen, &r.on.steps})
    Py_VISIT(x->ptr());
  return 0;
}
int clear(PyObject* self) {
  Recorder& r = *nb::inst_ptr<Recorder>(self);
  for (nb::object* x : {&r.on.inputs, &r.on.acceleration, &r.on.wrenches, &r.on.chosen, &r.on.steps})
    x->reset();
  return 0;
}
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(clear)},
                       {0, nullptr}};

}  // namespace

void bind_run(nb::module_& m) {
  nb::class_<Recorder>(m, "Run", nb::type_slots(slots))
      .def(nb::init<nb::object, const RunOptions&, nb::object, nb::object, bool, nb::object, nb::object,
                    nb::object, nb::object, nb::object>(),
           "kernel"_a, "options"_a, "inputs"_a.none() = nb::none(), "acceleration"_a.none() = nb::none(),
           "supplies_inertia"_a = false, "plan"_a.none() = nb::none(), "begun"_a.none() = nb::none(),
           "wrenches"_a.none() = nb::none(), "chosen"_a.none() = nb::none(),
           "steps_of_python"_a.none() = nb::none())
      .def("change_mode", &Recorder::change_mode, "mode"_a, "t"_a, "q"_a, "v"_a, "changes"_a)
      .def(
          "mode", [](const Recorder& r, npy_intp i) { return r.modes.numbers_of(i); }, "number"_a)
      .def(
          "touched", [](const Recorder& r, npy_intp i) { return r.modes.touched_in(i); }, "number"_a)
      .def(
          "held_rank", [](const Recorder& r, npy_intp i) { return r.modes.held_ranks.at(i); }, "number"_a)
      .def_prop_ro("is_cut_short", [](const Recorder& r) { return !r.kept.empty(); })
      .def_prop_ro("mode_count", [](const Recorder& r) { return r.modes.count(); })
      .def_prop_ro("open_group", [](const Recorder& r) { return r.run->mode_entry().group; })
      .def("start", &Recorder::start, "t"_a, "q"_a, "v"_a, "rank"_a = -1)
      .def("start_each", &Recorder::start_each, "t"_a, "q"_a, "v"_a, "tau"_a, "rank"_a)
      .def("advance", &Recorder::advance, "t0"_a, "dt"_a, "t_end"_a, "count"_a, "every"_a = 1)
      .def("resume", &Recorder::resume, "begin"_a, "checkpoint"_a)
      .def("checkpoint", &Recorder::checkpoint)
      .def("take", &Recorder::take)
      .def_prop_ro("steps", [](const Recorder& r) { return r.steps; })
      .def_prop_ro("status", [](const Recorder& r) { return r.run->state().status; })
      .def_prop_ro("evaluations", [](const Recorder& r) { return r.earlier + r.run->state().evaluations; });
}

}  // namespace sarrus
