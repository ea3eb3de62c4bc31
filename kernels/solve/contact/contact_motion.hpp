// Forces of contacts at a state: in a mode, where they follow from equations, and by the law of contacts,
// where the mode is what is found.
//
// Friction that slides goes with the push, against the sliding: its direction is that of the speed, continued
// through zero, so that a step may end beyond the time at which sliding ends. Where sliding begins, in a
// plane, that direction would turn faster than steps can follow: there the law gives it, by accelerations.
#pragma once

#include "contacts/problem/impact.hpp"
#include "contacts/problem/least_forces.hpp"
#include "solve/contact/contact_mode.hpp"
#include "solve/contact/contact_rows.hpp"

SARRUS_BEGIN

constexpr double SLIP_STILL = 1e-11;     // of the speeds (lengths over L): the direction is that of the mode
constexpr double MODE_RATE = 1e-8;       // of the accelerations: rates that count as none
constexpr double SHORT_OF_LIMIT = 1e-9;  // of its limit: friction that is nearer has reached it
constexpr double MODE_WEIGHT = 1e-9;     // of the diagonal, in solves for forces that depend on each other
constexpr int MODE_ROUNDS = 12;          // of such solves
constexpr double MODE_SOLVED = 1e-14;    // change at which they end, of the forces

template <int LDC>
struct ContactMotion {
  ContactRows<LDC> c;
  Impact impact;  // and the contact problem
  LeastForces least;
  Lu<double> lu;
  double* f;                        // (rows) force along each row
  double* Q;                        // (ld) generalized force of all
  double *x, *rest;                 // (rows)
  int* kept;                        // (rows) rows of equations, or of the problem
  double* B;                        // (rows, rows) directions of forces in the basis of L
  double* unit_way;                 // (rows) directions of sliding along rows
  unsigned char *gliding, *guided;  // (blocks) friction that goes with its push; that begins to slide
  int n = 0;                        // rows kept

  // joints: at most as many joint rows
  SARRUS_HD ContactMotion(const Model<double>& m, Arena& arena, int joints = 0) : c(m, arena, joints) {
    int most = c.room + joints;
    impact.bind(arena, most, most, 4 * m.nslot + joints);
    least.bind(arena, most, most);
    lu.bind(arena, most);
    arena.take(most, f, x, rest, kept, unit_way);
    arena.take(most * most, B);
    arena.take(4 * m.nslot + joints, gliding, guided);
    arena.take(c.w.ld, Q);
  }
};

SARRUS_HD int friction_index(int kind) { return kind - 1; }  // of SlotMode::slides

// A speed that others are compared with: the largest of the coordinates, in lengths
template <int LDC>
SARRUS_HD double speed_of(const ContactRows<LDC>& c, const double* v) {
  return c.m.length[0] * largest_of(c.m.nv, [&](int j) { return abs_(v[j]) / c.m.unit[j]; });
}

// Direction of sliding of a block along its rows: that of the speeds u, on the side of `way` (3, world)
template <int LDC>
SARRUS_FN void sliding_way(const ContactRows<LDC>& c, const ContactBlock& b, const double* u, double still,
                           const double* way, double* out) {
  double along = 0, size = 0, known = 0, wish[2] = {0, 0};
  for (int i = 0; i < b.size; ++i) {
    const Vec3<double>& e = c.direction[b.row + i];
    wish[i] = b.kind == TORSION_ROW ? way[0] : e.x * way[0] + e.y * way[1] + e.z * way[2];
    along += wish[i] * u[b.row + i];
    size += u[b.row + i] * u[b.row + i];
    known += wish[i] * wish[i];
  }
  bool moves = size > still * still;
  double s = moves ? (along < 0 ? -1 : 1) / sqrt_(size) : known > 0 ? 1 / sqrt_(known) : 0;
  for (int i = 0; i < b.size; ++i) out[b.row + i] = s * (moves ? u[b.row + i] : wish[i]);
}

