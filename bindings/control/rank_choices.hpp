// A control step for every choice of the ranks that are in doubt at its state: control/rank_weights.hpp.
#pragma once

#include "force_feedback.hpp"
#include "step_result.hpp"

#include <functional>
#include <utility>
#include <vector>

namespace sarrus {

class RankChoices {
 public:
  using Step = std::function<std::unique_ptr<StepResult>(const std::vector<int>& ranks)>;

  // step: with choices for the first doubts; feedback: of regulated forces, or null. What it remembers is
  // that of the weightiest choice.
  RankChoices(Step step_, ForceFeedback* feedback_)
      : step(std::move(step_)), feedback(feedback_), start(remember()) {}

  // The weightiest result; it holds the others, and the weights add to one
  std::unique_ptr<StepResult> run();

 private:
  using Remembered = std::pair<std::vector<double>, double>;
  std::unique_ptr<StepResult> weighed(const std::vector<int>& ranks) const;
  void add_others(const RankRule<double>& doubts);
  Remembered remember() const;
  void restore(const Remembered& memory);

  Step step;
  ForceFeedback* feedback;
  Remembered start;
  std::vector<std::unique_ptr<StepResult>> found;
};

}  // namespace sarrus
