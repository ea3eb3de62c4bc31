// Small problems of control laws. Solutions lie in the memory of the thread until its next call.
#pragma once

#include "control/control_data.hpp"

namespace sarrus {

struct ControlTable {
  ResponseStatus (*response)(const DenseTerms<double>&, InputResponse<double>&);
  // J' and gamma' along v, for a model without user rows: (nc, nv), (nc)
  void (*row_rates)(const Model<double>&, const double* q, const double* v, const double* drive,
                    double* rate_J, double* rate_gamma);
  LeastNormSolution<double> (*least_norm)(const LeastNormProblem<double>&);
  ProgramSolution<double> (*program)(const Program<double>&);
  LimitedSolution<double> (*limited)(const LimitedProblem<double>&);
  bool (*controllable)(const ControllableProblem<double>&, ControllableBasis<double>&);  // false: no inertia
  PrioritySolution<double> (*priorities)(const PriorityProblem<double>&);
  LevelSolution<double> (*level)(const LevelProblem<double>&);
  void (*input_rows)(const MultiplierLimits<double>&, const InputRows<double>&);
  void (*eigenvalues)(double* A, int n, double* values, double* V);
};

}  // namespace sarrus
