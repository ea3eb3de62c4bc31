#include "step_result.hpp"

namespace sarrus {

namespace {

nb::object view(nb::handle owner, const double* data, const Shape& shape) {
  PyObject* array = PyArray_SimpleNewFromData(shape.rank, const_cast<npy_intp*>(shape.sizes), NPY_DOUBLE,
                                              const_cast<double*>(data));
  if (!array) throw nb::python_error();
  PyArray_SetBaseObject(reinterpret_cast<PyArrayObject*>(array), owner.inc_ref().ptr());
  return nb::steal(array);
}

using Result = nb::handle;
StepResult& in(Result r) { return nb::cast<StepResult&>(r); }

nb::tuple terms_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  return nb::make_tuple(view(r, f.M, {nv, nv}), view(r, f.h, {nv}), view(r, f.phi, {f.nc}),
                        view(r, f.J, {f.nc, nv}), view(r, f.b, {f.nc}), view(r, f.gamma, {f.nc}));
}

nb::dict response_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  const InputResponse<double>& p = f.response;
  nb::dict d;
  d["a0"] = view(r, p.a0, {nv}), d["B"] = view(r, p.B, {nv, n}), d["lam0"] = view(r, p.lam0, {f.nc});
  d["Lam"] = view(r, p.Lam, {f.nc, n}), d["lam_per_force"] = view(r, p.lam_per_force, {f.nc, nv});
  d["lam_unique"] = New<unsigned char>({f.nc}, p.lam_unique), d["N"] = view(r, f.N, {nv, p.dof});
  d["rank"] = p.rank, d["inverse_inertia"] = view(r, p.inverse_inertia, {nv, nv});
  d["prescribed"] = view(r, p.prescribed, {nv});
  return d;
}

nb::dict least_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  const LeastNormSolution<double>& l = f.least;
  nb::dict d;
  d["G"] = view(r, l.G, {l.rows, n}), d["g"] = view(r, l.g, {l.rows}), d["x"] = view(r, l.x, {n});
  d["Z"] = view(r, l.Z, {n, n - l.rank}), d["rank"] = l.rank, d["damped"] = l.damped;
  d["uncontrollable"] = f.response.dof - l.controllable;
  return d;
}

// R on inputs and shares, lower, upper of the limits that count, and which of the fixed ones they are
nb::tuple limits_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  nb::list which;
  for (int i = 0; i < f.limits; ++i) which.append(f.limit_rows[i]);
  return nb::make_tuple(view(r, f.rows.R, {f.limits, n + f.shares}), view(r, f.rows.lower, {f.limits}),
                        view(r, f.rows.upper, {f.limits}), which);
}

// R (cones, 3, n + shares) and at (cones, 3) of the cones that count, and which of the fixed ones they are
nb::tuple cones_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  nb::list which;
  for (int i = 0; i < f.cones; ++i) which.append(f.cone_rows[i]);
  return nb::make_tuple(view(r, f.cone_R, {f.cones, 3, n + f.shares}), view(r, f.cone_at, {f.cones, 3}),
                        which);
}

// By how much the limits that count, and then the cones, were drawn in
nb::object reserve_of(const StepResult& r) {
  NewArray reserve({r.f.limits + r.f.cones});
  std::copy_n(r.f.rows.reserve, r.f.limits, reserve.data());
  std::copy_n(r.f.cone_reserve, r.f.cones, reserve.data() + r.f.limits);
  return reserve.object;
}

// Of a hierarchy: basis (E, to_x, internal, size), rows (A, b) and results of the levels
nb::dict levels_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  const PrioritySolution<double>& p = f.levels;
  int k = f.k, rank = f.basis.r, levels = f.level_count;
  nb::list left, ends, damped;
  for (int i = 0; i < levels; ++i) {
    left.append(view(r, p.left + i * rank * rank, {p.open[i], p.open[i + 1]}));
    ends.append(f.ends[i]), damped.append(p.damped[i]);
  }
  nb::dict d;
  d["E"] = view(r, f.basis.E, {nv, rank}), d["to_x"] = view(r, f.basis.to_x, {n, rank});
  d["internal"] = view(r, f.basis.internal, {n, n - rank}), d["size"] = f.basis.size;
  d["A"] = view(r, p.A, {k, rank}), d["b"] = view(r, p.b, {k}), d["zero"] = view(r, p.zero, {levels});
  d["left"] = left, d["ends"] = ends, d["damped"] = damped;
  d["free"] = view(r, f.free, {rank}), d["s"] = view(r, f.s, {rank});
  d["rest"] = f.rests ? view(r, f.rest, {rank}) : nb::none();
  return d;
}

// Of each level: rank, damping, largest |b|, |A (free - s)| and |b - A s|
nb::list judged_of(const StepResult& r) {
  nb::list found;
  for (int i = 0; i < r.f.level_count; ++i) {
    const double* worst = r.f.judged + 3 * i;
    found.append(nb::make_tuple(r.f.levels.open[i] - r.f.levels.open[i + 1], r.f.levels.damped[i], worst[0],
                                worst[1], worst[2]));
  }
  return found;
}

// Of regulated forces: Y (p, n), y0 (p), desired and commanded values (p)
nb::tuple forces_of(Result r) {
  auto& [memory, f, nq, nv, nc, n, all_limits, forces, seconds, weight, others] = in(r);
  return nb::make_tuple(view(r, f.force_Y, {forces, n}), view(r, f.force_y0, {forces}),
                        view(r, f.force_wanted, {forces}), view(r, f.commanded, {forces}));
}

// Of an observer: wrench, external wrench, payload, inertia
nb::tuple estimate_of(Result r) {
  const double* at = in(r).f.estimate;
  return nb::make_tuple(view(r, at, {6}), view(r, at + 6, {6}), view(r, at + 12, {PAYLOAD_NUMBERS}),
                        view(r, at + 12 + PAYLOAD_NUMBERS, {6, 6}));
}

