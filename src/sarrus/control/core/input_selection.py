"""Input selection: inputs in the null space of the outputs.

x = least + Z z: z is zero (least torque) or gives forces their desired values; where limits are violated, the
nearest z within them is taken. [Aghili2011] eq. (17), (18), with a basis Z in place of equality rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from ...arrays import Array
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import Cone, Program, ProgramSolution, solve
from .force_metric import Factor, applied, into
from .giving_way import GivingWay, Order, let_out_reserve
from .least_norm_inputs import LeastNormInputs
from .nearest_inputs import (
    Motors,
    OpenInputs,
    info_of,
    nearest_inputs,
    program_of,
    regularized,
    touched_limits,
    violated_limits,
    with_shares,
    within_motors,
)
from .solution import QPInfo, Status

LOST = 1e-9  # singular values of the desired forces below this, relative to the largest, are zero
REDUCES_RESERVE = 1e6  # weight of the reserve against the size of the inputs
GAVE_WAY = 1e-7  # a motion that is lost by less than this share of the inputs did not give way

NO_SHARES = np.zeros(0)


@dataclass(eq=False)
class DesiredForces:
    """Forces y = Y u + y0 (p,) with desired values `wanted`; `weight` (p,) makes N and N m comparable."""

    Y: Array
    y0: Array
    wanted: Array
    weight: Array


@dataclass(eq=False)
class SelectedInputs:
    """The selected inputs u (n,), their x (n,) in the metric, and status, active and violated limits.

    `shares` (d,) says how redundant rows share forces, where limits speak of their multipliers.
    """

    x: Array
    u: Array
    status: Status = Status.OK
    message: str = ""
    active: tuple[str, ...] = ()
    violations: Mapping[str, float] = field(default_factory=dict)
    rows: InputRows | None = None
    qp: QPInfo = QPInfo()
    by_kernel: bool = False  # found in the one call of a step
    moved: bool = False  # whether the motion gave way
    shares: Array = field(default_factory=lambda: NO_SHARES)

    @property
    def chosen(self) -> Array:
        """Inputs, and shares behind them: what limits speak of (n + d,)."""
        return np.append(self.u, self.shares) if len(self.shares) else self.u


class InputSelector:
    """Selects inputs in the null space of the outputs.

    Args:
        solver: of the quadratic programs.
        order: in which limits and motion give way where they conflict.
        motors: their bounds.
    """

    def __init__(self, solver: str, order: Order, motors: Motors) -> None:
        self._solver, self._order, self._motors = solver, order, motors

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
        n, open_ = least.Z.shape
        shares = limits.R.shape[1] - n
        inputs, H = inputs.widened(shares), with_shares(H, open_, shares)
        if z is not None:
            z = np.append(z, np.zeros(shares))
        found = nearest_inputs(inputs, limits, z, H, self._solver)
        if found.status == "infeasible":
            z = np.zeros(open_ + shares) if z is None else z
            return self._in_conflict(least.G, inputs, limits, program_of(inputs, limits, z, H))
        status = Status.OK if found.status == "inside" else Status.LIMITED
        return _within(n, found.x, found.u, limits, found.active, status=status, qp=found.qp)

    def _in_conflict(
        self, G: Array, inputs: OpenInputs, limits: InputRows, program: Program
    ) -> SelectedInputs:
        """Inputs where motion and limits conflict: with less reserve, otherwise as `GivingWay` has it."""
        n = G.shape[1]
        if limits.reserve is not None:
            found = _with_less_reserve(program, limits.reserve, self._solver)
            if found.feasible:
                x, u = inputs.at(found.z)
                info = info_of(found, program)
                return _within(n, x, u, limits, found.active, status=Status.LIMITED, qp=info)
        began = time.perf_counter()
        m = len(inputs.x)
        every = OpenInputs(np.zeros(m), np.eye(m), inputs.metric)
        given = GivingWay(every, let_out_reserve(limits), self._order, self._solver)
        given.run((np.pad(G, ((0, 0), (0, m - n))), inputs.x, inputs.Z))
        goal = program.z0 + inputs.Z.T @ (inputs.x - given.inputs.x)
        x, u = within_motors(given.inputs, given.nearest(goal, program.H), self._motors)
        sizes = len(program.z0), len(program.A), len(program.cones)
        info = QPInfo(self._solver, *sizes, 0, time.perf_counter() - began)
        moved = np.abs(G @ (x - inputs.x)[:n]).max(initial=0.0) > GAVE_WAY * (1.0 + np.abs(x).max())
        return _given_way(n, x, u, limits, info, moved=bool(moved))


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
    return regularized(E.T @ E), z


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


def _within(
    n: int, x: Array, u: Array, limits: InputRows, rows: list[int] | None, *, status: Status, qp: QPInfo
) -> SelectedInputs:
    """The n inputs and the shares behind them; active limits are those of `rows`, or those that u touches."""
    if rows is None:
        active = touched_limits(limits, u)
    else:
        active = tuple(dict.fromkeys([limits.names[i] for i in rows]))
    return SelectedInputs(x[:n], u[:n], status, active=active, rows=limits, qp=qp, shares=u[n:])


def _given_way(n: int, x: Array, u: Array, limits: InputRows, qp: QPInfo, moved: bool) -> SelectedInputs:
    """Inputs where something gave way, and what: the motion where it `moved`, and limits."""
    violations = violated_limits(limits, u)
    touched = touched_limits(limits, u)
    active = tuple(name for name in touched if name not in violations)
    said = []
    if violations or not moved:
        worst = ", ".join(f"{name} exceeded by {amount:.4g}" for name, amount in violations.items())
        said = [
            f"the limits cannot all hold with this motion; least violation: {worst or 'below the tolerance'}"
        ]
    if moved:
        said.append(f"the motion gives way to the limits: {', '.join(active)}")
    elif active:
        said.append(f"in its way: {', '.join(active)}")
    return SelectedInputs(
        x[:n],
        u[:n],
        Status.PARTIAL if moved and not violations else Status.INFEASIBLE,
        "; ".join(said),
        active=tuple(violations) + active,
        violations=violations,
        rows=limits,
        qp=qp,
        shares=u[n:],
        moved=moved,
    )
