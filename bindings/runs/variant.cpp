// Runs for one instruction set (SARRUS_ISA).
#include "run.hpp"

#include "../strides.hpp"

SARRUS_BEGIN
namespace {

Run* make_run(const ModelD& m, const Options& o, const Outside& outside) {
  bool accelerations = outside.acceleration && !o.method.implicit;
  if (outside.supplies_inertia && accelerations) return new SizedRun<0, Called<true, true>>(m, o, outside);
  if (outside.supplies_inertia) return new SizedRun<0, Called<true, false>>(m, o, outside);
  if (accelerations) return new SizedRun<0, Called<false, true>>(m, o, outside);
  return sized(m, [&](auto ld) -> Run* {
    return new SizedRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
  });
}

}  // namespace

const RunTable& run_table() {
  static const RunTable table = {.make = make_run};
  return table;
}

SARRUS_END
