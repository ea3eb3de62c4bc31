"""Moments across, and forces along, the axes of joints whose BearingFriction does not count them.

A bearing as wide as its journal's diameter 2 r carries a force F and a moment M with F/2 + M/(2 r) at one
edge and F/2 - M/(2 r) at the other. Up to M = r F both press the same way and mu r F is the whole friction.
Beyond that the resultant lies outside the bearing and friction grows with M. Of a slide without a length the
length L of the mechanism stands for r, in the first state alone: a face that presses on another carries a
resultant that wanders.

A hinge carries forces along its axis on a shoulder, whose radius is at least that of the journal. Where they
are larger than those across, most of the friction is missing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..arrays import Array
from ..models.model import Model

ROUNDING = 1e-9  # of the largest force times L: moments below are rounding


WAYS_OUT = {
    "moments across": "give length=, the distance of two bearings or length of a guide, and middle= (where)",
    "forces along": "add the ThrustFriction of its collar or thrust bearing",
}


def ignored_loads(model: Model, wrench: Callable[[str], Array]) -> str:
    """Which joints carry loads that their friction ignores, in a sentence for each kind; "" if none does.

    Args:
        model: whose joints.
        wrench: reaction (n, 6) of the joint of a body by its name, in the axes of the body.
    """
    found: dict[str, list[str]] = {what: [] for what in WAYS_OUT}
    collars = {on for _, force in model.forces if force.along_axis for on in force.coordinates()}
    weight = sum(body.mass for body in model.bodies) * max(1.0, float(np.linalg.norm(model.gravity)))
    for name, force in model.forces:
        given: Any = force
        if not (force.by_load and given.across_axis):
            continue
        owner = model.tree.by_name.owners[model.tree.coordinate(given.coordinate, "")]
        axis, loads = _axis(owner.joint), wrench(owner.name).reshape(-1, 6)
        said = {"moments across": _moments(given, float(model.length), axis, loads)}
        if given.coordinate not in collars:
            said["forces along"] = _thrust(given, ROUNDING * weight, axis, loads)
        for what, load in said.items():
            found[what] += [f"{name!r} (joint {owner.name!r}: {load})"] if load else []
    return " ".join(
        f"{what} the axis that BearingFriction ignores: {', '.join(joints)}. Friction is too small there:"
        f" {WAYS_OUT[what]}."
        for what, joints in found.items()
        if joints
    )


def _axis(hinge_or_slide: Any) -> Array:
    """Unit vector of the axis of a joint in the axes of its body, (3,)."""
    return np.asarray(hinge_or_slide.direction)


def _across(axis: Array, x: Array) -> Array:
    """Size (n,) of what of vectors x (n, 3) is across the axis."""
    return np.asarray(np.linalg.norm(np.cross(axis, x), axis=-1))


def _moments(given: Any, L: float, axis: Array, loads: Array) -> str:
    """The largest moment that friction without length ignores; "" if there is none."""
    loads = loads if given.radius else loads[:1]
    F, M = _across(axis, loads[:, :3]), _across(axis, loads[:, 3:])
    excess = M - (given.radius or L) * F
    if given.length or not np.max(excess, initial=0.0) > ROUNDING * L * np.max(F, initial=0.0):
        return ""
    k = int(np.argmax(excess))
    return f"{M[k]:.4g} N m beside {F[k]:.4g} N"


def _thrust(given: Any, least: float, axis: Array, loads: Array) -> str:
    """The largest force along a hinge; "" if none is larger than that across and `least`."""
    F, along = _across(axis, loads[:, :3]), np.abs(loads[:, :3] @ axis)
    if not given.radius or not np.max(along, initial=0.0) > np.max(F, initial=least):
        return ""
    k = int(np.argmax(along))
    return f"{along[k]:.4g} N beside {F[k]:.4g} N"
