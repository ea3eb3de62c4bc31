// Steps that jump over a near miss: a pose where J almost loses rank, but does not on the constraints.
//
// Next to a singular pose the constraints look like x y = c. With c = 0 two branches cross, and a step may go
// through. With c != 0 (a four-bar whose bars almost add up to those of a parallelogram) the branches do not
// meet, yet a long step gets from one to the other with a small error estimate. The singular pose nearby,
//
//   w^T J n = 0   for the left null vectors w and the null vectors n of the rows with small pivots,       (1)
//
// tells them apart: its closure error w^T phi is c. Such steps are rejected until the smallest pivot changes
// little within one of them. Drives are released for this: the branches are those of the loops. Nothing is
// rejected where (1) is not solved: with rows from outside or for velocities only, and in large mechanisms.
#pragma once

#include "integrate/singular/pivots.hpp"

SARRUS_BEGIN

// Least pivot of a resolved step over the larger one of its ends: where the error is estimated, and not
constexpr double RESOLVED = 0.3, RESOLVED_FIXED = 0.9;
constexpr int LEAST_POSES = 4, MOST_POSES = 32;  // examined within a step
constexpr int HALVINGS = 8;                      // of the interval around the least pivot of a step
constexpr double PIVOT_RATE = 2;                 // pivots change by about so much per radian or L, at most
constexpr double APART = 5;                      // pivots that vanish together differ by less
constexpr int MOST_FREE = 32, MOST_COORDINATES = 96;        // up to which (1) is solved
constexpr int SADDLE_STEPS = 12;                            // of Newton's method for (1)
constexpr double SADDLE_FOUND = 1e-8, HELD_CLOSED = 1e-12;  // largest |w^T J n| there, and rows that are held
constexpr double REAL_GAP = 2e-11;  // of phi at the singular pose: more than rounding, also of fitted data

// Takes the rows of drives out.
SARRUS_FN void release_drives(const auto& m, auto& w) {
  for (int c = 0; c < m.nk; ++c) {
    if (m.k_drive[c] < 0) continue;
    w.rows.phi[m.k_row[c]] = 0;
    fill(w.rows.J + m.k_row[c] * w.ld, w.ld);
  }
  for (int i = 0; i < m.ne; ++i)
    with_element(m, i, [&](auto kind, const auto& c) {
      if constexpr (requires { kind.column(c); })
        if (kind.drive(c) >= 0) w.rows.phi[m.el_row[i]] = 0, fill(w.rows.J + m.el_row[i] * w.ld, w.ld);
    });
}

// Rows at q2 = integrate(q, u), drives released, factorized with `hold` pivots; returns the smallest of them.
SARRUS_FN double factorize_within(auto& s, int hold) {
  integrate(s.m, s.q, s.u, s.q2);
  place(s.m, s.q2, s.w.tree);
  s.w.by_entries = false;
  evaluate_rows(s.m, s.state(s.q2, s.v), s.w);
  release_drives(s.m, s.w);
  factorize(s.m, s.w.rows.J, static_cast<decltype(s.w.M)>(nullptr), s.w.ld, hold, s.w.factor);
  complete(s.m, s.w.ld, s.w.factor);
  return smallest_pivot(s.w);
}

// y (n) of least squares |F + H y| over all left null vectors: A = sum H^T H, b = -sum H^T F, by pivoted
// elimination; directions along which nothing changes stay zero.
template <int N, class T>
SARRUS_FN void solve_semidefinite(T (*A)[N], T* b, int n, T* y) {
  int order[N], rank = 0;
  bool used[N] = {};
  double largest = 0;
  for (; rank < n; ++rank) {
    int p = next_pivot(A, n, used);
    if (rank == 0) largest = value(A[p][p]);
    if (!(value(A[p][p]) > LIMIT_TOL * largest)) break;
    used[p] = true;
    order[rank] = p;
    for (int i = 0; i < n; ++i) {
      if (used[i]) continue;
      T factor = A[i][p] / A[p][p];
      subtract_scaled(A[i], factor, A[p], n);
      b[i] -= factor * b[p];
    }
  }
  fill(y, n);
  for (int k = rank - 1; k >= 0; --k) {
    T sum = b[order[k]];
    for (int l = k + 1; l < rank; ++l) sum -= A[order[k]][order[l]] * y[order[l]];
    y[order[k]] = sum / A[order[k]][order[k]];
  }
}

// The components of (w^T X) n_k for the free directions n_k into out: w the left null vector `left` over its
// size, entry(r, c) of X in the order of declaration   row (ld) is room
template <class T, int LDC, class X>
SARRUS_FN void along_free(const Model<real<T>>& m, const Workspace<T, LDC>& w, const T* left, const T& size,
                          X entry, T* row, T* out) {
  const Factor<T>& f = w.factor;
  fill(row, w.ld);
  for (int k = 0; k < m.nc; ++k)
    for (int c = 0; c < m.nv; ++c) row[c] += left[k] / size * m.unit[c] * entry(row_at(f, k), c);
  reflect_all(f, f.rank_rows, w.ld, row);
  copy(out, row + f.rank_rows, m.nv - f.rank_rows);
}

