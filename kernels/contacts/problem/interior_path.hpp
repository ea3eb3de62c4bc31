// Interior-point steps for a contact problem: from anywhere to the neighbourhood of a solution.
//
//   lam_n u_n = tau,    (r, lam_t) o (sigma, u_t) = tau e                                                 (1)
//
// with o the product of second-order cones, (r, lam_t) and (sigma, u_t) inside of them: sigma becomes |u_t|.
// tau falls to zero; for tau > 0 a push is a repulsion and dry friction is viscous at low speeds. Forces of
// hyperstatic contacts stay bounded. Linearized, (1) gives each force by the change of speeds, and what is
// left has the size of the freedoms:
//
//   (1 + B^T D A) dy = ...    for y = y_free + B^T lam, u = A y + rest                                    (2)
//
// With radii that are given the problem is convex, and this is an interior-point method for it, which ends
// [Nocedal2006] sec. 14.1, 19.1. With radii that grow with the pushes it may stop on the way.
#pragma once

#include "algebra/lu.hpp"
#include "contacts/problem/cone_problem.hpp"

SARRUS_BEGIN

constexpr double PATH_END = 1e-11;  // tau, of the first one
constexpr int PATH_STEPS = 60;
constexpr double PATH_MARGIN = 0.95;  // of the way to the nearest boundary
constexpr double PATH_STUCK = 1e-12;  // shorter steps end the path
constexpr double FIRST_CENTRE = 0.3, LEAST_CENTRE = 0.02, MOST_CENTRE = 0.9;  // next tau, of the present one

struct ContactPath {
  Lu<double> lu;                // (d, d)
  double *y, *dy;               // (d) change of motion by the forces
  double *lam, *dlam, *u, *du;  // (n); u of pushes are kept positive
  double* c;                    // (n) dlam = c - D du
  double* D;                    // (n, 3) along the rows of a block, and along the push's change
  double *sigma, *dsigma;       // (blocks)
  double* T;                    // (n, d) D A

  SARRUS_HD void bind(Arena& arena, int n, int d, int blocks) {
    lu.bind(arena, d);
    arena.take(d, y, dy);
    arena.take(n, lam, dlam, u, du, c);
    arena.take(3 * n, D);
    arena.take(blocks, sigma, dsigma);
    arena.take(n * d, T);
  }
};

// Whether a block carries a force at all
SARRUS_HD bool carries(const ContactProblem& p, const ForceBlock& at) {
  return p.scale[at.row] > 0 && (at.kind == BlockKind::PUSH || at.fixed > 0 || at.share > 0);
}

SARRUS_FN void start_path(const ContactProblem& p, double size, ContactPath& w) {
  fill(w.y, p.d);
  fill(w.lam, p.n);
  copy(w.u, p.b, p.n);
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (!carries(p, at)) continue;
    if (at.kind == BlockKind::PUSH)
      w.lam[at.row] = size, w.u[at.row] = larger(p.b[at.row], size);
    else
      w.sigma[k] = length_of(w.u + at.row, at.size) + size;
  }
}

// Mean of the products in (1)
SARRUS_FN double mean_product(const ContactProblem& p, const ContactPath& w) {
  double sum = 0;
  int count = 0;
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (!carries(p, at)) continue;
    ++count;
    if (at.kind == BlockKind::PUSH)
      sum += w.lam[at.row] * w.u[at.row];
    else
      sum += radius_of(at, w.lam) * w.sigma[k] + inner(w.lam + at.row, w.u + at.row, at.size);
  }
  return count ? sum / count : 0;
}

// dlam = c - D du of a disc, with the push's change last
SARRUS_FN void linearize_disc(const ForceBlock& at, int k, double tau, ContactPath& w) {
  const double *f = w.lam + at.row, *u = w.u + at.row;
  int m = at.size;
  double r = radius_of(at, w.lam), s = w.sigma[k], fu = inner(f, u, m), off = tau - r * s - fu;
  double uf[2][2], E[2][4];  // (s - f u^T / r) dlam = E: along du (2), the radius, and 1
  for (int i = 0; i < m; ++i) {
    for (int j = 0; j < m; ++j) {
      uf[i][j] = (i == j ? s : 0) - f[i] * u[j] / r;
      E[i][j] = (i == j ? r : 0) - f[i] * f[j] / r;
    }
    E[i][2] = u[i] - f[i] * s / r;
    E[i][3] = -(r * u[i] + s * f[i]) - f[i] * off / r;
  }
  double det = m > 1 ? uf[0][0] * uf[1][1] - uf[0][1] * uf[1][0] : uf[0][0];
  auto solve = [&](int i, int column) {
    if (m == 1) return E[0][column] / det;
    return (uf[1 - i][1 - i] * E[i][column] - uf[i][1 - i] * E[1 - i][column]) / det;
  };
  for (int i = 0; i < m; ++i) {
    double* D = w.D + 3 * (at.row + i);
    for (int j = 0; j < m; ++j) D[j] = solve(i, j);
    D[2] = solve(i, 2) * at.share;
    w.c[at.row + i] = solve(i, 3);
  }
}

