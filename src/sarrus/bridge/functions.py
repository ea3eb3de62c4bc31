"""Functions of a mechanism with their derivatives, as arrays: what bridges to automatic differentiation wrap.

Each works on batches, (B, n) arrays in and out, float64. States are normalized and projected first, so that
states off the constraints are accepted; derivatives are those of the composition.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.bridge.actuator_slopes import input_slopes
from sarrus.errors import InputError
from sarrus.mechanism.core.core import State
from sarrus.mechanism.mechanism import Mechanism
from sarrus.mechanism.query.position_rates import increments_of_positions, rates_of_positions
from sarrus.mechanism.query.projected_slopes import projected_slopes

Arrays = tuple[Array, ...]
Blocks = list[list[Array]]
Jacobian = Callable[[Arrays], Blocks]
Sizes = tuple[tuple[int, ...], tuple[int, ...]]


Shapes = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class Function:
    """A function of several arrays that gives several arrays, with its derivatives, on batches.

    Attributes:
        name: for messages.
        shapes: of the arguments; outputs: of the results; both without the batch axis in front.
        value: results of arguments.
        pushforward: changes of the results, of arguments and their changes.
        pullback: gradients by the arguments, of arguments and gradients by the results.
        jacobian: blocks [result][argument] (B, m, n) of vectors; None where there are matrices.
    """

    name: str
    shapes: Shapes
    outputs: Shapes
    value: Callable[[Arrays], Arrays]
    pushforward: Callable[[Arrays, Arrays], Arrays]
    pullback: Callable[[Arrays, Arrays], Arrays]
    jacobian: Jacobian | None = None


def of_jacobian(name: str, sizes: Sizes, value: Callable[[Arrays], Arrays], jacobian: Jacobian) -> Function:
    """A function of vectors whose Jacobian is known; sizes: of arguments and of results."""
    shapes, outputs = (tuple((n,) for n in part) for part in sizes)
    return Function(
        name,
        shapes=shapes,
        outputs=outputs,
        value=value,
        pushforward=pushed(jacobian),
        pullback=pulled(jacobian),
        jacobian=jacobian,
    )


def pushed(jacobian: Jacobian) -> Callable[[Arrays, Arrays], Arrays]:
    """A pushforward by the whole Jacobian."""

    def pushforward(given: Arrays, changes: Arrays) -> Arrays:
        return tuple(
            _sum(times(J, dx) for J, dx in zip(row, changes, strict=True)) for row in jacobian(given)
        )

    return pushforward


def pulled(jacobian: Jacobian) -> Callable[[Arrays, Arrays], Arrays]:
    """A pullback by the whole Jacobian."""

    def pullback(given: Arrays, gradients: Arrays) -> Arrays:
        columns = zip(*jacobian(given), strict=True)
        return tuple(
            _sum(times(transposed(J), g) for J, g in zip(column, gradients, strict=True))
            for column in columns
        )

    return pullback


@dataclass(frozen=True)
class Stepping:
    """How steps are taken: length [s], time at the beginning [s], method and number of substeps."""

    dt: float
    t: float
    method: str
    substeps: int


class Functions:
    """The functions of one mechanism that bridges offer."""

    def __init__(self, mech: Mechanism, contacts: str) -> None:
        self.mech, self.contacts = mech, contacts

    def project(self, t: float) -> Function:
        """(q, v) -> (q, v), nearest on the constraints."""
        mech = self.mech
        sizes = (mech.nq, mech.nv)

        def value(given: Arrays) -> Arrays:
            return tuple(self._projected(given, t))

        def jacobian(given: Arrays) -> Blocks:
            after = self._projected(given, t)
            return _blocks(_leave(mech, after.q) @ self._first(given, after, t), sizes, sizes)

        return of_jacobian("project", (sizes, sizes), value, jacobian)

    def step(self, how: Stepping) -> Function:
        """(q, v, u) -> (q, v) after a step."""
        first, then = self.project(how.t), self.consistent_step(how)

        def value(given: Arrays) -> Arrays:
            return then.value((*first.value(given[:2]), given[2]))

        def pushforward(given: Arrays, changes: Arrays) -> Arrays:
            at, moved = first.value(given[:2]), first.pushforward(given[:2], changes[:2])
            return then.pushforward((*at, given[2]), (*moved, changes[2]))

        def pullback(given: Arrays, gradients: Arrays) -> Arrays:
            *by_state, by_u = then.pullback((*first.value(given[:2]), given[2]), gradients)
            return *first.pullback(given[:2], tuple(by_state)), by_u

        def jacobian(given: Arrays) -> Blocks:
            last = _require(then.jacobian)((*first.value(given[:2]), given[2]))
            start = _require(first.jacobian)(given[:2])
            return [[*_chained(row[:2], start), row[2]] for row in last]

        return replace(then, value=value, pushforward=pushforward, pullback=pullback, jacobian=jacobian)

    def consistent_step(self, how: Stepping) -> Function:
        """(q, v, u) -> (q, v) after a step, of states on the constraints."""
        mech = self.mech
        sizes, outputs = (mech.nq, mech.nv, mech.nu), (mech.nq, mech.nv)
        options = {**vars(how), "contacts": self.contacts}

        def value(given: Arrays) -> Arrays:
            return _alone(mech.step, given, **options)

        def jacobian(given: Arrays) -> Blocks:
            A, B, q1 = _alone(lambda *x: _step_slopes(mech, x, options), given)
            slopes = np.concatenate([A @ _enter(mech, given[0]), B], axis=-1)
            return _blocks(_leave(mech, q1) @ slopes, outputs, sizes)

        def pullback(given: Arrays, gradients: Arrays) -> Arrays:
            def vjp(q: Array, v: Array, u: Array, by_q: Array, by_v: Array) -> Arrays:
                return mech.step_vjp(q, v, u, cotangent=(by_q, by_v), **options)

            return _alone(vjp, (*given, *gradients))

        plain = of_jacobian("step", (sizes, outputs), value, jacobian)
        return replace(plain, pullback=pullback)

    def acceleration(self, t: float) -> Function:
        """(q, v, tau) -> a of the projected state."""
        mech = self.mech
        sizes = (mech.nq, mech.nv, mech.nv)

        def value(given: Arrays) -> Arrays:
            return (mech.acceleration(*self._projected(given, t), given[2], t),)

        def jacobian(given: Arrays) -> Blocks:
            after = self._projected(given, t)
            found = mech.derivatives(*after, given[2], t=t)
            state = np.concatenate([found.a_q, found.a_v], axis=-1) @ self._first(given, after, t)
            return _blocks(np.concatenate([state, found.a_tau], axis=-1), (mech.nv,), sizes)

        return of_jacobian("acceleration", (sizes, (mech.nv,)), value, jacobian)

    def inverse_dynamics(self, t: float) -> Function:
        """(q, v, a) -> u of least norm, of the projected state."""
        mech = self.mech
        sizes = (mech.nq, mech.nv, mech.nv)

        def value(given: Arrays) -> Arrays:
            return (np.asarray(mech.inverse_dynamics(*self._projected(given, t), given[2], t).u),)

        def jacobian(given: Arrays) -> Blocks:
            after = self._projected(given, t)
            state, by_a = input_slopes(mech, after, given[2], t)
            slopes = np.concatenate([state @ self._first(given, after, t), by_a], axis=-1)
            return _blocks(slopes, (mech.nu,), sizes)

        return of_jacobian("inverse_dynamics", (sizes, (mech.nu,)), value, jacobian)

    def assemble(self, fixed: tuple[str, ...], guess: Array | None, t: float) -> Function:
        """(positions of the coordinates `fixed`,) -> q of the pose that they determine."""
        mech = self.mech
        columns = [mech.model.tree.scalar(name, "assemble")[1] for name in fixed]

        def value(given: Arrays) -> Arrays:
            found = [_pose(mech, fixed, x, guess, t) for x in given[0]]
            return (np.array(found).reshape(-1, mech.nq),)

        def jacobian(given: Arrays) -> Blocks:
            poses = value(given)[0]
            along = np.array([_pose_slopes(mech, q, columns, t) for q in poses])
            return [[rates_of_positions(mech.model, poses) @ along]]

        return of_jacobian("assemble", ((len(fixed),), (mech.nq,)), value, jacobian)

    def _projected(self, given: Arrays, t: float) -> State:
        return State(*_alone(self.mech.project, given[:2], t=t))

    def _first(self, given: Arrays, after: State, t: float) -> Array:
        """Derivatives (B, 2 nv, nq + nv) of [increment; v] after projection by the entries of q and v."""
        mech, (q, v) = self.mech, given[:2]
        unit = mech.integrate(q, np.zeros_like(v))
        return np.asarray(projected_slopes(mech, unit, v, after, t) @ _enter(mech, q))


def times(J: Array, x: Array) -> Array:
    """J x, with batch axes."""
    return np.asarray(np.einsum("...ij,...j->...i", J, x))


def transposed(J: Array) -> Array:
    """J.T, with batch axes."""
    return np.swapaxes(J, -1, -2)


def _sum(parts: Iterable[Array]) -> Array:
    first, *others = parts
    for part in others:
        first = first + part
    return first


def _chained(row: list[Array], start: Blocks) -> list[Array]:
    """A row of blocks times blocks."""
    return [_sum(J @ S for J, S in zip(row, column, strict=True)) for column in zip(*start, strict=True)]


def _alone(call: Callable[..., Any], given: Arrays, **options: Any) -> tuple[Any, ...]:
    """Results of a call for a batch; one state is asked for alone, so that what is wrong with it raises."""
    if len(given[0]) != 1:
        return tuple(call(*given, **options))
    return tuple(np.asarray(x)[None] for x in call(*(x[0] for x in given), **options))


def _step_slopes(mech: Mechanism, given: Arrays, options: dict[str, Any]) -> Arrays:
    q, v, u = given
    found = mech.step_derivatives(q, v, u, **options)
    return found.A, found.B, found.q


def _require(jacobian: Jacobian | None) -> Jacobian:
    assert jacobian is not None
    return jacobian


def _enter(mech: Mechanism, q: Array) -> Array:
    """Changes (B, 2 nv, nq + nv) of [increment; velocity] with the entries of q and v."""
    enter = np.zeros((len(q), 2 * mech.nv, mech.nq + mech.nv))
    enter[:, : mech.nv, : mech.nq] = increments_of_positions(mech.model, q)
    enter[:, mech.nv :, mech.nq :] = np.eye(mech.nv)
    return enter


def _leave(mech: Mechanism, q: Array) -> Array:
    """Changes (B, nq + nv, 2 nv) of the entries of q and v along [increment; velocity]."""
    leave = np.zeros((len(q), mech.nq + mech.nv, 2 * mech.nv))
    leave[:, : mech.nq, : mech.nv] = rates_of_positions(mech.model, q)
    leave[:, mech.nq :, mech.nv :] = np.eye(mech.nv)
    return leave


def _blocks(J: Array, outputs: tuple[int, ...], inputs: tuple[int, ...]) -> Blocks:
    rows = np.split(J, np.cumsum(outputs)[:-1], axis=-2)
    return [np.split(row, np.cumsum(inputs)[:-1], axis=-1) for row in rows]


def _pose(mech: Mechanism, fixed: tuple[str, ...], x: Array, guess: Array | None, t: float) -> Array:
    held = {name: float(one) for name, one in zip(fixed, x, strict=True)}
    found = mech.assemble(mech.default.q if guess is None else guess, held, t)
    if not found.success:
        raise InputError(f"assemble: {found.message}")
    return np.asarray(found.q)


def _pose_slopes(mech: Mechanism, q: Array, columns: list[int], t: float) -> Array:
    """Increments (nv, k) of the pose with positions of coordinates: J dq = 0 beside them."""
    J = mech.terms(q, np.zeros(mech.nv), t).J / mech.units.row_unit[:, None]
    J = (J * mech.units.unit)[mech.model.holonomic.astype(bool)]
    held = np.eye(mech.nv)[columns]
    rows = np.vstack([J, held])
    values = np.linalg.svd(rows, compute_uv=False)
    tol = mech.units.rank_tol
    if np.sum(values > tol) < mech.nv:
        free = mech.nv - int(np.sum(values > tol))
        raise InputError(
            f"assemble: the positions given leave {free} freedoms of {mech.name!r}, so that the pose has no"
            " derivatives by them. Fix as many coordinates as there are freedoms (mech.mobility(q).dof), or"
            " take project, which has derivatives by the whole guess."
        )
    if np.sum(np.linalg.svd(J, compute_uv=False) > tol) + len(columns) > mech.nv:
        raise InputError(
            f"assemble: the positions given are more than {mech.name!r} has freedoms; loops would open where"
            " one of them changes, and there are no derivatives. Fix fewer coordinates."
        )
    unit = np.asarray(mech.units.unit)
    right = np.vstack([np.zeros((len(J), len(columns))), np.diag(1.0 / unit[columns])])
    return np.asarray(unit[:, None] * (np.linalg.pinv(rows, rcond=1e-12) @ right))
