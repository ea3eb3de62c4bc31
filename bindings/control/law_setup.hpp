// sarrus._kernel.ControlStep: a control law in the kernel, and one call of it.
#pragma once

#include "../kernel_object.hpp"
#include "law_fields.hpp"
#include "step_result.hpp"

#include <vector>

namespace sarrus {

// A law: its setup, copies of the arrays in it, and memory to work in.
struct ControlStep {
  const Kernel& k;
  nb::object kernel;
  LawSetup law;
  ControlSetup<double> setup{};
  std::vector<Output<double>> outputs;
  std::vector<Task<double>> tasks;
  std::vector<std::unique_ptr<double[]>> numbers;
  std::vector<std::unique_ptr<int[]>> counts;
  std::vector<double> targets, null_force, row_unit;
  std::vector<unsigned char> on;
  std::vector<int> hint_rows;
  std::vector<double> along;
  Hints hints{};
  nb::object feedback = nb::none();  // of regulated forces
  bool pulls = false;                // whether null_force acts
  unsigned long long kept;
  Memory work;

  ControlStep(nb::object kernel_, const LawSetup& given);
  ControlStep(const ControlStep&) = delete;

  // targets of all outputs, which tasks are active (None: all), and the force in their null space or None
  void store_tasks(nb::handle given, nb::handle active, nb::handle force);
  // limits that are functions, as in the setup; false where their number or kind is another
  bool renew_limits(const LimitRows& rows);
  // whether some part of a step is a function of Python, so that a step needs an owner
  bool asks_owner() const;
  bool has_limit_functions() const { return law.limits && law.limits->has_functions; }
  bool has_sensor() const { return law.forces && law.forces->has_sensor; }
  // room for the results of a step
  std::unique_ptr<StepResult> new_result() const;

 private:
  const double* keep(nb::handle x, const char* name, const Shape& shape);
  const int* keep(const std::vector<int>& x);
  void add_output(const OutputSetup& given);
  void add_task(const TaskSetup& given);
  void set_limits(const LimitSetup& limits);
  void set_object(const ObjectSetup& held);
  void set_forces(const ForceSetup& forces);
};

// What the kernel does not know itself it asks of the owner of a law, at a state of one step.
struct AskLaw {
  ControlStep& s;
  nb::handle owner;  // None where the kernel knows all rows, outputs and limits
  const double* drive;
  const double** null_force = nullptr;

  // functions of the kernel's ControlOwner
  ControlOwner<double> functions();
};

void bind_law_setup(nb::module_& m);

// (nc) which rows hold, or null for None
const unsigned char* mask(nb::handle x, npy_intp n, const char* name);

}  // namespace sarrus
