"""Nearest inputs: of all inputs u = C (x + Z z) within limits, those whose z is nearest to a goal.

Where rows of constraints depend on each other and limits speak of their multipliers, how these rows share
forces is chosen with the inputs: x, Z and u then have an entry for each share behind the inputs (`widened`).
"""

from __future__ import annotations

import time
from typing import NamedTuple

import numpy as np

from ... import _kernel
from ...arrays import Array
from ..limits.limit_table import InputRows
from ..limits.quadratic_program import FEASIBLE, Cone, Program, ProgramSolution, solve
from .force_metric import Factor, applied, unapplied
from .solution import QPInfo

TOUCHES = 1e-7  # a limit is active within this, relative to the forces involved
SHARED = 1e-8  # weight of shares of redundant rows, relative to inputs
Motors = Array | None  # least and largest inputs (2, n), or None where no motor has a bound


class OpenInputs(NamedTuple):
    """Inputs u = C (x + Z z) as a function of z (m,): x (n,), Z (n, m), C of the force metric."""

    x: Array
    Z: Array
    metric: Factor

    def at(self, z: Array) -> tuple[Array, Array]:
        """x + Z z and u, (n,) each."""
        x = self.x + self.Z @ z
        return x, applied(self.metric, x)

    def widened(self, shares: int) -> OpenInputs:
        """With shares of redundant rows behind the inputs, and each of them open."""
        if shares == 0:
            return self
        x, Z = np.append(self.x, np.zeros(shares)), block_diagonal(self.Z, np.eye(shares))
        return OpenInputs(x, Z, widened_metric(self.metric, shares))


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
    return NearestInputs(status, x, u, best.z, best.active, info_of(best, program))


def program_of(inputs: OpenInputs, limits: InputRows, z: Array, H: Array | None) -> Program:
    """The limits on u = C (x + Z z) as limits on z."""
    u, CZ = applied(inputs.metric, inputs.x), applied(inputs.metric, inputs.Z)
    at = limits.R @ u
    cones = [Cone(k.T @ CZ, k.T @ u + k.c, k.d @ CZ, float(k.d @ u) + k.e) for k in limits.cones]
    return Program(z, limits.R @ CZ, limits.lower - at, limits.upper - at, H, cones)


def within_motors(inputs: OpenInputs, z: Array, motors: Motors) -> tuple[Array, Array]:
    """x and u at z, moved within the bounds of motors: programs keep them to rounding, which is much where a
    plant has run away and forces are many orders of magnitude beyond these bounds."""
    x, u = inputs.at(z)
    if motors is None:
        return x, u
    n = motors.shape[1]
    kept = np.append(np.clip(u[:n], *motors), u[n:])
    return (x, u) if np.array_equal(kept, u) else (unapplied(inputs.metric, kept), kept)


def info_of(found: ProgramSolution, program: Program) -> QPInfo:
    """Of a program that was solved."""
    sizes = len(program.z0), len(program.A), len(program.cones)
    return QPInfo(found.solver, *sizes, found.iterations, found.time)


def touched_limits(limits: InputRows, u: Array) -> tuple[str, ...]:
    """Names of the limits that u, with shares behind it, touches."""
    y = limits.R @ u
    size = TOUCHES * (1.0 + float(np.abs(y).max(initial=0.0)))
    near = np.flatnonzero((y >= limits.upper - size) | (y <= limits.lower + size)).tolist()
    names = [limits.names[i] for i in near]
    for name, k in zip(limits.cone_names, limits.cones, strict=True):
        if k.excess(u) >= -size:
            names.append(name)
    return tuple(dict.fromkeys(names))


def violated_limits(limits: InputRows, u: Array) -> dict[str, float]:
    """By how much u, with shares behind it, exceeds limits, {name: amount}."""
    size = 1e-6 * (1.0 + float(np.abs(u).max(initial=0.0)))
    return {name: -left for name, left in limits.margins(u).items() if left < -size}


def regularized(H: Array) -> Array:
    """H and a little of |z|^2."""
    return H + 1e-8 * max(float(np.max(H.diagonal(), initial=0.0)), 1e-300) * np.eye(len(H))


def with_shares(H: Array | None, inputs: int, shares: int) -> Array | None:
    """The Hessian H (inputs, inputs) or the identity, with a little for each share; of those that keep the
    limits the smallest are taken."""
    if shares == 0:
        return H
    own = np.eye(inputs) if H is None else H
    largest = float(own.diagonal().max(initial=0.0)) or 1.0
    return block_diagonal(own, SHARED * largest * np.eye(shares))


def widened_metric(metric: Factor, shares: int) -> Factor:
    """The same for inputs with shares behind them, which are not scaled."""
    if metric is None or shares == 0:
        return metric
    one = np.ones(shares)
    return np.append(metric, one) if metric.ndim == 1 else block_diagonal(metric, np.diag(one))


def block_diagonal(first: Array, second: Array) -> Array:
    """Both matrices along the diagonal."""
    (m, n), (k, e) = first.shape, second.shape
    out = np.zeros((m + k, n + e))
    out[:m, :n], out[m:, n:] = first, second
    return out
