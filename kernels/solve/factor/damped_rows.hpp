// Damped least squares on the rows of a large mechanism, with the elimination order of its augmented inertia
// (solve/factor/augmented_inertia.hpp), whose pattern H = mu + J^T J fits into:
//
//   x <- x - H^-1 J^T (r + J x)                                                                           (1)
//
// One iteration from zero minimises |r + J x|^2 + mu |x|^2; more of them approach -J^+ r, the smallest of the
// least-squares solutions, by mu / (s^2 + mu) along each singular value s.
#pragma once

#include "solve/factor/augmented_inertia.hpp"

SARRUS_BEGIN

constexpr double LEAST_DAMPING = 1e-10;  // mu: below it rounding moves x along the free directions
constexpr int NEWTON_ITERATIONS = 3;     // (1) for a step of Newton's method

// Entries of J without units, group by group; those of other columns than `moved` are zero, and so are other
// rows than `closed`.   in: J (nc, ld). False where an entry is not finite.
template <class T>
SARRUS_FN bool rows_without_units(const Model<real<T>>& m, const T* J, int ld, const unsigned char* closed,
                                  const unsigned char* moved, T* rows) {
  T sum = T(0);
  each_row(m, rows, [&](int r, T* row, const int* cols, int n) {
    for (int i = 0; i < n; ++i) {
      bool counts = closed[r] && moved[cols[i]];
      row[i] = counts ? J[r * static_cast<long>(ld) + cols[i]] * (m.unit[cols[i]] / m.row_unit[r]) : T(0);
      sum += row[i] * real<T>(0);
    }
  });
  return sum == 0;
}

// r (nc) += J x
template <class T>
SARRUS_FN void add_rows_times(const Model<real<T>>& m, T* rows, const T* x, T* r) {
  each_row(m, rows, [&](int k, const T* row, const int* cols, int n) {
    for (int i = 0; i < n; ++i) r[k] += row[i] * x[cols[i]];
  });
}

// H of (1), factorized
template <class T>
SARRUS_FN bool factorize_damped(const Model<real<T>>& m, const T* rows, const T& mu, Augmented<T>& a) {
  const FrontPlan& plan = *m.fronts;
  int width = padded(plan.widest);
  fill(a.fronts.U, plan.entries);
  const int* to = plan.inertia_target;
  each_branch(m, [&](int k, int j) {
    if (k == j) a.fronts.U[*to] += mu;
    ++to;
  });
  to = plan.group_target;
  each_group(m, [&](int, int count, const int*, int n) {
    for (int k = 0; k < count; ++k, rows += n) copy(a.room + k * width, rows, n);
    to = add_products(count, n, width, to, a);
  });
  return factorize_fronts(plan, a.fronts);
}

// x (nv) after so many iterations (1)   in: H factorized, r (nc)
template <class T>
SARRUS_FN void damped_solution(const Model<real<T>>& m, T* rows, const T* r, int iterations, Augmented<T>& a,
                               T* x) {
  fill(x, m.nv);
  for (int n = 0; n < iterations; ++n) {
    copy(a.gap, r, m.nc);
    if (n > 0) add_rows_times(m, rows, x, a.gap);
    fill(a.change, m.nv);
    each_row(m, rows, [&](int k, const T* row, const int* cols, int width) {
      for (int i = 0; i < width; ++i) a.change[cols[i]] -= row[i] * a.gap[k];
    });
    solve_fronts(*m.fronts, a.fronts, a.change);
    add(x, a.change, m.nv);
  }
}

// x (nv): (1) with mu, or with a larger one so that |x| equals the radius (< 0: none)
template <class T>
SARRUS_FN bool damped_step(const Model<real<T>>& m, T* rows, const T* r, T mu, real<T> radius,
                           Augmented<T>& a, T* x) {
  auto size = [&](const T& at) {
    if (!factorize_damped(m, rows, at, a)) return T(real<T>(-1));
    damped_solution(m, rows, r, radius < 0 ? NEWTON_ITERATIONS : 1, a, x);
    T sum = sum_of<T>(m.nv, [&](int j) { return x[j] * x[j]; });
    return sqrt_(sum);
  };
  if (mu < real<T>(LEAST_DAMPING)) mu = T(real<T>(LEAST_DAMPING));
  T length = size(mu);
  if (radius < 0 || length <= radius) return length >= 0;
  T low = mu, high = mu;
  while (size(high) > radius && high < real<T>(1e30)) high = high * real<T>(16);
  while (high > low * real<T>(1.05)) {
    T middle = sqrt_(low * high);
    if (size(middle) > radius)
      low = middle;
    else
      high = middle;
  }
  return size(high) >= 0;
}

SARRUS_END
