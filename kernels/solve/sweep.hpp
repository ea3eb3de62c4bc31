// Sweep: a path of poses along one coordinate, on one branch, by prediction and correction.
//
// Prediction goes along the tangent with unit rate of the swept coordinate; correction closes the constraints
// with that coordinate held. A step whose correction is not small against its length is divided. Where rows
// lose rank (a parallelogram stretched flat) many tangents exist: the one nearest to the last is the smooth
// continuation. Where the coordinate turns back (a dead centre) the path ends.
#pragma once

#include "solve/assembly.hpp"
#include "solve/rank_loss.hpp"

SARRUS_BEGIN

constexpr double LONGEST_STEP = 0.15;   // of any coordinate in one prediction [rad], or times L [m]
constexpr double CORRECTION = 0.2;      // largest accepted correction relative to the step
constexpr double SMALLEST_STEP = 1e-7;  // of the swept coordinate, lengths divided by L
constexpr double SINGULAR_TOL = 1e-6;   // singular values below this are lost

// The swept coordinate by its indices into v and q, further ones that do not move, what corrections move.
struct SweptPath {
  int index, position;
  const int* held;
  int n_held;
  Selected free;
};

template <class T>
struct SweepWork : AssemblyWork<T> {
  SingularValues<T> all;  // of the rows of J, of held coordinates and of the swept one
  RankLossRoom<T> loss;
  T *here, *predicted;       // a pose of the path and the next one predicted (nq)
  T *tangent, *step, *wish;  // (ld); tangent: with unit rate of the swept coordinate
  T* g;                      // right sides of `all`

  SARRUS_HD SweepWork(const Model<real<T>>& m, Arena& arena) : AssemblyWork<T>(m, arena) {
    all.bind(arena, m.nc + m.nv, m.nv);
    loss.bind(arena, m);
    arena.take(m.nq, here, predicted);
    arena.take(this->w.ld, tangent, step, wish);
    arena.take(m.nc + m.nv, g);
  }
};

// What is known of the pose w.here besides its tangent.
template <class T>
struct PathPoint {
  T value;
  int rank;  // largest so far of the rows with the coordinate held
  bool singular, first;
};

// Rows of J and of the held coordinates into w.all, and that of the swept one where it counts; how many
template <class T>
SARRUS_FN int load_path_rows(const Model<real<T>>& m, const SweptPath& p, bool swept, SweepWork<T>& w) {
  int rows = m.nc;
  load_rows(m, w.w, w.all);
  auto select_entry = [&](int index) {
    for (int j = 0; j < m.nv; ++j) w.all.at(rows, j) = T(j == index ? 1 : 0);
    ++rows;
  };
  for (int k = 0; k < p.n_held; ++k) select_entry(p.held[k]);
  if (swept) select_entry(p.index);
  return rows;
}

// w.tangent at w.here: J v = 0, v[index] = 1, held entries 0, smallest, or nearest to the last one where rank
// is lost
template <class T, class At>
SARRUS_FN PathPoint<T> find_tangent(const Model<real<T>>& m, const SweptPath& p, At at,
                                    const PathPoint<T>* last, const T& value, SweepWork<T>& w) {
  at(w.here, w.v);
  int rows = load_path_rows(m, p, false, w);
  int without = decompose(w.all, rows, m.nv) ? w.all.rank(real<T>(SINGULAR_TOL)) : 0;
  rows = load_path_rows(m, p, true, w);
  int rank = decompose(w.all, rows, m.nv) ? w.all.rank(real<T>(SINGULAR_TOL)) : 0;
  PathPoint<T> point{value, last && last->rank > rank ? last->rank : rank, rank == without, !last};
  if (last) {
    point.singular = point.singular || rank < last->rank;
  } else {
    load_rows(m, w.w, w.d);
    int seen = decompose(w.d, m.nc, m.nv) ? w.d.rank(real<T>(SINGULAR_TOL)) : 0;
    auto moving = [&](const T* v) { at(w.here, v); };
    point.singular = loses_rank_here(m, moving, w.d, seen, w.w, w.loss) || point.singular;
  }
  for (int j = 0; j < m.nv; ++j) w.wish[j] = last && point.singular ? w.tangent[j] / m.unit[j] : T(0);
  for (int k = 0; k < rows; ++k) {
    w.g[k] = k == rows - 1 ? T(1 / m.unit[p.index]) : T(0);
    for (int j = 0; j < m.nv; ++j) w.g[k] -= w.all.at(k, j) * w.wish[j];
  }
  fill(w.step, w.w.ld);
  if (rank) solve_damped(w.all, rank, T(0), w.g, w.step);
  for (int j = 0; j < m.nv; ++j) w.tangent[j] = m.unit[j] * (w.wish[j] + w.step[j]);
  for (int k = 0; k < p.n_held; ++k) w.tangent[p.held[k]] = T(0);
  return point;
}

