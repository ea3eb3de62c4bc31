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

enum Joint : int { GROUND = 0, HINGE = 1, SLIDE = 2, SCREW = 3, BALL = 4, FREE = 5 };

// What a closure does to directions: nothing; two components of b's axis across a's; the rotation
// vector of B in A; the cosine between one axis of each.
enum Angular : int { ANY = 0, ACROSS = 1, ROTATION = 2, COSINE = 3 };

// Bits of cl_linear: direction rows 0, 1, 2 are kept, or one row for the distance of the two points.
enum Linear : int { DISTANCE = 8 };

// X(type, name, count, width): type I (int32) or F (float64); count is one of MODEL_SIZES.
// clang-format off
#define SARRUS_MODEL_SIZES(X) \
  X(nn) /* nodes, ground included */ X(nb) /* bodies, ground included */ X(nq) X(nv) X(nc) \
  X(ncl) /* closures */ X(nsup) /* support entries */ X(nk) /* coupling rows */ X(nkt) /* coupling terms */ \
  X(nd) /* drives */ X(nu) /* rows computed by the user */ X(nro) /* rolling contacts */ \
  X(njs) /* joint springs */ X(nps) /* point springs */ X(nw) /* wrenches */ X(nst) /* joint stops */ X(one)

#define SARRUS_MODEL_FIELDS(X) \
  /* nodes: parent, joint, first index into q and v */ \
  X(I, parent, nn, 1) X(I, joint, nn, 1) X(I, iq, nn, 1) X(I, iv, nn, 1) \
  /* joint frame in the parent's node frame; screw pitch [m/rad] */ \
  X(F, R_PJ, nn, 9) X(F, p_PJ, nn, 3) X(F, pitch, nn, 1) \
  /* mass [kg], centre of mass [m], inertia about it (xx xy xz yy yz zz) [kg m^2], in the node frame */ \
  X(F, mass, nn, 1) X(F, com, nn, 3) X(F, inertia, nn, 6) \
  /* coordinates: reflected inertia, viscous and Coulomb friction, its smoothing speed, unit (L or 1) */ \
  X(F, armature, nv, 1) X(F, damping, nv, 1) X(F, friction, nv, 1) X(F, friction_speed, nv, 1) X(F, unit, nv, 1) \
  /* bodies: frame on a node */ \
  X(I, body_node, nb, 1) X(F, R_NB, nb, 9) X(F, p_NB, nb, 3) \
  /* closures: nodes, first row, bit mask of linear rows, kind of angular rows */ \
  X(I, cl_a, ncl, 1) X(I, cl_b, ncl, 1) X(I, cl_row, ncl, 1) X(I, cl_linear, ncl, 1) X(I, cl_angular, ncl, 1) \
  /* frame A on node a, frame B on node b; three directions in a; two axes in a, the same two in b; axis in b */ \
  X(F, cl_R_aA, ncl, 9) X(F, cl_p_aA, ncl, 3) X(F, cl_R_bB, ncl, 9) X(F, cl_p_bB, ncl, 3) \
  X(F, cl_directions, ncl, 9) X(F, cl_across_a, ncl, 6) X(F, cl_across_b, ncl, 6) X(F, cl_axis_b, ncl, 3) \
  /* pitch of a helical closure [m/rad], acting on cl_pitch_row of the directions (-1: none); length [m] */ \
  X(F, cl_pitch, ncl, 1) X(I, cl_pitch_row, ncl, 1) X(F, cl_length, ncl, 1) \
  /* columns that move a closure: entries sup_begin .. sup_end, +1 on b's side, -1 on a's */ \
  X(I, cl_sup_begin, ncl, 1) X(I, cl_sup_end, ncl, 1) X(I, sup_col, nsup, 1) X(F, sup_sign, nsup, 1) \
  /* linear couplings sum coef q = offset + drive(t): row, terms, offset, drive index or -1 */ \
  X(I, k_row, nk, 1) X(I, k_begin, nk, 1) X(I, k_end, nk, 1) X(F, k_offset, nk, 1) X(I, k_drive, nk, 1) \
  X(I, kt_q, nkt, 1) X(I, kt_v, nkt, 1) X(F, kt_coef, nkt, 1) \
  /* rows whose phi, b, gamma, J are handed in */ \
  X(I, u_row, nu, 1) \
  /* rolling discs: node, centre, axis in the node; ground normal and a point of the ground plane; first row */ \
  X(I, ro_node, nro, 1) X(I, ro_row, nro, 1) X(F, ro_centre, nro, 3) X(F, ro_axis, nro, 3) \
  X(F, ro_normal, nro, 3) X(F, ro_point, nro, 3) X(F, ro_radius, nro, 1) \
  /* unit of each row: L for a length, 1 for an angle (phi and J are divided by it for rank decisions) */ \
  X(F, row_unit, nc, 1) \
  /* joint springs */ \
  X(I, js_q, njs, 1) X(I, js_v, njs, 1) X(F, js_stiffness, njs, 1) X(F, js_rest, njs, 1) \
  /* point springs between p_a on node a and p_b on node b */ \
  X(I, ps_a, nps, 1) X(I, ps_b, nps, 1) X(F, ps_p_a, nps, 3) X(F, ps_p_b, nps, 3) \
  X(F, ps_stiffness, nps, 1) X(F, ps_rest, nps, 1) X(F, ps_damping, nps, 1) \
  /* constant wrenches [force; moment] at a point of a node, in world axes (0) or in the node's (1) */ \
  X(I, w_node, nw, 1) X(I, w_local, nw, 1) X(F, w_point, nw, 3) X(F, w_wrench, nw, 6) \
  /* one-sided joint stops */ \
  X(I, st_q, nst, 1) X(I, st_v, nst, 1) X(F, st_lower, nst, 1) X(F, st_upper, nst, 1) \
  X(F, st_stiffness, nst, 1) X(F, st_damping, nst, 1) \
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
};

}  // namespace sarrus
