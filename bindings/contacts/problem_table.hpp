// Contact problems. Results lie in the memory of the thread until its next call.
#pragma once

#include "contacts/problem/problem_data.hpp"

namespace sarrus {

// Rows A, B (n, d) and speeds b (n), as given; blocks, and the restitution of each. start (n) forces or null
struct GivenProblem {
  int n, d, blocks;
  const double *A, *B, *b, *restitution, *start;
  const ForceBlock* block;
  Restitution law;
};

// Forces and speeds (n), which forces are unique (n), as given
struct SolvedProblem {
  double *lam, *u;
  unsigned char* unique;
};

struct ProblemTable {
  ContactFound (*solve)(const GivenProblem&, const SolvedProblem&);
  ImpactFound (*impact)(const GivenProblem&, const SolvedProblem&);
};

}  // namespace sarrus
