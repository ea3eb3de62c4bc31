// Functions of states, for a batch of n of them. Arrays are C-contiguous doubles with the batch axis first;
// shapes are those of docs/notation.md.
#pragma once

#include "tree/model.hpp"

namespace sarrus {

using ModelD = Model<double>;

// n states: positions, velocities, and the values of drives and user rows.
struct States {
  int n;
  const double *q, *v, *drive, *user;
};

struct RowArrays {
  double *phi, *J, *b, *gamma;
};

// status: 0, or 1 where the inertia of the free motion is not positive definite. lam may be null: then it,
// unique and force are not wanted.
struct MotionArrays {
  double *a, *force, *lam;
  unsigned char* unique;
  int *rank, *status;
};

// da/d(q, v, tau) (3, nv, nv), dlam/d(q, v, tau) (3, nc, nv) or null where it is not wanted,
// d(J v - b)/dq (nc, nv); status as above
struct DerivativeArrays {
  double *da, *dlam, *dJv;
  int *rank, *status;
};

// Poses and motions of bodies: rotation matrices (9), origins (3), twists (6), accelerations (6).
struct FrameArrays {
  double *R, *p, *V, *A;
};

// A point of a body, in its axes (3), and how its motion is expressed: a value of Expressed.
struct BodyPoint {
  int body;
  const double* point;
  int as = 0;
};

// Nearest consistent states, the largest |phi| / row_unit of the given ones, and a value of Projected.
struct ProjectedArrays {
  double *q, *v, *gap;
  int* status;
};

// How to project: a value of Part for each row (nc) or null to close all, the metrics (n, nv, nv) or null for
// the inertia, and the user's rows (n_user_rows, 3 + nv) at other states, asked of their owner.
struct ProjectOptions {
  const unsigned char* part;
  const double* metric;
  void (*user_rows)(void* owner, const double* q, const double* v, double* rows);
  void* owner;
};

// A metric of velocities: (nv, nv), or the inertia where by_mass, or neither: Euclidean.
struct Metric {
  const double* matrix = nullptr;
  bool by_mass = false;
};

// Entries of v that are prescribed.
struct Held {
  const int* index;
  const double* value;
  int count;
};

// status: 0, 1 where the metric is not positive definite, 2 where no velocity satisfies all rows; miss (nc):
// |J v - b| / row_unit
struct VelocityArrays {
  double *v, *miss;
  int* status;
};

// v after, generalized impulse, lam, momenta before and after; energies before, after and dissipated; miss
struct ImpactArrays {
  double *v, *impulse, *lam, *before, *momentum, *energy, *miss;
  int *rank, *status;
};

// u, tau, lam, constraint force, directions that no actuator feels (nv, nv), residual and miss and size (3);
// status: 0, 1 where the metric is not positive definite, 2 where M a + h is not finite
struct InverseArrays {
  double *u, *tau, *lam, *force, *unfelt, *sizes;
  int *n_unfelt, *status;
};

// s (min(nc, nv)), V (nv, nv), R (nc, min(nc, nv)); status as of velocities
struct SplitArrays {
  double *s, *V, *R;
  int *rank, *status;
};

// J without units (nc, nv), its singular values, the largest |phi| / row_unit
// Without s, where the rank (-1: in doubt) is that of an elimination: its smallest pivot, and the diagonal
// (nv) of the projector onto the free directions.
struct MobilityArrays {
  double *J, *s, *gap;
  int* rank;
  double *pivot, *diagonal;
};

// What a linear model is wanted in: indices of independent positions and velocities, null where they are to
// be chosen, and of the coordinates on which inputs act; room (2): freedoms of positions and of velocities
// that arrays have room for, null for one state with room for the most.
struct LinearPlan {
  const int *positions, *velocities, *inputs;
  int n_positions, n_velocities, n_inputs;
  const int* room;
};

enum LinearStatus { LINEAR, NO_INERTIA_IN_MOTION, NOT_INDEPENDENT, SINGULAR_POSE, OTHER_FREEDOMS };

// A (nx, nx), B (nx, n_inputs), lift (2 nv, nx), nx = n_q + n_v; a (nv), lam (nc); sizes (3): gap, |J v - b|,
// speed, lengths divided by L; coordinates (2 nv): positions, then velocities; counts (4): n_q, n_v, rank, a
// LinearStatus
struct LinearArrays {
  double *A, *B, *lift, *a, *lam, *sizes;
  int *coordinates, *counts;
};

// take(owner, n): memory for n integers that lives as long as the model
struct ModelMemory {
  void* owner;
  int* (*take)(void* owner, size_t n);
};

struct BatchTable {
  bool (*stays_sparse)(const ModelD&);                                 // the value of Model::sparse
  const FrontPlan* (*plan_fronts)(const ModelD&, const ModelMemory&);  // Model::fronts, or null
  void (*mass_matrix)(const ModelD&, States, double* M);
  void (*rnea)(const ModelD&, States, const double* a, double* f);  // a may be null: zero
  void (*energy)(const ModelD&, States, double* kinetic_potential);
  void (*poses)(const ModelD&, States, double* R, double* p);
  void (*body_motion)(const ModelD&, States, const double* a, double* V, double* A);
  void (*frames)(const ModelD&, States, FrameArrays);  // accelerations where those of the coordinates are 0
  void (*pose)(const ModelD&, States, int body, double* R, double* p);
  void (*jacobian)(const ModelD&, States, BodyPoint, double* J);
  // velocity and acceleration (6) of a point; a, V and A may be null
  void (*point_motion)(const ModelD&, States, const double* a, BodyPoint, double* V, double* A);
  void (*constraints)(const ModelD&, States, RowArrays);
  void (*closure)(const ModelD&, States, double* phi, double* speed);  // phi and J v - b (nc), without J
  // wrenches of unit multipliers on b about point B of their element (nc, 6), zero for rows without one; B
  // (ne, 3)
  void (*row_wrenches)(const ModelD&, States, double* W, double* at);
  // wrenches of forces between bodies on b about their point B (nf, 6); B (nf, 3)
  void (*force_wrenches)(const ModelD&, States, double* W, double* at);
  // friction by load along the coordinates (nv) in motions a (nv), lam (nc); outer: further wrenches on
  // bodies at their origins (nb, 6) in world axes, or null
  void (*bearing_bounds)(const ModelD&, States, const double* a, const double* lam, const double* outer,
                         double* bounds);
  // the same in motions with accelerations a (nv) under tau (nv)
  void (*motion_bounds)(const ModelD&, States, const double* a, const double* tau, double* bounds);
  // generalized force (nv) of the bearings that slide, under other forces tau (nv); NaN where there is none
  void (*sliding_friction)(const ModelD&, States, const double* tau, double* force);
  // J' and gamma' along v, for a model without user rows: (nc, nv), (nc)
  void (*row_rates)(const ModelD&, States, double* rate_J, double* rate_gamma);
  void (*pivots)(const ModelD&, States, int rank, double* least);  // smallest of the first `rank` pivots of J
  void (*terms)(const ModelD&, States, double* M, double* h, RowArrays);
  void (*integrate)(const ModelD&, States, const double* dv, double* q1);
  void (*difference)(const ModelD&, States, const double* q1, double* dv);
  void (*forward)(const ModelD&, States, const double* tau, int rank, MotionArrays);  // rank -1: decided
  // lam (nc) of least norm in motions with accelerations a (nv) under tau (nv), and which are unique (nc)
  void (*multipliers)(const ModelD&, States, const double* a, const double* tau, double* lam,
                      unsigned char* unique);
  void (*derivatives)(const ModelD&, States, const double* tau, bool dual, DerivativeArrays);
  void (*linearize)(const ModelD&, States, const double* tau, LinearPlan, LinearArrays);
  void (*consistent_velocity)(const ModelD&, States, Metric, Held, VelocityArrays);
  void (*impact)(const ModelD&, States, ImpactArrays);
  // actuated: indices of coordinates
  void (*inverse_dynamics)(const ModelD&, States, const double* a, Metric, Held actuated, InverseArrays);
  void (*decompose)(const ModelD&, States, Metric, SplitArrays);
  void (*split_rows)(const double* J, const double* L, const int* nc_nv, SplitArrays);  // L may be null
  void (*mobility)(const ModelD&, States, MobilityArrays);
  void (*project)(const ModelD&, States, const ProjectOptions&, ProjectedArrays);
  // one point of a body: frame of the body at the point, J (6, nv)
  void (*point)(const ModelD&, States, BodyPoint, FrameArrays, double* J);
  // centre of mass (3); momentum about it (6), its matrix A (6, nv), rate h' (6), A' and d(A v)/dq (6, nv)
  void (*center_of_mass)(const ModelD&, States, double* c);
  void (*momentum)(const ModelD&, States, double* h);
  void (*momentum_matrix)(const ModelD&, States, double* A);
  void (*momentum_rate)(const ModelD&, States, const double* a, double* rate);
  void (*momentum_matrix_rate)(const ModelD&, States, double* rate);
  void (*momentum_slopes)(const ModelD&, States, double* slopes);
};

}  // namespace sarrus
