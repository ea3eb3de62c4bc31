"""Inverse dynamics of closed chains: the least actuator forces that produce an acceleration.

Only the tangent part of a force moves the mechanism ([Aghili2005] remark 2). With N the null-space basis of
J and S the selection of actuated coordinates,

    N.T S.T u = N.T (M a + h)                                          [Aghili2005] eq. (21)      (1)
    u = argmin |S.T u| in the metric W^-1 of forces                    [Aghili2005] eq. (47), (60)

Passive joints get exactly zero. The mechanism is controllable if (1) has a solution for every right side,
that is if no tangent direction leaves all actuated coordinates at rest: eq. (56), (62).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..errors import InputError
from ..models.model import Actuator
from ..projection.decomposition import full_svd, metric_factor, rank_of
from ..projection.mobility import listed
from .formulations import multipliers, split
from .terms import Terms, Units

MOVES = 1e-6  # a coordinate is part of a motion if its entry in the unit vector exceeds this


@dataclass(frozen=True)
class Torques:
    """Forces that produce an acceleration, of one state or of a batch (batch axes in front of every shape).

    Attributes:
        tau: generalized actuator force (nv,) [N m, N]; exactly zero at passive coordinates.
        u: its actuated entries (nu,), in the order of the actuators.
        lam: multipliers of least norm (nc,).
        constraint_force: generalized constraint force (nv,).
        residual: largest entry of M a + h - tau - constraint_force [N m, N]: what the actuators cannot
            provide.
        acceleration_residual: largest entry of J a - gamma: nonzero if the constraints do not allow a.
        controllable: whether the actuators can produce every acceleration that the constraints allow. This
            and the residuals are arrays for a batch.
        uncontrollable: motions that no actuator feels, one tuple of coordinate names each; of a batch those
            of all its states.
        exceeded: names of the actuators whose declared limits u exceeds, in some state of a batch. Nothing is
            clipped: forces within the limits would produce another acceleration.
        message: the same in words.
    """

    tau: Array
    u: Array
    lam: Array
    constraint_force: Array
    residual: float | Any
    acceleration_residual: float | Any
    controllable: bool | Any
    uncontrollable: tuple[tuple[str, ...], ...]
    exceeded: tuple[str, ...]
    message: str


def inverse_dynamics(
    terms: Terms, a: Array, actuated: Sequence[int], units: Units, metric: npt.ArrayLike | None = None
) -> Torques:
    """Least forces of the actuated coordinates (indices) that produce a (nv,); metric W as in `Torques`.

    Args:
        terms: of the state.
        a: wanted acceleration (nv,).
        actuated: indices of the actuated coordinates.
        units: what makes rows and coordinates comparable.
        metric: metric W (nv, nv) of velocities; forces are measured by W^-1. None: forces as they are.
    """
    from scipy.linalg import solve_triangular

    state = split(terms, np.zeros(len(a)), units)
    needed = terms.M @ a + terms.h
    if not np.all(np.isfinite(needed)):
        raise InputError("inverse_dynamics: M a + h overflows at this q, v and a; give them in SI units.")
    N = units.unit[:, None] * state.N
    columns = np.asarray(actuated, dtype=int)

    # in x = C.T u, C C.T = S W^-1 S.T, the norm is Euclidean: N.T S.T u = (C^-1 S N).T x   (1)
    C = _force_metric(metric, columns, len(a))
    G = solve_triangular(C, N[columns], lower=True).T if len(columns) else np.zeros((N.shape[1], 0))
    U, s, Vt = full_svd(G)
    rank = rank_of(state.N[columns], units.rank_tol)
    x = Vt[:rank].T @ (U[:, :rank].T @ (N.T @ needed) / s[:rank])
    u = solve_triangular(C, x, trans="T", lower=True) if len(columns) else x
    tau = np.zeros(len(a))
    tau[columns] = u

    force = needed - tau
    lam, _ = multipliers(terms, state, force)
    across = units.unit * force
    across -= state.N @ (state.N.T @ across)
    constraint_force = across / units.unit
    residual = float(np.max(np.abs(force - constraint_force), initial=0.0))
    miss = float(np.max(np.abs(terms.J @ a - terms.gamma), initial=0.0))
    unfelt = unfelt_motions(state.N @ U[:, rank:], units)
    message = _message(unfelt, residual, miss, needed)
    return Torques(
        tau=tau,
        u=u,
        lam=lam,
        constraint_force=constraint_force,
        residual=residual,
        acceleration_residual=miss,
        controllable=not unfelt,
        uncontrollable=unfelt,
        exceeded=(),
        message=message,
    )


def stacked(torques: Sequence[Torques], batch: tuple[int, ...], sizes: tuple[int, int, int]) -> Torques:
    """Results of the states of a batch as one; sizes are (nv, nu, nc)."""
    nv, nu, nc = sizes
    shapes: dict[str, tuple[int, ...]] = {"tau": (nv,), "u": (nu,), "lam": (nc,), "constraint_force": (nv,)}
    shapes |= dict.fromkeys(("residual", "acceleration_residual", "controllable"), ())
    found: dict[str, Any] = {
        name: np.array([getattr(one, name) for one in torques]).reshape(*batch, *shape)
        for name, shape in shapes.items()
    }
    found["controllable"] = found["controllable"].astype(bool)
    message = f"{len(torques)} states, {int(found['controllable'].sum())} of them controllable."
    if torques:
        worst = max(torques, key=lambda one: (not one.controllable, one.acceleration_residual, one.residual))
        message += f" The worst: {worst.message}"
    motions = tuple(dict.fromkeys(motion for one in torques for motion in one.uncontrollable))
    return Torques(**found, uncontrollable=motions, exceeded=(), message=message)


def against_limits(torques: Torques, columns: Sequence[int], actuators: Sequence[Actuator]) -> Torques:
    """Torques with the names of the actuators whose limits the forces of the coordinates `columns` exceed."""
    limited = {actuator.index: actuator for actuator in actuators}
    said = {}
    for k, values in zip(columns, np.moveaxis(torques.u, -1, 0), strict=True):
        a = limited.get(k)
        worst = None if a is None else worst_excess(values, a.lower, a.upper)
        if a is not None and worst is not None:
            said[a.name] = f"{a.name} needs {worst:.4g}, limits {a.lower:g} to {a.upper:g}"
    if not said:
        return torques
    sentence = f"Beyond the limits of actuators (nothing is clipped): {'; '.join(said.values())}."
    return replace(torques, exceeded=tuple(said), message=f"{torques.message} {sentence}")


def worst_excess(values: Array, lower: float, upper: float, slack: float = 0.0) -> float | None:
    """The value furthest beyond its limits; None where none exceeds them by more than `slack`."""
    if values.size == 0:
        return None
    low, high = float(values.min()), float(values.max())
    if low < lower - slack or high > upper + slack:
        return high if high - upper > lower - low else low
    return None


def _force_metric(metric: npt.ArrayLike | None, columns: npt.NDArray[np.int_], nv: int) -> Array:
    """Lower factor C of S W^-1 S.T."""
    from scipy.linalg import solve_triangular

    if metric is None:
        return np.eye(len(columns))
    L = metric_factor(metric, nv)
    half = solve_triangular(L, np.eye(nv)[:, columns], lower=True)
    return np.asarray(np.linalg.cholesky(half.T @ half)) if len(columns) else np.eye(0)


def unfelt_motions(directions: Array, units: Units) -> tuple[tuple[str, ...], ...]:
    """Names of the coordinates that move in each tangent direction without an actuated coordinate."""
    names = np.array(units.coordinate_names)
    return tuple(tuple(names[np.abs(way) > MOVES].tolist()) for way in _sparse_basis(directions).T)


def _sparse_basis(X: Array) -> Array:
    """A sparser basis of the column space, by elimination with complete pivoting; columns of unit length."""
    X = X.copy()
    pivots: list[int] = []
    for k in range(X.shape[1]):
        size = np.abs(X[:, k:])
        size[pivots] = 0.0
        row, best = (int(i) for i in np.unravel_index(np.argmax(size), size.shape))
        X[:, [k, k + best]] = X[:, [k + best, k]]
        others = np.arange(X.shape[1]) != k
        X[:, others] -= np.outer(X[:, k] / X[row, k], X[row, others])
        pivots.append(row)
    return np.asarray(X / np.linalg.norm(X, axis=0))


def _message(unfelt: tuple[tuple[str, ...], ...], residual: float, miss: float, needed: Array) -> str:
    said = []
    if unfelt:
        count = f"{len(unfelt)} motion" + ("" if len(unfelt) == 1 else "s")
        moves = "; ".join(listed(names) for names in unfelt[:4])
        said.append(f"Not controllable: no actuator feels {count} of {moves}.")
        size = float(np.max(np.abs(needed), initial=1.0))
        if residual > 1e-9 * size:
            said.append(
                f"The wanted acceleration needs {residual:.3g} (N m or N) there that nothing provides."
            )
        else:
            said.append("The wanted acceleration happens to need no force there.")
    else:
        said.append("Controllable: the actuators can produce every acceleration that the constraints allow.")
    if miss > 1e-8 * max(1.0, float(np.max(np.abs(needed), initial=0.0))):
        said.append(f"The constraints do not allow the wanted acceleration: J a misses gamma by {miss:.3g}.")
    return " ".join(said)
