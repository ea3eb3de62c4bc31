"""The initial state of a run: as given, or the default; refused where it violates the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import AssemblyError, InputError
from ...projection.system_kinematics import drift
from .system import System

CONSISTENT = 1e-6  # of L, and of the speed: residual that the first projection corrects without an error


def initial_state(system: System, q0: Any, v0: Any, t: float) -> tuple[Array, Array]:
    """q (nq,) and v (nv,) at which to start at time t [s]; what is not given comes from `default`."""
    original = system.original
    checks = getattr(original, "_skeleton", original)  # a CustomSystem checks with its skeleton
    q = _default_pose(system, t) if q0 is None else checks._one_pose(q0, "q0")
    if system.nc:
        _require_closed(system, q, t)
    _require_forces(system, q)
    if v0 is None and q0 is None and not system.has_drives:
        return q, np.array(original.default.v)
    if v0 is None:
        return q, np.array(original.consistent_velocity(q, t=t))
    v = checks._one_tangent(v0, "v0")
    if system.nc:
        _require_tangent(system, q, v, t)
    return q, v


def _default_pose(system: System, t: float) -> Array:
    """`default.q`; of a mechanism with drives, assembled for time t."""
    q = np.array(system.original.default.q)
    if not system.has_drives:
        return q
    found = system.original.assemble(q, t=t)
    if not found.success:
        raise AssemblyError(f"{system.name!r} has no pose at t = {t:g} s. {found.message}")
    return np.array(found.q)


def _require_closed(system: System, q: Array, t: float) -> None:
    phi, _ = system.evaluator.closure(q, np.zeros(system.nv), t)
    gap = drift(system.evaluator, phi)
    if not gap <= CONSISTENT * system.length:
        worst = system.evaluator.row_names[int(np.argmax(np.abs(phi) / system.units.row_unit))]
        raise InputError(
            f"q0 does not satisfy the constraints of {system.name!r} at t = {t:g} s: |phi| is {gap:.3g} m"
            f" (angles times L), worst row {worst!r}, allowed {CONSISTENT * system.length:.1g}. Start from"
            " q0 = system.assemble(q0).q instead."
        )


def _require_forces(system: System, q: Array) -> None:
    """Refuse a pose at which a declared force has no value."""
    for name, force in system.model.forces:
        if why := force.undefined(lambda body: system.original.pose(q, body)):
            raise InputError(f"force {name!r} is not defined at q0: {why}. Start at another pose.")


def _require_tangent(system: System, q: Array, v: Array, t: float) -> None:
    miss = np.abs(system.evaluator.closure(q, v, t)[1]) / system.units.row_unit
    b = -system.evaluator.closure(q, np.zeros(system.nv), t)[1]
    sizes = v / system.units.unit, b / system.units.row_unit
    speed = max(float(np.max(np.abs(x))) for x in sizes)
    if not np.max(miss) <= CONSISTENT * max(speed, 1e-3):
        worst = system.evaluator.row_names[int(np.argmax(miss))]
        raise InputError(
            f"v0 does not satisfy the constraints of {system.name!r} at t = {t:g} s: |J v - b| is"
            f" {np.max(miss):.3g} (lengths divided by L), worst row {worst!r}, at speed {speed:.3g}. Start"
            " with v0 = system.consistent_velocity(q0, v0) instead."
        )
