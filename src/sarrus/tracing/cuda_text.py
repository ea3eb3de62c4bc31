"""A mechanism as CUDA: its recorded functions, and the kernels that call them, one thread for each copy."""

from __future__ import annotations

from ..models.model import Model
from .program import Program
from .source_text import function_lines
from .whole_turns import turning_coordinates

REAL = {"float64": "double", "float32": "float"}
BLOCK = 64  # threads

HEAD = """typedef {real} real;
#define R(x) ((real)(x))
#define ONE ((real)1)
enum {{ NQ = {nq}, NV = {nv}, NU = {nu}, BLOCK = {block} }};
static __device__ const int actuated[NU + 1] = {{{columns}}};
#define PARAMETERS(copy) {parameters}
#define TURNS 6.283185307179586
"""

# Sine and cosine of the hardware, whose error is 4e-7 between -pi and pi: a few roundings of float32.
FLOAT_SINES = """
static __device__ __forceinline__ void quick_sincos(float x, float *s, float *c)
{
    const float n = rintf(x * 0.159154943f);
    x = fmaf(n, -1.74845553e-7f, fmaf(n, -6.28318548f, x));
    __sincosf(x, s, c);
}
#define PRECISE_SINCOS sincosf
#define sincos quick_sincos
"""

KERNELS = """
/* Steps of some copies (all where `which` is null), from the step that each has reached up to `last`, or to
   the first one whose guards do not pass. Inputs u (copies or 1, steps from `first` on or 1, NU) and tau
   (copies or 1, NV) may be null; strides are 0 where one row serves all. Every `every` steps the state goes
   to a row of (q_kept, v_kept), of which each copy has `rows`, the first one for step `first`. Positions that
   `turning` names are kept between -pi and pi, with the number of their turns beside. */
extern "C" __global__ void __launch_bounds__(BLOCK)
advance(int count, const long long *which, int first, int last, real dt, double *q, real *v, const real *u,
        long long u_copy, long long u_step, const real *tau, long long tau_copy, const real *parameters,
        double *q_kept, real *v_kept, int every, int rows, int *reached, unsigned *guards, real *drifts)
{
    constexpr bool turning[NQ] = {TURNING};
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    const long long copy = which ? which[thread] : thread;
    real x[NQ], turns[NQ], y[NV], x1[NQ], y1[NV], force[NV], drift, velocity_drift;
    for (int j = 0; j < NQ; ++j) {
        turns[j] = turning[j] ? (real)rint(q[copy * NQ + j] * (1 / TURNS)) : R(0);
        x[j] = (real)(q[copy * NQ + j] - turns[j] * TURNS);
    }
    for (int j = 0; j < NV; ++j) y[j] = v[copy * NV + j];
    real most = drifts[2 * copy], velocity_most = drifts[2 * copy + 1];
    unsigned failed = 0u;
    int step = reached[copy];
#pragma unroll 1
    for (; step < last; ++step) {
        for (int j = 0; j < NV; ++j) force[j] = tau ? tau[copy * tau_copy + j] : R(0);
        const real *input = u + copy * u_copy + (step - first) * u_step;
        for (int k = 0; u && k < NU; ++k) force[actuated[k]] += input[k];
        failed = recorded_step(x, y, force, PARAMETERS(copy) &dt, x1, y1, &drift, &velocity_drift);
        if (failed != 0u) break;
        for (int j = 0; j < NQ; ++j) {
            const real whole = turning[j] ? rint(x1[j] * R(1 / TURNS)) : R(0);
            x[j] = turning[j] ? (x1[j] - whole * R(TURNS)) - whole * R(TURNS - R(TURNS)) : x1[j];
            turns[j] += whole;
        }
        for (int j = 0; j < NV; ++j) y[j] = y1[j];
        most = drift > most ? drift : most;
        velocity_most = velocity_drift > velocity_most ? velocity_drift : velocity_most;
        if (!rows || (step + 1) % every != 0) continue;
        const long long row = copy * rows + (step + 1) / every - first / every - 1;
        for (int j = 0; j < NQ; ++j) q_kept[row * NQ + j] = x[j] + turns[j] * TURNS;
        for (int j = 0; j < NV; ++j) v_kept[row * NV + j] = y[j];
    }
    for (int j = 0; j < NQ; ++j) q[copy * NQ + j] = x[j] + turns[j] * TURNS;
    for (int j = 0; j < NV; ++j) v[copy * NV + j] = y[j];
    reached[copy] = step;
    guards[copy] = failed;
    drifts[2 * copy] = most;
    drifts[2 * copy + 1] = velocity_most;
}

extern "C" __global__ void __launch_bounds__(BLOCK)
accelerations(int count, const real *q, const real *v, const real *tau, const real *parameters, real *a,
              unsigned *guards)
{
    const long long copy = blockIdx.x * blockDim.x + threadIdx.x;
    if (copy >= count) return;
    real found[NV];
    const unsigned failed = recorded_acceleration(q + copy * NQ, v + copy * NV, tau + copy * NV,
                                                  PARAMETERS(copy) found);
    for (int j = 0; j < NV; ++j) a[copy * NV + j] = found[j];
    guards[copy] = failed;
}
"""


def cuda_text(model: Model, program: Program) -> str:
    """CUDA C++ with the kernels `advance` and `accelerations` of a mechanism, in the program's precision."""
    columns = ", ".join(["0"] if not model.actuators else [str(one.index) for one in model.actuators])
    head = HEAD.format(
        real=REAL[program.precision],
        nq=model.nq,
        nv=model.nv,
        nu=model.nu,
        block=BLOCK,
        columns=columns,
        parameters=f"parameters + (copy) * {len(program.entries)}," if len(program.entries) else "",
    )
    turning = ["false"] * model.nq
    if program.precision == "float32":
        head += FLOAT_SINES
        turning = [str(yes).lower() for yes in turning_coordinates(program, model.nq)]
    text = "\n".join([head, *function_lines(program, ("acceleration", "step"), "static __device__", True)])
    return text + KERNELS.replace("TURNING", ", ".join(turning))
