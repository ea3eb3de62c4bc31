#include "wrench_observer.hpp"

#include <cmath>

namespace sarrus {

using namespace nb::literals;

Observer::Observer(nb::object step_, double length, double bandwidth_, double memory_, double farthest,
                   bool payload)
    : s(nb::cast<ControlStep&>(step_)), step(step_), bandwidth(bandwidth_), memory(memory_) {
  setup = {length, farthest, payload};
  inputs.resize(12 * s.setup.n + 1);
  rows.resize(s.k.m.nc + 1);
  reset();
}

void Observer::reset() {
  state = {};
  state.rows = rows.data();
  state.before.B = inputs.data(), state.after.B = inputs.data() + 6 * s.setup.n;
}

std::unique_ptr<StepResult> Observer::observe(const double* q, const double* v, double t, nb::handle asked) {
  npy_intp nd = s.k.m.nd;
  Dense u(asked[0], "u", {s.setup.n}), drive, raw = Dense::or_none(asked[3], "wrench", {6});
  Dense own = Dense::or_none(asked[4], "payload", {PAYLOAD_NUMBERS});
  nb::object drives = asked[1], holds = asked[2], owner = asked[6];
  if (nd && !drives.is_none()) drive = Dense(drives, "drive", {1, nd, 3});
  AskLaw call{s, owner, drive};
  ControlInput<double> in{};
  in.q = q, in.v = v, in.t = t, in.drive = drive, in.rows = mask(holds, s.k.m.nc, "rows"), in.payload = own;
  in.owner = call.functions();
  double dt = t - state.before.t;
  ObserverInput<double> given{u, raw, 1.0 - std::exp(-bandwidth * dt), std::exp(-dt / memory),
                              nb::cast<bool>(asked[5])};
  auto found = s.new_result();
  s.k.tables.control.observe(s.setup, in, setup, given, state, found->f, s.work.get(), found->memory.get());
  std::copy_n(state.estimate, ESTIMATE_NUMBERS, found->f.estimate);
  return found;
}

namespace {

StepResult* call(Observer& o, nb::handle q, nb::handle v, double t, nb::handle asked) {
  Dense q_(q, "q", {o.s.k.m.nq}), v_(v, "v", {o.s.k.m.nv});
  return o.observe(q_, v_, t, asked).release();
}

}  // namespace

void bind_wrench_observer(nb::module_& m) {
  nb::class_<Observer>(m, "Observer")
      .def(nb::init<nb::object, double, double, double, double, bool>(), "step"_a, "length"_a, "bandwidth"_a,
           "memory"_a, "farthest"_a, "payload"_a)
      .def("reset", &Observer::reset)
      .def_prop_ro("ready", [](const Observer& o) { return o.state.ready; })
      .def("__call__", call, "q"_a, "v"_a, "t"_a, "asked"_a, nb::rv_policy::take_ownership);
}

}  // namespace sarrus
