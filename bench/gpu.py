"""Steps per second of many copies on a CUDA device: `python -m bench.gpu`, or make gpu."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.mechanism.device_steps import device_kernels

CASES = ("dual_arm", "bricard", "quadruped", "stewart")


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


def measure(name: str, dtype: str, size: tuple[int, int], away: float, damping: float) -> None:
    """Print one line: steps per second of `size` = (copies, steps), share of general steps, closure."""
    count, steps = size
    mech = getattr(sr.library, name)()
    if damping:
        mech = mech.with_(damping=dict.fromkeys(mech.names, damping))
    began = time.perf_counter()
    program = mech._program(dtype, "the device")
    recorded = time.perf_counter() - began
    began = time.perf_counter()
    kernels = device_kernels(mech, dtype)
    used = kernels.attributes()
    compiled = time.perf_counter() - began
    q, v = starts(mech, count, away)
    sr.rollout(mech, q, v, dt=1e-3, steps=2, every=2, device="cuda", dtype=dtype)
    began = time.perf_counter()
    found = sr.rollout(mech, q, v, dt=1e-3, steps=steps, every=steps, device="cuda", dtype=dtype)
    taken = time.perf_counter() - began
    fine = found.status == 0
    end = np.ascontiguousarray(found.q[fine, -1])
    phi = np.zeros(1)
    if mech.nc and len(end):
        terms = mech.terms(end[:4096], np.zeros((len(end[:4096]), mech.nv)))
        phi = np.max(np.abs(terms.phi / mech.units.row_unit), axis=1)
    share = found.general_steps.sum() / (count * steps)
    ops = program.operations(("step",))
    print(
        f"{name:10s} {dtype} nv={mech.nv} nc={mech.nc} ops={ops} regs={used['registers']}"
        f" local={used['local_bytes']} record {recorded:.1f} s compile {compiled:.1f} s;"
        f" {count} copies x {steps} steps in {taken:.2f} s: {count * steps / taken / 1e6:.2f} M steps/s,"
        f" general {100 * share:.3f} %, failed {int(np.sum(~fine))}, closure {phi.max():.1e}"
        f" (of half {np.median(phi):.1e})"
        f" (bound {found.drift[fine].max() / mech.length:.1e})",
        flush=True,
    )


def main() -> None:
    """Run the cases."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", nargs="*", default=CASES)
    parser.add_argument("--dtype", nargs="*", default=("float64", "float32"))
    parser.add_argument("--count", type=int, default=131072)
    parser.add_argument("--steps", type=int, default=1000)
    parser.add_argument("--away", type=float, default=0.6)
    parser.add_argument("--damping", type=float, default=0.0, help="of all joints [N m s]")
    args = parser.parse_args()
    for name in args.only:
        for dtype in args.dtype:
            measure(name, dtype, (args.count, args.steps), args.away, args.damping)


if __name__ == "__main__":
    main()
