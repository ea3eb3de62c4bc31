"""Texts of exported laws: what does not depend on the law but for names and numbers."""

HEADER = """/* A control law of the mechanism {mechanism}, made by sarrus (law.export_code).
   Units: m, rad, kg, s, N.
   q: {q}.
   v: {v}.
   u: {u}.
   Outputs:
{outputs}
   Regulated forces: {forces}.

   Compile once, then link with your program:
     g++ {flags} -Ikernels -c law_kernel.cpp {name}.cpp
   or cmake -B build && cmake --build build.

   {name}_init() takes memory of the program; after it nothing is allocated, locked or written to files. One
   controller belongs to one thread; there may be several. */
#ifndef {NAME}_LAW_H
#define {NAME}_LAW_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {{
#endif

enum {{ {NAME}_NQ = {nq}, {NAME}_NV = {nv}, {NAME}_NU = {nu} }};

/* The default state of the mechanism */
#define {NAME}_Q0 {{{q0}}}
#define {NAME}_V0 {{{v0}}}

/* What {name}_step() returns, as Status in Python. u is finite and within the bounds of motors always. */
enum {{
    {NAME}_OK = 0,
    {NAME}_LIMITED = 1,     /* some limits are active */
    {NAME}_PARTIAL = 2,     /* outputs and forces are met as far as possible */
    {NAME}_SINGULAR = 3,    /* near a pose where a motion or a row is lost: directions fade out */
    {NAME}_SLIPPING = 4,    /* a contact moves that should hold */
    {NAME}_INFEASIBLE = -1, /* limits cannot hold with the motion; u: of the motion, cut at the motors */
    {NAME}_FAILED = -2      /* a state that is not finite, or too far off the constraints; u: the last one */
}};

/* Outputs, for {name}_target() */
enum {{
{sizes}    {NAME}_TARGETS
}};

/* Constraints, for {name}_hold() */
enum {{
{constraints}    {NAME}_HOLDS
}};

typedef struct {name}_law {name}_law;

/* Bytes of memory of one controller */
size_t {name}_bytes(void);

/* A controller in this memory, which is aligned to 64 bytes; 0 where it is not */
{name}_law *{name}_init(void *memory);

/* u for the measured state (q, v) at time t [s]. Where time goes back to its first value, a run begins. */
int {name}_step({name}_law *law, double t, const double *q, const double *v, double *u);

/* Forgets the past: integrals, estimates, transitions, places of contacts */
void {name}_reset({name}_law *law);

/* From now on an output is to be at x with velocity v and acceleration a; 0 stands for zeros. x of poses:
   rotation matrix (9, row by row), place (3); of orientations: the matrix alone; twists are
   [linear; angular] in world axes. Outputs with a desired acceleration take a alone. Returns 0, or -1 for
   an unknown output. */
int {name}_target({name}_law *law, int output, const double *x, const double *v, const double *a);

/* From now on a constraint holds (1) or is open (0); 0, or -1 for an unknown one */
int {name}_hold({name}_law *law, int constraint, int holds);

/* Desired values of the regulated forces from now on */
void {name}_forces({name}_law *law, const double *desired);

#ifdef __cplusplus
}}
#endif
#endif
"""

KERNEL = """// The kernel of exported laws with up to {width} coordinates (0: more than 32).
// Made by sarrus (law.export_code).
#include <new>

#include "control/law/law_step.hpp"

namespace sarrus {{

using ExportedLaw = Law<{width}>;

static unsigned long long front() {{ return (sizeof(ExportedLaw) + 63) / 64 * 64; }}

unsigned long long law_bytes(const LawTables& tables) {{
  Arena arena(nullptr);
  ExportedLaw measured(tables, arena);
  return front() + arena.used + 64;
}}

void* law_begin(const LawTables& tables, void* memory) {{
  Arena arena(static_cast<char*>(memory) + front());
  return new (memory) ExportedLaw(tables, arena);
}}

void law_reset(void* law) {{ static_cast<ExportedLaw*>(law)->reset(); }}

int law_step(void* law, double t, const double* q, const double* v, double* u) {{
  return take_step(*static_cast<ExportedLaw*>(law), t, q, v, u);
}}

void law_hold(void* law, int first, int count, int holds) {{
  static_cast<ExportedLaw*>(law)->hold(first, count, holds);
}}

void law_target(void* law, int output, const double* numbers, int count) {{
  static_cast<ExportedLaw*>(law)->target(output, numbers, count);
}}

void law_forces(void* law, const double* desired) {{ static_cast<ExportedLaw*>(law)->want_forces(desired); }}

}}  // namespace sarrus
"""

