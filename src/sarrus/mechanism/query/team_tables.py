"""A Mechanism as tables for teams of threads of a device (`kernels/team/`)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...dynamics.friction_refusals import refuse_dry_friction
from ...errors import InputError
from ...models.model import Model
from ...models.tree.layout import SIZES
from ...tracing.cuda_text import HALVES, ROUNDING, TESTED
from ...tracing.entries import Entries, indices_of, numbers_of
from ...tracing.program import ROUNDINGS, refuse_callables
from ...tracing.team_device import TeamTables
from ...tracing.team_plan import packed_updates, smallest_pivot, team_plan, turning_positions, used_kinds
from ..core.access import actuated_columns
from .recorded_code import NONE, references

if TYPE_CHECKING:
    from ..mechanism import Mechanism

LIGHT = 1e-10  # smallest pivot of M over its diagonal: less is no inertia
NEAR_SINGULAR = 1e-2  # as kernels/integrate/singular/pivots.hpp
NEWTON_STEPS = 6  # of positions, as in lanes of packs
# Without units: residual that counts as closed, and times so much where rounding allows no better; what
# velocities may miss where a step begins, and accelerations of rows that are left out, relative.
LIMITS = {"float64": (5e-13, 2.0, 1e-6, 1e-8), "float32": (2e-6, 10.0, 1e-3, 1e-3)}


def team_tables(
    mech: Mechanism, precision: str, width: int, what: str, entries: Entries = NONE
) -> TeamTables:
    """The tables of a mechanism, for teams of `width` threads."""
    model = mech.model
    refuse_callables(model, what)
    refuse_dry_friction(model, what)
    flexible = [name for name, force in model.forces if force.deflects]
    if flexible:
        raise InputError(
            f"{what} does not know flexible bodies, such as {', '.join(map(repr, flexible))} of"
            f' {model.name!r}; use device="cpu".'
        )
    formulas = [name for name, force in model.forces if force.by_formula]
    if formulas:
        raise InputError(
            f"{what} does not know formulas, which the forces {', '.join(map(repr, formulas))} of"
            f' {model.name!r} are; use device="cpu".'
        )
    for q, v in references(mech):
        kept = mech.mobility(q).rank if model.nc else 0
        terms = mech.terms(q, v)
        pivot, rows = smallest_pivot(model, terms.J, kept)
        measure = _measure(model, terms.M, terms.J, rows)
        if pivot > NEAR_SINGULAR and measure > 0.0:
            break
    else:
        raise InputError(
            f"{what} needs a reference state away from singular poses in which every coordinate moves"
            f" some mass, and the default state of mechanism {model.name!r} is none; give another:"
            " mech.with_default(q)."
        )
    real = np.dtype(precision)
    plan = team_plan(model, rows, width, NEWTON_STEPS, _turning(model, precision))
    lever = np.max(np.abs(terms.J) / np.asarray(mech.units.row_unit)[:, None], initial=0.0)
    rounding = ROUNDINGS[precision] * float(np.finfo(precision).eps) * float(lever)
    arrays = (
        np.array([model.sizes[name] for name in SIZES], dtype=np.int32),
        indices_of(model),
        numbers_of(model).astype(real),
        np.array(list(plan.sizes.values()), dtype=np.int32),
        np.concatenate(list(plan.fields.values())).astype(np.int32),
        np.array([pivot / measure, *LIMITS[precision], rounding], dtype=real),
        packed_updates(plan, real.itemsize),
        np.append(actuated_columns(mech), -1).astype(np.int32),
        np.array([mech.nu, TESTED, HALVES, ROUNDING * float(np.finfo(precision).eps)]),
    )
    return TeamTables(arrays, entries.positions(model), width, len(rows), used_kinds(model))


def _turning(model: Model, precision: str) -> npt.NDArray[np.bool_]:
    return turning_positions(model) & (precision == "float32")


def _measure(model: Model, M: Array, J: Array, kept: npt.NDArray[np.int64]) -> float:
    """What `smallest_pivot_of` in kernels/team/elimination.hpp compares with the smallest pivot of J.

    Before it is scaled; 0 where M has a coordinate without inertia.
    """
    heavy = np.sqrt(np.diag(M))
    if np.any(heavy == 0.0):
        return 0.0
    try:
        L = np.linalg.cholesky(M / np.outer(heavy, heavy))
    except np.linalg.LinAlgError:
        return 0.0
    if np.min(np.diag(L)) ** 2 < LIGHT:
        return 0.0
    if not len(kept):
        return 1.0
    rows = J[kept]
    length = np.linalg.norm(rows / np.asarray(model.row_unit)[kept, None] * np.asarray(model.unit), axis=1)
    seen = np.linalg.qr(np.linalg.solve(L, (rows / heavy).T), mode="r")
    share = np.abs(np.diag(seen)) / np.linalg.norm(rows / heavy, axis=1)
    return float(np.min(share * length))
