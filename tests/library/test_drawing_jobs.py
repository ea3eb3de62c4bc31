"""Jobs of machine builders, as a new user writes them: at most 15 lines each, checked by hand formulas."""

from __future__ import annotations

import ast
import inspect
import math
import textwrap
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr

G = 9.81
HINGE = sr.Revolute("z")
A, D = np.array([0.0, 0.0]), np.array([0.4, 0.0])


def meet(p: Any, r: float, q: Any, s: float) -> Any:
    """The left one of the points at distance r from p and s from q."""
    line = np.subtract(q, p)
    d = float(np.hypot(*line))
    along = (d * d + r * r - s * s) / (2 * d)
    across = math.sqrt(r * r - along * along)
    return p + along / d * line + across / d * np.array([-line[1], line[0]])


# ---------------------------------------------------------------------- jobs


def four_bar() -> sr.Mechanism:
    """Hardpoints, links by points, joints between any two bodies."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    a = spec.parameter("a", 0.12)
    spec.point("A", (0, 0, 0)).point("B", (0, a, 0)).point("C", (0.35, 0.3, 0)).point("D", (0.4, 0, 0))
    spec.point("P", (0.2, 0.4, 0))
    spec.link("crank", "A", "B", mass=0.5).link("coupler", "B", "C", "P", mass=1.0).link("rocker", "C", "D")
    for pin, a_, b_ in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker")):
        spec.joint(pin, a_, b_, HINGE, at=pin)
    spec.joint("D", "ground", "rocker", HINGE, at="D")
    return spec.measure("P", sr.Position("coupler", "P")).compile()


def coupler_curve() -> Any:
    """The path of a coupler point over a turn of the crank."""
    mech = four_bar()
    return mech.measure(mech.sweep("A", np.linspace(0, 2 * np.pi, 37)).q)["P"]


def variants_of_a_length() -> Any:
    """Another crank: how far does the rocker swing?"""
    mech, turn = four_bar(), np.linspace(0, 2 * np.pi, 361)
    swings = []
    for a in (0.08, 0.1, 0.12):
        variant = mech.with_(a=a)
        swings.append(np.ptp(variant.sweep("A", turn).q[:, variant.index("D").q]))
    return swings


def assembly_modes() -> Any:
    """All ways to put it together with the crank as drawn."""
    mech = four_bar()
    modes = mech.assemblies(fixed={"A": 0.0})
    return mech.measure(modes.q)["P"]


def reach_a_point() -> Any:
    """The strokes that bring an excavator's teeth to a place, the bucket cylinder held."""
    mech = sr.library.excavator()
    tip = mech.pose(mech.default.q, "bucket").inverse().apply((5.75, 2.6 - 2.8 * math.sqrt(0.75) - 1.4, 0))
    found = mech.reach("bucket", tip, (5.2, -2.0, 0.0), fixed={"bucket_cylinder": 0.0})
    return found.success, mech.measure(found.q)["tip"]


def boom_on_a_cylinder() -> Any:
    """A boom on a hydraulic cylinder: its angle over the stroke, the force that holds it."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.point("foot", (0, 0, 0)).point("end", (2, 0, 0)).point("base", (0.5, -0.6, 0)).point(
        "eye", (1, 0, 0)
    )
    spec.link("boom", "foot", "end", mass=100.0).link("barrel", "base", (0.8, -0.24, 0), mass=0)
    spec.link("rod", (0.7, -0.36, 0), "eye", mass=1e-9)
    spec.joint("pivot", "ground", "boom", HINGE, at="foot").joint("upper", "rod", "boom", HINGE, at="eye")
    spec.joint("lower", "ground", "barrel", HINGE, at="base")
    axis = sr.Pose.looking_at((0.7, -0.36, 0), (1, 0, 0), "x")
    mech = spec.joint("stroke", "barrel", "rod", sr.Prismatic("x"), at=axis).actuate("stroke").compile()
    poses, still = mech.sweep("stroke", [0.0, 0.1, 0.2]).q, np.zeros((3, mech.nv))
    force = mech.inverse_dynamics(poses, still, still).tau[:, mech.names.index("stroke")]
    return poses[:, mech.index("pivot").q][:, 0], force


def reaction_along_a_run() -> Any:
    """A falling rod: the force in its pin while it swings."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0)).point("O", (0, 0, 0)).point("E", (1, 0, 0))
    spec.link("rod", "O", "E", mass=2.0).joint("pin", "ground", "rod", HINGE, at="O")
    run = sr.simulate(spec.compile(), (0, 1.0))
    return run.q[:, 0], run.reaction("pin")[:, :3]


