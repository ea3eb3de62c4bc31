// The consistent state nearest to a given one, in the metric of the inertia M at the given pose q.
//
//   min |d|_M  s.t.  phi(integrate(q, d), t) = 0           min |dv|_M  s.t.  J (v + dv) = b              (1)
//
// The pose is found in two parts. First the loops are closed along the Newton flow phi' = -phi from q
// [Deuflhard2011] ch. 3: steps are as long as the linear model of phi holds, so that the path ends where J
// loses rank and never on another assembly. Then it slides to the nearest pose: with d the increment from q,
// T = dexp(d) and N the tangent directions, each step x solves
//
//   J x = -phi,   N^T (M x + g) = 0,   g = T^-T M d                                                       (2)
//
// until N^T g = 0, which is (1). Redundant rows become independent off the constraints with pivots of the
// size of the residual: rows with smaller ones wait until the others are closed. Where branches cross, the
// velocity has a say in which one the state lies on: choose_branch().
#pragma once

#include "solve/search/projection.hpp"

SARRUS_BEGIN

enum Projected : int {
  PROJECTED = 0,
  NOT_CLOSED,
  NOT_NEAREST,
  NO_INERTIA_AT,
  UNDEFINED,
  NO_VELOCITY,
  GOES_ON,  // of one step: there is another one
};
// What is done with a row: nothing, it is closed, or it stays as open as it was given.
enum Part : unsigned char { LEFT_OUT = 0, CLOSE, KEPT };

constexpr int MOST_FLOW_STEPS = 200, MOST_SLIDES = 200;
constexpr double LONGEST_FLOW = 0.3;    // of any coordinate in one step [rad], or times L [m]
constexpr double LONGEST_SLIDE = 1.0;   // the same with what closes the loops: beyond it slides are too long
constexpr double NEARLY_CLOSED = 0.01;  // residuals below which rows with smaller pivots wait
constexpr double FAR_OPEN = 0.5;        // the same where rows are known to be redundant
constexpr double LINEAR_ENOUGH =
    0.1;  // step that the error of the linear model asks for, relative to the step
constexpr double SHORTEST_FLOW = 1e-6;    // part of a Newton step below which the flow has ended
constexpr double NEAREST = 1e-12;         // last slide, without units
constexpr double NEAREST_ENOUGH = 1e-7;   // where rounding allows no better
constexpr double VELOCITY_CLOSED = 1e-9;  // |J v - b| relative to the speeds, without units
constexpr double ROUNDING = 2.3e-16;
constexpr double WEAK = 1e-2;  // pivots below which poses are closed to rounding
constexpr int MOST_POLISHES = 4;
constexpr double BRANCH_TIME = 0.01;  // [s] accuracy of positions over that of velocities, for encoders
constexpr double CROSSING = 10;  // pivots over the way to the nearest pose below which branches may cross
constexpr double OTHER_WAY =
    0.04;  // squared change of the velocity over the speed from which on they are tried

template <class T, int LDC>
struct NearestWork : Workspace<T, LDC> {
  T *q1, *q2, *d, *g, *v, *rate, *full, *slide, *expected, *before, *kept, *best_q, *best_v;
  unsigned char* part;  // (nc) of Part; kept (nc): values of phi at which rows of Part KEPT stay

  SARRUS_HD NearestWork(const Model<real<T>>& m, Arena& arena) : Workspace<T, LDC>(m, arena) {
    arena.take(m.nq, q1, q2, best_q);
    arena.take(this->ld, d, g, v, rate, full, slide, best_v);
    arena.take(m.nc, expected, before, kept);
    arena.take(m.nc, part);
  }
};

// Largest |x| without units
template <class T>
SARRUS_HD T largest_step(const Model<real<T>>& m, const T* x) {
  T worst = T(0);
  for (int j = 0; j < m.nv; ++j) {
    T size = abs_(x[j]) / m.unit[j];
    worst = size > worst || size != size ? size : worst;
  }
  return worst;
}

