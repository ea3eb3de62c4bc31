// Linear model of a constrained motion in independent coordinates y_q = dq[positions], y_v = dv[velocities].
//
//   [dq; dv] = T [y_q; y_v],    T = [K 0; L K_v]                          [Spencer2004] eq. (2.40)   (1)
//   d(dq)/dt = dv - ad_v dq,    d(dv)/dt = a_q dq + a_v dv + a_tau dtau   twists do not commute     (2)
//
// A and B are the rows of (2) with (1) that belong to the independent coordinates. Rows may depend on each
// other.
#pragma once

#include "derivatives/dynamics_derivatives.hpp"
#include "solve/factor/independent_coordinates.hpp"
#include "solve/factor/tangent_bases.hpp"
#include "solve/search/projection.hpp"
#include "solve/search/rank_loss.hpp"

SARRUS_BEGIN

template <class T, int LDC>
struct LinearWork {
  Recursive<T, LDC> r;
  ChoiceRoom<T> choice;
  Pivoted<T> holonomic;  // rows that restrict positions
  SingularValues<T> d;   // where rows depend on each other
  RankLossRoom<T> loss;
  T *da, *dJv;                  // (3, nv, nv), (nc, nv)
  T *N_q, *N_v;                 // (nv, freedoms), orthonormal without units
  T *K, *L, *K_v;               // (nv, freedoms) of (1)
  T *lifted, *rate;             // (2 ld, wide), (nv, wide): T of (1) and d(dv)/dt, padded
  T *x, *y, *g;                 // (ld), (ld), (nc)
  unsigned char* preferred;     // (nv)
  int *positions, *velocities;  // (nv)
  int n_q, n_v;                 // freedoms
  bool same;                    // every row restricts positions: N_q is N_v
  bool whole;                   // no rows count and nothing is given: the coordinates are all, T = 1

  SARRUS_HD LinearWork(const Model<real<T>>& m, Arena& arena) : r(m, arena) {
    int nv = m.nv;
    choice.bind(arena, nv);
    holonomic.bind(arena, m.nc, nv);
    d.bind(arena, m.nc, nv);
    loss.bind(arena, m);
    arena.take(3 * nv * nv, da);
    arena.take(m.nc * nv, dJv);
    arena.take(nv * nv, N_q, N_v, K, L, K_v);
    arena.take(2 * r.w.ld * r.wide, lifted);
    arena.take(nv * r.wide, rate);
    arena.take(r.w.ld, x, y);
    arena.take(m.nc, g);
    arena.take(nv, preferred, positions, velocities);
  }
};

// N_v, N_q   in: the factorization of J in w.r
template <class T, int LDC>
SARRUS_FN void tangent_bases(const Model<real<T>>& m, LinearWork<T, LDC>& w) {
  auto ld = w.r.w.ld;
  w.n_q = w.n_v = velocity_directions(m, ld, w.r.w.factor, w.x, w.N_v);
  w.same = all_holonomic(m);
  if (!w.same) w.n_q = position_directions(m, ld, w.r.w.rows.J, w.holonomic, w.x, w.N_q);
  for (int i = 0; w.same && i < m.nv * w.n_v; ++i) w.N_q[i] = w.N_v[i];
}

// w.velocities: those of w.positions, and others where rows restrict velocities only
template <class T, int LDC>
SARRUS_HD bool choose_velocities(const Model<real<T>>& m, LinearWork<T, LDC>& w) {
  if (w.same) {
    copy(w.velocities, w.positions, w.n_q);
    return true;
  }
  fill(w.preferred, m.nv);
  for (int i = 0; i < w.n_q; ++i) w.preferred[w.positions[i]] = 1;
  return choose(w.N_v, m.nv, w.n_v, w.preferred, w.velocities, w.choice);
}

// w.positions, w.velocities where they are not given; K and K_v without units. False where they do not
// determine the motion.
template <class T, int LDC>
SARRUS_FN bool choose_coordinates(const Model<real<T>>& m, bool positions, bool velocities,
                                  LinearWork<T, LDC>& w) {
  w.whole = w.n_v == m.nv && !positions && !velocities;
  if (w.whole) {
    for (int i = 0; i < m.nv; ++i) w.positions[i] = w.velocities[i] = i;
    return true;
  }
  const unsigned char* none = nullptr;
  bool chosen = positions || choose(w.N_q, m.nv, w.n_q, none, w.positions, w.choice);
  if (chosen && !velocities) chosen = choose_velocities(m, w);
  if (!chosen) return false;
  return determine(w.N_q, m.nv, w.n_q, w.positions, w.choice.lu, w.K) &&
         determine(w.N_v, m.nv, w.n_v, w.velocities, w.choice.lu, w.K_v);
}

