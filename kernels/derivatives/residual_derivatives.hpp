// Derivatives of the residuals of constrained dynamics with respect to tangent increments of q and to v.
//
//   E(q, v, a, lam) = M a + h - tau - J^T lam = 0,      R(q, v, a) = J a - gamma = 0                     (1)
//
// The residuals are differentiated at fixed a and lam (along directions tangent to the manifold, where
// dependent rows are consistent).
// [Spencer2004] ch. 4 and app. B (erratum: (B.5) lacks a factor K^T, sec. 4.2 has it)
#pragma once

#include "derivatives/directional.hpp"
#include "derivatives/element_derivatives.hpp"
#include "derivatives/flexible_derivatives.hpp"
#include "derivatives/formula_derivatives.hpp"
#include "derivatives/tree_derivatives.hpp"
#include "solve/factor/column_solve.hpp"
#include "solve/kkt_inverse.hpp"

SARRUS_BEGIN

template <class T, int LDC>
struct Recursive {
  Workspace<T, LDC> w;
  TreeTangent<T> d;
  Path path;
  Element<T>* element;
  Moves<T> moves;
  Response<T> response;
  FormulaSlopes<T> formulas;
  DeflectionSlopes<T> deflections;
  Columns<T> columns;    // bound for large mechanisms only
  Stride<2 * LDC> wide;  // of the following, side by side: columns of q, columns of v
  T *Eq, *Ev;            // (nv, wide)
  T *Rq, *Rv;            // (nc, wide), right below
  T* answer;             // (nv + nc, wide)
  T* Jvq;                // (nc, ld)
  T *lam, *x;            // (nc), (nv)
  const T* q;            // where residuals were differentiated

  SARRUS_HD Recursive(const Model<real<T>>& m, Arena& arena) : w(m, arena), wide(2 * w.ld) {
    int ld = w.ld;
    d.bind(arena, m);
    path.bind(arena, m.nv);
    arena.take(1, element);
    moves.bind(arena, m, w.ld);
    response.bind(arena, m, w.ld);
    formulas.bind(arena, m);
    deflections.bind(arena, m);
    arena.take((m.nv + m.nc) * wide, Eq, answer);
    Ev = Eq + ld;
    Rq = Eq + m.nv * wide;
    Rv = Rq + ld;
    arena.take(m.nc * ld, Jvq);
    arena.take(m.nc, lam);
    arena.take(m.nv, x);
    if constexpr (Factor<T>::template maybe_sparse<Stride<LDC>>) columns.bind(arena, m);
  }
};

// d(J v)/dq of the rows of the element, into Jvq at row `first`   in: r.path, r.moves
template <class T, int LDC>
SARRUS_HD void rate_derivatives(int first, Recursive<T, LDC>& r) {
  constexpr int stride = sizeof(RowSlopes<T>) / sizeof(T);
  const Element<T>& e = *r.element;
  const T* slopes = reinterpret_cast<const T*>(e.row[0].of_rate);
  int begin = r.moves.begin;
  product(Coefficients<T>{slopes, stride, 1}, r.moves.V_q + begin, r.w.ld, e.n, 12, r.moves.width(r.w.ld),
          r.Jvq + first * r.w.ld + begin, r.w.ld);
}

// Rows of the element into Rq, Rv, Jvq at row `first`, its forces into F and Eq.
template <class T, int LDC>
SARRUS_FN void row_derivatives(const Model<real<T>>& m, int first, Recursive<T, LDC>& r) {
  constexpr int stride = sizeof(RowSlopes<T>) / sizeof(T);
  const Element<T>& e = *r.element;
  const RowSlopes<T>& top = e.row[0];
  r.path.walk(m, e.a, e.b);
  move_element(m, r.w.tree, e, r.path, r.w.ld, r.moves);
  auto width = r.moves.width(r.w.ld);
  int begin = r.moves.begin, at = first * r.wide + begin;
  product(Coefficients<T>{reinterpret_cast<const T*>(top.by_q), stride, 1}, r.moves.A_q + begin, r.w.ld, e.n,
          18, width, r.Rq + at, r.wide);
  product(Coefficients<T>{reinterpret_cast<const T*>(top.by_v), stride, 1}, r.moves.s + begin, r.w.ld, e.n,
          12, width, r.Rv + at, r.wide);
  rate_derivatives(first, r);
  subtract_forces(m, r.w.tree, e, r.w.ld, r.moves, r.w.bodies.F, r.wide, r.Eq);
}

// The wrench L(s, V) on b of force i between two nodes, by dual numbers: dL/ds is G_L, and with D = dL/dV
//   dE/dq = -s^T D dV/dq,      dE/dv = -s^T D s      beside what subtract_forces adds                     (2)
template <class T, int LDC>
SARRUS_FN void force_derivatives(const Model<real<T>>& m, int i, Recursive<T, LDC>& r) {
  Element<T>& e = *r.element;
  const Tree<T>& t = r.w.tree;
  T D[36];
  begin_element(t, m.fo_a[i], m.fo_b[i], e);
  with_force(m, i, [&](auto kind, const auto& c) {
    Spatial<T> still = zero6<T>();
    for (int d = 0; d < 6; ++d) {
      Spatial<T> u = unit_twist<T>(d);
      auto L = kind.load(c, displaced(t, e.a, e.b, c, u, lift(e.V, still))).wrench;
      Spatial<T> by_s = slope_of(L);
      Spatial<T> by_V = slope_of(kind.load(c, displaced(t, e.a, e.b, c, still, lift(e.V, u))).wrench);
      e.L = value_of(L);
      for (int k = 0; k < 6; ++k) e.GL[6 * k + d] = entry(by_s, k), D[6 * k + d] = entry(by_V, k);
    }
  });
  r.path.walk(m, e.a, e.b);
  move_element(m, t, e, r.path, r.w.ld, r.moves);
  T* change = r.moves.on_b;  // (6, ld) of L, by q and then by v
  auto width = r.moves.width(r.w.ld);
  int begin = r.moves.begin;
  auto add = [&](const T* moved, T* E) {
    product(Coefficients<T>{D, 6, 1}, moved + begin, r.w.ld, 6, 6, width, change + begin, r.w.ld);
    for (int k = 0; k < r.path.n; ++k) {
      int j = r.path.col[k];
      for (int d = 0; d < 6; ++d)
        axpy(E + j * r.wide + begin, -r.moves.s[d * r.w.ld + j], change + d * r.w.ld + begin, width);
    }
  };
  add(r.moves.V_q, r.Eq);
  add(r.moves.s, r.Ev);
  subtract_forces(m, t, e, r.w.ld, r.moves, r.w.bodies.F, r.wide, r.Eq);
}

