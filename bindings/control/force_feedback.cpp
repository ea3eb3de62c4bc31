#include "force_feedback.hpp"

#include "law_tables.hpp"

#include <cmath>

namespace sarrus {

using namespace nb::literals;

// (p, p), (p, p), (p, p), (p), [s]
ForceFeedback::ForceFeedback(nb::handle kf, nb::handle ki, nb::handle inverse, nb::handle cap,
                             double filter_time) {
  npy_intp p = length_of(cap);
  numbers.resize(3 * p * p + 4 * p);
  double* at = numbers.data();
  for (nb::handle gain : {kf, ki, inverse}) at = std::copy_n(Dense(gain, "gain", {p, p}).data, p * p, at);
  std::copy_n(Dense(cap, "cap", {p}).data, p, at);
  const double* from = numbers.data();
  state = {static_cast<int>(p), from,   from + p * p, from + 2 * p * p, at,
           filter_time,         at + p, at + 2 * p,   at + 3 * p,       NAN};
  reset();
}

void ForceFeedback::reset() {
  std::fill_n(state.integral, 3 * state.p, 0.0);
  state.last = NAN;
}

namespace {

nb::object command(ForceFeedback& f, double t, nb::handle desired, nb::handle measured_less_model) {
  npy_intp p = f.state.p;
  NewArray out({p});
  best_tables().control.command(f.state, t, Dense(desired, "desired", {p}),
                                Dense::or_none(measured_less_model, "measured_less_model", {p}), out);
  return out.object;
}

nb::object settle(ForceFeedback& f, nb::handle desired, nb::handle commanded, nb::handle modelled) {
  npy_intp p = f.state.p;
  NewArray error({p});
  best_tables().control.settle(f.state, Dense(desired, "desired", {p}), Dense(commanded, "commanded", {p}),
                               Dense(modelled, "modelled", {p}), error);
  return error.object;
}

}  // namespace

void bind_force_feedback(nb::module_& m) {
  nb::class_<ForceFeedback>(m, "ForceFeedback")
      .def(nb::init<nb::handle, nb::handle, nb::handle, nb::handle, double>(), "kf"_a, "ki"_a, "inverse"_a,
           "cap"_a, "filter_time"_a)
      .def("reset", &ForceFeedback::reset)
      .def("command", command, "t"_a, "desired"_a, "measured_less_model"_a.none())
      .def("settle", settle, "desired"_a, "commanded"_a, "modelled"_a)
      .def("tables", [](const ForceFeedback& f) { return tables_of(f.state); })
      .def_prop_ro("integral",
                   [](const ForceFeedback& f) { return NewArray({f.state.p}, f.state.integral).object; });
}

}  // namespace sarrus
