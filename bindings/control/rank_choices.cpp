#include "rank_choices.hpp"

#include "control/law/rank_choices.hpp"

namespace sarrus {

std::unique_ptr<StepResult> RankChoices::run() {
  found.push_back(weighed({}));
  StepResult& first = *found[0];
  if (first.f.status == STEPPED && first.f.ranks.count > 0) {
    const Remembered after = remember();
    add_others(first.f.ranks);
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
  if (result->f.status == STEPPED) result->weight = weight_of(result->f.ranks);
  return result;
}

// The results for all other choices
void RankChoices::add_others(const RankRule<double>& doubts) {
  auto one = [&](const int* ranks, int count, RankRule<double>& rule) {
    auto result = weighed({ranks, ranks + count});
    if (result->f.status != STEPPED) return false;
    rule = result->f.ranks;
    found.push_back(std::move(result));
    return true;
  };
  auto back = [&] { restore(start); };
  OtherRanks<decltype(one), decltype(back)>{one, back}.others(doubts);
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
