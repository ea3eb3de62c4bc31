"""Choice: what to do with the directions that the outputs leave open.

x = least + Z z: z is zero (least torque), or brings forces to their desired values, and is then moved as
little as possible into the limits. [Aghili2011] eq. (17), (18), with a basis Z in place of equality rows.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from ...dynamics.control_kernel import inputs_within
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import FEASIBLE, Answer, Cone, Program, solve, solve_softly
from .force_metric import Factor, applied, into
from .least_norm_inputs import LOST, Least
from .solution import QPInfo, Status

Array = npt.NDArray[np.float64]

LETS_OUT = 1e6  # weight of the reserve against the size of the inputs
OPTIMAL, INFEASIBLE, INSIDE = 0, 1, 3  # answers of the kernel
TOUCHES = 1e-7  # a limit is active within this, relative to the forces involved


@dataclass(frozen=True)
class Wish:
    """Forces y = Y u + y0 (p,) that shall be `wanted`; `weight` (p,) makes N and N m comparable."""

    Y: Array
    y0: Array
    wanted: Array
    weight: Array


@dataclass(frozen=True)
class Choice:
    """The chosen inputs u (n,), their x (n,) in the metric, and how the limits fared."""

    x: Array
    u: Array
    status: Status = Status.OK
    message: str = ""
    active: tuple[str, ...] = ()
    violations: Mapping[str, float] = field(default_factory=dict)
    rows: InputRows | None = None
    qp: QPInfo = QPInfo()


def choose(
    least: Least,
    factor: Factor,
    wish: Wish | None,
    offset: Array | None,
    rows: InputRows | None,
    solver: str,
    gives: str,
) -> Choice:
    """x = least + Z z.

    Args:
        least: inputs of least norm that produce the wanted outputs, and what they leave open.
        factor: of the metric, u = factor x.
        wish: desired forces.
        offset: what to add in the open directions (n,), for a smooth transition.
        rows: the limits.
        solver: of the quadratic program.
        gives: "limits" or "motion": which gives way where both cannot be had.
    """
    Z, H, z = least.Z, None, None
    if wish is not None:
        H, z = _wished(least, factor, wish)
    if offset is not None:
        z = Z.T @ offset if z is None else z + Z.T @ offset
    if rows is None or rows.count == 0:
        x = least.x if z is None else least.x + Z @ z
        return Choice(x, applied(factor, x))
    if solver == "kernel":
        quick = _quickly(least, factor, z, H, rows)
        if quick is not None:
            return quick
    z = np.zeros(Z.shape[1]) if z is None else z
    x = least.x + Z @ z
    u = applied(factor, x)
    y = rows.R @ u
    if rows.inside(y, u):
        return Choice(x, u, active=_active(rows, y, u), rows=rows)
    program = _program(rows, factor, least.x, Z, z, H)
    found = solve(program, solver)
    if found.feasible:
        return _kept(least.x + Z @ found.z, factor, rows, found, program)
    if rows.reserve is not None:
        found = _with_less_reserve(program, rows.reserve, solver)
        if found.feasible:
            return _kept(least.x + Z @ found.z, factor, rows, found, program)
    if gives == "motion":
        wide = _program(rows, factor, np.zeros_like(x), np.eye(len(x)), x, _tracking(least.G))
        slow = solve(wide, solver)
        if slow.feasible:
            kept = _kept(slow.z, factor, rows, slow, wide)
            said = f"the motion gives way to the limits: {', '.join(kept.active)}"
            return replace(kept, status=Status.PARTIAL, message=said)
    soft = solve_softly(program, rows.weights, solver)
    return _broken(least.x + Z @ soft.z, factor, rows, soft, program)


def _quickly(
    least: Least, factor: Factor, z: Array | None, H: Array | None, rows: InputRows
) -> Choice | None:
    """All of it in one call of the kernel; None where the limits cannot all hold."""
    began = time.perf_counter()
    R, lower, upper = rows.R, rows.lower, rows.upper
    how, x, u, found, iterations, _ = inputs_within(
        least.x, least.Z, z, factor, R, lower, upper, H, TOUCHES, FEASIBLE
    )
    active = tuple(dict.fromkeys([rows.names[i] for i in found]))
    if how == INSIDE:
        return Choice(x, u, active=active, rows=rows)
    if how != OPTIMAL:
        return None
    sizes = least.Z.shape[1], len(R), 0
    info = QPInfo("kernel", *sizes, iterations, time.perf_counter() - began)
    return Choice(x, u, Status.LIMITED, "", active, {}, rows, info)


def _wished(least: Least, factor: Factor, wish: Wish) -> tuple[Array | None, Array]:
    """The Hessian of |forces - wanted|^2 in z, a little of |z|^2 added, and the least z that minimizes it."""
    Z = least.Z
    if Z.shape[1] == 0:
        return None, np.zeros(0)
    E = wish.weight[:, None] * (into(wish.Y, factor) @ Z)
    e = wish.weight * (wish.wanted - wish.y0 - wish.Y @ applied(factor, least.x))
    U, s, Vt = np.linalg.svd(E, full_matrices=False)
    rank = int(np.count_nonzero(s > LOST * s[0])) if len(s) and s[0] > 0.0 else 0
    z = Vt[:rank].T @ ((e @ U[:, :rank]) / s[:rank])
    return _regular(E.T @ E), z


def _tracking(G: Array) -> Array:
    """Hessian of |G x - g|^2, a little of |x|^2 added."""
    return _regular(G.T @ G)


def _regular(H: Array) -> Array:
    return H + 1e-8 * max(float(np.max(H.diagonal())), 1e-300) * np.eye(len(H))


def _program(rows: InputRows, factor: Factor, x: Array, Z: Array, z: Array, H: Array | None) -> Program:
    """The limits on u = factor (x + Z z) as limits on z."""
    u, reach = applied(factor, x), applied(factor, Z)
    at = rows.R @ u
    cones = [Cone(k.T @ reach, k.T @ u + k.c, k.d @ reach, float(k.d @ u) + k.e) for k in rows.cones]
    return Program(z, rows.R @ reach, rows.lower - at, rows.upper - at, H, cones)


def _with_less_reserve(program: Program, reserve: Array, solver: str) -> Answer:
    """As much of the reserve as the limits allow: rows and cones let out by a share s of it, 0 <= s <= 1."""
    n, m = len(program.z0), len(program.A)
    z0, A, H = np.append(program.z0, 0.0), np.zeros((m + 1, n + 1)), np.eye(n + 1)
    A[:m, :n], A[:m, n], A[m, n] = program.A, reserve[:m], 1.0
    H[:n, :n] = H[:n, :n] if program.H is None else program.H
    H[n, n] = (
        LETS_OUT * (1.0 + float(program.z0 @ program.z0)) * max(float(H[:n, :n].max(initial=0.0)), 1e-300)
    )
    cones = [
        Cone(np.column_stack([k.T, np.zeros(len(k.c))]), k.c, np.append(k.d, out), k.e)
        for k, out in zip(program.cones, reserve[m:], strict=True)
    ]
    wide = Program(z0, A, np.append(program.lower, 0.0), np.append(program.upper, 1.0), H, cones)
    found = solve(wide, solver)
    active = None if found.active is None else [i for i in found.active if i < m]
    return replace(found, z=found.z[:n], active=active)


def _active(rows: InputRows, y: Array, u: Array) -> tuple[str, ...]:
    """Names of the limits that u touches, y = R u."""
    size = TOUCHES * (1.0 + float(np.abs(y).max(initial=0.0)))
    near = np.flatnonzero((y >= rows.upper - size) | (y <= rows.lower + size)).tolist()
    names = [rows.names[i] for i in near]
    for name, k in zip(rows.cone_names, rows.cones, strict=True):
        if k.excess(u) >= -size:
            names.append(name)
    return tuple(dict.fromkeys(names))


def _info(found: Answer, program: Program) -> QPInfo:
    sizes = len(program.z0), len(program.A), len(program.cones)
    return QPInfo(found.solver, *sizes, found.iterations, found.time)


def _kept(x: Array, factor: Factor, rows: InputRows, found: Answer, program: Program) -> Choice:
    u = applied(factor, x)
    if found.active is None:
        active = _active(rows, rows.R @ u, u)
    else:
        active = tuple(dict.fromkeys([rows.names[i] for i in found.active]))
    return Choice(x, u, Status.LIMITED, "", active, {}, rows, _info(found, program))


def _broken(x: Array, factor: Factor, rows: InputRows, found: Answer, program: Program) -> Choice:
    """The inputs of least violation, and why."""
    u = applied(factor, x)
    size = 1e-6 * (1.0 + float(np.abs(u).max(initial=0.0)))
    violations = {name: -left for name, left in rows.margins(u).items() if left < -size}
    active = tuple(name for name in _active(rows, rows.R @ u, u) if name not in violations)
    worst = ", ".join(f"{name} exceeded by {amount:.4g}" for name, amount in violations.items())
    said = f"the limits cannot all hold with this motion; least violation: {worst or 'below the tolerance'}"
    if active:
        said += f"; in its way: {', '.join(active)}"
    info = _info(found, program)
    return Choice(x, u, Status.INFEASIBLE, said, tuple(violations) + active, violations, rows, info)
