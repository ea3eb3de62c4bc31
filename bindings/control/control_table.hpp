// Small problems of control laws. Solutions lie in the memory of the thread until its next call.
#pragma once

#include "control/control_data.hpp"

namespace sarrus {

struct ControlTable {
  ResponseStatus (*response)(const DenseTerms<double>&, InputResponse<double>&);
  LeastNormSolution<double> (*least_norm)(const LeastNormProblem<double>&);
  ProgramSolution<double> (*program)(const Program<double>&);
  LimitedSolution<double> (*limited)(const LimitedProblem<double>&);
  ControllableBasis<double> (*controllable)(const ControllableProblem<double>&);
  PrioritySolution<double> (*priorities)(const PriorityProblem<double>&);
  LevelSolution<double> (*level)(const LevelProblem<double>&);
  void (*input_rows)(const MultiplierLimits<double>&, const InputRows<double>&);
  void (*eigenvalues)(double* A, int n, double* values, double* V);
};

}  // namespace sarrus
