// Integration methods as data: explicit Runge-Kutta tableaus; the step that uses them is shared.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

constexpr int MAX_STAGES = 7;

struct Tableau {
  int stages, order;
  double A[MAX_STAGES][MAX_STAGES];
  double b[MAX_STAGES], c[MAX_STAGES];
  double e[MAX_STAGES];  // b - b_hat, all zero where the method has no error estimate
};

// Classical method of order 4, [Hairer1993] table II.1.2
constexpr Tableau RK4 = {
    4, 4, {{0}, {0.5}, {0, 0.5}, {0, 0, 1}}, {1. / 6, 1. / 3, 1. / 3, 1. / 6}, {0, 0.5, 0.5, 1}, {0}};

// Dormand and Prince 5(4), [Hairer1993] table II.5.2
constexpr Tableau DOPRI5 = {
    7,
    5,
    {{0},
     {1. / 5},
     {3. / 40, 9. / 40},
     {44. / 45, -56. / 15, 32. / 9},
     {19372. / 6561, -25360. / 2187, 64448. / 6561, -212. / 729},
     {9017. / 3168, -355. / 33, 46732. / 5247, 49. / 176, -5103. / 18656},
     {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84}},
    {35. / 384, 0, 500. / 1113, 125. / 192, -2187. / 6784, 11. / 84, 0},
    {0, 1. / 5, 3. / 10, 4. / 5, 8. / 9, 1, 1},
    {71. / 57600, 0, -71. / 16695, 71. / 1920, -17253. / 339200, 22. / 525, -1. / 40}};

// One stage; integrate/step.hpp moves the positions with the new velocity (symplectic for separable systems).
constexpr Tableau SEMI_IMPLICIT_EULER = {1, 1, {{0}}, {1}, {0}, {0}};

SARRUS_END
