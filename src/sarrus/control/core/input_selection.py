"""Input selection: inputs in the null space of the outputs.

x = least + Z z: z is zero (least torque) or gives forces their desired values; where limits are violated, the
nearest z within them is taken. [Aghili2011] eq. (17), (18), with a basis Z in place of equality rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

from ... import _kernel
from ...arrays import Array
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import FEASIBLE, Cone, Program, ProgramSolution, solve, solve_softly
from .force_metric import Factor, applied, into
from .least_norm_inputs import LeastNormInputs
from .solution import QPInfo, Status

LOST = 1e-9  # singular values of the desired forces below this, relative to the largest, are zero
REDUCES_RESERVE = 1e6  # weight of the reserve against the size of the inputs
TOUCHES = 1e-7  # a limit is active within this, relative to the forces involved


class OpenInputs(NamedTuple):
    """Inputs u = C (x + Z z) as a function of z (m,): x (n,), Z (n, m), C of the force metric."""

    x: Array
    Z: Array
    metric: Factor

    def at(self, z: Array) -> tuple[Array, Array]:
        """x + Z z and u, (n,) each."""
        x = self.x + self.Z @ z
        return x, applied(self.metric, x)


@dataclass(eq=False)
class DesiredForces:
    """Forces y = Y u + y0 (p,) with desired values `wanted`; `weight` (p,) makes N and N m comparable."""

    Y: Array
    y0: Array
    wanted: Array
    weight: Array


@dataclass(eq=False)
class SelectedInputs:
    """The selected inputs u (n,), their x (n,) in the metric, and status, active and violated limits."""

    x: Array
    u: Array
    status: Status = Status.OK
    message: str = ""
    active: tuple[str, ...] = ()
    violations: Mapping[str, float] = field(default_factory=dict)
    rows: InputRows | None = None
    qp: QPInfo = QPInfo()
    by_kernel: bool = False  # found in the one call of a step


class NearestInputs(NamedTuple):
    """Inputs within limits whose z (m,) is nearest to a goal.

    Attributes:
        status: "inside" (the goal satisfies all limits), "optimal" or "infeasible".
        x, u, z: the inputs.
        active: rows at their bounds; None where the solver does not report them.
        qp: what was solved.
    """

    status: str
    x: Array
    u: Array
    z: Array
    active: list[int] | None
    qp: QPInfo


def nearest_inputs(
    inputs: OpenInputs, limits: InputRows, goal: Array | None, H: Array | None, solver: str
) -> NearestInputs:
    """The z nearest to the goal (None: zero) in the norm of H (None: 1) with all limits kept."""
    began = time.perf_counter()
    if solver == "kernel":
        found = _kernel.limited_inputs(
            x=inputs.x,
            Z=inputs.Z,
            z0=goal,
            metric=inputs.metric,
            R=limits.R,
            lower=limits.lower,
            upper=limits.upper,
            H=H,
            touch=TOUCHES,
            tol=FEASIBLE,
        )
        iterations, qp = found.pop("iterations"), QPInfo()
        if found["status"] != "not converged":
            if found["status"] != "inside":
                sizes = inputs.Z.shape[1], len(limits.R), 0
                qp = QPInfo(solver, *sizes, iterations, time.perf_counter() - began)
            return NearestInputs(**found, qp=qp)
    z = np.zeros(inputs.Z.shape[1]) if goal is None else goal
    x, u = inputs.at(z)
    if limits.inside(limits.R @ u, u):
        return NearestInputs("inside", x, u, z, None, QPInfo())
    program = program_of(inputs, limits, z, H)
    best = solve(program, solver)
    x, u = inputs.at(best.z)
    status = "optimal" if best.feasible else "infeasible"
    return NearestInputs(status, x, u, best.z, best.active, _info(best, program))


class InputSelector:
    """Selects inputs in the null space of the outputs.

    Args:
        solver: of the quadratic programs.
        gives: "limits" or "motion": which is relaxed where they conflict.
    """

    def __init__(self, solver: str, gives: str) -> None:
        self._solver, self._gives = solver, gives

    def select(
        self,
        least: LeastNormInputs,
        metric: Factor,
        limits: InputRows | None,
        desired: DesiredForces | None,
        offset: Array | None,
    ) -> SelectedInputs:
        """x = least + Z z.

        Args:
            least: inputs of least norm that produce the desired outputs, and the null space of the outputs.
            metric: of the inputs.
            limits: on the inputs.
            desired: forces.
            offset: added in the null space of the outputs (n,), for a smooth transition.
        """
        inputs, H, z = OpenInputs(least.x, least.Z, metric), None, None
        if desired is not None:
            H, z = _nearest_to_forces(inputs, desired)
        if offset is not None:
            z = least.Z.T @ offset if z is None else z + least.Z.T @ offset
        if limits is None or limits.count == 0:
            x = least.x if z is None else least.x + least.Z @ z
            return SelectedInputs(x, applied(metric, x))
        found = nearest_inputs(inputs, limits, z, H, self._solver)
        if found.status == "infeasible":
            z = np.zeros(least.Z.shape[1]) if z is None else z
            return self._in_conflict(least.G, inputs, limits, program_of(inputs, limits, z, H))
        status = Status.OK if found.status == "inside" else Status.LIMITED
        return _within(found.x, found.u, limits, found.active, status, found.qp)

    def _in_conflict(
        self, G: Array, inputs: OpenInputs, limits: InputRows, program: Program
    ) -> SelectedInputs:
        """Inputs where motion and limits conflict: with less reserve, less motion, or violated limits."""
        if limits.reserve is not None:
            found = _with_less_reserve(program, limits.reserve, self._solver)
            if found.feasible:
                return _limited(inputs, limits, found, program)
        if self._gives == "motion":
            x, _ = inputs.at(program.z0)
            every = OpenInputs(np.zeros_like(x), np.eye(len(x)), inputs.metric)
            wide = program_of(every, limits, x, _regularized(G.T @ G))  # |G x - g|^2
            found = solve(wide, self._solver)
            if found.feasible:
                slow = _limited(every, limits, found, wide)
                said = f"the motion gives way to the limits: {', '.join(slow.active)}"
                return replace(slow, status=Status.PARTIAL, message=said)
        found = solve_softly(program, limits.weights, self._solver)
        return _least_violation(inputs, limits, found, program)


def program_of(inputs: OpenInputs, limits: InputRows, z: Array, H: Array | None) -> Program:
    """The limits on u = C (x + Z z) as limits on z."""
    u, CZ = applied(inputs.metric, inputs.x), applied(inputs.metric, inputs.Z)
    at = limits.R @ u
    cones = [Cone(k.T @ CZ, k.T @ u + k.c, k.d @ CZ, float(k.d @ u) + k.e) for k in limits.cones]
    return Program(z, limits.R @ CZ, limits.lower - at, limits.upper - at, H, cones)


def touched_limits(limits: InputRows, u: Array) -> tuple[str, ...]:
    """Names of the limits that u touches."""
    y = limits.R @ u
    size = TOUCHES * (1.0 + float(np.abs(y).max(initial=0.0)))
    near = np.flatnonzero((y >= limits.upper - size) | (y <= limits.lower + size)).tolist()
    names = [limits.names[i] for i in near]
    for name, k in zip(limits.cone_names, limits.cones, strict=True):
        if k.excess(u) >= -size:
            names.append(name)
    return tuple(dict.fromkeys(names))


def violated_limits(limits: InputRows, u: Array) -> dict[str, float]:
    """By how much u exceeds limits, {name: amount}."""
    size = 1e-6 * (1.0 + float(np.abs(u).max(initial=0.0)))
    return {name: -left for name, left in limits.margins(u).items() if left < -size}


def _nearest_to_forces(inputs: OpenInputs, desired: DesiredForces) -> tuple[Array | None, Array]:
    """The Hessian of |forces - wanted|^2 in z, a little of |z|^2 added, and the least z that minimizes it."""
    Z = inputs.Z
    if Z.shape[1] == 0:
        return None, np.zeros(0)
    E = desired.weight[:, None] * (into(desired.Y, inputs.metric) @ Z)
    at = desired.Y @ applied(inputs.metric, inputs.x)
    e = desired.weight * (desired.wanted - desired.y0 - at)
    U, s, Vt = np.linalg.svd(E, full_matrices=False)
    rank = int(np.count_nonzero(s > LOST * s[0])) if len(s) and s[0] > 0.0 else 0
    z = Vt[:rank].T @ ((e @ U[:, :rank]) / s[:rank])
    return _regularized(E.T @ E), z


def _regularized(H: Array) -> Array:
    return H + 1e-8 * max(float(np.max(H.diagonal())), 1e-300) * np.eye(len(H))


def _with_less_reserve(program: Program, reserve: Array, solver: str) -> ProgramSolution:
    """As much of the reserve as the limits allow: rows and cones let out by a share s of it, 0 <= s <= 1."""
    n, m = len(program.z0), len(program.A)
    z0, A, H = np.append(program.z0, 0.0), np.zeros((m + 1, n + 1)), np.eye(n + 1)
    A[:m, :n], A[:m, n], A[m, n] = program.A, reserve[:m], 1.0
    H[:n, :n] = H[:n, :n] if program.H is None else program.H
    largest = max(float(H[:n, :n].max(initial=0.0)), 1e-300)
    H[n, n] = REDUCES_RESERVE * (1.0 + float(program.z0 @ program.z0)) * largest
    cones = [
        Cone(np.column_stack([k.T, np.zeros(len(k.c))]), k.c, np.append(k.d, out), k.e)
        for k, out in zip(program.cones, reserve[m:], strict=True)
    ]
    wide = Program(z0, A, np.append(program.lower, 0.0), np.append(program.upper, 1.0), H, cones)
    found = solve(wide, solver)
    active = None if found.active is None else [i for i in found.active if i < m]
    return replace(found, z=found.z[:n], active=active)


def _info(found: ProgramSolution, program: Program) -> QPInfo:
    sizes = len(program.z0), len(program.A), len(program.cones)
    return QPInfo(found.solver, *sizes, found.iterations, found.time)


def _within(
    x: Array, u: Array, limits: InputRows, rows: list[int] | None, status: Status, qp: QPInfo
) -> SelectedInputs:
    """Inputs within the limits; active are those of `rows`, or those that u touches."""
    if rows is None:
        active = touched_limits(limits, u)
    else:
        active = tuple(dict.fromkeys([limits.names[i] for i in rows]))
    return SelectedInputs(x, u, status, active=active, rows=limits, qp=qp)


def _limited(
    inputs: OpenInputs, limits: InputRows, found: ProgramSolution, program: Program
) -> SelectedInputs:
    return _within(*inputs.at(found.z), limits, found.active, Status.LIMITED, _info(found, program))


def _least_violation(
    inputs: OpenInputs, limits: InputRows, found: ProgramSolution, program: Program
) -> SelectedInputs:
    """The inputs of least violation, and why."""
    x, u = inputs.at(found.z)
    violations = violated_limits(limits, u)
    active = tuple(name for name in touched_limits(limits, u) if name not in violations)
    worst = ", ".join(f"{name} exceeded by {amount:.4g}" for name, amount in violations.items())
    said = f"the limits cannot all hold with this motion; least violation: {worst or 'below the tolerance'}"
    if active:
        said += f"; in its way: {', '.join(active)}"
    return SelectedInputs(
        x,
        u,
        Status.INFEASIBLE,
        said,
        active=tuple(violations) + active,
        violations=violations,
        rows=limits,
        qp=_info(found, program),
    )
