// Searches for poses, for a batch of n starts: closing, assembly, sweeps. Arrays as in
// batches/batch_table.hpp.
#pragma once

#include "../batches/batch_table.hpp"

namespace sarrus {

// Where rows come from: those of the user's at other states (ProjectOptions::user_rows) from their owner;
// null without any.
struct UserRows {
  void (*at)(void* owner, const double* q, const double* v, double* rows) = nullptr;
  void* owner = nullptr;
};

// Rows to close and coordinates to move, by their indices.
struct Closed {
  const int *rows, *columns;
  int n_rows, n_columns;
};

// Poses (nq), what is left of the rows without units (n_rows), iterations
struct ClosingArrays {
  double *q, *r;
  int* iterations;
};

// Swept coordinates, further ones that stay as they are, what moves; values (n, count, n_swept)
struct SweepPlan {
  const int *index, *position;
  int n_swept;
  const int* held;
  int n_held;
  Closed free;
  const double *values, *patterns;
  int count;
};

// Poses (count, nq), whether they are singular (count), where the path ended, how many values were reached,
// what is left of the rows at the first of them (n_rows); without a start q holds the best pose found
struct SweepArrays {
  double* q;
  unsigned char* singular;
  double *end, *r;
  int* reached;
};

// Applied force (nv) and inputs (n_u) of each start, coordinates of the inputs, held ones; rows and
// coordinates to close with held ones fixed, and all
struct RestPlan {
  const double *tau, *u;
  const int *actuated, *held;
  int n_u, n_held;
  Closed closing, moving;
  const double* patterns;
};

// Poses (nq), inputs (n_u), accelerations there (nv), largest unbalanced force; ends (2): a SearchEnd and a
// RestStatus
struct RestArrays {
  double *q, *u, *a, *residual;
  int* ends;
};

struct PoseTable {
  void (*close)(const ModelD&, States, UserRows, Closed, ClosingArrays);
  // patterns (MOST_ATTEMPTS, n_columns): perturbations of guesses, in [-1, 1]
  void (*assemble)(const ModelD&, States, UserRows, Closed, const double* patterns, ClosingArrays);
  void (*sweep)(const ModelD&, States, UserRows, const SweepPlan&, SweepArrays);
  void (*equilibrium)(const ModelD&, States, UserRows, const RestPlan&, RestArrays);
  // whether J, of this rank (-1: singular values above rank_tol), loses rank at a pose only
  void (*loses_rank)(const ModelD&, States, UserRows, int rank, unsigned char* yes);
};

}  // namespace sarrus
