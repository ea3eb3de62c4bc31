// What the joints of a motion transmit, and the loads of bearings.
//
//   F_i = sum over the subtree of node i of [I A + V x* I V - declared wrenches - wrenches of the rows]   (1)
//
// Newton and Euler for what joint i carries [Featherstone2008] sec. 5.3. Rows of gears and belts relate
// coordinates, but load nodes a and b where teeth and strands touch them (constraints/meshing.py):
// W_0 + W_1 lam + W_2 |lam| on a, the opposite on b, constant in the frame of what carries their axes.
// Friction of teeth is by lam itself.
#pragma once

#include "solve/forward_dynamics.hpp"

SARRUS_BEGIN

// visit(i, parameters) for each bearing, i its number among the forces on coordinates
template <class R, class F>
SARRUS_HD void each_bearing(const Model<R>& m, F visit) {
  for (int i = 0; i < m.ncf; ++i)
    if (m.cf_kind[i] == CoordinateForceKind::BearingFriction)
      visit(i, parameters_at<BearingFriction>(m.cf_values + m.cf_begin[i]));
}

// out: W (nc) of rows between nodes, constraints/row.hpp; others are not written   in: t (moved)
template <class T>
SARRUS_FN void row_wrenches(const Model<real<T>>& m, const Tree<T>& t, Spatial<T>* W) {
  for (int i = 0; i < m.ne; ++i) {
    Row<T> rows[MAX_ROWS];
    with_element(m, i,
                 [&](auto kind, const auto& c) { kind.rows(c, pair_of(t, m.el_a[i], m.el_b[i], c), rows); });
    for (int k = 0; k < m.el_rows[i]; ++k) W[m.el_row[i] + k] = rows[k].W;
  }
}

// Wrenches of the rows for multipliers lam (nc), subtracted from F (nn)
template <class T>
SARRUS_HD void subtract_row_wrenches(const Model<real<T>>& m, const Spatial<T>* W, const T* lam,
                                     Spatial<T>* F) {
  for (int i = 0; i < m.ne; ++i) {
    Spatial<T> sum = zero6<T>();
    for (int r = m.el_row[i]; r < m.el_row[i] + m.el_rows[i]; ++r) sum = sum + W[r] * lam[r];
    F[m.el_b[i]] = F[m.el_b[i]] - sum;
    F[m.el_a[i]] = F[m.el_a[i]] + sum;
  }
}

// Wrench on node a of a gear or belt, about O; on b the opposite
template <class T>
struct MeshWrench {
  Spatial<T> constant, by_lam, by_size;
};

template <class T>
SARRUS_HD MeshWrench<T> mesh_wrench(const Model<real<T>>& m, int i, const Tree<T>& t) {
  const Mat3<T>& R = t.R[m.mesh_frame[i]];
  auto placed = [&](const real<T>* W) {
    Vec3<T> force = turn(R, W);
    return Spatial<T>{force, turn(R, W + 3) + cross(t.p[m.mesh_frame[i]], force)};
  };
  const real<T>* W = m.mesh_wrench + 18 * i;
  return {placed(W), placed(W + 6), placed(W + 12)};
}

// The same for multipliers lam (nc), subtracted from F (nn)
template <class T>
SARRUS_HD void subtract_mesh_wrenches(const Model<real<T>>& m, const Tree<T>& t, const T* lam,
                                      Spatial<T>* F) {
  for (int i = 0; i < m.nm; ++i) {
    const T& x = lam[m.mesh_row[i]];
    MeshWrench<T> mesh = mesh_wrench(m, i, t);
    Spatial<T> sum = mesh.constant + mesh.by_lam * x + mesh.by_size * abs_(x);
    F[m.mesh_a[i]] = F[m.mesh_a[i]] - sum;
    F[m.mesh_b[i]] = F[m.mesh_b[i]] + sum;
  }
}

template <class T>
SARRUS_HD void sum_over_subtrees(const Model<real<T>>& m, Spatial<T>* F) {
  for (int i = m.nn - 1; i > 0; --i) F[m.parent[i]] = F[m.parent[i]] + F[i];
}