def spring_of_a_lamp() -> Any:
    """A lamp arm on a spring: where it rests, the force in the spring there."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.point("O", (0, 0, 0)).point("E", (0.6, 0.1, 0)).point("S", (0.2, 0.1 / 3, 0)).point("H", (0, 0.3, 0))
    spec.link("arm", "O", "E", mass=1.0).joint("elbow", "ground", "arm", HINGE, at="O")
    spec.force("spring", sr.PointSpring("arm", "S", "ground", "H", stiffness=300.0, rest=0.25))
    spec.measure("force", sr.ForceIn("spring")).measure("length", sr.Length("arm", "S", "ground", "H"))
    mech = spec.measure("lean", sr.Angle("ground", "arm")).compile()
    return mech.measure(sr.equilibrium(mech).q)


def toggle_clamp() -> Any:
    """Mechanical advantage of a toggle: force on the slide over force on the knee, as it straightens."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.point("A", (0, 0, 0)).point("K", (0.1, 0.02, 0)).point("S", (0.2, 0, 0))
    spec.link("left", "A", "K").link("right", "K", "S").part("ram", at=sr.Pose((0.2, 0, 0)), mass=1.0)
    spec.joint("A", "ground", "left", HINGE, at="A").joint("K", "left", "right", HINGE, at="K")
    spec.joint("S", "right", "ram", HINGE, at="S").joint("slide", "ground", "ram", sr.Prismatic("x"), at="S")
    mech = spec.measure("knee", sr.Speed("left", "K")).measure("ram", sr.Speed("ram")).compile()
    path = mech.sweep("A", np.linspace(0, -0.15, 4)).q
    found = mech.measure(path, mech.consistent_velocity(path, fixed={"A": -1.0}))
    return np.hypot(*found["knee"][:, :2].T) / np.abs(found["ram"][:, 0])


def driven_stroke() -> Any:
    """A cylinder driven as a function of time: how fast do the teeth move?"""
    mech = sr.library.excavator()
    rates = dict.fromkeys(("boom_cylinder", "stick_cylinder", "bucket_cylinder"), 0.0) | {
        "boom_cylinder": 0.1
    }
    v = mech.consistent_velocity(mech.default.q, fixed=rates)
    bucket = mech.pose(mech.default.q, "bucket").inverse()
    return mech.velocity(mech.default.q, v, "bucket", bucket.apply(mech.measure(mech.default.q)["tip"]))[:3]


JOBS = (four_bar, coupler_curve, variants_of_a_length, assembly_modes, reach_a_point, boom_on_a_cylinder,
        reaction_along_a_run, spring_of_a_lamp, toggle_clamp, driven_stroke)  # fmt: skip


# ---------------------------------------------------------------------- checks


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.__name__)
def test_jobs_take_15_lines(job: Callable[[], Any]) -> None:
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(job))).body
    assert isinstance(function, ast.FunctionDef) and function.end_lineno is not None
    assert function.end_lineno - function.body[1].lineno + 1 <= 15


def coupler_point(turn: float, side: int = 1) -> Any:
    """P by circles: B on the crank, C at its distances from B and D, P carried along."""
    B0, C0, P0 = np.array([0.0, 0.12]), np.array([0.35, 0.3]), np.array([0.2, 0.4])
    B = 0.12 * np.array([-math.sin(turn), math.cos(turn)])
    r, s = math.dist(B0, C0), math.dist(C0, D)
    C = meet(B, r, D, s) if side > 0 else meet(D, s, B, r)
    e0, e = (C0 - B0) / r, (C - B) / r
    x, y = (P0 - B0) @ e0, (P0 - B0) @ np.array([-e0[1], e0[0]])
    return B + x * e + y * np.array([-e[1], e[0]])


