// Rows of contacts at a state: speeds of b relative to a along the normal, along two tangents, and about the
// normal and the tangents where torsion and rolling have limits; and what they do to the motion.
//
//   u = J v ,   du/dt = J a + bias ,   X = response of the mechanism to a unit force along a row       (1)
//
// X is the acceleration with all loops closed, so that W = J X^T is that of the freedoms that loops leave.
// bias comes with the derivatives of gaps by time (contacts/moving_frame.hpp), points that move on surfaces
// included. W = L L^T with L (rows, rank): the rows in a basis of these freedoms.
#pragma once

#include "contacts/contact_points.hpp"
#include "contacts/moving_frame.hpp"
#include "solve/contact/contact_mode.hpp"
#include "solve/friction/friction_by_load.hpp"
#include "solve/search/projection.hpp"

SARRUS_BEGIN

constexpr int SLOT_ROWS = 6;             // at most: normal, 2 tangents, torsion, 2 rolling
constexpr int NO_CONTACT = -1;           // in place of the contact of a joint row
constexpr double RESPONSE_GONE = 1e-12;  // of the largest entry of W: pivots below are rounding
constexpr double BLOCKED = 1e-14;  // of the response without any rows that act: smaller ones are rounding

enum PairLaw : int { FRICTION, RESTITUTION, TORSION, ROLLING };
enum RowKind : int { NORMAL_ROW, TANGENT_ROW, TORSION_ROW, ROLLING_ROW, JOINT_PUSH, JOINT_FRICTION };

// One block of rows: the push, friction, torsion or rolling of a contact; or a joint row (NO_CONTACT): what
// pushes at a stop, and dry friction of a coordinate, at most `fixed`
struct ContactBlock {
  int contact, kind, row, size;
  double share, fixed;
};
SARRUS_HD bool is_push(int kind) { return kind == NORMAL_ROW || kind == JOINT_PUSH; }
// Friction that a push allows
SARRUS_HD bool goes_with_push(int kind) { return !is_push(kind) && kind != JOINT_FRICTION; }

// Rows besides those of contacts that the problem of contacts takes: u = A v - right_v, du/dt = A a - right
struct JointRows {
  int n = 0, frictions = 0;            // the first ones are those of friction
  double *A, *right, *right_v, *most;  // (n, ld), (n), (n), (frictions) largest friction
};

constexpr int MOST_ROWS = 600;  // that act at one time: 200 points with friction

// Rows of a slot
template <class R>
SARRUS_HD int rows_of_slot(const Model<R>& m, int k) {
  const R* law = m.pair_law + 4 * m.slot_pair[k];
  return 1 + (law[FRICTION] > 0 ? 2 : 0) + (law[TORSION] > 0 ? 1 : 0) + (law[ROLLING] > 0 ? 2 : 0);
}

// Room for rows: that of all slots together, or for as many as may act at one time
template <class R>
SARRUS_HD int most_rows(const Model<R>& m) {
  int rows = 0;
  for (int k = 0; k < m.nslot && rows < MOST_ROWS; ++k) rows += rows_of_slot(m, k);
  return rows < MOST_ROWS ? rows : MOST_ROWS;
}

template <int LDC>
struct ContactRows {
  const Model<double>& m;
  Workspace<double, LDC> w;
  ContactPoint<double>* slot;           // (nslot)
  ContactPoint<Moving<double>>* moved;  // (nslot)
  Vec3<double>*axis, *direction;        // (3 nslot) normal and tangents; (rows) of each row
  int contacts = 0, rows = 0, blocks = 0, rank = 0;
  int *which, *row_contact, *row_kind;  // (nslot) slot of a contact; (rows)
  ContactBlock* block;                  // (4 nslot)
  double *J, *X;                        // (rows, ld)
  double *W, *L;                        // (rows, rows), (rows, rank)
  double *u, *bias, *left;              // (rows)
  int* order;                           // (rows)
  double* free;                         // (ld) acceleration without contact forces
  JointRows joint;                      // n: how many take part
  const int room;                       // for rows of contacts
  bool full = false;                    // more were chosen last

  // joints: at most as many joint rows
  SARRUS_HD ContactRows(const Model<double>& model, Arena& arena, int joints = 0)
      : m(model), w(model, arena), room(most_rows(model)) {
    int most = room + joints;
    arena.take(m.nslot, slot, moved, which);
    arena.take(3 * m.nslot, axis);
    arena.take(most, direction, row_contact, row_kind, u, bias, left, order);
    arena.take(4 * m.nslot + joints, block);
    arena.take(joints * w.ld, joint.A);
    arena.take(joints, joint.right, joint.right_v, joint.most);
    arena.take(most * w.ld, J, X);
    arena.take(most * most, W, L);
    arena.take(w.ld, free);
  }
  SARRUS_HD int pair_of_contact(int c) const { return m.slot_pair[which[c]]; }
  SARRUS_HD double law(int c, int what) const { return m.pair_law[4 * pair_of_contact(c) + what]; }
};

