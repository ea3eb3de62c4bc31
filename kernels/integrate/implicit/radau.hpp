// Radau IIA of order 5 on the constraint manifold, for stiff systems.
//
// Three stages are solved together by a simplified Newton method, in local coordinates about the beginning of
// each step (integrate/local_chart.hpp), every stage on the constraints. The iteration matrix is new
// in every step.
//
//   Z = h (A x 1) F(Z),   (1/h A^-1 x 1 - 1 x G) dZ = F(Z) - 1/h (A^-1 x 1) Z    [Hairer1996] sec. IV.8   (1)
//   A^-1 = V [ g ; a -b ; b a ] V^-1: one real and one complex system of the size of G                    (2)
//   (g/h - G) err = f0 + g/h (e1 z1 + e2 z2 + e3 z3)                                       eq. (8.20)     (3)
#pragma once

#include "integrate/end_of_step.hpp"
#include "integrate/implicit/iteration_matrix.hpp"

SARRUS_BEGIN

constexpr int STAGES = 3;
constexpr double ROOT6 = 2.449489742783178098;
constexpr double G_REAL = 3.637834252744495732, A_REAL = 2.681082873627752134, B_IMAG = 3.050430199247410569;

struct Collocation {
  double c[STAGES] = {(4 - ROOT6) / 10, (4 + ROOT6) / 10, 1};
  double A_inverse[STAGES][STAGES] = {{3.224744871391589049, 1.167840084690405495, -0.2531972647421808262},
                                      {-3.567840084690405495, 0.7752551286084109509, 1.053197264742180826},
                                      {5.531972647421808262, -7.531972647421808262, 5}};
  double V[STAGES][STAGES] = {{0.09123239487089294279, -0.1412552950209542084, -0.03002919410514742449},
                              {0.241717932707107019, 0.204129352293799932, 0.3829421127572619378},
                              {0.9660481826150929362, 1, 0}};
  double V_inverse[STAGES][STAGES] = {{4.325579890063155351, 0.3391992518158098695, 0.5417705399358748712},
                                      {-4.178718591551904727, -0.3276828207610623871, 0.476623554500550452},
                                      {-0.502872634945786876, 2.571926949855605429, -0.596039204828224925}};
  double e[STAGES] = {(-13 - 7 * ROOT6) / (3 * G_REAL), (-13 + 7 * ROOT6) / (3 * G_REAL), -1 / (3 * G_REAL)};
};

constexpr int MOST_NEWTON = 7;
constexpr double NEWTON_LEFT = 0.03;  // of the tolerance: error that the iteration leaves

template <class T, int LDC>
struct Radau {
  Collocation table;
  Chart<T, LDC> chart;
  Recursive<T, LDC> r;
  Lu<T> one;             // g/h - G
  Lu<Complex<T>> two;    // (a + i b)/h - G
  T *G, *f0, *start;     // (n, n), (n): rates and coordinates at the beginning
  T *Z, *F, *dZ;         // (STAGES, n)
  Complex<T>* pair;      // (n)
  T *across, *u, *v;     // (STAGES, ld): parts of u across the tangent directions, increments, velocities
  T *past_u, *past_v;    // (STAGES, ld): those of the last step
  T* scale;              // (2, ld): allowed errors of q and v
  double past_step = 0;  // of the last step; 0: there is none
  double past_error = 0;
  int n = 0;

  SARRUS_HD Radau(const Model<real<T>>& m, Arena& arena, int ld) : r(m, arena) {
    chart.bind(m, arena, ld);
    int most = 2 * m.nv;
    one.bind(arena, most);
    two.bind(arena, most);
    arena.take(most * most, G);
    arena.take(most, f0, start, pair);
    arena.take(2 * ld, scale);
    arena.take(STAGES * most, Z, F, dZ);
    arena.take(STAGES * ld, across, u, v, past_u, past_v);
  }
};

