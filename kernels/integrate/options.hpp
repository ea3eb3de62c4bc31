// What a run is told, what it asks for and what it reports: plain data that kernel and bindings share,
// outside the instruction-set namespaces.
#pragma once

#include "integrate/methods.hpp"

namespace sarrus {

// What keeps states on the constraints: nothing, projection after every step, or Baumgarte's feedback.
enum class Correction : int { NONE, PROJECT, BAUMGARTE };

// Where the iteration matrix of implicit steps comes from: differences, where functions from outside are
// called, or derivatives. With feedback, forces from outside depend on the state: their part by differences.
enum class Jacobian : int { FINITE_DIFFERENCE, ANALYTIC, ANALYTIC_WITH_FEEDBACK };

// Why a step could not be taken.
enum class StepStatus : int {
  FINE,
  STOPPED,           // by a function from outside
  SINGULAR_INERTIA,  // M is not positive definite along the free directions
  NOT_FINITE,
  NOT_CLOSED,  // no state on the constraints was found
  STEP_COLLAPSED,
  UNRESOLVED,        // the step jumps over a near miss, integrate/singular/near_miss.hpp
  SINGULAR_WITHIN,   // J loses rank within a step: it has no derivatives
  UNSETTLED,         // friction by load finds no force, solve/friction/friction_by_load.hpp
  OPEN_GAP,          // a constraint was to close where it is open, integrate/modes/settle.hpp
  CHATTER,           // the mode changed too often within one step
  NO_MODE,           // what sticks does so only with another velocity
  CONTRADICTION,     // no velocity satisfies all rows that close
  CONTACT_UNSOLVED,  // contact forces were not found to their tolerance
  CONTACT_PRESSED,   // a contact closes whose parts cannot move
  CONTACT_PAINLEVE,  // a sliding contact whose push pulls
  CONTACT_TOO_MANY   // contacts act at one time, MOST_ROWS
};

struct Options {
  Method method = METHODS[0];
  Correction correction = Correction::PROJECT;
  bool euclidean = false;  // projection by the smallest correction without units, not of least energy
  double damping = 0, stiffness = 0;  // Baumgarte: 2 alpha [1/s], beta^2 [1/s^2]
  double rtol = 1e-8, atol = 1e-10;
  bool atol_in_units = false;  // lengths are then allowed atol L
  double least_step = 0, most_step = 1e300;
  bool keep_energy = false;
  double energy = 0;  // the value to keep [J]
  Jacobian jacobian = Jacobian::ANALYTIC;
};

// What a step needs to know of the steps before it; checkpoints store it.
struct History {
  double pivot = 0, step = 0;     // smallest pivot at the state before, and the step from there
  double regular_step = 0;        // last step whose error estimate no singular pose disturbed
  int largest_rank = -1;          // of J so far
  bool close_to_rounding = true;  // a singular pose is near, or the rank has just changed
  bool limits = false;            // limits had taken the place of lost rows at the state before
};

constexpr int ROWS_ONLY = -1;  // stage of a projection: forces are not needed
constexpr int BETWEEN_STEPS =
    99;  // stage where a mode changes: forces without friction by load, no sample is due

// A state at which the outside is asked, and the stage of the step that it belongs to; 0 is its beginning.
template <class T>
struct Instant {
  double t;
  const T *q, *v;
  int stage;
};

// Where the outside puts what it supplies: applied force (nv), drives (nd, 3), user rows (n, 3 + nv), and M
// (nv rows of stride ld) and h (nv) where it has them.
template <class T>
struct Supplied {
  T *tau, *drive, *user, *M, *h;
  int ld;
};

}  // namespace sarrus
