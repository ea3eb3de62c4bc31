"""lqr: a regulator that holds a mechanism at an equilibrium, from its minimal linear model.

    w = -K x,   K = R^-1 B.T P,   A.T P + P A - P B R^-1 B.T P + Q = 0         minimises int x.T Q x + w.T R w

x are the increments of the independent coordinates and their velocities: loops, passive joints and redundant
rows are dealt with by the linear model. A discrete model gives the discrete regulator.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array, fixed_shape
from ...errors import InputError
from ...linearization.model import LinearModel

AT_REST = 1e-6  # largest rate of the states [1/s, lengths divided by L] that counts as an equilibrium
SEMIDEFINITE = 1e-12  # smallest eigenvalue relative to the largest


@dataclass(frozen=True)
class Regulation:
    """One step of the law.

    Attributes:
        t: time [s].
        u: inputs of all actuators (nu,) [N m, N].
        x: increments of the states (nx,), by name in `errors`.
        feedback: -K x (nw,), before limits.
        cost: x.T P x, what the rest of the way will cost.
        active_limits: names of the actuators at their limits.
        errors: the states by name.
    """

    t: float
    u: Array
    x: Array
    feedback: Array
    cost: float
    active_limits: tuple[str, ...]
    errors: dict[str, float]


@dataclass(frozen=True, eq=False)
class Regulator:
    """u = u0 - K x, a controller for `simulate`: called as controller(t, q, v) -> u.

    Attributes:
        model: the linear model.
        K: gains (nw, nx).
        P: cost matrix (nx, nx).
        eigenvalues: of the closed loop, A - B K (nx,) [1/s], or factors per sample.
        u0: inputs that hold the equilibrium (nu,).
        inputs: where the inputs of the model stand in u (nw).
    """

    model: LinearModel
    K: Array
    P: Array
    eigenvalues: npt.NDArray[np.complex128]
    u0: Array
    inputs: tuple[int, ...]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        """Inputs of all actuators (nu,) [N m, N]."""
        return self._limited(-self.K @ self.model.state(q, v))[0]

    def solve(self, t: float, q: npt.ArrayLike, v: npt.ArrayLike) -> Regulation:
        """The same with every part in view; see `Regulation`."""
        x = self.model.state(q, v)
        feedback = -self.K @ x
        u, wanted = self._limited(feedback)
        names = self.model.mechanism.actuators
        limited = tuple(name for name, cut in zip(names, u != wanted, strict=True) if cut)
        errors = dict(zip(self.model.names, x.tolist(), strict=True))
        cost = float(x @ self.P @ x)
        return Regulation(t, u, x, feedback, cost, active_limits=limited, errors=errors)

    def _limited(self, feedback: Array) -> tuple[Array, Array]:
        """Inputs within the limits of the actuators, and before."""
        wanted = self.u0.copy()
        wanted[list(self.inputs)] += feedback
        actuators = self.model.mechanism.model.actuators
        return np.clip(wanted, [a.lower for a in actuators], [a.upper for a in actuators]), wanted


def lqr(model: LinearModel, Q: npt.ArrayLike, R: npt.ArrayLike) -> Regulator:
    """The linear-quadratic regulator about an equilibrium; see `Regulator`.

    Args:
        model: from `sr.linearize` at an equilibrium (form "minimal"), continuous or discretized.
        Q: weight of the states: a number, (nx,) or (nx, nx), positive semidefinite.
        R: weight of the inputs: a number, (nw,) or (nw, nw), positive definite.

    Raises:
        InputError: the point is no equilibrium, an input of the model is no actuator, or the inputs cannot
            stabilize it (the message says which motion they do not reach).

    Example:

        >>> import numpy as np
        >>> import sarrus as sr
        >>> model = sr.linearize(sr.library.pendulum(), q=[np.pi / 2])  # upright
        >>> bool(np.all(sr.control.lqr(model, np.eye(2), [[0.1]]).eigenvalues.real < 0))
        True
    """
    if not isinstance(model, LinearModel):
        raise InputError(f"lqr takes a LinearModel of sr.linearize, got {type(model).__name__}.")
    if model.form != "minimal":
        raise InputError(f'lqr needs a model of form="minimal", got form="{model.form}".')
    _require_equilibrium(model)
    inputs = _actuators(model)
    weight_x = _weight(Q, len(model.names), "Q", False)
    weight_u = _weight(R, len(model.inputs), "R", True)
    P = _riccati(model, weight_x, weight_u)
    if model.dt is None:
        K = np.linalg.solve(weight_u, model.B.T @ P)
    else:
        K = np.linalg.solve(weight_u + model.B.T @ P @ model.B, model.B.T @ P @ model.A)
    closed = np.linalg.eigvals(model.A - model.B @ K).astype(complex)
    return Regulator(model, np.asarray(K, dtype=float), P, closed, np.array(model.point.u), inputs)


def _require_equilibrium(model: LinearModel) -> None:
    if model.point.imbalance > AT_REST:
        raise InputError(
            "lqr holds an equilibrium, and the point of this model is none: it moves or accelerates by"
            f" {model.point.imbalance:.3g} (rad or L, per s or s^2). Find one with sr.equilibrium(mech, q, u)"
            " and linearize at its q and u."
        )


def _actuators(model: LinearModel) -> tuple[int, ...]:
    """Where the inputs of the model stand in u."""
    known = model.mechanism.actuators
    missing = [name for name in model.inputs if name not in known]
    if missing or not model.inputs:
        said = f"{missing} are none" if missing else "the model has no inputs"
        raise InputError(f"lqr drives actuators, {list(known)}; {said}. Linearize with inputs= some of them.")
    return tuple(known.index(name) for name in model.inputs)


def _weight(value: Any, size: int, what: str, definite: bool) -> Array:
    shape = {0: (), 1: (size,)}.get(np.ndim(value), (size, size))
    given = fixed_shape(value, what, shape)
    W = given if given.ndim == 2 else np.diag(np.broadcast_to(given, size))
    if np.max(np.abs(W - W.T), initial=0.0) > 1e-9 * np.max(np.abs(W), initial=0.0):
        raise InputError(f"{what} must be symmetric, got {value!r}.")
    values = np.linalg.eigvalsh(W)
    least, largest = float(values.min(initial=np.inf)), float(np.max(np.abs(values), initial=0.0))
    if least < -SEMIDEFINITE * largest or (definite and least <= SEMIDEFINITE * largest):
        rule = "positive definite" if definite else "positive semidefinite"
        raise InputError(f"{what} must be {rule}; its smallest eigenvalue is {least:.3g}.")
    return np.asarray(W, dtype=float)


def _riccati(model: LinearModel, Q: Array, R: Array) -> Array:
    """The stabilizing solution, or the reason why there is none."""
    from scipy.linalg import solve_continuous_are, solve_discrete_are

    solve = solve_continuous_are if model.dt is None else solve_discrete_are
    try:
        return np.asarray(solve(model.A, model.B, Q, R))
    except (np.linalg.LinAlgError, ValueError):
        pass
    reached = model.controllability()
    if not reached.complete:
        raise InputError(
            f"no regulator: {reached.message} Add actuators (inputs) that move them, or damping that does."
        )
    raise InputError("no regulator: Q sees too little of the motion; weight more of the states.")
