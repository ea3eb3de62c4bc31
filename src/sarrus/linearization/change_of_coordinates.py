"""Linear models in general coordinates: y = R x, combinations of coordinates, or a chart R(q, y) = 0.

With [dq; dv] = T x and its rate d[dq; dv]/dt = V x + V_w w along the motion, of any minimal model,

    z = S x,  dz/dt = (D x + D_w w)              z = [dy; dy'] or [R dq; R dv]                            (1)
    A = D S^-1,  B = D_w                         [Spencer2004] eq. (2.32), section 4.2                    (2)

Linear coordinates: S = R T, D = R V with R = diag(R, R). A chart has y' = C(q) v and y'' = C a + ..., of
which S and D are the derivatives along the columns of T and V. Eigenvalues are the same for all choices only
at an equilibrium (section 4.1.1).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from ..arrays import Array
from ..differences import slope_of_terms, slope_terms
from ..errors import InputError
from ..mechanism.core.access import arguments_of
from ..projection.local_coordinates import INDEPENDENT_TOL
from ..projection.user_chart import Chart, UserChart, check_chart
from .finite_differences import finite_variation
from .independent_coordinates import ROLES
from .operating_point import OperatingPoint, by_differences

STEP = 0.01  # of differences [rad], or times L [m]


class Coordinates(NamedTuple):
    """General coordinates at an operating point.

    Attributes:
        positions: names of y (p).
        velocities: names of its rates (r); r < p where rows restrict velocities only.
        independence: how well they determine the motion: 1 at best, 0 not at all.
        rate: (y', y'') at the point (p + r,).
        of_state: change of (y, y') along changes [dq; dv], columns (2 nv, k) -> (p + r, k).
        of_rate: change of (y', y'') along changes [dq; dv; da], columns (3 nv, k) -> (p + r, k).
    """

    positions: tuple[str, ...]
    velocities: tuple[str, ...]
    independence: float
    rate: Array
    of_state: Callable[[Array], Array]
    of_rate: Callable[[Array], Array]


class Minimal(NamedTuple):
    """What a change of coordinates needs of a minimal model, named as in `LinearModel`."""

    point: OperatingPoint
    lift: Array
    C: Array | None  # None: the outputs are the states
    inputs: tuple[str, ...]

    def acceleration(self) -> tuple[Array, Array]:
        """da of the states (nv, nx) and of the inputs (nv, nw)."""
        p, T, mech, nv = self.point, self.lift, self.point.mech, self.point.mech.nv
        columns = np.array([mech.names.index(name) for name in self.inputs], dtype=np.int32)
        if not by_differences(mech):
            d = mech.derivatives(p.q, p.v, p.tau, t=p.t)
            return d.a_q @ T[:nv] + d.a_v @ T[nv:], d.a_tau[:, columns]
        R_q, R_v = (np.asarray(np.linalg.pinv(N), dtype=float) for N in (p.at.N_q, p.at.N_v))
        x = finite_variation(p, R_q, R_v, columns)
        return x.rate[nv:] @ np.vstack([R_q @ T[:nv], R_v @ T[nv:]]), x.rate_u[nv:]


def changed(base: Minimal, coordinates: Any) -> dict[str, Any]:
    """The fields of a minimal model that other coordinates change; these as `linearize` takes them."""
    point, T, (da, da_w) = base.point, base.lift, base.acceleration()
    y = _coordinates(point, coordinates)
    nv = point.mech.nv
    still = np.zeros((2 * nv, da_w.shape[1]))
    S, D, D_w = y.of_state(T), y.of_rate(np.vstack([T, da])), y.of_rate(np.vstack([still, da_w]))
    back = np.linalg.inv(S)
    names = (*(f"q.{name}" for name in y.positions), *(f"v.{name}" for name in y.velocities))
    found: dict[str, Any] = {"A": D @ back, "B": D_w, "names": names, "rate": y.rate, "lift": T @ back}
    found |= {"independent": y.positions, "_independence": y.independence}
    found["reduce"] = y.of_state(np.eye(2 * nv))
    if base.C is None:
        return found | {"C": np.eye(len(names)), "outputs": names}
    return found | {"C": base.C @ back}


def _coordinates(point: OperatingPoint, given: Any) -> Coordinates:
    """The coordinates from names, combinations, a matrix or a Chart, checked."""
    mech, at = point.mech, point.at
    apart = isinstance(given, Mapping) and any(role in given for role in ROLES)
    if apart and (set(given) != set(ROLES) or any(isinstance(given[role], Chart) for role in ROLES)):
        raise InputError(
            'coordinates={"positions": ..., "velocities": ...} needs both, each as names, combinations or a'
            f" matrix, not a Chart; got {given!r:.80}."
        )
    if at.N_q.shape[1] != at.N_v.shape[1] and not apart:
        raise InputError(
            f"coordinates= describes positions and their rates alike, but {mech.name!r} has rows that"
            ' restrict velocities only (rolling); say coordinates={"positions": ..., "velocities": ...}.'
        )
    if isinstance(given, Chart):
        found = _of_chart(point, given)
    else:
        found = _linear(point, *(given[role] for role in ROLES)) if apart else _linear(point, given, given)
    for role, names, N in zip(ROLES, (found.positions, found.velocities), (at.N_q, at.N_v), strict=True):
        if len(names) != N.shape[1]:
            raise InputError(
                f"coordinates must be {N.shape[1]}, the degrees of freedom of {mech.name!r} at this pose"
                f" ({role}); got {len(names)}: {list(names)}."
            )
    if found.independence <= INDEPENDENT_TOL:
        raise InputError(
            f"the coordinates {list(found.positions)} are not independent at this pose: {mech.name!r} can"
            " move while they stand still. Choose others, or leave them out."
        )
    return found


# ------------------------------------------------------------------ linear coordinates


def _linear(point: OperatingPoint, positions: Any, velocities: Any) -> Coordinates:
    nv, at = point.mech.nv, point.at
    (names_q, R_q), (names_v, R_v) = _rows(point, positions), _rows(point, velocities)

    def of_state(x: Array) -> Array:
        return np.vstack([R_q @ x[:nv], R_v @ x[nv : 2 * nv]])

    def of_rate(x: Array) -> Array:
        return np.vstack([R_q @ (x[nv : 2 * nv] - point.ad_v @ x[:nv]), R_v @ x[2 * nv :]])

    rate = np.concatenate([R_q @ point.v, R_v @ point.a])
    least = min(_independence(point, R_q, at.N_q), _independence(point, R_v, at.N_v))
    return Coordinates(names_q, names_v, least, rate, of_state, of_rate)


def _independence(point: OperatingPoint, R: Array, N: Array) -> float:
    """How well y = R dq determines the motion along N; 1 where their numbers differ, which is said first."""
    sizes = np.linalg.norm(R * point.at.unit, axis=1, keepdims=True)
    if R.size == 0 or np.any(sizes == 0.0):
        raise InputError("coordinates: every combination must have a coefficient that is not zero.")
    if len(R) != N.shape[1]:
        return 1.0
    return float(np.linalg.svd(R * point.at.unit / sizes @ point.at.bare(N), compute_uv=False)[-1])


def _rows(point: OperatingPoint, given: Any) -> tuple[tuple[str, ...], Array]:
    """Names and matrix R (p, nv) of linear coordinates."""
    mech = point.mech
    if isinstance(given, (str, Mapping)):
        given = [given]
    if isinstance(given, Sequence) and len(given) and all(isinstance(x, (str, Mapping)) for x in given):
        names, rows = [], []
        for one in given:
            parts = {one: 1.0} if isinstance(one, str) else one
            where = [
                (arguments_of(mech).indices([name], "coordinates"), name, weight)
                for name, weight in parts.items()
            ]
            if any(len(indices) != 1 for indices, _, _ in where):
                raise InputError(
                    f"coordinates: name single coordinates, not joints with several; got {one!r}."
                )
            row = np.zeros(mech.nv)
            for indices, name, weight in where:
                row[indices[0]] += _number(weight, name)
            rows.append(row)
            names.append(_label(parts))
        return tuple(names), np.array(rows)
    try:
        R = np.array(given, dtype=float)
    except (TypeError, ValueError):
        R = np.zeros(0)
    if R.ndim != 2 or R.shape[1] != mech.nv or not np.all(np.isfinite(R)):
        raise InputError(
            "coordinates must be names, combinations [{name: coefficient}, ...], a matrix R (p,"
            f" {mech.nv}) of finite numbers, or a Chart; got {given!r:.80}."
        )
    return tuple(f"y{i}" for i in range(len(R))), R


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not np.isfinite(value):
        raise InputError(f"coordinates: the coefficient of {name!r} must be a finite number, got {value!r}.")
    return float(value)


def _label(parts: Mapping[str, Any]) -> str:
    """A combination in words: "link1 + link2", "2 crank - rod"."""
    text = ""
    for name, weight in parts.items():
        size = "" if abs(weight) == 1.0 else f"{abs(weight):g} "
        sign = (" - " if weight < 0 else " + ") if text else ("-" if weight < 0 else "")
        text += f"{sign}{size}{name}"
    return text


# ------------------------------------------------------------------ charts


def _of_chart(point: OperatingPoint, chart: Chart) -> Coordinates:
    """Coordinates of a chart; derivatives by differences of order six."""
    mech, system = point.mech, point.mech.evaluator
    here = UserChart(system, chart)
    wrong = check_chart(system, here, point.q, point.J)
    if wrong:
        raise InputError(f"chart {chart.name!r} cannot be used here: {wrong}. Choose other coordinates.")
    first = here.coordinates(point.q, point.v, point.J)
    independence, p, nv = here.quality(point.J), chart.n, mech.nv
    guess = replace(chart, y0=first[:p])

    def motion(x: Array, s: float) -> Array:
        """(y, y', y'') where [dq; dv; da] = s x."""
        near = UserChart(system, guess)
        q, v = mech.integrate(point.q, s * x[:nv]), point.v + s * x[nv : 2 * nv]
        y = near.coordinates(q, v, point.J)
        acceleration = near.rates(point.t, q, v, point.a + s * x[2 * nv :], point.J)[p:]
        return np.concatenate([y, acceleration])

    def slopes(columns: Array) -> Array:
        """Derivatives (3 p, k) along columns (3 nv, k)."""
        unit = np.tile(point.at.unit, 3)
        found = []
        for x in columns.T:
            size = float(np.max(np.abs(x / unit)))
            step = STEP / size if size else 1.0
            found.append(slope_of_terms(lambda s, x=x: motion(x, s), step, slope_terms(6)))  # type: ignore[misc]
        return np.array(found).reshape(-1, 3 * p).T

    def of_state(x: Array) -> Array:
        return slopes(np.vstack([x[: 2 * nv], np.zeros((nv, x.shape[1]))]))[: 2 * p]

    names = tuple(f"{chart.name}{i}" if p > 1 else chart.name for i in range(p))
    rate = motion(np.zeros(3 * nv), 0.0)[p:]
    return Coordinates(names, names, independence, rate, of_state, lambda x: slopes(x)[p:])
