// Newton's method on the natural map of a contact problem [AlartCurnier1991]: few steps once the modes are
// right, quadratic in the sliding directions, and none at all where the modes already are.
//
// W is singular where contacts are hyperstatic. A small multiple of the unit matrix in the Jacobian, not in
// the map, makes the steps unique; what it costs is a factor MAP_WEIGHT / (smallest other singular value)
// left of the error by each step.
#pragma once

#include "algebra/lu.hpp"
#include "contacts/problem/cone_problem.hpp"

SARRUS_BEGIN

constexpr double MAP_WEIGHT = 1e-9;
constexpr int MAP_STEPS = 30, MAP_IDLE = 8;  // at most, and without a new best residual

struct ContactNewton {
  Lu<double> lu;
  double *x, *u, *step, *room;

  SARRUS_HD void bind(Arena& arena, int n) {
    lu.bind(arena, n);
    arena.take(n, x, u, step, room);
  }
};

// Row i of the Jacobian = s times the derivative of u_i
SARRUS_HD void speed_row(const ContactProblem& p, int i, double* J) {
  copy(J + i * p.n, p.W + i * p.n, p.n);
  J[i * p.n + i] += MAP_WEIGHT;
}

// Rows of a disc that slides: F = lam - r z / |z|
SARRUS_FN void sliding_rows(const ContactProblem& p, const ForceBlock& at, double r, const double* z,
                            double size, const ContactNewton& w) {
  int n = p.n;
  double* J = w.lu.A;
  double e[2] = {z[at.row] / size, at.size > 1 ? z[at.row + 1] / size : 0};
  for (int i = 0; i < at.size; ++i) {
    double* to = J + (at.row + i) * n;
    fill(to, n);
    for (int k = 0; k < at.size; ++k) {
      double across = r / size * ((i == k ? 1 : 0) - e[i] * e[k]);
      to[at.row + k] -= across;
      add_scaled(to, across, p.W + (at.row + k) * n, n);
    }
    to[at.row + i] += 1;
    if (at.push >= 0 && r > 0) to[at.push] -= at.share * e[i];
  }
}

// F at w.x into w.step, with its sign changed, and the Jacobian
SARRUS_FN void linearize_map(const ContactProblem& p, ContactNewton& w) {
  int n = p.n;
  double* z = w.room;
  set_difference(z, w.x, w.u, n);
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    double r = at.kind == BlockKind::PUSH ? 0 : radius_of(at, w.x), size = length_of(z + at.row, at.size);
    bool inside = at.kind == BlockKind::PUSH ? z[at.row] > 0 : size < r;
    if (inside && p.scale[at.row] > 0) {
      for (int i = at.row; i < at.row + at.size; ++i) {
        speed_row(p, i, w.lu.A);
        w.step[i] = -w.u[i];
      }
    } else if (at.kind == BlockKind::PUSH || !(size > 0)) {
      for (int i = at.row; i < at.row + at.size; ++i) {
        fill(w.lu.A + i * n, n);
        w.lu.A[i * n + i] = 1;
        w.step[i] = -w.x[i];
      }
    } else {
      sliding_rows(p, at, r, z, size, w);
      for (int i = at.row; i < at.row + at.size; ++i) w.step[i] = r * z[i] / size - w.x[i];
    }
  }
}

// From p.lam; p.lam and p.u become those of the least residual, which is returned.
SARRUS_FN double newton_steps(ContactProblem& p, ContactNewton& w, int most) {
  int n = p.n, idle = 0;
  copy(w.x, p.lam, n);
  speeds(p, w.x, w.u);
  copy(p.u, w.u, n);
  double best = residual_of(p, w.x, w.u, w.room);
  w.lu.n = n;
  for (int step = 0; step < most && best > CONTACT_WANTED && idle < MAP_IDLE; ++step) {
    linearize_map(p, w);
    if (!factorize_lu(w.lu)) break;
    solve_lu(w.lu, w.step);
    add(w.x, w.step, n);
    speeds(p, w.x, w.u);
    double now = residual_of(p, w.x, w.u, w.room);
    if (!(now < best)) {
      if (best <= CONTACT_TOL || !(now < 1e300)) break;
      ++idle;
      continue;
    }
    idle = 0, best = now;
    copy(p.lam, w.x, n);
    copy(p.u, w.u, n);
  }
  return best;
}

SARRUS_END
