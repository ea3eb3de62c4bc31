"""Driven distances and actuators along a line, against hand formulas and rods of bodies."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr

BASE, EYE = (0.8, -0.6, 0.0), (1.0, 0.0, 0.0)
DRAWN = math.hypot(0.2, 0.6)


def crane(name: str = "crane") -> sr.MechanismSpec:
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name=name)
    spec.link("boom", (0, 0, 0), (2, 0, 0), mass=100.0)
    return spec.joint("foot", "ground", "boom", sr.Revolute("z"), at=(0, 0, 0))


def length(t: float) -> float:
    return DRAWN + 0.1 * math.sin(2 * t)


def driven(function: Any = length, *more: Any) -> sr.Mechanism:
    spec = crane().constrain("lift", sr.DrivenDistance("ground", BASE, "boom", EYE, function, *more))
    return (
        spec.measure("rod", sr.ForceIn("lift")).measure("d", sr.Length("ground", BASE, "boom", EYE)).compile()
    )


def lift(**given: Any) -> sr.Mechanism:
    spec = crane().actuator("lift", "ground", BASE, "boom", EYE, **{"armature": 1e-6, **given})
    return spec.measure("rod", sr.ForceIn("lift_line")).compile()


@pytest.mark.parametrize("method", ["auto", "rk4", "radau", "dopri5"])
def test_driven_distance_follows_its_function(method: str) -> None:
    run = sr.simulate(driven(), (0, 3), method=method)
    assert run.success
    np.testing.assert_allclose(run["d"], [length(t) for t in run.t], atol=1e-12)


def test_force_in_a_driven_distance() -> None:
    """By the angle of the boom: M a + h of the boom over the lever of the rod."""
    mech = driven(length, lambda t: 0.2 * math.cos(2 * t), lambda t: -0.4 * math.sin(2 * t))
    run = sr.simulate(mech, (0, 1))
    bare = crane().compile()
    needed = [bare.rnea(*state)[0] for state in zip(run.q, run.v, run.a, strict=True)]
    tips = np.array([mech.pose(q, "boom").apply(EYE) for q in run.q])
    along = (tips - BASE) / np.linalg.norm(tips - BASE, axis=1)[:, None]
    lever = tips[:, 0] * along[:, 1] - tips[:, 1] * along[:, 0]
    np.testing.assert_allclose(-run["rod"] * lever, needed, rtol=1e-9)


def test_drive_is_assembled_and_swept_at_its_time() -> None:
    mech = driven()
    for t in (0.0, 0.4, 2.0):
        q = mech.assemble(t=t).q
        assert mech.measure(q, t=t)["d"] == pytest.approx(length(t), abs=1e-12)
    assert mech.mobility(mech.neutral()).dof == 0


def test_drive_beside_a_near_miss() -> None:
    """Steps of a driven loop are tested for jumps with its drive released: a kite, almost a parallelogram."""

    def kite(drive: Any) -> sr.Mechanism:
        spec = sr.MechanismSpec(gravity=(0, 0, 0), name="kite")
        a, b, c, d = (0, 0, 0), (0.3, 0.4, 0), (1.3, 0.4001, 0), (1, 0, 0)
        spec.link("crank", a, b, mass=1.0).link("rod", b, c, mass=1.0).link("rocker", d, c, mass=1.0)
        for name, p, one, other in (
            ("A", a, "ground", "crank"),
            ("B", b, "crank", "rod"),
            ("C", c, "rod", "rocker"),
            ("D", d, "ground", "rocker"),
        ):
            spec.joint(name, one, other, sr.Revolute("z"), at=p)
        return spec.constrain("drive", drive, frame="body").compile()

    far = (-0.6, 0.0, 0.0)

    def apart(t: float) -> float:
        angle = math.atan2(0.4, 0.3) + t
        return math.hypot(0.5 * math.cos(angle) + 0.6, 0.5 * math.sin(angle))

    by_angle = sr.simulate(kite(sr.Drive("A", lambda t: t)), (0, 1.5))
    by_length = sr.simulate(kite(sr.DrivenDistance("ground", far, "crank", (0.5, 0, 0), apart)), (0, 1.5))
    assert by_angle.success and by_length.success
    np.testing.assert_allclose(by_length.q[-1], by_angle.q[-1], atol=1e-6)


def test_actuator_holds_what_statics_say() -> None:
    mech = lift(limits=(0, 500))
    rest = np.zeros(mech.nv)
    found = mech.inverse_dynamics(mech.neutral(), rest, rest)
    assert found.u == pytest.approx([100 * 9.81 * DRAWN / 0.6], rel=1e-9)
    assert "lift" in found.message  # beyond its limits
    motion = mech.forward_dynamics(mech.neutral(), rest, u=found.u)
    assert np.abs(motion.a).max() < 1e-9
    assert motion.reaction("lift_line")[:2] == pytest.approx(found.u[0] * np.array([0.2, 0.6]) / DRAWN)


def test_actuator_moves_as_a_cylinder_without_mass() -> None:
    """Against barrel and rod that weigh a milligram each."""
    light = crane().cylinder("lift", "ground", BASE, "boom", EYE, axis="z", mass=(1e-6, 1e-6)).compile()
    runs = [sr.simulate(mech, (0, 0.5), control=lambda t, q, v: [1500.0]) for mech in (lift(), light)]
    ends = [mech.pose(run.q[-1], "boom").rotation for run, mech in zip(runs, (lift(), light), strict=True)]
    np.testing.assert_allclose(ends[0], ends[1], atol=1e-6)


def test_armature_counts_along_the_line() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="cart")
    spec.body("cart", joint=sr.Prismatic("x"), at=sr.Pose((1, 0, 0)), mass=2.0)
    mech = spec.actuator("push", "ground", (0, 0, 0), "cart", (1, 0, 0), armature=3.0).compile()
    assert mech.forward_dynamics(mech.neutral(), np.zeros(2), u=[10.0]).a == pytest.approx([2.0, 2.0])


def test_stroke_stops_friction_and_drive_by_its_name() -> None:
    spec = crane().actuator("lift", "ground", BASE, "boom", EYE, armature=0.1, stroke=(0.5, 0.9))
    spec.force("buffer", sr.EndStop("lift", (-0.05, None), 1e6, 1e4))
    spec.force("seal", sr.CoulombFriction("lift", 100.0))
    mech = spec.compile()
    assert mech.model.limits[mech.names.index("lift")] == pytest.approx([0.5 - DRAWN, 0.9 - DRAWN])
    run = sr.simulate(mech, (0, 2))  # sinks onto the buffer
    assert run.success and -0.06 < run.q[-1, mech.index("lift").q][0] < -0.05
    by_name = crane().actuator("lift", "ground", BASE, "boom", EYE, armature=0.1)
    by_name.constrain("drive", sr.Drive("lift", lambda t: 0.1 * math.sin(2 * t)))
    mine, theirs = (sr.simulate(m, (0, 1)) for m in (by_name.compile(), driven()))
    rotation = [run.system.pose(run.q[-1], "boom").rotation for run in (mine, theirs)]
    np.testing.assert_allclose(*rotation, atol=1e-9)


def test_files_and_copies(tmp_path: Any) -> None:
    mech = lift(limits=(0, 5000))
    sr.save(mech, tmp_path / "crane.json")
    again, q = sr.load(tmp_path / "crane.json"), mech.neutral()
    np.testing.assert_array_equal(again.terms(q, q).J, mech.terms(q, q).J)
    rolled = sr.rollout(mech, np.tile(q, (3, 1)), u=np.full((50, 1), 1500.0), dt=2e-3, steps=50)
    run = sr.simulate(mech, (0, 0.1), control=lambda t, q, v: [1500.0], rtol=1e-10)
    np.testing.assert_allclose(rolled.q[0, -1], run.q[-1], atol=1e-9)


def test_bad_input() -> None:
    with pytest.raises(sr.InputError, match=r"length of DrivenDistance must be a callable f\(t\).*Distance"):
        driven(0.5)
    with pytest.raises(sr.InputError, match="function of DrivenDistance must return a finite number"):
        sr.simulate(driven(lambda t: math.nan), (0, 1))
    with pytest.raises(sr.InputError, match="armature of actuator 'lift' must be positive"):
        lift(armature=0.0)
    with pytest.raises(sr.InputError, match="outside its stroke"):
        lift(stroke=(0.7, 0.9))
    with pytest.raises(sr.InputError, match="two different bodies"):
        crane().actuator("lift", "boom", BASE, "boom", EYE, armature=1.0)
    with pytest.raises(sr.ModelError, match="must be a displacement that moves neither"):
        crane().constrain("row", sr.Span("ground", BASE, "boom", EYE, "foot")).compile()
