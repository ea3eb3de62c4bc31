"""CUDA for copies that teams of threads step: one text for mechanisms of the same kinds, tables are data."""

from __future__ import annotations

from dataclasses import dataclass

from .elimination_rounds import AHEAD
from .general_text import headers_digest

# What devices and the processor have in common. TEAM threads are a team; R: numbers, Index: of updates.
COMMON = """#include "team/advance.hpp"

using namespace sarrus;

// Tables of one mechanism, for all teams
struct Bound {
  Model<R> m;
  TeamTables<R, Index> p;
  const int* actuated;
  int nu, tested, entries;
  double halves, rounding;
};

// numbers, limits: of the model and of its tables, in double precision
__device__ Bound bound(const int* sizes, const int* indices, const R* numbers, const int* team_sizes,
                       const int* team_indices, const R* limits, const void* updates, const int* actuated,
                       const double* tests) {
  Bound b;
  b.m = model_of(sizes, Fields<R>{indices, numbers});
  b.p = tables_of(b.m, team_sizes, team_indices, limits, static_cast<const Update<Index>*>(updates));
  b.actuated = actuated;
  b.nu = static_cast<int>(tests[0]);
  b.tested = static_cast<int>(tests[1]);
  b.halves = tests[2], b.rounding = tests[3];
  return b;
}

__device__ unsigned long long bytes_of(const Bound& b) {
  Arena arena(nullptr);
  TeamStepper<R, Index> s(b.m, b.p, arena);
  return (arena.used + 127) / 128 * 128 + 64;  // copies of a warp begin in other banks
}

// The model of a copy that has numbers of its own, `offset` further on
__device__ const int* moved(const int* x, long long) { return x; }
__device__ const R* moved(const R* x, long long offset) { return x + offset; }
__device__ Model<R> own_model(Model<R> m, long long offset) {
#define SARRUS_FIELD(type, name, count, width) m.name = moved(m.name, offset);
  SARRUS_MODEL_FIELDS(SARRUS_FIELD)
#undef SARRUS_FIELD
  return m;
}

// Parameters of the kernel `advance` as in cuda_text.py, and what they are for a team
#define RUN_PARAMETERS \\
  int first, int last, int most, R dt, double *q, R *v, const R *u, long long u_copy, long long u_step, \\
  const R *tau, long long tau_copy, const R *parameters, double *q_kept, R *v_kept, int every, int rows, \\
  int *reached, unsigned *guards, R *drifts, const double *units, int *due, double *errors
#define RUN(b) \\
  {first, last, most, dt, q, v, u, u_copy, u_step, tau, tau_copy, q_kept, v_kept, every, rows, reached, \\
   guards, drifts, units, due, errors, b.actuated, b.nu, b.tested, b.halves, b.rounding}
"""

