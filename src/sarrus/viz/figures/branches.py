"""Draw the ways out of a singular pose: poses along them, and the cone of their directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ...projection.branches import Branch
from ..scenes.style import CYCLE, given_or_new_axes
from .mechanism import draw

FAINTEST = 0.2  # opacity of the first pose of a path


def draw_path(mech: Mechanism, poses: npt.ArrayLike, ax: Any = None, **options: Any) -> Any:
    """Draw a mechanism at several poses, fainter where it comes from.

    Args:
        mech: The mechanism.
        poses: Poses (n, nq), such as `Branch.path` gives.
        ax: Matplotlib axes to draw on; default new ones.
        **options: Of `draw`.

    Returns:
        The axes.
    """
    path = np.atleast_2d(np.asarray(poses, dtype=float))
    for k, q in enumerate(path):
        opacity = min(1.0, FAINTEST + (1.0 - FAINTEST) * (k + 1) / len(path))
        ax = draw(mech, q, ax, **({"masses": False, "alpha": opacity} | options))
    return ax


def draw_cone(branch: Branch, ax: Any = None) -> tuple[Any, Array]:
    """Draw the directions of a curved branch in three freedoms as a double cone.

    Args:
        branch: A curved branch whose directions span three dimensions.
        ax: Matplotlib axes with projection="3d"; default new ones.

    Returns:
        The axes, and where `branch.directions` lie on the cone (n, 3), its axis last.
    """
    ends = _upright(branch)
    y = ends * np.sign(ends[:, 2:])
    ax = given_or_new_axes(ax, projection="3d")
    around = y[np.argsort(np.arctan2(y[:, 1], y[:, 0]))]
    rim = np.vstack([around, around[:1]])
    apex = np.zeros((1, len(rim)))
    for sign in (1.0, -1.0):
        sides = [np.vstack([apex, sign * x]) for x in rim.T]
        ax.plot_surface(*sides, color=CYCLE[0], alpha=0.15, linewidth=0)
        ax.scatter(*(sign * y).T, s=14, color=CYCLE[0])
    for x in y:
        ax.plot(*np.array([-x, x]).T, color=CYCLE[0], alpha=0.4, linewidth=0.7)
    ax.set_axis_off()
    ax.set_box_aspect((1.0, 1.0, 1.0), zoom=1.25)
    ax.view_init(elev=14.0, azim=-60.0)
    return ax, ends


def _upright(branch: Branch) -> Array:
    """The directions in three axes, the axis of the cone last."""
    _, s, Vt = np.linalg.svd(branch.directions, full_matrices=False)
    if not branch.curved or np.sum(s > 1e-6 * s[0]) != 3:
        raise InputError(
            "draw_cone shows a curved branch (branch.curved) whose directions span three freedoms."
        )
    y = branch.directions @ Vt[:3].T
    axes = np.linalg.eigh(y.T @ y)[1]
    axis = int(np.argmax(np.min(np.abs(y @ axes), axis=0)))  # no direction of a cone lies across its axis
    y = y @ axes[:, [i for i in range(3) if i != axis] + [axis]]
    return np.asarray(y / np.linalg.norm(y, axis=1, keepdims=True))
