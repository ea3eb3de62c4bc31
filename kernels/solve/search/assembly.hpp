// Assembly: constraints closed near a guess, from the guess itself and, where that stalls, from perturbed
// ones.
//
// A straight chain that has to bend is stationary to first order. Fixed patterns of growing size move the
// guess; of the attempts of one size that close, the one nearest to the guess is taken.
#pragma once

#include "solve/search/closing.hpp"

SARRUS_BEGIN

constexpr double PERTURBATIONS[] = {1e-3, 0.1, 0.3, 0.6, 1.0, 1.5};  // [rad], or times L [m]
constexpr int PATTERNS = 4;                                          // of each size
constexpr int MOST_ATTEMPTS = PATTERNS * static_cast<int>(sizeof(PERTURBATIONS) / sizeof(double));

template <class T>
struct AssemblyWork : ClosingWork<T> {
  T *guess, *best, *best_r;  // (nq), (nq), (rows)

  SARRUS_HD AssemblyWork(const Model<real<T>>& m, Arena& arena) : ClosingWork<T>(m, arena) {
    arena.take(m.nq, guess, best);
    arena.take(m.nc, best_r);
  }
};

// Rank of an attempt: closed ones by their distance from the guess, then open ones by their gap.
template <class T>
struct Merit {
  bool open;
  T size;
  SARRUS_HD bool better_than(const Merit& other) const {
    return open == other.open ? size < other.size : !open;
  }
};

template <class T>
SARRUS_FN Merit<T> merit(const Model<real<T>>& m, const Selected& s, AssemblyWork<T>& w) {
  if (!is_closed(w.r, s.n_rows)) {
    T size = sqrt_(squared(w.r, s.n_rows));
    return {true, size == size ? size : T(real<T>(1e300))};
  }
  difference(m, w.guess, w.q, w.dv);
  T sum = sum_of<T>(m.nv, [&](int j) { return w.dv[j] * w.dv[j] / (m.unit[j] * m.unit[j]); });
  return {false, sqrt_(sum)};
}

// out: w.q, w.r   in: w.q the guess; patterns (MOST_ATTEMPTS, columns) in [-1, 1]   Returns the number of
// iterations, all attempts together.
template <class T, class At>
SARRUS_FN int assemble(const Model<real<T>>& m, const Selected& s, At at, const real<T>* patterns,
                       AssemblyWork<T>& w) {
  copy(w.guess, w.q, m.nq);
  int iterations = close_rows(m, s, at, w);
  if (is_closed(w.r, s.n_rows) || s.n_columns == 0) return iterations;
  auto keep = [&] {
    copy(w.best, w.q, m.nq);
    copy(w.best_r, w.r, s.n_rows);
  };
  Merit<T> best = merit(m, s, w);
  keep();
  for (int n = 0; n < MOST_ATTEMPTS && (best.open || n % PATTERNS); ++n) {
    set_scaled(w.x, real<T>(PERTURBATIONS[n / PATTERNS]), patterns + n * s.n_columns, s.n_columns);
    copy(w.q, w.guess, m.nq);
    try_step(m, s, w);
    copy(w.q, w.trial, m.nq);
    iterations += close_rows(m, s, at, w);
    Merit<T> found = merit(m, s, w);
    if (!found.better_than(best)) continue;
    best = found;
    keep();
  }
  copy(w.q, w.best, m.nq);
  copy(w.r, w.best_r, s.n_rows);
  return iterations;
}

SARRUS_END
