// Sets of small integers as words of bits: which columns a row has entries in, which rows a column.
#pragma once

#include "base/platform.hpp"

SARRUS_BEGIN

using Word = unsigned long long;
constexpr int WORD = 64;

SARRUS_HD int words_for(int n) { return (n + WORD - 1) / WORD; }
SARRUS_HD void include(Word* set, int i) { set[i / WORD] |= Word(1) << (i % WORD); }
SARRUS_HD void exclude(Word* set, int i) { set[i / WORD] &= ~(Word(1) << (i % WORD)); }

SARRUS_HD void clear(Word* set, int words) {
  for (int i = 0; i < words; ++i) set[i] = 0;
}
SARRUS_HD void unite(Word* set, const Word* other, int words) {
  for (int i = 0; i < words; ++i) set[i] |= other[i];
}

// visit(i) for the members of the set, or of its part in (`inside`) or out of the other, in increasing order
template <class F>
SARRUS_HD void each(const Word* set, int words, F visit) {
  for (int i = 0; i < words; ++i)
    for (Word left = set[i]; left; left &= left - 1) visit(i * WORD + lowest_bit(left));
}
template <class F>
SARRUS_HD void each(const Word* set, const Word* other, bool inside, int words, F visit) {
  for (int i = 0; i < words; ++i)
    for (Word left = set[i] & (inside ? other[i] : ~other[i]); left; left &= left - 1)
      visit(i * WORD + lowest_bit(left));
}

SARRUS_END
