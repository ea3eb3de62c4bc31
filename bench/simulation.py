"""Whole runs, RK4 with 1 ms: loops, energy and time per step, beside MuJoCo with the same mechanism and step.

Both motions are judged by the same functions: states of either side go through our constraint equations and
our energy. Time is that of `sr.simulate` as a user calls it, every step kept, against MuJoCo's own loop.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus import _kernel

from .cases import CASES, STEP, Case
from .report import Column, table
from .timing import race, race_prepared, ratio
from .twins.mujoco_twin import MujocoTwin, mujoco_twin

Array = npt.NDArray[np.float64]

TURN = 0.5  # CPU time of our longest run in a round [s]; longer runs are timed over their beginning
QUICK_SPAN = 1.0  # [s]
ALL = tuple(case.name for case in CASES)
QUICK = ("slider_crank", "n_four_bar_2", "dual_arm")
CHUNK = 256  # states whose Jacobians are held at once
ORDER = 4
ROUNDING = 1e-13  # of the energy that flows: below it energy errors are rounding, not truncation

ROWS: tuple[Column, ...] = (
    ("run", "title", ""),
    ("s", "span", "g"),
    ("drift m", "drift", ".0e"),
    ("MuJoCo", "mujoco_drift", ".0e"),
    ("energy J", "energy_error", ".1e"),
    ("at dt/2", "energy_error_half", ".1e"),
    ("/trunc.", "energy_over_truncation", ".2f"),
    ("MuJoCo", "mujoco_energy_error", ".1e"),
    ("off branch", "off_branch", ".0e"),
    ("us/step", "sarrus_us", ".1f"),
    ("MuJoCo", "mujoco_us", ".1f"),
    ("ratio", "ratio", ".2f"),
    ("spread", "spread", ".2f"),
)
NOTES = (
    "drift: largest |phi|, angles times the mechanism's length. energy J: largest error; at dt/2: the same",
    "with half the step; /trunc.: over RK4's truncation error, estimated from these two runs (-: rounding).",
    "us/step: sr.simulate with defaults, every step kept, against mj_step(model, data, nstep), nothing kept.",
    "MuJoCo: RK4, impedance 0.9999, solver to rounding, stiffness and damping (solref) by hand for each row.",
)
PROFILE: tuple[Column, ...] = (
    ("part of one step", "part", ""),
    ("us", "us", ".1f"),
    ("share", "share", ".0%"),
)


def run(quick: bool, rounds: int, names: Sequence[str] = ()) -> dict[str, Any]:
    """The chosen cases (all, or a few short ones), and where the time of the largest mechanism goes."""
    chosen = {case.name: case for case in CASES if case.name in (names or (QUICK if quick else ALL))}
    spans = {case.name: min(case.span, QUICK_SPAN) if quick else case.span for case in chosen.values()}
    rows = [measure(case, spans[name], rounds) for name, case in chosen.items()]
    largest = max(rows, key=lambda row: int(row["nv"]))
    return {
        "rows": rows,
        "profile": profile(chosen[largest["name"]], largest, rounds, 0.005 if quick else 0.02),
    }


def show(results: dict[str, Any]) -> str:
    """All of it, as text."""
    profiled = results["profile"]
    return "\n".join(
        [
            table("Runs, RK4 with steps of 1 ms, beside MuJoCo", ROWS, results["rows"], NOTES),
            table(f"Where the time goes: {profiled['title']}", PROFILE, profiled["parts"]),
        ]
    )


def measure(case: Case, span: float, rounds: int) -> dict[str, Any]:
    """One row: accuracy of both over the whole span, then time."""
    mech = case.build()
    tau = case.force(mech)
    twin = mujoco_twin(mech, tau, STEP, case.solref)
    ours, half = (simulate(mech, tau, span, dt) for dt in (STEP, 0.5 * STEP))
    q, v = twin.rollout(*mech.default, steps=len(ours.t) - 1)
    energy = conserved(mech, tau, ours.q, ours.v)
    halved = conserved(mech, tau, half.q, half.v)
    error = float(np.abs(energy - energy[0]).max())
    truncation = float(np.abs(energy - halved[::2]).max()) / (1.0 - 0.5**ORDER)
    flows = float(np.ptp(mech.energy(ours.q, ours.v).kinetic))
    peer_energy = conserved(mech, tau, q, v)
    return {
        "name": case.name,
        "title": case.title,
        "span": span,
        "nv": mech.nv,
        "solref": case.solref,
        "success": ours.success,
        "singular_poses": len(ours.events),
        "drift": drift(mech, ours.q, ours.v),
        "mujoco_drift": drift(mech, q, v),
        "energy_error": error,
        "energy_error_half": float(np.abs(halved - halved[0]).max()),
        "energy_over_truncation": None if error <= ROUNDING * flows else error / truncation,
        "mujoco_energy_error": float(np.abs(peer_energy - peer_energy[0]).max()),
        "off_branch": None if case.branch is None else float(case.branch(ours.q).max()),
        "at_most": case.at_most,
    } | clock(mech, tau, twin, span, rounds)


def simulate(mech: sr.Mechanism, tau: Array, span: float, dt: float) -> sr.Trajectory:
    """Defaults, and the constant force where the case has one."""
    return sr.simulate(mech, (0.0, span), dt=dt, tau=tau if np.any(tau) else None)


def conserved(mech: sr.Mechanism, tau: Array, q: Array, v: Array) -> Array:
    """Total energy less the work of the constant force (on angles and slides only) [J], (n,)."""
    total: Array = mech.energy(q, v).total
    return total - (q - q[0]) @ tau if np.any(tau) else total


def drift(mech: sr.Mechanism, q: Array, v: Array) -> float:
    """Largest |phi| along a motion [m], angles multiplied by the length L."""
    metres = mech.length / mech.model.row_unit
    pieces = [slice(i, i + CHUNK) for i in range(0, len(q), CHUNK)]
    return max(float((np.abs(mech.terms(q[part], v[part]).phi) * metres).max()) for part in pieces)


def clock(mech: sr.Mechanism, tau: Array, twin: MujocoTwin, span: float, rounds: int) -> dict[str, Any]:
    """Time per step over as much of the run as fits a turn: sr.simulate, its compiled loop alone, MuJoCo."""
    trial = race_prepared({"sarrus": (lambda: None, lambda _: simulate(mech, tau, span, STEP))}, 1)["sarrus"]
    steps = max(50, round(min(1.0, TURN / trial.best) * span / STEP))
    rivals: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
        "sarrus": (lambda: None, lambda _: simulate(mech, tau, steps * STEP, STEP)),
        "mujoco": (lambda: twin.start(*mech.default), lambda data: twin.step(data, steps)),
        "loop": (lambda: begun(mech, tau), lambda r: r.advance(0.0, STEP, steps * STEP, steps, steps)),
    }
    times = {name: each.per(steps) for name, each in race_prepared(rivals, rounds).items()}
    compared = ratio(times["sarrus"], times["mujoco"])
    return {
        "timed_steps": steps,
        "sarrus_us": 1e6 * times["sarrus"].median,
        "loop_us": 1e6 * times["loop"].median,
        "mujoco_us": 1e6 * times["mujoco"].median,
        "ratio": compared.value,
        "spread": compared.spread,
    }


def begun(mech: sr.Mechanism, tau: Array) -> Any:
    """The compiled loop at its start: RK4, projected, nothing kept."""
    options = sr.simulate(mech, (0.0, 1e-3))._outcome.options
    assert options is not None
    inputs = (lambda t, q, v, stage: (tau, None, None, None, None)) if np.any(tau) else None
    compiled = options.compiled()
    compiled.sampled = True
    made = _kernel.Run(mech.evaluator.kernel, compiled, inputs)
    made.start(0.0, *mech.default)
    return made


def profile(case: Case, row: dict[str, Any], rounds: int, seconds: float) -> dict[str, Any]:
    """Parts of one step, each timed alone on states of the timed motion; the rest is what they leave over."""
    mech = case.build()
    tau = case.force(mech)
    moved = simulate(mech, tau, row["timed_steps"] * STEP, STEP)
    q, v = (np.ascontiguousarray(x[:: max(1, len(moved.t) // 40)]) for x in (moved.q, moved.v))
    kernel, n = mech.evaluator.kernel, len(q)
    states = list(zip(q, v, np.tile(tau, (n, 1)), strict=True))
    rivals: dict[str, Callable[[], Any]] = {
        "rnea": lambda: kernel.rnea(q, v, v),
        "acceleration": lambda: [mech.acceleration(*one) for one in states],
    }
    one = {name: 1e6 * times.per(n).median for name, times in race(rivals, rounds, seconds).items()}
    parts = {
        "4 x poses and forces of the tree": 4.0 * one["rnea"],
        "4 x M, J, gamma, factorization, solve": 4.0 * (one["acceleration"] - one["rnea"]),
        "projection, and what else a step does": row["loop_us"] - 4.0 * one["acceleration"],
        "keeping steps, watching for events": row["sarrus_us"] - row["loop_us"],
    }
    shares = [{"part": name, "us": us, "share": us / row["sarrus_us"]} for name, us in parts.items()]
    return {"name": case.name, "title": case.title, "parts": shares}
