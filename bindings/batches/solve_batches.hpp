// Batch loops over terms, constrained dynamics and their derivatives.
#pragma once

#include "../strides.hpp"
#include "derivatives/dynamics_derivatives.hpp"
#include "integrate/singular/pivots.hpp"
#include "tree_batches.hpp"

SARRUS_BEGIN
namespace {

template <int LD, class F>
inline void with_workspace(const ModelD& m, F body) {
  with_arena([&](Arena& arena, bool ready) {
    Workspace<double, LD> w(m, arena);
    Tangent<double, LD> d(m, arena);
    if (m.sparse) w.factor.by_entries = BY_ENTRIES;
    if (ready) body(w, d);
  });
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
  with_workspace<0>(m, [&](auto& w, auto&) {
    for (int i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, w.tree);
      move(m, x.v, w.tree);
      constraints(m, x, w.tree, w.ld, w.rows);
      store_rows(m, w.rows, w.ld, i, out);
    }
  });
}

void row_wrenches_n(const ModelD& m, States s, double* W, double* at) {
  with_tree(m, [&](auto& t, auto&, double*) {
    for (long i = 0; i < s.n; ++i, W += 6 * m.nc, at += 3 * m.ne) {
      place(m, state_at(m, s, i).q, t);
      for (int k = 0; k < 6 * m.nc; ++k) W[k] = 0;
      for (int e = 0; e < m.ne; ++e) element_wrenches(m, e, t, W + 6 * m.el_row[e], at + 3 * e);
    }
  });
}

void force_wrenches_n(const ModelD& m, States s, double* W, double* at) {
  with_tree(m, [&](auto& t, auto&, double*) {
    for (long i = 0; i < s.n; ++i, W += 6 * m.nf, at += 3 * m.nf) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, t);
      move(m, x.v, t);
      for (int f = 0; f < m.nf; ++f) force_wrench(m, f, t, W + 6 * f, at + 3 * f);
    }
  });
}

void pivots_n(const ModelD& m, States s, int rank, double* least) {
  with_workspace<0>(m, [&](auto& w, auto&) {
    for (int i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      place(m, x.q, w.tree);
      move(m, x.v, w.tree);
      constraints(m, x, w.tree, w.ld, w.rows);
      factorize(m, w.rows.J, static_cast<const double*>(nullptr), w.ld, rank, w.factor);
      least[i] = w.factor.rank_rows < rank ? 0 : smallest_pivot(w);
    }
  });
}

void terms_n(const ModelD& m, States s, double* M, double* h, RowArrays out) {
  with_workspace<0>(m, [&](auto& w, auto&) {
    for (long i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      evaluate(m, x, w);
      store_matrix(m, w.M, m.nv, w.ld, M + i * m.nv * m.nv);
      for (int k = 0; k < m.nv; ++k) h[i * m.nv + k] = w.h[k];
      store_rows(m, w.rows, w.ld, i, out);
    }
  });
}

template <int LD>
void forward_sized(const ModelD& m, States s, const double* tau, const int* hold, const MotionArrays& out) {
  with_workspace<LD>(m, [&](auto& w, auto& d) {
    for (long i = 0; i < s.n; ++i) {
      State<double> x = state_at(m, s, i);
      evaluate(m, x, w);
      prepare(m, x, hold ? hold[i] : -1, &d, w);
      accelerate(m, tau + i * m.nv, w);
      multipliers(m, w, out.lam + i * m.nc);
      uniqueness(m, w.factor, out.unique + i * m.nc);
      for (int k = 0; k < m.nv; ++k) out.a[i * m.nv + k] = w.a[k], out.force[i * m.nv + k] = w.force[k];
      out.rank[i] = w.factor.rank_rows;
      out.status[i] = w.factor.spd ? 0 : 1;
    }
  });
}

template <int LD>
bool acceleration_sized(const ModelD& m, const double* q, const double* v, const double* tau, double* a) {
  bool fine = false;
  with_workspace<LD>(m, [&](auto& w, auto& d) {
    State<double> s{q, v, nullptr, nullptr};
    evaluate(m, s, w);
    prepare(m, s, -1, &d, w);
    accelerate(m, tau, w);
    double sum = 0;
    for (int k = 0; k < m.nv; ++k) a[k] = w.a[k], sum += w.a[k] * 0;
    fine = w.factor.spd && sum == 0;
  });
  return fine;
}

// State i of the batch, differentiated one way or the other; without multipliers where dlam is null.
template <class F>
void each_derivative(const ModelD& m, const States& s, const DerivativeArrays& to, F one) {
  long vv = static_cast<long>(m.nv) * m.nv, cv = static_cast<long>(m.nc) * m.nv;
  for (long i = 0; i < s.n; ++i) {
    double *a = to.da + 3 * i * vv, *l = to.dlam ? to.dlam + 3 * i * cv : nullptr;
    Derivatives<double> out = {a, a + vv, a + 2 * vv, nullptr, nullptr, nullptr, to.dJv + i * cv};
    if (l) out.dlam_dq = l, out.dlam_dv = l + cv, out.dlam_dtau = l + 2 * cv;
    one(i, state_at(m, s, i), out);
  }
}

void dual_derivatives(const ModelD& m, States s, const double* tau, const DerivativeArrays& to) {
  with_arena([&](Arena& arena, bool ready) {
    Workspace<double, 0> w(m, arena);
    Directional<double, 0> d(m, arena);
    if (!ready) return;
    each_derivative(m, s, to, [&](long i, const State<double>& x, const Derivatives<double>& out) {
      evaluate(m, x, w);
      prepare(m, x, -1, static_cast<Tangent<double, 0>*>(nullptr), w);
      to.rank[i] = w.factor.rank_rows;
      to.status[i] = w.factor.spd ? 0 : 1;
      differentiate_by_duals(m, x, tau + i * m.nv, to.rank[i], out, d);
    });
  });
}

template <int LD>
void recursive_derivatives(const ModelD& m, States s, const double* tau, const DerivativeArrays& to) {
  with_arena([&](Arena& arena, bool ready) {
    Recursive<double, LD> r(m, arena);
    if (!ready) return;
    each_derivative(m, s, to, [&](long i, const State<double>& x, const Derivatives<double>& out) {
      differentiate_recursively(m, x, tau + i * m.nv, out, r);
      to.rank[i] = r.w.factor.rank_rows;
      to.status[i] = r.w.factor.spd ? 0 : 1;
    });
  });
}

bool sparse(const ModelD& m) {
  bool yes = false;
  if (m.nv > 16)
    with_workspace<0>(m, [&](auto& w, auto&) { yes = stays_sparse(m, w.ld, w.rows.J, w.factor); });
  return yes;
}

void forward_n(const ModelD& m, States s, const double* tau, const int* hold, MotionArrays out) {
  sized(m, [&](auto ld) { forward_sized<decltype(ld)::width>(m, s, tau, hold, out); });
}

void derivatives_n(const ModelD& m, States s, const double* tau, bool dual, DerivativeArrays to) {
  if (dual) return dual_derivatives(m, s, tau, to);
  sized(m, [&](auto ld) { recursive_derivatives<decltype(ld)::width>(m, s, tau, to); });
}

bool acceleration_1(const ModelD& m, const double* q, const double* v, const double* tau, double* a) {
  return sized(m, [&](auto ld) { return acceleration_sized<decltype(ld)::width>(m, q, v, tau, a); });
}

}  // namespace
SARRUS_END
