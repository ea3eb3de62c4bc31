"""Sites of a compiled MuJoCo model: frames on bodies, and what else uses them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sarrus.arrays import Array
from sarrus.models.base.pose import Pose

HELPING = 5  # group of the sites that `save` writes as ends of loops, springs and wrenches


def wxyz_pose(xyz: ArrayLike, wxyz: Array) -> Pose:
    """A Pose from MuJoCo's scalar-first quaternion; no rounding where there is no rotation."""
    w, x, y, z = np.asarray(wxyz).tolist()
    return Pose(xyz, quat=(x, y, z, w)) if (x, y, z) != (0.0, 0.0, 0.0) else Pose(xyz)


def site_frame(model: Any, site: int) -> tuple[int, Pose]:
    """The body that carries a site, and its frame there."""
    return int(model.site_bodyid[site]), wxyz_pose(model.site_pos[site], model.site_quat[site])


def sites_in_use(model: Any) -> set[int]:
    """Sites that equalities, tendons or actuators refer to."""
    import mujoco

    of_equalities = np.asarray(model.eq_objtype) == int(mujoco.mjtObj.mjOBJ_SITE)
    of_tendons = np.asarray(model.wrap_type) == int(mujoco.mjtWrap.mjWRAP_SITE)
    of_actuators = np.asarray(model.actuator_trntype) == int(mujoco.mjtTrn.mjTRN_SITE)
    found = [
        np.asarray(model.eq_obj1id)[of_equalities],
        np.asarray(model.eq_obj2id)[of_equalities],
        np.asarray(model.wrap_objid)[of_tendons],
        np.asarray(model.actuator_trnid)[of_actuators].ravel(),
    ]
    return set(np.concatenate(found).tolist())
