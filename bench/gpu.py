"""Steps per second of many copies on a CUDA device: `python -m bench.gpu`, or make gpu.

Each line is a whole call of sr.rollout: checks, copies to and from the device, general steps. With --mjx the
same mechanisms step in MJX, where it is installed: soft loops, float32, RK4. --robot takes files that sr.load
reads: their dry friction is left out, motors have random torques, other for each copy. --teams steps by teams
of threads (docs/code.md) what recorded code would step otherwise. --loop adds the rate of mech.step on arrays
of the device, called in a loop as a policy would, four steps a call.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.mechanism.query.device_steps import (
    device_kernels,
    general_kernel,
    general_step,
    short_program,
    team_kernels,
)
from sarrus.mechanism.query.recorded_code import NONE
from sarrus.tracing.cuda_device import require_cuda
from sarrus.tracing.recorded_copies import Inputs, RecordedCopies

from .hexapod import hexapod

STEP = 1e-3  # [s]
MJX = 4, 8, 1e-8  # Newton and line search iterations, tolerance of MJX: quicker than for exact loops
WARM = 300  # steps before the clock starts, general ones among them: CuPy compiles what it needs
CALLS, SUBSTEPS = 25, 4
ARMS = 10_000  # steps of the arms, of which 131,072 copies make 1.3e9


CASES: dict[str, tuple[Callable[[], sr.Mechanism], int]] = {  # mechanism, steps
    "dual_arm": (sr.library.dual_arm, ARMS),
    "bricard": (sr.library.bricard, 1000),
    "quadruped": (sr.library.quadruped, 200),
    "hexapod": (hexapod, 200),
    "stewart": (sr.library.stewart, 200),
}


def frictionless(mech: sr.Mechanism) -> sr.Mechanism:
    """Without dry friction, which devices do not have."""
    return mech.with_(friction={body.name: 0.0 for body in mech.model.bodies if any(body.friction)})


def starts(mech: sr.Mechanism, count: int, away: float, seed: int = 0) -> tuple[Any, Any]:
    """States on the constraints at random poses: `count` copies of those that could be projected."""
    rng = np.random.default_rng(seed)
    q, v = mech.default
    unit = np.asarray(mech.units.unit)
    poses = np.array([mech.integrate(q, away * unit * x) for x in rng.uniform(-1, 1, (2048, mech.nv))])
    found = mech.project(poses, 0.5 * unit * rng.normal(size=(2048, mech.nv)))
    good = np.isfinite(found.q).all(axis=1) & np.isfinite(found.v).all(axis=1)
    q, v = found.q[good], found.v[good]
    pick = rng.integers(0, len(q), count)
    return np.ascontiguousarray(q[pick]), np.ascontiguousarray(v[pick])


Given = dict[str, float]


def use_teams(mech: sr.Mechanism, dtype: str) -> None:
    """Teams of threads, whatever the length of the recorded step."""
    mech.__dict__.setdefault("_device_kernels", {})[dtype, NONE.key] = team_kernels(mech, dtype)


def loop(name: str, mech: sr.Mechanism, dtype: str, state: tuple[Any, Any], torque: float) -> None:
    """Print the rate of mech.step on arrays of the device: CALLS calls of SUBSTEPS steps, inputs of each."""
    cupy = require_cuda()
    q, v = (cupy.asarray(x.astype(dtype)) for x in state)
    inputs = torque * cupy.random.default_rng(2).standard_normal((CALLS, len(q), mech.nu)).astype(dtype)
    found = mech.step(q, v, u=inputs[0], dt=SUBSTEPS * STEP, substeps=SUBSTEPS)
    cupy.cuda.Device().synchronize()
    began = time.perf_counter()
    for u in inputs:
        found = mech.step(found.q, found.v, u=u, dt=SUBSTEPS * STEP, substeps=SUBSTEPS)
    cupy.cuda.Device().synchronize()
    taken = time.perf_counter() - began
    lost = int(cupy.sum(~cupy.isfinite(found.v).all(axis=1)))
    print(
        f"{name:10s} {dtype} mech.step on the device, {CALLS} calls of {SUBSTEPS} steps:"
        f" {len(q) * CALLS * SUBSTEPS / taken / 1e6:.2f} M steps/s, failed {lost}",
        flush=True,
    )


def operations(mech: sr.Mechanism, dtype: str) -> str:
    """Of the recorded step; "teams" where it would be too long."""
    program = short_program(mech, dtype)
    return "teams" if program is None else str(program.operations(("step",)))


def measure(name: str, mech: sr.Mechanism, dtype: str, size: tuple[int, int], given: Given) -> None:
    """Print one line: steps per second of `size` = (copies, steps), share of general steps, closure.

    given: how far poses lie `away` from the default one, and the size of random inputs, `torque` [N m].
    """
    count, steps = size
    began = time.perf_counter()
    if given["teams"]:
        use_teams(mech, dtype)
    ops = "teams" if given["teams"] else operations(mech, dtype)
    recorded = time.perf_counter() - began
    began = time.perf_counter()
    kernels = device_kernels(mech, dtype)
    used = kernels.attributes()
    compiled = time.perf_counter() - began
    began = time.perf_counter()
    if ops != "teams":
        general_kernel(mech)
    others = time.perf_counter() - began
    q, v = starts(mech, count, given["away"])
    u = None
    if given["torque"]:
        u = given["torque"] * np.random.default_rng(1).normal(size=(count, steps, mech.nu))
    run = {"dt": STEP, "device": "cuda", "dtype": dtype}
    warm = WARM if u is None else steps
    sr.rollout(mech, q, v, u, steps=warm, every=warm, **run)
    began = time.perf_counter()
    found = sr.rollout(mech, q, v, u, steps=steps, every=steps, **run)
    taken = time.perf_counter() - began
    fine = found.status == 0
    end = np.ascontiguousarray(found.q[fine, -1])
    phi = np.zeros(1)
    if mech.nc and len(end):
        phi = np.max(np.abs(mech.terms(end, np.zeros((len(end), mech.nv))).phi / mech.units.row_unit), axis=1)
    share = found.general_steps.sum() / (count * steps)
    bad = int(np.sum(~np.isfinite(found.q[fine])))
    print(
        f"{name:10s} {dtype} nv={mech.nv} nc={mech.nc} ops={ops} regs={used['registers']}"
        f" local={used['local_bytes']} record {recorded:.1f} s, compile {compiled:.1f} s, general kernel"
        f" {others:.1f} s;"
        f" {count} copies x {steps} steps in {taken:.2f} s: {count * steps / taken / 1e6:.2f} M steps/s,"
        f" general {100 * share:.4f} %, failed {int(np.sum(~fine))}, not finite {bad},"
        f" closure {phi.max():.1e} (of half {np.median(phi):.1e}),"
        f" step error {np.median(found.step_error):.1e} (median)",
        flush=True,
    )
    if given["loop"]:
        loop(name, mech, dtype, (q, v), given["torque"])


def crossing(count: int, steps: int) -> None:
    """Copies that all pass singular poses: their general steps on the device, and on the host."""
    mech = sr.library.parallelogram()
    v = np.array([[1.0, -1.0, 1.0]]) * np.linspace(4.0, 9.0, count)[:, None]
    q = np.repeat(mech.default.q[None], count, axis=0)
    kernels = device_kernels(mech, "float64")
    cupy = kernels.cupy

    general_kernel(mech)

    def on_device(copies: Any, q: Any, v: Any, force: Any, dt: float) -> tuple[Any, Any, Any]:
        return general_kernel(mech).steps(q, v, force, dt)

    ends = []
    for title, general in (("device", on_device), ("host", general_step(mech))):
        for last in (1, steps):
            state = cupy.asarray(q), cupy.asarray(v)
            copies = RecordedCopies(cupy, kernels, general, mech._actuated, state)
            began = time.perf_counter()
            copies.advance(last, STEP, Inputs())
            cupy.cuda.Device().synchronize()
            taken = time.perf_counter() - began
        share = float(copies.general_steps.sum()) / (count * steps)
        ends.append(copies.q.get())
        print(
            f"crossing   {count} copies x {steps} steps, general steps on the {title}: {taken:.2f} s,"
            f" {count * steps / taken / 1e6:.2f} M steps/s, general {100 * share:.2f} %,"
            f" failed {int((copies.status != 0).sum())}",
            flush=True,
        )
    apart = np.max(np.abs(ends[0] - ends[1]), axis=1)
    print(
        f"crossing   ends differ by {np.nanmax(apart):.1e} at most, {int(np.sum(~(apart < 1e-9)))} copies by"
        " more than 1e-9",
        flush=True,
    )


def mjx(name: str, count: int, steps: int) -> None:
    """Steps per second of the same copies in MJX."""
    try:
        import jax
        from mujoco import mjx

        from .twins.mujoco_twin import mujoco_twin

        mech = CASES[name][0]()
        twin = mujoco_twin(mech, np.zeros(mech.nv), STEP, "0.002 1")
        twin.model.opt.iterations, twin.model.opt.ls_iterations, twin.model.opt.tolerance = MJX
        model = mjx.put_model(twin.model)
        q, v = starts(mech, 64, 0.3)
        start = [twin.start(*one) for one in zip(q, v, strict=True)]
        pick = np.arange(count) % len(start)
        qpos = jax.numpy.asarray(np.array([one.qpos for one in start])[pick])
        qvel = jax.numpy.asarray(np.array([one.qvel for one in start])[pick])
        data = jax.vmap(lambda a, b: mjx.make_data(model).replace(qpos=a, qvel=b))(qpos, qvel)
        step = jax.vmap(mjx.step, in_axes=(None, 0))
        run = jax.jit(lambda d: jax.lax.scan(lambda x, _: (step(model, x), None), d, None, length=steps)[0])
        jax.block_until_ready(run(data).qpos)
        began = time.perf_counter()
        end = jax.block_until_ready(run(data).qpos)
        taken = time.perf_counter() - began
        fine = float(np.mean(np.isfinite(np.asarray(end)).all(axis=1)))
        print(
            f"{name:10s} MJX: {count} copies x {steps} steps in {taken:.2f} s:"
            f" {count * steps / taken / 1e6:.3f} M steps/s, finite {100 * fine:.0f} %",
            flush=True,
        )
    except Exception as error:
        print(f"{name:10s} MJX: none ({type(error).__name__}: {error!s:.200})", flush=True)


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=[*CASES, "crossing"])
    parser.add_argument("--mjx", action="store_true", help="the mechanisms in MJX, nothing else")
    parser.add_argument("--dtype", nargs="*", default=("float64", "float32"))
    parser.add_argument("--count", type=int, default=131072)
    parser.add_argument(
        "--steps", type=int, default=0, help="default: 10,000 of the arms, 200 or 1,000 of others"
    )
    parser.add_argument("--away", type=float, default=0.6)
    parser.add_argument("--robot", nargs="*", default=(), help="files, instead of the cases")
    parser.add_argument("--torque", type=float, default=0.0, help="size of random inputs")
    parser.add_argument("--teams", action="store_true", help="teams of threads, whatever the mechanism")
    parser.add_argument("--loop", action="store_true", help="mech.step on arrays of the device as well")
    args = parser.parse_args()
    unknown = [name for name in args.only if name not in (*CASES, "crossing")]
    if unknown:
        parser.error(f"unknown case {unknown[0]!r}; there are {', '.join([*CASES, 'crossing'])}")
    if args.mjx:
        for name in args.only:
            if name in CASES:
                mjx(name, args.count // 4, 100)
        return
    try:
        require_cuda()
    except sr.SarrusError as error:
        raise SystemExit(f"bench.gpu: {error}") from None
    given = {"away": args.away, "torque": args.torque, "teams": args.teams, "loop": args.loop}
    for path in args.robot:
        mech = frictionless(sr.load(path))
        for dtype in args.dtype:
            measure(Path(path).stem, mech, dtype, (args.count, args.steps or 200), given)
    if args.robot:
        return
    for name in args.only:
        for dtype in args.dtype if name in CASES else ():
            measure(name, CASES[name][0](), dtype, (args.count, args.steps or CASES[name][1]), given)
    if "crossing" in args.only:
        crossing(args.count // 8, args.steps or 300)


if __name__ == "__main__":
    main()
