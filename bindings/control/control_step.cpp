#include "control_step.hpp"

#include "step_result.hpp"

#include <nanobind/stl/vector.h>

#include <chrono>
#include <cstdlib>
#include <memory>
#include <vector>

namespace sarrus {

using namespace nb::literals;

namespace {

int whole(npy_intp n) { return static_cast<int>(n); }

// A law: its setup, copies of the arrays in it, and memory to work in.
struct ControlStep {
  const Kernel& k;
  nb::object kernel;
  ControlSetup<double> setup{};
  std::vector<Output<double>> outputs;
  std::vector<Task<double>> tasks;
  std::vector<std::unique_ptr<double[]>> numbers;
  std::vector<std::unique_ptr<int[]>> counts;
  std::vector<long long> columns, used;
  std::vector<unsigned char> part;
  std::vector<double> targets, null_force;
  std::vector<unsigned char> on;
  std::vector<int> hint_rows;
  std::vector<double> along;
  Hints hints{};
  bool pulls = false;  // whether null_force acts
  int nu = 0;
  unsigned long long kept;
  Memory work;

  ControlStep(nb::object kernel_, nb::dict from);
  ControlStep(const ControlStep&) = delete;

  const double* keep(nb::handle x, const char* name, const Shape& shape) {
    if (x.is_none()) return nullptr;
    Dense given(x, name, shape);
    npy_intp size = 1;
    for (int i = 0; i < shape.rank; ++i) size *= shape.sizes[i];
    numbers.emplace_back(new double[size + 1]);
    std::copy_n(given.data, size, numbers.back().get());
    return numbers.back().get();
  }
  void add_output(nb::handle o);
  void add_task(nb::handle t);
};

// (kind, size, accelerated, body, point, rows, screw, own, Q, J)
void ControlStep::add_output(nb::handle o) {
  Output<double> out{};
  out.kind = nb::cast<int>(o[0]), out.size = nb::cast<int>(o[1]), out.accelerated = nb::cast<bool>(o[2]);
  out.at = whole(targets.size());
  int numbers_ = 3 * out.size;
  if (out.kind == POINT || out.kind == POSE || out.kind == TURN) {
    out.body = nb::cast<int>(o[3]);
    std::copy_n(Dense(o[4], "point", {3}).data, 3, out.point);
    for (int i = 0; i < out.size; ++i) out.rows[i] = nb::cast<int>(o[5][i]);
    out.screw = nb::cast<bool>(o[6]), out.own = nb::cast<bool>(o[7]);
    if (out.kind == POSE) numbers_ = 24;
    if (out.kind == TURN) numbers_ = 15;
  } else if (out.kind == COORDINATES) {
    out.Q = keep(o[8], "Q", {out.size, k.m.nq}), out.J = keep(o[9], "J", {out.size, k.m.nv});
  }
  if (out.accelerated) numbers_ = out.size;
  if (out.kind == GIVEN) numbers_ = 0;
  targets.resize(targets.size() + numbers_);
  outputs.push_back(out);
}

// (first output, number of outputs, kept rows or None, kp or None, kd or None, level, damping)
void ControlStep::add_task(nb::handle t) {
  Task<double> task{};
  task.first = nb::cast<int>(t[0]), task.outputs = nb::cast<int>(t[1]);
  task.level = nb::cast<int>(t[5]), task.damping = nb::cast<double>(t[6]);
  for (int o = task.first; o < task.first + task.outputs; ++o) task.size += outputs[o].size;
  task.kept = task.size;
  if (!t[2].is_none()) {
    auto rows = nb::cast<std::vector<int>>(t[2]);
    counts.emplace_back(new int[rows.size() + 1]);
    std::copy(rows.begin(), rows.end(), counts.back().get());
    task.keep = counts.back().get(), task.kept = whole(rows.size());
  }
  npy_intp n = task.size;
  task.kp = keep(t[3], "kp", {n, n}), task.kd = keep(t[4], "kd", {n, n});
  setup.k += task.kept;
  tasks.push_back(task);
}

ControlStep::ControlStep(nb::object kernel_, nb::dict from)
    : k(nb::cast<const Kernel&>(kernel_)), kernel(kernel_) {
  auto get = [&](const char* name) { return nb::object(from[name]); };
  npy_intp nc = k.m.nc;
  columns = nb::cast<std::vector<long long>>(get("columns"));
  used = nb::cast<std::vector<long long>>(get("used"));
  nu = nb::cast<int>(get("nu"));
  npy_intp n = whole(columns.size());
  auto* parts = data_of<signed char>(get("part"), {nc});
  if (!parts) throw nb::value_error("`part` must be int8 of shape (nc,)");
  part.assign(parts, parts + nc);
  for (nb::handle o : get("outputs")) add_output(o);
  for (nb::handle t : get("tasks")) add_task(t);
  setup.model = &k.m, setup.n = whole(n), setup.columns = columns.data();
  setup.gap_weight = keep(get("gap_weight"), "gap_weight", {nc});
  setup.per_row = keep(get("per_row"), "per_row", {nc});
  setup.part = part.data();
  setup.outputs = whole(outputs.size()), setup.output = outputs.data();
  setup.tasks = whole(tasks.size()), setup.task = tasks.data();
  setup.numbers = whole(targets.size());
  setup.row_unit = keep(get("row_unit"), "row_unit", {setup.k});
  nb::object C = get("metric"), limits = get("limits");
  setup.metric.diagonal = axes_of(C) == 1;
  setup.metric.C = keep(C, "metric", setup.metric.diagonal ? Shape{n} : Shape{n, n});
  setup.mass_metric = nb::cast<bool>(get("mass_metric"));
  setup.levels = nb::cast<int>(get("levels")), setup.rank_tol = nb::cast<double>(get("rank_tol"));
  setup.damping = nb::cast<double>(get("damping"));
  setup.min_controllability = nb::cast<double>(get("min_controllability"));
  setup.by_mass = nb::cast<bool>(get("by_mass"));
  setup.touch = nb::cast<double>(get("touch")), setup.tol = nb::cast<double>(get("tol"));
  if (!limits.is_none()) {
    npy_intp m = length_of(limits[2]);
    npy_intp cones = length_of(limits[4]) / 3;
    setup.limits = {whole(m),
                    keep(limits[0], "on_lam", {m, nc}),
                    keep(limits[1], "on_u", {m, n}),
                    keep(limits[2], "lower", {m}),
                    keep(limits[3], "upper", {m}),
                    whole(cones),
                    keep(limits[4], "cone_lam", {3 * cones, nc})};
  }
  nb::object held = get("object");
  setup.object.body = -1;
  if (!held.is_none()) {  // (body, column, com, stiffness, damping, inertia or None, reserve or None)
    setup.object.body = nb::cast<int>(held[0]), setup.object.column = nb::cast<int>(held[1]);
    std::copy_n(Dense(held[2], "com", {3}).data, 3, setup.object.com);
    setup.object.stiffness = keep(held[3], "stiffness", {6, 6});
    setup.object.damping = keep(held[4], "damping", {6, 6});
    setup.object.inertia = keep(held[5], "inertia", {6, 6});
    setup.object.reserve = keep(held[6], "reserve", {6, 6});
  }
  hint_rows.resize(setup.limits.m + n + setup.limits.cones + 1);
  along.assign(2 * setup.limits.cones + 1, 0.0);
  hints = {hint_rows.data(), 0};
  on.assign(tasks.size(), 1);
  null_force.assign(k.m.nv, 0.0);
  auto [work_bytes, kept_bytes] = best_tables().control.step_memory(setup);
  work = allocate(work_bytes), kept = kept_bytes;
}

// Numbers of a target (x, x', x'') of one output; a pose is its rotation and place
void store_target(const Output<double>& o, nb::handle target, double* out) {
  npy_intp k = o.size;
  if (o.kind == GIVEN) return;
  if (o.accelerated) {
    std::copy_n(Dense(target, "acceleration", {k}).data, k, out);
    return;
  }
  nb::object x = target[0], v = target[1], a = target[2];
  if (o.kind == POSE || o.kind == TURN) {
    npy_intp width = o.kind == POSE ? 6 : 3;
    out = std::copy_n(Dense(x.attr("rotation"), "rotation", {3, 3}).data, 9, out);
    if (o.kind == POSE) out = std::copy_n(Dense(x.attr("xyz"), "xyz", {3}).data, 3, out);
    for (nb::object* part : {&v, &a}) {
      npy_intp given = length_of(*part);
      Dense twist(*part, "target", {given});
      if (given < width) throw nb::value_error("twist of a target is too short");
      out = std::copy_n(twist.data + given - width, width, out);
    }
    return;
  }
  for (nb::object* part : {&x, &v, &a}) out = std::copy_n(Dense(*part, "target", {k}).data, k, out);
}

// Targets of all outputs, which tasks are active (None: all), and the force in their null space or None
void store_tasks(ControlStep& s, nb::handle targets, nb::handle on, nb::handle null_force) {
  npy_intp count = whole(s.tasks.size());
  auto* given = on.is_none() ? nullptr : data_of<unsigned char>(on, {count});
  for (npy_intp i = 0; i < count; ++i) s.on[i] = given ? given[i] : 1;
  for (npy_intp i = 0; i < count; ++i)
    for (int o = s.tasks[i].first; s.on[i] && o < s.tasks[i].first + s.tasks[i].outputs; ++o)
      store_target(s.outputs[o], targets[o], s.targets.data() + s.outputs[o].at);
  s.pulls = !null_force.is_none();
  if (s.pulls) std::copy_n(Dense(null_force, "null_torque", {s.k.m.nv}).data, s.k.m.nv, s.null_force.data());
}

// One call: what the kernel does not know itself it asks of the law.
struct Call {
  ControlStep& s;
  nb::handle owner;  // None where the kernel knows all rows and outputs
  const double* drive;
  const double** null_force;

