"""Robots of MJCF files in the air: `mech.step` beside `mj_step`, `sr.rollout` beside `mujoco.rollout`, RK4.

Both move the same tree and loops under gravity. MuJoCo does without contacts, limits, dry friction, actuators
and sensors, and keeps the step size and the solver settings of the file; its loops are soft. `apart` is the
largest difference of coordinates after the steps, `open` the largest closure error of its states and of ours.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import mujoco.rollout
import numpy as np

import sarrus as sr
from sarrus import _kernel

from .report import Column
from .robots import frictionless
from .timing import race, ratio

ASKED = 0.5  # of the rate of mj_step, of floating robots
REACH, SPEED = 0.02, 0.1  # of random starts around the default state [rad, rad/s], or times L
OFF = ("CONTACT", "LIMIT", "FRICTIONLOSS", "ACTUATION", "SENSOR")

ROBOTS: tuple[Column, ...] = (
    ("robot", "title", ""),
    ("nv", "nv", "d"),
    ("rows", "rows", "d"),
    ("floats", "floats", ""),
    ("dt ms", "dt_ms", ".1f"),
    ("step us", "step_us", ".1f"),
    ("mj_step us", "mj_step_us", ".1f"),
    ("rate of step / mj_step", "step_rate", ".2f"),
    ("rollout k steps/s", "rollout", ".1f"),
    ("mujoco.rollout", "mujoco", ".1f"),
    ("over", "over_mujoco", ".2f"),
    ("apart", "apart", ".0e"),
    ("open: mujoco", "open_there", ".0e"),
    ("sarrus", "open_here", ".0e"),
)


def free_fall_model(file: Path, dt: float | None) -> Any:
    """The model of a file in MuJoCo, without what is not compared; RK4 steps of dt [s], or as in the file."""
    model = mujoco.MjModel.from_xml_path(str(file))
    for name in OFF:
        model.opt.disableflags |= int(getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}", 0))
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_RK4
    model.opt.timestep = dt or model.opt.timestep
    return model


def starts(mech: sr.Mechanism, count: int) -> tuple[Any, Any]:
    """Random states on the constraints near the default one: q (count, nq), v (count, nv)."""
    rng, unit = np.random.default_rng(0), np.asarray(mech.units.unit)
    q = mech.integrate(
        np.tile(mech.default.q, (count, 1)), REACH * unit * rng.standard_normal((count, mech.nv))
    )
    found = mech.project(q, SPEED * unit * rng.standard_normal((count, mech.nv)))
    good = np.isfinite(found.q).all(axis=1) & np.isfinite(found.v).all(axis=1)
    pick = np.flatnonzero(good)[np.arange(count) % int(good.sum())]
    return np.ascontiguousarray(found.q[pick]), np.ascontiguousarray(found.v[pick])


def compare(file: Path, size: tuple[int, int], dt: float | None, rounds: int) -> dict[str, Any]:
    """One robot, `size` = (copies, steps); dt [s]: default that of the file."""
    copies, steps = size
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", sr.SarrusWarning)  # friction and actuators, which are not compared
        mech = frictionless(sr.load(file))
    model = free_fall_model(file, dt)
    dt, unstable = float(model.opt.timestep), set[str]()
    mujoco.set_mju_user_warning(lambda said: unstable.add("MuJoCo"))
    bridge = sr.bridge.mujoco(mech, model)
    q, v = starts(mech, copies)
    data = mujoco.MjData(model)
    bridge.to_mujoco(data, q[0], v[0])
    state = mujoco.mjtState.mjSTATE_FULLPHYSICS
    begin = np.empty((copies, mujoco.mj_stateSize(model, state)))
    for i in range(copies):
        bridge.to_mujoco(data, q[i], v[i])
        mujoco.mj_getState(model, data, begin[i], state)
    cores = _kernel.all_cores()
    threads = [mujoco.MjData(model) for _ in range(cores)]
    ours = sr.rollout(mech, q, v, dt=dt, steps=steps, every=steps)
    if not ours.success:
        unstable.add("sarrus")
    theirs, _ = mujoco.rollout.rollout(model, threads, begin, nstep=steps)
    one = race({"step": lambda: mech.step(q[0], v[0], dt=dt), "mj": _stepper(model, data, begin[0])}, rounds)
    many = race(
        {
            "ours": lambda: sr.rollout(mech, q, v, dt=dt, steps=steps, every=steps),
            "mujoco": lambda: mujoco.rollout.rollout(model, threads, begin, nstep=steps),
        },
        rounds,
    )
    rates = {name: cores * copies * steps / times.best / 1e3 for name, times in many.items()}
    return {
        "title": file.stem + (f" (unstable: {', '.join(sorted(unstable))})" if unstable else ""),
        "nv": mech.nv,
        "rows": mech.nc,
        "floats": "yes" if mech.model.quaternions and mech.nq > mech.nv else "no",
        "dt_ms": 1e3 * dt,
        "step_us": 1e6 * one["step"].best,
        "mj_step_us": 1e6 * one["mj"].best,
        "step_rate": ratio(one["mj"], one["step"]).value,
        "rollout": rates["ours"],
        "mujoco": rates["mujoco"],
        "over_mujoco": ratio(many["mujoco"], many["ours"]).value,
        **_differences(mech, bridge, ours, theirs[:, -1]),
    }


def _stepper(model: Any, data: Any, begin: Any) -> Callable[[], object]:
    """mj_step from the same state again and again, as `mech.step` does."""
    state = mujoco.mjtState.mjSTATE_FULLPHYSICS

    def step() -> None:
        mujoco.mj_setState(model, data, begin, state)
        mujoco.mj_step(model, data)

    return step


def _differences(mech: sr.Mechanism, bridge: Any, ours: sr.Rollout, last: Any) -> dict[str, float | None]:
    """How far the ends are apart, and how open the loops are."""
    model = bridge.model
    qpos, qvel = last[:, 1 : 1 + model.nq], last[:, 1 + model.nq : 1 + model.nq + model.nv]
    fine = np.isfinite(ours.q[:, -1]).all(axis=1)
    if not fine.any():
        return {}
    there, here = bridge.states(qpos[fine], qvel[fine]).q, ours.q[fine, -1]
    unit = np.asarray(mech.units.unit)
    apart = np.abs(np.array([mech.difference(a, b) for a, b in zip(there, here, strict=True)])) / unit
    found: dict[str, float | None] = {"apart": float(apart.max()), "open_there": None, "open_here": None}
    if mech.nc:
        for name, states in (("open_there", there), ("open_here", here)):
            phi = mech.terms(np.ascontiguousarray(states), np.zeros((len(states), mech.nv))).phi
            found[name] = float(np.abs(phi / mech.units.row_unit).max())
    return found
