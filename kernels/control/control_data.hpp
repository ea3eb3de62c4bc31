// What control asks of the kernel, as plain data: arrays that live elsewhere, rows without padding. Outside
// the instruction-set namespaces, like the model.
#pragma once

#include "tree/model.hpp"

namespace sarrus {

// Terms of one state: rows may be a selection, M and h may carry a load that the model does not know.
template <class R>
struct DenseTerms {
  Model<R> m;  // sizes, units, rank_tol
  const R *M, *h, *J, *gamma;
  const long long* columns;  // (nu) of the actuated coordinates
  int nu;
};

// Affine maps of the inputs (nv), (nv, nu), (nc), (nc, nu); tangent directions (nv, nv - nc), inverse inertia
// within the constraints (nv, nv), acceleration that they prescribe (nv), multipliers per generalized force
// (nc, nv)
template <class R>
struct AffineMaps {
  R *a0, *B, *lam0, *Lam, *N, *P, *bound, *lam_force;
};

// Outputs at one state, and the response to the inputs.
template <class R>
struct Asked {
  int k, nv, n, dof;
  const R *J, *wanted, *row_unit;  // (k, nv), (k), (k)
  const R *N, *B, *a0;             // (nv, dof), (nv, n), (nv)
  const R *unit, *v;               // (nv)
  const long long* columns;        // (n) of the actuated coordinates
  const R* metric;                 // C of u = C x: null is the identity, (n) a diagonal, (n, n) otherwise
  bool diagonal;
  const R* M;  // (nv, nv): what the outputs do not see slows down in the mass metric; null: in units
  R damping;   // rate at which what the outputs do not see slows down; 0 leaves it
};

template <class R>
struct LeastFound {
  R *G, *g, *x, *Z;   // (rows, n), (rows), (n), (n, n - rows)
  R sharpness;        // smallest share of a motion that actuators feel or outputs reach; 1 is all
  int rows, motions;  // of G; motions that the actuators feel
  bool regular;       // whether the rows of G are independent: only then there are x and Z
};

// min (z - z0)^T H (z - z0) / 2    subject to    lower <= A z <= upper
template <class R>
struct Program {
  int n, m;
  const R *z0, *H, *A, *lower, *upper;  // (n), (n, n) or null for 1, (m, n), (m), (m)
  R tol;                                // largest violation of a row of unit length
};

enum Solved : int { OPTIMAL = 0, INFEASIBLE = 1, STUCK = 2, INSIDE = 3 };

template <class R>
struct Answer {
  Solved how;
  const R* z;         // (n)
  const int* active;  // rows that are held (count)
  int count, iterations;
};

// Limits on multipliers and inputs, to become rows on inputs.
template <class R>
struct LimitRows {
  int m, nc, n, k;
  const R *on_lam, *on_u;               // (m, nc), (m, n) or null
  const R *lam0, *Lam, *lower, *upper;  // (nc), (nc, n), (m), (m)
  const R* unknown;                     // (nc, k): what unit disturbances do to the multipliers, or null
};

// Inputs u = C (x + Z z) with lower <= R u <= upper and z nearest to its first value.
template <class R_>
struct Limited {
  int n, open, m;
  const R_ *x, *Z, *z;  // (n), (n, open), (open) or null for zero
  const R_* metric;     // C, as above
  bool diagonal;
  const R_ *R, *lower, *upper, *H;  // (m, n), (m), (m), (open, open) or null for 1
  R_ touch, tol;                    // a row counts as touched, or as violated, from here
};

template <class R>
struct LimitedFound {
  Solved how;       // INSIDE: the first z is within all rows
  const R *x, *u;   // (n)
  const R* z;       // (open)
  const int* rows;  // that are touched, or held (count)
  int count, iterations;
};

// What the actuators reach in the mass metric: control/priority_levels.hpp.
template <class R>
struct ReachAsked {
  int nv, n, dof;
  const R *N, *M, *unit;  // (nv, dof), (nv, nv), (nv)
  const long long* columns;
  const R* metric;
  bool diagonal;
  R least_feel;
};

template <class R>
struct ReachFound {
  R *X, *to_x, *open;  // (nv, dof), (n, dof), (n, n - dof)
  R size;              // |X| without units
};

// Levels of priority: rows J a = wanted, one level below the other, the last row of each in `ends`.
template <class R>
struct LevelsAsked {
  int levels, k, nv, r;
  const long long* ends;           // (levels)
  const R *J, *wanted, *row_unit;  // (k, nv), (k), (k)
  const R *X, *a0, *unit;          // (nv, r), (nv), (nv)
  R size;                          // of X
};

template <class R>
struct LevelsFound {
  R *A, *b, *zero;  // (k, r), (k), (levels)
  R *s, *Z, *left;  // (r), (r, open), (levels, r * r): (open before, open after) of each level
  int* open;        // (levels + 1)
  int done;         // levels that were solved; s and Z are those behind them
};

}  // namespace sarrus
