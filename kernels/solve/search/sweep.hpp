// Sweep: a path of poses along one coordinate or several, on one branch, by prediction and correction.
//
// The path parameter is the value of the swept coordinate; with several it counts the values, and between two
// of them every swept coordinate moves linearly. Prediction goes along the tangent with the rates of the
// swept coordinates by the parameter; correction closes the constraints with these coordinates held. A step
// whose correction is not small against its length is divided. Where rows lose rank (a parallelogram
// stretched flat) many tangents exist: the one nearest to the last is the smooth continuation. Where a
// coordinate turns back (a dead centre) the path ends.
#pragma once

#include "solve/search/assembly.hpp"
#include "solve/search/rank_loss.hpp"

SARRUS_BEGIN

constexpr double LONGEST_STEP = 0.25;   // of any coordinate in one prediction [rad], or times L [m]
constexpr double CORRECTION = 0.2;      // largest accepted correction relative to the step
constexpr double SMALLEST_STEP = 1e-7;  // of the swept coordinate, lengths divided by L
constexpr double SINGULAR_TOL = 1e-6;   // singular values below this are lost
constexpr double CONTRADICTION = 1e-4;  // of the rates asked for: a larger part that no motion has

// Swept coordinates by their indices into v and q, their values (n, n_swept); further ones that do not move,
// what corrections move.
struct SweptPath {
  const int *index, *position;
  int n_swept;
  const double* values;
  const int* held;
  int n_held;
  Selected free;

  // the path parameter at value k
  SARRUS_HD double at(int k) const { return n_swept == 1 ? values[k] : k; }
  // change of swept coordinate i by the parameter on the way to value k
  SARRUS_HD double rate(int k, int i) const {
    if (n_swept == 1 || k == 0) return 1;
    return values[k * n_swept + i] - values[(k - 1) * n_swept + i];
  }
  // swept coordinate i at the parameter s on the way to value k
  SARRUS_HD double coordinate(int k, int i, double s) const {
    if (n_swept == 1) return s;
    return s == k ? values[k * n_swept + i] : values[(k - 1) * n_swept + i] + (s - (k - 1)) * rate(k, i);
  }
};

