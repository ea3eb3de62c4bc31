// Runs: many steps in time, one object per run.
#pragma once

#include <vector>

#include "../batches/batch_table.hpp"
#include "constraints/mode.hpp"
#include "integrate/options.hpp"

namespace sarrus {

struct RunState {
  double t, drift, velocity_drift, pivot, step;
  const double *q, *v, *a, *tau;
  int rank, evaluations;
  StepStatus status;
};

// Steps in time that are not those of the kernel, such as steps in minimal coordinates.
struct OutsideSteps {
  void* context;
  bool (*start)(void*, const Instant<double>&);
  bool (*step)(void*, double h, double t_end);
  bool (*back)(void*);  // to the beginning of the present step
  RunState (*state)(void*);
};

constexpr double TIME_ROUNDING =
    2e-15;  // of a time: where modes end is known to 9e-16; a sample is due so shortly
            // before
// Whether what the clock does at both times happens at once: a sample at 425 dt, a switch at 0.2 + 5 T
inline bool same_time(double s, double t) { return std::abs(s - t) <= TIME_ROUNDING * std::abs(t); }

// The callbacks of a run. inputs fills what it is asked for (stage ROWS_ONLY: no forces) and returns false to
// stop; M and h only where the system supplies its own inertia. Null: zero force, no calls.
struct Outside {
  void* context = nullptr;
  bool (*inputs)(void*, const Instant<double>&, const Supplied<double>&) = nullptr;
  bool (*acceleration)(void*, const Instant<double>&, double* a) = nullptr;
  bool supplies_inertia = false;
  // Where steps are taken again: remember the inputs at the beginning of one, go back to them. Null: nothing
  // to do.
  void (*mark)(void*) = nullptr;
  void (*back)(void*) = nullptr;
  // A mode ends at the present state; the rows of the next one have been chosen. Null: nothing to do.
  void (*mode_ends)(void*) = nullptr;
  void (*mode_chosen)(void*) = nullptr;
  // Wrenches on bodies (nb, 6) at their origins in world axes that Python functions exert. Null: none.
  void (*wrenches)(void*, const Instant<double>&, double* outer) = nullptr;
  bool bearings_slide = true;           // the steps know the friction by load of what
                                        // slides; else `inputs` adds it
  const OutsideSteps* steps = nullptr;  // that somebody else takes, between changes of the mode
};

// A group of rows that the clock closes or opens
struct Scheduled {
  double t;
  int group;
  bool closes;
};

// What can change during a run: the table of groups, and when.
struct ModePlan {
  std::vector<RowGroup> groups;
  std::vector<int> coordinates;
  std::vector<Scheduled> schedule;
  double dt = 1e-3;  // [s] within which a mode may change so often
  ModeTable table;
};

// How a run came into its mode.
struct ModeEntry {
  const signed char* touched = nullptr;  // (groups) 1: has closed, even if it
                                         // opened again at the same time
  int held_rank = 0;                     // part of the rank of J by rows that hold coordinates at rest
  int group = -1;                        // that could not close
};

struct Run {
  virtual ~Run() {}
  // largest_rank: that J is known to have nearby; -1: not known
  virtual bool start(double t, const double* q, const double* v, int largest_rank) = 0;
  virtual bool step(double step,
                    double t_end) = 0;  // one accepted step of at most `step`,
                                        // never past t_end
  virtual void end_at(double t) = 0;    // from this time on the acceleration is not needed
  virtual RunState state() const = 0;
  // What the next step needs of the steps before: their history, and its size.
  virtual History history() const = 0;
  virtual bool restore(const Instant<double>& at, const History& history, double step) = 0;
  // Further numbers, of implicit methods.
  virtual int tail_size() const = 0;
  virtual void store_tail(double*) const = 0;
  virtual void load_tail(const double*) = 0;
  // The mode of runs that have one (kernels/constraints/mode.hpp), as numbers.
  virtual int mode_numbers() const { return 0; }
  virtual void store_mode(double*) const {}
  virtual void load_mode(const double*) {}
  virtual long mode_changes() const { return 0; }  // so far
  virtual ModeEntry mode_entry() const { return {}; }
  virtual bool at_end_of_mode() const { return false; }  // at its state
  // At a state of the present mode, groups close (1) and open (-1): changes (groups).
  virtual bool change_mode(const Instant<double>&, const signed char*) { return false; }
};

// States in one mode with accelerations a (n, nv) under the forces tau (n, nv) in all; wrenches (n, nb, 6) on
// bodies at their origins that Python functions exert, or null.
struct StatesInMode {
  States states;
  const double *a, *tau, *wrenches;
};

// Of each coordinate with dry friction (n, frictions): its friction where it is at rest and whether that is
// unique; friction that bearing loads allow.
struct FrictionArrays {
  double *force, *by_load;
  unsigned char* unique;
};

// Friction (n, nv) of coordinates at rest, and by load of those that slide; which is unique; 1: no inertia,
// 2: no force.
struct FrictionAtStates {
  double* force;
  unsigned char* unique;
  int* status;
};

// Steps from n states at time t to time t + h, in equal parts; tau (n, nv) is held.
struct StepCall {
  const double* tau;
  double t, h;
  int parts;
  const Options& options;
  Outside outside;  // drives and user rows
};

// The states after the step; a value of StepStatus, and NaN where there is none; what the step has lost
// (kernels/integrate/step_error.hpp).
struct SteppedArrays {
  double *q, *v;
  int* status;
  double* error;
  unsigned char* touched;  // whether surfaces do, so that the step is another one; null: they are ignored
};

// Derivatives of [position increment; velocity] after a step: A (2 nv, 2 nv) with respect to those before it,
// B (2 nv, nu) to inputs; the state after it, and a value of StepStatus.
struct SlopeArrays {
  double *A, *B, *q, *v;
  int* status;
};

// K (nu, 2 nv), reference q (nq), v (nv), u (nu); and a state, with the number of inputs
struct FeedbackLaw {
  const double *K, *q, *v, *u;
};
struct FeedbackState {
  int nu;
  const double *q, *v;
};

// A state with its acceleration, the force on it, and the smallest pivots of J there and a step before.
struct LaneState {
  const double *q, *v, *a, *tau;
  double pivot, pivot_before;
  double* mode;  // null: all rows act
};

// Steps of width() copies at once (kernels/integrate/lane_step.hpp); bits of `used` are lanes with this rank
// of J.
struct LaneSteps {
  virtual ~LaneSteps() {}
  virtual int width() const = 0;
  virtual void accelerate(const LaneState*, int used,
                          int rank) = 0;  // end(lane).a, at the states themselves
  virtual int step(const LaneState*, int used, int rank,
                   double h) = 0;  // the lanes whose step is regular
  virtual int accelerate_end(const LaneState*,
                             int used) = 0;  // after a step, under other forces: lanes with a
  virtual RunState end(int lane) = 0;        // after a step
  // Lanes whose mode does not end: at the states, after accelerate(); in a step of size h and at its end,
  // after accelerate_end()
  virtual int modes_hold(const LaneState*, int used) { return used; }
  virtual int modes_go_on(const LaneState*, int used, double) { return used; }
};

// Lanes for each kind of mode: of which the same rows act.
struct ModalLanes {
  virtual ~ModalLanes() {}
  virtual int kind(const double* mode) = 0;  // -1: such modes are stepped one by one
  virtual LaneSteps& lanes(int kind) = 0;
  virtual void keep_few() = 0;  // forgets all kinds once they are many
};

// States of a copy, a step h apart, with their accelerations: three, or two
// (kernels/integrate/step_error.hpp)
struct ReachedStates {
  const double *q[3], *v[3], *a[3];
  double h;
};
struct StepError {
  double moved, faster;
};

// Surfaces that may touch: they go through each other; each change is located; they are settled after steps
enum class ContactWay : int { IGNORED, EVENTS, STEPS };

struct RunTable {
  Run* (*make)(const ModelD&, const Options&,
               const Outside&);  // owned by the caller
  Run* (*make_modal)(const ModelD&, const ModePlan&, const Options&,
                     const Outside&);  // the same
  Run* (*make_contacts)(
      const ModelD&, const ModePlan*, const Options&, ContactWay,
      const Outside&);  // the same; without a plan all rows act, and a mode is that of contacts
  void (*friction_in_mode)(const ModelD&, const ModePlan&, const double* mode, const StatesInMode&,
                           const FrictionArrays&);
  void (*friction_of_states)(const ModelD&, const ModePlan&, const double* mode, const StatesInMode&,
                             const FrictionAtStates&);  // a is not needed
  void (*step)(const ModelD&, States, const StepCall&, SteppedArrays);
  void (*step_derivatives)(const ModelD&, States, const StepCall&, Held actuated, SlopeArrays);
  LaneSteps* (*make_lanes)(const ModelD&, const Options&);  // null: such steps are taken one by one
  ModalLanes* (*make_modal_lanes)(const ModelD&, const ModePlan&, const Options&);  // the same
  ModalLanes* (*make_contact_lanes)(const ModelD&, const Options&);  // the same: of open contacts alone
  void (*feedback)(const ModelD&, FeedbackLaw, FeedbackState, double* room, double* u);
  // What three states miss, and two under the same inputs   room: (4 nv)
  StepError (*missing)(const ModelD&, const ReachedStates&, double* room);
  double (*missing_in_one)(const ModelD&, const ReachedStates&);
};

}  // namespace sarrus
