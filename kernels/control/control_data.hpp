// Problems that control laws pose to the kernel, and their solutions, as plain data: arrays that live
// elsewhere, rows without padding. Outside the instruction-set namespaces, like the model.
#pragma once

#include "algebra/cone_program.hpp"
#include "tree/model.hpp"

namespace sarrus {

// Terms of one state: rows may be a selection, M and h may carry a load that the model does not know.
template <class R>
struct DenseTerms {
  Model<R> m;  // sizes, units, rank_tol
  const R *M, *h, *J, *gamma;
  const long long* columns;  // (nu) of the actuated coordinates
  int nu;
  const R* v;                    // (nv): rows lost at a singular pose are replaced by their limit along v,
                                 // or null: they are left out
  const R *rate_J, *rate_gamma;  // (nc, nv), (nc): derivatives along v that such limits need, or null
};

// A rank that cannot be told at a state measured with errors: control/rank_weights.hpp. Ranks from `least` on
// are possible, with weights that add to one; `chosen` counts from `least`. `share`: of the weakest one.
enum DoubtKind : int { DOUBT_ROWS = 0, DOUBT_LIMIT = 1, DOUBT_REACH = 2, DOUBT_LEVEL = 3, DOUBT_OUTPUTS = 4 };
constexpr int MOST_DOUBTS = 8, MOST_RANKS = 6;

template <class R>
struct Doubt {
  int kind, level, least, count, chosen;
  R share;
  R weight[MOST_RANKS];
};

// How ranks are decided, and those that were in doubt
template <class R>
struct RankRule {
  R tol;             // of dimensionless singular values; 0: none is in doubt
  const int* given;  // choices for the first doubts (given_count); of the others the weightiest
  int given_count;
  int count;
  Doubt<R> doubt[MOST_DOUBTS];
};

enum ResponseStatus : int { RESPONSE_FOUND = 0, RATES_NEEDED = 1, NO_INERTIA = 2 };

// Affine maps of the inputs, control/input_response.hpp.
template <class R>
struct InputResponse {
  R *a0, *B, *lam0, *Lam;     // (nv), (nv, nu), (nc), (nc, nu)
  R* inverse_inertia;         // (nv, nv) within the constraints
  R* prescribed;              // (nv) acceleration that the constraints prescribe
  R* lam_per_force;           // (nc, nv) multipliers per generalized force
  unsigned char* lam_unique;  // (nc)
  const R* N;                 // (nv, dof) tangent directions
  int rank, dof;
  R* sharing = nullptr;  // (nc - rank, nc) or null: orthonormal multipliers that cause no acceleration
};

// Metric of the inputs, u = C x: null is the identity, (n) a diagonal, (n, n) otherwise. The last `shares`
// entries of x and u, shares of redundant rows, are equal: C is for those before.
template <class R>
struct InputMetric {
  const R* C;
  bool diagonal;
  int shares = 0;
};

// Outputs at one state: rows J a = wanted.
template <class R>
struct TaskRows {
  int k;
  const R *J, *wanted, *row_unit;  // (k, nv), (k), (k)
};

// What the solvers below read of an input response.
template <class R>
struct ResponseView {
  int nv, n, dof;
  const R *N, *B, *a0;       // (nv, dof), (nv, n), (nv)
  const R *unit, *M;         // (nv), (nv, nv)
  const long long* columns;  // (n) of the actuated coordinates
};

// The least inputs for rows of outputs.
template <class R>
struct LeastNormProblem : ResponseView<R> {
  TaskRows<R> task;
  InputMetric<R> metric;
  const R* v;             // (nv)
  R damping;              // null-space damping [1/s]; 0 adds no rows
  bool by_mass;           // null-space motions are damped in the mass metric rather than in units
  R min_controllability;  // where the damping of inputs begins
  RankRule<R>* ranks = nullptr;
};

template <class R>
struct LeastNormSolution {
  R *G, *g, *x, *Z;   // (rows, n), (rows), (n), (n, n - rank)
  R controllability;  // smallest share of a motion that actuators and outputs have; 1 is all
  int rows, rank;     // of G
  int controllable;   // number of motions that the actuators control
  bool damped;        // whether x was damped
};

// Limits on multipliers and inputs, to become rows on inputs.
template <class R>
struct MultiplierLimits {
  int m, nc, n, k;
  const R *on_lam, *on_u;               // (m, nc), (m, n) or null
  const R *lam0, *Lam, *lower, *upper;  // (nc), (nc, n), (m), (m)
  const R* disturbance;                 // (nc, k): multipliers per unit of k disturbances, or null
};

// R (m, n), lower and upper (m): rows on inputs; reserve (m): by how much disturbances drew each row in
template <class T>
struct InputRows {
  T *R, *lower, *upper, *reserve;
};

// Rows that were active in the last step, which warm-start the programs of the next one.
struct Hints {
  int* rows;
  int count;
};

// Inputs u = C (x + Z z) with lower <= R u <= upper and z nearest to z0.
template <class T>
struct LimitedProblem {
  int n, open, m;
  const T *x, *Z, *z0;  // (n), (n, open), (open) or null for zero
  InputMetric<T> metric;
  const T *R, *lower, *upper, *H;  // (m, n), (m), (m), (open, open) or null for 1
  T touch, tol;                    // a row counts as touched, or as violated, from here
  const int* hint = nullptr;       // rows (hints) that were active in a problem like it
  int hints = 0;
  Cones<T> cones = {};  // on u
};

template <class R>
struct LimitedSolution {
  ProgramStatus status;  // INSIDE: z0 is within all rows
  const R *x, *u;        // (n)
  const R* z;            // (open)
  const int* active;     // rows that are touched or held (count); cones are counted behind the rows
  int count, iterations;
};

// Accelerations that the actuators control, in the mass metric: control/priority_levels.hpp.
template <class R>
struct ControllableProblem : ResponseView<R> {
  InputMetric<R> metric;
  R min_controllability;
  RankRule<R>* ranks = nullptr;
};

template <class R>
struct ControllableBasis {
  R *E, *to_x, *internal;  // (nv, r), (n, r), (n, n - r)
  R size;                  // |X| without units
  int r;                   // number of motions that the actuators control; -1: not a number
  bool inertia;            // whether it is positive definite; otherwise nothing else was found
};

// Levels of priority: rows of all levels, one level below the other, the last row of each in `ends`.
template <class R>
struct PriorityProblem : ResponseView<R> {
  TaskRows<R> task;
  int levels, r;
  const long long* ends;  // (levels)
  const R* damping;       // (levels) share of the largest singular value below which a level is damped
  const R* E;             // (nv, r)
  R size;                 // of the basis
  R rank_tol;             // singular values below rank_tol * zero are zero
  RankRule<R>* ranks = nullptr;
};

template <class R>
struct PrioritySolution {
  R *A, *b, *zero;  // (k, r), (k), (levels)
  R *s, *Z, *left;  // (r), (r, open), (levels, r * r): (open before, open after) of each level
  R* damped;        // (levels) d^2 that was added to the squares of the singular values
  int* open;        // (levels + 1)
  bool finite;
};

// One level: A (s + Z y) = b in the directions Z that are open to it.
template <class R>
struct LevelProblem {
  int k, r, open;
  const R *A, *b, *s, *Z;  // (k, r), (k), (r), (r, open)
  R zero, damping;         // singular values below `zero` are zero; damping as above
  R scale = R(0);          // that singular values are compared with where their number is in doubt
  int level = 0;
  RankRule<R>* ranks = nullptr;
};

template <class R>
struct LevelSolution {
  R *y, *values, *used, *left;  // (open), (rank), (open, rank), (open, open - rank)
  R damped;
  R cut;     // between the singular values that count and the others; 0 where there are no others
  int rank;  // -1: not a number
};

}  // namespace sarrus