// Rows that take no part are zero: their pivots vanish. Rows for velocities have none in `positions`.
template <class T, int LDC>
SARRUS_HD void leave_out_rows(const Model<real<T>>& m, bool positions, NearestWork<T, LDC>& w) {
  for (int r = 0; r < m.nc; ++r)
    if (w.part[r] == LEFT_OUT || (positions && !m.row_holonomic[r])) {
      fill(w.rows.J + r * w.ld, w.ld);
      w.rows.phi[r] = w.rows.b[r] = T(0);
    } else if (w.part[r] == KEPT) {
      w.rows.phi[r] -= w.kept[r];
    }
}

// Rows with pivots below tol are left to others.
template <class T, int LDC>
SARRUS_FN Projected factorize_above(const Model<real<T>>& m, const real<T>& tol, NearestWork<T, LDC>& w) {
  Model<real<T>> coarse = m;
  coarse.rank_tol = &tol;
  factorize_rows(coarse, w);
  if (w.factor.spd) return PROJECTED;
  T sum = sum_of<T>(m.nc * w.ld, [&](int k) { return w.rows.J[k] * real<T>(0); });
  return sum == 0 ? NO_INERTIA_AT : UNDEFINED;
}

// x = w.a of (2), with g times `share`
template <class T, int LDC>
SARRUS_FN void nearest_step(const Model<real<T>>& m, real<T> share, NearestWork<T, LDC>& w) {
  negate(w.extra, w.rows.phi, m.nc);
  fill(w.rhs, m.nv);
  if (share != 0) set_scaled(w.rhs, -share, w.g, m.nv);
  solve_rows(m, w.ld, w.factor, w.extra, static_cast<const T*>(nullptr), w.y);
  solve_free(m, w.ld, w.factor, w.rhs, w.y, w.a);
}

// Residual at which rounding ends the iteration: what is added up in phi is as large as q.
template <class T, int LDC>
SARRUS_HD T closing_floor(const Model<real<T>>& m, const NearestWork<T, LDC>& w) {
  T size = largest_of(m.nq, [&](int k) { return abs_(w.q1[k]); });
  T entry = largest_of(m.nc, [&](int r) {
    return largest_of(m.nv, [&](int j) { return abs_(w.rows.J[r * w.ld + j]) / m.row_unit[r]; });
  });
  T floor = real<T>(ROUNDING) * size * entry;
  return larger(floor, T(real<T>(CLOSED)));
}

// Keeps phi at q1 and what the linear model says about its change along w.a; returns the largest change in
// units of the rows
template <class T, int LDC>
SARRUS_HD T expect_change(const Model<real<T>>& m, NearestWork<T, LDC>& w) {
  copy(w.before, w.rows.phi, m.nc);
  for (int k = 0; k < m.nc; ++k) w.expected[k] = dot(w.rows.J + k * w.ld, w.a, w.ld);
  return largest_of(m.nc, [&](int k) { return abs_(w.expected[k]) / m.row_unit[k]; });
}

// The longest step along w.slide, of the given size, for which the linear model of phi holds: q1 <- its end,
// r <- the residual there
template <class T, int LDC, class Rows>
SARRUS_FN Projected flow_step(const Model<real<T>>& m, const T& size, Rows rows, NearestWork<T, LDC>& w,
                              T& r) {
  real<T> step = size > real<T>(LONGEST_FLOW) ? real<T>(LONGEST_FLOW) / size : real<T>(1);
  for (; !(step < real<T>(SHORTEST_FLOW)); step *= real<T>(0.5)) {
    set_scaled(w.rhs, step, w.slide, m.nv);
    integrate(m, w.q1, w.rhs, w.q2);
    rows(w.q2);
    T now = position_residual(m, w);
    bool rounded = r <= real<T>(CLOSED_ENOUGH) && now > real<T>(0.5) * r;
    if (rounded) {
      rows(w.q1);
      return PROJECTED;
    }
    for (int k = 0; k < m.nc; ++k) w.extra[k] = w.rows.phi[k] - w.before[k] - step * w.expected[k];
    normal_step(m, w.extra, w);
    if (!(largest_step(m, w.a) <= real<T>(LINEAR_ENOUGH) * step * size)) continue;
    r = now;
    copy(w.q1, w.q2, m.nq);
    return GOES_ON;
  }
  return NOT_CLOSED;
}

