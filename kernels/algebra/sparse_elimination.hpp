// Householder elimination of rows that have few entries, entry by entry: what is zero by structure is neither
// stored nor touched.
//
//   Pi Y = [L 0] Q^T,   Q = H_1 H_2 ... H_r                                                              (1)
//
// A reflector has the columns of the row that it was made from, and moves it to one of these; only rows that
// share one of its columns change [George1986]. Which row comes next decides how reflectors grow: the one
// with the fewest entries, among those nearly as long as the longest. So rank is revealed as with full
// pivoting, by lengths that all fall below the tolerance together, and pivots are comparable.
#pragma once

#include "base/arena.hpp"
#include "base/bit_sets.hpp"
#include "base/padded_rows.hpp"

SARRUS_BEGIN

constexpr double NEARLY = 0.03;  // of the longest row: rows of that length may be pivots
// The same where order counts more than comparable pivots: a pivot p turns the rows after it by eps / p
constexpr double LOOSELY = 1e-4;

template <class T>
struct Entries {
  T* Y;                // (nr, ld) rows; what is not an entry is never read
  T *norm, *norm_ref;  // (nr, padded) squared lengths in open columns, -1: done; when last computed afresh
  T* key;              // (nr, padded) number of open columns of a row, times nr, plus the row
  Word *row, *column;  // (nr, words_c) columns of a row, (nc, words_r) rows of a column that are not done
  Word* open;          // (words_c) columns without a pivot
  Word *here, *met;    // (words_c) columns of the reflector at hand, (words_r) rows that share one
  int* order;          // (nr) which row stands at a position: pivots, then dependent ones
  int *col, *at;       // (nc) column of a coordinate (those of pivots, then the open ones), and its inverse
  T *H, *beta;         // reflector k: entries H_begin[k] .. H_begin[k + 1]
  int *H_begin, *H_col;
  T *L, *pivot;  // the row at position i: entries L_begin[i] .. L_begin[i + 1] left of its pivot
  int *L_begin, *L_at;
  int nr, nc, ld, words_c, words_r, rank;
  real<T> rounding = 0;     // squared lengths below it are zero
  real<T> nearly = NEARLY;  // of the longest row: rows of that length may be pivots

  SARRUS_HD void bind(Arena& arena, int rows, int columns, int stride) {
    nr = rows, nc = columns, ld = stride;
    int most = smaller(nr, nc), padded = (nr + LANES - 1) / LANES * LANES;
    words_c = words_for(nc), words_r = words_for(nr);
    arena.take(padded, norm, norm_ref, key);
    arena.take(nr * words_c, row);
    arena.take(nc * words_r, column);
    arena.take(words_c, open, here);
    arena.take(words_r, met);
    arena.take(nr, order);
    arena.take(nc, col, at);
    arena.take(most * nc, H, H_col);
    arena.take(most + 1, H_begin);
    arena.take(nr * most, L, L_at);
    arena.take(nr + 1, L_begin);
    arena.take(most, beta, pivot);
  }
};

// No rows, all columns open.
template <class T>
SARRUS_FN void clear(Entries<T>& e) {
  clear(e.row, e.nr * e.words_c);
  clear(e.column, e.nc * e.words_r);
  clear(e.open, e.words_c);
  for (int j = 0; j < e.nc; ++j) include(e.open, j);
  fill(e.norm, (e.nr + LANES - 1) / LANES * LANES, real<T>(-1));
  e.H_begin[0] = e.L_begin[0] = e.rank = 0;
}

// Row r gets an entry in column j.
template <class T>
SARRUS_HD void enter(Entries<T>& e, int r, int j, const T& x) {
  e.Y[r * e.ld + j] = x;
  include(e.row + r * e.words_c, j);
  include(e.column + j * e.words_r, r);
}

// Row r takes no part any more: it and its open columns forget each other.
template <class T>
SARRUS_HD void leave(Entries<T>& e, int r) {
  Word* mine = e.row + r * e.words_c;
  each(mine, e.open, true, e.words_c, [&](int j) { exclude(e.column + j * e.words_r, r); });
  for (int w = 0; w < e.words_c; ++w) mine[w] &= ~e.open[w];
}

// Length and key of row r. Rows of which nothing but rounding is left leave.
template <class T>
SARRUS_HD void measure(Entries<T>& e, int r) {
  T squared = T(0);
  int n = 0;
  each(e.row + r * e.words_c, e.open, true, e.words_c, [&](int j) {
    squared += e.Y[r * e.ld + j] * e.Y[r * e.ld + j];
    ++n;
  });
  bool done = squared < e.rounding;
  if (done) leave(e, r);
  e.norm[r] = e.norm_ref[r] = done ? T(0) : squared;
  e.key[r] = T(real<T>(n * e.nr + r));
}

// Row r is done: its entries in columns with pivots are those of L at position i.
template <class T>
SARRUS_HD void store_left(Entries<T>& e, int r, int i) {
  int n = e.L_begin[i];
  each(e.row + r * e.words_c, e.open, false, e.words_c, [&](int j) {
    e.L_at[n] = e.at[j];
    e.L[n++] = e.Y[r * e.ld + j];
  });
  e.L_begin[i + 1] = n;
  e.norm[r] = T(-1);
  e.order[i] = r;
}

