"""Derivatives by parameters of a description: of the assembled pose, velocities, accelerations, measures.

Mechanisms at six values of a parameter around its own are assembled on the same branch; differences of order
six of what they give have errors of some 1e-10. Constraints that depend on each other do no harm, as long as
all copies can be closed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from ..errors import AssemblyError, unknown_name

if TYPE_CHECKING:
    from .mechanism import Mechanism

STEP = 5e-3  # of the differences, relative to the parameter; absolute where it is zero
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
    h = STEP * (abs(value) or 1.0)
    values = {k: _values(mech, mech.with_(**{name: value + k * h}), at, name) for k, _ in TERMS}
    flat = slope_of_terms(lambda x: values[round(x / h)][0], h, TERMS)
    shapes = next(iter(values.values()))[1]
    sizes = np.cumsum([mech.nv, mech.nv, mech.nv, mech.nc])
    *parts, rest = np.split(flat, sizes)
    result: dict[str, Any] = dict(zip(("q", "v", "a", "lam"), parts, strict=True))
    measures: dict[str, Any] = {}
    for measure, shape in shapes.items():
        n = int(np.prod(shape))
        measures[measure] = float(rest[0]) if shape == () else rest[:n].reshape(shape)
        rest = rest[n:]
    return result | {"measures": measures}


def _values(
    mech: Mechanism, copy: Mechanism, at: Situation, name: str
) -> tuple[Array, dict[str, tuple[int, ...]]]:
    """Everything to differentiate in one row, from a copy with another value of a parameter."""
    if at.fixed:
        places = {one: mech.index(one) for one in at.fixed}
        found = copy.assemble(at.q, {one: _plain(at.q[place.q]) for one, place in places.items()}, at.t)
        if not found.success:
            raise _cannot_close(name, found.message)
        rates = {one: _plain(at.v[place.v]) for one, place in places.items()}
        q, v = found.q, copy.consistent_velocity(found.q, at.v, at.t, fixed=rates)
    else:
        try:
            q, v = copy.project(at.q, at.v, at.t)
        except AssemblyError as error:
            raise _cannot_close(name, str(error)) from error
    motion = copy.forward_dynamics(q, v, at.tau, t=at.t)
    measured = copy.measure(q, v, at.t, tau=at.tau)
    rows = [mech.difference(at.q, q), v, motion.a, motion.lam, *(np.ravel(x) for x in measured.values())]
    return np.concatenate(rows), {key: np.shape(x) for key, x in measured.items()}


def _plain(values: Array) -> Any:
    """A number where there is one, else the array."""
    return float(values[0]) if len(values) == 1 else values


def _cannot_close(name: str, why: str) -> AssemblyError:
    return AssemblyError(
        f"there is no derivative by parameter {name!r}: with another value of it the constraints cannot be"
        f" closed near this pose. {why}"
    )
