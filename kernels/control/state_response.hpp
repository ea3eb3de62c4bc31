// The measured state of a step and its response to inputs, also where rows of J are nearly dependent.
//
// Near a singular pose the rank of J cannot be told at a measured state (control/rank_weights.hpp). With the
// singular values of J without units, J = U diag(s) V^T, the response is found for a definite rank k: J
// counts with its k strongest directions,
//
//   J_k = U_k diag(s_k) V_k^T,   v_k nearest to the measured v with J_k v_k = U_k U_k^T b                 (1)
//
// and the directions that are left out with their limit, solve/forward_dynamics.hpp (2), where the velocity
// tells them: it is measured well enough, has a smooth continuation there, and the limit rows are clearly
// independent. Before that the state is brought onto all rows to rounding: a pose that is off by e turns the
// weakest direction by e / s^2. Where the measured state may lie on another branch than the nearest one, weak
// directions fade out too, so that inputs do not jump from branch to branch.
#pragma once

#include "control/object_step.hpp"
#include "control/rank_weights.hpp"
#include "solve/factor/singular_values.hpp"

SARRUS_BEGIN

constexpr double CLEAR_LIMIT = 1e-3;   // pivots of limit rows fade out from ten times this on
constexpr double OUTSIDE_CONE = 0.05;  // |w^T gamma| over |v|^2 from which on a velocity has no continuation
constexpr double TURNS = 0.15, TURNED = 0.4;   // tan of the angle by which a weak direction turns
constexpr double SLIPS = 0.25, SLIPPED = 0.6;  // speed along a weak direction, over the speed
constexpr double COARSER = 1e3;                // in the ranks of outputs and levels where rows are lost
constexpr double TO_ROUNDING = 4e-16;          // gaps below this are rounding near singular poses too

template <class T>
struct RowDirections {
  SingularValues<T> d;                    // J without units
  T *V, *x, *along, *share, *row, *pose;  // (nv, known), one column (ld), (nc), (nc), (nv), (nq)
  int known;                              // singular values above rounding

  SARRUS_HD RowDirections(int nc, int nv, int nq, Arena& arena) {
    d.bind(arena, nc, nv);
    arena.take(nv * nv, V);
    arena.take(nv + nc + 2 * LANES, x);
    arena.take(nc, along, share);
    arena.take(nv, row);
    arena.take(nq, pose);
  }
};

// The least pivot of the rows that count
template <class T, int LDC>
SARRUS_HD T least_pivot_of(const ResponseWork<T, LDC>& r) {
  T least = T(1e300);
  for (int k = 0; k < r.factor.rank_rows; ++k) least = smaller(abs_(pivot_of(r.factor, k, r.ld)), least);
  return least;
}

// J' and gamma' of the rows that hold, along the motion
template <class T, int LDC>
SARRUS_FN void find_rates(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                          Arena arena, ControlWork<T, LDC>& w, DenseTerms<T>& d) {
  const Model<real<T>>& m = *s.model;
  int nv = m.nv, k = 0;
  T* gamma = w.rates + m.nc * nv;
  if (in.owner.rates) {
    in.owner.rates(in.owner.self, f.q, f.v, w.rates);
  } else {
    Tangent<T, LDC> tangent(m, arena);
    differentiate_rows(m, State<T>{f.q, f.v, in.drive, nullptr}, tangent);
    for (int i = 0; i < m.nc; ++i) {
      gamma[i] = tangent.rate_gamma(i);
      for (int j = 0; j < nv; ++j) w.rates[i * nv + j] = tangent.rate_J(i, j);
    }
  }
  for (int i = 0; i < m.nc; ++i) {
    if (in.rows && !in.rows[i]) continue;
    if (k != i) copy(w.rates + k * nv, w.rates + i * nv, nv), gamma[k] = gamma[i];
    ++k;
  }
  d.rate_J = w.rates, d.rate_gamma = gamma;
}