// The other entries of row r: the next reflector, still without its scale. Returns their squared length.
template <class T>
SARRUS_HD T gather(Entries<T>& e, int r) {
  int n = e.H_begin[e.rank];
  T squared = T(0);
  clear(e.here, e.words_c);
  each(e.row + r * e.words_c, e.open, true, e.words_c, [&](int j) {
    const T& x = e.Y[r * e.ld + j];
    e.H_col[n] = j;
    e.H[n++] = x;
    squared += x * x;
    include(e.here, j);
  });
  e.H_begin[e.rank + 1] = n;
  return squared;
}

// Scale the reflector; the column of its largest entry gets the pivot. Returns that column.
template <class T>
SARRUS_HD int scale_reflector(Entries<T>& e, const T& squared) {
  int k = e.rank, begin = e.H_begin[k], n = e.H_begin[k + 1] - begin, best = 0;
  for (int i = 1; i < n; ++i)
    if (abs_(e.H[begin + i]) > abs_(e.H[begin + best])) best = i;
  e.pivot[k] = reflector(e.H + begin, best, n, squared, true, e.beta[k]);
  int c = e.H_col[begin + best];
  e.col[k] = c;
  e.at[c] = k;
  exclude(e.open, c);
  return c;
}

// x <- H_k x
template <class T>
SARRUS_HD void reflect(const Entries<T>& e, int k, T* SARRUS_RESTRICT x) {
  T sum = T(0);
  for (int i = e.H_begin[k]; i < e.H_begin[k + 1]; ++i) sum += e.H[i] * x[e.H_col[i]];
  sum = sum * e.beta[k];
  for (int i = e.H_begin[k]; i < e.H_begin[k + 1]; ++i) x[e.H_col[i]] -= sum * e.H[i];
}

// Reflect the rows that share a column with the pivot row r, whose column is c. Returns the least key among
// those of them that are longer than `bound`.
template <class T>
SARRUS_FN real<T> reflect_met(Entries<T>& e, int r, int c, real<T> bound) {
  int k = e.rank, begin = e.H_begin[k], end = e.H_begin[k + 1];
  real<T> least = real<T>(NONE_ABOVE);
  clear(e.met, e.words_r);
  for (int i = begin; i < end; ++i) unite(e.met, e.column + e.H_col[i] * e.words_r, e.words_r);
  exclude(e.met, r);
  for (int i = begin; i < end; ++i) copy(e.column + e.H_col[i] * e.words_r, e.met, e.words_r);
  each(e.met, e.words_r, [&](int other) {
    T* y = e.Y + other * e.ld;
    Word* mine = e.row + other * e.words_c;
    int more = -1;
    each(e.here, mine, false, e.words_c, [&](int j) {
      y[j] = T(0);
      ++more;
    });
    unite(mine, e.here, e.words_c);
    reflect(e, k, y);
    e.norm[other] -= y[c] * y[c];
    e.key[other] += real<T>(more * e.nr);
    if (e.norm[other] < e.norm_ref[other] * real<T>(1e-3)) measure(e, other);  // as in reflect_rows
    if (e.norm[other] > bound && e.key[other] < least) least = e.key[other];
  });
  return least;
}

// The key of the emptiest row among the nearly longest that are longer than the square root of `floor`.
// Lengths only fall, so that a bound that rows still pass needs no renewal.
template <class T>
SARRUS_HD real<T> next_key(const Entries<T>& e, real<T> floor, real<T>& bound) {
  int n = (e.nr + LANES - 1) / LANES * LANES;
  real<T> key = least_above(e.norm, bound, e.key, n);
  if (key < real<T>(NONE_ABOVE)) return key;
  bound = largest(e.norm, n) * e.nearly * e.nearly;
  if (bound < floor) bound = floor;
  return least_above(e.norm, bound, e.key, n);
}

// Eliminate the rows [begin, end), whose positions are the same. hold < 0: rows shorter than tol are
// dependent; otherwise there are `hold` pivots. False: reflectors got more than `most` entries.
template <class T>
SARRUS_FN bool eliminate(Entries<T>& e, int begin, int end, real<T> tol, int hold, int most) {
  int last = hold >= 0 ? hold : e.nc, at = begin;
  real<T> floor = hold >= 0 ? real<T>(0) : tol * tol, bound = real<T>(1e30), key = real<T>(NONE_ABOVE);
  real<T> seen =
      0;  // keys below it belong to the emptiest: all were looked at, only rows that are met change
  for (; at < end && e.rank < last; ++at) {
    if (key >= seen) {
      key = next_key(e, floor, bound);
      if (key >= real<T>(NONE_ABOVE)) break;
      seen = real<T>(static_cast<int>(key) / e.nr + 1) * e.nr;
    }
    int r = static_cast<int>(key) % e.nr;
    T squared = gather(e, r);
    if (!(squared > floor)) break;
    if (e.H_begin[e.rank + 1] > most) return false;
    store_left(e, r, at);
    int c = scale_reflector(e, squared);
    key = reflect_met(e, r, c, bound);
    ++e.rank;
  }
  for (int r = begin; r < end && at < end; ++r)
    if (!(e.norm[r] < real<T>(-0.5))) {
      leave(e, r);
      store_left(e, r, at++);
    }
  int next = e.rank;
  each(e.open, e.words_c, [&](int j) {
    e.at[j] = next;
    e.col[next++] = j;
  });
  return true;
}

SARRUS_END
