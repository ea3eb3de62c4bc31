// Batch loops over terms, constrained dynamics and their derivatives.
#pragma once

#include "../strides.hpp"
#include "derivatives/dynamics_derivatives.hpp"
#include "integrate/singular/pivots.hpp"
#include "solve/factor/least_pivot.hpp"
#include "solve/search/regular_state.hpp"
#include "tree_batches.hpp"

SARRUS_BEGIN
namespace {

template <int LD>
struct Dynamics : Workspace<double, LD> {
  Tangent<double, LD> d;

  Dynamics(const ModelD& m, Arena& arena) : Workspace<double, LD>(m, arena), d(m, arena) {
    if (m.sparse) this->factor.by_entries = BY_ENTRIES;
  }
};

void evaluate_rows(const ModelD& m, const State<double>& x, Dynamics<0>& w) {
  place(m, x.q, w.tree);
  move(m, x.v, w.tree);
  constraints(m, x, w.tree, w.ld, w.rows);
}

void store_rows(const ModelD& m, const Rows<double>& r, int ld, long i, const RowArrays& out) {
  for (int k = 0; k < m.nc; ++k) {
    out.phi[i * m.nc + k] = r.phi[k];
    out.b[i * m.nc + k] = r.b[k];
    out.gamma[i * m.nc + k] = r.gamma[k];
  }
  store_matrix(m, r.J, m.nc, ld, out.J + i * m.nc * m.nv);
}

void constraints_n(const ModelD& m, States s, RowArrays out) {
  each_state<Dynamics<0>>(m, s, [&](long i, auto& x, Dynamics<0>& w) {
    evaluate_rows(m, x, w);
    store_rows(m, w.rows, w.ld, i, out);
  });
}

// phi and J v - b, without J
void closure_n(const ModelD& m, States s, double* phi, double* speed) {
  struct Work {
    Tree<double> tree;
    Rows<double> rows;
    double* Jv;
    Work(const ModelD& model, Arena& arena) {
      tree.bind(arena, model);
      arena.take(model.nc, rows.phi, rows.b, rows.gamma, Jv);
    }
  };
  each_state<Work>(m, s, [&](long i, const State<double>& x, Work& w) {
    place(m, x.q, w.tree);
    move(m, x.v, w.tree);
    constraint_values(m, x, w.tree, w.rows, w.Jv);
    for (int k = 0; k < m.nc; ++k) {
      phi[i * m.nc + k] = w.rows.phi[k];
      speed[i * m.nc + k] = w.Jv[k] - w.rows.b[k];
    }
  });
}

void row_wrenches_n(const ModelD& m, States s, double* W, double* at) {
  each_placed(m, s, [&](long i, auto&, TreeWork& w) {
    fill(W + 6 * i * m.nc, 6 * m.nc);
    for (int e = 0; e < m.ne; ++e)
      element_wrenches(m, e, w.tree, W + 6 * (i * m.nc + m.el_row[e]), at + 3 * (i * m.ne + e));
  });
}

void force_wrenches_n(const ModelD& m, States s, double* W, double* at) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    move(m, x.v, w.tree);
    for (int f = 0; f < m.nf; ++f)
      force_wrench(m, f, w.tree, W + 6 * (i * m.nf + f), at + 3 * (i * m.nf + f));
  });
}

void formula_wrenches_n(const ModelD& m, States s, double* W, double* at) {
  each_placed(m, s, [&](long i, auto& x, TreeWork& w) {
    move(m, x.v, w.tree);
    for (int f = 0; f < m.nfm; ++f) {
      double *out = W + 6 * (i * m.nfm + f), *place = at + 3 * (i * m.nfm + f);
      fill(out, 6);
      fill(place, 3);
      if (m.fm_node[f] < 0) continue;
      Vec3<double> p = point_of(w.tree, m.fm_node[f], m.fm_p + 3 * f);
      Spatial<double> L = formula_wrench(m, f, x.q, x.v, w.tree, w.bodies.formulas);
      store(Spatial<double>{L.lin, L.ang - cross(p, L.lin)}, out);
      store(p + w.tree.O[0], place);
    }
  });
}

void row_rates_n(const ModelD& m, States s, double* rate_J, double* rate_gamma) {
  using Work = Tangent<double, 0>;
  each_state<Work>(m, s, [&](long i, const State<double>& x, Work& d) {
    differentiate_rows(m, x, d);
    for (long r = 0, at = i * m.nc; r < m.nc; ++r, ++at) {
      rate_gamma[at] = d.rate_gamma(r);
      for (int j = 0; j < m.nv; ++j) rate_J[at * m.nv + j] = d.rate_J(r, j);
    }
  });
}

void pivots_n(const ModelD& m, States s, int rank, double* least) {
  each_state<Dynamics<0>>(m, s, [&](long i, auto& x, Dynamics<0>& w) {
    evaluate_rows(m, x, w);
    if (least_pivot_pays(m, rank)) {
      least[i] = least_pivot(m, w.rows.J, w.ld, w.factor);
      return;
    }
    factorize(m, w.rows.J, static_cast<const double*>(nullptr), w.ld, rank, w.factor);
    least[i] = w.factor.rank_rows < rank ? 0 : smallest_pivot(w);
  });
}

void terms_n(const ModelD& m, States s, double* M, double* h, RowArrays out) {
  each_state<Dynamics<0>>(m, s, [&](long i, auto& x, Dynamics<0>& w) {
    evaluate(m, x, w);
    store_matrix(m, w.M, m.nv, w.ld, M + i * m.nv * m.nv);
    for (int k = 0; k < m.nv; ++k) h[i * m.nv + k] = w.h[k];
    store_rows(m, w.rows, w.ld, i, out);
  });
}