  static const Call& of(void* self) { return *static_cast<const Call*>(self); }
  static nb::object array(const double* x, npy_intp n) { return NewArray({n}, x).object; }
  nb::object state(const double* q) const { return array(q, s.k.m.nq); }
  nb::object speed(const double* v) const { return array(v, s.k.m.nv); }
  // parts of a tuple, one after the other
  static void store(nb::handle parts, std::initializer_list<npy_intp> sizes, double* out) {
    int i = 0;
    for (npy_intp size : sizes) {
      Dense one(parts[i++]);
      if (one.size() != size) throw nb::value_error("part of a control step has the wrong size");
      out = std::copy_n(one.data, size, out);
    }
  }
  static void terms(void* self, const double* q, const double* v, double* out) {
    const Call& c = of(self);
    npy_intp nv = c.s.k.m.nv, nc = c.s.k.m.nc;
    store(c.owner.attr("terms")(c.state(q), c.speed(v)), {nv * nv, nv, nc, nc * nv, nc, nc}, out);
  }
  static void rates(void* self, const double* q, const double* v, double* out) {
    const Call& c = of(self);
    npy_intp nv = c.s.k.m.nv, nc = c.s.k.m.nc;
    store(c.owner.attr("rates")(c.state(q), c.speed(v)), {nc * nv, nc}, out);
  }
  static void tasks(void* self, const double* q, const double* v) {
    const Call& c = of(self);
    nb::object found = c.owner.attr("tasks")(c.state(q), c.speed(v));
    store_tasks(c.s, found[0], found[1], found[2]);
    *c.null_force = c.s.pulls ? c.s.null_force.data() : nullptr;
  }
  static void given(void* self, int output, const double* q, const double* v, double* out) {
    const Call& c = of(self);
    npy_intp nv = c.s.k.m.nv, k = c.s.outputs[output].size;
    store(c.owner.attr("given")(output, c.state(q), c.speed(v)), {k, k, k, k, k, k * nv, k * k}, out);
  }
  static int project_by_owner(void* self, const unsigned char* part, double* q, double* v) {
    const Call& c = of(self);
    npy_intp nc = c.s.k.m.nc;
    New<signed char> parts({nc}, reinterpret_cast<const signed char*>(part));
    nb::object found = c.owner.attr("project")(parts, c.state(q), c.speed(v));
    std::copy_n(Dense(found[0], "q", {c.s.k.m.nq}).data, c.s.k.m.nq, q);
    std::copy_n(Dense(found[1], "v", {c.s.k.m.nv}).data, c.s.k.m.nv, v);
    return nb::cast<int>(nb::int_(found[2]));
  }
  static int project(void* self, const unsigned char* part, double* q, double* v) {
    const Call& c = of(self);
    std::vector<double> found(c.s.k.m.nq + c.s.k.m.nv + 1);
    double *q1 = found.data(), *v1 = q1 + c.s.k.m.nq;
    int status = 0;
    c.s.k.tables.batches.project(c.s.k.m, {1, q, v, c.drive, nullptr}, {part, nullptr, nullptr, nullptr},
                                 {q1, v1, v1 + c.s.k.m.nv, &status});
    std::copy_n(q1, c.s.k.m.nq, q);
    std::copy_n(v1, c.s.k.m.nv, v);
    return status;
  }
};

const unsigned char* mask(nb::handle x, npy_intp n, const char* name) {
  if (x.is_none()) return nullptr;
  auto* data = data_of<unsigned char>(x, {n});
  if (!data) throw nb::value_error((std::string("`") + name + "` must be a mask").c_str());
  return data;
}

StepResult* run_step(ControlStep& s, nb::handle q, nb::handle v, nb::handle targets, nb::handle null_force,
                     nb::handle load, nb::handle drive, nb::handle rows, bool select, nb::handle owner) {
  npy_intp nq = s.k.m.nq, nv = s.k.m.nv, nd = s.k.m.nd;
  Dense q_(q, "q", {nq}), v_(v, "v", {nv}), drive_;
  if (nd && !drive.is_none()) drive_ = Dense(drive, "drive", {1, nd, 3});
  auto asks = [&](const char* what) { return !owner.is_none() && nb::cast<bool>(owner.attr(what)); };
  bool terms = asks("has_terms"), later = asks("has_tasks");
  if (!later) store_tasks(s, targets, nb::none(), null_force);
  Call call{s, owner, drive_, nullptr};
  Dense external, payload;
  if (!load.is_none())
    external = Dense::or_none(load[0], "external", {6}), payload = Dense::or_none(load[1], "payload", {10});
  ControlInput<double> in{
      q_,
      v_,
      drive_,
      mask(rows, s.k.m.nc, "rows"),
      s.on.data(),
      s.targets.data(),
      s.pulls ? s.null_force.data() : nullptr,
      external,
      payload,
      &s.hints,
      s.along.data(),
      {&call, terms ? Call::terms : nullptr, terms ? Call::rates : nullptr,
       terms ? Call::project_by_owner : Call::project, later ? Call::tasks : nullptr, Call::given}};
  call.null_force = &in.null_force;
  auto found = std::make_unique<StepResult>();
  found->memory = allocate(s.kept), found->nq = whole(nq), found->nv = whole(nv), found->n = s.setup.n;
  found->all_limits = s.setup.limits.m;
  s.k.tables.control.step(s.setup, in, found->f, s.work.get(), found->memory.get());
  if (!select || found->f.status != STEPPED) return found.release();
  auto began = std::chrono::steady_clock::now();
  s.k.tables.control.inputs(s.setup, in, found->f, s.work.get());
  found->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  return found.release();
}

// Inputs of all actuators (nu), and as a generalized force (nv)
nb::object spread(const StepResult& r, const std::vector<long long>& to, npy_intp size) {
  NewArray x({size});
  std::fill_n(x.data(), size, 0.0);
  for (size_t i = 0; i < to.size(); ++i) x[to[i]] = r.f.u[i];
  return x.object;
}

// (u, tau, a): inputs of all actuators (nu), as a generalized force (nv), and the acceleration (nv)
nb::tuple applied(const ControlStep& s, const StepResult& r) {
  return nb::make_tuple(spread(r, s.used, s.nu), spread(r, s.columns, r.nv), NewArray({r.nv}, r.f.a));
}

}  // namespace

void bind_control_step(nb::module_& m) {
  bind_step_result(m);
  nb::class_<ControlStep>(m, "ControlStep")
      .def(nb::init<nb::object, nb::dict>(), "kernel"_a, "setup"_a)
      .def("__call__", run_step, "q"_a, "v"_a, "targets"_a, nb::kw_only(), "null_force"_a.none(),
           "load"_a.none(), "drive"_a.none(), "rows"_a.none(), "select"_a, "owner"_a.none(),
           nb::rv_policy::take_ownership)
      .def("applied", applied, "found"_a);
}

}  // namespace sarrus
