// Kinematics, inertia and bias of tree/kinematics.hpp and tree/inertia_and_bias.hpp by a team: what belongs
// to one node at the same time for all nodes, sums along branches level by level.
#pragma once

#include "constraints/row.hpp"
#include "team/tables.hpp"
#include "tree/inertia_and_bias.hpp"

SARRUS_BEGIN

// visit(node, its parent, part) for `PARTS` parts of nodes [begin, end) of the levels
template <int PARTS, class Tables, class Team, class F>
SARRUS_HD void each_of_level(const Tables& p, int begin, int end, Team& team, F visit) {
  team.each((end - begin) * PARTS, [&](int i) {
    int at = begin + i / PARTS;
    visit(p.level_node[at], p.level_parent[at], i % PARTS);
  });
}

// The same level after level, from the ground to the leaves
template <int PARTS, class Tables, class Team, class F>
SARRUS_HD void each_after_parents(const Tables& p, Team& team, F visit) {
  for (int level = 0; level < p.levels; ++level)
    each_of_level<PARTS>(p, p.level_begin[level], p.level_begin[level + 1], team, visit);
}

// The same from the leaves to the ground, never two children of a node at a time
template <int PARTS, class Tables, class Team, class F>
SARRUS_HD void each_before_parents(const Tables& p, Team& team, F visit) {
  for (int share = p.shares - 1; share >= 0; --share)
    each_of_level<PARTS>(p, p.share_begin[share], p.share_begin[share + 1], team, visit);
}

// The numbers of spatial vectors and inertias one by one
template <class T, class X>
SARRUS_HD T* numbers(X* x, int i) {
  return reinterpret_cast<T*>(x + i);
}

// Pose of node i in its parent's frame, its axes S in that frame too
template <class T>
SARRUS_HD void place_in_parent(const Model<real<T>>& m, int i, const T* q, Tree<T>& t) {
  const real<T>*r = m.R_PJ + 9 * i, *x = m.p_PJ + 3 * i;
  Mat3<T> R = {{T(r[0]), T(r[3]), T(r[6])}, {T(r[1]), T(r[4]), T(r[7])}, {T(r[2]), T(r[5]), T(r[8])}};
  Vec3<T> p = {T(x[0]), T(x[1]), T(x[2])};
  with_joint(m.joint[i], [&](auto joint) { joint.place(m.pitch[i], q + m.iq[i], R, p, t.S + m.iv[i]); });
  t.R[i] = R;
  t.p[i] = p;
}

// A twist about the origin of a node's frame and in its axes, in the world about O
template <class T>
SARRUS_HD Spatial<T> carry(const Mat3<T>& R, const Vec3<T>& p, const Spatial<T>& X) {
  Vec3<T> w = turn(R, X.ang);
  return {turn(R, X.lin) + cross(p, w), w};
}

// out: R, p, S, O   in: q
template <class T, class Tables, class Team>
SARRUS_HD void place_by_team(const Model<real<T>>& m, const Tables& p, const T* q, Tree<T>& t, Team& team) {
  team.each(m.nn, [&](int i) {
    if (i == 0)
      place_ground(m, q, t);
    else
      place_in_parent(m, i, q, t);
  });
  each_after_parents<4>(p, team, [&](int i, int pa, int part) {
    Vec3<T>* axis = reinterpret_cast<Vec3<T>*>(t.R + i) + part;  // part 3: the origin
    Vec3<T> x = turn(t.R[pa], part == 3 ? t.p[i] : *axis);
    if (part == 3)
      t.p[i] = t.p[pa] + x;
    else
      *axis = x;
  });
  team.each(m.nv, [&](int k) {
    int pa = m.parent[p.node_of[k]];
    t.S[k] = carry(t.R[pa], t.p[pa], t.S[k]);
  });
}

// x_i += x_parent for vectors of six numbers, from the ground to the leaves
template <class T, class Tables, class Team>
SARRUS_HD void add_parents(const Tables& p, Spatial<T>* x, Team& team) {
  each_after_parents<6>(p, team, [&](int i, int pa, int c) { numbers<T>(x, i)[c] += numbers<T>(x, pa)[c]; });
}

