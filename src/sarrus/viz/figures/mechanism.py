"""Draw a mechanism at a pose."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from ...errors import InputError
from ...mechanism.mechanism import Mechanism
from ..scenes.view import find_plane
from .drawing import Drawing


def draw(
    mech: Mechanism,
    q: npt.ArrayLike | None = None,
    ax: Any = None,
    *,
    color: Any = None,
    alpha: float = 1.0,
    ground: bool = True,
    masses: bool = True,
    labels: bool = False,
    loads: bool = True,
    frames: bool = False,
    look: str | None = None,
    contacts: bool = True,
) -> Any:
    """Draw a mechanism on axes of matplotlib: its bodies as solids, with the signs of a kinematic diagram.

    Mechanisms whose hinges are all parallel (and whose slides lie across them) are drawn in their plane,
    gravity pointing down; others in space, on axes with projection="3d".

    Args:
        mech: The mechanism.
        q: Pose (nq,); default `mech.default.q`.
        ax: Matplotlib axes to draw on; default new ones.
        color: One colour for all bodies; default one for each.
        alpha: Opacity, between 0 and 1.
        ground: Whether to draw supports and rails.
        masses: Whether to mark the centres of mass.
        labels: Whether to write the names of the bodies; pointing at a body shows its name in any case.
        loads: Whether to draw the forces and moments that the mechanism is declared with, with their values.
        frames: Whether to draw the axes of all bodies: x red, y green, z blue.
        look: "solid" or "sticks"; default solid, but sticks where color or alpha is given.
        contacts: Whether to mark the points where surfaces touch, to a thousandth of the length L.

    Returns:
        The axes.
    """
    pose = mech.default.q if q is None else np.asarray(q, dtype=float)
    if pose.ndim != 1:
        raise InputError(f"draw shows one pose: q must have shape ({mech.nq},), got {pose.shape}.")
    options = {"color": color, "alpha": alpha, "ground": ground, "masses": masses, "labels": labels}
    options |= {"loads": loads, "frames": frames, "look": look}
    drawing = Drawing(mech, pose, ax, **options)
    if contacts:
        drawing.mark_contacts(pose)
    return drawing.ax


def draw_poses(mech: Mechanism, poses: npt.ArrayLike, titles: Sequence[str], **options: Any) -> list[Any]:
    """Draw several poses side by side, at the same scale.

    Args:
        mech: The mechanism.
        poses: (k, nq), at least one.
        titles: One for each.
        **options: As for `draw`.

    Returns:
        The axes.
    """
    from matplotlib import pyplot

    each = np.atleast_2d(np.asarray(poses, dtype=float))
    if not len(each):
        raise InputError("draw_poses needs at least one pose.")
    flat = find_plane(mech, each[0]) is not None
    figure = pyplot.figure(figsize=(3.2 * len(each), 3.4), layout="constrained")
    axes: list[Any] = []
    for k, (pose, title) in enumerate(zip(each, titles, strict=True), start=1):
        same = {"sharex": axes[0], "sharey": axes[0]} if flat and axes else {}
        kind: dict[str, Any] = same if flat else {"projection": "3d", "proj_type": "ortho"}
        axes.append(figure.add_subplot(1, len(each), k, **kind))
        draw(mech, pose, axes[-1], **options)
        axes[-1].set_title(title)
    if not flat:
        _same_limits(axes)
    return axes


def _same_limits(axes: list[Any]) -> None:
    """The smallest box that holds all pictures, on each of these axes in space."""
    for name in ("xlim3d", "ylim3d", "zlim3d"):
        ends = np.array([getattr(ax, f"get_{name}")() for ax in axes])
        for ax in axes:
            getattr(ax, f"set_{name}")(ends[:, 0].min(), ends[:, 1].max())
    for ax in axes:
        ax.set_box_aspect([float(np.ptp(getattr(ax, f"get_{name}lim")())) for name in "xyz"])
