#include "law_setup.hpp"

#include <nanobind/stl/vector.h>

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
    task.keep = keep(rows), task.kept = whole(rows.size());
  }
  npy_intp n = task.size;
  task.kp = keep(t[3], "kp", {n, n}), task.kd = keep(t[4], "kd", {n, n});
  setup.k += task.kept;
  tasks.push_back(task);
}

// (on_lam; on_u, on_force, on_a or None; lower, upper, cone_lam)
void ControlStep::set_limits(nb::handle limits) {
  npy_intp nc = k.m.nc, nv = k.m.nv, m = length_of(limits[4]), cones = length_of(limits[6]) / 3;
  setup.limits = {whole(m),
                  keep(limits[0], "on_lam", {m, nc}),
                  keep(limits[1], "on_u", {m, setup.n}),
                  keep(limits[2], "on_force", {m, nv}),
                  keep(limits[3], "on_a", {m, nv}),
                  keep(limits[4], "lower", {m}),
                  keep(limits[5], "upper", {m}),
                  whole(cones),
                  keep(limits[6], "cone_lam", {3 * cones, nc})};
}

// (body, column, com; stiffness, damping, inertia, reserve or None)
void ControlStep::set_object(nb::handle held) {
  HeldObject<double>& object = setup.object;
  object.body = nb::cast<int>(held[0]), object.column = nb::cast<int>(held[1]);
  std::copy_n(Dense(held[2], "com", {3}).data, 3, object.com);
  object.stiffness = keep(held[3], "stiffness", {6, 6}), object.damping = keep(held[4], "damping", {6, 6});
  object.inertia = keep(held[5], "inertia", {6, 6}), object.reserve = keep(held[6], "reserve", {6, 6});
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
  nb::object C = get("metric"), limits = get("limits"), held = get("object"), forces = get("forces");
  setup.metric.diagonal = axes_of(C) == 1;
  setup.metric.C = keep(C, "metric", setup.metric.diagonal ? Shape{n} : Shape{n, n});
  setup.mass_metric = nb::cast<bool>(get("mass_metric"));
  setup.levels = nb::cast<int>(get("levels")), setup.rank_tol = nb::cast<double>(get("rank_tol"));
  setup.damping = nb::cast<double>(get("damping"));
  setup.min_controllability = nb::cast<double>(get("min_controllability"));
  setup.by_mass = nb::cast<bool>(get("by_mass"));
  setup.touch = nb::cast<double>(get("touch")), setup.tol = nb::cast<double>(get("tol"));
  setup.drops_lost_rows = nb::cast<bool>(get("drops_lost_rows"));
  setup.object.body = -1;
  first_function = nb::cast<int>(get("first_function"));
  if (!limits.is_none()) set_limits(limits);
  if (!held.is_none()) set_object(held);
  if (!forces.is_none()) {  // (rows or None, weight, feedback)
    setup.forces.p = whole(length_of(forces[1])), feedback = forces[2];
    setup.forces.rows = forces[0].is_none() ? nullptr : keep(nb::cast<std::vector<int>>(forces[0]));
    setup.forces.weight = keep(forces[1], "weight", {setup.forces.p});
  }
  hint_rows.resize(setup.limits.m + n + setup.limits.cones + 1);
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

bool ControlStep::renew_limits(nb::handle limits) {
  const ControlLimits<double>& l = setup.limits;
  const double* parts[6] = {l.on_lam, l.on_u, l.on_force, l.on_a, l.lower, l.upper};
  const npy_intp widths[6] = {k.m.nc, setup.n, k.m.nv, k.m.nv, 1, 1}, count = l.m - first_function;
  if (length_of(limits[4]) != count) return false;
  for (int i = 0; i < 6; ++i)
    if (!parts[i] && !limits[i].is_none()) return false;
  for (int i = 0; i < 6; ++i) {
    if (!parts[i]) continue;
    double* to = const_cast<double*>(parts[i]) + first_function * widths[i];
    if (limits[i].is_none())
      std::fill_n(to, count * widths[i], 0.0);
    else
      std::copy_n(Dense(limits[i], "limits", i < 4 ? Shape{count, widths[i]} : Shape{count}).data,
                  count * widths[i], to);
  }
  return true;
}

std::unique_ptr<StepResult> ControlStep::new_result() const {
  auto found = std::make_unique<StepResult>();
  found->memory = allocate(kept), found->nq = k.m.nq, found->nv = k.m.nv, found->n = setup.n;
  found->all_limits = setup.limits.m, found->forces = setup.forces.p;
  return found;
}

const unsigned char* mask(nb::handle x, npy_intp n, const char* name) {
  if (x.is_none()) return nullptr;
  auto* data = data_of<unsigned char>(x, {n});
  if (!data) throw nb::value_error((std::string("`") + name + "` must be a mask").c_str());
  return data;
}

}  // namespace sarrus