// Predicts along the tangent and closes: w.q. False where the branch cannot be told apart or does not close.
template <class T, class At>
SARRUS_FN bool correct(const Model<real<T>>& m, const SweptPath& p, At at, const PathPoint<T>& point,
                       const T& target, SweepWork<T>& w) {
  T length = T(0), correction = T(0);
  for (int j = 0; j < m.nv; ++j) {
    w.step[j] = (target - point.value) * w.tangent[j];
    length += w.step[j] * w.step[j] / (m.unit[j] * m.unit[j]);
  }
  length = sqrt_(length);
  integrate(m, w.here, w.step, w.predicted);
  w.predicted[p.position] = target;
  for (int j = 0; j < m.nq; ++j) w.q[j] = w.predicted[j];
  close_rows(m, p.free, [&](const T* q) { at(q, w.v); }, w);
  if (!is_closed(w.r, p.free.n_rows)) return false;
  difference(m, w.predicted, w.q, w.dv);
  for (int j = 0; j < m.nv; ++j) correction += w.dv[j] * w.dv[j] / (m.unit[j] * m.unit[j]);
  if (point.first && point.singular)  // where branches meet any of them will do
    length += real<T>(LONGEST_STEP / CORRECTION);
  return sqrt_(correction) <= length * real<T>(CORRECTION) + real<T>(1e-9);
}

// Continues to one value in as many steps as it takes; `point` is the last pose, w.here. False where it is
// not there.
template <class T, class At>
SARRUS_FN bool advance(const Model<real<T>>& m, const SweptPath& p, At at, const T& value,
                       PathPoint<T>& point, SweepWork<T>& w) {
  T step = abs_(value - point.value);
  while (point.value != value) {
    T fastest = T(real<T>(1e-12)), left = abs_(value - point.value);
    for (int j = 0; j < m.nv; ++j) {
      T rate = abs_(w.tangent[j]) / m.unit[j];
      fastest = rate > fastest ? rate : fastest;
    }
    T longest = real<T>(LONGEST_STEP) / fastest;
    step = step < longest ? step : longest;
    step = step < left ? step : left;
    T target = step < left ? point.value + (value > point.value ? step : -step) : value;
    if (correct(m, p, at, point, target, w)) {
      for (int j = 0; j < m.nq; ++j) w.here[j] = w.q[j];
      PathPoint<T> last = point;
      point = find_tangent(m, p, at, &last, target, w);
      step = step * real<T>(2);
    } else if (!(step > real<T>(SMALLEST_STEP) * m.unit[p.index])) {
      return false;
    } else {
      step = step / real<T>(3);
    }
  }
  return true;
}

template <class T>
struct SweptPoses {
  T* q;                     // (n, nq), those reached
  unsigned char* singular;  // (n)
  T* end;                   // value at which the path ended
};

// Follows the path through n values from the closed pose w.q at the first of them; how many were reached.
template <class T, class At>
SARRUS_FN int sweep(const Model<real<T>>& m, const SweptPath& p, At at, const T* values, int n,
                    SweepWork<T>& w, SweptPoses<T> out) {
  for (int j = 0; j < m.nq; ++j) w.here[j] = w.q[j];
  PathPoint<T> point = find_tangent(m, p, at, static_cast<PathPoint<T>*>(nullptr), values[0], w);
  int done = 0;
  do {
    for (int j = 0; j < m.nq; ++j) out.q[done * m.nq + j] = w.here[j];
    out.singular[done++] = point.singular;
  } while (done < n && advance(m, p, at, values[done], point, w));
  *out.end = point.value;
  return done;
}

SARRUS_END
