"""The general step as CUDA: the kernel headers themselves, for any mechanism, one thread for each state."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ..errors import SarrusError

HERE = Path(__file__).resolve()
PLACES = (HERE.parents[1] / "_headers" / "kernels", HERE.parents[3] / "kernels")  # installed, in the sources
WIDTHS = (8, 16, 24)  # strides of compiled code; larger mechanisms have one that is known at run time

GENERAL = """#include "integrate/single_step.hpp"
#include "tree/fields.hpp"

using namespace sarrus;
using Held = Source<double>;
using Steps = Stepper<double, WIDTH, Held>;

struct Accelerations {
  Workspace<double, WIDTH> w;
  Tangent<double, WIDTH> d;
  __device__ Accelerations(const Model<double>& m, Arena& arena) : w(m, arena), d(m, arena) {}
};

// Bytes of memory that one state needs
extern "C" __global__ void memory_of_a_state(const int* sizes, const int* indices, const double* numbers,
                                             unsigned long long* bytes) {
  Model<double> m = model_of(sizes, Fields<double>{indices, numbers});
  Arena steps(nullptr), accelerations(nullptr);
  constexpr Options o{};
  Held held{nullptr};
  Steps measured(m, o, held, steps);
  Accelerations other(m, accelerations);
  unsigned long long most = steps.used > accelerations.used ? steps.used : accelerations.used;
  *bytes = (most + 127) / 64 * 64;
}

// One step of h from (q, v) under tau. numbers: of the model, `stride` apart from state to state.
extern "C" __global__ void general_steps(int count, const int* sizes, const int* indices,
                                         const double* numbers, long long stride, double h, char* memory,
                                         unsigned long long bytes, double* q, double* v, const double* tau,
                                         int* status) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Model<double> m = model_of(sizes, Fields<double>{indices, numbers + i * stride});
  Arena arena(memory + i * bytes);
  constexpr Options o{};
  Held held{tau + i * m.nv};
  Steps s(m, o, held, arena);
  for (int j = 0; j < m.nq; ++j) s.q1[j] = q[i * m.nq + j];
  for (int j = 0; j < m.nv; ++j) s.v1[j] = v[i * m.nv + j];
  step_alone(s, 0.0, h, 1);
  status[i] = static_cast<int>(s.status);
  for (int j = 0; j < m.nq; ++j) q[i * m.nq + j] = s.q[j];
  for (int j = 0; j < m.nv; ++j) v[i * m.nv + j] = s.v[j];
}

// Accelerations at (q, v) under tau, into v. status: 1 where the inertia of the free motion is not positive
extern "C" __global__ void general_accelerations(int count, const int* sizes, const int* indices,
                                                 const double* numbers, long long stride, double,
                                                 char* memory, unsigned long long bytes, double* q,
                                                 double* v, const double* tau, int* status) {
  const long long i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const Model<double> m = model_of(sizes, Fields<double>{indices, numbers + i * stride});
  Arena arena(memory + i * bytes);
  Accelerations s(m, arena);
  const State<double> x = {q + i * m.nq, v + i * m.nv, nullptr, nullptr};
  evaluate(m, x, s.w);
  prepare(m, x, -1, &s.d, s.w);
  accelerate(m, tau + i * m.nv, s.w);
  refine(m, s.w);
  status[i] = s.w.factor.spd ? 0 : 1;
  for (int j = 0; j < m.nv; ++j) v[i * m.nv + j] = s.w.a[j];
}
"""


def headers() -> Path:
    """The folder of the kernel headers."""
    for place in PLACES:
        if (place / "integrate" / "single_step.hpp").is_file():
            return place
    raise SarrusError(f"the kernel headers are missing: neither {PLACES[0]} nor {PLACES[1]} has them.")


def headers_digest() -> str:
    """Changes with the headers: in texts, for caches of what they are compiled to."""
    digest = hashlib.sha256()
    for path in sorted(headers().rglob("*.hpp")):
        digest.update(path.read_bytes())
    return digest.hexdigest()


def general_text(nv: int) -> str:
    """CUDA C++ for mechanisms with nv coordinates."""
    width = next((n for n in WIDTHS if nv <= n), 0)
    return f"// headers {headers_digest()}\n#define WIDTH {width}\n" + GENERAL