// Which rows take part, and B: the friction of blocks that glide goes with the push.
// in: x.gliding, x.unit_way
template <int LDC>
SARRUS_FN void keep_rows(ContactMotion<LDC>& x) {
  ContactRows<LDC>& c = x.c;
  int stride = c.rows;
  x.n = 0;
  for (int k = 0, push = -1; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    if (b.kind == NORMAL_ROW) push = x.n;
    if (!x.gliding[k]) {
      for (int i = b.row; i < b.row + b.size; ++i) {
        copy(x.B + x.n * stride, c.L + i * stride, c.rank);
        x.kept[x.n++] = i;
      }
      continue;
    }
    for (int i = b.row; i < b.row + b.size; ++i)
      subtract_scaled(x.B + push * stride, b.share * x.unit_way[i], c.L + i * stride, c.rank);
  }
}

// Forces of all rows from those of the kept ones, x.x; the generalized force x.Q
template <int LDC>
SARRUS_FN void spread_forces(ContactMotion<LDC>& x) {
  ContactRows<LDC>& c = x.c;
  fill(x.f, c.rows);
  scatter(x.f, x.kept, x.x, x.n);
  for (int k = 0, push = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    if (b.kind == NORMAL_ROW) push = b.row;
    int slides = x.gliding[k] ? b.size : 0;
    for (int i = b.row; i < b.row + slides; ++i) x.f[i] = -b.share * x.unit_way[i] * x.f[push];
  }
  fill(x.Q, c.w.ld);
  for (int i = 0; i < c.rows; ++i) axpy(x.Q, x.f[i], c.J + i * c.w.ld, c.w.ld);
}

// v (ld) += what the forces x.f do
template <int LDC>
SARRUS_FN void add_response(const ContactMotion<LDC>& x, double* v) {
  for (int i = 0; i < x.c.rows; ++i) axpy(v, x.f[i], x.c.X + i * x.c.w.ld, x.c.w.ld);
}

// Forces x.x (n) with which the kept rows have no rate: W x = -rate, of least norm where W is singular
template <int LDC>
SARRUS_FN bool solve_rows_kept(ContactMotion<LDC>& x, const double* rate) {
  ContactRows<LDC>& c = x.c;
  int n = x.n, stride = c.rows;
  x.lu.n = n;
  auto entry = [&](int i, int j) { return inner(c.L + x.kept[i] * stride, x.B + j * stride, c.rank); };
  double most = largest_of(n, [&](int i) { return abs_(entry(i, i)); });
  if (!(most > 0)) return fill(x.x, n), true;
  for (int i = 0; i < n; ++i)
    for (int j = 0; j < n; ++j) x.lu.A[i * n + j] = entry(i, j) + (i == j ? MODE_WEIGHT * most : 0);
  fill(x.x, n);
  if (!factorize_lu(x.lu)) return false;
  for (int round = 0; round < MODE_ROUNDS; ++round) {
    for (int i = 0; i < n; ++i) x.rest[i] = MODE_WEIGHT * most * x.x[i] - rate[x.kept[i]];
    solve_lu(x.lu, x.rest);
    double moved = 0, size = 0;
    for (int i = 0; i < n; ++i)
      moved = larger(abs_(x.rest[i] - x.x[i]), moved), size = larger(abs_(x.rest[i]), size);
    copy(x.x, x.rest, n);
    if (!(moved > MODE_SOLVED * size)) break;
  }
  return true;
}

// Blocks that glide in a mode, and which way   modes (nslot)
template <int LDC>
SARRUS_FN void glide_by_mode(ContactMotion<LDC>& x, const SlotMode* modes, const double* u, double still) {
  ContactRows<LDC>& c = x.c;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    x.gliding[k] = x.guided[k] = 0;
    if (!goes_with_push(b.kind)) continue;
    const SlotMode& mode = modes[c.which[b.contact]];
    int which = friction_index(b.kind);
    x.gliding[k] = mode.slides[which] == SLIDES;
    x.guided[k] = mode.slides[which] == GUIDED;
    if (x.gliding[k]) sliding_way(c, b, u, still, mode.way + 3 * which, x.unit_way);
  }
}

// ---------------------------------------------------------------- by the law