// All slots at a pose, those that pass are not used   in: w.tree placed. False: some pair is unresolved
template <int LDC>
SARRUS_FN bool find_slots(ContactRows<LDC>& c) {
  bool fine = true;
  for (int pair = 0; pair < c.m.npair; ++pair)
    fine = contact_points(c.m, pair, c.w.tree, c.slot + c.m.pair_slot[pair]) == POINTS_FOUND && fine;
  for (int k = 0; k < c.m.nslot; ++k)
    if (c.slot[k].passing) leave_open(c.slot[k]);
  return fine;
}

// Two unit vectors that are at right angles to n and to each other
template <class T>
SARRUS_HD void tangents_of(const Vec3<T>& n, Vec3<T>& s, Vec3<T>& t) {
  T x = abs_(n.x), y = abs_(n.y), z = abs_(n.z);
  Vec3<T> e = {T(x <= y && x <= z ? 1 : 0), T(x > y && y <= z ? 1 : 0), T(z < x && z < y ? 1 : 0)};
  s = cross(e, n);
  s = s * (T(1) / sqrt_(dot(s, s)));
  t = cross(n, s);
}

// Row i of J: speed along its direction at the point of contact, or turning about it
template <int LDC>
SARRUS_FN void write_row(ContactRows<LDC>& c, int i) {
  const Tree<double>& t = c.w.tree;
  int k = c.which[c.row_contact[i]];
  const ContactPoint<double>& at = c.slot[k];
  Vec3<double> p = (at.point_a + at.point_b) * 0.5, e = c.direction[i];
  Spatial<double> W = c.row_kind[i] >= TORSION_ROW ? Spatial<double>{zero3<double>(), e} : force_at(p, e);
  auto [a, b] = nodes_of(c.m, c.m.slot_pair[k]);
  double* J = c.J + i * c.w.ld;
  fill(J, c.w.ld);
  auto add_chain = [&](int node, double side) {
    for (; node > 0; node = c.m.parent[node])
      for (int j = c.m.iv[node]; j < c.m.iv[node] + joint_nv(c.m.joint[node]); ++j)
        J[j] += side * dot(W, t.S[j]);
  };
  add_chain(b, 1);
  add_chain(a, -1);
}

template <int LDC>
SARRUS_HD void add_block(ContactRows<LDC>& c, int contact, int kind, int first, int size, double share) {
  c.block[c.blocks++] = {contact, kind, c.rows, size, share, 0};
  for (int i = 0; i < size; ++i) {
    c.row_contact[c.rows] = contact, c.row_kind[c.rows] = kind;
    c.direction[c.rows] = c.axis[3 * contact + first + i];
    write_row(c, c.rows++);
  }
}

// The joint rows, behind those of contacts
template <int LDC>
SARRUS_FN void add_joint_rows(ContactRows<LDC>& c) {
  for (int i = 0; i < c.joint.n; ++i) {
    bool holds = i < c.joint.frictions;
    int kind = holds ? JOINT_FRICTION : JOINT_PUSH;
    c.block[c.blocks++] = {NO_CONTACT, kind, c.rows, 1, 0, holds ? c.joint.most[i] : 0};
    c.row_contact[c.rows] = NO_CONTACT, c.row_kind[c.rows] = kind;
    copy(c.J + c.rows++ * c.w.ld, c.joint.A + i * c.w.ld, c.w.ld);
  }
}

// Rows of the slots for which acts(slot) is true, and joint rows   in: find_slots(), c.joint
// False, and c.full: there is no room for all of them.
template <int LDC, class Acts>
SARRUS_FN bool choose_contacts(ContactRows<LDC>& c, Acts acts) {
  c.contacts = c.rows = c.blocks = 0;
  c.full = false;
  for (int k = 0; k < c.m.nslot; ++k) {
    if (!in_use(c.slot[k]) || !acts(k)) continue;
    if (c.rows + rows_of_slot(c.m, k) > c.room) c.full = true;
    if (c.full) break;
    int i = c.contacts++;
    c.which[i] = k;
    c.axis[3 * i] = c.slot[k].normal;
    tangents_of(c.axis[3 * i], c.axis[3 * i + 1], c.axis[3 * i + 2]);
    add_block(c, i, NORMAL_ROW, 0, 1, 0);
    if (c.law(i, FRICTION) > 0) add_block(c, i, TANGENT_ROW, 1, 2, c.law(i, FRICTION));
    if (c.law(i, TORSION) > 0) add_block(c, i, TORSION_ROW, 0, 1, c.law(i, TORSION));
    if (c.law(i, ROLLING) > 0) add_block(c, i, ROLLING_ROW, 1, 2, c.law(i, ROLLING));
  }
  add_joint_rows(c);
  return !c.full;
}

// u of all rows at velocities v (ld)
template <int LDC>
SARRUS_FN void row_speeds(const ContactRows<LDC>& c, const double* v, double* u) {
  int first = c.rows - c.joint.n;
  for (int i = 0; i < c.rows; ++i) u[i] = dot(c.J + i * c.w.ld, v, c.w.ld);
  for (int i = first; i < c.rows; ++i) u[i] -= c.joint.right_v[i - first];
}