// Largest |w^T gamma| over the left null vectors w of J, without units
template <class T, int LDC>
SARRUS_FN T conflict_of(const DenseTerms<T>& d, ResponseWork<T, LDC>& r) {
  Factor<T>& f = r.factor;
  T worst = T(0);
  for (int i = 0; i < d.m.nc - f.rank_rows; ++i) {
    left_null(f, i, f.work);
    T size = T(0), sum = T(0);
    for (int k = 0; k < d.m.nc; ++k) {
      size += f.work[k] * f.work[k] * f.unit[k] * f.unit[k];
      sum += f.work[k] * d.gamma[row_at(f, k)];
    }
    worst = larger(T(abs_(sum) / sqrt_(size)), worst);
  }
  return worst;
}

// Limits of the lost rows, where the velocity tells them
template <class T, int LDC>
SARRUS_FN void add_told_limits(const ControlSetup<T>& s, const DenseTerms<T>& d, ControlFound<T>& f,
                               ResponseWork<T, LDC>& r) {
  Factor<T>& c = r.factor;
  T speed2 = sum_of<T>(d.m.nv, [&](int j) { return d.v[j] * d.v[j] / (d.m.unit[j] * d.m.unit[j]); });
  T conflict = conflict_of(d, r) / speed2, least = T(1e300);
  bool exact = s.angle == 0;
  add_limit_rows(d.m, d.v, real<T>(exact ? LIMIT_TOL : 1e300), real<T>(LIMIT_TOL), GivenRates<T>{d}, r);
  if (c.rank == c.rank_rows) return;  // rows that are always redundant
  for (int k = c.rank_rows; k < c.rank; ++k)
    least = smaller(abs_(c.Y[(d.m.nc + k - c.rank_rows) * r.ld + k]), least);
  f.lost = larger(c.rank - c.rank_rows, f.lost);
  T told = fade(T(sqrt_(speed2)), T(s.speed)) * fade(least, T(real<T>(CLEAR_LIMIT))) *
           (real<T>(1) - fade(conflict, T(real<T>(OUTSIDE_CONE))));
  if (exact || decide(told, DOUBT_LIMIT, f.ranks)) return;
  factorize_terms(d, r);
  complete(d.m, r.ld, c);
}

// The response of the terms in f; `doubtful`: whether its rank should be looked at first
template <class T, int LDC>
SARRUS_FN ControlStatus respond_to_step(const ControlSetup<T>& s, const ControlInput<T>& in,
                                        ControlFound<T>& f, Arena arena, ControlWork<T, LDC>& w,
                                        bool* doubtful) {
  T* row_unit;
  arena.take(s.model->nc, row_unit);
  DenseTerms<T> d = dense_terms(s, in, f, row_unit);
  if (in.rows && doubtful) d.v = nullptr;
  ResponseWork<T, LDC> r(d, arena);
  ResponseStatus status = factorize_terms(d, r);
  if (status == NO_INERTIA) return WITHOUT_INERTIA;
  if (doubtful) {
    *doubtful = s.angle > 0 && least_pivot_of(r) < real<T>(BEYOND_DOUBT) * f.ranks.tol;
    if (*doubtful) return STEPPED;
  }
  if (r.factor.rank_rows < f.nc) complete(d.m, r.ld, r.factor);
  if (status == RATES_NEEDED) {
    find_rates(s, in, f, arena, w, d);
    add_told_limits(s, d, f, r);
  }
  eliminate_inertia(r.factor, d.m.nv, r.ld);
  if (!r.factor.spd) return WITHOUT_INERTIA;
  find_response(d, f.response, r);
  copy(f.N, f.response.N, s.model->nv * f.response.dof);
  f.response.N = f.N;
  return STEPPED;
}

// Singular values of J   False: not a number
template <class T>
SARRUS_FN bool split_rows(const ControlSetup<T>& s, const T* row_unit, const ControlFound<T>& f,
                          RowDirections<T>& r) {
  int nv = s.model->nv;
  for (int i = 0; i < f.nc; ++i)
    for (int j = 0; j < nv; ++j) r.d.at(i, j) = f.J[i * nv + j] * s.model->unit[j] / row_unit[i];
  if (!decompose(r.d, f.nc, nv)) return false;
  r.known = r.d.rank(s.model->rank_tol[0]);
  right_vectors(r.d, 0, r.known, r.x, r.V);
  return true;
}

