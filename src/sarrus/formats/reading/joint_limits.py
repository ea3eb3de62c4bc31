"""Limits of joints in files: positions, efforts, and words about what they leave open."""

from __future__ import annotations

from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import Omitted

TURNS = 30.0  # [rad]: limits of hinges beyond it are probably degrees
ENDLESS = 1e9  # positions [rad, m] and efforts [N m, N] from there on stand for no limit in files
SHOWN = 4  # names of joints before "..."


def limit_ends(lower: float, upper: float, shift: float = 0.0) -> tuple[float | None, float | None]:
    """Limits of a coordinate that is larger than the file's by `shift`; None for numbers that mean none."""
    at_least, at_most = (x + shift if abs(x) < ENDLESS else None for x in (lower, upper))
    return at_least, at_most


def note_degrees(joint: Element, limits: tuple[float, float], omitted: Omitted) -> None:
    """A word where the limits of a hinge look like degrees: URDF and SDF count in radians."""
    largest = max((abs(x) for x in limits if abs(x) < ENDLESS), default=0.0)
    if largest > TURNS:
        name, line = joint.text("name"), joint.line
        omitted.remark(
            f"line {line}: a limit of {name!r} is {largest:g} rad; if these are degrees, the file is wrong"
        )


def effort_limits(effort: float) -> tuple[float, float] | None:
    """Limits of an actuator by the effort of its joint [N m, N]; None where that means none."""
    return (-effort, effort) if 0.0 < effort < ENDLESS else None


def note_passive(joints: list[str], without: str, omitted: Omitted) -> None:
    """A word about joints that are not actuated because the file does not say so."""
    if joints:
        shown = ", ".join(map(repr, joints[:SHOWN])) + (", ..." if len(joints) > SHOWN else "")
        omitted.remark(
            f"joints without {without} and not actuated: {shown}; spec.actuate(...) of load_spec declares"
            " actuators"
        )
