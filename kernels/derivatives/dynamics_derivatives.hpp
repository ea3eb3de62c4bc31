// Derivatives of constrained forward dynamics with respect to tangent increments of q, to v and to tau.
//
//   E(q, v, a, lam) = M a + h - tau - J^T lam = 0,      R(q, v, a) = J a - gamma = 0                     (1)
//
// The residuals are differentiated at fixed a and lam; solve/kkt_inverse.hpp says how a and lam answer, for
// dependent rows too (along directions tangent to the manifold, where the answer is consistent).
// [Spencer2004] ch. 4 and app. B (erratum: (B.5) lacks a factor K^T, sec. 4.2 has it)
#pragma once

#include "derivatives/directional.hpp"
#include "derivatives/element_derivatives.hpp"
#include "derivatives/tree_derivatives.hpp"
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
  Stride<2 * LDC> wide;  // of the following, side by side: columns of q, columns of v
  T *Eq, *Ev;            // (nv, wide)
  T *Rq, *Rv;            // (nc, wide), right below
  T* answer;             // (nv + nc, wide)
  T* Jvq;                // (nc, ld)
  T *lam, *x;            // (nc), (nv)

  SARRUS_HD Recursive(const Model<real<T>>& m, Arena& arena) : w(m, arena), wide(2 * w.ld) {
    int ld = w.ld;
    d.bind(arena, m);
    path.bind(arena, m.nv);
    element = arena.template take<Element<T>>(1);
    moves.bind(arena, m, w.ld);
    response.bind(arena, m, w.ld);
    Eq = arena.template take<T>((m.nv + m.nc) * wide);
    Ev = Eq + ld;
    Rq = Eq + m.nv * wide;
    Rv = Rq + ld;
    answer = arena.template take<T>((m.nv + m.nc) * wide);
    Jvq = arena.template take<T>(m.nc * ld);
    lam = arena.template take<T>(m.nc);
    x = arena.template take<T>(m.nv);
  }
};

// d(J v)/dq of the rows of the element, into Jvq at row `first`   in: r.path, r.moves
template <class T, int LDC>
SARRUS_HD void rate_derivatives(int first, Recursive<T, LDC>& r) {
  constexpr int stride = sizeof(RowSlopes<T>) / sizeof(T);
  const Element<T>& e = *r.element;
  const T* slopes = reinterpret_cast<const T*>(e.row[0].of_rate);
  product(Coefficients<T>{slopes, stride, 1}, r.moves.V_q, r.w.ld, e.n, 12, r.w.ld, r.Jvq + first * r.w.ld,
          r.w.ld);
}

// Rows of the element into Rq, Rv, Jvq at row `first`, its forces into F and Eq.
template <class T, int LDC>
SARRUS_FN void row_derivatives(const Model<real<T>>& m, int first, Recursive<T, LDC>& r) {
  constexpr int stride = sizeof(RowSlopes<T>) / sizeof(T);
  const Element<T>& e = *r.element;
  const RowSlopes<T>& top = e.row[0];
  r.path.walk(m, e.a, e.b);
  move_element(m, r.w.tree, e, r.path, r.w.ld, r.moves);
  product(Coefficients<T>{reinterpret_cast<const T*>(top.by_q), stride, 1}, r.moves.A_q, r.w.ld, e.n, 18,
          r.w.ld, r.Rq + first * r.wide, r.wide);
  product(Coefficients<T>{reinterpret_cast<const T*>(top.by_v), stride, 1}, r.moves.s, r.w.ld, e.n, 12,
          r.w.ld, r.Rv + first * r.wide, r.wide);
  rate_derivatives(first, r);
  subtract_forces(m, r.w.tree, e, r.w.ld, r.moves, r.w.bodies.F, r.wide, r.Eq);
}

