"""The WebAssembly kernel, run by node, gives the numbers of the native one."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.binary_table import binary_table
from sarrus.viz.studio_data import drive_table
from sarrus.viz.studios import KERNEL, STUDIO
from tests.studio_kernel import needs_kernel

NODE = shutil.which("node") or shutil.which("nodejs")
needs_node = pytest.mark.skipif(NODE is None, reason="node is not installed: apt-get install nodejs")
pytestmark = [needs_kernel, needs_node]
HERE = Path(__file__).parent
CLOSE = 1e-12  # relative: two compilers, one of them without fused multiply-adds


def run_cases(cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Results of cases on the WebAssembly kernel."""
    assert NODE is not None
    scripts = [str(STUDIO / name) for name in ("kernel.js", "analysis.js", "tangent_cone.js", "approach.js")]
    command = [NODE, str(HERE / "studio_numbers.cjs"), str(KERNEL), *scripts]
    done = subprocess.run(command, input=json.dumps(cases), capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["imports"] == 0
    results: list[dict[str, Any]] = found["results"]
    return results


def case(mech: sr.Mechanism, q: Any, v: Any, does: str, **more: Any) -> dict[str, Any]:
    table = base64.b64encode(binary_table(mech.model)).decode()
    return {"table": table, "q": list(q), "v": list(v), "does": does, **more}


def floating() -> sr.Mechanism:
    """A four-bar on a free base."""
    spec = sr.MechanismSpec(name="floating four-bar")
    hinge = sr.Revolute("y")
    bars = {"crank": ("base", 0.0), "rod": ("crank", 0.2), "rocker": ("base", 0.5)}
    spec.body("base", joint=sr.Free(), mass=3.0, inertia=(0.2, 0.3, 0.4))
    for name, (parent, x) in bars.items():
        at, com = sr.Pose(xyz=(x, 0, 0)), (0.1, 0, 0.05)
        spec.body(name, parent=parent, joint=hinge, at=at, mass=0.5, com=com, inertia=(0.01, 0.01, 0.01))
    spec.close("pin", "rod", "rocker", hinge, sr.Pose(xyz=(0.55, 0, 0)), sr.Pose(xyz=(0, 0, 0.4)))
    return spec.compile()


def crane(driven: bool = False) -> sr.Mechanism:
    """A boom lifted along a line: by an actuator (Span), or by a length that is a function of time."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="crane")
    spec.link("boom", (0, 0, 0), (2, 0, 0), mass=100.0)
    spec.joint("foot", "ground", "boom", sr.Revolute("z"), at=(0, 0, 0))
    ends = ("ground", (0.8, -0.6, 0), "boom", (1, 0, 0))
    if driven:
        length = np.hypot(0.2, 0.6)
        spec.constrain("lift", sr.DrivenDistance(*ends, lambda t: length + 0.1 * np.sin(2 * t)))
    else:
        spec.actuator("lift", *ends, armature=0.5, limits=(0, 2000))
    return spec.compile()


LIBRARY = (
    "four_bar",
    "bricard",
    "stewart",
    "sarrus",
    "delta",
    "rolling_disk",
    "double_wishbone",
    "quadruped",
    "cam_follower",
    "bicycle",
)
MECHANISMS = {name: getattr(sr.library, name) for name in LIBRARY} | {"floating": floating, "crane": crane}


def states(name: str) -> tuple[sr.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A mechanism, a consistent state in motion, and an applied force."""
    mech = MECHANISMS[name]()
    rng = np.random.default_rng(7)
    v = 0.3 * rng.standard_normal(mech.nv) * mech.model.unit
    x = mech.project(mech.default.q, v)
    return mech, x.q, x.v, 0.1 * rng.standard_normal(mech.nv)


def close(found: Any, wanted: Any, tolerance: float = CLOSE) -> None:
    wanted = np.asarray(wanted, dtype=float).ravel()
    size = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    np.testing.assert_allclose(np.asarray(found, dtype=float), wanted, rtol=0, atol=tolerance * size)


@pytest.mark.parametrize("name", MECHANISMS)
def test_numbers_equal_the_native_ones(name: str) -> None:
    mech, q, v, tau = states(name)
    rng = np.random.default_rng(3)
    off = mech.integrate(q, 0.02 * rng.standard_normal(mech.nv) * mech.model.unit)
    kinds = ["accelerate", "mobility", "bodies", "rows"]
    cases = [case(mech, q, v, kind, tau=list(tau)) for kind in kinds] + [case(mech, off, v, "project")]
    cases += [case(mech, q, v, "run", method="rk4", h=1e-3, end=0.05)]
    moved, mobility, bodies, rows, projected, run = run_cases(cases)
    motion = mech.forward_dynamics(q, v, tau)
    close(moved["a"], motion.a)
    close(moved["force"], motion.constraint_force)
    close(moved["lam"], motion.lam)
    assert [bool(x) for x in moved["unique"]] == motion.lam_unique.tolist()
    known = mech.mobility(q)
    assert mobility["rank"] == known.rank
    close(mobility["values"], known.singular_values)
    terms = mech.terms(q, v)
    for part in ("phi", "J", "b", "gamma"):
        close(rows[part], getattr(terms, part))
    names = mech.body_names
    close(bodies["origins"], [mech.pose(q, body).xyz for body in names])
    close(bodies["twists"], [mech.velocity(q, v, body) for body in names])
    energy = mech.energy(q, v)
    close(bodies["energy"], [energy.kinetic, energy.potential])
    nearest = mech.project(off, v)
    assert projected["status"] == 0
    close(projected["q"], nearest.q)
    close(projected["v"], nearest.v)
    native = sr.simulate(mech, (0.0, 0.05), q, v, method="rk4", dt=1e-3)
    assert run["trouble"] == "" and native.success
    close(run["q"], native.q[-1])
    close(run["v"], native.v[-1])


def test_the_kernel_takes_the_tables_of_this_version() -> None:
    table = bytearray(binary_table(sr.library.four_bar().model))
    good = {"table": base64.b64encode(table).decode(), "q": [0.0] * 3, "v": [0.0] * 3, "does": "mobility"}
    run_cases([good])
    for spoiled in (bytes([table[0] ^ 1, *table[1:]]), bytes(table[:-8]), bytes([*table, 0])):
        with pytest.raises(AssertionError, match="does not fit this kernel"):
            run_cases([good | {"table": base64.b64encode(spoiled).decode()}])


def test_five_bar_through_its_singular_pose() -> None:
    """From rest in the singular pose, over the pose where all bars lie in one line."""
    mech = sr.library.five_bar()
    q, v = mech.default.q, mech.default.v
    (run,) = run_cases([case(mech, q, v, "run", method="dopri5", h=0.0, end=0.9)])
    native = sr.simulate(mech, (0.0, 0.9), method="dopri5", rtol=1e-10, atol=1e-12)
    assert run["trouble"] == "" and run["drift"] < 1e-12
    close(run["q"], native.q[-1], 1e-5)  # the run in the page has rtol 1e-8 over 0.9 s


def driven_arm() -> sr.Mechanism:
    spec, hinge, inertia = sr.MechanismSpec(name="driven"), sr.Revolute("y"), (0.1, 0.1, 0.1)
    spec.body("crank", joint=hinge, mass=1.0, com=(0.3, 0, 0), inertia=inertia)
    at = sr.Pose(xyz=(0.6, 0, 0))
    spec.body("arm", parent="crank", joint=hinge, at=at, mass=1.0, com=(0.2, 0, 0), inertia=inertia)
    spec.constrain("motor", sr.Drive("crank", lambda t: 0.5 * np.sin(2 * t)))
    return spec.compile()


@pytest.mark.parametrize("mech", [driven_arm(), crane(driven=True)], ids=lambda mech: mech.name)
def test_drives_come_from_a_table(mech: sr.Mechanism) -> None:
    given = drive_table(mech, 0.0, 2.0)
    assert given is not None
    values = np.frombuffer(base64.b64decode(given["values"])).tolist()
    x = mech.project(mech.default.q)
    drives = {"first": 0.0, "step": given["step"], "values": values}
    (run,) = run_cases([case(mech, x.q, x.v, "run", method="rk4", h=1e-3, end=0.5, drives=drives)])
    native = sr.simulate(mech, (0.0, 0.5), x.q, x.v, method="rk4", dt=1e-3)
    close(run["q"], native.q[-1], 1e-7)  # of the table, DRIVE_ERROR


def test_drags_keep_limits_and_stay_closed() -> None:
    """Random targets: no coordinate of a robot arm leaves its limits; a Stewart platform closes."""
    rng = np.random.default_rng(5)
    arm, platform = sr.library.robot_arm(), sr.library.stewart()
    cases = []
    for mech, body in ((arm, len(arm.body_names) - 1), (platform, 1)):
        at = mech.pose(mech.default.q, mech.body_names[body]).xyz
        targets = [list(at + 0.8 * mech.length * rng.standard_normal(3)) for _ in range(40)]
        low, high = np.clip(mech.model.limits, -1e30, 1e30).T.tolist()
        how = {"body": body, "point": [0.05, 0.0, 0.02], "targets": targets, "lower": low, "upper": high}
        cases.append(case(mech, mech.default.q, np.zeros(mech.nv), "drag", **how))
    of_arm, of_platform = run_cases(cases)
    q = np.array([one["q"] for one in of_arm["path"]])
    assert np.max(q - arm.model.limits[:, 1]) < 1e-9 and np.max(arm.model.limits[:, 0] - q) < 1e-9
    reached = np.abs(q[:, :, None] - arm.model.limits).min()
    assert reached < 1e-6, "some limit must have been reached"
    assert max(one["gap"] for one in of_platform["path"]) < 1e-12


def test_the_pull_is_a_spring_with_a_damper() -> None:
    mech = sr.library.double_pendulum()
    q, v, point, target = [0.3, -0.4], [0.5, 0.2], [0.1, 0.0, 0.2], [1.0, 0.2, -0.3]
    how = {"body": 2, "point": point, "target": target, "stiffness": 7.0, "damping": 0.3}
    (found,) = run_cases([case(mech, q, v, "pull", **how)])
    J = mech.jacobian(np.array(q), mech.body_names[2], point)[:3]
    pose = mech.pose(np.array(q), mech.body_names[2])
    force = 7.0 * (np.array(target) - pose.xyz - pose.rotation @ np.array(point)) - 0.3 * J @ np.array(v)
    close(found["tau"], J.T @ force)
