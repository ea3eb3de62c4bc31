// The functions of the kernel as one table of pointers, built once per instruction set. Arrays are
// C-contiguous doubles with the batch axis n first; shapes are those of docs/notation.md.
#pragma once

#include "control/control_data.hpp"
#include "tree/model.hpp"

namespace sarrus {

using ModelD = Model<double>;

// One state, or n of them: positions, velocities, and what drives and outside rows contribute.
struct States {
  int n;
  const double *q, *v, *drive, *user;
};

// How a run is integrated.
struct RunOptions {
  int method = 0;      // 0: rk4, 1: semi_implicit_euler, 2: dopri5, 3: radau
  int correction = 1;  // 0: none, 1: project, 2: baumgarte
  double damping = 0, stiffness = 0, rtol = 1e-8, atol = 1e-10, least_step = 0;
  bool keep_energy = false;
  double energy = 0;
  int slope = 0;  // of radau: 0: differences, 1: derivatives, 2: those, and differences of the inputs
  bool user_rolls = false;  // rows from outside restrict velocities only
};

// The one callback slot. inputs fills what it is asked for (stage -1: rows only) and returns false to stop;
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

// What a state owes to the steps before it (kernels/integrate/end_of_step.hpp), as numbers that can be
// stored.
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
  // what else the next step needs of those before, as so many numbers
  virtual int tail_size() const { return 0; }
  virtual void store_tail(double*) const {}
  virtual void load_tail(const double*) {}
};

struct Table {
  const char* isa;
  bool (*sparse)(const ModelD&);  // what Model::sparse should say
  void (*mass_matrix)(const ModelD&, States, double* M);
  void (*rnea)(const ModelD&, States, const double* a, double* f);
  void (*aba)(const ModelD&, States, const double* tau, double* a);
  void (*energy)(const ModelD&, States, double* kinetic_potential);
  void (*poses)(const ModelD&, States, double* R, double* p);
  void (*body_motion)(const ModelD&, States, const double* a, double* V, double* A);
  void (*frames)(const ModelD&, States, double* R, double* p, double* V, double* A);  // A where a = 0
  void (*jacobian)(const ModelD&, States, int body, const double* point, double* J);
  void (*constraints)(const ModelD&, States, double* phi, double* J, double* b, double* gamma);
  void (*pivots)(const ModelD&, States, int rank, double* least);  // smallest of the first `rank` pivots of J
  void (*terms)(const ModelD&, States, double* M, double* h, double* phi, double* J, double* b,
                double* gamma);
  void (*integrate)(const ModelD&, int n, const double* q, const double* dv, double* out);
  void (*difference)(const ModelD&, int n, const double* q0, const double* q1, double* dv);
  // status 0 where fine, 1 where the inertia seen by the free motion is not positive definite
  void (*forward)(const ModelD&, States, const double* tau, const int* hold, double* a, double* force,
                  double* lam, unsigned char* unique, int* rank, int* status);
  // da/d(q, v, tau) (nv, nv each), dlam/d(q, v, tau) (nc, nv each) or null: not wanted, d(J v - b)/dq
  // (nc, nv); status as above
  void (*derivatives)(const ModelD&, States, const double* tau, bool dual, double* da, double* dlam,
                      double* dJv, int* rank, int* status);
  // one state, nothing but the acceleration; false where the careful path should look
  bool (*acceleration)(const ModelD&, const double* q, const double* v, const double* tau, double* a);
  Run* (*run)(const ModelD&, const RunOptions&, const Outside&);  // owned by the caller
  // 0 where fine, 1 where rows depend on each other, 2 where the inertia is not positive definite
  int (*respond)(const DenseTerms<double>&, const AffineMaps<double>&);
  // answers lie in the memory of the thread until its next call
  LeastFound<double> (*least)(const Asked<double>&);
  Answer<double> (*program)(const Program<double>&);
  LimitedFound<double> (*limited)(const Limited<double>&);
  int (*reach)(const ReachAsked<double>&, ReachFound<double>&);  // 0; 1: not all is felt; 2: no inertia
  LevelsFound<double> (*levels)(const LevelsAsked<double>&);
  void (*limit_rows)(const LimitRows<double>&, double* R, double* lower, double* upper, double* reserve);
  void (*eigenvalues)(double* A, int n, double* values, double* V);
  // x, V (6), A (6) where a = 0, J (6, nv), R (3, 3) of one point of a body, at one state
  void (*point)(const ModelD&, States, int body, const double* point, double* x, double* V, double* A,
                double* J, double* R);
};

}  // namespace sarrus