// What is said of the rows that are lost or about to be: singular values from `first` on
template <class T>
SARRUS_FN void note_lost_rows(const RowDirections<T>& r, int first, int kept, ControlFound<T>& f) {
  f.lost = r.known - kept;
  if (first == r.known) return;
  f.least_value = r.d.s[r.known - 1];
  for (int i = first; i < r.known; ++i)
    for (int k = 0; k < f.nc; ++k) {
      T share = abs_(r.d.LW[i * r.d.lr + k]) / r.d.s[i];
      T& most = f.lost_rows[row_at(r.d.p.f, k)];
      most = larger(share, most);
    }
}

// f.v by (1)
template <class T>
SARRUS_FN void keep_velocity(const ControlSetup<T>& s, const T* row_unit, const T* v, int rank,
                             ControlFound<T>& f, RowDirections<T>& r) {
  int nv = s.model->nv;
  for (int i = 0; i < f.nc; ++i) r.along[i] = (inner(f.J + i * nv, v, nv) - f.b[i]) / row_unit[i];
  copy(f.v, v, nv);
  for (int i = 0; i < rank; ++i) {
    T slip = along_left(r.d, i, r.along) / (r.d.s[i] * r.d.s[i]);
    for (int j = 0; j < nv; ++j) f.v[j] -= slip * r.V[j * r.known + i] * s.model->unit[j];
  }
}

// f.J <- J_k
template <class T>
SARRUS_FN void keep_directions(const ControlSetup<T>& s, const T* row_unit, int rank, ControlFound<T>& f,
                               const RowDirections<T>& r) {
  int nv = s.model->nv;
  for (int k = 0; k < f.nc; ++k) {
    int row = row_at(r.d.p.f, k);
    for (int j = 0; j < nv; ++j) {
      T sum = sum_of<T>(rank, [&](int i) { return r.d.LW[i * r.d.lr + k] * r.V[j * r.known + i]; });
      f.J[row * nv + j] = sum * row_unit[row] / s.model->unit[j];
    }
  }
}

// tan of the angle by which the weak direction i of J turns from the measured pose to the projected one, in
// the plane of what the rows that count leave free   in: f.J at the measured pose
template <class T>
SARRUS_FN T turned(const ControlSetup<T>& s, const T* row_unit, int i, const ControlFound<T>& f,
                   const RowDirections<T>& r) {
  int nv = s.model->nv;
  fill(r.row, nv);
  for (int k = 0; k < f.nc; ++k) {
    int row = row_at(r.d.p.f, k);
    T share = r.d.LW[i * r.d.lr + k] / (r.d.s[i] * row_unit[row]);
    for (int j = 0; j < nv; ++j) r.row[j] += share * f.J[row * nv + j] * s.model->unit[j];
  }
  T rest = inner(r.row, r.row, nv), along = T(0);
  for (int e = 0; e < r.known; ++e) {
    T part = sum_of<T>(nv, [&](int j) { return r.row[j] * r.V[j * r.known + e]; });
    rest -= part * part;
    if (e == i) along = abs_(part);
  }
  return sqrt_(larger(rest, T(0))) / larger(along, T(real<T>(1e-300)));
}

// Speed along the weak direction i, over the speed, both without units; speeds below 10 tol count as that
template <class T>
SARRUS_FN T slip_along(const ControlSetup<T>& s, const T* v, int i, const RowDirections<T>& r) {
  T along = T(0), squared = T(0);
  for (int j = 0; j < s.model->nv; ++j) {
    T bare = v[j] / s.model->unit[j];
    along += bare * r.V[j * r.known + i];
    squared += bare * bare;
  }
  T fast = sqrt_(squared) + real<T>(BAND) * s.speed;
  return fast > 0 ? T(abs_(along) / fast) : T(0);
}

