"""Limits, damping and friction of the axes of SDF joints."""

from __future__ import annotations

import math
from typing import Any

from sarrus.formats.reading.joint_limits import limit_ends, note_degrees
from sarrus.formats.reading.markup import Element
from sarrus.formats.reading.messages import Omitted
from sarrus.models.tree.joint import Joint


def bound(limit: Element, tag: str, default: float) -> float:
    """A limit, which may be infinite; the default where there is none."""
    text = limit.word(tag, "").strip().lower()
    return float(text) if text.lstrip("+-") in ("inf", "infinity") else limit.value(tag, default)


def axis_properties(
    joint: Element, made: Joint, start: tuple[float, ...], omitted: Omitted
) -> dict[str, Any]:
    """Damping, friction and limits of the axes."""
    found: dict[str, list[Any]] = {"damping": [], "friction": [], "limits": []}
    for k, tag in enumerate(("axis", "axis2")[: made.nv] if not made.has_quaternion else ()):
        axis = joint.one(tag)
        dynamics = axis.first("dynamics")
        for what in ("damping", "friction"):
            found[what].append(0.0 if dynamics is None else dynamics.value(what, 0.0))
        found["limits"].append(_limits(joint, axis, start[k] if k < len(start) else 0.0, omitted))
    return {name: tuple(values) for name, values in found.items() if values}


def _limits(joint: Element, axis: Element, shift: float, omitted: Omitted) -> tuple[Any, Any]:
    """Limits of an axis; None where it has none."""
    limit, kind = axis.first("limit"), joint.text("type")
    lower = -math.inf if limit is None else bound(limit, "lower", -math.inf)
    upper = math.inf if limit is None else bound(limit, "upper", math.inf)
    if lower > upper:
        axis.fail(f"lower must not exceed upper, got {lower:g} and {upper:g}")
    if kind != "prismatic":
        note_degrees(joint, (lower, upper), omitted)
    limited = kind != "continuous" and lower < upper
    return limit_ends(lower, upper, shift) if limited else (None, None)
