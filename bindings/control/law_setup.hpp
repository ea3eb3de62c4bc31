// sarrus._kernel.ControlStep: a control law in the kernel, and one call of it.
#pragma once

#include "../kernel_object.hpp"
#include "step_result.hpp"

#include <vector>

namespace sarrus {

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
  nb::object feedback = nb::none();  // of regulated forces
  bool pulls = false;                // whether null_force acts
  int nu = 0;
  int first_function = 0;  // where the rows of limits that are functions begin
  unsigned long long kept;
  Memory work;

  ControlStep(nb::object kernel_, nb::dict from);
  ControlStep(const ControlStep&) = delete;

  // targets of all outputs, which tasks are active (None: all), and the force in their null space or None
  void store_tasks(nb::handle given, nb::handle active, nb::handle force);
  // limits that are functions, as in the setup; false where their number or kind is another
  bool renew_limits(nb::handle limits);
  // room for the results of a step
  std::unique_ptr<StepResult> new_result() const;

 private:
  const double* keep(nb::handle x, const char* name, const Shape& shape);
  const int* keep(const std::vector<int>& x);
  void add_output(nb::handle o);
  void add_task(nb::handle t);
  void set_limits(nb::handle limits);
  void set_object(nb::handle held);
};

// One call: what the kernel does not know itself it asks of the law.
struct Call {
  ControlStep& s;
  nb::handle owner;  // None where the kernel knows all rows, outputs and limits
  const double* drive;
  const double** null_force = nullptr;

  bool asks(const char* what) const { return !owner.is_none() && nb::cast<bool>(owner.attr(what)); }
  // functions of the kernel's ControlOwner
  ControlOwner<double> functions();
};

// (nc) which rows hold, or null for None
const unsigned char* mask(nb::handle x, npy_intp n, const char* name);

}  // namespace sarrus
