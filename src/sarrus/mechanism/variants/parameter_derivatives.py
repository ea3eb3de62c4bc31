"""Derivatives by parameters of a description: of the assembled pose, velocities, accelerations, measures.

They are exact wherever `state_slopes` knows them. Elsewhere (it lists where) pose and velocity follow from
the implicit function theorem with slopes of phi and J by differences of order six, which have rounding errors
only. Accelerations, multipliers and measures are then differences of order six along that tangent, of copies
closed on the same branch. The step becomes shorter until the result stays the same to 1e-9 of the largest
entry.

Where a left null vector w of J has w.T phi_p != 0, the parameter opens a loop that is overconstrained, and
there is no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...differences import slope_of_terms, slope_terms
from ...errors import AssemblyError, require_all_known
from .state_slopes import Follower, Situation, StateSlopes, state_slopes

if TYPE_CHECKING:
    from ..mechanism import Mechanism

STEPS = [5e-3 / 4.0**k for k in range(6)]  # relative to the parameter; absolute where it is zero
RESOLVED = 1e-9  # change from step to step, relative to the largest entry, below which it is taken
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
        differences: names of what is not exact, but taken by differences: "a", "lam" and measures.
    """

    q: Mapping[str, Array]
    v: Mapping[str, Array]
    a: Mapping[str, Array]
    lam: Mapping[str, Array]
    measures: Mapping[str, Mapping[str, Any]]
    differences: tuple[str, ...] = ()


def parameter_derivatives(mech: Mechanism, at: Situation, names: tuple[str, ...]) -> ParameterDerivatives:
    """Derivatives by the named parameters; see `Mechanism.parameter_derivatives`."""
    require_all_known("parameter", names, mech.parameters)
    measured = [name for name, _ in mech.model.measures]
    slopes = state_slopes(mech, at, names)
    if slopes is None:
        each, differing = [by_differences(mech, at, name) for name in names], {"a", "lam", *measured}
    else:
        both = [_exact(slopes, k) for k in range(len(names))]
        each, differing = [one for one, _ in both], set().union(*(some for _, some in both))
    parts = {
        key: {name: one[key] for name, one in zip(names, each, strict=True)}
        for key in ("q", "v", "a", "lam", "measures")
    }
    told = tuple(name for name in ("a", "lam", *measured) if name in differing and names)
    return ParameterDerivatives(**parts, differences=told)


def _exact(slopes: StateSlopes, k: int) -> tuple[dict[str, Any], set[str]]:
    """Derivatives by one parameter of the first state, and the names of measures that are by differences."""
    measures, by_differences = slopes.measures(k)
    first = {"q": slopes.q[k, 0], "v": slopes.v[k, 0], "a": slopes.a[k, 0], "lam": slopes.lam[k, 0]}
    return first | {"measures": {key: _plain_measure(x[0]) for key, x in measures.items()}}, by_differences


def _plain_measure(x: Any) -> Any:
    return float(x) if np.ndim(x) == 0 else x


def by_differences(mech: Mechanism, at: Situation, name: str) -> dict[str, Any]:
    """Derivatives by one parameter, at one state."""
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

    t = float(at.t[0])

    def slope(f: Callable[[Mechanism, float], Array], h: float) -> Array:
        return slope_of_terms(lambda s: f(mech.with_(**{name: mech.parameters[name] + s}), s), h, TERMS)

    def slip(copy: Mechanism, s: float) -> Array:
        terms = copy.terms(mech.integrate(at.q[0], s * dq), at.v[0], t)
        return np.asarray(terms.J @ at.v[0] - terms.b)

    rest, terms = np.zeros(mech.nv), mech.terms(at.q[0], at.v[0], t)
    follower = Follower(mech, at, terms.M, terms.J)
    gap = slope(lambda copy, _: copy.terms(at.q[0], rest, t).phi, h) * mech.model.holonomic
    dq = follower.along(name, gap)
    fastest = float(np.max(np.abs(dq) / mech.units.unit, initial=0.0))
    return dq, follower.along(name, slope(slip, min(h, STEPS[0] / max(fastest, 1e-300))))


def _values(
    mech: Mechanism, at: Situation, changed: tuple[str, float], slopes: tuple[Array, Array]
) -> tuple[Array, dict[str, tuple[int, ...]]]:
    """Acceleration, multipliers and measures in one row, of a copy with another value of a parameter."""
    (name, value), t = changed, float(at.t[0])
    copy, s = mech.with_(**{name: value}), value - mech.parameters[name]
    q, v = mech.integrate(at.q[0], s * slopes[0]), at.v[0] + s * slopes[1]
    if at.fixed:
        places = {one: mech.index(one) for one in at.fixed}
        found = copy.assemble(q, {one: _plain(at.q[0, place.q]) for one, place in places.items()}, t)
        if not found.success:
            raise _cannot_close(name, found.message)
        rates = {one: _plain(at.v[0, place.v]) for one, place in places.items()}
        q, v = found.q, copy.consistent_velocity(found.q, v, t, fixed=rates)
    else:
        try:
            q, v = copy.project(q, v, t)
        except AssemblyError as error:
            raise _cannot_close(name, str(error)) from error
    motion = copy.forward_dynamics(q, v, at.tau[0], t=t)
    measured = copy.measure(q, v, t, tau=at.tau[0])
    rows = [motion.a, motion.lam, *(np.ravel(x) for x in measured.values())]
    return np.concatenate(rows), {key: np.shape(x) for key, x in measured.items()}


def _plain(values: Array) -> Any:
    """A number where there is one, else the array."""
    return float(values[0]) if len(values) == 1 else values


def _cannot_close(name: str, why: str) -> AssemblyError:
    return AssemblyError(
        f"there is no derivative by parameter {name!r}: with another value of it the constraints cannot be"
        f" closed near this pose. {why}"
    )
