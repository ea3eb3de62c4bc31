// What control asks of the kernel, as plain data: arrays that live elsewhere, rows without padding. Outside
// the instruction-set namespaces, like the model.
#pragma once

#include "model.hpp"

namespace sarrus {

// Terms of one state: rows may be a selection, M and h may carry a load that the model does not know.
template <class R>
struct DenseTerms {
  Model<R> m;  // sizes, units, rank_tol
  const R *M, *h, *J, *gamma;
  const long long* columns;  // (nu) of the actuated coordinates
  int nu;
};

// Affine maps of the inputs: (nv), (nv, nu), (nc), (nc, nu); tangent directions (nv, nv - nc)
template <class R>
struct AffineMaps {
  R *a0, *B, *lam0, *Lam, *N;
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
  R damping;  // rate at which what the outputs do not see slows down; 0 leaves it
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

enum Solved : int { OPTIMAL = 0, INFEASIBLE = 1, STUCK = 2 };

template <class R>
struct Answer {
  Solved how;
  const R* z;         // (n)
  const int* active;  // rows that are held (count)
  int count, iterations;
};

}  // namespace sarrus
