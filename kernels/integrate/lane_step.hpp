// Runge-Kutta steps of several copies at once, one in each lane of a pack, far from singular poses.
//
// The arithmetic is that of fixed steps (integrate/step.hpp) where no singular pose is near. A lane in which
// one is near, or rank, convergence or digits need a decision of its own, is reported and keeps its state:
// its step is then taken by itself. What is decided for a lane depends on this lane alone. Lanes that take no
// part are filled with the numbers of one that does: lanes of different rank would change the order of sums.
#pragma once

#include "algebra/pack.hpp"
#include "integrate/project_step.hpp"
#include "integrate/singular/near_miss.hpp"

SARRUS_BEGIN

constexpr int LANE_NEWTON_STEPS = 6;

template <class T, int LDC>
struct LaneStepper {
  const Model<real<T>>& m;
  const Tableau& tab;
  Workspace<T, LDC> w;
  T *q, *v, *a, *tau;                  // states, their accelerations, applied forces
  T *q1, *q2, *v1, *a1, *u, *ku, *kv;  // trial states and accelerations, increments, stage rates
  T* drive;                            // (stages + 1, nd, 3) at the times of the stages, and at the end
  T* direction;                        // (nv) of dry friction that the model itself leaves out; 0: none
  T pivot, pivot_before, drift, velocity_drift;  // of the states; the smallest pivots of J
  T pivot1;                                      // of the trial states
  int rank = 0;                                  // of J in all lanes
  T* offset;                                     // (nc) of phi, that the model itself leaves out
  bool slides = false;                           // some lane has a direction
  bool tested = false;  // steps are tested for near misses, integrate/singular/near_miss.hpp

  SARRUS_HD LaneStepper(const Model<real<T>>& model, const Tableau& tableau, Arena& arena)
      : m(model), tab(tableau), w(m, arena) {
    arena.take(m.nq, q, q1, q2);
    arena.take(w.ld, v, a, v1, a1, u, tau, direction);
    arena.take(MAX_STAGES * w.ld, ku, kv);
    arena.take((MAX_STAGES + 1) * 3 * m.nd, drive);
    arena.take(m.nc, offset);
    tested = m.nc > 0 && !m.nd && all_holonomic(m);
  }
  SARRUS_HD State<T> state(const T* q_, const T* v_, int stage) const {
    return {q_, v_, drive + 3 * stage * m.nd, nullptr};
  }
};

// Largest |x| (nv) without units, lane by lane
template <class T>
SARRUS_HD T largest_in_lanes(const Model<real<T>>& m, const T* x) {
  T most = T(0);
  for (int j = 0; j < m.nv; ++j) most = larger(abs_(x[j]) / m.unit[j], most);
  return most;
}

// The smallest pivot of each lane
template <class T, int LDC>
SARRUS_HD T smallest_pivots(const Workspace<T, LDC>& w, int rank) {
  T least = T(1e300);
  for (int k = 0; k < rank; ++k) {
    T x = abs_(pivot_of(w.factor, k, w.ld));
    least = select(x < least, x, least);
  }
  return least;
}

// Whether nothing of a step decides about a singular pose or a near miss: projects_stages(), jumps() and the
// tolerance of project_position(). pivot, before: the smallest pivot now and a step ago; tested: near misses
// are looked for; moved: by how much positions move in the step, without units.
template <class T>
SARRUS_HD auto far_from_singular(const T& pivot, const T& before, int freedoms, bool tested, const T& moved) {
  double around = freedoms == 1 ? STEPS_CHARTED : STEPS_AROUND;
  T change = abs_(pivot - before);
  auto yes = pivot > T(NEAR_SINGULAR) && !(pivot < change * around);
  if (!tested) return yes;
  return yes && change < pivot * (1 - RESOLVED_FIXED) && pivot * (1 - RESOLVED) > moved * PIVOT_RATE;
}

// Lanes in which a step of size h begins far from singular poses and near misses
template <class T, int LDC, class H>
SARRUS_FN auto begins_regular(const LaneStepper<T, LDC>& s, const H& h) {
  const Model<real<T>>& m = s.m;
  if (m.nc == 0) return s.pivot > T(0.0);
  T moved = s.tested ? largest_in_lanes(m, s.v) * h : T(0.0);
  return far_from_singular(s.pivot, s.pivot_before, m.nv - s.rank, s.tested, moved);
}

// Lanes of w with `rank` pivots and a positive definite inertia that has lost no digits to cancellation
// (solve/forward_dynamics.hpp, cancels())
template <class T, int LDC>
SARRUS_FN auto usual_factors(const Model<real<T>>& m, const Workspace<T, LDC>& w, int rank) {
  T count = T(0), heavy = T(0), lightest = T(0);
  for (int k = 0; k < w.factor.rank; ++k) count += w.factor.alive[k];
  for (int j = 0; j < m.nv; ++j) heavy = larger(w.M[j * w.ld + j] * (m.unit[j] * m.unit[j]), heavy);
  auto yes = abs_(count - real<T>(rank)) < 0.5;
  for (int j = w.factor.first; j < m.nv; ++j) {
    yes = yes && w.factor.inv_d[j] > 0.0;
    lightest = larger(w.factor.inv_d[j], lightest);
  }
  return yes && lightest * heavy * LIGHT < 1.0;
}

// Whether all lanes have `rank` pivots: sums then go the same way in all of them.
template <class T, int LDC>
SARRUS_HD bool same_rank(const Workspace<T, LDC>& w, int rank) {
  return w.factor.first_rows == rank && w.factor.rank_rows == rank;
}