// The least-squares problem of |F + H y| (n) over one left null vector, added to A and b
template <int N, class T>
SARRUS_FN void add_least_squares(const T (*H)[N], const T* F, int n, T (*A)[N], T* b) {
  for (int j = 0; j < n; ++j)
    for (int k = 0; k < n; ++k) {
      b[j] -= H[j][k] * F[k];
      for (int l = 0; l < n; ++l) A[j][k] += H[j][l] * H[k][l];
    }
}

// Step of Newton's method for (1) along the free directions into s.x, at q2 with the factorization of its
// rows; returns the largest |w^T J n|, and the largest |w^T phi| in gap.
template <class T, int LDC, class S>
SARRUS_FN double saddle_step(Stepper<T, LDC, S>& s, double& gap) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  Factor<T>& f = w.factor;
  int free = m.nv - f.rank_rows, lost = m.nc - f.rank_rows;
  constexpr int N = LDC && LDC < MOST_FREE ? LDC : MOST_FREE;  // on a GPU each thread has memory for these
  T A[N][N] = {}, b[N] = {}, y[N], F[N], H[N][N];
  T *left = f.work, *row = f.work + larger(int(w.ld), f.lc), *direction = w.a;
  double most = 0;
  gap = 0;
  for (int i = 0; i < lost; ++i) {
    left_null(f, i, left);
    T size = T(0), open = T(0);
    for (int k = 0; k < m.nc; ++k) {
      size += left[k] * left[k] * f.unit[k] * f.unit[k];
      open += left[k] * w.rows.phi[row_at(f, k)];
    }
    size = sqrt_(size);
    gap = larger(double(value(abs_(open / size))), gap);
    along_free(m, w, left, size, [&](int r, int c) { return w.rows.J[r * w.ld + c]; }, row, F);
    for (int j = 0; j < free; ++j) {  // along direction j; (w^T J') n_k by reflections
      differentiate_along(m, s.state(s.q2, s.v), j, direction, s.d, w);
      along_free(m, w, left, size, [&](int r, int c) { return s.d.rate_J(r, c); }, row, H[j]);
    }
    most = larger(largest_of(free, [&](int j) { return double(value(abs_(F[j]))); }), most);
    add_least_squares(H, F, free, A, b);
  }
  solve_semidefinite(A, b, free, y);
  fill(s.x, w.ld);
  copy(s.x + f.rank_rows, y, free);
  reflect_back(f, f.rank_rows, w.ld, s.x);
  multiply(s.x, s.x, m.unit, m.nv);
  return most;
}

// What lies next to a pose: no singular pose that was found, one on the constraints, one off them
enum class Nearby { UNKNOWN, CROSSING, MISS };

// The singular pose next to integrate(q, u), not further away than `reach`, of the rows beyond `hold` pivots.
template <class T, int LDC, class S>
SARRUS_FN Nearby singular_nearby(Stepper<T, LDC, S>& s, int hold, double reach) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  double gap = 0, way = 0;
  for (int i = 0; i < SADDLE_STEPS; ++i) {
    factorize_within(s, hold);
    if (m.nv - w.factor.rank_rows > MOST_FREE) return Nearby::UNKNOWN;
    double left = saddle_step(s, gap);
    negate(w.extra, w.rows.phi, m.nc);
    smallest(m, w.ld, w.factor, w.extra, w.y, w.a);
    double open = largest(m, w.a);
    if (left < SADDLE_FOUND && open < HELD_CLOSED) return gap > REAL_GAP ? Nearby::MISS : Nearby::CROSSING;
    way += open + largest(m, s.x);
    if (!(way < reach)) return Nearby::UNKNOWN;
    for (int c = 0; c < m.nv; ++c) s.u[c] += s.x[c] + w.a[c];
  }
  return Nearby::UNKNOWN;
}

// Number of pivots that do not vanish together with the least one: between it and each that does, in the
// order of size, there are no gaps wider than APART. Loops side by side pass their poses one after the other.
template <class T, int LDC>
SARRUS_HD int pivots_apart(const Workspace<T, LDC>& w, double least) {
  for (int above = pivots_above(w, least);;) {
    int next = pivots_above(w, APART * least);
    if (next == above) return above;
    double largest = least;  // of those up to APART times the last one
    for (int k = 0; k < w.factor.rank_rows; ++k) {
      double pivot = pivot_size(w, k);
      if (pivot <= APART * least) largest = larger(pivot, largest);
    }
    least = largest;
    above = next;
  }
}

// Pivot and part of the step of a pose.
struct Dip {
  double pivot = 1e300, at = 0;
};

