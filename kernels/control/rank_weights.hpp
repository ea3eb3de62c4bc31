// Ranks of a control step where the measured state leaves them in doubt.
//
// At a state known to `tol`, singular values below tol cannot be told from zero. Above 10 tol they count. In
// between a direction fades out with its singular value s,
//
//   f(s) = x^3 (10 - 15 x + 6 x^2),   x = (s - tol) / (9 tol)                                             (1)
//
// A direction that is partly there has no meaning in a law with priorities, programs and null spaces. So the
// law is evaluated for every rank k that is possible, each time with a rank beyond doubt, and the inputs are
// the mean with the weights
//
//   f(s_k) - f(s_(k+1)),   s_1 >= s_2 >= ...                                                              (2)
//
// They are not negative and add to one: bounds on inputs hold for the mean, and it is continuous in s.
// Choices of several ranks in doubt multiply.
#pragma once

#include "control/control_data.hpp"
#include "solve/factor/singular_values.hpp"

SARRUS_BEGIN

constexpr double BAND = 10;  // upper over lower end of (1)
constexpr double LIGHTEST = 0.01;
constexpr double BEYOND_DOUBT = 1e3;  // pivots above this times tol: singular values are above the band

// From 0 at x = first to 1 at x = last with two continuous derivatives, as in (1)
template <class T>
SARRUS_HD T ramp(const T& x, const T& first, const T& last) {
  if (!(x > first)) return T(0);
  if (!(x < last)) return T(1);
  T y = (x - first) / (last - first);
  return y * y * y * (real<T>(10) - y * (real<T>(15) - real<T>(6) * y));
}

// (1); where tol is 0, whether s is positive
template <class T>
SARRUS_HD T fade(const T& s, const T& tol) {
  return ramp(s, tol, T(real<T>(BAND) * tol));
}

// The choice of a new doubt: the one that was given, or the weightiest
template <class T>
SARRUS_HD int choose(Doubt<T>& d, RankRule<T>& rule) {
  d.chosen = 0;
  for (int i = 1; i < d.count; ++i)
    if (d.weight[i] > d.weight[d.chosen]) d.chosen = i;
  if (rule.count < rule.given_count) d.chosen = rule.given[rule.count];
  rule.doubt[rule.count++] = d;
  return d.chosen;
}

// How many of n directions count, that count with the shares f, in descending order
template <class T>
SARRUS_FN int decide_count(const T* f, int n, DoubtKind kind, int level, RankRule<T>& rule) {
  int possible = 0, certain = 0;
  while (possible < n && f[possible] > 0) ++possible;
  while (certain < possible && !(f[certain] < 1)) ++certain;
  if (certain == possible || rule.count == MOST_DOUBTS) return certain;
  certain = larger(certain, possible - MOST_RANKS + 1);
  Doubt<T> d{};
  d.kind = kind, d.level = level, d.least = certain, d.count = possible - certain + 1;
  d.share = f[possible - 1];
  for (int i = 0; i < d.count; ++i) {
    T there = i == 0 ? T(1) : f[certain + i - 1];
    d.weight[i] = there - (certain + i < possible ? f[certain + i] : T(0));
  }
  return certain + choose(d, rule);
}

// How many of the n singular values s, in descending order, count: those above `zero` where there is no
// doubt. share (n) is room; the rule may be null.
template <class T>
SARRUS_FN int decide_rank(const T* s, int n, const T& scale, const T& zero, DoubtKind kind, int level,
                          RankRule<T>* rule, T* share) {
  int known = 0;
  while (known < n && s[known] > zero) ++known;
  if (!rule || known == 0 || !(s[known - 1] < real<T>(BAND) * rule->tol * scale)) return known;
  for (int i = 0; i < known; ++i) share[i] = fade(s[i], T(rule->tol * scale));
  return decide_count(share, known, kind, level, *rule);
}

// Whether the rank of rows that were eliminated may be in doubt
template <class T>
SARRUS_HD bool is_doubtful(const Pivoted<T>& p, const T& scale, const RankRule<T>* rule) {
  return rule && p.rank() > 0 && p.pivot(p.rank() - 1) < real<T>(BEYOND_DOUBT) * rule->tol * scale;
}

// Whether something with this weight counts
template <class T>
SARRUS_FN bool decide(const T& weight, DoubtKind kind, RankRule<T>& rule) {
  if (!(weight > 0) || !(weight < 1) || rule.count == MOST_DOUBTS) return weight > real<T>(0.5);
  Doubt<T> d{};
  d.kind = kind, d.count = 2, d.share = weight;
  d.weight[0] = real<T>(1) - weight, d.weight[1] = weight;
  return choose(d, rule) == 1;
}

// Mobility of coordinate c by its inertia alone, as if nothing stood in its way: M_cc^-1/2. Coordinates with
// next to no inertia (massless objects) count with LIGHTEST of the largest one.
template <class T>
SARRUS_FN T free_mobility(const ResponseView<T>& in, int c) {
  T largest = largest_of(in.nv, [&](int j) { return in.M[j * in.nv + j] * in.unit[j] * in.unit[j]; });
  T own = in.M[c * in.nv + c] * in.unit[c] * in.unit[c];
  return in.unit[c] / sqrt_(larger(own, T(real<T>(LIGHTEST) * largest)));
}

// How far a row j (nv) on accelerations moves that way: the size that singular values are compared with
template <class T>
SARRUS_FN T free_size(const ResponseView<T>& in, const T* j) {
  return sum_of<T>(in.nv, [&](int c) { return j[c] == 0 ? T(0) : abs_(j[c]) * free_mobility(in, c); });
}

SARRUS_END