// Ranks in doubt: (kind, level, share of the weakest direction) of each
nb::list doubts_of(const StepResult& r) {
  nb::list found;
  const RankRule<double>& ranks = r.f.ranks;
  for (int i = 0; i < ranks.count; ++i)
    found.append(nb::make_tuple(ranks.doubt[i].kind, ranks.doubt[i].level, ranks.doubt[i].share));
  return found;
}

// Limits that are active; cones are counted behind all fixed rows
nb::list active_of(const StepResult& r) {
  nb::list found;
  for (int i = 0; i < r.f.count; ++i) {
    int at = r.f.active[i] - r.f.limits;
    found.append(at < 0 ? r.f.limit_rows[r.f.active[i]] : r.all_limits + r.f.cone_rows[at]);
  }
  return found;
}

// Whether the outputs are met: their rows are independent, nothing is damped, every motion is controllable.
bool regular(const StepResult& r) {
  const LeastNormSolution<double>& l = r.f.least;
  return l.rank == l.rows && !l.damped && l.controllable == r.f.response.dof;
}

}  // namespace

void bind_step_result(nb::module_& m) {
  nb::class_<StepResult> result(m, "StepResult");
  result.def_prop_ro("status", [](const StepResult& r) { return int(r.f.status); })
      .def_prop_ro("projection", [](const StepResult& r) { return r.f.projection; })
      .def_prop_ro("gap", [](const StepResult& r) { return r.f.gap; })
      .def_prop_ro("rank", [](const StepResult& r) { return r.f.response.rank; })
      .def_prop_ro("constraint_rows", [](const StepResult& r) { return r.f.nc; })
      .def_prop_ro("program", [](const StepResult& r) { return int(r.f.program); })
      .def_prop_ro("iterations", [](const StepResult& r) { return r.f.iterations; })
      .def_prop_ro("limit_count", [](const StepResult& r) { return r.f.limits; })
      .def_prop_ro("shares", [](Result r) { return view(r, in(r).f.u + in(r).n, {in(r).f.shares}); })
      .def_prop_ro("sharing",
                   [](Result r) { return view(r, in(r).f.response.sharing, {in(r).f.shares, in(r).f.nc}); })
      .def_prop_ro("active", active_of)
      .def_prop_ro("regular", regular)
      .def_prop_ro("seconds", [](const StepResult& r) { return r.seconds; })
      .def_prop_ro("metric", [](Result r) { return view(r, in(r).f.metric, {in(r).n, in(r).n}); })
      .def_prop_ro("weight", [](const StepResult& r) { return r.weight; })
      .def_prop_ro("others", [](const StepResult& r) { return r.others; })
      .def_prop_ro("doubts", doubts_of)
      .def_prop_ro("lost", [](const StepResult& r) { return r.f.lost; })
      .def_prop_ro("least_value", [](const StepResult& r) { return r.f.least_value; })
      .def_prop_ro("lost_rows", [](Result r) { return view(r, in(r).f.lost_rows, {in(r).f.nc}); })
      .def("terms", terms_of)
      .def("response", response_of)
      .def("least", least_of)
      .def("limits", limits_of)
      .def("cones", cones_of)
      .def("reserve", reserve_of)
      .def_prop_ro("stretched", [](const StepResult& r) { return r.f.stretched; })
      .def_prop_ro("mobility", [](Result r) { return view(r, in(r).f.mobility, {6, 6}); })
      .def("forces", forces_of)
      .def("estimate", estimate_of)
      .def_prop_ro("force_error", [](Result r) { return view(r, in(r).f.force_error, {in(r).forces}); })
      .def_prop_ro("external", [](Result r) { return view(r, in(r).f.external, {6}); })
      .def_prop_ro("carried", [](Result r) { return view(r, in(r).f.carried, {PAYLOAD_NUMBERS}); })
      .def_prop_ro("cone_count", [](const StepResult& r) { return r.f.cones; })
      .def("levels", levels_of)
      .def("judged", judged_of)
      .def_prop_ro("limited", [](const StepResult& r) { return r.f.limited; })
      .def_prop_ro("variables", [](const StepResult& r) { return r.f.variables; })
      .def_prop_ro("dof", [](const StepResult& r) { return r.f.response.dof; })
      .def_prop_ro("controllable", [](const StepResult& r) { return r.f.basis.r; });
  auto vector = [&](const char* name, double* ControlFound<double>::* data, auto size) {
    result.def_prop_ro(name, [=](Result r) { return view(r, in(r).f.*data, {size(in(r))}); });
  };
  auto k = [](const StepResult& r) -> npy_intp { return r.f.k; };
  auto n = [](const StepResult& r) -> npy_intp { return r.n; };
  auto nv = [](const StepResult& r) -> npy_intp { return r.nv; };
  using Found = ControlFound<double>;
  vector("q", &Found::q, [](const StepResult& r) -> npy_intp { return r.nq; });
  vector("v", &Found::v, nv), vector("a", &Found::a, nv);
  vector("x", &Found::x, k), vector("desired", &Found::desired, k), vector("e", &Found::e, k);
  vector("rate", &Found::rate, k), vector("wanted", &Found::wanted, k);
  auto nc = [](const StepResult& r) -> npy_intp { return r.nc; };
  vector("measured", &Found::measured, nc), vector("slip", &Found::slip, nc);
  vector("inputs", &Found::inputs, n), vector("inputs_used", &Found::u, n);
  result.def_prop_ro("J", [](Result r) { return view(r, in(r).f.task_J, {in(r).f.k, in(r).nv}); });
}

}  // namespace sarrus
