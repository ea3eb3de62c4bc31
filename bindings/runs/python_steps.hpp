// Steps that a Python object takes: start(t, q, v), step(h, t_end), back() return whether they went well,
// `point` is the state (t, q, v, a, tau, drift, velocity_drift, pivot, rank), `step_size` what to try next,
// `status` why not.
#pragma once

#include <vector>

#include "../numpy.hpp"
#include "run_table.hpp"

namespace sarrus {

struct StepsOfPython {
  const nb::object& object;
  const ModelD& m;
  std::vector<double> q, v, a, tau;
  RunState known{};

  StepsOfPython(const nb::object& given, const ModelD& model) : object(given), m(model) {}

  OutsideSteps steps() {
    return {.context = this,
            .start =
                [](void* self, const Instant<double>& at) {
                  auto& s = *static_cast<StepsOfPython*>(self);
                  nb::gil_scoped_acquire gil;
                  NewArray q({s.m.nq}, at.q), v({s.m.nv}, at.v);
                  return s.look(s.object.attr("start")(at.t, q, v));
                },
            .step =
                [](void* self, double h, double t_end) {
                  auto& s = *static_cast<StepsOfPython*>(self);
                  nb::gil_scoped_acquire gil;
                  return s.look(s.object.attr("step")(h, t_end));
                },
            .back =
                [](void* self) {
                  auto& s = *static_cast<StepsOfPython*>(self);
                  nb::gil_scoped_acquire gil;
                  return s.look(s.object.attr("back")());
                },
            .state = [](void* self) { return static_cast<StepsOfPython*>(self)->known; }};
  }
  std::vector<double> numbers(nb::handle point, const char* name, npy_intp n) const {
    Dense x(point.attr(name), name, {n});
    return {x.data, x.data + n};
  }
  // Reads the state; the same for whether a call went well
  bool look(nb::handle well) {
    known.status = nb::cast<StepStatus>(object.attr("status"));
    if (!nb::cast<bool>(well)) return false;
    nb::object point = object.attr("point");
    auto number = [&](const char* name) { return nb::cast<double>(point.attr(name)); };
    q = numbers(point, "q", m.nq), v = numbers(point, "v", m.nv);
    a = numbers(point, "a", m.nv), tau = numbers(point, "tau", m.nv);
    known = {.t = number("t"),
             .drift = number("drift"),
             .velocity_drift = number("velocity_drift"),
             .pivot = number("pivot"),
             .step = nb::cast<double>(object.attr("step_size")),
             .q = q.data(),
             .v = v.data(),
             .a = a.data(),
             .tau = tau.data(),
             .rank = nb::cast<int>(point.attr("rank")),
             .evaluations = 0,
             .status = StepStatus::FINE};
    return true;
  }
};

}  // namespace sarrus