// Closes the rows from q1 along the Newton flow. Below the residual `nearly`, rows with pivots below it wait.
// rows(q) evaluates them; w.M holds the metric.
template <class T, int LDC, class Rows>
SARRUS_FN Projected close_along_flow(const Model<real<T>>& m, real<T> nearly, Rows rows,
                                     NearestWork<T, LDC>& w) {
  real<T> finest = m.rank_tol[0], part = 1;
  rows(w.q1);
  T r = position_residual(m, w);
  for (int i = 0; i < MOST_FLOW_STEPS; ++i) {
    if (!(r < real<T>(1e300))) return UNDEFINED;
    if (r <= closing_floor(m, w)) return PROJECTED;
    real<T> tol = larger(finest, r < nearly ? part * r : finest);
    if (Projected bad = factorize_above(m, tol, w)) return bad;
    nearest_step(m, real<T>(0), w);
    T size = largest_step(m, w.a);
    if (size != size) return UNDEFINED;
    if (expect_change(m, w) < real<T>(0.3) * r) {  // the rows that are open belong to the small pivots
      if (r <= real<T>(CLOSED_ENOUGH)) return PROJECTED;
      if (tol <= finest) return NOT_CLOSED;
      part *= real<T>(0.1);
      continue;
    }
    part = 1;
    copy(w.slide, w.a, w.ld);
    Projected found = flow_step(m, size, rows, w, r);
    if (found != GOES_ON) return found;
  }
  return NOT_CLOSED;
}

// The same where that failed because of redundant rows: their number is known when the loops are closed.
template <class T, int LDC, class Rows>
SARRUS_FN Projected close_redundant(const Model<real<T>>& m, const T* q, Rows rows, NearestWork<T, LDC>& w) {
  copy(w.q1, q, m.nq);
  rows(w.q1);
  if (factorize_above(m, m.rank_tol[0], w)) return NOT_CLOSED;
  int open_rank = w.factor.rank_rows;
  if (close_along_flow(m, real<T>(FAR_OPEN), rows, w)) return NOT_CLOSED;
  if (factorize_above(m, m.rank_tol[0], w)) return NOT_CLOSED;
  return w.factor.rank_rows < open_rank ? PROJECTED : NOT_CLOSED;
}

// w.g = T(d)^-T M d with d = difference(q, q1)
template <class T, int LDC>
SARRUS_FN void metric_gradient(const Model<real<T>>& m, const T* q, NearestWork<T, LDC>& w) {
  fill(w.d, w.ld);
  difference(m, q, w.q1, w.d);
  for (int i = 0; i < m.nv; ++i) w.g[i] = dot(w.M + i * w.ld, w.d, w.ld);
  if (m.nq == m.nv) return;
  copy(w.rhs, w.g, m.nv);
  for (int j = 0; j < m.nv; ++j) {
    fill(w.v, m.nv);
    w.v[j] = T(1);
    increment_rate(m, w.d, w.v, w.rate);
    w.g[j] = sum_of<T>(m.nv, [&](int i) { return w.rate[i] * w.rhs[i]; });
  }
}

// Length of the next slide, in units of the full step p = w.a: the second step size of [Barzilai1988] in
// the metric M, from the last slide x and the full step before it. The curvature of the constraints enters
// through the difference of the two steps only.
template <class T, int LDC>
SARRUS_HD real<T> slide_length(const Model<real<T>>& m, NearestWork<T, LDC>& w) {
  T squared = T(0), bent = T(0);
  for (int i = 0; i < m.nv; ++i) {
    T Mx = dot(w.M + i * w.ld, w.slide, w.ld);
    squared += Mx * w.slide[i];
    bent += Mx * (w.full[i] - w.a[i]);
  }
  bool usable = bent > real<T>(0.05) * squared && bent < real<T>(20) * squared;
  return usable ? squared / bent : T(1);
}

