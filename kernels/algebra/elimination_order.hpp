// Minimum-degree order of a sparse symmetric matrix, its elimination tree and its fronts [George1989].
//
// The graph is kept as sets of bits: eliminating a node unites its neighbours' sets. What is left in the set
// of a node when it is eliminated are the rows of its column of the factor.
#pragma once

#include "algebra/front_plan.hpp"
#include "base/arena.hpp"
#include "base/bit_sets.hpp"
#include "base/vectors.hpp"

SARRUS_BEGIN

constexpr int SMALL_FRONT = 12;  // columns are put together up to this size although that stores zeros

SARRUS_HD int padded(int n) { return (n + LANES - 1) / LANES * LANES; }

struct EliminationOrder {
  int n, words;
  Word* graph;          // (n, words) neighbours; after elimination: rows below the diagonal of the factor
  Word* alive;          // (words)
  int *order, *at;      // (n) node at a position, and its inverse
  int *degree, *above;  // (n) of nodes: neighbours left, the next node of its column (-1: none)
  int *first, *next;    // (n) children of a node as a list
  int* front_of;        // (n) front of a position

  SARRUS_HD void bind(Arena& arena, int size) {
    n = size, words = words_for(size);
    arena.take(n * words, graph);
    arena.take(words, alive);
    arena.take(n, order, at, degree, above, first, next, front_of);
  }
  SARRUS_HD const Word* rows(int node) const { return graph + static_cast<long>(node) * words; }
  SARRUS_HD Word* rows(int node) { return graph + static_cast<long>(node) * words; }
};

SARRUS_HD void connect(EliminationOrder& e, int a, int b) {
  if (a == b) return;
  include(e.rows(a), b);
  include(e.rows(b), a);
}

SARRUS_HD int members(const Word* set, int words) {
  int n = 0;
  for (int i = 0; i < words; ++i) n += count_bits(set[i]);
  return n;
}

// out: order, at, degree (rows below the diagonal)   in: graph, which becomes that of the factor
SARRUS_FN void minimum_degree(EliminationOrder& e) {
  clear(e.alive, e.words);
  for (int i = 0; i < e.n; ++i) {
    include(e.alive, i);
    e.degree[i] = members(e.rows(i), e.words);
  }
  for (int k = 0; k < e.n; ++k) {
    int p = -1;
    each(e.alive, e.words, [&](int i) {
      if (p < 0 || e.degree[i] < e.degree[p]) p = i;
    });
    exclude(e.alive, p);
    Word* mine = e.rows(p);
    for (int w = 0; w < e.words; ++w) mine[w] &= e.alive[w];
    e.order[k] = p;
    e.at[p] = k;
    each(mine, e.words, [&](int i) {
      Word* other = e.rows(i);
      unite(other, mine, e.words);
      exclude(other, i);
      int left = 0;
      for (int w = 0; w < e.words; ++w) left += count_bits(other[w] & e.alive[w]);
      e.degree[i] = left;
    });
  }
}

// Order in which the subtrees of the elimination tree are contiguous   in: minimum_degree()
SARRUS_FN void postorder(EliminationOrder& e) {
  for (int i = 0; i < e.n; ++i) e.first[i] = -1;
  for (int k = e.n - 1; k >= 0; --k) {
    int p = e.order[k], up = -1;
    each(e.rows(p), e.words, [&](int i) {
      if (up < 0 || e.at[i] < e.at[up]) up = i;
    });
    e.above[p] = up;
    if (up < 0) continue;
    e.next[p] = e.first[up];
    e.first[up] = p;
  }
  int done = 0;
  for (int k = 0; k < e.n; ++k) {
    int root = e.order[k];
    if (e.above[root] >= 0) continue;
    for (int i = root;;) {  // down to a leaf, then along siblings and up
      while (e.first[i] >= 0) {
        int child = e.first[i];
        e.first[i] = e.next[child];
        i = child;
      }
      e.front_of[done++] = i;  // the new order
      if (i == root) break;
      i = e.above[i];
    }
  }
  for (int k = 0; k < e.n; ++k) {
    e.order[k] = e.front_of[k];
    e.at[e.order[k]] = k;
  }
}

// Whether the column at position k continues the front of the one before it, which has `size` rows so far.
SARRUS_HD bool continues_front(const EliminationOrder& e, int k, int size) {
  if (k == 0) return false;
  int before = e.order[k - 1], here = e.order[k];
  if (e.above[before] != here) return false;
  return e.degree[before] == e.degree[here] + 1 || size + e.degree[here] < SMALL_FRONT;
}

// Where the entry of nodes a and b is kept in the factor.
SARRUS_FN int place_of(const EliminationOrder& e, const FrontPlan& plan, int a, int b) {
  int early = e.at[a] < e.at[b] ? a : b, late = early == a ? b : a, f = e.front_of[e.at[early]];
  int rows = plan.begin[f + 1] - plan.begin[f];
  const int* column = plan.column + plan.begin[f];
  auto find = [&](int node) {
    int low = 0, high = rows - 1;
    while (low < high) {
      int middle = (low + high) / 2;
      if (e.at[column[middle]] < e.at[node])
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  };
  return plan.factor[f] + find(early) * padded(rows) + find(late);
}

// Fronts of an order. ints(n): memory of the plan for n integers
template <class Ints>
SARRUS_FN void plan_fronts(EliminationOrder& e, Ints ints, FrontPlan& plan) {
  int count = 0, size = 0;
  for (int k = 0; k < e.n; ++k) {
    bool same = continues_front(e, k, size);
    size = same ? size + 1 : 1;
    count += !same;
    e.front_of[k] = count - 1;
  }
  int *pivots = ints(count), *begin = ints(count + 1), *factor = ints(count), *first = ints(count);
  fill(pivots, count);
  for (int k = 0; k < e.n; ++k) ++pivots[e.front_of[k]];
  begin[0] = 0;
  plan.entries = plan.largest = 0;
  for (int f = 0, k = 0; f < count; ++f) {
    first[f] = k;
    k += pivots[f];
    int rows = pivots[f] + e.degree[e.order[k - 1]];
    begin[f + 1] = begin[f] + rows;
    factor[f] = plan.entries;
    plan.entries += pivots[f] * padded(rows);
    plan.largest = larger(rows, plan.largest);
  }
  int *column = ints(begin[count]), *front_of = ints(e.n);
  for (int f = 0, k = 0; f < count; ++f) {
    int* to = column + begin[f];
    for (int i = 0; i < pivots[f]; ++i) front_of[*to++ = e.order[k++]] = f;
    int* rest = to;
    each(e.rows(e.order[k - 1]), e.words, [&](int i) { *to++ = i; });
    for (int* x = rest + 1; x < to; ++x)  // by position
      for (int* y = x; y > rest && e.at[y[-1]] > e.at[*y]; --y) swap_(y[-1], *y);
  }
  plan.n = e.n, plan.fronts = count;
  plan.pivots = pivots, plan.first = first, plan.begin = begin, plan.column = column, plan.factor = factor;
  plan.front_of = front_of;
}

SARRUS_END
