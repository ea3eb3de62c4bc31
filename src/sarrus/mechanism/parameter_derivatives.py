"""Derivatives by parameters of a description: of the assembled pose, velocities, accelerations, measures.

Pose and velocity follow from the implicit function theorem. phi and J at a given state are functions of the
tables of the model, mostly polynomials; their slopes by a parameter are differences of order six, which have
rounding errors only. Where a left null vector w of J has w.T phi_p != 0, the parameter opens a loop that is
overconstrained, and there is no derivative.

Accelerations, multipliers and measures are differences of order six along that tangent, of copies closed on
the same branch. The step becomes shorter until the result stays the same to 1e-9 of the largest entry.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .._kernel import RANK_TOL
from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from ..errors import AssemblyError, unknown_name

if TYPE_CHECKING:
    from .mechanism import Mechanism

STEPS = [5e-3 / 4.0**k for k in range(6)]  # relative to the parameter; absolute where it is zero
RESOLVED = 1e-9  # change from step to step, relative to the largest entry, below which it is taken
OPENS = 1e-7  # part of a row's change that no motion takes up, above which a loop opens
TERMS = slope_terms(6)


@dataclass(frozen=True)
class ParameterDerivatives:
    """Derivatives by parameters, each a mapping {parameter: array}.

    Attributes:
        q: of the pose, as increments (nv,) of `integrate`.
        v: of the velocity (nv,).
        a: of the acceleration (nv,).
        lam: of the multipliers (nc,), of least norm where rows depend on each other.
        measures: of the measures, {parameter: {measure: number or array}}.
    """

    q: Mapping[str, Array]
    v: Mapping[str, Array]
    a: Mapping[str, Array]
    lam: Mapping[str, Array]
    measures: Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Situation:
    """The state at which to differentiate, and what stays the same while parameters change.

    Attributes:
        q, v: positions (nq,) and velocities (nv,).
        tau: applied force (nv,).
        t: time [s].
        fixed: coordinates that keep their positions and velocities.
    """

    q: Array
    v: Array
    tau: Array
    t: float
    fixed: tuple[str, ...]


def parameter_derivatives(mech: Mechanism, at: Situation, names: tuple[str, ...]) -> ParameterDerivatives:
    """Derivatives by the named parameters; see `Mechanism.parameter_derivatives`."""
    for name in names:
        if name not in mech.parameters:
            raise unknown_name("parameter", name, mech.parameters)
    found = {name: _one(mech, at, name) for name in names}
    parts = {key: {name: one[key] for name, one in found.items()} for key in ("q", "v", "a", "lam")}
    return ParameterDerivatives(**parts, measures={name: one["measures"] for name, one in found.items()})


def _one(mech: Mechanism, at: Situation, name: str) -> dict[str, Any]:
    """Derivatives by one parameter."""
    value = mech.parameters[name]
    size = abs(value) or 1.0
    dq, dv = tangent(mech, at, name, STEPS[0] * size)
    best: Array | None = None
    least = np.inf
    shapes: dict[str, tuple[int, ...]] = {}
    failed: AssemblyError | None = None
    for step in STEPS:
        try:
            values = {k: _values(mech, at, (name, value + k * step * size), (dq, dv)) for k, _ in TERMS}
        except AssemblyError as error:  # too far from this value for a copy to be closed
            failed = error
            continue
        shapes = values[1][1]
        now = np.sum([w / (step * size) * values[k][0] for k, w in TERMS], axis=0)
        change = np.inf if best is None else float(np.max(np.abs(now - best), initial=0.0))
        if best is not None and change >= least:
            break  # shorter steps round more than they resolve
        best, least = now, change
        if change <= RESOLVED * float(np.max(np.abs(now), initial=0.0)):
            break
    if best is None:
        assert failed is not None
        raise failed
    return _parts(mech, best, shapes) | {"q": dq, "v": dv}


def _parts(mech: Mechanism, flat: Array, shapes: Mapping[str, tuple[int, ...]]) -> dict[str, Any]:
    """Accelerations, multipliers and measures from one row."""
    a, lam, rest = np.split(flat, [mech.nv, mech.nv + mech.nc])
    measures: dict[str, Any] = {}
    for measure, shape in shapes.items():
        n = int(np.prod(shape))
        measures[measure] = float(rest[0]) if shape == () else rest[:n].reshape(shape)
        rest = rest[n:]
    return {"a": a, "lam": lam, "measures": measures}


def tangent(mech: Mechanism, at: Situation, name: str, h: float) -> tuple[Array, Array]:
    """dq/dp, dv/dp (nv,) by the implicit function theorem: J dq = -phi_p, J dv = -d(J v - b)/dp.

    phi and J v - b are evaluated at values of the parameter beside its own, at most h apart and so that no
    coordinate moves far, and nothing is closed.
    """

    def slope(f: Callable[[Mechanism, float], Array], h: float) -> Array:
        return slope_of_terms(lambda s: f(mech.with_(**{name: mech.parameters[name] + s}), s), h, TERMS)

    def slip(copy: Mechanism, s: float) -> Array:
        terms = copy.terms(mech.integrate(at.q, s * dq), at.v, at.t)
        return terms.J @ at.v - terms.b

    rest = np.zeros(mech.nv)
    gap = slope(lambda copy, _: copy.terms(at.q, rest, at.t).phi, h) * mech.model.holonomic
    dq = _follow(mech, at, name, gap)
    fastest = float(np.max(np.abs(dq) / mech.units.unit, initial=0.0))
    return dq, _follow(mech, at, name, slope(slip, min(h, STEPS[0] / max(fastest, 1e-300))))


def _follow(mech: Mechanism, at: Situation, name: str, change: Array) -> Array:
    """x (nv,) with J x = -change, zero along fixed coordinates, the least in the mass metric."""
    terms, unit, row_unit = mech.terms(at.q, at.v, at.t), mech.units.unit, mech.units.row_unit
    free = np.ones(mech.nv, dtype=bool)
    for one in at.fixed:
        free[mech.index(one).v] = False
    A, c, u = (terms.J * unit)[:, free] / row_unit[:, None], change / row_unit, unit[free]
    U, s, Vt = np.linalg.svd(A)
    r = int(np.sum(s > RANK_TOL))
    left = U[:, r:] @ (U[:, r:].T @ c)
    if np.max(np.abs(left), initial=0.0) > OPENS * np.max(np.abs(c), initial=1.0):
        raise _opens(mech, at, name, left)
    y, N = Vt[:r].T @ (-(U[:, :r].T @ c) / s[:r]), Vt[r:].T
    M = terms.M[np.ix_(free, free)] * np.outer(u, u)
    if N.size:
        y = y - N @ np.linalg.solve(N.T @ M @ N, N.T @ (M @ y))
    x = np.zeros(mech.nv)
    x[free] = u * y
    return x


def _values(
    mech: Mechanism, at: Situation, changed: tuple[str, float], slopes: tuple[Array, Array]
) -> tuple[Array, dict[str, tuple[int, ...]]]:
    """Acceleration, multipliers and measures in one row, of a copy with another value of a parameter."""
    name, value = changed
    copy, s = mech.with_(**{name: value}), value - mech.parameters[name]
    q, v = mech.integrate(at.q, s * slopes[0]), at.v + s * slopes[1]
    if at.fixed:
        places = {one: mech.index(one) for one in at.fixed}
        found = copy.assemble(q, {one: _plain(at.q[place.q]) for one, place in places.items()}, at.t)
        if not found.success:
            raise _cannot_close(name, found.message)
        rates = {one: _plain(at.v[place.v]) for one, place in places.items()}
        q, v = found.q, copy.consistent_velocity(found.q, v, at.t, fixed=rates)
    else:
        try:
            q, v = copy.project(q, v, at.t)
        except AssemblyError as error:
            raise _cannot_close(name, str(error)) from error
    motion = copy.forward_dynamics(q, v, at.tau, t=at.t)
    measured = copy.measure(q, v, at.t, tau=at.tau)
    rows = [motion.a, motion.lam, *(np.ravel(x) for x in measured.values())]
    return np.concatenate(rows), {key: np.shape(x) for key, x in measured.items()}


def _plain(values: Array) -> Any:
    """A number where there is one, else the array."""
    return float(values[0]) if len(values) == 1 else values


def _opens(mech: Mechanism, at: Situation, name: str, left: Array) -> AssemblyError:
    """The rows that no motion keeps closed while a parameter changes."""
    rows = np.flatnonzero(np.abs(left) > 0.1 * np.max(np.abs(left)))
    shown = ", ".join(repr(mech.row_names[i]) for i in rows[:6]) + (", ..." if len(rows) > 6 else "")
    held = f" while {', '.join(map(repr, at.fixed))} is held" if at.fixed else ""
    return AssemblyError(
        f"there is no derivative by parameter {name!r}: no motion keeps the rows {shown} closed when it"
        f" changes{held}. The loop is overconstrained (mech.mobility(q).redundant names rows that depend on"
        " others), or the pose is singular. Let other dimensions follow this one, leave redundant rows out,"
        " or hold other coordinates."
    )


def _cannot_close(name: str, why: str) -> AssemblyError:
    return AssemblyError(
        f"there is no derivative by parameter {name!r}: with another value of it the constraints cannot be"
        f" closed near this pose. {why}"
    )
