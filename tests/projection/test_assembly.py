"""Assembly: poses that close, near the guess; failures that name the gap. Oracle: phi itself, geometry."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr

BAR: dict[str, Any] = {"mass": 1.0, "com": (0.1, 0.0, 0.0), "inertia": (0.01, 0.01, 0.01)}
CLOSED = [
    "four_bar", "parallelogram", "five_bar", "andrews", "bricard", "bennett", "sarrus", "scott_russell",
    "dual_arm", "stewart", "delta", "three_rrr", "jansen_leg", "loader",
]  # fmt: skip


def chain(lengths: list[float], goal: float, at_b: sr.Pose | None = None) -> sr.MechanismSpec:
    """Hinges about z in a row along x; the tip is tied to (goal, 0, 0) by a hinge."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    parent, at = "ground", sr.Pose()
    for i, length in enumerate(lengths):
        spec.body(f"link{i}", parent=parent, joint=sr.Revolute("z"), at=at, **BAR)
        parent, at = f"link{i}", sr.Pose((length, 0, 0))
    return spec.close(
        "pin", "ground", parent, joint=sr.Revolute("z"), at_a=sr.Pose((goal, 0, 0)), at_b=at_b or at
    )


@pytest.mark.parametrize("name", CLOSED)
def test_perturbed_mechanisms_close_to_rounding_near_the_guess(name: str) -> None:
    mech = getattr(sr.library, name)()
    rng = np.random.default_rng(5)
    for _ in range(5):
        guess = mech.integrate(mech.default.q, 0.1 * mech.model.unit * rng.normal(size=mech.nv))
        found = mech.assemble(guess)
        assert found.success, found.message
        assert found.residual <= 1e-13 * max(1.0, mech.length)
        moved = np.linalg.norm(mech.difference(guess, found.q) / mech.model.unit)
        away = np.linalg.norm(mech.difference(guess, mech.default.q) / mech.model.unit)
        assert moved <= 1.3 * away
        assert max(found.gaps.values()) == found.residual


def test_a_stretched_chain_bends() -> None:
    mech = chain([1.0, 1.0, 1.0], 1.5).compile()
    found = mech.assemble()
    assert found.success
    assert found.message.startswith("Assembled: largest gap")
    assert np.max(np.abs(mech.terms(found.q, np.zeros(3)).phi)) < 1e-14


def test_held_coordinates_stay_exactly() -> None:
    mech = sr.library.four_bar()
    found = mech.assemble(fixed={"crank": 1.2345})
    assert found.success
    assert found.q[0] == 1.2345


def test_a_loop_that_is_too_short_names_its_gap() -> None:
    found = chain([1.0, 1.0], 2.5).compile().assemble()
    assert not found.success
    assert found.residual == pytest.approx(0.5, rel=1e-6)
    assert "'pin' stays open by 0.5 m" in found.message
    assert "does not close even on its own" in found.message


def test_anti_parallel_axes_are_not_assembled() -> None:
    flipped = chain([1.0, 1.0, 1.0], 1.5, sr.Pose((1.0, 0, 0), rpy=(math.pi, 0, 0))).compile()
    found = flipped.assemble()
    assert not found.success
    assert "180 degrees and is flipped" in found.message
    assert found.gaps["pin"] > 2.2 * flipped.length  # pi, shared by two rows


@pytest.mark.parametrize("angle", [2.0, 3.0, math.pi])
@pytest.mark.parametrize(
    "joint", [sr.Revolute("z"), sr.Cylindrical("x"), sr.Planar("y"), sr.Revolute((1, 2, 2))]
)
def test_flipped_axes_turn_round_where_they_can(joint: Any, angle: float) -> None:
    spec = sr.MechanismSpec()
    spec.body("box", joint=sr.Free(), **BAR)
    turned = sr.Pose((0.2, 0.0, 0.1), rpy=(angle, 0.0, 0.3))
    spec.close("pin", "ground", "box", joint=joint, at_a=sr.Pose((1.0, 0.2, 0.0)), at_b=turned)
    mech = spec.compile()
    found = mech.assemble()
    assert found.success, found.message
    pose = mech.pose(found.q, "box")
    axis = joint.direction
    assert axis @ pose.rotation @ turned.rotation @ axis == pytest.approx(1.0)


def test_a_flipped_weld_turns_round_or_is_refused() -> None:
    at_b = sr.Pose((0.2, 0, 0), rpy=(0, 0, math.pi))
    free = sr.MechanismSpec()
    free.body("box", joint=sr.Free(), **BAR)
    free.close("weld", "ground", "box", joint=sr.Fixed(), at_a=sr.Pose((1, 0, 0)), at_b=at_b)
    assert free.compile().assemble().success
    stuck = sr.MechanismSpec()
    stuck.body("sled", joint=sr.Prismatic("x"), **BAR)
    stuck.close("weld", "ground", "sled", joint=sr.Fixed(), at_a=sr.Pose((1, 0, 0)), at_b=at_b)
    found = stuck.compile().assemble()
    assert not found.success
    assert "flipped" in found.message


def test_loops_that_contradict_each_other_are_named() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), **BAR)
    for name, point in (("left", (1.0, 0, 0)), ("right", (0, 1.0, 0))):
        spec.close(
            name, "ground", "arm", joint=sr.Spherical(), at_a=sr.Pose(point), at_b=sr.Pose((1.0, 0, 0))
        )
    found = spec.compile().assemble()
    assert not found.success
    assert "'left'" in found.message
    assert "'right'" in found.message
    assert "contradict each other" in found.message


