// Latches: constraints that hold what they find. Their parameters change so that phi = 0 at the present pose:
// frame A of a loop moves onto frame B, a distance, a radius or an offset becomes what it is now.
#pragma once

#include "constraints/constraints.hpp"

SARRUS_BEGIN

// values: parameters of all elements, then offsets of all couplings; those of the rows [begin, end) change
// in: t (placed) of the state s
template <class R>
SARRUS_FN void latch_rows(const Model<R>& m, const State<R>& s, const Tree<R>& t, int begin, int end,
                          R* values) {
  for (int i = 0; i < m.ne; ++i) {
    if (m.el_row[i] < begin || m.el_row[i] >= end) continue;
    with_element(m, i, [&](auto kind, const auto& c) {
      using Kind = decltype(kind);
      using Given = typename Kind::template Parameters<R>;
      if constexpr (requires(Given& to) { Kind::latch(c, pair_of(t, 0, 0, c), to); })
        Kind::latch(c, pair_of(t, m.el_a[i], m.el_b[i], c),
                    *reinterpret_cast<Given*>(values + m.el_begin[i]));
      else
        static_assert(
            requires { Kind::cannot_latch; },
            "a kind of element has latch(c, pair, to), or says cannot_latch = true");
      if constexpr (requires(Given& to) { to.entry; })
        if (c.entry >= 0) reinterpret_cast<Given*>(values + m.el_begin[i])->length -= s.q[int(c.entry)];
    });
  }
  for (int c = 0; c < m.nk; ++c) {
    if (m.k_row[c] < begin || m.k_row[c] >= end) continue;
    R sum = 0;
    for (int i = m.k_begin[c]; i < m.k_end[c]; ++i)
      sum += m.kt_coef[i] * (m.kt_knots[i] ? curve_of_term(m, i, s.q[m.kt_q[i]]).value : s.q[m.kt_q[i]]);
    values[m.nev + c] = sum;
  }
}

SARRUS_END
