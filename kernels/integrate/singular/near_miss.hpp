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
    int p = -1;
    for (int i = 0; i < n; ++i)
      if (!used[i] && (p < 0 || value(A[i][i]) > value(A[p][p]))) p = i;
    if (rank == 0) largest = value(A[p][p]);
    if (!(value(A[p][p]) > LIMIT_TOL * largest)) break;
    used[p] = true;
    order[rank] = p;
    for (int i = 0; i < n; ++i) {
      if (used[i]) continue;
      T factor = A[i][p] / A[p][p];
      for (int j = 0; j < n; ++j) A[i][j] -= factor * A[p][j];
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
  int wide = w.ld > f.lc ? static_cast<int>(w.ld) : f.lc;
  T *left = f.work, *row = f.work + wide, *n = w.a;
  double most = 0;
  gap = 0;
  for (int i = 0; i < lost; ++i) {
    left_null(f, i, left);
    T size = T(0), open = T(0);
    for (int k = 0; k < m.nc; ++k) {
      size += left[k] * left[k] * f.unit[k] * f.unit[k];
      open += left[k] * w.rows.phi[static_cast<int>(value(f.order[k]))];
    }
    size = sqrt_(size);
    gap = value(abs_(open / size)) > gap ? value(abs_(open / size)) : gap;
    for (int j = 0; j < free; ++j) {  // along n_j; (w^T J') n_k by reflections
      differentiate_along(m, s.state(s.q2, s.v), j, n, s.d, w);
      for (int part = 0; part < 2; ++part) {
        if (part == 0 && j > 0) continue;
        fill(row, w.ld);
        for (int k = 0; k < m.nc; ++k) {
          int r = static_cast<int>(value(f.order[k]));
          for (int c = 0; c < m.nv; ++c)
            row[c] += left[k] / size * m.unit[c] * (part ? s.d.rate_J(r, c) : w.rows.J[r * w.ld + c]);
        }
        for (int k = 0; k < f.rank_rows; ++k) reflect(f, k, w.ld, row);
        for (int k = 0; k < free; ++k) (part ? H[j] : F)[k] = row[f.rank_rows + k];
      }
    }
    for (int j = 0; j < free; ++j) {
      most = value(abs_(F[j])) > most ? value(abs_(F[j])) : most;
      for (int k = 0; k < free; ++k) {
        b[j] -= H[j][k] * F[k];
        for (int l = 0; l < free; ++l) A[j][k] += H[j][l] * H[k][l];
      }
    }
  }
  solve_semidefinite(A, b, free, y);
  fill(s.x, w.ld);
  for (int j = 0; j < free; ++j) s.x[f.rank_rows + j] = y[j];
  for (int k = f.rank_rows - 1; k >= 0; --k) reflect(f, k, w.ld, s.x);
  for (int c = 0; c < m.nv; ++c) s.x[c] = s.x[c] * m.unit[c];
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
    for (int k = 0; k < m.nc; ++k) w.extra[k] = -w.rows.phi[k];
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
    for (int k = 0; k < w.factor.rank_rows; ++k)
      if (double x = pivot_size(w, k); x <= APART * least && x > largest) largest = x;
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
  int count = n < LEAST_POSES ? LEAST_POSES : n > MOST_POSES ? MOST_POSES : static_cast<int>(n);
  double first = examine(0);
  ends = s.m.nd ? first : s.pivot;
  for (int i = 1; i < count; ++i) examine(i / static_cast<double>(count));
  double last = examine(1);
  if (last > ends) ends = last;
  if (dip.pivot < resolved * ends)
    for (int i = 1; i <= HALVINGS; ++i) {
      double x = dip.at, apart = 1. / (count << i);
      examine(x - apart);
      examine(x + apart);
    }
  pivot_at(dip.at);
  return dip;
}

// Whether the trial (q1, v1) of size h jumps over a near miss. `inaccurate`: its error is above tolerance,
// and no near miss is allowed in it. Uses up s.u, s.x, s.q2 and the factorization.
template <class T, int LDC, class S>
SARRUS_FN bool jumps(Stepper<T, LDC, S>& s, double h, bool inaccurate) {
  const Model<real<T>>& m = s.m;
  Workspace<T, LDC>& w = s.w;
  int loops = s.rank - m.nd;  // their rank, where drives are independent of them
  bool tested = s.o.correction == Correction::PROJECT && loops > 0 && !(m.n_user_rows && m.u_row[0] >= 0);
  tested = tested && m.nv <= MOST_COORDINATES && !S::supplies_inertia;
  for (int r = 0; r < m.nc; ++r) tested = tested && m.row_holonomic[r];
  tested = tested && m.nv - loops <= MOST_FREE;  // else nothing is found
  if (!tested || s.held_rank > s.rank || s.rank < s.before.largest_rank) return false;
  bool far = s.regular.trusted && s.pivot != s.before.pivot && !near_singular(s, STEPS_CHARTED);
  if (far && !inaccurate) return false;  // no singular pose within many steps
  double moved = h * largest(m, s.v), change = (s.pivot - s.before.pivot) * h / s.before.step, ends = 0;
  double resolved = s.o.method.adaptive ? RESOLVED : RESOLVED_FIXED;
  bool steady = s.o.method.adaptive || (change < 0 ? -change : change) < (1 - resolved) * s.pivot;
  if (!inaccurate && steady && s.pivot * (1 - RESOLVED) > PIVOT_RATE * moved) return false;
  double by_entries = w.factor.by_entries;
  w.factor.by_entries = 0;  // left null vectors are those of the dense factorization
  Dip dip = least_pivot_within(s, h, resolved, ends);
  bool close = inaccurate || dip.pivot < resolved * ends;
  int apart = pivots_apart(w, dip.pivot), hold = pivots_above(w, sqrt_(dip.pivot));
  Nearby found = Nearby::UNKNOWN;
  if (close && apart < loops) found = singular_nearby(s, apart, 4 * moved);
  if (close && found == Nearby::UNKNOWN && hold < loops && hold != apart) {
    least_pivot_within(s, h, resolved, ends);
    found = singular_nearby(s, hold, 4 * moved);
  }
  w.factor.rank_rows = 0, w.factor.rank = 1;  // nothing to reuse
  w.factor.by_entries = by_entries;
  return found == Nearby::MISS;
}

SARRUS_END
