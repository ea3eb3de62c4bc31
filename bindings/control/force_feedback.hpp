// sarrus._kernel.ForceFeedback: proportional-integral feedback of forces, with its integral.
#pragma once

#include "../kernel_object.hpp"
#include "../numpy.hpp"

#include <vector>

namespace sarrus {

struct ForceFeedback {
  std::vector<double> numbers;
  ForceFeedbackState<double> state{};

  ForceFeedback(nb::handle kf, nb::handle ki, nb::handle inverse, nb::handle cap, double filter_time);
  ForceFeedback(const ForceFeedback&) = delete;
  void reset();
};

void bind_force_feedback(nb::module_& m);

}  // namespace sarrus
