"""Motions of a Mechanism by the formulations of NumPy, for comparison with the kernel."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ...blas_threads import one_blas_thread
from ...dynamics.forward import Motion, check_formulation, forward_terms, without_inertia
from ...dynamics.singular_limit import limit_rows
from ...dynamics.terms import Terms
from ..core.access import arguments_of

if TYPE_CHECKING:
    from ..mechanism import Mechanism


@one_blas_thread
def forward_by_terms(
    mech: Mechanism,
    state: tuple[Any, Any, Any],
    t: float,
    formulation: str,
    independent: Sequence[str] | None,
) -> Motion:
    """Motions of states q, v, tau by a NumPy formulation, state by state."""
    check_formulation(formulation, independent)
    q, v, tau = state
    force = np.zeros(mech.nv) if tau is None else tau
    states, batch = arguments_of(mech).states([(q, "q", True), (v, "v", False), (force, "tau", False)])
    terms = mech.terms(states[0], states[1], t)
    results = []
    for pose, speed, applied, *one in zip(*states, *vars(terms).values(), strict=True):
        limit = partial(limit_rows, mech.evaluator, pose, speed, t)
        options: dict[str, Any] = {"independent": independent, "lost_rows": limit}
        results.append(forward_terms(Terms(*one), applied, mech.units, formulation, **options))
    if results and not np.all(np.isfinite([found[0] for found in results])):
        raise without_inertia()
    sizes: list[tuple[int, ...]] = [(mech.nv,), (mech.nv,), (mech.nc,), (mech.nc,), ()]
    a, force, lam, unique, rank = (
        np.array([found[i] for found in results]).reshape((*batch, *size)) for i, size in enumerate(sizes)
    )
    pose, speed = states[0].reshape(*batch, mech.nq), states[1].reshape(*batch, mech.nv)
    found = a, force, lam, unique.astype(bool), rank if batch else int(rank)
    return Motion(*found, _q=pose, _v=speed, _model=mech.model)