// L of W = L L^T, with pivots
template <int LDC>
SARRUS_FN void factor_response(ContactRows<LDC>& c) {
  int n = c.rows;
  fill(c.L, n * n);
  for (int i = 0; i < n; ++i) c.left[i] = c.W[i * n + i];
  double most = largest_of(n, [&](int i) { return c.left[i]; });
  for (c.rank = 0; c.rank < n; ++c.rank) {
    int k = c.rank, best = 0;
    for (int i = 1; i < n; ++i) best = c.left[i] > c.left[best] ? i : best;
    if (!(c.left[best] > RESPONSE_GONE * most)) break;
    double root = sqrt_(c.left[best]);
    for (int i = 0; i < n; ++i) {
      double x = (c.W[i * n + best] - inner(c.L + i * n, c.L + best * n, k)) / root;
      c.L[i * n + k] = x;
    }
    for (int i = 0; i < n; ++i) c.left[i] -= c.L[i * n + k] * c.L[i * n + k];
    c.left[best] = 0;
  }
}

// Whether what acts leaves no motion along row i: its response is rounding beside that of free coordinates
template <int LDC>
SARRUS_FN bool is_blocked(const ContactRows<LDC>& c, int i) {
  const auto& w = c.w;
  const double* J = c.J + i * w.ld;
  double loose = sum_of<double>(c.m.nv, [&](int j) { return J[j] * J[j] / w.M[j * w.ld + j]; });
  return !(dot(J, c.X + i * w.ld, w.ld) > BLOCKED * loose);
}

// X and W of the chosen rows   in: the state evaluated and its rows factorized
template <int LDC>
SARRUS_FN void respond(ContactRows<LDC>& c) {
  auto& w = c.w;
  int ld = w.ld, n = c.rows;
  for (int i = 0; i < n; ++i) {
    copy(w.rhs, c.J + i * ld, c.m.nv);
    accelerate_by_force(c.m, w);
    copy(c.X + i * ld, w.a, ld);
    if (is_blocked(c, i)) fill(c.X + i * ld, ld);
  }
  for (int i = 0; i < n; ++i)
    for (int j = 0; j <= i; ++j) c.W[i * n + j] = c.W[j * n + i] = dot(c.J + j * ld, c.X + i * ld, ld);
  factor_response(c);
}

// Rate of u of row i at a moving point: points and accelerations of bodies by time
template <int LDC>
SARRUS_FN double row_rate(const ContactRows<LDC>& c, int i) {
  const Tree<double>& t = c.w.tree;
  int k = c.which[c.row_contact[i]];
  const ContactPoint<Moving<double>>& at = c.moved[k];
  if (c.row_kind[i] == NORMAL_ROW) return at.gap.b.b;
  auto [a, b] = nodes_of(c.m, c.m.slot_pair[k]);
  Spatial<double> A = t.A[b] - t.A[a], V = t.V[b] - t.V[a];
  if (c.row_kind[i] != TANGENT_ROW) return dot(A.ang, c.direction[i]);
  auto middle = [](const Moving<double>& x, const Moving<double>& y) { return (x.a.b + y.a.b) / 2; };
  Vec3<double> p = (c.slot[k].point_a + c.slot[k].point_b) * 0.5;
  Vec3<double> rate = {middle(at.point_a.x, at.point_b.x), middle(at.point_a.y, at.point_b.y),
                       middle(at.point_a.z, at.point_b.z)};
  return dot(A.lin + cross(A.ang, p) + cross(V.ang, rate), c.direction[i]);
}

// c.free under tau (nv), and c.bias = du/dt of that motion   in: as respond()
template <int LDC>
SARRUS_FN void move_freely(ContactRows<LDC>& c, const double* tau) {
  auto& w = c.w;
  accelerate(c.m, tau, w);
  refine(c.m, w);
  copy(c.free, w.a, w.ld);
  add_accelerations(c.m, c.free, w.tree);
  for (int i = 0; i < c.contacts; ++i) {
    int pair = c.pair_of_contact(i);
    bool first = i == 0 || c.pair_of_contact(i - 1) != pair;
    auto [a, b] = nodes_of(c.m, pair);
    if (first)
      contact_points(c.m, pair, moving_frame(w.tree, a), moving_frame(w.tree, b),
                     c.moved + c.m.pair_slot[pair]);
  }
  int first = c.rows - c.joint.n;
  for (int i = 0; i < first; ++i) c.bias[i] = row_rate(c, i);
  for (int i = first; i < c.rows; ++i)
    c.bias[i] = dot(c.J + i * c.w.ld, c.free, c.w.ld) - c.joint.right[i - first];
}

// Terms at a state, for choose_contacts() and what follows. False: the inertia is not positive definite, or
// contact points are not known.
template <int LDC>
SARRUS_FN bool open_state(ContactRows<LDC>& c, const State<double>& s) {
  evaluate(c.m, s, c.w);
  factorize_rows(c.m, c.w);
  return c.w.factor.spd && find_slots(c);
}

SARRUS_END
