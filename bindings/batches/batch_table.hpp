// Functions of states, for a batch of n of them. Arrays are C-contiguous doubles with the batch axis first;
// shapes are those of docs/notation.md.
#pragma once

#include <tuple>
#include <utility>

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

// What calls take and give, for the lines below. Passed: what of it the kernel gets.
namespace calls {
// clang-format off

constexpr auto nq = &ModelD::nq, nv = &ModelD::nv, nc = &ModelD::nc;
constexpr auto nb = &ModelD::nb, ne = &ModelD::ne, nf = &ModelD::nf, nfm = &ModelD::nfm, nfl = &ModelD::nfl;

// Arguments: parts of the states, which the kernel gets as States; arrays of one state each; numbers
template <class... Type> struct Takes { using Passed = std::tuple<Type...>; };
template <auto... sizes> struct Array : Takes<const double*> {};
struct Positions : Takes<> {};
struct q : Positions { static constexpr auto name = "q"; };
struct q0 : Positions { static constexpr auto name = "q0"; };
struct v : Takes<> { static constexpr auto name = "v"; };
struct drive : Takes<> { static constexpr auto name = "drive"; };
struct user : Takes<> { static constexpr auto name = "user"; };
struct q1 : Array<nq> { static constexpr auto name = "q1"; };
struct dv : Array<nv> { static constexpr auto name = "dv"; };
struct a : Array<nv> { static constexpr auto name = "a"; };
struct tau : Array<nv> { static constexpr auto name = "tau"; };
struct lam : Array<nc> { static constexpr auto name = "lam"; };
struct outer : Array<nb, 6> { static constexpr auto name = "outer"; };  // or None
struct rank : Takes<int> { static constexpr auto name = "rank"; };
struct rank_or_all : Takes<int> {};  // -1, the default: decided

// Results: new arrays of one state each, and several of them as one struct of pointers
template <class T, auto... sizes> struct Result { using Passed = std::tuple<T*>; };
template <auto... sizes> using array = Result<double, sizes...>;
template <auto... sizes> using flags = Result<unsigned char, sizes...>;
using integer = Result<int>;
template <class Arrays, class... Results> struct Fields { using Passed = std::tuple<Arrays>; };
using rows = Fields<RowArrays, array<nc>, array<nc, nv>, array<nc>, array<nc>>;
using body_frames = Fields<FrameArrays, array<nb, 3, 3>, array<nb, 3>, array<nb, 6>, array<nb, 6>>;
using motion = Fields<MotionArrays, array<nv>, array<nv>, array<nc>, flags<nc>, integer, integer>;

template <class... Parts> struct List {};
template <class... Passed> auto entry(std::tuple<Passed...>) -> void (*)(const ModelD&, States, Passed...);
template <class... Inputs, class... Results> auto entry_of(List<Inputs...>, List<Results...>)
  -> decltype(entry(std::tuple_cat(typename Inputs::Passed()..., typename Results::Passed()...)));

// X(name, (arguments), (results)): a line is a call. It makes the entry `name` of the table, filled with the
// function `name`_n of these headers, and the method `name` of Python, which returns the results as a tuple.

// Methods of Kernel: float64 arrays of one state or of a batch; only their shapes are checked
#define SARRUS_KERNEL_CALLS(X) \
  X(poses, (q), (array<nb, 3, 3>, array<nb, 3>)) \
  X(body_motion, (q, v, a), (array<nb, 6>, array<nb, 6>)) /* V, A */ \
  X(frames, (q, v), (body_frames)) /* accelerations where those of the coordinates are 0 */ \
  X(constraints, (q, v, drive, user), (rows)) \
  X(closure, (q, v, drive, user), (array<nc>, array<nc>)) /* phi and J v - b, without J */ \
  X(terms, (q, v, drive, user), (array<nv, nv>, array<nv>, rows)) \
  /* wrenches of unit multipliers on b about point B of their element, zero for rows without one; B */ \
  X(row_wrenches, (q), (array<nc, 6>, array<ne, 3>)) \
  /* wrenches of forces between bodies on b about their point B; B */ \
  X(force_wrenches, (q, v), (array<nf, 6>, array<nf, 3>)) \
  X(formula_wrenches, (q, v), (array<nfm, 6>, array<nfm, 3>)) /* the same of formulas on bodies, zero of others */ \
  X(deflection_wrenches, (q, v, a), (array<nfl, 6>)) /* that deflections of flexible bodies need, about 0 */ \
  /* friction by load along the coordinates; outer: further wrenches on bodies at their origins, world axes */ \
  X(bearing_bounds, (q, v, a, lam, outer), (array<nv>)) \
  X(row_rates, (q, v, drive, user), (array<nc, nv>, array<nc>)) /* J', gamma' along v, but of user rows */ \
  X(pivots, (q, v, drive, user, rank), (array<>)) /* smallest of the first `rank` pivots of J */ \
  X(forward, (q, v, tau, drive, user, rank_or_all), (motion)) \
  /* lam of least norm in motions with accelerations a under tau, and which are unique */ \
  X(multipliers, (q, v, a, tau, drive, user), (array<nc>, flags<nc>))

// Methods of Queries: arguments of users, converted and checked (queries/arguments.hpp)
#define SARRUS_QUERY_CALLS(X) \
  X(bias, (q, v), (array<nv>)) \
  X(center_of_mass, (q), (array<3>)) \
  X(center_of_mass_jacobian, (q), (array<3, nv>)) \
  X(center_of_mass_velocity, (q, v), (array<3>)) \
  X(center_of_mass_acceleration, (q, v, a), (array<3>)) \
  X(centroidal_momentum, (q, v), (array<6>)) \
  X(centroidal_momentum_rate, (q, v, a), (array<6>)) \
  X(centroidal_momentum_matrix, (q), (array<6, nv>)) \
  X(centroidal_momentum_matrix_rate, (q, v), (array<6, nv>)) \
  X(centroidal_momentum_derivative, (q, v), (array<6, nv>)) /* d(A v)/dq */

// Methods of both: other rooms than Mechanism call them with states of their own
#define SARRUS_COMMON_CALLS(X) \
  X(mass_matrix, (q), (array<nv, nv>)) \
  X(rnea, (q, v, a), (array<nv>)) \
  X(integrate, (q, dv), (array<nq>)) \
  X(difference, (q0, q1), (array<nv>))

// X(name, types after the states): bound by hand
#define SARRUS_OTHER_CALLS(X) \
  X(energy, double* kinetic_potential) \
  X(pose, int body, double* R, double* p) \
  X(jacobian, BodyPoint, double* J) \
  X(point, BodyPoint, FrameArrays, double* J) /* frame of the body at the point, J (6, nv) */ \
  X(point_motion, const double* a, BodyPoint, double* V, double* A) /* (6); a, V and A may be null */ \
  X(derivatives, const double* tau, bool dual, DerivativeArrays) \
  X(linearize, const double* tau, LinearPlan, LinearArrays) \
  X(consistent_velocity, Metric, Held, VelocityArrays) \
  X(impact, ImpactArrays) \
  X(inverse_dynamics, const double* a, Metric, Held actuated, InverseArrays) /* indices of coordinates */ \
  X(decompose, Metric, SplitArrays) \
  X(mobility, MobilityArrays) \
  X(project, const ProjectOptions&, ProjectedArrays)

#define SARRUS_UNPACK(...) __VA_ARGS__
#define SARRUS_LISTS(takes, gives) List<SARRUS_UNPACK takes>(), List<SARRUS_UNPACK gives>()
#define SARRUS_ORDINARY_CALLS(X) SARRUS_KERNEL_CALLS(X) SARRUS_QUERY_CALLS(X) SARRUS_COMMON_CALLS(X)

struct BatchTable {
  bool (*stays_sparse)(const ModelD&);                                 // the value of Model::sparse
  const FrontPlan* (*plan_fronts)(const ModelD&, const ModelMemory&);  // Model::fronts, or null
  void (*split_rows)(const double* J, const double* L, const int* nc_nv, SplitArrays);  // L may be null
#define SARRUS_ENTRY(name, takes, gives) decltype(entry_of(SARRUS_LISTS(takes, gives))) name;
#define SARRUS_OTHER_ENTRY(name, ...) void (*name)(const ModelD&, States, __VA_ARGS__);
  SARRUS_ORDINARY_CALLS(SARRUS_ENTRY)
  SARRUS_OTHER_CALLS(SARRUS_OTHER_ENTRY)
#undef SARRUS_ENTRY
#undef SARRUS_OTHER_ENTRY
};
// clang-format on

}  // namespace calls
using calls::BatchTable;

}  // namespace sarrus
