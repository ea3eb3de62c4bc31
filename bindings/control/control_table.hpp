// Small problems of control laws. Results lie in the memory of the thread until its next call.
#pragma once

#include "control/control_data.hpp"

namespace sarrus {

struct ControlTable {
  // 0 where fine, 1 where rows depend on each other, 2 where the inertia is not positive definite
  int (*respond)(const DenseTerms<double>&, const AffineMaps<double>&);
  LeastFound<double> (*least)(const Asked<double>&);
  Answer<double> (*program)(const Program<double>&);
  LimitedFound<double> (*limited)(const Limited<double>&);
  int (*reach)(const ReachAsked<double>&, ReachFound<double>&);  // 0; 1: not all is felt; 2: no inertia
  LevelsFound<double> (*levels)(const LevelsAsked<double>&);
  void (*limit_rows)(const LimitRows<double>&, double* R, double* lower, double* upper, double* reserve);
  void (*eigenvalues)(double* A, int n, double* values, double* V);
};

}  // namespace sarrus