CUDA = """
constexpr unsigned ALL = 0xffffffffu;

template <bool X>
struct Flag {
  static constexpr bool value = X;
};

// TEAM threads of a warp; the teams of a warp run in step
struct Team {
  int lane;

  template <class F>
  __device__ __forceinline__ void each(int n, F f) {
#pragma unroll 1
    for (int i = lane; i < n; i += TEAM) f(i);
    __syncwarp();
  }
  template <class F>
  __device__ __forceinline__ auto most(int n, F f) {
    decltype(f(0)) most = 0;
    auto raise = [&](auto x) { most = x > most || x != x ? x : most; };
#pragma unroll 1
    for (int i = lane; i < n; i += TEAM) raise(f(i));
    for (int d = TEAM / 2; d > 0; d /= 2) raise(__shfl_xor_sync(ALL, most, d));
    return most;
  }
  // Updates are read AHEAD rounds before, as words; they pass by the cache that other tables live in.
  static __device__ __forceinline__ uint2 read(const Update<unsigned short>* at) {
    return __ldcg(reinterpret_cast<const uint2*>(at));
  }
  static __device__ __forceinline__ uint4 read(const Update<unsigned>* at) {
    return __ldcg(reinterpret_cast<const uint4*>(at));
  }
  static __device__ __forceinline__ Update<unsigned> unpacked(uint2 x) {
    const unsigned d = x.y >> 16;
    return {x.x & 0xffffu, x.x >> 16, x.y & 0xffffu, d == 0xffffu ? ~0u : d};
  }
  static __device__ __forceinline__ Update<unsigned> unpacked(uint4 x) { return {x.x, x.y, x.z, x.w}; }
  template <class W, class U>
  static __device__ __forceinline__ void read_half(W* words, const U* at) {
#pragma unroll
    for (int k = 0; k < AHEAD / 2; ++k) words[k] = read(at + k * TEAM);
  }
  template <class W, class F>
  static __device__ __forceinline__ void run_half(const W* words, F f) {
#pragma unroll
    for (int k = 0; k < AHEAD / 2; k += 2) {
      f(unpacked(words[k]), Flag<true>{});
      __syncwarp();
      f(unpacked(words[k + 1]), Flag<false>{});
      __syncwarp();
    }
  }
  // The two halves in turn: a half is read while the other one runs.
  template <class U, class F>
  __device__ __forceinline__ void rounds(const U* updates, int, int begin, int end, F f) {
    const U* at = updates + begin * TEAM + lane;
    decltype(read(at)) now[AHEAD / 2], next[AHEAD / 2];
    read_half(now, at);
#pragma unroll 1
    for (int r = begin; r < end; r += AHEAD) {
      read_half(next, at + AHEAD / 2 * TEAM);
      run_half(now, f);
      at += AHEAD * TEAM;
      read_half(now, at);
      run_half(next, f);
    }
  }
  __device__ __forceinline__ bool any(bool x) { return __any_sync(ALL, x); }
};

__constant__ unsigned long long BOUND[(sizeof(Bound) + 7) / 8];
extern __shared__ __align__(128) char shared_memory[];

// bytes: of a copy, of what BOUND holds
extern "C" __global__ void bind(const int* sizes, const int* indices, const R* numbers, const int* team_sizes,
                                const int* team_indices, const R* limits, const void* updates,
                                const int* actuated, const double* tests, Bound* out,
                                unsigned long long* bytes) {
  *out = bound(sizes, indices, numbers, team_sizes, team_indices, limits, updates, actuated, tests);
  bytes[0] = bytes_of(*out);
  bytes[1] = sizeof(Bound);
}

// The memory of a team: of the block, or where that is too small, of the device
__device__ __forceinline__ char* memory_of_team(char* memory, unsigned long long bytes) {
#if SHARED && THREADS == TEAM
  return shared_memory;
#elif SHARED
  return shared_memory + threadIdx.x / TEAM * bytes;
#else
  return memory + (blockIdx.x * static_cast<unsigned long long>(THREADS / TEAM) + threadIdx.x / TEAM) * bytes;
#endif
}

// What a launch has beside the arguments of a kernel: copies from `begin` on, `bytes` of memory for each
// team; stride: numbers of the model of a copy, where copies have their own
#define LAUNCH char *memory, unsigned long long bytes, long long begin, long long stride

__device__ __forceinline__ long long number_of_team(long long begin) {
  return begin + blockIdx.x * static_cast<long long>(THREADS / TEAM) + threadIdx.x / TEAM;
}

extern "C" __global__ void __launch_bounds__(THREADS, LEAST_BLOCKS)
advance(LAUNCH, int count, const long long* which, RUN_PARAMETERS) {
  const Bound& b = *reinterpret_cast<const Bound*>(BOUND);
  const long long at = number_of_team(begin);
  const bool exists = at < count;
  const long long place = exists ? at : count - 1, copy = which ? which[place] : place;
  Team team{static_cast<int>(threadIdx.x) % TEAM};
  Arena arena(memory_of_team(memory, bytes));
#if OWN
  const Model<R> m = own_model(b.m, copy * stride);
#else
  const Model<R>& m = b.m;
#endif
  TeamStepper<R, Index> s(m, b.p, arena);
  const TeamRun<R> run = RUN(b);
  advance_copy(s, run, Place{copy, exists}, team);
}

extern "C" __global__ void __launch_bounds__(THREADS, LEAST_BLOCKS)
accelerations(LAUNCH, int count, const R* q, const R* v, const R* tau, const R* parameters, R* a,
              unsigned* guards) {
  const Bound& b = *reinterpret_cast<const Bound*>(BOUND);
  const long long at = number_of_team(begin), copy = at < count ? at : count - 1;
  Team team{static_cast<int>(threadIdx.x) % TEAM};
  Arena arena(memory_of_team(memory, bytes));
  TeamStepper<R, Index> s(b.m, b.p, arena);
  const long long iq = copy * b.m.nq, iv = copy * b.m.nv;
  guards[copy] = acceleration_by_team(s, q + iq, v + iv, tau + iv, a + iv, team);
}
"""

ALL_KINDS = (0xFFFFFFFF,) * 4


@dataclass(frozen=True)
class TeamOptions:
    """What the text is compiled for.

    Attributes:
        precision: of numbers, "float64" or "float32".
        index: of updates, "uint16" or "uint32".
        team: threads of a team.
        threads: of a block, which teams share.
        least_blocks: that a multiprocessor shall run at a time; bounds registers.
        shared: whether the memory of the block holds that of its teams.
        own: whether copies have numbers of their own.
        kinds: of joints, elements, forces, forces on coordinates that there are, as bits.
    """

    precision: str
    index: str
    team: int
    threads: int
    least_blocks: int
    shared: bool
    own: bool
    kinds: tuple[int, int, int, int] = ALL_KINDS


def team_text(options: TeamOptions) -> str:
    """CUDA C++ with the kernels `advance` and `accelerations` for any mechanism of these kinds."""
    real = {"float64": "double", "float32": "float"}[options.precision]
    index = {"uint16": "unsigned short", "uint32": "unsigned"}[options.index]
    kinds = ", ".join(f"{bits:#x}u" for bits in options.kinds)
    head = f"// headers {headers_digest()}\nusing R = {real};\nusing Index = {index};\n"
    head += f"#define SARRUS_USED_KINDS UsedKinds{{{kinds}}}\n"
    values = {
        "TEAM": options.team,
        "THREADS": options.threads,
        "LEAST_BLOCKS": options.least_blocks,
        "SHARED": int(options.shared),
        "OWN": int(options.own),
        "AHEAD": AHEAD,
    }
    return head + "".join(f"#define {name} {value}\n" for name, value in values.items()) + COMMON + CUDA