// Root mean square of increments y (n) in units of the tolerance.
template <class T, int LDC, class S>
SARRUS_FN double measure(Stepper<T, LDC, S>& s, Radau<T, LDC>& r, const T* y) {
  const Model<real<T>>& m = s.m;
  const Directions<T>& pos = r.chart.positions();
  int ld = s.w.ld;
  double sum = 0;
  lift(m, pos.N, pos.n, y, ld, s.x);
  for (int j = 0; j < m.nv; ++j) sum += value(s.x[j] * s.x[j] / (r.scale[j] * r.scale[j]));
  lift(m, r.chart.vel.N, r.chart.vel.n, y + pos.n, ld, s.x);
  for (int j = 0; j < m.nv; ++j) sum += value(s.x[j] * s.x[j] / (r.scale[ld + j] * r.scale[ld + j]));
  return m.nv ? sqrt_(sum / (2 * m.nv)) : 0;
}

// Allowed errors at the state, as the explicit method has them.
template <class T, int LDC, class S>
SARRUS_FN void set_scale(const Stepper<T, LDC, S>& s, Radau<T, LDC>& r) {
  const Model<real<T>>& m = s.m;
  each_coordinate(m, [&](int i, int k) {
    Allowed allowed = allowed_error(s, i, k, s.v);
    r.scale[k] = T(allowed.position);
    r.scale[s.w.ld + k] = T(allowed.velocity);
  });
}

// Rates (n) of the local coordinates y (n) of stage i at time t: on the constraints, the rank of J held.
template <class T, int LDC, class S>
SARRUS_FN bool stage_rates(Stepper<T, LDC, S>& s, Radau<T, LDC>& r, double t, int i, const T* y, T* rates) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  Chart<T, LDC>& chart = r.chart;
  int n = chart.positions().n;
  if (!close_stage(s, t, y, r.across + i * w.ld, chart)) return false;
  close_velocity(s, y + n, chart);
  Instant<T> at = s.trial_state(t, i + 1);
  if (!evaluate(s, at, {false, false, true})) return false;
  if (!accelerate(s, at, s.kv)) return false;
  increment_rate(m, s.u, s.v1, s.ku);
  reduce(m, chart.positions().N, n, s.ku, w.ld, chart.y, rates);
  reduce(m, chart.vel.N, chart.vel.n, s.kv, w.ld, chart.y, rates + n);
  return true;
}

// G by one-sided differences.
SARRUS_FN bool difference_matrix(auto& s, auto& r) {
  copy(r.dZ, r.start, r.n);
  fill(r.across, s.w.ld);
  if (!stage_rates(s, r, s.t, 0, r.dZ, r.F)) return false;
  for (int k = 0; k < r.n; ++k) {
    r.dZ[k] = r.start[k] + DIFFERENCE_STEP;
    fill(r.across, s.w.ld);
    if (!stage_rates(s, r, s.t, 0, r.dZ, r.Z)) return false;
    for (int i = 0; i < r.n; ++i) r.G[i * r.n + k] = (r.Z[i] - r.F[i]) / DIFFERENCE_STEP;
    r.dZ[k] = r.start[k];
  }
  return true;
}

// Chart, rates and G at the state.
template <class T, int LDC, class S>
SARRUS_FN bool begin_step(Stepper<T, LDC, S>& s, Radau<T, LDC>& r) {
  const Model<real<T>>& m = s.m;
  Chart<T, LDC>& chart = r.chart;
  if (!open_chart(s, chart)) return s.fail(StepStatus::NOT_FINITE);
  const Directions<T>& pos = chart.positions();
  r.n = pos.n + chart.vel.n;
  reduce(m, pos.N, pos.n, s.v, s.w.ld, chart.y, r.f0);
  reduce(m, chart.vel.N, chart.vel.n, s.a, s.w.ld, chart.y, r.f0 + pos.n);
  fill(r.start, pos.n);
  reduce(m, chart.vel.N, chart.vel.n, s.v, s.w.ld, chart.y, r.start + pos.n);
  set_scale(s, r);
  bool differences = S::supplies_inertia || s.o.jacobian == Jacobian::FINITE_DIFFERENCE, fine = false;
  if constexpr (!S::supplies_inertia)
    if (!differences) fine = analytic_matrix(s, chart, r.r, r.G);
  if (differences) fine = difference_matrix(s, r);
  return fine && (finite(r.G, r.n * r.n) || s.fail(StepStatus::NOT_FINITE));
}

