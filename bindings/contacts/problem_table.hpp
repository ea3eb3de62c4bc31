// Contact problems. Results lie in the memory of the thread until its next call.
#pragma once

#include "../batches/batch_table.hpp"
#include "constraints/mode.hpp"
#include "contacts/problem/problem_data.hpp"
#include "solve/contact/contact_mode.hpp"

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

// Forces of contacts at n states under tau (n, nv): in modes (n, nslot), or, without modes, by the law. table,
// rows: the mode of all rows (kernels/constraints/mode.hpp), or null: all act
struct StatesOfContacts {
  States states;
  const double *tau, *modes;
  const ModeTable* table;
  const double* rows;
};

// Of each slot: force and moment on b at the point of contact, that point, slip of b relative to a, in the world (3 each);
// which forces are unique. Of each
// state: generalized force (nv), a ContactOutcome or -1 without terms, residual
struct ContactForceArrays {
  double *force, *moment, *point, *slip;
  unsigned char* unique;
  double* generalized;
  int* outcome;
  double* residual;
};

struct ProblemTable {
  ContactFound (*solve)(const GivenProblem&, const SolvedProblem&);
  ImpactFound (*impact)(const GivenProblem&, const SolvedProblem&);
  void (*forces)(const ModelD&, const StatesOfContacts&, const ContactForceArrays&);
};

}  // namespace sarrus