// Slides q1, closed near q, to the pose nearest to q: (2)
template <class T, int LDC, class Rows>
SARRUS_FN Projected slide_to_nearest(const Model<real<T>>& m, const T* q, Rows rows, NearestWork<T, LDC>& w) {
  T last = T(real<T>(1e300));
  real<T> longest = real<T>(LONGEST_FLOW);
  bool straight = true;  // there is no slide before
  for (int i = 0; i < MOST_SLIDES; ++i) {
    metric_gradient(m, q, w);
    if (Projected bad = factorize_above(m, m.rank_tol[0], w)) return bad;
    nearest_step(m, real<T>(1), w);
    T size = largest_step(m, w.a);
    if (size != size) return UNDEFINED;
    bool closed = position_residual(m, w) <= closing_floor(m, w) * real<T>(4);
    bool rounded = size <= real<T>(NEAREST_ENOUGH) && size > last / 2;
    if (closed && (rounded || size <= real<T>(NEAREST))) return PROJECTED;
    real<T> share = straight ? real<T>(1) : slide_length(m, w);
    straight = false;
    if (share * size > longest) share = longest / size;
    copy(w.full, w.a, w.ld);
    nearest_step(m, share, w);
    if (!(largest_step(m, w.a) <= real<T>(LONGEST_SLIDE))) {
      if (Projected bad = close_along_flow(m, real<T>(NEARLY_CLOSED), rows, w)) return bad;
      longest *= real<T>(0.5), straight = true;
      continue;
    }
    copy(w.slide, w.a, w.ld);
    last = size;
    integrate(m, w.q1, w.a, w.q2);
    copy(w.q1, w.q2, m.nq);
    rows(w.q1);
  }
  return NOT_NEAREST;
}

// Closes w.q1 to rounding, as near singular poses the direction of the weakest row hangs on it
template <class T, int LDC, class Rows>
SARRUS_FN void close_to_rounding(const Model<real<T>>& m, Rows rows, NearestWork<T, LDC>& w) {
  rows(w.q1);
  T r = position_residual(m, w);
  for (int i = 0; i < MOST_POLISHES && r > real<T>(CLOSED_TIGHT); ++i) {
    factorize_rows(m, w);
    if (!w.factor.spd) return;
    negate(w.extra, w.rows.phi, m.nc);
    normal_step(m, w.extra, w);
    integrate(m, w.q1, w.a, w.q2);
    rows(w.q2);
    T now = position_residual(m, w);
    if (!(now < r)) return;
    r = now;
    copy(w.q1, w.q2, m.nq);
  }
}

// The least pivot of the rows that count
template <class T, int LDC>
SARRUS_HD T least_pivot_of(const NearestWork<T, LDC>& w) {
  T least = T(1);
  for (int k = 0; k < w.factor.rank_rows; ++k) least = smaller(abs_(pivot_of(w.factor, k, w.ld)), least);
  return least;
}

// w.v: the velocity nearest to v at w.q1
template <class T, int LDC, class Rows>
SARRUS_FN Projected nearest_velocity(const Model<real<T>>& m, const T* v, Rows rows, NearestWork<T, LDC>& w) {
  fill(w.v, w.ld);
  copy(w.v, v, m.nv);
  rows(w.q1, false);
  factorize_rows(m, w);
  if (!w.factor.spd) return NO_INERTIA_AT;
  velocity_residual(m, w.v, w);
  normal_step(m, w.extra, w);
  add(w.v, w.a, m.nv);
  T speed = largest_step(m, w.v) + largest_step(m, w.a);
  T right = largest_of(m.nc, [&](int r) { return abs_(w.rows.b[r]) / m.row_unit[r]; });
  T miss = velocity_residual(m, w.v, w);
  if (!(miss <= real<T>(VELOCITY_CLOSED) * (speed + right))) return miss != miss ? UNDEFINED : NO_VELOCITY;
  return PROJECTED;
}