// Shares with which the directions of J count. A weak one counts less where the measured state does not tell
// on which branch it lies: where it turns on the way to the projected pose, or the velocity is along it.
template <class T, int LDC>
SARRUS_FN void share_directions(const ControlSetup<T>& s, const ControlInput<T>& in, const T* row_unit,
                                ControlFound<T>& f, RowDirections<T>& r, ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  if (f.projected) {
    copy(r.pose, f.q, m.nq), copy(f.q, in.q, m.nq);
    evaluate_state(s, in, f, w);
    keep_active_rows(m, in.rows, f);
  }
  for (int i = 0; i < r.known; ++i) {
    r.share[i] = fade(r.d.s[i], f.ranks.tol);
    bool weak = f.projected && r.share[i] > 0 && r.d.s[i] < real<T>(BEYOND_DOUBT) * f.ranks.tol;
    if (weak) {
      r.share[i] *= real<T>(1) - ramp(turned(s, row_unit, i, f, r), T(real<T>(TURNS)), T(real<T>(TURNED)));
      r.share[i] *= real<T>(1) - ramp(slip_along(s, in.v, i, r), T(real<T>(SLIPS)), T(real<T>(SLIPPED)));
    }
    if (i > 0) r.share[i] = smaller(r.share[i - 1], r.share[i]);
  }
  if (f.projected) copy(f.q, r.pose, m.nq);
}

// The terms of f with as many directions of J as the rank that is chosen
template <class T, int LDC>
SARRUS_FN ControlStatus settle_rank(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                                    Arena arena, ControlWork<T, LDC>& w) {
  const Model<real<T>>& m = *s.model;
  T* row_unit;
  arena.take(m.nc, row_unit);
  dense_terms(s, in, f, row_unit);
  RowDirections<T> r(f.nc, m.nv, m.nq, arena);
  if (!split_rows(s, row_unit, f, r)) return NOT_FINITE;
  share_directions(s, in, row_unit, f, r, w);
  int before = f.ranks.count, rank = decide_count(r.share, r.known, DOUBT_ROWS, 0, f.ranks);
  note_lost_rows(r, f.ranks.count > before ? f.ranks.doubt[before].least : rank, rank, f);
  bool reduced = rank < r.known;
  if (reduced) keep_velocity(s, row_unit, in.v, rank, f, r);
  if (reduced || f.projected) {
    evaluate_state(s, in, f, w);
    keep_active_rows(m, in.rows, f);
    if (s.object.body >= 0) load_object(s, in, f, w);
  }
  if (reduced) keep_directions(s, row_unit, rank, f, r);
  return STEPPED;
}

// The measured state with its terms, projected where it is off the constraints by more than `tol`
template <class T, int LDC>
SARRUS_FN ControlStatus take_loaded_state(const ControlSetup<T>& s, const ControlInput<T>& in, real<T> tol,
                                          ControlFound<T>& f, ControlWork<T, LDC>& w) {
  ControlStatus status = take_state(s, in, tol, f, w);
  if (status == STEPPED && s.object.body >= 0) load_object(s, in, f, w);
  return status;
}

// The state, its terms and the response of accelerations to inputs
template <class T, int LDC>
SARRUS_FN ControlStatus find_response(const ControlSetup<T>& s, const ControlInput<T>& in, ControlFound<T>& f,
                                      Arena arena, ControlWork<T, LDC>& w) {
  f.lost = 0, f.least_value = T(0);
  f.ranks.tol = s.angle, f.ranks.given = in.ranks, f.ranks.given_count = in.ranks_given, f.ranks.count = 0;
  fill(f.lost_rows, s.model->nc);
  bool doubtful = false;
  ControlStatus status = take_loaded_state(s, in, real<T>(CONSISTENT), f, w);
  if (status == STEPPED) status = respond_to_step(s, in, f, arena, w, &doubtful);
  if (status != STEPPED || !doubtful) return status;
  if (!f.projected) status = take_loaded_state(s, in, real<T>(TO_ROUNDING), f, w);
  if (status == STEPPED) status = settle_rank(s, in, f, arena, w);
  if (status == STEPPED) status = respond_to_step(s, in, f, arena, w, static_cast<bool*>(nullptr));
  if (status == STEPPED && f.lost) f.ranks.tol *= real<T>(COARSER);
  return status;
}

SARRUS_END
