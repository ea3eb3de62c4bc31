// The sets of functions in this module, one for each instruction set it was compiled for, and the choice of one.
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "kernel_object.hpp"

namespace sarrus {

#ifdef SARRUS_HAS_GENERIC
SARRUS_DECLARE_TABLES(generic)
#endif
#ifdef SARRUS_HAS_V3
SARRUS_DECLARE_TABLES(v3)
#endif
#ifdef SARRUS_HAS_V4
SARRUS_DECLARE_TABLES(v4)
#endif

namespace {

struct InstructionSet {
  const char* name;
  bool (*runs_here)();  // whether the processor has it
  Tables (*tables)();
};

#define SARRUS_SET(isa, runs_here)        \
  {#isa, runs_here, [] {                  \
     return Tables{#isa,                  \
                   isa::batch_table(),    \
                   isa::pose_table(),     \
                   isa::run_table(),      \
                   isa::gradient_table(), \
                   isa::control_table(),  \
                   isa::contact_table(),  \
                   isa::problem_table()}; \
   }}

// The best one first
const InstructionSet COMPILED[] = {
#ifdef SARRUS_HAS_V4
    SARRUS_SET(v4,
               [] {
                 return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
                        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
                        __builtin_cpu_supports("fma");
               }),
#endif
#ifdef SARRUS_HAS_V3
    SARRUS_SET(v3,
               [] {
                 return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                        __builtin_cpu_supports("bmi2");
               }),
#endif
#ifdef SARRUS_HAS_GENERIC
    SARRUS_SET(generic, [] { return true; }),
#endif
};

// Why none of them was chosen
std::string refusal(const std::string& wish) {
  std::string have;
  for (const InstructionSet& one : COMPILED) have += (have.empty() ? "" : ", ") + std::string(one.name);
  if (wish.empty())
    return "this build of sarrus has no kernel for this processor, only for " + have +
           "; rebuild it with make setup";
  return "SARRUS_ISA asks for the instruction set '" + wish + "', but this build of sarrus has " + have +
         ", or the processor does not have it; make setup SETS=\"generic v3 v4\" compiles others";
}

Tables choose_tables() {
  const char* given = std::getenv("SARRUS_ISA");
  const std::string wish = given ? given : "";
  for (const InstructionSet& one : COMPILED)
    if ((wish.empty() || wish == one.name) && one.runs_here()) return one.tables();
  throw std::runtime_error(refusal(wish));
}

}  // namespace

const Tables& best_tables() {
  static const Tables tables = choose_tables();
  return tables;
}

}  // namespace sarrus
