"""`reach` of several bodies at once, and of many targets and guesses: each the same as a single one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


def two_hands() -> sr.Mechanism:
    """A trunk that turns and slides, with an arm of two hinges on either side."""
    spec = sr.MechanismSpec()
    spec.body("trunk", joint=sr.Planar("z"), mass=5.0, inertia=(0.1, 0.1, 0.1))
    for side, y in (("left", 0.2), ("right", -0.2)):
        at = sr.Pose((0.0, y, 0.0))
        spec.body(f"{side}_arm", "trunk", joint=sr.Revolute("z"), at=at, mass=1.0, com=(0.2, 0, 0))
        at = sr.Pose((0.4, 0.0, 0.0))
        spec.body(f"{side}_hand", f"{side}_arm", joint=sr.Revolute("z"), at=at, mass=0.5, com=(0.1, 0, 0))
        spec.frame(f"{side}_tip", f"{side}_hand", sr.Pose((0.3, 0.0, 0.0)))
    return spec.compile()


def test_several_bodies_at_once() -> None:
    """Both tips at points, the trunk at a pose."""
    mech = two_hands()
    q = np.array([0.1, 0.05, 0.2, 0.5, 0.4, -0.3, -0.6])
    tips = [mech.position(q, "left_hand", (0.3, 0, 0)), mech.position(q, "right_tip")]
    found = mech.reach(["left_hand", "right_tip"], [(0.3, 0, 0), (0, 0, 0)], tips)
    assert found.success and found.residual < 1e-9, found.message
    np.testing.assert_allclose(mech.position(found.q, "left_tip"), tips[0], atol=1e-9)
    np.testing.assert_allclose(mech.position(found.q, "right_tip"), tips[1], atol=1e-9)
    with_trunk = mech.reach(
        ("left_tip", "right_tip", "trunk"), [(0, 0, 0)] * 3, [*tips, mech.pose(q, "trunk")], q_guess=0.8 * q
    )
    assert with_trunk.success
    np.testing.assert_allclose(with_trunk.q, q, atol=1e-8)


def test_what_two_cannot_have_is_shared() -> None:
    """Tips asked for farther apart than the arms are long: the least sum of squares, and no success."""
    mech = two_hands()
    targets = [(0.0, 1.0, 0.0), (0.0, -1.0, 0.0)]
    found = mech.reach(["left_tip", "right_tip"], [(0, 0, 0)] * 2, targets)
    assert not found.success and found.residual == pytest.approx(np.sqrt(2) * 0.1, abs=1e-3)


def test_many_targets_and_guesses() -> None:
    mech = two_hands()
    rng = np.random.default_rng(4)
    poses = rng.uniform(-0.5, 0.5, (2, 3, mech.nq))
    goals = mech.position(poses, "left_tip")
    many = mech.reach("left_tip", (0, 0, 0), goals)
    assert many.q.shape == (2, 3, mech.nq) and many.residual.shape == many.success.shape == (2, 3)
    assert bool(np.all(many.success)) and many.message == "6 of 6 reached."
    for i in np.ndindex(2, 3):
        np.testing.assert_array_equal(many.q[i], mech.reach("left_tip", (0, 0, 0), goals[i]).q)
    np.testing.assert_allclose(mech.position(many.q, "left_tip"), goals, atol=1e-9)
    from_guesses = mech.reach("left_tip", (0, 0, 0), goals[0, 0], q_guess=poses[0])
    assert from_guesses.q.shape == (3, mech.nq) and bool(np.all(from_guesses.success))
    np.testing.assert_allclose(from_guesses.q[0], poses[0, 0], atol=1e-12)
    none = mech.reach("left_tip", (0, 0, 0), np.zeros((0, 3)))
    assert none.q.shape == (0, mech.nq) and none.message == "0 of 0 reached."


@pytest.mark.parametrize("make", [list, lambda poses: poses])
def test_many_poses_of_several_bodies(make: Any) -> None:
    """An array of poses, as mech.pose gives it, or a list; one point for all of them beside it."""
    mech = two_hands()
    q = np.random.default_rng(5).uniform(-0.4, 0.4, (4, mech.nq))
    poses = mech.pose(q, "trunk")
    found = mech.reach(["trunk", "right_tip"], [(0, 0, 0)] * 2, [make(poses), mech.position(q, "right_tip")])
    assert bool(np.all(found.success)), found.message
    np.testing.assert_allclose(found.q[:, :3], q[:, :3], atol=1e-8)
    np.testing.assert_allclose(mech.position(found.q, "right_tip"), mech.position(q, "right_tip"), atol=1e-8)


def test_some_of_many_are_out_of_reach() -> None:
    mech = two_hands()
    found = mech.reach("left_tip", (0, 0, 0), [(0.1, 0.0, 0.0), (0.1, 0.0, 0.5), (0.2, 0.1, 0.0)])
    assert found.success.tolist() == [True, False, True]
    assert found.residual[1] == pytest.approx(0.5) and found.at_limits.shape == (3,)
    assert found.message.startswith("2 of 3 reached. The first that is not, 1: Not reached: the nearest")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            (["left_tip", "trunk"], [(0, 0, 0)], [(0, 0, 0)] * 2),
            "point of reach must be one for each of the 2",
        ),
        ((["left_tip"], [(0, 0, 0)], sr.Pose()), "target of reach must be one for each of the 1 bodies"),
        (([], [], []), "reach needs at least one body"),
        (("left_tip", (0, 0, 0), [sr.Pose(), (0, 0, 0)]), "must be points .* or poses, got a tuple"),
        ((["trunk", "left_tip"], [(0, 0, 0)] * 2, [np.zeros((2, 3)), np.zeros((3, 3))]), "do not fit"),
        (("left_tip", (0, 0, 0), (0, 0)), r"target of reach must have shape \(3,\)"),
    ],
)
def test_what_is_refused(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(sr.SarrusError, match=said):
        two_hands().reach(*arguments)