SOURCE = """// The numbers of a control law, and its functions in C; made by sarrus (law.export_code).
#include "{name}.h"

#include "control/law/law_tables.hpp"

namespace sarrus {{
namespace {{

{arrays}

const LawTables tables = {members};

const int constraint_rows[][2] = {{{rows}}};
const int target_numbers[] = {{{sizes}}};

// x, v and a (null: zeros) behind each other, as many numbers as the target of the output has
int gather(int output, const double* x, const double* v, const double* a, double* to) {{
  const Output<double>& o = tables.setup.output[output];
  const int moves = o.accelerated ? 0 : o.kind == POSE ? 6 : o.kind == TURN ? 3 : o.size;
  const int place = o.accelerated ? 0 : target_numbers[output] - 2 * moves;
  const double* parts[3] = {{x, v, a}};
  const int widths[3] = {{place, moves, o.accelerated ? o.size : moves}};
  int n = 0;
  for (int p = 0; p < 3; ++p)
    for (int i = 0; i < widths[p]; ++i) to[n++] = parts[p] ? parts[p][i] : 0.0;
  return n;
}}

}}  // namespace
}}  // namespace sarrus

using namespace sarrus;

extern "C" {{

__attribute__((visibility("default"))) size_t {name}_bytes(void) {{ return law_bytes(tables); }}

__attribute__((visibility("default"))) {name}_law* {name}_init(void* memory) {{
  if (!memory || reinterpret_cast<size_t>(memory) % 64) return nullptr;
  return static_cast<{name}_law*>(law_begin(tables, memory));
}}

__attribute__((visibility("default"))) int {name}_step({name}_law* law, double t, const double* q,
                                                        const double* v, double* u) {{
  return law_step(law, t, q, v, u);
}}

__attribute__((visibility("default"))) void {name}_reset({name}_law* law) {{ law_reset(law); }}

__attribute__((visibility("default"))) int {name}_target({name}_law* law, int output, const double* x,
                                                          const double* v, const double* a) {{
  double numbers[3 * 64];
  if (output < 0 || output >= {outputs} || target_numbers[output] > 3 * 64) return -1;
  if (!tables.setup.output[output].accelerated && !x) return -1;
  law_target(law, output, numbers, gather(output, x, v, a, numbers));
  return 0;
}}

__attribute__((visibility("default"))) int {name}_hold({name}_law* law, int constraint, int holds) {{
  if (constraint < 0 || constraint >= {constraints}) return -1;
  law_hold(law, constraint_rows[constraint][0], constraint_rows[constraint][1], holds);
  return 0;
}}

__attribute__((visibility("default"))) void {name}_forces({name}_law* law, const double* desired) {{
  law_forces(law, desired);
}}
}}
"""

LOOP = """/* A 1 kHz loop around {name}_step(), made by sarrus (law.export_code): ./loop [seconds]
   It prints how late the loop woke up, a histogram of that, and how long steps took. Encoders and drives go
   where it says. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#include "{name}.h"

#define PERIOD 1000000L /* [ns] */
#define BINS 12         /* of the histogram: 1, 2, 4, ... us */

static double seconds_of(struct timespec t) {{ return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec; }}

static void count(unsigned long *bins, double us)
{{
    int i = 0;
    while (i < BINS - 1 && us >= (double)(1L << i)) ++i;
    ++bins[i];
}}

static void show(const char *what, const unsigned long *bins, double worst)
{{
    int i;
    printf("%s, worst %.1f us\\n", what, worst);
    for (i = 0; i < BINS - 1; ++i)
        if (bins[i]) printf("  below %5ld us  %lu\\n", 1L << i, bins[i]);
    if (bins[i]) printf("  more             %lu\\n", bins[i]);
}}

int main(int argc, char **argv)
{{
    const double seconds = argc > 1 ? atof(argv[1]) : 5.0;
    double q[{NAME}_NQ] = {NAME}_Q0, v[{NAME}_NV] = {NAME}_V0, u[{NAME}_NU];
    unsigned long late[BINS] = {{0}}, took[BINS] = {{0}}, failures = 0, cycles = 0;
    double worst_late = 0.0, worst_took = 0.0;
    struct sched_param priority = {{80}};
    struct timespec next, woke, done;
    {name}_law *law = {name}_init(aligned_alloc(64, ({name}_bytes() + 63) / 64 * 64));
    if (!law) return 1;
    if (mlockall(MCL_CURRENT | MCL_FUTURE) || sched_setscheduler(0, SCHED_FIFO, &priority))
        fprintf(stderr, "no real-time priority: times are those of an ordinary program\\n");
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (; (double)cycles < 1000.0 * seconds; ++cycles) {{
        double us;
        next.tv_nsec += PERIOD;
        if (next.tv_nsec >= 1000000000L) next.tv_nsec -= 1000000000L, ++next.tv_sec;
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, 0);
        clock_gettime(CLOCK_MONOTONIC, &woke);
        /* here: q and v from encoders */
        if ({name}_step(law, 1e-3 * (double)cycles, q, v, u) < 0) ++failures;
        /* here: u to drives; it is bounded and finite also where the step failed */
        clock_gettime(CLOCK_MONOTONIC, &done);
        us = 1e6 * (seconds_of(woke) - seconds_of(next));
        count(late, us);
        if (us > worst_late) worst_late = us;
        us = 1e6 * (seconds_of(done) - seconds_of(woke));
        count(took, us);
        if (us > worst_took) worst_took = us;
    }}
    printf("%lu cycles, %lu steps failed\\n", cycles, failures);
    show("woke up late", late, worst_late);
    show("steps took", took, worst_took);
    return 0;
}}
"""

BUILD = """# Library and example loop of an exported law; made by sarrus (law.export_code).
cmake_minimum_required(VERSION 3.18)
project({name} LANGUAGES C CXX)
# As the kernel of sarrus was compiled on the machine that exported the law: the same bits with its compiler.
# Elsewhere: cmake -DFLAGS="-std=c++20 -O3 -march=native -fPIC"
set(FLAGS "{flags}" CACHE STRING "flags of the C++ compiler")
separate_arguments(flags UNIX_COMMAND "${{FLAGS}}")
add_library({name} SHARED law_kernel.cpp {name}.cpp)
target_include_directories({name} PRIVATE kernels PUBLIC ${{CMAKE_CURRENT_SOURCE_DIR}})
target_compile_options({name} PRIVATE ${{flags}})
add_executable(loop loop.c)
target_link_libraries(loop {name})
"""
