"""Shapes of a compiled MuJoCo model, for pictures."""

from __future__ import annotations

from typing import Any

import numpy as np

from sarrus.formats.mjcf.sites import wxyz_pose
from sarrus.models.base.pose import Pose
from sarrus.models.shapes.visual import Visual

SHOWN = 2  # MuJoCo draws the groups 0 to 2; models put shapes for contact into 3
WHOLE = {2: "sphere", 3: "capsule", 4: "ellipsoid", 5: "cylinder", 6: "box", 7: "mesh"}  # mjtGeom


def read_visuals(model: Any, bodies: list[str]) -> list[Visual]:
    """The shapes that MuJoCo would draw, but planes, height fields and signed distance fields."""
    paths = bytes(getattr(model, "paths", b""))
    found = []
    for i in range(model.ngeom):
        shape = WHOLE.get(int(model.geom_type[i]))
        if shape is None or int(model.geom_group[i]) > SHOWN:
            continue
        at, file = wxyz_pose(model.geom_pos[i], model.geom_quat[i]), ""
        size = _size(shape, model.geom_size[i])
        if shape == "mesh":
            mesh = int(model.geom_dataid[i])
            first = int(model.mesh_pathadr[mesh])
            file = paths[first:].split(b"\0", 1)[0].decode(errors="replace") if first >= 0 else ""
            centre = wxyz_pose(model.mesh_pos[mesh], model.mesh_quat[mesh])
            at, size = at @ centre.inverse(), tuple(model.mesh_scale[mesh].tolist())
        material = int(model.geom_matid[i])
        rgba = model.mat_rgba[material] if material >= 0 else model.geom_rgba[i]
        found.append(
            Visual(bodies[int(model.geom_bodyid[i])], shape, size, _tidy(at), file, rgba=rgba.tolist())
        )
    return found


def _size(shape: str, size: Any) -> tuple[float, ...]:
    x, y, z = size.tolist()
    whole = {"sphere": (x,), "capsule": (x, 2.0 * y), "cylinder": (x, 2.0 * y), "ellipsoid": (x, y, z)}
    return whole.get(shape, (2.0 * x, 2.0 * y, 2.0 * z))


def _tidy(pose: Pose) -> Pose:
    """Without the rounding of a mesh that was moved to its centre and back."""
    near = np.abs(pose.matrix - np.eye(4)).max() < 1e-12
    return Pose() if near else pose
