// Derivatives of constrained dynamics one direction at a time, with dual numbers: the oracle of the
// recursive derivatives and the method "dual" of linearize. Rank and pivots are those of the value.
#pragma once

#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

// Where derivatives go, all row by row: of a (nv), lam (nc) and of J v - b (nc) with respect to tangent
// increments of q, to v and to tau. Any pointer but da_dq, da_dv may be null; without dlam_dq there are no
// others of lam.
template <class T>
struct Derivatives {
  T *da_dq, *da_dv, *da_dtau;        // (nv, nv)
  T *dlam_dq, *dlam_dv, *dlam_dtau;  // (nc, nv)
  T* dJv_dq;                         // (nc, nv)
};

template <class T, int LDC>
struct Directional {
  using D = Dual<T>;
  Workspace<D, LDC> w;
  D *q, *q_moved, *v, *zero, *tau, *drive, *user, *lam;

  SARRUS_HD Directional(const Model<real<T>>& m, Arena& arena) : w(m, arena) {
    arena.take(m.nq, q, q_moved);
    arena.take(m.nv, v, zero, tau);
    arena.take(m.nc, lam);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
  }
};

// Directions of one kind: 0 for q, 1 for v, 2 for tau.
template <class T, int LDC>
SARRUS_FN void along_directions(const Model<real<T>>& m, int kind, int rank, T* da, T* dlam, T* dJv,
                                Directional<T, LDC>& d) {
  using D = Dual<T>;
  for (int k = 0; k < m.nv; ++k) {
    D* bumped = kind == 0 ? d.zero : kind == 1 ? d.v : d.tau;
    bumped[k].b = T(1);
    integrate(m, d.q, d.zero, d.q_moved);
    State<D> s{d.q_moved, d.v, d.drive, d.user};
    evaluate(m, s, d.w);
    prepare(m, s, rank, static_cast<Tangent<D, LDC>*>(nullptr), d.w);
    accelerate(m, d.tau, d.w);
    for (int i = 0; i < m.nv; ++i) da[i * m.nv + k] = d.w.a[i].b;
    if (dlam) {
      multipliers(m, d.w, d.lam);
      for (int r = 0; r < m.nc; ++r) dlam[r * m.nv + k] = d.lam[r].b;
    }
    if (dJv)
      for (int r = 0; r < m.nc; ++r) {
        D sum = -d.w.rows.b[r];
        sum = plus_products(sum, d.w.rows.J + r * d.w.ld, d.v, m.nv);
        dJv[r * m.nv + k] = sum.b;
      }
    bumped[k].b = T(0);
  }
}

// in: state, and the rank of J there
template <class T, int LDC>
SARRUS_FN void differentiate_by_duals(const Model<real<T>>& m, const State<T>& s, const T* tau, int rank,
                                      const Derivatives<T>& out, Directional<T, LDC>& d) {
  using D = Dual<T>;
  copy(d.q, s.q, m.nq);
  for (int i = 0; i < m.nv; ++i) d.v[i] = D(s.v[i]), d.tau[i] = D(tau[i]), d.zero[i] = D(T(0));
  copy(d.drive, s.drive, 3 * m.nd);
  copy(d.user, s.user, m.n_user_rows * (3 + m.nv));
  along_directions(m, 0, rank, out.da_dq, out.dlam_dq, out.dJv_dq, d);
  along_directions(m, 1, rank, out.da_dv, out.dlam_dv, static_cast<T*>(nullptr), d);
  if (out.da_dtau) along_directions(m, 2, rank, out.da_dtau, out.dlam_dtau, static_cast<T*>(nullptr), d);
}

SARRUS_END
