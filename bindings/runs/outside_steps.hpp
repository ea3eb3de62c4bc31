// Steps that somebody else takes, as a run within one mode.
#pragma once

#include "run.hpp"

SARRUS_BEGIN

struct RunOutside : StepsInMode {
  const ModelD& m;
  const OutsideSteps& steps;
  bool fine = true;

  RunOutside(const ModelD& model, const OutsideSteps& given) : m(model), steps(given) {}

  bool start(double t, const double* q, const double* v, int) override {
    return fine = steps.start(steps.context, {t, q, v, 0});
  }
  bool step(double h, double t_end) override { return fine = steps.step(steps.context, h, t_end); }
  void end_at(double) override {}
  RunState state() const override { return steps.state(steps.context); }
  History history() const override { return {}; }
  bool restore(const Instant<double>&, const History&, double) override {
    return fine = steps.back(steps.context);
  }
  int tail_size() const override { return 0; }
  void store_tail(double*) const override {}
  void load_tail(const double*) override {}
  void applied(double* tau) const override { std::copy_n(state().tau, m.nv, tau); }
};

SARRUS_END