// h += dry friction in the directions of the lanes
template <class T, int LDC>
SARRUS_FN void add_dry_friction(LaneStepper<T, LDC>& s, const T* v) {
  for (int i = 0; s.slides && i < s.m.ncf; ++i)
    with_coordinate_force(s.m, i, [&](auto kind, const auto& c) {
      int j = s.m.cf_v[i];
      if constexpr (requires { kind.level(c, v[j]); }) s.w.h[j] += kind.level(c, v[j]) * s.direction[j];
    });
}

// s.a at the states, as the end of a step leaves it.
template <class T, int LDC>
SARRUS_FN void accelerate_states(LaneStepper<T, LDC>& s) {
  evaluate(s.m, s.state(s.q, s.v, 0), s.w);
  add_dry_friction(s, s.v);
  factorize_rows(s.m, s.w);
  accelerate(s.m, s.tau, s.w);
  copy(s.a, s.w.a, s.w.ld);
}

// s.w.a at a state, with the rank of the step; lanes in which it is usual
template <class T, int LDC>
SARRUS_FN auto accelerate_held(LaneStepper<T, LDC>& s, const State<T>& x) {
  evaluate(s.m, x, s.w);
  add_dry_friction(s, x.v);
  prepare(s.m, x, s.rank, static_cast<Tangent<T, LDC>*>(nullptr), s.w);
  accelerate(s.m, s.tau, s.w);
  return usual_factors(s.m, s.w, s.rank);
}

// q1, v1 after a step of size h from (q, v, a), not projected. accelerate_stage(x) finds s.w.a at a state.
template <class T, int LDC, class H, class Accelerate>
SARRUS_FN void lane_stages(LaneStepper<T, LDC>& s, const H& h, Accelerate accelerate_stage) {
  const Model<real<T>>& m = s.m;
  int ld = s.w.ld;
  copy(s.ku, s.v, ld);
  copy(s.kv, s.a, ld);
  for (int i = 1; i <= s.tab.stages; ++i) {
    fill(s.u, ld);
    copy(s.v1, s.v, ld);
    add_rates(s.tab, i, h, s.ku, ld, s.u);
    add_rates(s.tab, i, h, s.kv, ld, s.v1);
    integrate(m, s.q, s.u, s.q1);
    if (i == s.tab.stages) break;
    accelerate_stage(s.state(s.q1, s.v1, i));
    copy(s.kv + i * ld, s.w.a, ld);
    increment_rate(m, s.u, s.v1, s.ku + i * ld);
  }
}

// q1 onto phi = 0 with the factorization of the last stage; lanes that do not converge fast leave `fine`.
template <class T, int LDC, class Some>
SARRUS_FN void close_lanes(LaneStepper<T, LDC>& s, Some& fine) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  State<T> x = s.state(s.q1, s.v1, s.tab.stages);
  T last = T(1e300);
  for (int i = 0;; ++i) {
    place(m, s.q1, w.tree);
    constraints(m, x, w.tree, w.ld, w.rows);
    for (int r = 0; r < m.nc; ++r) w.rows.phi[r] -= s.offset[r];
    s.drift = position_residual(m, w);
    auto open = s.drift > T(CLOSED);
    fine = fine && !(open && s.drift > last * SLOW) && s.drift < T(1e300);
    open = open && fine;
    if (!any(open)) return;
    if (i == LANE_NEWTON_STEPS) {
      fine = fine && !open;
      return;
    }
    last = s.drift;
    negate(w.extra, w.rows.phi, m.nc);
    normal_step(m, w.extra, w);
    integrate(m, s.q1, w.a, s.q2);
    for (int j = 0; j < m.nq; ++j) s.q1[j] = select(open, s.q2[j], s.q1[j]);
  }
}

// (q1, v1) and its acceleration a1 under the forces tau after a step of size h, for lanes that remain in
// `fine`. False where some lane had another rank: without it, the step has to be taken again.
template <class T, int LDC, class Some>
SARRUS_FN bool lane_step(LaneStepper<T, LDC>& s, double h, Some& fine) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  bool same = true;
  lane_stages(s, h, [&](const State<T>& x) {
    fine = fine && accelerate_held(s, x);
    same = same && same_rank(w, s.rank);
  });
  if (!same) return false;
  if (m.nc > 0)
    close_lanes(s, fine);
  else
    place(m, s.q1, w.tree);
  weigh(m, w.tree, w.bodies.I);
  inertia_matrix(m, w.tree, w.bodies, w.ld, w.M);
  factorize_rows(m, w);
  fine = fine && usual_factors(m, w, s.rank);
  if (!same_rank(w, s.rank)) return false;
  s.pivot1 = smallest_pivots(w, s.rank);
  fine = fine && s.pivot1 > T(LOST_IN_PASSING);
  if (m.nc > 0) {
    velocity_residual(m, s.v1, w);
    normal_step(m, w.extra, w);
    add(s.v1, w.a, m.nv);
    s.velocity_drift = velocity_residual(m, s.v1, w);
  }
  return true;
}

// a1 at the trial states under the forces tau, with their factorization; lanes with finite numbers remain.
template <class T, int LDC, class Some>
SARRUS_FN void accelerate_lanes(LaneStepper<T, LDC>& s, Some& fine) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  State<T> x = s.state(s.q1, s.v1, s.tab.stages);
  move(m, x.v, w.tree);
  weigh(m, w.tree, w.bodies.I);
  bias(m, x.q, x.v, w.tree, w.bodies, w.h);
  add_dry_friction(s, x.v);
  constraints(m, x, w.tree, w.ld, w.rows);
  accelerate(m, s.tau, w);
  copy(s.a1, w.a, w.ld);
  T sum = sum_of<T>(m.nv, [&](int j) { return (w.a[j] + s.v1[j]) * 0.0; });
  fine = fine && !(sum < 0.0) && !(sum > 0.0) && sum < 1.0;
}

SARRUS_END
