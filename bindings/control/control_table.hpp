// Small problems of control laws. Solutions lie in the memory of the thread until its next call.
#pragma once

#include "control/step_data.hpp"

namespace sarrus {

struct ControlMemory {
  unsigned long long work, kept;  // bytes, of which the results keep the second part
};

struct ControlTable {
  ControlMemory (*step_memory)(const ControlSetup<double>&);
  void (*step)(const ControlSetup<double>&, const ControlInput<double>&, ControlFound<double>&, void* work,
               void* kept);
  // the same, then within fixed limits; work as step() left it
  void (*inputs)(const ControlSetup<double>&, const ControlInput<double>&, ControlFound<double>&, void* work);
  ResponseStatus (*response)(const DenseTerms<double>&, InputResponse<double>&);
  LeastNormSolution<double> (*least_norm)(const LeastNormProblem<double>&);
  ProgramSolution<double> (*program)(const Program<double>&);
  ProgramSolution<double> (*cone_program)(const Program<double>&, const Cones<double>&);
  LimitedSolution<double> (*limited)(const LimitedProblem<double>&);
  ControllableBasis<double> (*controllable)(const ControllableProblem<double>&);
  PrioritySolution<double> (*priorities)(const PriorityProblem<double>&);
  LevelSolution<double> (*level)(const LevelProblem<double>&);
  void (*input_rows)(const MultiplierLimits<double>&, const InputRows<double>&);
  void (*eigenvalues)(double* A, int n, double* values, double* V);
};

}  // namespace sarrus