// |q1 - q| and |w.v - v|, squared and without units
template <class T, int LDC>
SARRUS_FN void moved_by(const Model<real<T>>& m, const T* q, const T* v, NearestWork<T, LDC>& w, T& pose,
                        T& speed) {
  difference(m, q, w.q1, w.d);
  pose = speed = T(0);
  for (int j = 0; j < m.nv; ++j) {
    T dq = w.d[j] / m.unit[j], dv = (w.v[j] - v[j]) / m.unit[j];
    pose += dq * dq, speed += dv * dv;
  }
}

// Near a singular pose, where branches cross, the nearest pose may lie on another one than the velocity: then
// poses are tried that are nearest to q on the branches that (q, v) leads to in `way` of v from q. Of all the
// state with the least |dq|^2 + BRANCH_TIME^2 |dv|^2 is kept.   in: w.q1, w.v the first one
template <class T, int LDC, class Rows>
SARRUS_FN void choose_branch(const Model<real<T>>& m, const T* q, const T* v, Rows rows, const T& pivot,
                             NearestWork<T, LDC>& w) {
  auto positions = [&](const T* at) { rows(at, true); };
  const real<T> weight = real<T>(BRANCH_TIME) * real<T>(BRANCH_TIME);
  T pose, speed, fast = T(0);
  for (int j = 0; j < m.nv; ++j) fast += v[j] * v[j] / (m.unit[j] * m.unit[j]);
  moved_by(m, q, v, w, pose, speed);
  T reach = sqrt_(pose) + real<T>(BRANCH_TIME) * sqrt_(speed);
  bool crossing = fast > 0 && pivot < real<T>(CROSSING) * reach && speed > real<T>(OTHER_WAY) * fast;
  if (!crossing) return;
  T least = pose + weight * speed, way = real<T>(4) * (sqrt_(pose) + pivot) / sqrt_(fast);
  copy(w.best_q, w.q1, m.nq), copy(w.best_v, w.v, m.nv);
  for (int side = -1; side <= 1; side += 2) {
    set_scaled(w.rhs, way * real<T>(side), v, m.nv);
    integrate(m, q, w.rhs, w.q1);
    if (close_along_flow(m, real<T>(NEARLY_CLOSED), positions, w)) continue;
    if (slide_to_nearest(m, q, positions, w)) continue;
    close_to_rounding(m, positions, w);
    if (nearest_velocity(m, v, rows, w)) continue;
    moved_by(m, q, v, w, pose, speed);
    if (!(pose + weight * speed < least)) continue;
    least = pose + weight * speed;
    copy(w.best_q, w.q1, m.nq), copy(w.best_v, w.v, m.nv);
  }
  copy(w.q1, w.best_q, m.nq), copy(w.v, w.best_v, m.nv);
}

// out: w.q1, w.v, the state nearest to (q, v)   in: w.M the metric, w.part, w.kept; rows(q, positions)
// evaluates the rows at q and leaves out those that take no part
template <class T, int LDC, class Rows>
SARRUS_FN Projected nearest_state(const Model<real<T>>& m, const T* q, const T* v, Rows rows,
                                  NearestWork<T, LDC>& w) {
  auto positions = [&](const T* at) { rows(at, true); };
  copy(w.q1, q, m.nq);
  Projected found = close_along_flow(m, real<T>(NEARLY_CLOSED), positions, w);
  if (found == NOT_CLOSED) found = close_redundant(m, q, positions, w);
  if (found == PROJECTED) found = slide_to_nearest(m, q, positions, w);
  if (found == PROJECTED) found = nearest_velocity(m, v, rows, w);
  if (found != PROJECTED || w.factor.regular) return found;
  T pivot = least_pivot_of(w);
  if (pivot < real<T>(WEAK)) {
    close_to_rounding(m, positions, w);
    found = nearest_velocity(m, v, rows, w);
    if (found != PROJECTED) return found;
  }
  choose_branch(m, q, v, rows, pivot, w);
  return found;
}

SARRUS_END