template <class T>
struct SweepWork : AssemblyWork<T> {
  SingularValues<T> all;  // of the rows of J, of held coordinates and of swept ones
  RankLossRoom<T> loss;
  T *here, *predicted;       // a pose of the path and the next one predicted (nq)
  T *tangent, *step, *wish;  // (ld); tangent: by the path parameter
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

// Rows of J, of the held coordinates and of the swept ones into w.all; how many
template <class T>
SARRUS_FN int load_path_rows(const Model<real<T>>& m, const SweptPath& p, SweepWork<T>& w) {
  int rows = m.nc;
  load_rows(m, w.w, w.all);
  auto select_entry = [&](int index) {
    for (int j = 0; j < m.nv; ++j) w.all.at(rows, j) = T(j == index ? 1 : 0);
    ++rows;
  };
  for (int k = 0; k < p.n_held; ++k) select_entry(p.held[k]);
  for (int i = 0; i < p.n_swept; ++i) select_entry(p.index[i]);
  return rows;
}

// w.step: what w.wish lacks to a motion with the rates of the swept coordinates on the way to value k. False
// where no motion has them: the rows contradict each other.
template <class T>
SARRUS_FN bool solve_tangent(const Model<real<T>>& m, const SweptPath& p, int k, int rows, int rank,
                             SweepWork<T>& w) {
  T size = T(0), left = T(0);
  for (int i = 0; i < rows; ++i) {
    int swept = i - (rows - p.n_swept);
    w.g[i] = swept >= 0 ? T(p.rate(k, swept) / m.unit[p.index[swept]]) : T(0);
    for (int j = 0; j < m.nv; ++j) w.g[i] -= w.all.at(i, j) * w.wish[j];
    size += w.g[i] * w.g[i];
  }
  fill(w.step, w.w.ld);
  if (rank) solve_damped(w.all, rank, T(0), w.g, w.step);
  for (int i = 0; i < rows; ++i) {
    T e = w.g[i];
    for (int j = 0; j < m.nv; ++j) e -= w.all.at(i, j) * w.step[j];
    left += e * e;
  }
  return left <= real<T>(CONTRADICTION * CONTRADICTION) * size;
}

// Whether the rows of the mechanism lose rank at w.here only
template <class T, class At>
SARRUS_FN bool loses_rank_at(const Model<real<T>>& m, At at, SweepWork<T>& w) {
  load_rows(m, w.w, w.d);
  int seen = decompose(w.d, m.nc, m.nv) ? w.d.rank(real<T>(SINGULAR_TOL)) : 0;
  auto moving = [&](const T* v) { at(w.here, v); };
  return loses_rank_here(m, moving, w.d, seen, w.w, w.loss);
}

// w.tangent at w.here on the way to value k: J v = 0, swept entries as their rates, held entries 0, smallest,
// or nearest to the last one where rank is lost
template <class T, class At>
SARRUS_FN PathPoint<T> find_tangent(const Model<real<T>>& m, const SweptPath& p, At at, int k,
                                    const PathPoint<T>* last, const T& value, SweepWork<T>& w) {
  at(w.here, w.v);
  int rows = load_path_rows(m, p, w);
  int rank = decompose(w.all, rows, m.nv) ? w.all.rank(real<T>(SINGULAR_TOL)) : 0;
  fill(w.wish, w.w.ld);
  bool turns_back = !solve_tangent(m, p, k, rows, rank, w);
  PathPoint<T> point{value, rank, turns_back, !last};
  if (last) {
    point.singular = point.singular || rank < last->rank;
    point.rank = larger(last->rank, rank);
  } else {
    point.singular = loses_rank_at(m, at, w) || point.singular;
  }
  if (last && point.singular) {
    divide(w.wish, w.tangent, m.unit, m.nv);
    solve_tangent(m, p, k, rows, rank, w);
  }
  for (int j = 0; j < m.nv; ++j) w.tangent[j] = m.unit[j] * (w.wish[j] + w.step[j]);
  for (int i = 0; i < p.n_held; ++i) w.tangent[p.held[i]] = T(0);
  return point;
}

// Predicts along the tangent to a parameter on the way to value k and closes: w.q. False where the branch
// cannot be told apart or does not close.
template <class T, class At>
SARRUS_FN bool correct(const Model<real<T>>& m, const SweptPath& p, At at, const PathPoint<T>& point, int k,
                       const T& target, SweepWork<T>& w) {
  T length = T(0), correction = T(0);
  for (int j = 0; j < m.nv; ++j) {
    w.step[j] = (target - point.value) * w.tangent[j];
    length += w.step[j] * w.step[j] / (m.unit[j] * m.unit[j]);
  }
  length = sqrt_(length);
  integrate(m, w.here, w.step, w.predicted);
  for (int i = 0; i < p.n_swept; ++i) w.predicted[p.position[i]] = p.coordinate(k, i, target);
  copy(w.q, w.predicted, m.nq);
  close_rows(m, p.free, [&](const T* q) { at(q, w.v); }, w);
  if (!is_closed(w.r, p.free.n_rows)) return false;
  difference(m, w.predicted, w.q, w.dv);
  for (int j = 0; j < m.nv; ++j) correction += w.dv[j] * w.dv[j] / (m.unit[j] * m.unit[j]);
  if (point.first && point.singular)  // where branches meet any of them will do
    length += real<T>(LONGEST_STEP / CORRECTION);
  return sqrt_(correction) <= length * real<T>(CORRECTION) + real<T>(1e-9);
}

// Continues to value k in as many steps as it takes; `point` is the last pose, w.here. False where it is not
// there.
template <class T, class At>
SARRUS_FN bool advance(const Model<real<T>>& m, const SweptPath& p, At at, int k, PathPoint<T>& point,
                       SweepWork<T>& w) {
  T value = p.at(k), step = abs_(value - point.value);
  real<T> smallest = real<T>(SMALLEST_STEP) * (p.n_swept == 1 ? m.unit[p.index[0]] : real<T>(1));
  if (p.n_swept > 1) {  // rates have changed
    PathPoint<T> last = point;
    point = find_tangent(m, p, at, k, &last, last.value, w);
    point.first = last.first;
    point.singular = last.singular || point.singular;
  }
  while (point.value != value) {
    T fastest = largest_of(m.nv, [&](int j) { return abs_(w.tangent[j]) / m.unit[j]; });
    T longest = real<T>(LONGEST_STEP) / larger(fastest, T(real<T>(1e-12))), left = abs_(value - point.value);
    step = smaller(smaller(step, longest), left);
    T target = step < left ? point.value + (value > point.value ? step : -step) : value;
    if (correct(m, p, at, point, k, target, w)) {
      copy(w.here, w.q, m.nq);
      PathPoint<T> last = point;
      point = find_tangent(m, p, at, k, &last, target, w);
      step = step * real<T>(2);
    } else if (!(step > smallest)) {
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

// Follows the path through its n values from the closed pose w.q at the first of them; how many were reached.
template <class T, class At>
SARRUS_FN int sweep(const Model<real<T>>& m, const SweptPath& p, At at, int n, SweepWork<T>& w,
                    SweptPoses<T> out) {
  copy(w.here, w.q, m.nq);
  PathPoint<T> point =
      find_tangent(m, p, at, n > 1 ? 1 : 0, static_cast<PathPoint<T>*>(nullptr), T(p.at(0)), w);
  int done = 0;
  do {
    copy(out.q + done * m.nq, w.here, m.nq);
    out.singular[done++] = point.singular;
  } while (done < n && advance(m, p, at, done, point, w));
  *out.end = point.value;
  return done;
}

SARRUS_END
