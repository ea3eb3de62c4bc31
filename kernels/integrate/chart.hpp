// Local coordinates of the constraint manifold about one state: what integrate/local_chart.hpp works with.
#pragma once

#include "algebra/lu.hpp"
#include "solve/factor/factorization.hpp"

SARRUS_BEGIN

// Tangent directions without units as rows (n, ld), those at the pose of a stage, and (2).
template <class T>
struct Directions {
  T *N, *here;  // (nv, ld)
  Lu<T> both;   // N^T N1
  int n = 0;

  SARRUS_HD void bind(Arena& arena, int nv, int ld) {
    arena.take(nv * ld, N, here);
    both.bind(arena, nv);
  }
};

template <class T, int LDC>
struct Chart {
  T *q0, *c, *y;           // (nq); room for local coordinates (nv, ld)
  T *local, *across, *u;   // room of one stage: its coordinates (nv), the two parts of its increment (ld)
  Directions<T> pos, vel;  // of positions and velocities
  bool rolling = false;    // there are rows for velocities only; otherwise the two are one, and `vel` is it
  Factor<T> held;          // of the rows that restrict positions, where there are others
  T* J_held;               // (nc, ld)

  SARRUS_HD void bind(const Model<real<T>>& m, Arena& arena, int ld) {
    rolling = !all_holonomic(m);
    arena.take(m.nq, q0);
    arena.take(ld, c, y, local, across, u);
    vel.bind(arena, m.nv, ld);
    if (!rolling) return;
    pos.bind(arena, m.nv, ld);
    held.bind(arena, m, ld);
    arena.take(m.nc * ld, J_held);
  }
  SARRUS_HD Directions<T>& positions() { return rolling ? pos : vel; }
  SARRUS_HD const Factor<T>& position_rows(const Factor<T>& all) const { return rolling ? held : all; }
};

SARRUS_END
