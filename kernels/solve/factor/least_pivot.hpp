// The smallest pivot of J of a large mechanism, eliminated in the order of least fill whatever the lengths of
// its rows are: it vanishes where the rows become dependent, as that of comparable pivots does, but no row
// has to wait for longer ones and fills up meanwhile. It tells when a singular pose is passed, not its rank.
#pragma once

#include "solve/factor/sparse_factorization.hpp"

SARRUS_BEGIN

// Whether this order serves for `rank` pivots
SARRUS_HD bool least_pivot_pays(const auto& m, int rank) {
  return m.sparse && m.nv >= LOOSELY_FROM && rank == m.nc && m.nc <= m.nv;
}

// in: J (nc, ld)   Uses up f.rows; 0 where a row has nothing left
template <class T>
SARRUS_FN T least_pivot(const Model<real<T>>& m, const T* J, int ld, Factor<T>& f) {
  Entries<T>& e = f.rows;
  e.nearly = real<T>(0);
  clear(e);
  each_entry(m, [&](int r, int j) { enter(e, r, j, J[r * ld + j] * (m.unit[j] / m.row_unit[r])); });
  for (int r = 0; r < m.nc; ++r) measure(e, r);
  if (!eliminate(e, 0, m.nc, real<T>(0), m.nc, m.nv * m.nc) || e.rank < m.nc) return T(0);
  T least = abs_(e.pivot[0]);
  for (int k = 1; k < e.rank; ++k) least = smaller(abs_(e.pivot[k]), least);
  return least;
}

SARRUS_END
