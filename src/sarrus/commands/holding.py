"""`sarrus hold`: motor and joint forces at rest."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.errors import InputError
from sarrus.mechanism.query.holding import WRENCH, Holding

from .answers import Answer, found, values
from .motion import PICTURES, table

Span = tuple[str, float | None, float | None, int]


def hold(name: str, path: Span | None, by: list[str], fixed: list[str], out: str | None) -> Answer:
    """Forces at a pose, or along a coordinate (name, first value, last value, number)."""
    mech = found(name)
    held_still = values(fixed, "--fixed") or None
    if path is None:
        pose: Any = mech.assemble(mech.default.q, held_still) if held_still else mech.default
        if held_still and not pose.success:
            raise InputError(pose.message)
        asked: Any = pose.q
    else:
        coordinate, start, end, points = path
        if start is None or end is None:
            raise InputError(f"hold along {coordinate!r} needs --from and --to.")
        asked = mech.sweep(coordinate, np.linspace(start, end, points), fixed=held_still)
        if not asked.success:
            raise InputError(asked.message)
    holding = mech.hold(asked, by=by or None, frame="world")
    data: dict[str, Any] = {"message": holding.message, "columns": columns_of(holding)}
    text = table(data["columns"])
    if out is not None:
        if Path(out).suffix.lower() in PICTURES:
            np.ravel(holding.plot())[0].figure.savefig(out, bbox_inches="tight", dpi=150)
        else:
            Path(out).write_text(text, encoding="utf-8")
        data["written"], text = out, f"{holding.message} {out}"
    return Answer(text.rstrip("\n"), data, None if holding.success else holding.message)


def columns_of(holding: Holding) -> dict[str, Array]:
    """Swept coordinates, motors and joint wrenches in world axes."""
    names, swept = holding.index
    columns = dict(zip(names, swept.reshape(len(holding), -1).T, strict=True)) if names else {}
    columns |= holding.motors
    for joint, wrench in holding.reactions.items():
        columns |= {f"{joint}[{one}]": x for one, x in zip(WRENCH, wrench.T, strict=True)}
    return columns
