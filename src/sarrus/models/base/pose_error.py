"""Errors of poses and orientations, and the map from their wanted second derivative to an acceleration.

With (R, x) the pose of a point of the body, (R_d, x_d) its reference and d = x_d - x,

    "split"    e = (d, theta)                 theta = log(R_d R.T)                                     (1)
    "screw"    e = (Jl(theta)^-1 d, theta)    the logarithm of SE(3): exp(e) = (R_d R.T, d)            (2)

in world axes at the point. In the axes of the body they are R.T times that; the screw is then the logarithm
of X.inverse() @ X_d and has the same components in the axes of the reference. Where the body only has to
shift, or only to turn, (1) and (2) agree.

[x''; w'] = c - T e'' makes the error obey any chosen e'' exactly, also while the reference moves, and
V = ... - T e' is the twist, so a wrench T^-T f does on the body the work that f does on the displacement -e.

Turns are at most pi. There the logarithm changes to the other way round: e jumps, T stays regular (its
turning part has no singular value below 2 / pi) and nothing grows without bound. The formulas are in
kernels/control/pose_error.hpp.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ... import _kernel
from ...arrays import Array
from ...errors import require_known

ERRORS = ("screw", "split")
FRAMES = ("world", "body")
ORIGIN = np.zeros(3)


class PoseError(NamedTuple):
    """Error e (6,) of a pose [m, rad], its rate, and [x''; w'] = c - T e'' for a wanted e''.

    Of an orientation: e (3,) [rad], and w' = c - T e''.
    """

    e: Array
    rate: Array
    T: Array
    c: Array


def check_form(error: str, frame: str, who: str) -> tuple[bool, bool]:
    """(whether it is the screw, whether in the axes of the body), or an error that lists what there is."""
    require_known("error", error, ERRORS, who)
    require_known("frame", frame, FRAMES, who)
    return error == "screw", frame == "body"


def pose_error(
    pose: tuple[Array, Array, Array], reference: tuple[Array, Array, Array, Array], screw: bool, own: bool
) -> PoseError:
    """Error of a pose that moves, against one that moves and accelerates.

    Args:
        pose: orientation R (3, 3), place x of the point [m] (3,), and V = [velocity of the point; angular
            velocity] (6,), in world axes.
        reference: R_d, x_d, V_d, and the derivative A_d of V_d (6,).
        screw: (2) rather than (1).
        own: in the axes of the body rather than the world's.
    """
    (R, x, V), (R_d, x_d, V_d, A_d) = pose, reference
    found = _kernel.pose_error(R=R, x=x, V=V, R_d=R_d, x_d=x_d, V_d=V_d, A_d=A_d, screw=screw, own=own)
    return PoseError(*found)


def turn_error(R: Array, w: Array, R_d: Array, w_d: Array, dw_d: Array) -> PoseError:
    """Error log(R_d R.T) of R (3, 3), turning at w (3,), against R_d, at w_d, with w_d' = dw_d."""
    twists = np.zeros((3, 6))
    twists[0, 3:], twists[1, 3:], twists[2, 3:] = w, w_d, dw_d
    reference = R_d, ORIGIN, twists[1], twists[2]
    e, rate, T, c = pose_error((R, ORIGIN, twists[0]), reference, False, False)
    return PoseError(e[3:], rate[3:], T[3:, 3:], c[3:])
