"""Force metric: what "least torque" means. |u|^2 = u.T (S W^-1 S.T) u, [Aghili2005] VII-B, eq. (47), (48).

With (S W^-1 S.T) = C C.T and u = C^-T x the norm is |x|: all controllers work in x, where least means
shortest.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, numeric
from ...dynamics.terms import Terms
from ...errors import InputError
from ...projection.decomposition import metric_factor

Indices = npt.NDArray[np.int_]
Factor = Array | None

NAMED = ("length", "limits", "mass")


class ForceMetric:
    """The metric of a controller: factors at every state, the full metric W for splitting forces.

    Attributes:
        by_mass: whether it is the inertia, which depends on the state.
    """

    def __init__(self, metric: Any, system: Any, columns: Indices) -> None:
        self._columns, self._nv = columns, system.nv
        self.by_mass = isinstance(metric, str) and metric == "mass"
        self._plain = False
        self._W: Array | None = None
        self._factor: Array | None = None
        if metric is None:
            self._plain = True
        elif isinstance(metric, str):
            self._named(metric, system)
        elif (weights := numeric(metric, "metric", f"{system.nv} positive numbers, or a matrix")).ndim == 1:
            if weights.shape != (system.nv,) or not np.all(np.isfinite(weights) & (weights > 0.0)):
                raise InputError(
                    f"metric must be {system.nv} positive numbers, one per coordinate, or a matrix; got"
                    f" {metric!r}."
                )
            self._diagonal(weights)
        else:
            metric_factor(metric, system.nv)
            self._W = np.array(metric, dtype=float)
            self._factor = _factor(self._W, columns)

    @property
    def fixed(self) -> Factor:
        """C^-T where it does not depend on the state: None for the identity, (nu,) or (nu, nu)."""
        return self._factor

    def factor(self, terms: Terms) -> Factor:
        """C^-T with u = C^-T x: None where it is the identity, (nu,) where diagonal, else (nu, nu)."""
        if self._plain or self._factor is not None:
            return self._factor
        return _factor(terms.M, self._columns)

    def weights(self, terms: Terms) -> Array | None:
        """The metric W (nv, nv) of velocities; None is the Euclidean one."""
        return terms.M if self.by_mass else self._W

    def _named(self, metric: str, system: Any) -> None:
        if metric not in NAMED:
            known = ", ".join(f'"{name}"' for name in NAMED)
            raise InputError(f"metric must be None, {known} or positive weights W; got {metric!r}.")
        if metric == "length":
            self._diagonal(system.units.unit**-2.0)  # (48)
        elif metric == "limits":
            self._diagonal(_largest(system, self._columns) ** 2)

    def _diagonal(self, weights: Array) -> None:
        self._W = np.diag(weights)
        self._factor = np.sqrt(weights[self._columns])


def _largest(system: Any, columns: Sequence[int] | Indices) -> Array:
    """Largest force of each actuated coordinate (nv,); 1 elsewhere."""
    size, unlimited = np.ones(system.nv), []
    for actuator in system.model.actuators:
        if actuator.index not in columns:
            continue
        most = max(abs(actuator.lower), abs(actuator.upper))
        if not 0.0 < most < np.inf:
            unlimited.append(actuator.name)
        size[actuator.index] = most
    if unlimited:
        raise InputError(
            'metric="limits" weighs forces by the limits of their actuators, but these have none:'
            f" {', '.join(unlimited)}. Declare them: spec.actuate(name, limits=(lower, upper))."
        )
    return size


def _factor(W: Array, columns: Indices) -> Array:
    """C^-T of S W^-1 S.T = C C.T."""
    from scipy.linalg import solve_triangular

    L = np.linalg.cholesky(W)
    half = solve_triangular(L, np.eye(len(W))[:, columns], lower=True)
    C = np.linalg.cholesky(half.T @ half)
    return np.ascontiguousarray(solve_triangular(C, np.eye(len(columns)), lower=True).T)


def applied(factor: Factor, x: Array) -> Array:
    """C^-T x for x (nu,) or (nu, k)."""
    if factor is None:
        return x
    if factor.ndim == 2:
        return np.asarray(factor @ x)
    return factor * x if x.ndim == 1 else factor[:, None] * x


def unapplied(factor: Factor, u: Array) -> Array:
    """x (nu,) of u = C^-T x."""
    if factor is None:
        return u
    return np.asarray(np.linalg.solve(factor, u)) if factor.ndim == 2 else u / factor


def into(G: Array, factor: Factor) -> Array:
    """G C^-T: a map of u as a map of x."""
    if factor is None:
        return G
    return G @ factor if factor.ndim == 2 else G * factor
