"""The signature motion of every mechanism of the library, in one table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from .. import library
from ..arrays import Array
from ..mechanism.mechanism import Mechanism
from ..simulation.trajectory.trajectory import Trajectory
from .laws import OnCables, Trot
from .motions import Cycle, LetGo, PointPath, Turn, wave


@dataclass(frozen=True)
class Signature:
    """A mechanism of the library and what it does.

    Attributes:
        words: what one sees, in a few words.
        motion: makes the run of a mechanism, (mech, progress) -> run.
        mechanism: makes the mechanism, with the arguments that show it best.
    """

    words: str
    motion: Callable[[Mechanism, bool], Trajectory]
    mechanism: Callable[[], Mechanism]

    def run(self, progress: bool = False) -> Trajectory:
        """The run."""
        return self.motion(self.mechanism(), progress)


def clicks(t: float, q: Array, v: Array) -> Array:
    """Torque on the ratchet: forwards, and then back [N m]."""
    return np.array([-0.2 - 0.02 * v[0] if t < 0.4 else 0.5])


def slam(t: float, q: Array, v: Array) -> Array:
    """Force on the door of the latch: shut, and then pulled [N]."""
    return np.array([12.0 - 20.0 * v[0] if t < 0.6 else -30.0])


def drive_and_brake(t: float, q: Array, v: Array) -> Array:
    """Torque of the freewheel's driver: it drives, then brakes itself [N m]."""
    return np.array([10.0 if t < 1.0 else -2.0 * v[0]])


LEGS = [f"piston{k + 1}" for k in range(6)]
DIG = {
    "boom_cylinder": (0.0, -0.15, -0.35, -0.3, 0.1, 0.2, 0.1, 0.0),
    "stick_cylinder": (0.0, -0.4, -0.5, -0.1, 0.1, 0.0, -0.1, 0.0),
    "bucket_cylinder": (0.0, -0.3, -0.35, 0.1, 0.3, 0.3, -0.2, -0.1),
}
LIFT = {"lift_rod": (0.0, 0.1, 0.25, 0.3, 0.25, 0.1), "tilt_rod": (0.0, 0.1, 0.05, -0.15, 0.0, 0.05)}
PICK = [
    (0, 0, 0),
    (0.06, 0, 0.03),
    (0.12, 0, 0),
    (0.12, 0, -0.06),
    (0.12, 0, 0),
    (0.06, 0, 0.03),
    (0, 0, 0),
    (0, 0, -0.06),
]
CABLES = [(0.0, 0.0, 0.0), (0.4, 0.2, 0.1), (0.0, 0.35, 0.0), (-0.4, 0.2, -0.1), (0.0, -0.2, 0.0)]
AROUND = {
    "object.x": (0.0, 0.05, 0.08, 0.05, 0.0, -0.05, -0.08, -0.05),
    "object.y": (0.0, 0.01, 0.04, 0.06, 0.08, 0.06, 0.04, 0.01),
    "object.angle": (0.0,) * 8,
}
REACH = {f"joint{k}": (0.0,) * 6 for k in (3, 5, 6, 7)} | {
    "joint1": (0.0, 0.5, 0.8, 0.0, -0.8, -0.5),
    "joint2": (0.0, 0.3, 0.5, 0.2, 0.5, 0.3),
    "joint4": (0.0, 0.3, 0.2, -0.2, 0.2, 0.3),
}
KNEES = [(0.0, 0.0, 0.0), (0.0, 0.0, -0.03), (0.0, 0.0, -0.06), (0.0, 0.0, -0.03)]
BOX_WAY = [(0, 0, 0), (0, 0.1, 0.05), (0, 0.1, 0.15), (0, -0.1, 0.15), (0, -0.1, 0.05)]


def _made(name: str, **arguments: object) -> Callable[[], Mechanism]:
    return partial(library.MECHANISMS[name], **arguments)


