#include "law_setup.hpp"

namespace sarrus {

namespace {

int whole(npy_intp n) { return static_cast<int>(n); }

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

}  // namespace

const double* ControlStep::keep(nb::handle x, const char* name, const Shape& shape) {
  if (x.is_none()) return nullptr;
  Dense given(x, name, shape);
  npy_intp size = 1;
  for (int i = 0; i < shape.rank; ++i) size *= shape.sizes[i];
  numbers.emplace_back(new double[size + 1]);
  std::copy_n(given.data, size, numbers.back().get());
  return numbers.back().get();
}

const int* ControlStep::keep(const std::vector<int>& x) {
  counts.emplace_back(new int[x.size() + 1]);
  std::copy(x.begin(), x.end(), counts.back().get());
  return counts.back().get();
}

void ControlStep::add_output(const OutputSetup& given) {
  Output<double> out{};
  out.kind = given.kind, out.size = given.size, out.accelerated = given.accelerated;
  out.at = whole(targets.size());
  int numbers_ = 3 * out.size;
  if (out.kind == POINT || out.kind == POSE || out.kind == TURN) {
    if (given.body < 0 || given.body >= k.m.nb) throw nb::index_error("`body` is not the index of a body");
    if (whole(given.rows.size()) != out.size) throw nb::value_error("`rows` must have `size` entries");
    out.body = given.body, out.screw = given.screw, out.own = given.own;
    std::copy_n(Dense(given.point, "point", {3}).data, 3, out.point);
    std::copy(given.rows.begin(), given.rows.end(), out.rows);
    if (out.kind == POSE) numbers_ = 24;
    if (out.kind == TURN) numbers_ = 15;
  } else if (out.kind == COORDINATES) {
    out.Q = keep(given.Q, "Q", {out.size, k.m.nq}), out.J = keep(given.J, "J", {out.size, k.m.nv});
  }
  if (out.accelerated) numbers_ = out.size;
  if (out.kind == GIVEN) numbers_ = 0;
  targets.resize(targets.size() + numbers_);
  outputs.push_back(out);
}

void ControlStep::add_task(const TaskSetup& given) {
  Task<double> task{};
  task.first = whole(outputs.size()), task.outputs = whole(given.outputs.size());
  task.level = given.level, task.damping = given.damping;
  for (const OutputSetup& one : given.outputs) add_output(one), task.size += one.size;
  task.kept = given.keep ? whole(given.keep->size()) : task.size;
  task.keep = given.keep ? keep(*given.keep) : nullptr;
  npy_intp n = task.size;
  task.kp = keep(given.kp, "kp", {n, n}), task.kd = keep(given.kd, "kd", {n, n});
  Dense unit(given.unit, "unit", {task.kept});
  row_unit.insert(row_unit.end(), unit.data, unit.data + task.kept);
  setup.k += task.kept;
  tasks.push_back(task);
}

void ControlStep::set_limits(const LimitSetup& limits) {
  const LimitRows& rows = limits.rows;
  npy_intp nc = k.m.nc, nv = k.m.nv, m = length_of(rows.lower), cones = length_of(limits.cone_lam) / 3;
  setup.limits = {whole(m),
                  keep(rows.on_lam, "on_lam", {m, nc}),
                  keep(rows.on_u, "on_u", {m, setup.n}),
                  keep(rows.on_force, "on_force", {m, nv}),
                  keep(rows.on_a, "on_a", {m, nv}),
                  keep(rows.lower, "lower", {m}),
                  keep(rows.upper, "upper", {m}),
                  whole(cones),
                  keep(limits.cone_lam, "cone_lam", {3 * cones, nc}),
                  keep(limits.least, "least", {setup.n}),
                  keep(limits.most, "most", {setup.n})};
}

void ControlStep::set_object(const ObjectSetup& held) {
  HeldObject<double>& object = setup.object;
  object.body = held.body, object.column = held.column;
  std::copy_n(Dense(held.com, "com", {3}).data, 3, object.com);
  object.stiffness = keep(held.stiffness, "stiffness", {6, 6});
  object.damping = keep(held.damping, "damping", {6, 6});
  object.inertia = keep(held.inertia, "inertia", {6, 6}),
  object.reserve = keep(held.reserve, "reserve", {6, 6});
}

void ControlStep::set_forces(const ForceSetup& forces) {
  setup.forces.p = whole(length_of(forces.weight)), feedback = forces.feedback;
  setup.forces.rows = forces.rows ? keep(*forces.rows) : nullptr;
  setup.forces.weight = keep(forces.weight, "weight", {setup.forces.p});
}

ControlStep::ControlStep(nb::object kernel_, const LawSetup& given)
    : k(nb::cast<const Kernel&>(kernel_)), kernel(kernel_), law(given) {
  npy_intp nc = k.m.nc, n = whole(law.columns.size());
  auto* parts = data_of<signed char>(law.active.part, {nc});
  if (!parts) throw nb::value_error("`part` must be int8 of shape (nc,)");
  for (const TaskSetup& one : law.tasks) add_task(one);
  setup.model = &k.m, setup.n = whole(n), setup.columns = law.columns.data();
  setup.gap_weight = keep(law.active.gap_weight, "gap_weight", {nc});
  setup.per_row = keep(law.active.per_row, "per_row", {nc});
  setup.part = reinterpret_cast<const unsigned char*>(parts);
  setup.outputs = whole(outputs.size()), setup.output = outputs.data();
  setup.tasks = whole(tasks.size()), setup.task = tasks.data();
  setup.numbers = whole(targets.size()), setup.row_unit = row_unit.data();
  setup.metric.diagonal = axes_of(law.metric) == 1;
  setup.metric.C = keep(law.metric, "metric", setup.metric.diagonal ? Shape{n} : Shape{n, n});
  setup.mass_metric = law.mass_metric, setup.levels = law.levels, setup.rank_tol = law.rank_tol;
  setup.damping = law.damping, setup.min_controllability = law.min_controllability;
  setup.by_mass = law.by_mass, setup.touch = law.touch, setup.tol = law.tol;
  setup.drops_lost_rows = law.drops_lost_rows, setup.object.body = -1;
  setup.angle = law.angle, setup.speed = law.speed;
  if (law.limits) set_limits(*law.limits);
  if (law.object) set_object(*law.object);
  if (law.forces) set_forces(*law.forces);
  hint_rows.resize(setup.limits.m + n + nc + setup.limits.cones + 1);
  along.assign(2 * setup.limits.cones + 1, 0.0);
  hints = {hint_rows.data(), 0};
  on.assign(tasks.size(), 1);
  null_force.assign(k.m.nv, 0.0);
  auto [work_bytes, kept_bytes] = best_tables().control.step_memory(setup);
  work = allocate(work_bytes), kept = kept_bytes;
}

void ControlStep::store_tasks(nb::handle given, nb::handle active, nb::handle force) {
  npy_intp count = whole(tasks.size());
  auto* chosen = active.is_none() ? nullptr : data_of<unsigned char>(active, {count});
  for (npy_intp i = 0; i < count; ++i) on[i] = chosen ? chosen[i] : 1;
  for (npy_intp i = 0; i < count; ++i)
    for (int o = tasks[i].first; on[i] && o < tasks[i].first + tasks[i].outputs; ++o)
      store_target(outputs[o], given[o], targets.data() + outputs[o].at);
  pulls = !force.is_none();
  if (pulls) std::copy_n(Dense(force, "null_torque", {k.m.nv}).data, k.m.nv, null_force.data());
}

bool ControlStep::renew_limits(const LimitRows& rows) {
  const ControlLimits<double>& l = setup.limits;
  const npy_intp first = law.limits->first_function, count = l.m - first, nc = k.m.nc, nv = k.m.nv;
  if (length_of(rows.lower) != count) return false;
  struct Part {
    const double* of;
    nb::handle with;
    npy_intp width;
  };
  const Part parts[] = {{l.on_lam, rows.on_lam, nc},     {l.on_u, rows.on_u, setup.n},
                        {l.on_force, rows.on_force, nv}, {l.on_a, rows.on_a, nv},
                        {l.lower, rows.lower, 0},        {l.upper, rows.upper, 0}};
  for (const Part& part : parts)
    if (!part.of && !part.with.is_none()) return false;
  for (const Part& part : parts) {
    if (!part.of) continue;
    npy_intp wide = part.width ? part.width : 1;
    double* to = const_cast<double*>(part.of) + first * wide;
    if (part.with.is_none())
      std::fill_n(to, count * wide, 0.0);
    else
      std::copy_n(Dense(part.with, "limits", part.width ? Shape{count, wide} : Shape{count}).data,
                  count * wide, to);
  }
  return true;
}

bool ControlStep::asks_owner() const {
  bool given = std::any_of(outputs.begin(), outputs.end(), [](auto& one) { return one.kind == GIVEN; });
  return given || law.has_terms || law.has_tasks || has_limit_functions() || has_sensor();
}

std::unique_ptr<StepResult> ControlStep::new_result() const {
  auto found = std::make_unique<StepResult>();
  found->memory = allocate(kept), found->nq = k.m.nq, found->nv = k.m.nv, found->nc = k.m.nc;
  found->n = setup.n;
  found->all_limits = setup.limits.m, found->forces = setup.forces.p;
  return found;
}

const unsigned char* mask(nb::handle x, npy_intp n, const char* name) {
  if (x.is_none()) return nullptr;
  auto* data = data_of<unsigned char>(x, {n});
  if (!data) throw nb::value_error((std::string("`") + name + "` must be a mask").c_str());
  return data;
}

namespace {

// A keyword with a default; an object may also be None
template <class T>
auto left_out(const char* name, T value) {
  if constexpr (std::is_same_v<T, nb::object>)
    return nb::arg(name).none() = value;
  else
    return nb::arg(name) = value;
}

}  // namespace

#define SARRUS_PARAMETER(type, name, ...) , type name
#define SARRUS_VALUE(type, name, ...) std::move(name),
#define SARRUS_REQUIRED(type, name) , nb::arg(#name)
#define SARRUS_OR_NONE(type, name) , nb::arg(#name).none()
#define SARRUS_DEFAULT(type, name, value) , left_out<type>(#name, value)
#define SARRUS_BIND(Setup, FIELDS)                                                   \
  nb::class_<Setup>(m, #Setup).def(                                                  \
      "__init__",                                                                    \
      [](Setup* self FIELDS(SARRUS_PARAMETER, SARRUS_PARAMETER, SARRUS_PARAMETER)) { \
        new (self) Setup{FIELDS(SARRUS_VALUE, SARRUS_VALUE, SARRUS_VALUE)};          \
      },                                                                             \
      nb::kw_only() FIELDS(SARRUS_REQUIRED, SARRUS_OR_NONE, SARRUS_DEFAULT));

void bind_law_setup(nb::module_& m) {
  SARRUS_SETUPS(SARRUS_BIND)
  nb::borrow<nb::class_<ObjectSetup>>(m.attr("ObjectSetup")).def_ro("reserve", &ObjectSetup::reserve);
}

}  // namespace sarrus
