"""Queries about inertia under constraints: constraint inertia matrices, coupling of motion and force.

They need M and J of a pose only: `Mechanism` and `CustomSystem` share them.
"""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from ...arrays import OneState, positive
from ...dynamics.constraint_inertia import FORMS, ConstraintInertia, constraint_inertia
from ...dynamics.decoupling import Coupling, coupling, is_decoupled
from ...dynamics.terms import Terms, Units
from ...errors import InputError
from ...projection.decomposition import Decomposition

Metric = npt.ArrayLike | str | None


class HasTerms(Protocol):
    """A system with equations of motion."""

    nv: int
    units: Units

    def terms(self, q: npt.ArrayLike, v: npt.ArrayLike, t: float = 0.0) -> Terms: ...
    def decompose(self, q: OneState, metric: Metric = None, t: float = 0.0) -> Decomposition: ...


class InertiaQueries:
    """Queries that need M and J at one pose."""

    def constraint_inertia(
        self: HasTerms,
        q: npt.ArrayLike,
        form: str = "projection",
        gamma: float | str | None = None,
        *,
        metric: Metric = None,
        t: float = 0.0,
    ) -> ConstraintInertia:
        """The constraint inertia matrix at the pose q (nq,), with its condition number [Aghili2005] V-A.

        See `ConstraintInertia`. None of the forms needs the constraints to be independent.

        Args:
            q: positions (nq,) [rad, m].
            form: "projection", M_c of eq. (23); "symmetric", M_c' of eq. (28); "gamma", M_c'' of eq. (29).
            gamma: of form "gamma": a positive number, None for the 2-norm of M, "best" for the smallest
                condition number.
            metric: None (Euclidean, as printed there), "mass", or a matrix (nv, nv). Where lengths and angles
                mix, the Euclidean one depends on the units; np.diag(mech.units.unit**-2.0) does not.
            t: time [s].
        """
        if not isinstance(form, str) or form not in FORMS:
            raise InputError(f'form must be one of "projection", "symmetric", "gamma"; got {form!r}.')
        if gamma is not None and form != "gamma":
            raise InputError(f'gamma belongs to form="gamma"; leave it out with form={form!r}.')
        if isinstance(gamma, str) and gamma != "best":
            raise InputError(f'gamma must be a positive number, None or "best"; got {gamma!r}.')
        if gamma is not None and not isinstance(gamma, str):
            gamma = positive(gamma, "gamma")
        terms, pose = _at_rest(self, q, t)
        return constraint_inertia(terms.M, self.decompose(pose, metric, t), form, gamma)

    def coupling(self: HasTerms, q: npt.ArrayLike, t: float = 0.0, *, metric: Metric = None) -> Coupling:
        """How strongly the forces that move it load the constraints at q (nq,), mu of [Aghili2005] eq. (32).

        See `Coupling`. Which forces are tangential depends on the metric; None (Euclidean, as printed there),
        "mass", or a matrix (nv, nv), as of `decompose`.
        """
        terms, pose = _at_rest(self, q, t)
        return coupling(terms.M, self.decompose(pose, metric, t))

    def is_decoupled(self: HasTerms, q: npt.ArrayLike, t: float = 0.0, *, metric: Metric = None) -> bool:
        """Whether motion and constraint force are decoupled at q (nq,) in a metric: (1 - P) M P = 0.

        [Aghili2005] proposition 3; `coupling` says how far it is from that, and takes the same metric.
        """
        terms, pose = _at_rest(self, q, t)
        return is_decoupled(terms.M, self.decompose(pose, metric, t))


def _at_rest(system: HasTerms, q: npt.ArrayLike, t: float) -> tuple[Terms, OneState]:
    """The terms of one pose at rest, and that pose."""
    terms = system.terms(q, np.zeros(system.nv), t)
    if terms.M.ndim != 2:
        raise InputError(f"q must be one pose here, got an array of shape {np.shape(q)}.")
    pose: OneState = np.asarray(q, dtype=float)
    return terms, pose
