// Directions that the rows leave free, orthonormal and without units: of velocities, by all rows, and of
// positions, by those that restrict positions. Both are the same unless rows restrict only velocities
// (rolling).
#pragma once

#include "solve/factor/pivoted_matrix.hpp"
#include "solve/factor/solve.hpp"

SARRUS_BEGIN

// N (nv, k), k is returned   in: the factorization of J; x (ld) is room
template <class T, class LD>
SARRUS_FN int velocity_directions(const Model<real<T>>& m, LD ld, const Factor<T>& f, T* x, T* N) {
  int rank = f.rank_rows, n = m.nv - rank;
  for (int e = 0; e < n; ++e) {
    fill(x, ld);
    x[f.sparse ? f.rows.col[rank + e] : rank + e] = T(1);
    reflect_back(f, rank, ld, x);
    set_column(N + e, n, x, m.nv);
  }
  return n;
}

// The same of positions   in: J (nc, ld) with units
template <class T, class LD>
SARRUS_FN int position_directions(const Model<real<T>>& m, LD ld, const T* J, Pivoted<T>& p, T* x, T* N) {
  int rows = 0;
  for (int r = 0; r < m.nc; ++r) {
    if (!m.row_holonomic[r]) continue;
    for (int j = 0; j < m.nv; ++j) p.at(rows, j) = J[r * ld + j] * m.unit[j] / m.row_unit[r];
    ++rows;
  }
  eliminate(p, rows, m.nv, real<T>(0), m.rank_tol[0]);
  int rank = p.rank(), n = m.nv - rank;
  for (int e = 0; e < n; ++e) {
    basis_vector(p, rank + e, x);
    set_column(N + e, n, x, m.nv);
  }
  return n;
}

SARRUS_END