// Z and across: the polynomial of the last step, continued.
template <class T, int LDC, class S>
SARRUS_FN void guess(Stepper<T, LDC, S>& s, Radau<T, LDC>& r, double h) {
  const Model<real<T>>& m = s.m;
  const Directions<T>&pos = r.chart.positions(), &vel = r.chart.vel;
  const double* c = r.table.c;
  int ld = s.w.ld;
  fill(r.Z, STAGES * r.n);
  fill(r.across, STAGES * ld);
  for (int i = 0; i < STAGES && r.past_step > 0; ++i) {
    double x = 1 + c[i] * h / r.past_step;
    T *across = r.across + i * ld, *Z = r.Z + i * r.n;
    fill(s.x, ld);
    for (int j = 0; j < STAGES; ++j) {
      double weight = x / c[j];  // of Lagrange's polynomials, with a node at 0
      for (int k = 0; k < STAGES; ++k)
        if (k != j) weight *= (x - c[k]) / (c[j] - c[k]);
      if (j == STAGES - 1) weight -= 1;
      axpy(across, T(weight), r.past_u + j * ld, ld);
      axpy(s.x, T(weight), r.past_v + j * ld, ld);
    }
    reduce(m, pos.N, pos.n, across, ld, r.chart.y, Z);
    reduce(m, vel.N, vel.n, s.x, ld, r.chart.y, Z + pos.n);
    lift(m, pos.N, pos.n, Z, ld, s.x);
    subtract(across, s.x, m.nv);
  }
}

// The matrices of (1) for a step h.
template <class T, int LDC>
SARRUS_FN bool factorize_step(Radau<T, LDC>& r, double h) {
  int n = r.one.n = r.two.n = r.n;
  for (int k = 0; k < n * n; ++k) r.one.A[k] = -r.G[k], r.two.A[k] = Complex<T>(-r.G[k]);
  for (int i = 0; i < n; ++i) {
    r.one.A[i * n + i] += G_REAL / h;
    r.two.A[i * n + i] = Complex<T>(T(A_REAL / h) - r.G[i * n + i], T(B_IMAG / h));
  }
  return factorize_lu(r.one) && factorize_lu(r.two);
}

// dZ from F and Z, (1) and (2)
template <class T, int LDC>
SARRUS_FN void newton_correction(Radau<T, LDC>& r, double h) {
  int n = r.n;
  for (int k = 0; k < n; ++k) {
    T rest[STAGES], w[STAGES];
    for (int i = 0; i < STAGES; ++i) {
      rest[i] = r.F[i * n + k];
      for (int j = 0; j < STAGES; ++j) rest[i] -= r.Z[j * n + k] * (r.table.A_inverse[i][j] / h);
    }
    for (int i = 0; i < STAGES; ++i) {
      w[i] = sum_of<T>(STAGES, [&](int j) { return rest[j] * r.table.V_inverse[i][j]; });
    }
    r.dZ[k] = w[0];
    r.pair[k] = Complex<T>(w[1], w[2]);
  }
  solve_lu(r.one, r.dZ);
  solve_lu(r.two, r.pair);
  for (int k = 0; k < n; ++k) {
    T w[STAGES] = {r.dZ[k], r.pair[k].re, r.pair[k].im};
    for (int i = 0; i < STAGES; ++i) {
      r.dZ[i * n + k] = sum_of<T>(STAGES, [&](int j) { return w[j] * r.table.V[i][j]; });
    }
  }
}

// Rates F of all stages at Z, and their increments and velocities.
template <class T, int LDC, class S>
SARRUS_FN bool all_stages(Stepper<T, LDC, S>& s, Radau<T, LDC>& r, double h) {
  int n = r.n, ld = s.w.ld;
  for (int i = 0; i < STAGES; ++i) {
    T* y = r.dZ;
    set_sum(y, r.start, r.Z + i * n, n);
    if (!stage_rates(s, r, s.t + r.table.c[i] * h, i, y, r.F + i * n)) return false;
    copy(r.u + i * ld, s.u, ld);
    set_difference(r.v + i * ld, s.v1, s.v, s.m.nv);
  }
  return true;
}

