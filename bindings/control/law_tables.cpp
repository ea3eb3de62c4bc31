#include "law_tables.hpp"

namespace sarrus {

namespace {

// An array of the kernel, or None where there is none
template <class S>
nb::object array(const S* x, npy_intp n) {
  if (!x) return nb::none();
  New<S> copied({n}, x);
  return copied.object;
}

nb::object array(const unsigned char* x, npy_intp n) {
  return array(reinterpret_cast<const signed char*>(x), n);
}

// An array that lies within its struct
template <class S>
nb::tuple within(const S* x, int n) {
  nb::list found;
  for (int i = 0; i < n; ++i) found.append(x[i]);
  return nb::tuple(found);
}

nb::dict tables_of(const Output<double>& o, const Model<double>& m) {
  nb::dict d;
  d["kind"] = o.kind, d["body"] = o.body, d["size"] = o.size, d["rows"] = within(o.rows, 6);
  d["screw"] = o.screw, d["own"] = o.own, d["accelerated"] = o.accelerated, d["point"] = within(o.point, 3);
  d["Q"] = array(o.Q, o.size * m.nq), d["J"] = array(o.J, o.size * m.nv), d["at"] = o.at;
  return d;
}

nb::dict tables_of(const Task<double>& t) {
  nb::dict d;
  d["first"] = t.first, d["outputs"] = t.outputs, d["size"] = t.size, d["kept"] = t.kept;
  d["level"] = t.level, d["damping"] = t.damping, d["keep"] = array(t.keep, t.kept);
  d["kp"] = array(t.kp, t.size * t.size), d["kd"] = array(t.kd, t.size * t.size);
  return d;
}

nb::dict tables_of(const ControlLimits<double>& l, const Model<double>& m, int n) {
  nb::dict d;
  d["m"] = l.m, d["on_lam"] = array(l.on_lam, l.m * m.nc), d["on_u"] = array(l.on_u, l.m * n);
  d["on_force"] = array(l.on_force, l.m * m.nv), d["on_a"] = array(l.on_a, l.m * m.nv);
  d["lower"] = array(l.lower, l.m), d["upper"] = array(l.upper, l.m), d["cones"] = l.cones;
  d["cone_lam"] = array(l.cone_lam, 3 * l.cones * m.nc);
  d["least"] = array(l.least, n), d["most"] = array(l.most, n);
  return d;
}

nb::dict tables_of(const RegulatedForces<double>& f) {
  nb::dict d;
  d["p"] = f.p, d["rows"] = array(f.rows, f.p), d["weight"] = array(f.weight, f.p);
  return d;
}

nb::dict tables_of(const HeldObject<double>& o) {
  nb::dict d;
  d["body"] = o.body, d["column"] = o.column, d["com"] = within(o.com, 3);
  d["stiffness"] = array(o.stiffness, 36), d["damping"] = array(o.damping, 36);
  d["inertia"] = array(o.inertia, 36), d["reserve"] = array(o.reserve, 36);
  return d;
}

nb::dict tables_of(const InputMetric<double>& c, int n) {
  nb::dict d;
  d["C"] = array(c.C, c.diagonal ? n : n * n), d["diagonal"] = c.diagonal;
  return d;
}

template <class Part, class... More>
nb::list listed(const Part* parts, int count, const More&... more) {
  nb::list found;
  for (int i = 0; i < count; ++i) found.append(tables_of(parts[i], more...));
  return found;
}

}  // namespace

// In the order of ControlSetup
nb::dict tables_of(const ControlStep& s) {
  const ControlSetup<double>& c = s.setup;
  const Model<double>& m = *c.model;
  nb::dict d;
  d["n"] = c.n, d["columns"] = array(c.columns, c.n);
  d["gap_weight"] = array(c.gap_weight, m.nc), d["per_row"] = array(c.per_row, m.nc);
  d["part"] = array(c.part, m.nc);
  d["outputs"] = c.outputs, d["tasks"] = c.tasks, d["k"] = c.k, d["numbers"] = c.numbers;
  d["output"] = listed(c.output, c.outputs, m), d["task"] = listed(c.task, c.tasks);
  d["row_unit"] = array(c.row_unit, c.k), d["metric"] = tables_of(c.metric, c.n);
  d["mass_metric"] = c.mass_metric, d["levels"] = c.levels, d["rank_tol"] = c.rank_tol;
  d["damping"] = c.damping, d["min_controllability"] = c.min_controllability, d["by_mass"] = c.by_mass;
  d["limits"] = tables_of(c.limits, m, c.n), d["forces"] = tables_of(c.forces);
  d["object"] = tables_of(c.object), d["touch"] = c.touch, d["tol"] = c.tol;
  d["drops_lost_rows"] = c.drops_lost_rows, d["angle"] = c.angle, d["speed"] = c.speed;
  return d;
}

nb::dict tables_of(const ForceFeedbackState<double>& f) {
  nb::dict d;
  d["kf"] = array(f.kf, f.p * f.p), d["ki"] = array(f.ki, f.p * f.p);
  d["inverse"] = array(f.inverse, f.p * f.p), d["cap"] = array(f.cap, f.p);
  d["filter_time"] = f.filter_time;
  return d;
}

}  // namespace sarrus
