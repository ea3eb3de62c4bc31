// A control law and its mechanism as data, for laws that run without Python: docs/decisions/0089. Plain data;
// what Python says of a law (bindings/control/law_tables.cpp), as it was when it was written down.
#pragma once

#include "control/law/footing.hpp"
#include "control/law/reference.hpp"
#include "control/law/stick_friction.hpp"

namespace sarrus {

// Estimator of the load on an object held: control/wrench_observer.hpp
struct ObserverTables {
  ControlSetup<double> setup;
  double bandwidth, memory, length, farthest;
  bool payload, compensates;
  const double* own;  // (10) payload of the model, or null
};

// Feedback of regulated forces: control/force_feedback.hpp
struct ForceTables {
  const double *desired, *kf, *ki, *inverse, *cap;
  double filter_time;
};

struct LawTables {
  Model<double> model;
  ControlSetup<double> setup;
  int nu;                 // all actuators
  const long long* used;  // (n) indices of those that the law uses
  const double* targets;  // (numbers) where they do not change
  int references;         // targets that change
  const Reference* reference;
  const double* null_force;        // (nv) or null
  const unsigned char* rows;       // (nc) that hold at the start, or null for all
  double transition;               // [s]
  int usual_rank;                  // of the constraints at the default pose
  const ForceTables* forces;       // or null
  const ObserverTables* observer;  // or null
  bool displaced;                  // whether the load is read off the displacement
  const double* own;               // (10) payload of the model, or null
  FootingTables footing;
  FrictionTables friction;  // k = 0: none
};

// What law_step() returns: as sarrus.control.Status. Where limits cannot hold with the motion, u is that of
// the motion, cut at the bounds of motors: the programs by which Python lets something give way are not
// here. Where a step fails, u is that of the last one.
enum LawStatus : int {
  LAW_OK = 0,
  LAW_LIMITED = 1,
  LAW_PARTIAL = 2,
  LAW_SINGULAR = 3,
  LAW_SLIPPING = 4,
  LAW_INFEASIBLE = -1,
  LAW_FAILED = -2
};

// Bytes of memory of one controller, aligned to 64
unsigned long long law_bytes(const LawTables& tables);
// A controller in this memory, as the law is when it was built
void* law_begin(const LawTables& tables, void* memory);
void law_reset(void* law);
// u (nu) for a measured state; returns a LawStatus
int law_step(void* law, double t, const double* q, const double* v, double* u);
// Which rows [first, first + count) hold from now on
void law_hold(void* law, int first, int count, int holds);
// Target of an output from now on: the numbers where ControlInput looks for them
void law_target(void* law, int output, const double* numbers, int count);
// Desired values (p) of regulated forces from now on
void law_forces(void* law, const double* desired);

}  // namespace sarrus