// The contact problem of the kept rows with the rates b (rows)   restitution: of a contact
template <int LDC, class Restitution_>
SARRUS_FN void state_problem(ContactMotion<LDC>& x, const double* b, Restitution_ restitution) {
  ContactRows<LDC>& c = x.c;
  ContactProblem& p = x.impact.solver.p;
  int stride = c.rows;
  p.n = x.n, p.d = c.rank, p.blocks = 0;
  for (int i = 0; i < x.n; ++i) {
    copy(p.A + i * c.rank, c.L + x.kept[i] * stride, c.rank);
    copy(p.B + i * c.rank, x.B + i * stride, c.rank);
    p.b[i] = b[x.kept[i]];
  }
  for (int k = 0, row = 0, push = -1; k < c.blocks; ++k) {
    const ContactBlock& one = c.block[k];
    if (x.gliding[k]) continue;
    int on = goes_with_push(one.kind) ? push : -1;
    if (one.kind == NORMAL_ROW) push = row;
    x.impact.e[p.blocks] = one.kind == NORMAL_ROW ? restitution(one.contact) : 0;
    p.block[p.blocks++] = {
        is_push(one.kind) ? BlockKind::PUSH : BlockKind::DISC, row, one.size, on, one.share, one.fixed};
    row += one.size;
  }
}

// x.x from the scaled forces lam
template <int LDC>
SARRUS_FN void take_forces(ContactMotion<LDC>& x, const double* lam) {
  const ContactProblem& p = x.impact.solver.p;
  for (int i = 0; i < x.n; ++i) x.x[i] = lam[i] * p.scale[i];
  spread_forces(x);
}

// Blocks whose speed is not zero glide; the others are chosen by the law
template <int LDC>
SARRUS_FN void glide_by_speed(ContactMotion<LDC>& x, double still) {
  ContactRows<LDC>& c = x.c;
  const double nothing[3] = {0, 0, 0};
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    x.gliding[k] = goes_with_push(b.kind) && length_of(c.u + b.row, b.size) > still;
    x.guided[k] = 0;
    if (x.gliding[k]) sliding_way(c, b, c.u, 0, nothing, x.unit_way);
  }
}

// The law at accelerations, of the chosen contacts: x.f, x.Q
// in: c.u, respond(), move_freely(); still: speeds below are zero
template <int LDC>
SARRUS_FN ContactFound solve_accelerations(ContactMotion<LDC>& x, double still) {
  ContactSolver& s = x.impact.solver;
  glide_by_speed(x, still);
  keep_rows(x);
  state_problem(x, x.c.bias, [](int) { return 0.0; });
  ContactOutcome outcome = prepare_contacts(s);
  if (outcome != ContactOutcome::SOLVED) return {outcome, 1, 0};
  ContactFound found = solve_contacts(s, false);
  find_least_forces(s.p, x.least);
  take_forces(x, s.p.lam);
  return found;
}

// The law at velocities: an impact with the speeds c.u before it   restitution(contact)
template <int LDC, class E>
SARRUS_FN ImpactFound solve_velocities(ContactMotion<LDC>& x, E restitution) {
  for (int k = 0; k < x.c.blocks; ++k) x.gliding[k] = x.guided[k] = 0;
  keep_rows(x);
  state_problem(x, x.c.u, restitution);
  ImpactFound found = solve_impact(x.impact, Restitution::NEWTON);
  if (found.solution.outcome == ContactOutcome::SOLVED) {
    find_least_forces(x.impact.solver.p, x.least);
    take_forces(x, x.impact.solver.p.lam);
  }
  return found;
}

// ---------------------------------------------------------------- in a mode

// Forces of the kept rows by the law; the generalized force of joint rows is left out of x.Q. False: not
// solved   in: keep_rows(), move_freely()
template <int LDC>
SARRUS_FN bool forces_by_law(ContactMotion<LDC>& x) {
  ContactSolver& s = x.impact.solver;
  ContactRows<LDC>& c = x.c;
  state_problem(x, c.bias, [](int) { return 0.0; });
  if (prepare_contacts(s) != ContactOutcome::SOLVED) return false;
  if (solve_contacts(s, false).outcome != ContactOutcome::SOLVED) return false;
  find_least_forces(s.p, x.least);
  take_forces(x, s.p.lam);
  for (int i = c.rows - c.joint.n; i < c.rows; ++i) axpy(x.Q, -x.f[i], c.J + i * c.w.ld, c.w.ld);
  return true;
}

