// Integration methods as data. A method is added by adding its description to METHODS: runs, steps in charts,
// option checks, messages and tests read this table. Plain data, outside the instruction-set namespaces.
//
// A step from (q, v) of size h is one of
//
//   explicit Runge-Kutta   y_i = y + h sum_j A_ij k_j,   k_i = f(t + c_i h, y_i),
//                          y1 = y + h sum_i b_i k_i                                                     (1)
//   splitting              for i = 0, 1, ...
//                          v <- v + kick_i h a(q, v*),   q <- integrate(q, drift_i h v)                 (2)
//   implicit               Radau IIA on the constraint manifold, integrate/implicit/radau.hpp
//
// and ends with the same projection onto the constraints (integrate/end_of_step.hpp). (1) estimates its error
// as h sum_i e_i k_i.
#pragma once

namespace sarrus {

constexpr int MAX_STAGES = 7;

// Coefficients of (1). Every step evaluates the acceleration at its end after the projection, as the first
// stage of the next step. So a last row of A that equals b (FSAL) saves no evaluation.
struct Tableau {
  int stages = 0;
  double A[MAX_STAGES][MAX_STAGES] = {};
  double b[MAX_STAGES] = {}, c[MAX_STAGES] = {};
  double e[MAX_STAGES] = {};  // b - b_hat
};

// Forces of kick i are evaluated with the velocity v* = v + ahead_i kick_i h a: the one before the kick (0),
// or the one after it (1), which is found by iteration. Forces that do not depend on v are the same for both.
struct Splitting {
  int stages = 0;
  double kick[MAX_STAGES] = {}, drift[MAX_STAGES] = {}, ahead[MAX_STAGES] = {};
};

struct Method {
  const char *name, *summary;
  int order;
  bool adaptive = false;  // chooses its steps
  bool implicit = false;  // integrate/implicit/; `tableau` then takes the steps that no chart covers
  bool switches = false;  // implicit only while the motion is stiff, integrate/implicit/automatic_step.hpp
  Tableau tableau = {};
  Splitting splitting = {};
};

// Classical method of order 4, [Hairer1993] table II.1.2
constexpr Tableau CLASSICAL = {
    .stages = 4,
    .A = {{0}, {0.5}, {0, 0.5}, {0, 0, 1}},
    .b = {1. / 6, 1. / 3, 1. / 3, 1. / 6},
    .c = {0, 0.5, 0.5, 1},
};

// Dormand and Prince 5(4), [Hairer1993] table II.5.2
constexpr Tableau DORMAND_PRINCE = {
    .stages = 7,
    .A = {{0},
          {1. / 5},
          {3. / 40, 9. / 40},
          {44. / 45, -56. / 15, 32. / 9},
          {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
          {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
          {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}},
    .b = {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0},
    .c = {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1},
    .e = {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40},
};

constexpr Method METHODS[] = {
    {.name = "rk4", .summary = "classical Runge-Kutta", .order = 4, .tableau = CLASSICAL},
    {.name = "semi_implicit_euler",
     .summary = "velocities first, positions with the new ones; symplectic for separable systems",
     .order = 1,
     .splitting = {.stages = 1, .kick = {1}, .drift = {1}}},
    {.name = "dopri5",
     .summary = "Dormand and Prince 5(4), chooses its steps",
     .order = 5,
     .adaptive = true,
     .tableau = DORMAND_PRINCE},
    {.name = "radau",
     .summary = "Radau IIA, implicit, chooses its steps: for stiff systems",
     .order = 5,
     .adaptive = true,
     .implicit = true,
     .tableau = DORMAND_PRINCE},
    {.name = "verlet",
     .summary = "velocity Verlet; symplectic for separable systems, energy errors stay bounded",
     .order = 2,
     .splitting = {.stages = 2, .kick = {0.5, 0.5}, .drift = {1, 0}, .ahead = {0, 1}}},
    {.name = "auto",
     .summary = "dopri5, and radau while the motion is stiff",
     .order = 5,
     .adaptive = true,
     .implicit = true,
     .switches = true,
     .tableau = DORMAND_PRINCE},
};

}  // namespace sarrus
