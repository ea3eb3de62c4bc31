// A control step for every choice of the ranks that are in doubt at its state: control/rank_weights.hpp.
#pragma once

#include "control/step_data.hpp"

SARRUS_BEGIN

constexpr int MOST_CHOICES = 32;  // results of one step

// The weight of a choice of doubts
SARRUS_HD double weight_of(const RankRule<double>& rule) {
  double weight = 1;
  for (int i = 0; i < rule.count; ++i) weight *= rule.doubt[i].weight[rule.doubt[i].chosen];
  return weight;
}

// run(ranks, count, rule): the step with choices for the first `count` doubts; whether it counts, and the
// doubts that it met. restore(): what the law remembers is again that of the start of the step.
template <class Run, class Restore>
struct OtherRanks {
  Run run;
  Restore restore;
  int found = 0;

  // Results that differ from one with these doubts behind its first choices
  SARRUS_FN void branch(const RankRule<double>& doubts, const int* ranks, int count) {
    int chosen[MOST_DOUBTS];
    for (int i = 0; i < count; ++i) chosen[i] = ranks[i];
    for (int i = count; i < doubts.count; ++i) {
      const Doubt<double>& doubt = doubts.doubt[i];
      for (int c = 0; c < doubt.count && found < MOST_CHOICES; ++c) {
        if (c == doubt.chosen || !(doubt.weight[c] > 0)) continue;
        chosen[i] = c;
        add(chosen, i + 1);
      }
      chosen[i] = doubt.chosen;
    }
  }

  // The result for given choices, and those for other choices of later doubts
  SARRUS_FN void add(const int* ranks, int count) {
    RankRule<double> rule;
    restore();
    if (!run(ranks, count, rule)) return;
    ++found;
    branch(rule, ranks, count);
  }

  // The weightiest result has been found with these doubts: all others
  SARRUS_FN void others(const RankRule<double>& doubts) {
    found = 1;
    branch(doubts, nullptr, 0);
  }
};

SARRUS_END
