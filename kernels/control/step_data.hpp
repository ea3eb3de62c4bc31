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

// Limits on multipliers, inputs, constraint force and acceleration: control/limited_inputs.hpp. `on_lam` has
// a column for every row of the mechanism. Where limits are functions of the state, their owner renews the
// arrays.
template <class R>
struct ControlLimits {
  int m;
  const R *on_lam, *on_u, *on_force, *on_a;  // (m, nc); (m, n), (m, nv), (m, nv) or null
  const R *lower, *upper;                    // (m)
  int cones;
  const R* cone_lam;      // (3 cones, nc): |(y_0, y_1)| <= y_2 for y = cone_lam lam
  const R *least, *most;  // (n) bounds of motors, which nothing makes give way, or null
};

// An object held by several arms: control/object_step.hpp
template <class R>
struct HeldObject {
  int body = -1, column = 0;  // its index, none where negative, and its first coordinate
  R com[3];
  const R *stiffness, *damping, *inertia;  // (6, 6) each; the inertia may be null
  const R* reserve;  // (6, 6) wrenches on its coordinates to be borne, by columns, or null
};

// Constraint forces that are brought to desired values: control/regulated_forces.hpp
template <class R>
struct RegulatedForces {
  int p = 0;        // their number, 0 for none
  const int* rows;  // (p) which multipliers they are, or null: the constraint force J^T lam, p = nv
  const R* weight;  // (p) makes newtons and newton metres comparable
};

// Proportional-integral feedback of p forces: control/force_feedback.hpp
template <class R>
struct ForceFeedbackState {
  int p;
  const R *kf, *ki, *inverse, *cap;  // (p, p) twice, (1 + kf)^-1 (p, p), largest integral (p)
  R filter_time;                     // [s]
  R *integral, *disturbance, *rate;  // (p) each
  R last;                            // time of the last step [s], NaN before the first
};

// An observer of the wrench on a body and of its payload: control/wrench_observer.hpp
template <class R>
struct ObserverSetup {
  R length;      // of the mechanism [m]
  R farthest;    // of the centre of a payload from the origin of the body [m]
  bool payload;  // whether a payload is estimated
};

// Of one call: inputs (n) held since the last sample; the wrench (6) over the sample where it is known, or
// null; shares of the new sample in the wrench and of the old ones in the payload; whether the payload is
// renewed
template <class R>
struct ObserverInput {
  const R *u, *raw;
  R share, keep;
  bool learning;
};

// Of one sample; B (6, n) lies elsewhere
template <class R>
struct ObserverSample {
  R t;
  R twist[6], a0[6], inertia[36], rotation[9], origin[6];
  R* B;
};

constexpr int PAYLOAD_NUMBERS = 10;
constexpr int ESTIMATE_NUMBERS = 6 + 6 + PAYLOAD_NUMBERS + 36;  // wrench, external, payload, inertia

template <class R>
struct ObserverState {
  ObserverSample<R> before, after;
  unsigned char* rows;  // (nc) that held at `before`
  bool started, ready;
  R wrench[6], Y[60], information[100], right[10], parameters[10];
  R estimate[ESTIMATE_NUMBERS];
};

template <class R>
struct ControlSetup {
  const Model<R>* model;
  int n;                           // actuators that are used
  const long long* columns;        // (n) of their coordinates
  const R *gap_weight, *per_row;   // (nc): 1 / row_unit, in the first one 0 where gaps do not count
  const unsigned char* part;       // (nc) what a projection does with each row: search/nearest_state.hpp
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
  ControlLimits<R> limits;
  RegulatedForces<R> forces;
  HeldObject<R> object;
  R touch, tol;          // of limits
  bool drops_lost_rows;  // rows lost at a singular pose are left out, not replaced by their limit
  R angle, speed;        // accuracy of measured states [rad], [rad/s]; times L for lengths
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
  // renews limits that are functions of the state; false where their number changed; or null
  bool (*limits)(void* self, const R* q, const R* v);
  // measured values (p) of the regulated forces, or null
  void (*sense)(void* self, const R* q, const R* v, R* out);
};

template <class R>
struct ControlInput {
  const R *q, *v, *drive;
  const unsigned char* rows;        // (nc) which rows hold, or null for all
  const unsigned char* on;          // (tasks) which tasks are active, or null for all
  const R* targets;                 // (numbers)
  const R* null_force;              // (nv) generalized force in the null space of all levels, or null
  const R* resistance;              // (nv) added to h, or null
  const R* settling;                // (nc) rate at which rows lose what they slip [1/s], or null
  const R *external, *payload;      // on the object: wrench (6) at its centre of mass, payload (10), or null
  const R* offset;                  // (n) inputs to be added in the null space of the outputs, or null
  R t;                              // time [s]
  const R* desired;                 // (p) regulated forces
  const R* applied;                 // (n) inputs since the last step, or null
  ForceFeedbackState<R>* feedback;  // of regulated forces, or null
  Hints* hints;                     // of programs, from the last step; renewed
  R* along;                         // (2 cones) directions of cones from the last step; renewed
  const int* ranks;                 // (ranks_given) choices for ranks in doubt
  int ranks_given;
  ControlOwner<R> owner;
};

// LIMITS_CHANGED: limits that are functions have another number of rows than in the setup
enum ControlStatus : int {
  STEPPED = 0,
  OFF_CONSTRAINTS = 1,
  WITHOUT_INERTIA = 2,
  NOT_FINITE = 3,
  LIMITS_CHANGED = 4
};

// Results, in memory of their own. nc counts the rows that hold.
template <class R>
struct ControlFound {
  ControlStatus status;
  int projection;  // value of Projected
  R gap;           // largest |phi| of the measured pose, lengths over L
  R *q, *v;        // the state on the constraints
  int nc, k;
  RankRule<R> ranks;  // those in doubt at this state
  bool projected;     // whether the state was
  int lost;           // rows that are lost here although they are independent nearby, as far as is seen
  R least_value;      // least singular value of J above rounding, where rows are lost or about to be
  R* lost_rows;       // (nc) share of each row in them
  R *M, *h, *phi, *J, *b, *gamma;
  R *measured, *slip;  // of all rows: phi and J v - b (0 for rows that do not hold) in the measured state
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
  int shares;                          // that limits leave a choice of: 0, or nc - rank
  R *cone_R, *cone_at, *cone_reserve;  // (3 cones, n + shares), (3 cones), (cones)
  InputRows<R> rows;                   // R (limits, n + shares)
  ProgramStatus program;               // of the inputs within limits
  R *inputs, *u, *a;  // x in the metric and u, shares behind them (n + shares); predicted acceleration (nv)
  int *active, count, iterations;
  R* metric;                                  // C (n, n) of the inertia, where that is the metric
  R *force_Y, *force_y0;                      // (p, n), (p): regulated forces Y u + y0
  R *force_wanted, *commanded, *force_error;  // (p): desired, after feedback, and desired less actual
  R* estimate;                                // of a held object (ESTIMATE_NUMBERS), see ObserverState
  R *external, *carried;                      // (6), (10): load on it that the step reckons with
};

}  // namespace sarrus