// The least pivot within the trial (q1, v1) of size h, on the cubic through both ends; `ends` is the larger
// one of theirs. Refined where it is less than `resolved` times that. Leaves the pose's increment in s.u.
template <class T, int LDC, class S>
SARRUS_FN Dip least_pivot_within(Stepper<T, LDC, S>& s, double h, double resolved, double& ends) {
  auto pivot_at = [&](double x) {
    difference(s.m, s.q, s.q1, s.x);
    double a = x * (1 - x) * (1 - x) * h, b = x * x * (3 - 2 * x), c = x * x * (x - 1) * h;
    for (int j = 0; j < s.m.nv; ++j) s.u[j] = s.v[j] * a + s.x[j] * b + s.v1[j] * c;
    return factorize_within(s, s.rank - s.m.nd);
  };
  Dip dip;
  auto examine = [&](double x) {
    double p = x >= 0 && x <= 1 ? pivot_at(x) : 1e300;
    if (p < dip.pivot) dip = {p, x};
    return p;
  };
  double n = PIVOT_RATE * h * largest(s.m, s.v) / (2 * RESOLVED * s.pivot);  // no dip lies between the poses
  int count = static_cast<int>(within(n, LEAST_POSES, MOST_POSES));
  double first = examine(0);
  for (int i = 1; i < count; ++i) examine(i / static_cast<double>(count));
  double last = examine(1);
  ends = larger(last, s.m.nd ? first : s.pivot);
  bool dips = dip.pivot < resolved * ends;
  for (int i = 1; dips && i <= HALVINGS; ++i) {
    double x = dip.at, apart = 1. / (count << i);
    examine(x - apart);
    examine(x + apart);
  }
  pivot_at(dip.at);
  return dip;
}

// Whether (1) can be solved for `loops` rows of rank that do not move by themselves
template <class T, int LDC, class S>
SARRUS_HD bool knows_near_misses(const Stepper<T, LDC, S>& s, int loops) {
  const Model<real<T>>& m = s.m;
  bool rows_from_outside = m.n_user_rows && m.u_row[0] >= 0;
  bool small = m.nv <= MOST_COORDINATES && m.nv - loops <= MOST_FREE;
  return loops > 0 && small && !rows_from_outside && !S::supplies_inertia && all_holonomic(m);
}

// Whether the pivots change too little for a near miss within a step of size h
SARRUS_HD bool keeps_pivots(const auto& s, double h, double moved, double resolved) {
  bool many_steps_away = s.regular.trusted && s.pivot != s.before.pivot && !near_singular(s, STEPS_CHARTED);
  if (many_steps_away) return true;
  double change = abs_((s.pivot - s.before.pivot) * h / s.before.step);
  bool steady = s.o.method.adaptive || change < (1 - resolved) * s.pivot;
  return steady && s.pivot * (1 - RESOLVED) > PIVOT_RATE * moved;
}

// What lies next to the least pivot within a trial that moves by `moved`
template <class T, int LDC, class S>
SARRUS_FN Nearby nearby_within(Stepper<T, LDC, S>& s, double h, double moved, double resolved,
                               bool inaccurate) {
  double ends = 0;
  int loops = s.rank - s.m.nd;
  Dip dip = least_pivot_within(s, h, resolved, ends);
  if (!inaccurate && !(dip.pivot < resolved * ends)) return Nearby::UNKNOWN;
  int apart = pivots_apart(s.w, dip.pivot), hold = pivots_above(s.w, sqrt_(dip.pivot));
  Nearby found = apart < loops ? singular_nearby(s, apart, 4 * moved) : Nearby::UNKNOWN;
  if (found != Nearby::UNKNOWN || hold >= loops || hold == apart) return found;
  least_pivot_within(s, h, resolved, ends);
  return singular_nearby(s, hold, 4 * moved);
}

// Whether the trial (q1, v1) of size h jumps over a near miss. `inaccurate`: its error is above tolerance,
// and no near miss is allowed in it. Uses up s.u, s.x, s.q2 and the factorization.
template <class T, int LDC, class S>
SARRUS_FN bool jumps(Stepper<T, LDC, S>& s, double h, bool inaccurate) {
  Factor<T>& f = s.w.factor;
  int loops = s.rank - s.m.nd;  // their rank, where drives are independent of them
  if (s.o.correction != Correction::PROJECT || !knows_near_misses(s, loops)) return false;
  if (s.held_rank > s.rank || s.rank < s.before.largest_rank) return false;
  double moved = h * largest(s.m, s.v), resolved = s.o.method.adaptive ? RESOLVED : RESOLVED_FIXED;
  if (!inaccurate && keeps_pivots(s, h, moved, resolved)) return false;
  double by_entries = f.by_entries;
  f.by_entries = 0;  // left null vectors are those of the dense factorization
  Nearby found = nearby_within(s, h, moved, resolved, inaccurate);
  f.rank_rows = 0, f.rank = 1;  // nothing to reuse
  f.by_entries = by_entries;
  return found == Nearby::MISS;
}

SARRUS_END
