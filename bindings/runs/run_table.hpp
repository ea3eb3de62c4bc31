// Runs: many steps in time, one object per run.
#pragma once

#include "tree/model.hpp"

namespace sarrus {

using ModelD = Model<double>;

// How a run is integrated.
struct RunOptions {
  int method = 0;      // 0: rk4, 1: semi_implicit_euler, 2: dopri5, 3: radau
  int correction = 1;  // 0: none, 1: project, 2: baumgarte
  double damping = 0, stiffness = 0, rtol = 1e-8, atol = 1e-10, least_step = 0;
  bool keep_energy = false;
  double energy = 0;
  int slope = 0;  // of radau: 0: differences, 1: derivatives, 2: those, and differences of the inputs
};

// The callbacks of a run. inputs fills what it is asked for (stage -1: rows only) and returns false to stop;
// M (nv rows of stride ld) and h only where the system supplies its own inertia. Null: zero force, no calls.
struct Outside {
  void* context = nullptr;
  bool (*inputs)(void*, double t, const double* q, const double* v, double* tau, double* drive, double* user,
                 double* M, double* h, int ld, int stage) = nullptr;
  bool (*acceleration)(void*, double t, const double* q, const double* v, double* a) = nullptr;
  bool supplies_inertia = false;
};

struct RunState {
  double t, drift, velocity_drift, pivot, step;
  const double *q, *v, *a, *tau;
  int rank, status, evaluations;
};

// What the next step needs of the steps before (kernels/integrate/end_of_step.hpp), as numbers to be stored.
struct RunMemory {
  double pivot_before, step_before, calm, step;
  int most_rank, tight;
};

struct Run {
  virtual ~Run() {}
  virtual bool start(double t, const double* q, const double* v) = 0;
  virtual bool restore(double t, const double* q, const double* v, const RunMemory& memory) = 0;
  virtual RunMemory remember() const = 0;
  virtual bool step(double step, double t_end) = 0;  // one accepted step of at most `step`, never past t_end
  virtual RunState state() const = 0;
  // further numbers that the next step needs of those before
  virtual int tail_size() const { return 0; }
  virtual void store_tail(double*) const {}
  virtual void load_tail(const double*) {}
};

struct RunTable {
  Run* (*make)(const ModelD&, const RunOptions&, const Outside&);  // owned by the caller
};

}  // namespace sarrus