def test_held_values_are_named_when_they_are_the_trouble() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), **BAR)
    spec.body("b", joint=sr.Revolute("z"), **BAR)
    spec.constrain("gear", sr.Coupling({"a": 1.0, "b": -2.0}))
    mech = spec.compile()
    assert mech.assemble(fixed={"a": 1.0}).q == pytest.approx([1.0, 0.5])
    found = mech.assemble(fixed={"a": 1.0, "b": 1.0})
    assert not found.success
    assert "57.3 degrees" in found.message
    assert "Held all the while: a = 1, b = 1" in found.message


def test_rounded_data_are_recognised() -> None:
    found = chain([1.0, 1.0, 1.0], 1.5, sr.Pose((1.0, 0, 0), rpy=(1e-5, 0, 0))).compile().assemble()
    assert not found.success
    assert "rounded data" in found.message


def test_custom_rows_have_their_own_unit_in_messages() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), **BAR)
    spec.constrain("odd", sr.CustomConstraint(lambda q, t: [q[0] ** 2 + 1.0], 1))
    found = spec.compile().assemble()
    assert not found.success
    assert "'odd' stays open by 1." in found.message


def test_quaternions_stay_on_their_manifold_and_whole_joints_can_be_held() -> None:
    spec = sr.MechanismSpec()
    spec.body("upper", joint=sr.Spherical(), **BAR)
    spec.body("lower", parent="upper", joint=sr.Spherical(), at=sr.Pose((0, 0, 1.0)), **BAR)
    point = sr.Pose((0, 0, 0.8))
    spec.close("tip", "ground", "lower", joint=sr.Spherical(), at_a=sr.Pose((0.3, 0.2, 1.2)), at_b=point)
    mech = spec.compile()
    found = mech.assemble(2.0 * mech.neutral())
    assert found.success
    np.testing.assert_allclose([np.linalg.norm(found.q[:4]), np.linalg.norm(found.q[4:])], 1.0, rtol=1e-14)
    half = math.sqrt(0.5)
    held = mech.assemble(fixed={"upper": [0.0, 2 * half, 0.0, 2 * half]})
    np.testing.assert_allclose(held.q[:4], [0.0, half, 0.0, half])


def test_points_that_coincide_do_not_stop_a_distance() -> None:
    spec = sr.MechanismSpec()
    spec.body("ball", joint=sr.Free(), **BAR)
    spec.constrain("rod", sr.Distance("ground", (0, 0, 0), "ball", (0, 0, 0), 0.7))
    mech = spec.compile()
    found = mech.assemble()
    assert found.success
    assert np.linalg.norm(found.q[:3]) == pytest.approx(0.7)
    with pytest.raises(
        sr.InputError, match=r"rows rod\.distance of mechanism .* are not defined at this pose"
    ):
        mech.forward_dynamics(mech.neutral(), np.zeros(6))


def test_drives_are_met_at_their_time() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), **BAR)
    spec.constrain("motor", sr.Drive("arm", lambda t: 2.0 * t))
    assert spec.compile().assemble(t=0.4).q == pytest.approx([0.8])


def test_no_default_where_nothing_closes() -> None:
    with pytest.raises(
        sr.AssemblyError, match=r"no default state\. Not assembled: 'pin' stays open by 0\.5 m"
    ):
        _ = chain([1.0, 1.0], 2.5).compile().default


def balls() -> sr.Mechanism:
    spec = sr.MechanismSpec(name="balls")
    spec.body("ball", joint=sr.Spherical(), **BAR)
    spec.body("rail", joint=sr.Prismatic("x"), **BAR)
    return spec.compile()


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"fixed": {"ball.wx": 1.0}}, sr.InputError, "hold the whole joint: fixed={'ball': its part of q}"),
        ({"fixed": {"bell": 1.0}}, sr.UnknownNameError, "unknown coordinate 'bell'.*'ball.wx'"),
        (
            {"fixed": {"ball": [0.0, 0.0, 1.0]}},
            sr.InputError,
            r"fixed position of 'ball' must have shape \(4,\)",
        ),
        ({"fixed": {"rail": [1.0, 2.0]}}, sr.InputError, r"fixed position of 'rail' must have shape \(1,\)"),
        ({"fixed": {"rail": np.nan}}, sr.InputError, "fixed position of 'rail' must be finite"),
        ({"q_guess": np.zeros(5)}, sr.InputError, "is a quaternion .* must not have zero norm"),
        ({"q_guess": np.zeros((2, 4)) + 1}, sr.InputError, r"q_guess.* must have shape \(5,\)"),
        ({"t": np.inf}, sr.InputError, "`t` must be a finite time in seconds, got inf"),
        ({"t": "soon"}, sr.InputError, "`t` must be a time in seconds, got 'soon'"),
    ],
)
def test_bad_input_is_refused(arguments: dict[str, Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        balls().assemble(**arguments)


def test_a_time_that_is_no_number_after_another_assembly() -> None:
    mech = sr.library.four_bar()
    mech.assemble()
    with pytest.raises(sr.InputError, match=r"`t` must be a time in seconds, got array"):
        mech.assemble(t=np.zeros(3))  # type: ignore[arg-type]


def test_held_coordinates_that_contradict_the_loop_are_blamed() -> None:
    """Not the frames of the loop, which closes without them."""
    found = sr.library.four_bar().assemble(fixed={"crank": 0.3, "coupler": 0.3, "rocker": 0.3})
    assert not found.success
    assert "crank = 0.3, coupler = 0.3, rocker = 0.3. It closes where nothing is held" in found.message
    assert "check its frames" not in found.message