// use(first row) for each element, its slopes in r.element
template <class T, int LDC, class Use>
SARRUS_HD void each_element(const Model<real<T>>& m, Recursive<T, LDC>& r, Use use) {
  for (int i = 0; i < m.ne; ++i) {
    element_slopes(m, i, r.w.tree, r.lam, *r.element);
    use(m.el_row[i]);
  }
}

// Couplings by curves: adds d(J v)/dq to Jvq; use(row, column, coef f'', coef f''') for each of them.
template <class T, int LDC, class Use>
SARRUS_HD void each_curve(const Model<real<T>>& m, const T* v, Recursive<T, LDC>& r, Use use) {
  for (int c = 0; m.nkn && c < m.nk; ++c)
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i) {
      if (!m.kt_knots[i]) continue;
      int row = m.k_row[c], j = m.kt_v[i];
      CurvePoint<T> f = curve_of_term(m, i, r.q[m.kt_q[i]]);
      T second = f.second * m.kt_coef[i];
      r.Jvq[row * r.w.ld + j] += second * v[j];
      use(row, j, second, f.third * m.kt_coef[i]);
    }
}

// Of the row sum coef f(q): J a - gamma = sum coef (f' a + f'' v^2), (1).
template <class T, int LDC>
SARRUS_HD void add_curve_derivatives(const Model<real<T>>& m, const T* v, Recursive<T, LDC>& r) {
  each_curve(m, v, r, [&](int row, int j, const T& second, const T& third) {
    r.Rq[row * r.wide + j] += second * r.w.a[j] + third * v[j] * v[j];
    r.Rv[row * r.wide + j] += second * v[j] * real<T>(2);
    r.Eq[j * r.wide + j] -= second * r.lam[row];
  });
}

// out: Eq, Ev, Rq, Rv, Jvq   in: forward dynamics solved in w (a, lam)
template <class T, int LDC>
SARRUS_FN void residual_derivatives(const Model<real<T>>& m, const T* q, const T* v, Recursive<T, LDC>& r) {
  add_accelerations(m, r.w.a, r.w.tree);
  fill(r.Eq, (m.nv + m.nc) * r.wide);
  fill(r.Jvq, m.nc * r.w.ld);
  tangent_quantities(m, r.w.tree, r.w.bodies, r.d);
  each_element(m, r, [&](int first) { row_derivatives(m, first, r); });
  for (int i = 0; i < m.nf; ++i) force_derivatives(m, i, r);
  add_tree_derivatives(m, r.w.tree, r.w.bodies, r.d, r.wide, r.Eq, r.Ev);
  if (m.nfl) add_deflection_derivatives(m, q, v, r.w.a, r.w.tree, r.d, r.wide, r.deflections, r.Eq, r.Ev);
  add_joint_force_derivatives(m, q, v, r.wide, r.Eq, r.Ev);
  if (m.nfm) subtract_formula_slopes(m, q, v, r.wide, r.formulas, r.Eq, r.Ev);
  r.q = q;
  add_curve_derivatives(m, v, r);
}

// Where rows depend on each other, lam of least norm stays orthogonal to the left null vectors u of J, and
// these turn: from J^T u = 0 all along, with any x such that J x = lam,
//   u . dlam = -du . lam = u . dJ x                                                                      (3)
// while (1) of solve/kkt_inverse.hpp keeps dlam orthogonal to u. dJ x is d(J v)/dq at v = x; x = G lam.
// Uses up the tree's velocities.   out: Jvq = dJ x   in: r.x
template <class T, int LDC>
SARRUS_FN void turn_rows(const Model<real<T>>& m, Recursive<T, LDC>& r) {
  move(m, r.x, r.w.tree);
  fill(r.Jvq, m.nc * r.w.ld);
  each_element(m, r, [&](int first) {
    r.path.walk(m, r.element->a, r.element->b);
    move_element(m, r.w.tree, *r.element, r.path, r.w.ld, r.moves);
    rate_derivatives(first, r);
  });
  each_curve(m, r.x, r, [](int, int, const T&, const T&) {});
}

// out: w.a, r.lam, and the derivatives of the residuals   in: the state
template <class T, int LDC>
SARRUS_FN void differentiate_residuals(const Model<real<T>>& m, const State<T>& s, const T* tau,
                                       Recursive<T, LDC>& r) {
  evaluate(m, s, r.w);
  prepare(m, s, -1, static_cast<Tangent<T, LDC>*>(nullptr), r.w);
  accelerate(m, tau, r.w);
  multipliers(m, r.w, r.lam);
  residual_derivatives(m, s.q, s.v, r);
}

SARRUS_END
