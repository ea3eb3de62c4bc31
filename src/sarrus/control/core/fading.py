"""Fading: inputs where the measured state leaves ranks in doubt, and what is said of it.

Near a singular pose the rank of the constraint rows, of the outputs or of a level cannot be told at a state
that is measured with errors. The kernel then evaluates the law for every rank that is possible, with weights
that change smoothly with the singular values (kernels/control/rank_weights.hpp); the inputs are the mean.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from ...arrays import nonnegative
from ...errors import InputError
from .input_selection import SelectedInputs
from .nearest_inputs import violated_limits
from .solution import Status

if TYPE_CHECKING:
    from .compiled_step import FoundStep

ENCODERS = (1e-5, 1e-3)  # accuracy of states [rad], [rad/s] that encoders of a robot reach
ROWS, LIMIT, REACH, LEVEL, OUTPUTS = range(5)  # DoubtKind of kernels/control/control_data.hpp
NAMED = 0.3  # rows with at least this part of the largest share of a lost direction are named
Chosen = TypeVar("Chosen", bound=SelectedInputs)


def accuracy(measurement: Any) -> tuple[float, float]:
    """(angle, speed) of `measurement`, checked."""
    try:
        angle, speed = measurement
    except (TypeError, ValueError):
        raise InputError(
            "measurement must be (angle, speed), the accuracy of measured states [rad, rad/s; times L for"
            f" lengths], such as (1e-5, 1e-3); got {measurement!r}."
        ) from None
    return nonnegative(angle, "angle of measurement"), nonnegative(speed, "speed of measurement")


def mean_inputs(selected: Chosen, step: FoundStep, choose: Callable[[FoundStep], Chosen]) -> Chosen:
    """The mean of the inputs for all ranks that are possible; `selected` are those for the likeliest."""
    if not step.others:
        return selected
    x, u = step.found.weight * selected.x, step.found.weight * selected.u
    status, active = [selected.status], [*selected.active]
    for other in step.others:
        one = choose(other)
        x, u = x + other.found.weight * one.x, u + other.found.weight * one.u
        status.append(one.status)
        active += one.active
    worst = min(status) if min(status) < 0 else max(status)
    limits = step.limits if selected.rows is None else selected.rows
    names = tuple(dict.fromkeys(active))
    mean = replace(selected, x=x, u=u, status=worst, active=names, rows=limits, by_kernel=False)
    if worst < 0 and limits is not None:
        mean.violations = violated_limits(limits, mean.chosen)
    return mean


def faded_parts(step: FoundStep, lost: bool, levels: Sequence[str] = ()) -> dict[str, float]:
    """What counts in part only at a step: {name of a row, level, "outputs" or "motors": share from 0 to 1}.

    Args:
        step: what was found.
        lost: whether rows are lost that are independent elsewhere.
        levels: names of levels of priority.
    """
    parts = {}
    doubts: list[tuple[int, int, float]] = step.found.doubts
    if lost or step.found.lost or _doubts_rows(doubts):
        parts.update(dict.fromkeys(_lost_rows(step), _share_of_rows(doubts)))
    for kind, level, share in doubts:
        if kind >= REACH:
            parts[_name_of_part(kind, level, levels)] = share
    return parts


def _doubts_rows(doubts: Sequence[tuple[int, int, float]]) -> bool:
    """Whether the rank of the constraint rows, or of their limit along the motion, is in doubt."""
    return any(kind in (ROWS, LIMIT) for kind, _, _ in doubts)


def _share_of_rows(doubts: Sequence[tuple[int, int, float]]) -> float:
    """Share with which lost rows count; 0 where they are left out."""
    return next((share for kind, _, share in doubts if kind == ROWS), 0.0)


def _name_of_part(kind: int, level: int, levels: Sequence[str]) -> str:
    """How a part is called: "motors", "outputs" or the name of a level."""
    return {REACH: "motors", OUTPUTS: "outputs"}.get(kind) or levels[level]


def _lost_rows(step: FoundStep) -> list[str]:
    """Names of the rows in the directions that are lost or about to be."""
    shares = step.found.lost_rows
    largest = float(shares.max(initial=0.0))
    named = shares >= NAMED * largest if largest > 0.0 else np.ones(len(shares), dtype=bool)
    return [str(name) for name, there in zip(step.units.row_names, named, strict=True) if there]


def describe(step: FoundStep, parts: Mapping[str, float], angle: float) -> str:
    """The same in words; "" where everything counts in full."""
    rows = [name for name in parts if name in step.units.row_names]
    said = []
    if rows:
        value = step.found.least_value
        how = f"singular value {value:.1e}" if value else "singular value 0"
        share = parts[rows[0]]
        counts = (
            f"count with weight {share:.2g}, and else their limit along the motion"
            if share
            else ("are left out, but for their limit along the motion")
        )
        said.append(f"near a singular pose ({how}, states are known to {angle:g}) {', '.join(rows)} {counts}")
    for name, share in parts.items():
        if name not in rows:
            said.append(f"a direction of the {name} that can hardly be moved counts with weight {share:.2g}")
    return "; ".join(said)


def with_fading(
    status: Status, message: str, step: FoundStep, parts: Mapping[str, float], angle: float
) -> tuple[Status, str]:
    """Status and message of a step with what they say of parts that fade out."""
    if not parts:
        return status, message
    status = status if status < 0 else Status.SINGULAR
    return status, "; ".join(filter(None, (message, describe(step, parts, angle))))