// A motion, and the wrenches of the rows at its pose
template <class T>
struct RowMotion {
  const T *a, *lam;     // (nv), (nc)
  const Spatial<T>* W;  // (nc)
};

// out: w.F (nn) of (1), about O   in: t (moved), w.I, w.load   outer (nn): further wrenches on nodes about
// O, or null
template <class T>
SARRUS_FN void joint_wrenches(const Model<real<T>>& m, const Tree<T>& t, const RowMotion<T>& x,
                              const Spatial<T>* outer, Bodies<T>& w) {
  w.F[0] = zero6<T>();
  for (int i = 1; i < m.nn; ++i) w.F[i] = w.F[m.parent[i]] + joint_twist(m, i, t, x.a);
  for (int i = 1; i < m.nn; ++i) w.F[i] = w.I[i] * (t.A[i] + w.F[i]) + cross_force(t.V[i], w.I[i] * t.V[i]);
  add_deflection_wrenches(m, t, w);
  add_accelerated_deflections(m, x.a, t, w);
  subtract_declared(m, t, w);
  subtract_row_wrenches(m, x.W, x.lam, w.F);
  subtract_mesh_wrenches(m, t, x.lam, w.F);
  for (int i = 1; outer && i < m.nn; ++i) w.F[i] = w.F[i] - outer[i];
  sum_over_subtrees(m, w.F);
}

// out: w.Ic (nn)   in: w.I
template <class T>
SARRUS_HD void sum_inertias(const Model<real<T>>& m, Bodies<T>& w) {
  copy(w.Ic + 1, w.I + 1, m.nn - 1);
  for (int i = m.nn - 1; i > 0; --i)
    if (m.parent[i] > 0) w.Ic[m.parent[i]] = w.Ic[m.parent[i]] + w.Ic[i];
}

// Row of a mesh by its number; -1: it does not act
template <class R>
SARRUS_HD int row_of_mesh(const Model<R>& m, int mesh) {
  for (int i = 0; i < m.nm; ++i)
    if (m.mesh_id[i] == mesh) return m.mesh_row[i];
  return -1;
}

// Directions of a bearing, z of its node is the axis, and the point that its moments are about; how many
// numbers its load has
template <class T>
struct Seat {
  Vec3<T> x, y, z, p;
  int loads;
};

template <class T, class C>
SARRUS_HD Seat<T> seat_of(const Tree<T>& t, const C& c) {
  int node = static_cast<int>(c.node);
  return {t.R[node].x, t.R[node].y, t.R[node].z, point_of(t, node, c.p), BearingFriction::loads(c)};
}

// The load under a wrench W about O that its joint transmits, added to out (BearingFriction::loads)
template <class T>
SARRUS_HD void add_loads(const Seat<T>& s, const Spatial<T>& W, T* out) {
  if (s.loads == 1) {
    out[0] += dot(s.z, W.lin);
    return;
  }
  out[0] += dot(s.x, W.lin), out[1] += dot(s.y, W.lin);
  if (s.loads == 2) return;
  Vec3<T> moment = W.ang - cross(s.p, W.lin);
  out[2] += dot(s.x, moment), out[3] += dot(s.y, moment);
}

// What joints and rows transmit: wrenches F (nn) about O, multipliers lam (nc)
template <class T>
struct Transmitted {
  const Spatial<T>* F;
  const T* lam;
};

// The bound of bearing_friction.hpp for friction of the sign `way`, 0: unknown
template <class T, class C>
SARRUS_HD T bearing_bound(const Model<real<T>>& m, const Tree<T>& t, const C& c, const Transmitted<T>& x,
                          double way) {
  T load[4] = {T(0), T(0), T(0), T(0)};
  int mesh = BearingFriction::mesh(c), row = mesh < 0 ? -1 : row_of_mesh(m, mesh);
  if (mesh < 0) add_loads(seat_of(t, c), x.F[static_cast<int>(c.node)], load);
  if (row >= 0) load[0] = x.lam[row];
  return BearingFriction::bound(c, load, way);
}

SARRUS_END