// A point spring pulls with f = -(k (l - l0) + c l') along its row: Q = J^T f
template <class T, int LDC>
SARRUS_FN void spring_derivatives(const Model<real<T>>& m, int k, const T& elongation, Recursive<T, LDC>& r) {
  Element<T>& e = *r.element;
  int ld = r.w.ld;
  real<T> stiffness = m.ps_stiffness[k], damping = m.ps_damping[k];
  const Spatial<T>& W = e.row[0].of_rate[0];
  T *J = r.answer, *f_q = r.answer + ld;
  r.path.walk(m, e.a, e.b);
  move_element(m, r.w.tree, e, r.path, r.w.ld, r.moves);
  const T* slopes = reinterpret_cast<const T*>(e.row[0].of_rate);
  combine(J, slopes, r.moves.s, 0, 6, r.w.ld);
  combine(f_q, slopes, r.moves.V_q, 0, 12, r.w.ld);
  blend(f_q, T(-damping), T(-stiffness), J, r.w.ld);
  for (int i = 0; i < r.path.n; ++i) {
    int j = r.path.col[i];
    axpy(r.Eq + j * r.wide, -J[j], f_q, r.w.ld);
    axpy(r.Ev + j * r.wide, J[j] * damping, J, r.w.ld);
  }
  T f = -(elongation * stiffness + dot(W, e.V) * damping);
  e.L = e.L * f;
  for (T& x : e.GL) x = x * f;
  subtract_forces(m, r.w.tree, e, r.w.ld, r.moves, r.w.bodies.F, r.wide, r.Eq);
}

// A spring of zero length has no row. With no rest length it pulls with -k r, the same in every direction;
// with one it has no force there, and no derivative. Returns whether this is such a spring.
template <class T, int LDC>
SARRUS_FN bool slack_spring_derivatives(const Model<real<T>>& m, int k, Recursive<T, LDC>& r) {
  const Tree<T>& t = r.w.tree;
  int a = m.ps_a[k], b = m.ps_b[k];
  Vec3<T> p = point_of(t, b, m.ps_p_b + 3 * k), apart = p - point_of(t, a, m.ps_p_a + 3 * k);
  if (value(dot(apart, apart)) > SPRING_APART) return false;
  if (m.ps_rest[k] != 0) return true;
  r.path.walk(m, a, b);
  auto moved = [&](int i) {
    const Spatial<T>& S = t.S[r.path.col[i]];
    return (S.lin + cross(S.ang, p)) * real<T>(r.path.side[i]);
  };
  for (int i = 0; i < r.path.n; ++i)
    for (int j = 0; j < r.path.n; ++j)
      r.Eq[r.path.col[j] * r.wide + r.path.col[i]] += dot(moved(i), moved(j)) * m.ps_stiffness[k];
  return true;
}

// use(first row) for each closure and rolling disc, made into r.element
template <class T, int LDC, class Use>
SARRUS_HD void each_element(const Model<real<T>>& m, Recursive<T, LDC>& r, Use use) {
  for (int c = 0; c < m.ncl; ++c) {
    closure_element(m, c, r.w.tree, r.lam + m.cl_row[c], *r.element);
    use(m.cl_row[c]);
  }
  for (int c = 0; c < m.nro; ++c) {
    rolling_element(m, c, r.w.tree, r.lam + m.ro_row[c], *r.element);
    use(m.ro_row[c]);
  }
}

// out: Eq, Ev, Rq, Rv, Jvq   in: forward dynamics solved in w (a, lam)
template <class T, int LDC>
SARRUS_FN void residual_derivatives(const Model<real<T>>& m, const T* q, const T* v, Recursive<T, LDC>& r) {
  add_accelerations(m, r.w.a, r.w.tree);
  fill(r.Eq, (m.nv + m.nc) * r.wide);
  fill(r.Jvq, m.nc * r.w.ld);
  tangent_quantities(m, r.w.tree, r.w.bodies, r.d);
  each_element(m, r, [&](int first) { row_derivatives(m, first, r); });
  for (int c = 0; c < m.nps; ++c) {
    if (slack_spring_derivatives(m, c, r)) continue;
    T elongation = spring_element(m, c, r.w.tree, *r.element);
    spring_derivatives(m, c, elongation, r);
  }
  add_tree_derivatives(m, r.w.tree, r.w.bodies, r.d, r.wide, r.Eq, r.Ev);
  add_joint_force_derivatives(m, q, v, r.wide, r.Eq, r.Ev);
}