// out: V, A   in: R, p, S, v. Of (1) in tree/kinematics.hpp: ad_{V_p} S v = ad_{V_p} V, since ad_V V = 0
template <class T, class Tables, class Team>
SARRUS_HD void move_by_team(const Model<real<T>>& m, const Tables& p, const T* v, Tree<T>& t, Team& team) {
  team.each(m.nn, [&](int i) { t.V[i] = i == 0 ? zero6<T>() : joint_twist(m, i, t, v); });
  add_parents(p, t.V, team);
  team.each(m.nn, [&](int i) {
    t.A[i] = i == 0 ? Spatial<T>{{T(-m.gravity[0]), T(-m.gravity[1]), T(-m.gravity[2])}, zero3<T>()}
                    : cross_motion(t.V[m.parent[i]], t.V[i]);
  });
  add_parents(p, t.A, team);
}

// F_i -= wrenches of the forces between nodes; W (nf) is room
template <class T, class Team>
SARRUS_HD void subtract_wrenches_by_team(const Model<real<T>>& m, const Tree<T>& t, Spatial<T>* F,
                                         Spatial<T>* W, Team& team) {
  if (m.nf == 0) return;
  team.each(m.nf, [&](int i) {
    with_force(m, i, [&](auto kind, const auto& c) {
      W[i] = kind.load(c, pair_of(t, m.fo_a[i], m.fo_b[i], c)).wrench;
    });
  });
  team.each(6, [&](int c) {
    for (int i = 0; i < m.nf; ++i) {
      T x = numbers<T>(W, i)[c];
      numbers<T>(F, m.fo_b[i])[c] -= x;
      numbers<T>(F, m.fo_a[i])[c] += x;
    }
  });
}

// Adds to nodes but the ground what their children have, from the leaves on: the numbers of each x
template <class T, class X, class Tables, class Team>
SARRUS_HD void add_children(const Tables& p, X* x, Team& team) {
  each_before_parents<sizeof(X) / sizeof(T)>(p, team, [&](int i, int pa, int c) {
    if (pa > 0) numbers<T>(x, pa)[c] += numbers<T>(x, i)[c];
  });
}

// out: F (wrenches that subtrees need), which may be t.A   in: t (moved)
template <class T, class Tables, class Team>
SARRUS_HD void demand_by_team(const Model<real<T>>& m, const Tables& p, const Tree<T>& t, Spatial<T>* F,
                              Spatial<T>* W, Team& team) {
  team.each(m.nn, [&](int i) {
    F[i] = i == 0 ? zero6<T>() : wrench_of_node(inertia_of_node(m, i, t), t.V[i], t.A[i]);
  });
  subtract_wrenches_by_team(m, t, F, W, team);
  add_children<T>(p, F, team);
}

// out: I of subtrees   in: t (placed)
template <class T, class Tables, class Team>
SARRUS_HD void weigh_by_team(const Model<real<T>>& m, const Tables& p, const Tree<T>& t, Inertia<T>* I,
                             Team& team) {
  team.each(m.nn - 1, [&](int i) { I[i + 1] = inertia_of_node(m, i + 1, t); });
  add_children<T>(p, I, team);
}

// What the joint of coordinate k resists: damping, friction, springs and stops
template <class T>
SARRUS_HD T joint_resistance(const Model<real<T>>& m, int k, const T* q, const T* v) {
  T sum = v[k] * m.damping[k];
  if (m.friction[k] != 0) sum += coulomb_friction(m, k, v[k]);
  for (int i = 0; i < m.ncf; ++i)
    if (m.cf_v[i] == k)
      with_coordinate_force(
          m, i, [&](auto kind, const auto& c) { sum += kind.template resistance<T>(c, q[m.cf_q[i]], v[k]); });
  return sum;
}

SARRUS_END
