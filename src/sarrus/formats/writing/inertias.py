"""Inertias of the bodies of a written file: those of the mechanism, with what helper bodies take of them.

MuJoCo, Gazebo and Drake refuse a body whose largest principal moment exceeds the sum of the two others, which
exporters write for small fixed parts. Only what moves as one piece matters for the motion, so the parts of a
welded piece are then lumped into its heaviest one, where the sum is possible.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np

from sarrus.arrays import Array
from sarrus.formats.reading.messages import Omitted, phrase
from sarrus.formats.writing.bodies import WrittenBodies
from sarrus.formats.writing.helper_bodies import HELPER, Helper, rigid_groups
from sarrus.mechanism.mechanism import Mechanism
from sarrus.models.base.pose import Pose
from sarrus.models.tree.bodies import Body

ROUNDING = 1e-9  # violation of the triangle inequality, relative to the largest moment, that is rounding
NOT_A_MOMENT = 1e-14  # [kg m^2]: smaller ones are rounding of the exporter


@dataclass(frozen=True)
class Inertia:
    """Mass [kg], centre of mass (3,) [m], inertia about it (3, 3) [kg m^2], in the frame of its body."""

    mass: float
    com: Array
    inertia: Array

    @property
    def is_possible(self) -> bool:
        """Whether no principal moment exceeds the sum of the two others."""
        small, middle, large = np.linalg.eigvalsh(self.inertia)
        if large <= NOT_A_MOMENT:
            return True
        return bool(small >= -ROUNDING * large and small + middle >= (1.0 - ROUNDING) * large)


NOTHING = Inertia(0.0, np.zeros(3), np.zeros((3, 3)))


def written_inertias(
    mech: Mechanism, written: WrittenBodies, helpers: list[Helper], omitted: Omitted
) -> dict[str, Inertia]:
    """Inertias in the file, by name: those of the mechanism, and of the helpers that have a donor.

    Args:
        mech: The mechanism.
        written: Its bodies in the file.
        helpers: Bodies that are added.
        omitted: Where lumped parts are named.
    """
    counts = Counter(helper.donor[0] for helper in helpers if helper.donor is not None)
    found = _lumped(mech, written, omitted)
    moments = {name: _second_moments(found[name]) for name in counts}
    left = {name: Sigma.copy() for name, Sigma in moments.items()}
    for helper in helpers:
        if helper.donor is None:
            continue
        name, X = helper.donor
        share, called, x = 1.0 / (1 + counts[name]), helper.name + HELPER, np.append(X.xyz, 1.0)
        if helper.welded:
            given, back = share * moments[name], X.inverse().matrix
            found[called] = _inertia(back @ given @ back.T)
        else:
            point = share * _removable(moments[name], x)
            given, found[called] = point * np.outer(x, x), Inertia(point, np.zeros(3), np.zeros((3, 3)))
        left[name] -= given
    return found | {name: _inertia(Sigma) for name, Sigma in left.items()}


def _lumped(mech: Mechanism, written: WrittenBodies, omitted: Omitted) -> dict[str, Inertia]:
    """Declared inertias, with welded pieces lumped where a part is impossible and the sum is not."""
    found = {
        body.name: Inertia(body.mass, np.array(body.com), np.array(body.inertia_rows))
        for body in mech.model.bodies[1:]
    }
    impossible = [name for name, one in found.items() if not one.is_possible]
    groups, moved = rigid_groups(mech) if impossible else {}, []
    for name in impossible:
        group = [body for body in groups[name] if body.mass or body.name == name]
        if not group:  # it never moves
            found[name] = NOTHING
            continue
        into = max(group, key=lambda body: body.mass).name
        total = _sum(group, into, found, written)
        if len(group) > 1 and total.is_possible:
            found |= dict.fromkeys((body.name for body in group), NOTHING) | {into: total}
            moved.append(name)
    if moved:
        omitted.remark(
            f"{phrase('moments of inertia that violate the triangle inequality', moved)} are lumped with the"
            " parts that they are welded to"
        )
    return found


def _sum(group: list[Body], into: str, inertias: dict[str, Inertia], written: WrittenBodies) -> Inertia:
    """Inertia of a welded piece in the frame of one of its bodies."""
    total, back = np.zeros((4, 4)), written.poses[into].inverse()
    for body in group:
        X = (back @ written.poses[body.name]).matrix if body.name != into else Pose().matrix
        total += X @ _second_moments(inertias[body.name]) @ X.T
    return _inertia(total) if total[3, 3] > 0.0 else NOTHING


def _second_moments(body: Inertia) -> Array:
    """Sigma = integral of (r, 1) (r, 1).T dm, (4, 4)."""
    Sigma = np.zeros((4, 4))
    around = 0.5 * np.trace(body.inertia) * np.eye(3) - body.inertia
    Sigma[:3, :3] = around + body.mass * np.outer(body.com, body.com)
    Sigma[:3, 3] = Sigma[3, :3] = body.mass * body.com
    Sigma[3, 3] = body.mass
    return Sigma


def _inertia(Sigma: Array) -> Inertia:
    mass, com = float(Sigma[3, 3]), Sigma[:3, 3] / Sigma[3, 3]
    values, axes = np.linalg.eigh(Sigma[:3, :3] - mass * np.outer(com, com))
    values[np.abs(values) < 1e-14 * np.trace(Sigma[:3, :3])] = (
        0.0  # rounding, of point masses and thin bodies
    )
    around = (axes * values) @ axes.T
    return Inertia(mass, com, np.trace(around) * np.eye(3) - 0.5 * (around + around.T))


def _removable(Sigma: Array, x: Array) -> float:
    """The largest point mass [kg] at x = (p, 1) within a body; a millionth of its mass where none is."""
    values, vectors = np.linalg.eigh(Sigma)
    parts = vectors.T @ x
    inside = values > 1e-12 * values[-1]
    if values[0] < -1e-9 * values[-1] or np.any(np.abs(parts[~inside]) > 1e-9 * np.linalg.norm(x)):
        return 1e-6 * float(Sigma[3, 3])
    return float(1.0 / np.sum(parts[inside] ** 2 / values[inside]))
