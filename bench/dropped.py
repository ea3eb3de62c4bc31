"""Robots dropped on a plane, here and in MuJoCo: `python -m bench.dropped FOLDER... [--seconds 2]`

Every MJCF, URDF, SDF and USD file below the folders is loaded with its collision shapes, brought to where
nothing is inside anything else, put 5 cm above a plane and let go without motors, in steps of 1 ms. The table
says whether the run succeeded, the deepest penetration, the largest gain of energy between two stored states
as a share of the energy that the fall set free, how far loops opened (times L), and the time beside MuJoCo
with the same floor, step and start (MJCF and URDF). A run that says success and gains energy, penetrates or
opens, without a warning, is wrong and silent; the last line counts them.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
import warnings
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr
from sarrus.models.contacts.table import Touchable

Array = npt.NDArray[np.float64]
STEP, ABOVE = 1e-3, 0.05  # [s, m]
STATES = 41
FLOOR = "dropped_floor"
GAIN, DEEP, OPEN = 1e-3, 5e-3, 1e-6  # share of the energy of the fall, [m], times L: more is wrong
CORNERS, MANY = (32, 16, 8), 6000  # of hulls: fewer where a robot has more contact points than that
SUFFIXES = (".xml", ".urdf", ".sdf", ".usda", ".usd", ".usdc")
HEAD = (
    f"{'robot':42} {'nv':>3} {'slots':>6} {'hull':>4} {'load s':>6} {'result':34} {'deep mm':>8} {'gain':>8}"
    f" {'loops':>8} {'run s':>6} {'MuJoCo':>6} {'deep mm':>8}"
)


@dataclass
class Drop:
    """One robot.

    Attributes:
        name: Folder and file.
        nv, slots, corners: Coordinates of speed, contact points, corners of hulls.
        loading: Time to load and compile [s].
        result: "ok", or why not.
        success: Whether the run said success.
        deep, gain, loops: Deepest penetration [m], largest gain of energy as a share, loops open [times L].
        wall, theirs: Time of the run here and in MuJoCo [s].
        their_deep: MuJoCo's deepest penetration [m].
        warned: Whether the run came with a warning, such as steps that are too long.
    """

    name: str
    nv: int = 0
    slots: int = 0
    corners: int = CORNERS[0]
    loading: float = float("nan")
    result: str = ""
    success: bool = False
    deep: float = float("nan")
    gain: float = float("nan")
    loops: float = float("nan")
    wall: float = float("nan")
    theirs: float = float("nan")
    their_deep: float = float("nan")
    warned: bool = False

    @property
    def is_wrong(self) -> bool:
        """Whether it says success without a warning and is none."""
        failed = self.gain > GAIN or self.deep > DEEP or self.loops > OPEN
        return self.success and failed and not self.warned

    def line(self) -> str:
        """Its row of the table."""
        result = "WRONG AND SILENT" if self.is_wrong else " ".join(self.result.split())
        return (
            f"{self.name[:42]:42} {self.nv:3d} {self.slots:6d} {self.corners:4d} {self.loading:6.1f}"
            f" {result[:34]:34} {1e3 * self.deep:8.3f} {self.gain:8.1e} {self.loops:8.1e}"
            f" {self.wall:6.1f} {self.theirs:6.2f} {1e3 * self.their_deep:8.3f}"
        )


def with_floor(file: Path, height: float, corners: int = CORNERS[0]) -> sr.MechanismSpec:
    """The description with a floor that touches all surfaces of bodies that may move."""
    free = {"root": "free"} if file.suffix == ".urdf" else {}
    spec = sr.load_spec(file, contacts=True, hull_corners=corners, **free)
    bodies = {one.name: one for one in spec.model().bodies}
    given, can_touch = list(spec.surfaces), Touchable()
    spec.surface(FLOOR, "ground", sr.HalfSpace(), sr.Pose((0.0, 0.0, height)))
    floor = spec.surfaces[-1]
    for one in given:
        if moves(bodies, one.body) and can_touch(floor, one):
            spec.contact(FLOOR, one.name, friction=1.0 if one.friction is None else one.friction)
    return spec


def moves(bodies: dict[str, Any], body: str) -> bool:
    """Whether a joint lies between a body and the ground."""
    while body != "ground":
        if bodies[body].joint.nv:
            return True
        body = bodies[body].parent
    return False


def on_floor(file: Path) -> tuple[sr.Mechanism, float, int]:
    """The robot with a floor 5 cm below its lowest point, the height of the floor [m], corners of hulls."""
    for corners in CORNERS:
        mech = with_floor(file, 0.0, corners).compile()
        if len(mech.model.structure.slots) <= MANY:
            break
    found = mech.contacts(mech.default.q)
    near = [
        gap
        for name, gap in zip(found.names, found.gap, strict=True)
        if name.startswith(f"{FLOOR}/") and np.isfinite(gap)
    ]
    height = min(near, default=0.0) - ABOVE
    return with_floor(file, height, corners).compile(), height, corners


def dropped(file: Path, seconds: float) -> Drop:
    """Drop one robot."""
    drop, start = Drop(f"{file.parent.name}/{file.name}"), time.perf_counter()
    try:
        mech, height, drop.corners = on_floor(file)
        drop.nv, drop.slots = mech.nv, len(mech.model.structure.slots)
        drop.loading = time.perf_counter() - start
        q = np.asarray(mech.separate(mech.default.q).q)
        _run(drop, mech, q, seconds)
    except sr.SarrusError as error:
        drop.result = f"{type(error).__name__}: {error}"
        return drop
    if file.suffix in (".xml", ".urdf"):
        _in_mujoco(drop, mech, file, height, q, seconds)
    return drop


def _run(drop: Drop, mech: sr.Mechanism, q: Array, seconds: float) -> None:
    """Fall and lie, here."""
    times, begin = np.linspace(0.0, seconds, STATES), time.perf_counter()
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        run = sr.simulate(mech, (0.0, seconds), q, contacts="steps", dt=STEP, t_eval=times)
    drop.wall = time.perf_counter() - begin
    drop.success, drop.result = bool(run.success), "ok" if run.success else str(run.message)
    drop.warned = any(issubclass(one.category, sr.SarrusWarning) for one in said)
    if drop.success and drop.warned:
        drop.result = f"warned: {said[0].message}"
    gaps = [np.nanmin(mech.contacts(one).gap, initial=np.inf) for one in run.q]
    drop.deep = max(0.0, -float(min(gaps)))
    energy = np.asarray(run.energy)
    drop.gain = max(0.0, float(np.max(np.diff(energy), initial=0.0)) / max(float(np.ptp(energy)), 1e-9))
    drop.loops = float(np.max(run.drift)) / mech.length


def _in_mujoco(drop: Drop, mech: sr.Mechanism, file: Path, height: float, q: Array, seconds: float) -> None:
    """The same in MuJoCo: its own contacts, the same floor, step and start."""
    import mujoco

    try:
        spec = mujoco.MjSpec.from_file(str(file))
        if file.suffix == ".urdf":
            spec.compiler.discardvisual = True
        spec.worldbody.add_geom(
            type=mujoco.mjtGeom.mjGEOM_PLANE, size=[0, 0, 1], pos=[0, 0, height], friction=[1, 0.005, 0.0001]
        )
        model = spec.compile()
        model.opt.timestep = STEP
        model.opt.disableflags |= int(mujoco.mjtDisableBit.mjDSBL_ACTUATION)
        data = mujoco.MjData(model)
        sr.bridge.mujoco(mech, model).to_mujoco(data, q)
    except (ValueError, RuntimeError, sr.SarrusError):
        return
    deep, begin = 0.0, time.perf_counter()
    for _ in range(round(seconds / STEP)):
        mujoco.mj_step(model, data)
        deep = max(deep, -float(np.min(data.contact.dist, initial=0.0)))
    drop.theirs, drop.their_deep = time.perf_counter() - begin, deep


def robot_files(folders: list[Path]) -> list[Path]:
    """Files of robots below folders, without scenes."""
    every = [[folder] if folder.is_file() else sorted(folder.rglob("*")) for folder in folders]
    found = [one for files in every for one in files if one.suffix in SUFFIXES]
    return [one for one in found if not one.stem.startswith("scene") and _is_robot(one)]


def _is_robot(file: Path) -> bool:
    head = file.read_bytes()[:4000]
    return any(word in head for word in (b"<mujoco", b"<robot", b"<sdf", b"#usda", b"PXR-USDC"))


def apart(file: Path, seconds: float, limit: float) -> Drop:
    """Drop one robot in a process of its own, which ends after a limit [s]."""
    command = [sys.executable, "-m", "bench.dropped", str(file), "--seconds", str(seconds), "--one"]
    name = f"{file.parent.name}/{file.name}"
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
        return Drop(**json.loads(done.stdout.splitlines()[-1]))
    except subprocess.TimeoutExpired:
        return Drop(name, result=f"not done within {limit:g} s")
    except (IndexError, ValueError):
        return Drop(name, result=f"crashed: {done.stderr[-200:]}")


def main(words: Any = None) -> list[Drop]:
    """Run the study and print it."""
    parser = argparse.ArgumentParser(prog="python -m bench.dropped", description=__doc__)
    parser.add_argument("folders", nargs="+", type=Path, help="Folders with robot files, or one file.")
    parser.add_argument("--seconds", type=float, default=2.0)
    parser.add_argument("--limit", type=float, default=120.0, help="Seconds for one robot.")
    parser.add_argument("--match", default="", help="Only files whose path contains this.")
    parser.add_argument("--one", action="store_true", help="One file, its row as JSON.")
    options = parser.parse_args(words)
    if options.one:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(json.dumps(asdict(dropped(options.folders[0], options.seconds))))
        return []
    print(HEAD)
    drops = []
    for file in robot_files(options.folders):
        if options.match in str(file):
            drops.append(apart(file, options.seconds, options.limit))
            print(drops[-1].line(), flush=True)
    right = sum(one.success and not one.is_wrong and not one.warned for one in drops)
    wrong = sum(one.is_wrong for one in drops)
    print(
        f"{len(drops)} robots: {right} right, {wrong} wrong and silent, {len(drops) - right - wrong} said so."
    )
    return drops


if __name__ == "__main__":
    main()