// Z + dZ; increments and velocities follow along the tangent directions.
SARRUS_FN void apply_correction(auto& s, auto& r) {
  auto& m = s.m;
  int n = r.n, ld = s.w.ld, vel = r.chart.positions().n;
  for (int i = 0; i < STAGES; ++i) {
    add(r.Z + i * n, r.dZ + i * n, n);
    lift(m, r.chart.positions().N, vel, r.dZ + i * n, ld, s.x);
    add(r.u + i * ld, s.x, m.nv);
    lift(m, r.chart.vel.N, r.chart.vel.n, r.dZ + i * n + vel, ld, s.x);
    add(r.v + i * ld, s.x, m.nv);
  }
}

// Root mean square of dZ in units of the tolerance
SARRUS_HD double correction_size(auto& s, auto& r) {
  return sqrt_(sum_of<double>(STAGES, [&](int i) {
    double x = measure(s, r, r.dZ + i * r.n);
    return x * x / STAGES;
  }));
}

// Whether corrections of the given size and rate may end within so many more iterations
SARRUS_HD bool may_end(double size, double rate, int iterations) {
  double left = size / (1 - rate);
  for (int i = 0; i < iterations; ++i) left *= rate;
  return !(rate >= 1 || left > NEWTON_LEFT);
}

// Z that satisfies (1), in at most MOST_NEWTON iterations; 0 where they fail, otherwise their number.
SARRUS_FN int newton(auto& s, auto& r, double h) {
  double before = 0, rate = 0;
  guess(s, r, h);
  for (int k = 1; k <= MOST_NEWTON; ++k) {
    if (!all_stages(s, r, h)) return 0;
    newton_correction(r, h);
    double size = correction_size(s, r);
    if (!(size < 1e300)) break;
    if (k > 1) {
      rate = before > 0 ? size / before : 0;
      if (!may_end(size, rate, MOST_NEWTON - k)) break;
    }
    apply_correction(s, r);
    if (size <= 1e-6 * NEWTON_LEFT || (k > 1 && rate / (1 - rate) * size <= NEWTON_LEFT)) return k;
    before = size;
  }
  s.fail(StepStatus::NOT_CLOSED);
  return 0;
}

// Root mean square, in units of the tolerance, of what (3) says about the directions across the constraints.
// Local coordinates do not see these: without freedoms there are none, and stages may lie on another branch.
// No filter is needed, as a across the constraints depends on q and v alone.
template <class T, int LDC, class S>
SARRUS_FN double error_across(Stepper<T, LDC, S>& s, Radau<T, LDC>& r, double h) {
  const Model<real<T>>& m = s.m;
  const Directions<T>* directions[] = {&r.chart.positions(), &r.chart.vel};
  const T *rates[] = {s.v, s.a}, *stages[] = {r.u, r.v};
  int ld = s.w.ld;
  double sum = 0;
  for (int part = 0; part < 2; ++part) {
    scaled(s.x, T(h / G_REAL), rates[part], ld);
    for (int i = 0; i < STAGES; ++i) axpy(s.x, T(r.table.e[i]), stages[part] + i * ld, ld);
    const Directions<T>& free = *directions[part];
    reduce(m, free.N, free.n, s.x, ld, r.chart.y, r.chart.c);
    lift(m, free.N, free.n, r.chart.c, ld, r.chart.y);
    for (int j = 0; j < m.nv; ++j) {
      double e = value((s.x[j] - r.chart.y[j]) / r.scale[part * ld + j]);
      sum += e * e;
    }
  }
  return m.nc ? sqrt_(sum / (2 * m.nv)) : 0;
}

// (3) for given rates f at the beginning
template <class T, int LDC, class S>
SARRUS_FN double error_of(Stepper<T, LDC, S>& s, Radau<T, LDC>& r, double h, const T* f) {
  for (int k = 0; k < r.n; ++k) {
    T sum = sum_of<T>(STAGES, [&](int i) { return r.Z[i * r.n + k] * r.table.e[i]; });
    r.dZ[k] = f[k] + sum * (G_REAL / h);
  }
  solve_lu(r.one, r.dZ);
  return measure(s, r, r.dZ);
}

SARRUS_END