def test_a_coupler_curve() -> None:
    curve = coupler_curve()
    expected = [coupler_point(turn) for turn in np.linspace(0, 2 * np.pi, 37)]
    np.testing.assert_allclose(curve[:, :2], expected, atol=1e-11)


def test_swing_of_a_rocker() -> None:
    """At the dead centres crank and coupler are in line."""
    for a, found in zip((0.08, 0.1, 0.12), variants_of_a_length(), strict=True):
        r, s = math.dist((0.0, a), (0.35, 0.3)), math.dist((0.35, 0.3), D)
        far, near = (math.acos((s * s + 0.16 - (r + k * a) ** 2) / (0.8 * s)) for k in (1, -1))
        assert found == pytest.approx(far - near, abs=1e-3)  # of a grid of one degree


def test_both_modes_are_found() -> None:
    found = assembly_modes()
    np.testing.assert_allclose(found[:, :2], [coupler_point(0.0), coupler_point(0.0, -1)], atol=1e-9)


def test_teeth_reach_the_target() -> None:
    success, tip = reach_a_point()
    assert success
    np.testing.assert_allclose(tip, [5.2, -2.0, 0.0], atol=1e-8)


def test_a_boom_on_a_cylinder() -> None:
    """Law of cosines in the triangle foot, base, eye; virtual work of the weight."""
    angles, forces = boom_on_a_cylinder()
    to_base, apart = math.hypot(0.5, 0.6), math.atan2(0.6, 0.5)
    for angle, force, stroke in zip(angles, forces, (0.0, 0.1, 0.2), strict=True):
        length = math.hypot(0.5, 0.6) + stroke  # base to eye, drawn with the same components
        opening = math.acos((1.0 + to_base**2 - length**2) / (2.0 * to_base))
        assert angle == pytest.approx(opening - apart, abs=1e-12)
        lever = to_base * math.sin(opening) / length
        assert force == pytest.approx(100.0 * G * math.cos(angle) / lever, rel=1e-7)  # rod of 1e-9 kg


def test_the_pin_of_a_falling_rod() -> None:
    """Energy: w^2 = 3 g sin(fall) / l; along the rod m (g sin + w^2 l/2), across m (g cos - 3/4 g cos)."""
    q, force = reaction_along_a_run()
    fall = -q
    along, across = 2.5 * 2.0 * G * np.sin(fall), 0.25 * 2.0 * G * np.cos(fall)
    np.testing.assert_allclose(
        np.hypot(force[:, 0], force[:, 1]), np.hypot(along, across), rtol=1e-5, atol=1e-5
    )
    assert fall.max() > math.pi / 2


def test_a_lamp_rests_where_moments_balance() -> None:
    found = spring_of_a_lamp()
    lean = found["lean"]
    S = math.hypot(0.2, 0.1 / 3) * np.array([math.cos(lean), math.sin(lean)])
    pull = np.array([0.0, 0.3]) - S
    assert found["length"] == pytest.approx(np.linalg.norm(pull), abs=1e-12)
    assert found["force"] == pytest.approx(300.0 * (found["length"] - 0.25), abs=1e-9)
    moment = found["force"] / found["length"] * (S[0] * pull[1] - S[1] * pull[0])
    assert moment == pytest.approx(0.5 * math.hypot(0.6, 0.1) * math.cos(lean) * G, rel=1e-8)


def test_a_toggle_gains_as_it_straightens() -> None:
    """x = 2 l cos(a): the knee moves with l da, the ram with 2 l sin(a) da."""
    angle = math.atan2(0.02, 0.1) + np.linspace(0, -0.15, 4)
    np.testing.assert_allclose(toggle_clamp(), 1.0 / (2.0 * np.sin(angle)), rtol=1e-10)


def test_teeth_of_a_driven_boom() -> None:
    """All but the boom cylinder held, everything turns about the boom's foot."""
    tip = np.array([5.75, 2.6 - 2.8 * math.sqrt(0.75) - 1.4])
    base, eye = np.array([0.7, -0.4]), np.array([2.1, 1.7])
    lever = (base[0] * eye[1] - base[1] * eye[0]) / math.dist(base, eye)
    np.testing.assert_allclose(driven_stroke(), 0.1 / lever * np.array([-tip[1], tip[0], 0.0]), atol=1e-12)
