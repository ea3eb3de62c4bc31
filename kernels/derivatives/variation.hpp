// Derivatives of everything that a motion consists of, along one direction in which the numbers of the model,
// the state and the applied force change together: what derivatives by a parameter of a description need.
// Dual numbers go through the same functions as the motion itself; rank and pivots are those of the value.
#pragma once

#include "algebra/model_dual.hpp"
#include "solve/forward_dynamics.hpp"
#include "tree/body_frames.hpp"
#include "tree/manifold.hpp"

SARRUS_BEGIN

// Numbers of one state and how they change along the direction.
struct Direction {
  const double *q, *v, *tau, *drive, *user;
  const double *dq, *dv, *dtau;  // (nv): tangent increments of q, and changes of v and tau
};

// What is differentiated: the rows only, accelerations too, or everything.
enum class Varied : int { ROWS, ACCELERATION, ALL };

// Where derivatives go: of phi and of J v - b (nc), then a (nv), then lam (nc), energy (2: kinetic,
// potential), q (nq) itself, of bodies R (nb, 9), p (nb, 3), V and A (nb, 6), wrenches of unit multipliers
// (nc, 6) and their points (ne, 3), wrenches of forces between bodies (nf, 6) and their points (nf, 3).
struct Variations {
  double *phi, *slip, *a;
  double *lam, *energy, *q, *R, *p, *V, *A, *W, *W_at, *F, *F_at;
  Varied wanted;
};

struct VariationWork {
  using D = ModelDual;
  Workspace<D, 0> w;
  D *q, *q0, *v, *step, *tau, *drive, *user, *lam, *room;

  SARRUS_HD VariationWork(const Model<D>& m, Arena& arena) : w(m, arena) {
    arena.take(m.nq, q, q0);
    arena.take(m.nv, v, step, tau);
    arena.take(m.nc, lam);
    arena.take(3 * m.nd, drive);
    arena.take(m.n_user_rows * (3 + m.nv), user);
    arena.take(6 * (m.nc + m.ne + m.nf + m.nb + 4), room);
  }
};

SARRUS_HD void store_slopes(const ModelDual* x, int n, double* out) {
  for (int i = 0; i < n; ++i) out[i] = x[i].b;
}

// out.R .. out.F_at   in: w.tree with the accelerations of the bodies
SARRUS_FN void vary_bodies(const Model<ModelDual>& m, const Variations& out, VariationWork& r) {
  for (int b = 0; b < m.nb; ++b) {
    ModelDual *R = r.room, *p = R + 9, *V = p + 3, *A = V + 6;
    body_pose(m, b, r.w.tree, R, p);
    body_motion(m, b, r.w.tree, V, A);
    store_slopes(R, 9, out.R + 9 * b), store_slopes(p, 3, out.p + 3 * b);
    store_slopes(V, 6, out.V + 6 * b), store_slopes(A, 6, out.A + 6 * b);
  }
  fill(r.room, 6 * m.nc);
  ModelDual at[3];
  for (int e = 0; e < m.ne; ++e) {
    element_wrenches(m, e, r.w.tree, r.room + 6 * m.el_row[e], at);
    store_slopes(at, 3, out.W_at + 3 * e);
  }
  store_slopes(r.room, 6 * m.nc, out.W);
  for (int f = 0; f < m.nf; ++f) {
    force_wrench(m, f, r.w.tree, r.room, at);
    store_slopes(r.room, 6, out.F + 6 * f), store_slopes(at, 3, out.F_at + 3 * f);
  }
}

// in: rank of J at the state
SARRUS_FN void vary(const Model<ModelDual>& m, const Direction& s, int rank, const Variations& out,
                    VariationWork& r) {
  using D = ModelDual;
  copy(r.q0, s.q, m.nq);
  for (int i = 0; i < m.nv; ++i)
    r.step[i] = D(0, s.dq[i]), r.v[i] = D(s.v[i], s.dv[i]), r.tau[i] = D(s.tau[i], s.dtau[i]);
  copy(r.drive, s.drive, 3 * m.nd);
  copy(r.user, s.user, m.n_user_rows * (3 + m.nv));
  integrate(m, r.q0, r.step, r.q);
  State<D> x{r.q, r.v, r.drive, r.user};
  Workspace<D, 0>& w = r.w;
  evaluate(m, x, w);
  store_slopes(w.rows.phi, m.nc, out.phi);
  for (int k = 0; k < m.nc; ++k) {
    D sum = -w.rows.b[k];
    sum = plus_products(sum, w.rows.J + k * w.ld, r.v, m.nv);
    out.slip[k] = sum.b;
  }
  if (out.wanted == Varied::ROWS) return;
  prepare(m, x, rank, static_cast<Tangent<D, 0>*>(nullptr), w);
  accelerate(m, r.tau, w);
  store_slopes(w.a, m.nv, out.a);
  if (out.wanted == Varied::ACCELERATION) return;
  multipliers(m, w, r.lam);
  store_slopes(r.lam, m.nc, out.lam), store_slopes(r.q, m.nq, out.q);
  D both[2];
  energy(m, r.q, r.v, w.tree, both);
  store_slopes(both, 2, out.energy);
  accelerate_tree(m, r.v, w.a, w.tree);
  vary_bodies(m, out, r);
}

SARRUS_END