// K, K_v with units; L   in: K, K_v without
template <class T, int LDC>
SARRUS_FN void lift(const Model<real<T>>& m, LinearWork<T, LDC>& w) {
  int nv = m.nv;
  if (w.whole) return;
  for (int j = 0; j < nv; ++j) {
    for (int c = 0; c < w.n_q; ++c) w.K[j * w.n_q + c] *= m.unit[j] / m.unit[w.positions[c]];
    for (int c = 0; c < w.n_v; ++c) w.K_v[j * w.n_v + c] *= m.unit[j] / m.unit[w.velocities[c]];
  }
  for (int c = 0; c < w.n_q; ++c) {
    T size = T(0);
    for (int r = 0; r < m.nc; ++r) {
      w.g[r] = T(0);
      for (int j = 0; j < nv; ++j) w.g[r] -= w.dJv[r * nv + j] * w.K[j * w.n_q + c];
      size += abs_(w.g[r]);
    }
    fill(w.x, w.r.w.ld);
    if (size != 0) smallest(m, w.r.w.ld, w.r.w.factor, w.g, w.y, w.x);
    for (int j = 0; j < nv; ++j) {
      T s = w.x[j];
      for (int k = 0; size != 0 && k < w.n_v; ++k) s -= w.K_v[j * w.n_v + k] * w.x[w.velocities[k]];
      w.L[j * w.n_q + c] = s;
    }
  }
}

// x (nv) <- ad_v x: zero except at balls and free bodies
template <class T>
SARRUS_FN void bracket(const Model<real<T>>& m, const T* v, T* x) {
  for (int i = 1; i < m.nn; ++i) {
    int at = m.iv[i], n = joint_nv(m.joint[i]);
    if (m.joint[i] == BALL || m.joint[i] == FREE) {
      auto angular = [&](const T* from) { return Vec3<T>{from[n - 3], from[n - 2], from[n - 1]}; };
      auto linear = [&](const T* from) { return n == 6 ? Vec3<T>{from[0], from[1], from[2]} : zero3<T>(); };
      Spatial<T> found = cross_motion(Spatial<T>{linear(v + at), angular(v + at)},
                                      Spatial<T>{linear(x + at), angular(x + at)});
      for (int c = 0; c < n; ++c) x[at + c] = entry(found, 6 - n + c);
    } else {
      fill(x + at, n);
    }
  }
}

// out: A (nx, nx), B (nx, n_inputs), lift (2 nv, nx), nx = n_q + n_v
template <class T>
struct LinearModel {
  T *A, *B, *lift;
  const int* inputs;
  int n_inputs;
};

// w.lifted: T of (1), of stride `wide`
template <class T, int LDC>
SARRUS_FN void pad_lift(const Model<real<T>>& m, int wide, LinearWork<T, LDC>& w) {
  int ld = w.r.w.ld;
  fill(w.lifted, 2 * ld * wide);
  if (w.whole) {
    for (int j = 0; j < m.nv; ++j) w.lifted[j * wide + j] = w.lifted[(ld + j) * wide + m.nv + j] = T(1);
    return;
  }
  for (int j = 0; j < m.nv; ++j) {
    T *dq = w.lifted + j * wide, *dv = w.lifted + (ld + j) * wide;
    for (int c = 0; c < w.n_q; ++c) dq[c] = w.K[j * w.n_q + c], dv[c] = w.L[j * w.n_q + c];
    copy(dv + w.n_q, w.K_v + j * w.n_v, w.n_v);
  }
}

