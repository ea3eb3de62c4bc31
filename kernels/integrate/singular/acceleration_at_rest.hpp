// The acceleration out of rest at a singular pose.
//
// At rest the rows that are lost say nothing about a, not even in the limit of solve/forward_dynamics.hpp
// (2): J' vanishes with v. But no smooth motion leaves with every a in the null space of J. With v = 0 the
// fourth derivative of phi, multiplied by w in the left null space of J, is free of higher derivatives of q:
//
//   w^T J'[a] a = 0                                                                                       (1)
//
// where J'[a] is the derivative of J along a: a lies in the tangent cone. Of these, Gauss' principle of
// least constraint takes the one nearest to the free acceleration in the mass metric. (1) is linearized about
// the last a,
//
//   w^T J'[a0] a = w^T J'[a0] a0 / 2                                                                      (2)
//
// and solved again until a stays (docs/derivations/singular.md).
#pragma once

#include "integrate/stepper.hpp"

SARRUS_BEGIN

constexpr int MOST_CONE_STEPS = 100;
constexpr double CONE_FOUND = 1e-13;  // change of a, relative, at which the iteration ends

// Rows (2), scaled by 1/|a0|, behind those of J.
template <class T, int LDC>
SARRUS_FN void add_cone_rows(const Model<real<T>>& m, const T* a, const Tangent<T, LDC>& d,
                             Workspace<T, LDC>& w) {
  Factor<T>& f = w.factor;
  int lost = m.nc - f.rank_rows;
  T size = sum_of<T>(m.nv, [&](int j) { return a[j] * a[j] / (m.unit[j] * m.unit[j]); });
  T inv = real<T>(1) / sqrt_(size);
  for (int i = 0; i < lost; ++i) {
    left_null(f, i, f.work);
    T *row = f.Y + (m.nc + i) * w.ld, right = T(0);
    fill(row, w.ld);
    for (int k = 0; k < m.nc; ++k) {
      if constexpr (Plain<T>::value)
        if (f.work[k] == 0) continue;
      const Dual<T>* J = d.rows.J + row_at(f, k) * w.ld;
      for (int j = 0; j < m.nv; ++j) row[j] += f.work[k] * J[j].b * inv;
    }
    for (int j = 0; j < m.nv; ++j) right += row[j] * a[j], row[j] = row[j] * m.unit[j];
    w.extra[i] = right * real<T>(0.5);
  }
  place_limit_rows(m, lost, real<T>(LIMIT_TOL), w);
}

// Largest |x - y| over the largest |y|, both without units.
template <class T>
SARRUS_HD double change(const Model<real<T>>& m, const T* x, const T* y) {
  double apart = 0, size = 0;
  for (int j = 0; j < m.nv; ++j) {
    double dx = value(abs_(x[j] - y[j])) / m.unit[j], sy = value(abs_(y[j])) / m.unit[j];
    apart = larger(dx, apart);
    size = larger(sy, size);
  }
  return size > 0 ? apart / size : 0;
}

// The acceleration with rows (2) into s.a and s.w.a, and their factorization into s.w. In: (q1, v1 = 0)
// prepared, with the acceleration that ignores the lost rows. Permanent redundancy adds no rows; where the
// iteration does not end, the acceleration stays as it was.
template <class T, int LDC, class S>
SARRUS_FN void accelerate_from_rest(Stepper<T, LDC, S>& s) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  T* a = s.x;
  bool found = !moving(w.a, m.nv);
  for (int i = 0; i < MOST_CONE_STEPS && !found; ++i) {
    copy(a, w.a, w.ld);
    differentiate_rows(m, s.state(s.q1, a), s.d);
    factorize(m, w.rows.J, w.M, w.ld, -1, w.factor);
    complete(m, w.ld, w.factor);
    add_cone_rows(m, a, s.d, w);
    finish(m, w.M, w.ld, w.factor);
    accelerate(m, s.tau, w);
    found = change(m, w.a, a) <= CONE_FOUND || w.factor.rank == w.factor.rank_rows;
  }
  if (found) return copy(s.a, w.a, w.ld);
  prepare_without_limits(s, -1);
  accelerate(m, s.tau, w);
}

SARRUS_END
