"""The initial state of a run: the one given, refused with the way out where it breaks the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import AssemblyError, InputError
from ...projection.system_kinematics import drift
from .system import Plant

Array = npt.NDArray[np.float64]

CONSISTENT = 1e-6  # of L, and of the speed: what the first projection may correct without being asked


def initial_state(plant: Plant, q0: Any, v0: Any, t: float) -> tuple[Array, Array]:
    """q (nq,) and v (nv,) at which to start at time t [s]; what is not given comes from `default`."""
    system = plant.system
    door = getattr(system, "_skeleton", system)
    q = _default_pose(plant, t) if q0 is None else door._one_pose(q0, "q0")
    _require_closed(plant, q, t)
    if v0 is None and q0 is None and not plant.has_drives:
        return q, np.array(system.default.v)
    if v0 is None:
        return q, np.array(system.consistent_velocity(q, t=t))
    v = door._one_tangent(v0, "v0")
    _require_tangent(plant, q, v, t)
    return q, v


def _default_pose(plant: Plant, t: float) -> Array:
    """`default.q`, brought to time t where drives have moved on."""
    q = np.array(plant.system.default.q)
    if not plant.has_drives:
        return q
    found = plant.system.assemble(q, t=t)
    if not found.success:
        raise AssemblyError(f"{plant.name!r} has no pose at t = {t:g} s. {found.message}")
    return np.array(found.q)


def _require_closed(plant: Plant, q: Array, t: float) -> None:
    if plant.nc == 0:
        return
    phi, _, _, _ = plant.evaluator.constraints(q, np.zeros(plant.nv), t)
    gap = drift(plant.evaluator, phi)
    if not gap <= CONSISTENT * plant.length:
        worst = plant.evaluator.row_names[int(np.argmax(np.abs(phi) / plant.units.row_unit))]
        raise InputError(
            f"q0 does not satisfy the constraints of {plant.name!r} at t = {t:g} s: |phi| is {gap:.3g} m"
            f" (angles times L), worst row {worst!r}, allowed {CONSISTENT * plant.length:.1g}. Start from"
            " q0 = system.assemble(q0).q instead."
        )


def _require_tangent(plant: Plant, q: Array, v: Array, t: float) -> None:
    if plant.nc == 0:
        return
    _, J, b, _ = plant.evaluator.constraints(q, v, t)
    miss = np.abs(J @ v - b) / plant.units.row_unit
    speed = max(float(np.max(np.abs(v / plant.units.unit))), float(np.max(np.abs(b) / plant.units.row_unit)))
    if not np.max(miss) <= CONSISTENT * max(speed, 1e-3):
        worst = plant.evaluator.row_names[int(np.argmax(miss))]
        raise InputError(
            f"v0 does not satisfy the constraints of {plant.name!r} at t = {t:g} s: |J v - b| is"
            f" {np.max(miss):.3g} (lengths divided by L), worst row {worst!r}, at speed {speed:.3g}. Start"
            " with v0 = system.consistent_velocity(q0, v0) instead."
        )