// w.rate = d(dv)/dt of the directions in w.lifted, by columns of w.r; r.answer is room
template <class T, int LDC>
SARRUS_FN void rate_by_columns(const Model<real<T>>& m, int wide, LinearWork<T, LDC>& w) {
  Recursive<T, LDC>& r = w.r;
  Columns<T>& c = r.columns;
  product(Coefficients<T>{r.Eq, r.wide, 1}, w.lifted, wide, m.nv + m.nc, 2 * r.w.ld, wide, r.answer, wide);
  for (int first = 0; first < wide; first += c.n) {
    int count = wide - first < c.n ? wide - first : c.n;
    fill(c.f, m.nv * c.n);
    fill(c.g, m.nc * c.n);
    for (int j = 0; j < m.nv; ++j) copy(c.f + j * c.n, r.answer + j * wide + first, count);
    for (int k = 0; k < m.nc; ++k) copy(c.g + k * c.n, r.answer + (m.nv + k) * wide + first, count);
    solve_columns(m, r.w.ld, r.w.factor, r.w.M, false, c);
    for (int j = 0; j < m.nv; ++j) scaled(w.rate + j * wide + first, T(-1), c.a + j * c.n, count);
  }
}

// w.rate = d(dv)/dt of the directions in w.lifted   in: derivatives in w.r
template <class T, int LDC>
SARRUS_FN void rate_of_directions(const Model<real<T>>& m, int wide, LinearWork<T, LDC>& w) {
  int nv = m.nv, ld = w.r.w.ld;
  if constexpr (Factor<T>::template maybe_sparse<Stride<LDC>>)
    if (w.r.w.factor.sparse) return rate_by_columns(m, wide, w);
  if (!w.whole)
    product(Coefficients<T>{w.r.answer, w.r.wide, 1}, w.lifted, wide, nv, 2 * ld, wide, w.rate, wide);
  for (int j = 0; w.whole && j < nv; ++j)
    for (int c = 0; c < nv; ++c) {
      w.rate[j * wide + c] = w.r.answer[j * w.r.wide + c];
      w.rate[j * wide + nv + c] = w.r.answer[j * w.r.wide + ld + c];
    }
}

// The rows of B that belong to velocities: of da/dtau, which is symmetric
template <class T, int LDC>
SARRUS_FN void input_rows(const Model<real<T>>& m, LinearWork<T, LDC>& w, const LinearModel<T>& out) {
  if constexpr (Factor<T>::template maybe_sparse<Stride<LDC>>)
    if (w.r.w.factor.sparse) {
      const Columns<T>& columns = w.r.columns;
      for (int first = 0; first < w.n_v; first += columns.n) {
        int count = w.n_v - first < columns.n ? w.n_v - first : columns.n;
        respond_to_forces(m, w.velocities + first, count, false, w.r);
        for (int i = 0; i < count; ++i)
          for (int c = 0; c < out.n_inputs; ++c)
            out.B[(w.n_q + first + i) * out.n_inputs + c] = columns.a[out.inputs[c] * columns.n + i];
      }
      return;
    }
  for (int i = 0; i < w.n_v; ++i)
    for (int c = 0; c < out.n_inputs; ++c)
      out.B[(w.n_q + i) * out.n_inputs + c] = w.da[(2 * m.nv + w.velocities[i]) * m.nv + out.inputs[c]];
}

// in: w.K, w.L, w.K_v, derivatives in w.r
template <class T, int LDC>
SARRUS_FN void linear_model(const Model<real<T>>& m, const T* v, LinearWork<T, LDC>& w,
                            const LinearModel<T>& out) {
  int nv = m.nv, nx = w.n_q + w.n_v, ld = w.r.w.ld, wide = (nx + LANES - 1) / LANES * LANES;
  pad_lift(m, wide, w);
  rate_of_directions(m, wide, w);
  const T *dq = w.lifted, *dv = w.lifted + ld * wide;
  for (int j = 0; j < nv; ++j)
    for (int c = 0; c < nx; ++c) {
      out.lift[j * nx + c] = dq[j * wide + c];
      out.lift[(nv + j) * nx + c] = dv[j * wide + c];
    }
  for (int i = 0; i < w.n_q; ++i) copy(out.A + i * nx, dv + w.positions[i] * wide, nx);
  for (int c = 0; m.nq != nv && c < w.n_q; ++c) {
    for (int j = 0; j < nv; ++j) w.x[j] = dq[j * wide + c];
    bracket(m, v, w.x);
    for (int i = 0; i < w.n_q; ++i) out.A[i * nx + c] -= w.x[w.positions[i]];
  }
  fill(out.B, w.n_q * out.n_inputs);
  for (int i = 0; i < w.n_v; ++i) {
    int row = w.velocities[i], to = w.n_q + i;
    copy(out.A + to * nx, w.rate + row * wide, nx);
  }
  input_rows(m, w, out);
}

SARRUS_END
