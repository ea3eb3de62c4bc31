"""A mechanism as CUDA: its recorded functions, and the kernels that call them, one thread for each copy."""

from __future__ import annotations

import numpy as np

from ..models.model import Model
from .program import Program
from .source_text import function_lines
from .whole_turns import turning_coordinates

REAL = {"float64": "double", "float32": "float"}
BLOCK = 64  # threads
TESTED = 128  # one step in so many is taken in two halves as well
HALVES = 16.0 / 15.0  # error of a step of order 4 over what it differs from two halves
ROUNDING = 100.0  # roundings of a step of a closed loop, after two Newton steps: not an error of its length

HEAD = """typedef {real} real;
#define R(x) ((real)(x))
#define ONE ((real)1)
enum {{ NQ = {nq}, NV = {nv}, NU = {nu}, BLOCK = {block}, TESTED = {tested} }};
#define ROUNDING {rounding!r}
#define HALVES {halves!r}
static __device__ const int actuated[NU + 1] = {{{columns}}};
#define PARAMETERS {parameters}
#define PARAMETER_COUNT {parameter_count}
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
struct Step {
    real x[NQ], y[NV], force[NV], x1[NQ], y1[NV];
};

/* By how much x and y (n,) differ in these units, without what is rounding, and the size of x. */
static __device__ double difference(const real *x, const real *y, const double *unit, int n, double *size)
{
    double apart = 0;
    for (int j = 0; j < n; ++j) {
        apart = fmax(apart, fabs((double)x[j] - y[j]) / unit[j]);
        *size = fmax(*size, fabs((double)x[j]) / unit[j]);
    }
    return fmax(HALVES * apart - ROUNDING * *size, 0.0);
}

/* Compare a step with its two halves; 0 where their guards do not pass. `count`: steps since the last one. */
static __device__ __noinline__ int test_step(const Step *s, const real *parameters, real dt,
                                             const double *units, int count, double *errors)
{
    const real half = R(0.5) * dt;
    real x[NQ], y[NV], x1[NQ], y1[NV], drift, velocity_drift;
    for (int j = 0; j < NQ; ++j) x[j] = s->x[j];
    for (int j = 0; j < NV; ++j) y[j] = s->y[j];
#pragma unroll 1
    for (int k = 0; k < 2; ++k) {
        if (recorded_step(x, y, s->force, PARAMETERS &half, x1, y1, &drift, &velocity_drift)) return 0;
        for (int j = 0; j < NQ; ++j) x[j] = x1[j];
        for (int j = 0; j < NV; ++j) y[j] = y1[j];
    }
    double size = 1, speed = 0;
    for (int k = 0; k < 2; ++k) errors[2 + k] += count * errors[k];
    errors[0] = difference(s->x1, x, units, NQ, &size);
    errors[1] = difference(s->y1, y, units + NQ, NV, &speed);
    errors[4] = fmax(errors[4], speed);
    return 1;
}

/* Steps of some copies (all where `which` is null), from the step that each has reached up to `last`, at
   most `most`, or to the first one whose guards do not pass. Inputs u (copies or 1, steps from `first` on
   or 1, NU) and tau (copies or 1, NV) may be null; strides are 0 where one row serves all. Every `every`
   steps the state goes to a row of (q_kept, v_kept), of which each copy has `rows`, the first one for step
   `first`. Positions that `turning` names are kept between -pi and pi, with the number of their turns beside.
   Where `units` (NQ and NV) are given, the step `due` of a copy is compared with its halves, and those every
   TESTED steps: `errors` of a copy are what the last one differed (positions, velocities), the sum of that
   over all steps, and the largest speed. */
extern "C" __global__ void __launch_bounds__(BLOCK)
advance(int count, const long long *which, int first, int last, int most, real dt, double *q, real *v,
        const real *u, long long u_copy, long long u_step, const real *tau, long long tau_copy,
        const real *all_parameters, double *q_kept, real *v_kept, int every, int rows, int *reached,
        unsigned *guards, real *drifts, const double *units, int *due, double *errors)
{
    constexpr bool turning[NQ] = {TURNING};
    const int thread = blockIdx.x * blockDim.x + threadIdx.x;
    if (thread >= count) return;
    const long long copy = which ? which[thread] : thread;
    const real *parameters = all_parameters + copy * PARAMETER_COUNT;
    real x[NQ], turns[NQ], y[NV], x1[NQ], y1[NV], force[NV], drift, velocity_drift;
    for (int j = 0; j < NQ; ++j) {
        turns[j] = turning[j] ? (real)rint(q[copy * NQ + j] * (1 / TURNS)) : R(0);
        x[j] = (real)(q[copy * NQ + j] - turns[j] * TURNS);
    }
    for (int j = 0; j < NV; ++j) y[j] = v[copy * NV + j];
    real open = drifts[2 * copy], velocity_open = drifts[2 * copy + 1];
    unsigned failed = 0u;
    int step = reached[copy], test = units ? due[copy] : last;
    if (last - step > most) last = step + most;
    int since = step;
#pragma unroll 1
    for (; step < last; ++step) {
        for (int j = 0; j < NV; ++j) force[j] = tau ? tau[copy * tau_copy + j] : R(0);
        const real *input = u + copy * u_copy + (step - first) * u_step;
        for (int k = 0; u && k < NU; ++k) force[actuated[k]] += input[k];
        failed = recorded_step(x, y, force, PARAMETERS &dt, x1, y1, &drift, &velocity_drift);
        if (failed != 0u) break;
        if (step >= test) { /* of a copy, so that the state itself can stay in registers */
            Step tested;
            for (int j = 0; j < NQ; ++j) tested.x[j] = x[j], tested.x1[j] = x1[j];
            for (int j = 0; j < NV; ++j) tested.y[j] = y[j], tested.y1[j] = y1[j], tested.force[j] = force[j];
            if (test_step(&tested, parameters, dt, units, step - since, errors + 5 * copy))
                since = step, test = step + TESTED;
        }
        for (int j = 0; j < NQ; ++j) {
            const real whole = turning[j] ? rint(x1[j] * R(1 / TURNS)) : R(0);
            x[j] = turning[j] ? (x1[j] - whole * R(TURNS)) - whole * R(TURNS - R(TURNS)) : x1[j];
            turns[j] += whole;
        }
        for (int j = 0; j < NV; ++j) y[j] = y1[j];
        open = drift > open ? drift : open;
        velocity_open = velocity_drift > velocity_open ? velocity_drift : velocity_open;
        if (!rows || (step + 1) % every != 0) continue;
        const long long row = copy * rows + (step + 1) / every - first / every - 1;
        for (int j = 0; j < NQ; ++j) q_kept[row * NQ + j] = x[j] + turns[j] * TURNS;
        for (int j = 0; j < NV; ++j) v_kept[row * NV + j] = y[j];
    }
    for (int j = 0; j < NQ; ++j) q[copy * NQ + j] = x[j] + turns[j] * TURNS;
    for (int j = 0; j < NV; ++j) v[copy * NV + j] = y[j];
    reached[copy] = step;
    guards[copy] = failed;
    drifts[2 * copy] = open;
    drifts[2 * copy + 1] = velocity_open;
    if (!units) return;
    due[copy] = test;
    for (int k = 0; k < 2; ++k) errors[5 * copy + 2 + k] += (step - since) * errors[5 * copy + k];
}

extern "C" __global__ void __launch_bounds__(BLOCK)
accelerations(int count, const real *q, const real *v, const real *tau, const real *all_parameters, real *a,
              unsigned *guards)
{
    const long long copy = blockIdx.x * blockDim.x + threadIdx.x;
    if (copy >= count) return;
    const real *parameters = all_parameters + copy * PARAMETER_COUNT;
    (void)parameters;
    real found[NV];
    const unsigned failed = recorded_acceleration(q + copy * NQ, v + copy * NV, tau + copy * NV,
                                                  PARAMETERS found);
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
        parameters="parameters," if len(program.entries) else "",
        parameter_count=len(program.entries),
        tested=TESTED,
        halves=HALVES,
        rounding=ROUNDING * float(np.finfo(program.precision).eps),
    )
    turning = ["false"] * model.nq
    if program.precision == "float32":
        head += FLOAT_SINES
        turning = [str(yes).lower() for yes in turning_coordinates(program, model.nq)]
    text = "\n".join([head, *function_lines(program, ("acceleration", "step"), "static __device__", True)])
    return text + KERNELS.replace("TURNING", ", ".join(turning))
