// Rows of constraints: phi, J, b, gamma with J v = b, J a = gamma.
//
// Each row of an element between two nodes is a wrench W that does power on their relative twist:
//   phi' = W . (V_b - V_a)   =>   J_k = +-W . S_k,   gamma = -(W' . (V_b - V_a) + W . (A_b - A_a))       (1)
#pragma once

#include "algebra/rotation.hpp"
#include "tree/pair.hpp"
#include "tree/parameters.hpp"

SARRUS_BEGIN

// Positions and velocities, and what comes from outside with them: f, f', f'' of the drives (nd, 3) and
// phi, b, gamma, J of the user's rows (n_user_rows, 3 + nv); a row that is none (u_row -1) has the user's
// forces in place of J.
template <class T>
struct State {
  const T *q, *v, *drive, *user;
};

// Where the rows go. J has nc rows of stride ld. W (nc): the wrenches of rows of elements, null: not kept.
// latched (ne), of lanes alone: frames that latches have moved, each lane its own; null: the model has them.
template <class T>
struct Rows {
  T *phi, *b, *gamma, *J;
  Spatial<T>* W = nullptr;
  const LatchedFrame<T>* latched = nullptr;

  template <class LD>
  SARRUS_HD void bind(Arena& arena, const Model<real<T>>& m, LD ld) {
    arena.take(m.nc, phi, b, gamma);
    arena.take(m.nc * ld, J);
  }
};

// One row of (1) before it meets the joint axes.
template <class T>
struct Row {
  T phi;
  Spatial<T> W, W_dot;
};

constexpr int MAX_ROWS = 6;  // of one element

// e . (p_B - p_A) for a direction e whose rate is e_dot
template <class T>
SARRUS_HD Row<T> along(const Pair<T>& c, const Vec3<T>& e, const Vec3<T>& e_dot) {
  return {dot(e, c.pB - c.pA), force_at(c.pB, e), {e_dot, cross(c.vB, e) + cross(c.pB, e_dot)}};
}

// x . y for x fixed in a and y fixed in b
template <class T>
SARRUS_HD Row<T> cosine(const Pair<T>& c, const Vec3<T>& x, const Vec3<T>& y) {
  Vec3<T> x_dot = cross(c.wa, x), y_dot = cross(c.wb, y);
  return {dot(x, y), {zero3<T>(), cross(y, x)}, {zero3<T>(), cross(y_dot, x) + cross(y, x_dot)}};
}

SARRUS_END
