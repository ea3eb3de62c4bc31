// The flat model: one table of arrays, read by every algorithm and by the bindings.
//
// A *node* is a moving frame with one primitive joint; node 0 is the ground. Composite joints (universal,
// cylindrical, planar) are chains of massless nodes, fixed joints are folded into their parent, and the
// frame of a hinge, slide or screw is turned so that its axis is z. A *body* is what the user named: a
// constant frame on a node. Rows are those of phi, J, b and gamma, in the order of declaration.
//
// MODEL_FIELDS is the only list: the struct below, the shape checks of the bindings and the Python
// dataclass are made from it. Plain data: the only header outside the instruction-set namespaces.
#pragma once

namespace sarrus {

struct FrontPlan;

constexpr int MOST_SINGULAR_VALUES =
    64;  // coordinates: larger mechanisms get them only where they are asked for

enum Joint : int { GROUND = 0, HINGE = 1, SLIDE = 2, SCREW = 3, BALL = 4, FREE = 5, AMPLITUDE = 6 };

// X(type, name, count, width): type I (int32) or F (float64); count is one of MODEL_SIZES.
// clang-format off
#define SARRUS_MODEL_SIZES(X) \
  X(nn) /* nodes, ground included */ X(nb) /* bodies, ground included */ X(nq) X(nv) X(nc) \
  X(ne) /* elements with rows */ X(nev) /* their parameters */ X(nsup) /* columns that move them */ \
  X(nk) /* coupling rows */ X(nkt) /* coupling terms */ X(nkn) /* knots of their curves */ \
  X(nd) /* drives */ X(n_user_rows) X(nm) /* rows of gears and belts */ \
  X(nf) /* forces between nodes */ X(nfv) /* their parameters */ \
  X(ncf) /* forces on coordinates */ X(ncfv) /* their parameters */ \
  X(nfl) /* flexible bodies */ X(nflv) /* their constants */ \
  X(nfm) /* forces by formulas */ X(nfi) /* their instructions */ X(nfs) /* their numbers */ \
  X(ns) /* surfaces */ X(nsv) /* their parameters */ X(npair) /* pairs of them that may touch */ \
  X(nslot) /* contact points of all pairs */ X(one)

#define SARRUS_MODEL_FIELDS(X) \
  /* nodes: parent, joint, first index into q and v */ \
  X(I, parent, nn, 1) X(I, joint, nn, 1) X(I, iq, nn, 1) X(I, iv, nn, 1) \
  /* joint frame in the parent's node frame; screw pitch [m/rad] */ \
  X(F, R_PJ, nn, 9) X(F, p_PJ, nn, 3) X(F, pitch, nn, 1) \
  /* mass [kg], centre of mass [m], inertia about it (xx xy xz yy yz zz) [kg m^2], in the node frame */ \
  X(F, mass, nn, 1) X(F, com, nn, 3) X(F, inertia, nn, 6) \
  /* coordinates: reflected inertia, viscous and Coulomb friction, its smoothing speed, unit (L or 1) */ \
  X(F, armature, nv, 1) X(F, damping, nv, 1) X(F, friction, nv, 1) X(F, friction_speed, nv, 1) X(F, unit, nv, 1) \
  /* coordinates whose rate is a state of first order (1): they move nothing and have no energy */ \
  X(I, first_order, nv, 1) \
  /* bodies: frame on a node */ \
  X(I, body_node, nb, 1) X(F, R_NB, nb, 9) X(F, p_NB, nb, 3) \
  /* elements between nodes a and b (constraints/kinds.hpp): kind, first row, number of rows, parameters from */ \
  X(I, el_kind, ne, 1) X(I, el_a, ne, 1) X(I, el_b, ne, 1) X(I, el_row, ne, 1) X(I, el_rows, ne, 1) \
  X(I, el_begin, ne, 1) X(F, el_values, nev, 1) \
  /* columns that move b relative to a: entries sup_begin .. sup_end, +1 on b's side, -1 on a's */ \
  X(I, el_sup_begin, ne, 1) X(I, el_sup_end, ne, 1) X(I, sup_col, nsup, 1) X(F, sup_sign, nsup, 1) \
  /* couplings sum coef f(q) = offset + drive(t): row, terms, offset, drive index or -1; f(q) = q where a term
     has no knots, else the curve of constraints/coupling_terms.hpp */ \
  X(I, k_row, nk, 1) X(I, k_begin, nk, 1) X(I, k_end, nk, 1) X(F, k_offset, nk, 1) X(I, k_drive, nk, 1) \
  X(I, kt_q, nkt, 1) X(I, kt_v, nkt, 1) X(F, kt_coef, nkt, 1) \
  X(I, kt_knot, nkt, 1) X(I, kt_knots, nkt, 1) X(F, knots, nkn, 5) \
  /* gears and belts: number among them, row; the node in whose frame they stand still; nodes a and b that they
     load; wrench on a [force; moment] at lam = 0, by lam, by |lam|, in that frame
     (solve/friction/bearing_loads.hpp) */ \
  X(I, mesh_id, nm, 1) X(I, mesh_row, nm, 1) X(I, mesh_frame, nm, 1) X(I, mesh_a, nm, 1) X(I, mesh_b, nm, 1) X(F, mesh_wrench, nm, 18) \
  /* rows whose phi, b, gamma, J are handed in */ \
  X(I, u_row, n_user_rows, 1) \
  /* unit of each row: L for a length, 1 for an angle (phi and J are divided by it for rank decisions) */ \
  X(F, row_unit, nc, 1) \
  /* whether a row constrains positions (1) or velocities only (0) */ \
  X(I, row_holonomic, nc, 1) \
  /* forces between nodes a and b, and on coordinates (tree/forces/kinds.hpp): kind, parameters from */ \
  X(I, fo_kind, nf, 1) X(I, fo_a, nf, 1) X(I, fo_b, nf, 1) X(I, fo_begin, nf, 1) X(F, fo_values, nfv, 1) \
  X(I, cf_kind, ncf, 1) X(I, cf_q, ncf, 1) X(I, cf_v, ncf, 1) X(I, cf_begin, ncf, 1) X(F, cf_values, ncfv, 1) \
  /* flexible bodies (tree/flexible.hpp): node of the floating frame, first of their coordinates in q and v and
     how many, coordinates that stretch, constants from */ \
  X(I, fl_node, nfl, 1) X(I, fl_q, nfl, 1) X(I, fl_v, nfl, 1) X(I, fl_n, nfl, 1) X(I, fl_stretches, nfl, 1) \
  X(I, fl_begin, nfl, 1) X(F, fl_values, nflv, 1) \
  /* forces by formulas (tree/forces/formulas.hpp): node (-1: on coordinates), frame on it, axes (1: of the
     world), instructions from .. to, numbers from .. to; the instructions; the numbers before the first one */ \
  X(I, fm_node, nfm, 1) X(F, fm_R, nfm, 9) X(F, fm_p, nfm, 3) X(I, fm_world, nfm, 1) \
  X(I, fm_begin, nfm, 1) X(I, fm_end, nfm, 1) X(I, fm_first, nfm, 1) X(I, fm_last, nfm, 1) \
  X(I, fm_code, nfi, 5) X(F, fm_start, nfs, 1) \
  /* surfaces (contacts/shapes/kinds.hpp): kind, node, frame on it, ball around it (centre on the node, radius;
     negative: none), parameters from */ \
  X(I, sf_kind, ns, 1) X(I, sf_node, ns, 1) X(F, sf_R, ns, 9) X(F, sf_p, ns, 3) X(F, sf_ball, ns, 4) \
  X(I, sf_begin, ns, 1) X(F, sf_values, nsv, 1) \
  /* pairs: surfaces a and b, first slot and number of slots, friction, restitution, torsion and rolling [m];
     the pair of each slot */ \
  X(I, pair_a, npair, 1) X(I, pair_b, npair, 1) X(I, pair_slot, npair, 1) X(I, pair_slots, npair, 1) \
  X(F, pair_law, npair, 4) X(I, slot_pair, nslot, 1) \
  /* gravity [m/s^2], reference point of the spatial vectors [m], length L [m], rank tolerance */ \
  X(F, gravity, one, 3) X(F, origin, one, 3) X(F, length, one, 1) X(F, rank_tol, one, 1)
// clang-format on

// View of a model whose arrays live elsewhere. R is the real type of the parameters (double, float).
template <class R>
struct Model {
  using I = int;
  using F = R;
#define SARRUS_SIZE(name) int name = 0;
  SARRUS_MODEL_SIZES(SARRUS_SIZE)
#undef SARRUS_SIZE
#define SARRUS_FIELD(type, name, count, width) const type* name = nullptr;
  SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
  bool lengths = true;  // whether any coordinate is a length (unit other than 1); true is always right
  bool sparse = false;  // whether eliminating J by entries is worth it; false is always right
  const FrontPlan* fronts = nullptr;  // of M + J^T W J (factor/augmented_inertia.hpp); null is always right
};

}  // namespace sarrus