// status of a motion: 0, or 1 where the inertia of the free motion is not positive definite
int status_of(const Factor<double>& f) { return f.spd ? 0 : 1; }

// Whether the motion was found by the augmented inertia; its multipliers only where all rows are independent
template <class Work>
bool forward_regular(const ModelD& m, const State<double>& x, const double* tau, Work& w) {
  return evaluate_regular(m, x, w) && accelerate(m, tau, w);
}

void forward_n(const ModelD& m, States s, const double* tau, int rank, MotionArrays out) {
  sized(m, [&](auto ld) {
    using Work = Dynamics<decltype(ld)::width>;
    each_state<Work>(m, s, [&](long i, const State<double>& x, Work& w) {
      w.open_tree = may_be_open<double, decltype(ld)::width>(m);
      bool regular =
          rank < 0 && forward_regular(m, x, tau + i * m.nv, w) && (!out.lam || w.factor.rank_rows == m.nc);
      if (!regular) {
        w.by_entries = w.factor.regular = false;
        evaluate(m, x, w);
        prepare(m, x, rank, &w.d, w);
        accelerate(m, tau + i * m.nv, w);
        refine(m, w);
      }
      for (int k = 0; k < m.nv; ++k) out.a[i * m.nv + k] = w.a[k];
      out.rank[i] = w.factor.rank_rows;
      out.status[i] = status_of(w.factor);
      if (!out.lam) return;
      multipliers(m, w, out.lam + i * m.nc);
      uniqueness(m, w.factor, out.unique + i * m.nc);
      for (int k = 0; k < m.nv; ++k) out.force[i * m.nv + k] = w.force[k];
    });
  });
}

// lam (nc) of least norm in a motion with accelerations a (nv) under tau (nv)
template <class Work>
void motion_multipliers(const ModelD& m, const State<double>& x, const double* a, const double* tau, Work& w,
                        double* lam) {
  place(m, x.q, w.tree);
  move(m, x.v, w.tree);
  weigh(m, w.tree, w.bodies.I);
  bias(m, x.q, x.v, w.tree, w.bodies, w.h);
  subtract_user_forces(m, x.user, w.h);
  inertia_times(m, a, w.tree, w.bodies, w.force);
  for (int k = 0; k < m.nv; ++k) w.force[k] += w.h[k] - tau[k];
  constraints(m, x, w.tree, w.ld, w.rows);
  factorize(m, w.rows.J, static_cast<const double*>(nullptr), w.ld, -1, w.factor);
  if (w.factor.first_rows < m.nc) complete(m, w.ld, w.factor);
  solve_multipliers(m, w.ld, w.factor, w.force, lam);
}

void multipliers_n(const ModelD& m, States s, const double* a, const double* tau, double* lam,
                   unsigned char* unique) {
  sized(m, [&](auto ld) {
    using Work = Dynamics<decltype(ld)::width>;
    each_state<Work>(m, s, [&](long i, const State<double>& x, Work& w) {
      motion_multipliers(m, x, a + i * m.nv, tau + i * m.nv, w, lam + i * m.nc);
      uniqueness(m, w.factor, unique + i * m.nc);
    });
  });
}

// Where the derivatives of state i are stored; without multipliers where dlam is null.
Derivatives<double> derivatives_at(const ModelD& m, const DerivativeArrays& to, long i) {
  long vv = static_cast<long>(m.nv) * m.nv, cv = static_cast<long>(m.nc) * m.nv;
  double *a = to.da + 3 * i * vv, *l = to.dlam ? to.dlam + 3 * i * cv : nullptr;
  Derivatives<double> out = {a, a + vv, a + 2 * vv, nullptr, nullptr, nullptr, to.dJv + i * cv};
  if (l) out.dlam_dq = l, out.dlam_dv = l + cv, out.dlam_dtau = l + 2 * cv;
  return out;
}

struct DualWork {
  Workspace<double, 0> w;
  Directional<double, 0> d;
  DualWork(const ModelD& m, Arena& arena) : w(m, arena), d(m, arena) {}
};

void dual_derivatives(const ModelD& m, States s, const double* tau, const DerivativeArrays& to) {
  each_state<DualWork>(m, s, [&](long i, const State<double>& x, DualWork& r) {
    evaluate(m, x, r.w);
    prepare(m, x, -1, static_cast<Tangent<double, 0>*>(nullptr), r.w);
    to.rank[i] = r.w.factor.rank_rows;
    to.status[i] = status_of(r.w.factor);
    differentiate_by_duals(m, x, tau + i * m.nv, to.rank[i], derivatives_at(m, to, i), r.d);
  });
}

void derivatives_n(const ModelD& m, States s, const double* tau, bool dual, DerivativeArrays to) {
  if (dual) return dual_derivatives(m, s, tau, to);
  sized(m, [&](auto ld) {
    using Work = Recursive<double, decltype(ld)::width>;
    each_state<Work>(m, s, [&](long i, const State<double>& x, Work& r) {
      if (m.sparse && decltype(ld)::width == 0) r.w.factor.by_entries = BY_ENTRIES;
      differentiate_recursively(m, x, tau + i * m.nv, derivatives_at(m, to, i), r);
      to.rank[i] = r.w.factor.rank_rows;
      to.status[i] = status_of(r.w.factor);
    });
  });
}

bool sparse(const ModelD& m) {
  return m.nv > 16 &&
         with_work<Dynamics<0>>(m, [&](Dynamics<0>& w) { return stays_sparse(m, w.ld, w.rows.J, w.factor); });
}

}  // namespace
SARRUS_END
