// Whether J loses rank at a pose only. With w^T J = 0 the rank grows along a tangent direction unless
//
//   w^T gamma(v) = -w^T J'(v) v = 0   for every tangent v                                                 (1)
//
// Rows that are redundant in every pose pass this test, rows that lose rank in this one do not. (1) is
// quadratic in v, so a few fixed directions suffice.
#pragma once

#include "solve/factor/singular_values.hpp"
#include "solve/limit_rows.hpp"

SARRUS_BEGIN

constexpr int RANK_DIRECTIONS = 4;

// J without units at the evaluated rows   out: d.p.A
template <class T, int LDC>
SARRUS_HD void load_rows(const Model<real<T>>& m, const Workspace<T, LDC>& w, SingularValues<T>& d) {
  for (int k = 0; k < m.nc; ++k)
    for (int j = 0; j < m.nv; ++j) d.at(k, j) = w.rows.J[k * w.ld + j] * m.unit[j] / m.row_unit[k];
}

template <class T>
struct RankLossRoom {
  T *v, *x, *even;  // (ld), (ld), the part of gamma / row_unit that is quadratic in v (nc)

  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m) {
    arena.take(Stride<0>(m.nv), v, x);
    arena.take(m.nc, even);
  }
};

// x (ld): tangent direction number n, of unit length: a fixed combination of the vectors of V from `rank` on
template <class T>
SARRUS_FN void tangent_direction(const SingularValues<T>& d, int rank, int n, T* x) {
  int nv = d.p.m.nv;
  T size = T(0);
  fill(x, d.p.ld);
  for (int e = rank; e < nv; ++e) {
    double at = (n * nv + e + 1) * 0.6180339887498949, y = at - static_cast<long>(at) - 0.5;
    size += T(real<T>(y * y));
    if (e >= d.count) {
      x[e] = T(real<T>(y));
      continue;
    }
    for (int j = 0; j < d.count; ++j) x[j] += d.W[e * d.count + j] * real<T>(y);
  }
  turn_back(d.p, x);
  for (int j = 0; j < nv; ++j) x[j] = x[j] / sqrt_(size);
}

// r.even: the part of gamma / row_unit that is quadratic in v along r.x; at(v) evaluates w.rows
template <class T, int LDC, class At>
SARRUS_FN void even_part(const Model<real<T>>& m, At at, const Workspace<T, LDC>& w, RankLossRoom<T>& r) {
  fill(r.even, m.nc);
  for (int sign = -1; sign <= 1; ++sign) {  // averaging removes what drives add: linear terms, those at rest
    fill(r.v, Stride<0>(m.nv));
    for (int j = 0; j < m.nv; ++j) r.v[j] = r.x[j] * m.unit[j] * real<T>(sign);
    at(r.v);
    for (int k = 0; k < m.nc; ++k) r.even[k] += w.rows.gamma[k] * real<T>(sign ? 0.5 : -1) / m.row_unit[k];
  }
}

// in: d the singular values of J without units, `rank` of them not zero; at(v) evaluates w.rows with velocity
// v (ld)
template <class T, int LDC, class At>
SARRUS_FN bool loses_rank_here(const Model<real<T>>& m, At at, const SingularValues<T>& d, int rank,
                               const Workspace<T, LDC>& w, RankLossRoom<T>& r) {
  if (rank >= m.nc || rank >= m.nv) return false;
  for (int n = 0; n < RANK_DIRECTIONS; ++n) {
    tangent_direction(d, rank, n, r.x);
    even_part(m, at, w, r);
    T seen = T(0);
    for (int i = 0; i < rank; ++i) {  // less the part along u_i
      T along = along_left(d, i, r.even) / (d.s[i] * d.s[i]);
      for (int k = 0; k < m.nc; ++k) r.even[row_at(d.p.f, k)] -= d.LW[i * d.lr + k] * along;
    }
    seen = plus_products(seen, r.even, r.even, m.nc);
    if (seen > real<T>(LIMIT_TOL * LIMIT_TOL)) return true;
  }
  return false;
}

// The same by the orthogonal factorization of J in w, for mechanisms too large for singular values: the part
// of gamma along the left null space of the rows with units, without units.
template <class T, int LDC, class At>
SARRUS_FN bool loses_rank_here(const Model<real<T>>& m, At at, const Workspace<T, LDC>& w,
                               RankLossRoom<T>& r) {
  const Factor<T>& f = w.factor;
  int rank = f.rank_rows;
  if (rank >= m.nc || rank >= m.nv) return false;
  for (int n = 0; n < RANK_DIRECTIONS; ++n) {
    T size = T(0), seen = T(0);
    fill(r.x, w.ld);
    for (int e = rank; e < m.nv; ++e) {
      double at = (n * m.nv + e + 1) * 0.6180339887498949, y = at - static_cast<long>(at) - 0.5;
      r.x[f.sparse ? f.rows.col[e] : e] = T(real<T>(y));
      size += T(real<T>(y * y));
    }
    reflect_back(f, rank, w.ld, r.x);
    for (int j = 0; j < m.nv; ++j) r.x[j] = r.x[j] / sqrt_(size);
    even_part(m, at, w, r);
    multiply(r.even, r.even, m.row_unit, m.nc);
    left_null_part(m, f, r.even);
    for (int k = 0; k < m.nc; ++k) seen += r.even[k] * r.even[k] / (m.row_unit[k] * m.row_unit[k]);
    if (seen > real<T>(LIMIT_TOL * LIMIT_TOL)) return true;
  }
  return false;
}

SARRUS_END
