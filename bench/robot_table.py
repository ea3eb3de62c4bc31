"""The table of `python -m bench.robots`: one line for each robot, causes of differences, counts."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from sarrus.formats.reading.messages import HARMLESS

RIGHT = 1e-10
FEW = 10.0  # times the rounding below, within which two ways to the same number may differ
COLUMNS = ("in", "xml", "urdf", "sdf", "chain")
NO_ROBOT = ("no coordinate", "no joint of it moves", "needs a <model>")
STILL = "rows are still independent"  # of loops that the digits of a file leave undecided
CHANGED = r"(?:principal )?moments that violate[^;.]*|link without mass \(1e-14 kg was added\)"  # by save
NOT_FELT = (*HARMLESS, "contact", "joint that moves nothing", "projector", "gripper")  # not in M, h, J or a


@dataclass
class Row:
    """One robot: sizes, differences by column ("in", "xml", ...), and reasons where there is none."""

    name: str
    nv: int = 0
    rows: int = 0
    dof: int = 0
    nu: int = 0
    errors: dict[str, float] = field(default_factory=dict)
    reasons: list[str] = field(default_factory=list)
    judged: Counter[str] = field(default_factory=Counter)
    alone: set[str] = field(default_factory=set)  # columns in which no other library read the copy
    said: dict[str, str] = field(default_factory=dict)  # what load and save said, by column
    omitted: tuple[str, ...] = ()
    rounding: float = 0.0
    jointless: bool = False
    refused_too: str = ""  # a library of the format that cannot read it either

    def right(self, column: str) -> bool:
        """Whether a column was compared, and agrees."""
        return self.errors.get(column, 1.0) <= RIGHT

    def cause(self, column: str) -> str:
        """Why a column that was compared does not agree."""
        if self.errors[column] <= FEW * self.rounding:
            return "rounding"
        if STILL in self.said.get("in", ""):
            return "a redundant loop whose digits leave its rank undecided"
        if column == "in":
            felt = [one for one in self.omitted if not one.startswith(NOT_FELT)]
            return f"not modelled: {'; '.join(felt)}" if felt else "unexplained"
        found = re.search(CHANGED, self.said.get(column, ""))
        return f"save said: {found.group()}" if found else "unexplained"

    def wrong(self) -> dict[str, str]:
        """Columns that do not agree, and why."""
        return {column: self.cause(column) for column in self.errors if not self.right(column)}


def is_no_robot(row: Row) -> bool:
    """Whether nothing in a file moves: parts, scenes and furniture."""
    return any(text in reason for reason in row.reasons for text in NO_ROBOT)


def line(row: Row) -> str:
    """One line of the table."""
    values = (
        f"{row.errors[c]:7.0e}{'*' if c in row.alone else ' '}" if c in row.errors else f"{'-':>7} "
        for c in COLUMNS
    )
    return f"{row.name:48.48} {row.nv:4} {row.rows:5} {row.dof:4} {row.nu:4} " + " ".join(values)


def table(rows: list[Row]) -> str:
    """The table, and what it says."""
    head = f"{'robot':48} {'nv':>4} {'rows':>5} {'dof':>4} {'u':>4} "
    lines = [head + " ".join(f"{column:>7} " for column in COLUMNS)]
    moving = [row for row in rows if not is_no_robot(row)]
    robots = [row for row in moving if not row.jointless]
    for row in robots:
        lines.append(line(row))
        lines += [f"    {c}: differs by {row.errors[c]:.0e}: {why:.150}" for c, why in row.wrong().items()]
        lines += [f"    {reason:.200}" for reason in row.reasons]
        if row.refused_too:
            lines.append(f"    {row.refused_too} cannot read it either")
        if row.wrong():
            lines.append(f"    one spacing of floats in M and J changes accelerations by {row.rounding:.0e}")
    lines += summary(robots)
    lines += apart([row for row in moving if row.jointless])
    return "\n".join([*lines, f"files without anything that moves: {len(rows) - len(moving)}"])


def summary(rows: list[Row]) -> Iterator[str]:
    """Counts of robots."""
    tried = [row for row in rows if row.errors]
    yield f"robots, files with joints that move: {len(tried)}"
    for column in COLUMNS:
        compared = [row for row in tried if column in row.errors]
        right = len([row for row in compared if row.right(column)])
        alone = len([row for row in compared if column in row.alone])
        yield (
            f"{column}: {right} of {len(compared)} compared are right to {RIGHT:g}; not compared:"
            f" {len(tried) - len(compared)}; by our own reader alone: {alone}"
        )
    whole = [row for row in tried if not row.wrong()]
    every = len([row for row in whole if len(row.errors) == len(COLUMNS)])
    looped = [row for row in tried if row.rows]
    yield (
        f"right in every column that was compared: {len(whole)} of {len(tried)} ({every} in all five);"
        f" with loops or couplings: {len([row for row in whole if row.rows])} of {len(looped)}"
    )
    causes = Counter(
        why for row in tried for why in {re.split(r" \(|: ", one)[0] for one in row.wrong().values()}
    )
    yield f"robots with a difference, by cause: {', '.join(f'{c} {n}' for c, n in causes.items()) or 'none'}"
    judged: Counter[str] = sum((row.judged for row in tried), Counter())
    for name in ("in_mujoco", "in_pinocchio", "in_drake"):
        yield f"files compared {name.replace('_', ' ')}: {judged[name]} (not: {judged[f'not {name}']})"
    refused = [row for row in rows if not row.errors]
    too = Counter(row.refused_too for row in refused if row.refused_too)
    words = ", ".join(f"{name} {count}" for name, count in too.items()) or "none"
    yield f"not read: {len(refused)}; of these the library of the format cannot read either: {words}"


def apart(rows: list[Row]) -> Iterator[str]:
    """Counts of files without joints: single bodies, which are no robots."""
    counts = []
    for column in COLUMNS:
        compared = [row for row in rows if column in row.errors]
        counts.append(f"{column} {len([row for row in compared if row.right(column)])} of {len(compared)}")
    yield f"files with bodies and no joints, counted apart: {len(rows)}; right: {', '.join(counts)}"
    for row in rows:
        if row.wrong():
            yield f"    {row.name}: " + "; ".join(f"{c}: {why}" for c, why in row.wrong().items())
