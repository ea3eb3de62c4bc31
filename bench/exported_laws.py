"""Exported control laws, bits against `law(t, q, v)` and times: `python -m bench.exported_laws`.

Each law runs in Python along its own motion with noise on what it measures; the exported library takes the
same states in C. Times are CPU time of the thread. --biped FILE adds a task hierarchy of a biped from a file,
such as DR Legs. `python -m bench.tsid_environment FOLDER` has TSID's steps on the quadruped and the box.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sarrus as sr
from sarrus._kernel import ISA
from sarrus.tracing.library_build import compiler_flags

from .report import Column, table

C = sr.control
DT = 1e-3
NOISE = 1e-6, 1e-4  # of measured states [rad], [rad/s]; lengths times L
RESTARTS = 5000  # steps after which the mechanism stands at its default state again
FEET = ("front_left", "front_right", "rear_left", "rear_right")
COLUMNS: tuple[Column, ...] = (
    ("law", "title", ""),
    ("nv", "nv", "d"),
    ("steps", "steps", "d"),
    ("differ", "differ", "d"),
    ("failed", "failed", "d"),
    ("median us", "median", ".1f"),
    ("99.9 %", "most", ".1f"),
    ("worst us", "worst", ".0f"),
)
DRIVER = """#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include "{name}.h"
int main(int argc, char **argv)
{{
    FILE *in = fopen(argv[1], "rb"), *out = fopen(argv[2], "wb");
    double x[1 + {NAME}_NQ + {NAME}_NV], y[{NAME}_NU + 2];
    {name}_law *law = {name}_init(aligned_alloc(64, ({name}_bytes() + 63) / 64 * 64));
    struct timespec a, b;
    (void)argc;
    while (fread(x, sizeof x, 1, in) == 1) {{
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &a);
        y[{NAME}_NU] = {name}_step(law, x[0], x + 1, x + 1 + {NAME}_NQ, y);
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &b);
        y[{NAME}_NU + 1] = 1e6 * (double)(b.tv_sec - a.tv_sec) + 1e-3 * (double)(b.tv_nsec - a.tv_nsec);
        fwrite(y, sizeof y, 1, out);
    }}
    fclose(out);
    return 0;
}}
"""


def laws() -> dict[str, Callable[[], Any]]:
    """Makers of laws, by what they are."""
    return {
        "four-bar, redundant rows, sinusoid": four_bar,
        "parallelogram through its flat pose": flat,
        "two links with dry friction": rubbing,
        "welded arms, pose": arms,
        "welded arms, regulated forces": regulated,
        "welded arms, three levels": levels,
        "two arms and a box, friction limits": limited,
        "box, impedance, wrench estimated": lambda: held("momentum"),
        "box, impedance, no observer": lambda: held(None),
        "standing quadruped": lambda: standing(0.0),
        "quadruped, friction active": lambda: standing(12.0),
    }


def four_bar() -> Any:
    """One motor, rows that depend on each other, through all poses of the crank."""
    mech = sr.library.four_bar()
    return C.ProjectedInverseDynamics(mech, mech.actuators[0], C.Sinusoid(0.6, 0.5, 3.0))


def flat() -> Any:
    """Two motors, through poses where ranks are in doubt."""
    mech = sr.library.parallelogram()
    return C.ProjectedInverseDynamics(mech, mech.actuators[0], C.Sinusoid(0.0, 0.6, 4.0))


def rubbing() -> Any:
    """Two links with dry friction in their joints, along a spline."""
    spec = sr.MechanismSpec(name="rubbing")
    joint = {"joint": sr.Revolute("y"), "mass": 1.0, "com": (0.2, 0, 0), "inertia": (0.01, 0.02, 0.02)}
    spec.body("crank", friction=0.5, friction_model="coulomb", **joint)
    spec.body("arm", "crank", at=sr.Pose((0.4, 0, 0)), friction=0.2, friction_model="coulomb", **joint)
    spec.actuate("crank")
    spec.actuate("arm")
    mech = spec.compile()
    way = C.Spline([0.0, 0.7, 1.5, 2.5], [[0.0, 0.0], [0.4, 0.5], [-0.2, 0.9], [0.0, 0.0]], ends="periodic")
    return C.ProjectedInverseDynamics(mech, ["crank", "arm"], way)


def arms() -> Any:
    """A pose of the hands of two arms, welded together."""
    mech = sr.library.dual_arm()
    X = mech.pose(mech.default.q, "left7")
    goal = sr.Pose(X.xyz + np.array([0.03, 0.02, 0.05]), rpy=X.rpy + np.array([0.1, 0.05, 0.1]))
    return C.ProjectedInverseDynamics(
        mech, C.BodyPose("left7"), C.MinimumJerk(X, goal, 1.0), leftover_damping=5.0
    )


def regulated() -> Any:
    """The same with the force in the weld."""
    mech = sr.library.dual_arm()
    goal = mech.pose(mech.default.q, "left7")
    return C.HybridForceMotion(mech, C.BodyPose("left7"), goal, {"weld": 1.0}, ki=10.0, leftover_damping=5.0)


def levels() -> Any:
    """Position, orientation, posture."""
    mech = sr.library.dual_arm()
    hand = mech.pose(mech.default.q, "left7")
    tasks = [
        C.PriorityTask(C.Position("left7"), hand.xyz + 0.03, priority=1),
        C.PriorityTask(C.Orientation("left7"), hand, priority=2),
        C.PriorityTask(C.Posture(), mech.default.q.copy(), priority=3),
    ]
    return C.TaskHierarchy(mech, tasks)


def limited() -> Any:
    """A box lifted within friction and torques."""
    mech = sr.library.dual_arm_box()
    X = mech.pose(mech.default.q, "box")
    way = C.MinimumJerk(X, sr.Pose(X.xyz + np.array([0.02, 0.01, 0.05]), matrix=X.rotation), 1.0)
    limits = [C.Friction(f"grip_{side}", 0.5, "-z", least=5.0) for side in ("left", "right")]
    return C.ForceLimits(
        mech, C.BodyPose("box"), way, [*limits, C.TorqueBounds((-300.0, 300.0))], leftover_damping=5.0
    )


def held(external: str | None) -> Any:
    """An impedance of the box."""
    mech = sr.library.dual_arm_box()
    hand: dict[str, Any] = {"mu": 0.5, "torsion": 0.03, "half": (0.05, 0.05), "least": 20.0}
    patches = [C.Patch(name, edges=8, **hand) for name in ("grip_left", "grip_right")]
    return C.ObjectImpedance(mech, C.Grasp(mech, "box", patches), external=external)


def standing(ahead: float) -> Any:
    """A trunk that is to accelerate, on four feet with friction: as bench.hierarchy."""
    mech = sr.library.quadruped()
    wish = C.PriorityTask(C.BodyPose("trunk"), acceleration=[ahead, 0.0, 0.0, 0.0, 0.0, 0.0])
    return C.TaskHierarchy(mech, wish, limits=[C.Friction(foot, 0.5) for foot in FEET])


def walker(path: Path) -> Any:
    """Posture and damping of a biped from a file; what it stands on is not asked for."""
    mech = sr.load(path)
    tasks = [C.PriorityTask(C.Posture(), np.array([mech.default.q[i] for i in motors(mech)]))]
    return C.TaskHierarchy(mech, tasks, leftover_damping=5.0)


def motors(mech: sr.Mechanism) -> list[int]:
    """Entries of q that motors drive."""
    return [int(mech.index(name)[0].start) for name in mech.actuators]


def motion(law: Any, count: int) -> Iterator[tuple[float, Any, Any, Any]]:
    """Times, measured states and inputs along the motion of a law, from the default state now and then."""
    mech, rng = law.system, np.random.default_rng(0)
    q, v = (np.array(x) for x in mech.default)
    for k in range(count):
        t = DT * (k % RESTARTS)
        if k % RESTARTS == 0:
            q, v = (np.array(x) for x in mech.default)
        seen = mech.integrate(q, NOISE[0] * mech.units.unit * rng.standard_normal(mech.nv))
        speed = v + NOISE[1] * mech.units.unit * rng.standard_normal(mech.nv)
        u = law(t, seen, speed)
        yield t, seen, speed, u
        try:
            q, v = mech.step(q, v, u=u, dt=DT)
        except sr.SarrusError:
            q, v = (np.array(x) for x in mech.default)


class Library:
    """An exported law, compiled with a driver that reads states from a file. Kernels are compiled once."""

    kernels: dict[str, Path]

    def __init__(self, work: Path, flags: str | None = None) -> None:
        self.kernels, self._work = {}, work
        self._flags = (compiler_flags(ISA) if flags is None else flags).split()

    def run(self, law: Any, states: Any, number: int) -> tuple[Any, Any, Any]:
        """Inputs (n, nu), status (n,) and microseconds (n,) at times and states (n, 1 + nq + nv)."""
        folder = self._work / f"law{number}"
        name = law.export_code(folder)[0].stem
        program, nu = self.program(folder, name), law.system.nu
        np.ascontiguousarray(states).tofile(folder / "states")
        subprocess.run([program, folder / "states", folder / "inputs"], check=True)
        found = np.fromfile(folder / "inputs").reshape(-1, nu + 2)
        return found[:, :nu], found[:, nu].astype(int), found[:, nu + 1]

    def program(self, folder: Path, name: str) -> Path:
        """The law and its kernel, linked with the driver."""
        kernel = (folder / "law_kernel.cpp").read_text()
        include = ["-I", str(folder / "kernels")]
        if kernel not in self.kernels:
            made = folder / "law_kernel.o"
            self._call("g++", *self._flags, *include, "-c", folder / "law_kernel.cpp", "-o", made)
            self.kernels[kernel] = made
        (folder / "driver.c").write_text(DRIVER.format(name=name, NAME=name.upper()))
        self._call("gcc", "-O2", "-D_GNU_SOURCE", "-c", folder / "driver.c", "-o", folder / "driver.o")
        objects = [folder / f"{name}.cpp", self.kernels[kernel], folder / "driver.o"]
        self._call("g++", *self._flags, *include, *objects, "-o", folder / "driver")
        return folder / "driver"

    @staticmethod
    def _call(*command: Any) -> None:
        subprocess.run([str(word) for word in command], check=True)


def compared(title: str, law: Any, library: Library, number: int, count: int) -> dict[str, Any]:
    """One row: bits and times."""
    rows, inputs = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for t, q, v, u in motion(law, count):
            rows.append(np.concatenate([[t], q, v]))
            inputs.append(u)
    law.reset()
    found, status, us = library.run(law, np.array(rows), number)
    return {
        "title": title,
        "nv": law.system.nv,
        "steps": len(rows),
        "differ": int((found != np.array(inputs)).any(axis=1).sum()),
        "failed": int((status < 0).sum()),
        "median": float(np.median(us)),
        "most": float(np.quantile(us, 0.999)),
        "worst": float(us.max()),
    }


def main() -> None:
    """The command line."""
    about = "Exported control laws: bits, and the time of their steps."
    parser = argparse.ArgumentParser(prog="python -m bench.exported_laws", description=about)
    parser.add_argument("--steps", type=int, default=100_000, help="of each law")
    parser.add_argument("--only", nargs="+", default=[], metavar="WORD", help="laws with this in their name")
    parser.add_argument("--biped", type=Path, metavar="FILE", help="a biped, as sr.load() takes it")
    given = parser.parse_args()
    wanted = given.only or [""]
    chosen = {title: make for title, make in laws().items() if any(word in title for word in wanted)}
    if given.biped is not None:
        chosen["biped, posture"] = lambda: walker(given.biped)
    with tempfile.TemporaryDirectory() as folder:
        library = Library(Path(folder))
        rows = []
        for number, (title, make) in enumerate(chosen.items()):
            rows.append(compared(title, make(), library, number, given.steps))
            print(rows[-1], flush=True)
    print(table("Exported laws: steps in C, and how many differ from Python's in any bit", COLUMNS, rows))


if __name__ == "__main__":
    main()
