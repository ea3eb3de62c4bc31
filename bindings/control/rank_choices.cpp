#include "rank_choices.hpp"

namespace sarrus {

std::unique_ptr<StepResult> RankChoices::run() {
  found.push_back(weighed({}));
  StepResult& first = *found[0];
  if (first.f.status == STEPPED && first.f.ranks.count > 0) {
    const Remembered after = remember();
    branch(first.f.ranks, {});
    restore(after);
  }
  double sum = 0;
  for (auto& each : found) sum += each->weight;
  for (auto& each : found) each->weight /= sum;
  for (size_t i = 1; i < found.size(); ++i)
    first.others.append(nb::cast(found[i].release(), nb::rv_policy::take_ownership));
  return std::move(found[0]);
}

std::unique_ptr<StepResult> RankChoices::weighed(const std::vector<int>& ranks) const {
  auto result = step(ranks);
  const RankRule<double>& doubts = result->f.ranks;
  if (result->f.status != STEPPED) return result;
  for (int i = 0; i < doubts.count; ++i) result->weight *= doubts.doubt[i].weight[doubts.doubt[i].chosen];
  return result;
}

// The result for given choices, and those for other choices of later doubts
void RankChoices::add(const std::vector<int>& ranks) {
  restore(start);
  auto result = weighed(ranks);
  if (result->f.status != STEPPED) return;
  found.push_back(std::move(result));
  branch(found.back()->f.ranks, ranks);
}

// Results that differ from one with these doubts behind its first choices
void RankChoices::branch(RankRule<double> doubts, std::vector<int> ranks) {
  for (int i = static_cast<int>(ranks.size()); i < doubts.count; ++i) {
    const Doubt<double>& doubt = doubts.doubt[i];
    ranks.push_back(doubt.chosen);
    for (int c = 0; c < doubt.count && found.size() < MOST; ++c) {
      if (c == doubt.chosen || !(doubt.weight[c] > 0)) continue;
      ranks.back() = c;
      add(ranks);
    }
    ranks.back() = doubt.chosen;
  }
}

RankChoices::Remembered RankChoices::remember() const {
  if (!feedback) return {};
  return {feedback->numbers, feedback->state.last};
}

void RankChoices::restore(const Remembered& memory) {
  if (!feedback) return;
  std::copy(memory.first.begin(), memory.first.end(), feedback->numbers.begin());
  feedback->state.last = memory.second;
}

}  // namespace sarrus