// D, c of all blocks, and T = D A with the pushes' share put in
SARRUS_FN void linearize_blocks(const ContactProblem& p, double tau, ContactPath& w) {
  int d = p.d;
  fill(w.T, p.n * d);
  fill(w.c, p.n);
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    int i = at.row;
    if (!carries(p, at) || at.kind != BlockKind::PUSH) continue;
    double stiff = w.lam[i] / w.u[i], real_u = p.b[i] + inner(p.row(i), w.y, d);
    w.c[i] = (tau - w.lam[i] * w.u[i]) / w.u[i] - stiff * (real_u - w.u[i]);
    set_scaled(w.T + i * d, stiff, p.row(i), d);
  }
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    if (!carries(p, at) || at.kind != BlockKind::DISC) continue;
    linearize_disc(at, k, tau, w);
    for (int i = at.row; i < at.row + at.size; ++i) {
      const double* D = w.D + 3 * i;
      for (int j = 0; j < at.size; ++j) add_scaled(w.T + i * d, D[j], p.row(at.row + j), d);
      if (at.push < 0) continue;
      add_scaled(w.T + i * d, -D[2], w.T + at.push * d, d);
      w.c[i] -= D[2] * w.c[at.push];
    }
  }
}

// w.dy by (2), and the changes that follow
SARRUS_FN bool path_step(const ContactProblem& p, double tau, ContactPath& w) {
  int n = p.n, d = p.d;
  linearize_blocks(p, tau, w);
  w.lu.n = d;
  set_identity(w.lu.A, d);
  for (int j = 0; j < d; ++j) w.dy[j] = -w.y[j];
  for (int i = 0; i < n; ++i) {
    const double* B = p.B + i * d;
    add_scaled(w.dy, w.lam[i] + w.c[i], B, d);
    for (int j = 0; j < d; ++j) add_scaled(w.lu.A + j * d, B[j], w.T + i * d, d);
  }
  if (!factorize_lu(w.lu)) return false;
  solve_lu(w.lu, w.dy);
  for (int i = 0; i < n; ++i) {
    w.dlam[i] = w.c[i] - inner(w.T + i * d, w.dy, d);
    w.du[i] = inner(p.row(i), w.dy, d);
  }
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    int i = at.row;
    if (!carries(p, at)) continue;
    if (at.kind == BlockKind::PUSH) {
      w.du[i] += p.b[i] + inner(p.row(i), w.y, d) - w.u[i];
      continue;
    }
    double r = radius_of(at, w.lam), dr = at.push >= 0 ? at.share * w.dlam[at.push] : 0, s = w.sigma[k];
    double sum = tau - r * s - s * dr;
    for (int j = i; j < i + at.size; ++j) sum -= w.lam[j] * w.u[j] + w.u[j] * w.dlam[j] + w.lam[j] * w.du[j];
    w.dsigma[k] = sum / r;
  }
  return true;
}

// Largest t <= 1 at which (x0, x) + t (dx0, dx) is still in its cone
SARRUS_FN double way_in_cone(double x0, const double* x, double dx0, const double* dx, int n) {
  double a = dx0 * dx0 - inner(dx, dx, n), b = x0 * dx0 - inner(x, dx, n), c = x0 * x0 - inner(x, x, n);
  double most = dx0 < 0 ? -x0 / dx0 : 1e300, disc = b * b - a * c, t = 1e300;
  if (disc >= 0) {
    double root = sqrt_(disc);
    double q = -(b + (b > 0 ? root : -root));
    double t1 = a != 0 ? q / a : 1e300, t2 = q != 0 ? c / q : 1e300;
    if (t1 > 0) t = smaller(t, t1);
    if (t2 > 0) t = smaller(t, t2);
  }
  return smaller(smaller(t, most), 1e300);
}

SARRUS_FN double way_to_boundary(const ContactProblem& p, const ContactPath& w) {
  double t = 1 / PATH_MARGIN;
  for (int k = 0; k < p.blocks; ++k) {
    const ForceBlock& at = p.block[k];
    int i = at.row;
    if (!carries(p, at)) continue;
    if (at.kind == BlockKind::PUSH) {
      if (w.dlam[i] < 0) t = smaller(t, -w.lam[i] / w.dlam[i]);
      if (w.du[i] < 0) t = smaller(t, -w.u[i] / w.du[i]);
      continue;
    }
    double dr = at.push >= 0 ? at.share * w.dlam[at.push] : 0;
    t = smaller(t, way_in_cone(radius_of(at, w.lam), w.lam + i, dr, w.dlam + i, at.size));
    t = smaller(t, way_in_cone(w.sigma[k], w.u + i, w.dsigma[k], w.du + i, at.size));
  }
  return PATH_MARGIN * t;
}

// Follows the path from forces and speeds of `size`; p.lam becomes where it ended. Returns the steps.
SARRUS_FN int follow_path(ContactProblem& p, double size, ContactPath& w) {
  start_path(p, size, w);
  double first = mean_product(p, w), centre = FIRST_CENTRE;
  int step = 0;
  for (; step < PATH_STEPS; ++step) {
    double tau = mean_product(p, w);
    if (!(tau > PATH_END * first)) break;
    if (!path_step(p, centre * tau, w)) break;
    double t = way_to_boundary(p, w);
    if (!(t > PATH_STUCK)) break;
    add_scaled(w.y, t, w.dy, p.d);
    add_scaled(w.lam, t, w.dlam, p.n);
    add_scaled(w.u, t, w.du, p.n);
    add_scaled(w.sigma, t, w.dsigma, p.blocks);
    centre = within(2 * (1 - t) * (1 - t), LEAST_CENTRE, MOST_CENTRE);
  }
  copy(p.lam, w.lam, p.n);
  return step;
}

SARRUS_END
