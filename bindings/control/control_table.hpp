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
  // inputs within the limits, after step()
  void (*inputs)(const ControlSetup<double>&, const ControlInput<double>&, ControlFound<double>&, void* work);
  // wrench (6) that explains the displacement of a held object; false where its error has no map
  bool (*displacement)(const ControlSetup<double>&, const ControlInput<double>&, void* work, double* wrench);
  void (*observe)(const ControlSetup<double>&, const ControlInput<double>&, const ObserverSetup<double>&,
                  const ObserverInput<double>&, ObserverState<double>&, ControlFound<double>&, void* work,
                  void* kept);
  // feedback of forces: of a step whose inputs were chosen elsewhere, and by itself
  void (*settle_step)(const ControlSetup<double>&, const ControlInput<double>&, const double* u,
                      ControlFound<double>&);
  void (*command)(ForceFeedbackState<double>&, double t, const double* desired,
                  const double* measured_less_model, double* out);
  void (*settle)(ForceFeedbackState<double>&, const double* desired, const double* commanded,
                 const double* modelled, double* error);
  ResponseStatus (*response)(const DenseTerms<double>&, InputResponse<double>&);
  LeastNormSolution<double> (*least_norm)(const LeastNormProblem<double>&);
  ProgramSolution<double> (*program)(const Program<double>&);
  ProgramSolution<double> (*cone_program)(const Program<double>&, const Cones<double>&);
  LimitedSolution<double> (*limited)(const LimitedProblem<double>&);
  ControllableBasis<double> (*controllable)(const ControllableProblem<double>&);
  PrioritySolution<double> (*priorities)(const PriorityProblem<double>&);
  LevelSolution<double> (*level)(const LevelProblem<double>&);
  void (*eigenvalues)(double* A, int n, double* values, double* V);
};

}  // namespace sarrus
