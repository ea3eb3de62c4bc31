"""Measures as outputs of a linear model: how they change with the states and the inputs.

A measure is read at states displaced along each state of the model and projected onto the constraints;
differences of order six of what it gives have errors of some 1e-10. Forces and reactions are affine in the
inputs, so that one difference is exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..differences import slope_terms
from ..errors import InputError
from ..mechanism.describe.measure import Measure
from ..mechanism.describe.measured_states import MeasuredStates
from ..mechanism.mechanism import Mechanism

STEP = 1e-3  # of the differences: the largest displacement of any coordinate [rad], or times L [m]
TERMS = slope_terms(6)


class StateOfModel(NamedTuple):
    """Where a model is taken: the mechanism, q (nq,), v (nv,), applied force tau (nv,), time t [s]."""

    mech: Mechanism
    q: Array
    v: Array
    tau: Array
    t: float


def measure_slopes(
    at: StateOfModel, measure: Measure, T: Array, columns: npt.NDArray[np.int32]
) -> tuple[Array, Array]:
    """Derivatives of the entries of a measure (ny, nx) by the states and (ny, nw) by the inputs.

    Args:
        at: where.
        measure: which.
        T: [dq; dv] of the states, (2 nv, nx).
        columns: coordinates on which the inputs act (nw).
    """
    mech, nv = at.mech, at.mech.nv
    unit = mech.model.unit
    size = np.max(np.abs(T / np.tile(unit, 2)[:, None]), axis=0, initial=1e-12)
    h = STEP / np.maximum(size, 1e-12)
    base = _values(at, measure, at.q[None], at.v[None], at.tau[None])
    C = np.zeros((base.shape[1], T.shape[1]))
    for k, weight in TERMS:
        moved = k * h * T
        q = mech.integrate(np.tile(at.q, (T.shape[1], 1)), np.ascontiguousarray(moved[:nv].T))
        state = mech.project(q, at.v + moved[nv:].T, at.t)
        if np.any(state.status):
            raise InputError(
                "a measure as an output needs states around the operating point, and one of them cannot be"
                " closed: too near to a singular pose."
            )
        change = _values(at, measure, state.q, state.v, np.tile(at.tau, (len(q), 1))) - base
        if measure.continues:
            change = np.remainder(change + np.pi, 2.0 * np.pi) - np.pi
        C += (weight / h * change.T) if len(q) else 0.0
    pushed = at.tau + np.eye(nv)[columns]
    q, v = (np.tile(x, (len(columns), 1)) for x in (at.q, at.v))
    return C, (_values(at, measure, q, v, pushed) - base).T


def _values(at: StateOfModel, measure: Measure, q: Array, v: Array, tau: Array) -> Array:
    """Entries of the measure (B, ny)."""
    states = MeasuredStates(at.mech, q, v, np.full(len(q), at.t), tau)
    found = measure.values(states)
    return np.asarray(found.reshape(len(q), -1) if len(q) else np.zeros((0, 1)))