// Largest rate of a row that contacts have to change
template <int LDC>
SARRUS_HD double rate_size(const ContactMotion<LDC>& x) {
  return largest_of(x.c.rows, [&](int i) { return abs_(x.c.bias[i]); });
}
// Rate of a row under the forces x.f
template <int LDC>
SARRUS_HD double rate_after(const ContactMotion<LDC>& x, int i) {
  return x.c.bias[i] + inner(x.c.W + i * x.c.rows, x.f, x.c.rows);
}

// Where sliding begins: its direction along the rows of a block. Friction is against it and known to
// CONTACT_TOL; the rate, what gravity and friction leave of each other, may be no larger than that.
template <int LDC>
SARRUS_FN void beginning_way(const ContactMotion<LDC>& x, const ContactBlock& b, const double* rate,
                             double* way) {
  const double* force = x.f + b.row;
  double size = length_of(force, b.size);
  double most = largest_of(x.c.rows, [&](int i) { return abs_(x.f[i]); });
  bool known = size > MODE_RATE * most;
  if (!known) size = length_of(rate, b.size);
  for (int i = 0; i < b.size; ++i) way[i] = (known ? -force[i] : rate[i]) / size;
}

// Friction that begins to slide goes with its push, in the direction that the law gives; or the law holds it
template <int LDC>
SARRUS_FN bool glide_by_law(ContactMotion<LDC>& x) {
  const ContactRows<LDC>& c = x.c;
  if (!forces_by_law(x)) return false;
  double small = MODE_RATE * rate_size(x), push = 0;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    if (b.kind == NORMAL_ROW) push = x.f[b.row];
    if (!x.guided[k]) continue;
    double rate[2] = {0, 0};
    for (int i = 0; i < b.size; ++i) rate[i] = rate_after(x, b.row + i);
    bool at_limit = length_of(x.f + b.row, b.size) >= (1 - SHORT_OF_LIMIT) * b.share * push;
    x.gliding[k] = length_of(rate, b.size) > (at_limit ? 0 : small);
    if (x.gliding[k]) beginning_way(x, b, rate, x.unit_way + b.row);
  }
  keep_rows(x);
  return true;
}

// The same where the law is not solved: in the direction with which the mode began
template <int LDC>
SARRUS_FN void glide_as_begun(ContactMotion<LDC>& x, const SlotMode* modes, double still) {
  ContactRows<LDC>& c = x.c;
  for (int k = 0; k < c.blocks; ++k) {
    const ContactBlock& b = c.block[k];
    x.gliding[k] |= x.guided[k];
    const double* way = modes[c.which[b.contact]].way + (x.guided[k] ? 3 * friction_index(b.kind) : 0);
    if (x.guided[k]) sliding_way(c, b, c.u, still, way, x.unit_way);
  }
  keep_rows(x);
}

// x.f and x.Q at a state in a mode, under the force tau. False: no inertia, points are not known, or too many
template <int LDC>
SARRUS_FN bool forces_in_mode(ContactMotion<LDC>& x, const State<double>& s, const double* tau,
                              const SlotMode* modes) {
  ContactRows<LDC>& c = x.c;
  if (!open_state(c, s)) return false;
  if (!choose_contacts(c, [&](int k) { return modes[k].state != SLOT_OPEN; })) return false;
  row_speeds(c, s.v, c.u);
  respond(c);
  double still = SLIP_STILL * speed_of(c, s.v);
  glide_by_mode(x, modes, c.u, still);
  keep_rows(x);
  move_freely(c, tau);
  bool begins = any_of(c.blocks, [&](int k) { return x.guided[k] != 0; });
  if (begins && !glide_by_law(x)) glide_as_begun(x, modes, still);
  if (!solve_rows_kept(x, c.bias)) return false;
  spread_forces(x);
  return true;
}

SARRUS_END
