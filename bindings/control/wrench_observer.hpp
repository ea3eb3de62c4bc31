// sarrus._kernel.Observer: an observer of the wrench on a body, with what it remembers.
#pragma once

#include "law_setup.hpp"

namespace sarrus {

struct Observer {
  ControlStep& s;
  nb::object step;
  ObserverSetup<double> setup{};
  ObserverState<double> state{};
  double bandwidth, memory;
  std::vector<double> inputs;
  std::vector<unsigned char> rows;

  Observer(nb::object step_, double length, double bandwidth_, double memory_, double farthest, bool payload);
  Observer(const Observer&) = delete;
  void reset();
  // asked: (u, drive or None, rows or None, wrench over the sample or None, payload of the model or None,
  // whether the payload is renewed, owner or None)
  std::unique_ptr<StepResult> observe(const double* q, const double* v, double t, nb::handle asked);
};

void bind_wrench_observer(nb::module_& m);

}  // namespace sarrus