// Where rows depend on each other, lam of least norm stays orthogonal to the left null vectors u of J, and
// these turn: from J^T u = 0 all along, with any x such that J x = lam,
//   u . dlam = -du . lam = u . dJ x                                                                      (2)
// while (1) of solve/kkt_inverse.hpp keeps dlam orthogonal to u. dJ x is d(J v)/dq at v = x; x = G lam.
// Uses up the tree's velocities and Jvq.   out: added to dlam_dq (nc, nv)
template <class T, int LDC>
SARRUS_FN void add_turning(const Model<real<T>>& m, Recursive<T, LDC>& r, T* dlam_dq) {
  const Factor<T>& f = r.w.factor;
  int nv = m.nv, ld = r.w.ld, stride = r.response.stride;
  for (int i = 0; i < nv; ++i) {
    r.x[i] = T(0);
    for (int c = 0; c < m.nc; ++c) r.x[i] += r.response.C[(nv + c) * stride + i] * r.lam[c];
  }
  move(m, r.x, r.w.tree);
  fill(r.Jvq, m.nc * ld);
  each_element(m, r, [&](int first) {
    r.path.walk(m, r.element->a, r.element->b);
    move_element(m, r.w.tree, *r.element, r.path, r.w.ld, r.moves);
    rate_derivatives(first, r);
  });
  T *u = f.work, *row = r.response.sum;
  for (int i = 0; i < m.nc - f.rank_rows; ++i) {
    left_null(f, i, u);
    auto declared = [&](int position) { return static_cast<int>(value(f.order[position])); };
    fill(row, ld);
    for (int k = 0; k < m.nc; ++k) axpy(row, u[k], r.Jvq + declared(k) * ld, r.w.ld);
    for (int k = 0; k < m.nc; ++k)
      for (int j = 0; j < nv; ++j) dlam_dq[declared(k) * nv + j] += u[k] * row[j];
  }
}

// out: all derivatives but those with null pointers; w.a, r.lam   in: the state
template <class T, int LDC>
SARRUS_FN void differentiate_recursively(const Model<real<T>>& m, const T* q, const T* v, const T* tau,
                                         const T* drive, const T* user, const Derivatives<T>& out,
                                         Recursive<T, LDC>& r) {
  Workspace<T, LDC>& w = r.w;
  int nv = m.nv, nc = m.nc, rows = out.dlam_dq ? nv + nc : nv;
  evaluate(m, q, v, drive, user, w);
  prepare(m, q, v, drive, user, -1, static_cast<Tangent<T, LDC>*>(nullptr), w);
  accelerate(m, tau, w);
  multipliers(m, w, r.lam);
  residual_derivatives(m, q, v, r);
  Response<T>& c = r.response;
  respond(m, w.ld, w.factor, w.M, rows > nv, c);
  product(Coefficients<T>{c.C, c.stride, 1}, r.Eq, r.wide, rows, nv + nc, r.wide, r.answer, r.wide);
  unpad(r.answer, r.wide, w.ld, nv, nv, 1, out.da_dq);
  unpad(r.answer + w.ld, r.wide, w.ld, nv, nv, 1, out.da_dv);
  if (out.da_dtau) unpad(c.C, c.stride, w.ld, nv, nv, -1, out.da_dtau);
  if (out.dJv_dq) unpad(r.Jvq, w.ld, w.ld, nc, nv, 1, out.dJv_dq);
  if (!out.dlam_dq) return;
  const T* below = r.answer + nv * r.wide;
  unpad(below, r.wide, w.ld, nc, nv, 1, out.dlam_dq);
  if (out.dlam_dv) unpad(below + w.ld, r.wide, w.ld, nc, nv, 1, out.dlam_dv);
  if (out.dlam_dtau) unpad(c.C + nv * c.stride, c.stride, w.ld, nc, nv, -1, out.dlam_dtau);
  if (w.factor.first_rows < nc) add_turning(m, r, out.dlam_dq);
}

SARRUS_END
