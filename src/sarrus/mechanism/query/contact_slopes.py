"""Derivatives of steps in which surfaces touch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...arrays import Array
from ...dynamics.step_derivatives import StepDerivatives
from ...errors import InputError, warn
from ..core.contact_refusals import TOUCHES
from ..core.core import State
from .sticking import held_by_contacts, without_surfaces

if TYPE_CHECKING:
    from ..mechanism import Mechanism

APART = 1e-6  # of one radian, L, and their rates: states of differences


def touched_slopes(
    mech: Mechanism, given: tuple[Any, ...], options: dict[str, Any], what: str, differences: bool = True
) -> StepDerivatives:
    """Derivatives of steps of states q, v, u, tau: exact where contacts stick or are open, else differences.

    Args:
        mech: the mechanism.
        given: q, v, u, tau.
        options: dt, t, method and substeps.
        what: who asks, for messages.
        differences: whether one-sided differences serve where contacts slide or change, with a warning;
            otherwise such states are refused.
    """
    q, v, u, tau = given
    force = mech._applied(q, tau, u, None)
    states, batch = mech._arguments.states([(q, "q", True), (v, "v", False), (force, "tau", False)])
    bare = type(mech)(without_surfaces(mech.model), mech.default)
    asked = _Asked(mech, bare, options, what, differences)
    parts = [_of_one(asked, tuple(x[i] for x in states)) for i in range(len(states[0]))]
    stacked = [np.stack([getattr(part, name) for part in parts]) for name in ("A", "B", "q", "v")]
    A, B, q1, v1 = (x.reshape(*batch, *x.shape[1:]) for x in stacked)
    return StepDerivatives(A, B, q1, v1, np.zeros(batch, dtype=np.int32))


@dataclass(frozen=True)
class _Asked:
    """A call of `touched_slopes`; bare: the mechanism without its surfaces."""

    mech: Mechanism
    bare: Mechanism
    options: dict[str, Any]
    what: str
    differences: bool


def _of_one(asked: _Asked, state: tuple[Array, ...]) -> StepDerivatives:
    mech, bare, options, what = asked.mech, asked.bare, asked.options, asked.what
    q, v, force = state
    after = mech.step(q, v, tau=force, **options)
    free = bare.step(q, v, tau=force, **options)
    if np.array_equal(free.q, after.q) and np.array_equal(free.v, after.v):
        return bare.step_derivatives(q, v, tau=force, **options)
    try:
        held = held_by_contacts(mech, State(q, v), force, options["t"], what)
        why = "" if held is not None and _sticks_on(mech, q, after) else "a contact changes its mode"
    except InputError as error:
        held, why = None, str(error).removeprefix(f"{what}: ").split(". ")[0]
    if held is None or why:
        if not asked.differences:
            raise InputError(
                f"{what}: {why}, and the step has no derivatives there. Take a state or a dt within which"
                ' contacts stick or stay open, contacts="ignore", or the one-sided differences of'
                " step_derivatives."
            )
        warn(f"{what}: {why}; derivatives there are one-sided differences.")
        return _differences(mech, state, after, options)
    found = held.step_derivatives(q, v, tau=force, **options)
    return StepDerivatives(found.A, found.B, np.array(after.q), np.array(after.v), found.status)


def _sticks_on(mech: Mechanism, q: Array, after: State) -> bool:
    """Whether the same contact points stick at the end of a step as were closed at its beginning."""
    closed = mech.contacts(q).gap <= TOUCHES * mech.length
    now = np.array(list(after.mode.contacts.values()))
    return bool(np.array_equal(closed, now != "open")) and "slip" not in now


def _differences(
    mech: Mechanism, state: tuple[Array, ...], after: State, options: dict[str, Any]
) -> StepDerivatives:
    """By steps of states that are moved along each direction, as far as what is closed lets them."""
    q, v, force = state
    n, columns = mech.nv, mech._actuated
    unit = np.asarray(mech.units.unit)
    apart = np.concatenate([APART * unit, APART * unit, np.full(len(columns), APART)])
    moved = np.diag(apart)
    forces = np.tile(force, (len(moved), 1))
    forces[:, columns] += moved[:, 2 * n :]
    closed = np.flatnonzero(mech.contacts(q).gap <= TOUCHES * mech.length)
    along = _along(mech, q, closed)
    qs = mech.integrate(np.tile(q, (len(moved), 1)), moved[:, :n] @ along.T)
    vs = [_along(mech, one, closed) @ (v + dv) for one, dv in zip(qs, moved[:, n : 2 * n], strict=True)]
    found = mech.step(qs, np.array(vs), tau=forces, **options)
    dq = mech.difference(np.tile(after.q, (len(moved), 1)), found.q)
    slopes = np.hstack([dq, found.v - after.v]).T / apart
    A, B = slopes[:, : 2 * n], slopes[:, 2 * n :]
    return StepDerivatives(A, B, np.array(after.q), np.array(after.v), np.zeros((), dtype=np.int32))


def _along(mech: Mechanism, q: Array, closed: Any) -> Array:
    """Projection (nv, nv) of velocities onto those that loops and closed contacts allow."""
    n = mech.nv
    found = mech.contacts(np.tile(q, (n, 1)), np.eye(n))
    normals = np.sum(found.speed[:, closed] * found.normal[:, closed], axis=-1).T
    terms = mech.terms(q, np.zeros(n))
    J = np.vstack([terms.J, normals])
    weighted = np.linalg.solve(terms.M, J.T)
    return np.asarray(np.eye(n) - weighted @ np.linalg.pinv(J @ weighted, hermitian=True, rcond=1e-12) @ J)