_ROWS: dict[str, tuple[str, Callable[[Mechanism, bool], Trajectory], dict[str, object]]] = {
    "pendulum": ("swings", LetGo(4.0), {}),
    "double_pendulum": ("tumbles", LetGo(8.0), {}),
    "slider_crank": ("turns through the poses where its equation is lost", Turn(2.0, {"crank": 1.0}), {}),
    "four_bar": ("turns", Turn(2.5, {"crank": 1.0}), {}),
    "parallelogram": ("turns", Turn(3.0, {"left": 1.0}), {}),
    "five_bar": ("falls through its singular pose", LetGo(5.0), {"start": "raised"}),
    "n_four_bar": ("swings through the pose where all bars lie flat", LetGo(5.0), {"n": 4}),
    "andrews": ("is turned slowly", Turn(2.0, {"K1": 1.0}), {}),
    "bricard": ("falls, although counting rows says rigid", LetGo(8.0), {}),
    "bennett": ("turns", Turn(3.0, {"link1": 1.0}), {}),
    "sarrus": ("rises in a straight line", Cycle(3.0, {"lower1": (0.0, -0.5, -0.7, -0.5)}), {}),
    "scott_russell": ("rises in a straight line", Cycle(3.0, {"slider_left": (0.0, -0.25, -0.4, -0.25)}), {}),
    "flyball_governor": ("spins, its balls swing", LetGo(2.0), {}),
    "jansen_leg": ("walks", Turn(3.0, {"crank": 1.0}), {"n": 2}),
    "stewart": ("waves", Cycle(4.0, wave(LEGS, 0.03, 1.0 / 6.0)), {}),
    "delta": ("picks and places", PointPath(2.0, "platform", "xyz", PICK), {}),
    "three_rrr": ("waves", Cycle(3.0, wave(["lower1", "lower2", "lower3"], 0.25, 1.0 / 3.0)), {}),
    "three_r_on_slider": (
        "slides to and fro",
        PointPath(3.0, "link3", "x", [(0.0,), (0.1,), (0.0,), (-0.1,)], damping=4.0),
        {},
    ),
    "loader": ("lifts and tips", Cycle(6.0, LIFT), {}),
    "cable_robot": ("carries a body on its cables", OnCables(4.0, CABLES), {}),
    "pantograph_leg": ("steps", Cycle(1.5, wave(["thigh", "crank"], 0.35, 0.25)), {}),
    "dual_planar_arms": ("carry an object around", Cycle(3.0, AROUND), {"held": "body"}),
    "dual_arm": ("swing, welded at their tips", LetGo(3.0), {}),
    "dual_arm_box": ("carry a box around", PointPath(4.0, "box", "xyz", BOX_WAY, damping=4.0), {}),
    "quadruped": ("trots", Trot(1.0, 4.0), {}),
    "biped": ("bends its knees", PointPath(3.0, "pelvis", "xyz", KNEES, damping=4.0), {}),
    "rolling_disk": ("rolls in a circle", LetGo(6.0), {}),
    "robot_arm": ("reaches around", Cycle(5.0, REACH), {}),
    "arms_around_box": ("carry a box around", PointPath(4.0, "box", "xyz", BOX_WAY, damping=4.0), {}),
    "net": ("falls", LetGo(4.0), {"k": 4}),
    "scissor": ("opens and folds", Cycle(3.0, {"a1": (0.0, 0.3, 0.5, 0.3)}), {}),
    "deployable_ring": ("opens and folds", LetGo(6.0), {}),
    "chain_mail": ("falls", LetGo(3.0), {}),
    "peaucellier": ("draws a straight line", Cycle(3.0, {"crank_pin": (0.0, -0.3, -0.5, -0.3)}), {}),
    "scissor_lift": ("lifts and lowers", Cycle(4.0, {"foot_slide": (0.0, -0.25, -0.45, -0.25)}), {}),
    "folding_chair": ("folds and opens", Cycle(3.0, {"slot": (0.0, 0.1, 0.2, 0.1)}), {}),
    "double_wishbone": ("steers to and fro", Cycle(3.0, {"rack_slide": (0.0, 0.03, 0.0, -0.03)}), {}),
    "excavator": ("digs", Cycle(8.0, DIG), {}),
    "landing_gear": (
        "retracts and comes out",
        Cycle(6.0, {"cylinder": (0.0, -0.1, -0.2, -0.25, -0.2, -0.1)}),
        {},
    ),
    "planetary_gearbox": ("turns", Turn(4.0, {"gears_sun": 4.0}), {}),
    "cam_follower": ("lifts", Turn(2.0, {"shaft": 1.0}), {}),
    "bicycle": ("balances by itself", LetGo(3.0), {}),
    "wiper": ("wipes", Turn(1.5, {"motor": 1.0}), {}),
    "toggle_clamp": ("opens and clamps", Cycle(3.0, {"link_pin": (0.0, -0.6, -1.0, -0.6)}), {}),
    "six_bar_press": ("presses", Turn(2.0, {"crank_shaft": 1.0}), {}),
    "geneva_drive": ("turns by one slot each turn", LetGo(2.0), {}),
    "flying_follower": ("loses its cam", LetGo(0.15), {"speed": 200.0}),
    "ratchet": ("clicks forwards, holds backwards", LetGo(0.8, clicks), {}),
    "spring_latch": ("snaps shut and holds", LetGo(1.0, slam), {}),
    "escapement": ("ticks", LetGo(4.0), {}),
    "hydraulic_lift": ("lifts a load on oil", LetGo(3.0), {"flow": 5e-5}),
    "tyre_car": ("takes a corner", LetGo(4.0), {}),
    "tackle": ("hoists", Cycle(4.0, {"drum": (0.0, 1.0, 2.0, 1.0)}), {}),
    "v_belt": ("drives, and slips", LetGo(1.0, lambda t, q, v: np.array([60.0])), {}),
    "freewheel": ("drives, and runs on", LetGo(2.0, drive_and_brake), {}),
    "overhung_gearbox": ("turns", Turn(2.0, {"shaft": 2.0}), {}),
    "screw_jack": ("lifts", Turn(2.0, {"shaft": 8.0}), {}),
    "worm_hoist": ("hoists", Turn(2.0, {"worm": 12.0}), {}),
}

SIGNATURES: dict[str, Signature] = {
    name: Signature(words, motion, _made(name, **arguments))
    for name, (words, motion, arguments) in _ROWS.items()
}
