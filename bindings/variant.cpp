// The kernel instantiated for one instruction set (SARRUS_ISA), as a table of functions.
#include "control.hpp"
#include "run.hpp"
#include "solve_batches.hpp"

SARRUS_BEGIN
namespace {

Run* make_run(const ModelD& m, const RunOptions& o, const Outside& outside) {
  if (o.method == 3 && outside.supplies_inertia)
    return new ImplicitRun<0, Called<true, false>>(m, o, outside);
  if (o.method == 3)
    return sized(m, [&](auto ld) -> Run* {
      return new ImplicitRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
    });
  if (outside.supplies_inertia && outside.acceleration)
    return new SizedRun<0, Called<true, true>>(m, o, outside);
  if (outside.supplies_inertia) return new SizedRun<0, Called<true, false>>(m, o, outside);
  if (outside.acceleration) return new SizedRun<0, Called<false, true>>(m, o, outside);
  return sized(m, [&](auto ld) -> Run* {
    return new SizedRun<decltype(ld)::width, Called<false, false>>(m, o, outside);
  });
}

}  // namespace

#define SARRUS_TEXT2(x) #x
#define SARRUS_TEXT(x) SARRUS_TEXT2(x)
#define SARRUS_JOIN2(a, b) a##b
#define SARRUS_JOIN(a, b) SARRUS_JOIN2(a, b)

const Table* table() {
  static const Table t = {SARRUS_TEXT(SARRUS_ISA),
                          sparse,
                          mass_matrix_n,
                          rnea_n,
                          aba_n,
                          energy_n,
                          poses_n,
                          body_motion_n,
                          frames_n,
                          jacobian_n,
                          constraints_n,
                          pivots_n,
                          terms_n,
                          integrate_n,
                          difference_n,
                          forward_n,
                          derivatives_n,
                          acceleration_1,
                          make_run,
                          respond_1,
                          least_1,
                          program_1,
                          limited_1,
                          reach_1,
                          levels_1,
                          limit_rows_1,
                          eigenvalues_1,
                          point_1};
  return &t;
}

SARRUS_END

extern "C" const sarrus::Table* SARRUS_JOIN(sarrus_table_, SARRUS_ISA)() {
  return sarrus::SARRUS_ISA::table();
}
