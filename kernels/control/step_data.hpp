// One step of a control law as plain data: what the law is, what it is asked, what it found.
#pragma once

#include "control/control_data.hpp"

namespace sarrus {

// Outputs that the kernel evaluates, and GIVEN ones that their owner does.
enum OutputKind : int { COORDINATES = 0, POINT = 1, POSE = 2, TURN = 3, GIVEN = 4 };

template <class R>
struct Output {
  int kind, body, size;
  int rows[6];       // which of the components of a point (3), a pose (6) or a turn (3) count (size)
  bool screw, own;   // of a pose: form of its error, control/pose_error.hpp
  bool accelerated;  // the target is an acceleration, without position and velocity
  R point[3];        // of the body
  const R *Q, *J;    // COORDINATES: x = Q q, x' = J v; (size, nq), (size, nv)
  int at;            // where its target begins
};

// Outputs with common gains: e'' + kd e' + kp e = 0; of its rows, those in `keep` count.
template <class R>
struct Task {
  int first, outputs, size, kept, level;
  R damping;         // of a level, the largest of its tasks counts
  const int* keep;   // (kept), or null for all
  const R *kp, *kd;  // (size, size); null for an output whose acceleration is given
};

// Limits that do not change: control/limited_inputs.hpp; `on_lam` has a column for every row of the mechanism
template <class R>
struct FixedLimits {
  int m;
  const R *on_lam, *on_u, *lower, *upper;  // (m, nc), (m, n) or null, (m), (m)
  int cones;
  const R* cone_lam;  // (3 cones, nc): |(y_0, y_1)| <= y_2 for y = cone_lam lam
};

// An object held by several arms: control/object_step.hpp
template <class R>
struct HeldObject {
  int body = -1, column = 0;  // its index, none where negative, and its first coordinate
  R com[3];
  const R *stiffness, *damping, *inertia;  // (6, 6) each; the inertia may be null
  const R* reserve;  // (6, 6) wrenches on its coordinates to be borne, by columns, or null
};

template <class R>
struct ControlSetup {
  const Model<R>* model;
  int n;                           // actuators that are used
  const long long* columns;        // (n) of their coordinates
  const R *gap_weight, *per_row;   // (nc): 1 / row_unit, in the first one 0 where gaps do not count
  const unsigned char* part;       // (nc) what a projection does with each row: solve/nearest_state.hpp
  int outputs, tasks, k, numbers;  // k: rows of all tasks; numbers of all targets
  const Output<R>* output;
  const Task<R>* task;
  const R* row_unit;      // (k)
  InputMetric<R> metric;  // or that of the inertia:
  bool mass_metric;
  int levels;  // of priority; 0: no levels, inputs of least norm
  R rank_tol;  // of levels
  R damping, min_controllability;
  bool by_mass;
  FixedLimits<R> limits;
  HeldObject<R> object;
  R touch, tol;  // of limits
};

// What the kernel does not know itself: functions of the owner of a step.
template <class R>
struct ControlOwner {
  void* self;
  // terms of a state whose rows or inertia are functions: M, h, phi, J, b, gamma one after the other; or null
  void (*terms)(void* self, const R* q, const R* v, R* out);
  // J' and gamma' along the motion, one after the other; null: the kernel's
  void (*rates)(void* self, const R* q, const R* v, R* out);
  // the nearest state on the rows of `part`; returns a value of Projected
  int (*project)(void* self, const unsigned char* part, R* q, R* v);
  // targets and active tasks that are functions of the state, or null; they go where ControlInput looks
  void (*tasks)(void* self, const R* q, const R* v);
  // an output of kind GIVEN: x, desired, e, rate, c (size), J (size, nv), T (size, size) one after the other
  void (*given)(void* self, int output, const R* q, const R* v, R* out);
};

template <class R>
struct ControlInput {
  const R *q, *v, *drive;
  const unsigned char* rows;    // (nc) which rows hold, or null for all
  const unsigned char* on;      // (tasks) which tasks are active, or null for all
  const R* targets;             // (numbers)
  const R* null_force;          // (nv) generalized force in the null space of all levels, or null
  const R *external, *payload;  // on the object: wrench (6) at its centre of mass, payload (10), or null
  Hints* hints;                 // of programs, from the last step; renewed
  R* along;                     // (2 cones) directions of cones from the last step; renewed
  ControlOwner<R> owner;
};

enum ControlStatus : int { STEPPED = 0, OFF_CONSTRAINTS = 1, WITHOUT_INERTIA = 2, NOT_FINITE = 3 };

// Results, in memory of their own. nc counts the rows that hold.
template <class R>
struct ControlFound {
  ControlStatus status;
  int projection;  // value of Projected
  R gap;           // largest |phi| of the measured pose, lengths over L
  R *q, *v;        // the state on the constraints
  int nc, k;
  R *M, *h, *phi, *J, *b, *gamma;
  InputResponse<R> response;
  R* N;                                         // (nv, dof)
  R *x, *desired, *e, *rate, *task_J, *wanted;  // of the outputs
  R* row_unit;                                  // (k)
  R *mobility, *disturbance;                    // of a held object: (6, 6), (nc, 6)
  bool stretched;                               // whether its acceleration was reduced
  LeastNormSolution<R> least;
  ControllableBasis<R> basis;  // of a hierarchy
  PrioritySolution<R> levels;
  R *free, *s,
      *rest;        // (r) coordinates of the acceleration without limits, with them, and of the null torque
  bool rests;       // whether there is a null torque
  long long* ends;  // (levels) rows down to each level
  R* judged;        // (levels, 3): largest |b|, |A (free - s)|, |b - A s|
  int variables;    // of the largest program
  bool limited;     // whether limits changed s
  int level_count;
  int limits;                          // rows of limits that count
  int* limit_rows;                     // (limits) which of the fixed ones they are
  int cones, *cone_rows;               // (cones) the same for cones
  R *cone_R, *cone_at, *cone_reserve;  // (3 cones, n), (3 cones), (cones)
  InputRows<R> rows;
  ProgramStatus program;  // of the inputs within limits
  R *inputs, *u, *a;      // x (n) in the metric, u (n), predicted acceleration (nv)
  int *active, count, iterations;
  R* metric;  // C (n, n) of the inertia, where that is the metric
};

}  // namespace sarrus
