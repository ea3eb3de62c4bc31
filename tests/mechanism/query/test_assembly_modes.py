"""Assembly modes are counted by the poses of bodies: joints that are turned over make no further ones."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def crank_and_rod(**rod: object) -> sr.Mechanism:
    """A crank and a rocker with a rod between, on a universal joint and a ball."""
    spec = sr.MechanismSpec()
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.05, 0, 0), inertia=(1e-3, 1e-3, 1e-3))
    at = sr.Pose((0.1, 0, 0))
    spec.body("rod", "crank", joint=sr.Universal("y", "z"), at=at, mass=1.0, **rod)  # type: ignore[arg-type]
    place = sr.Pose((0.3, 0.5, 0.0))
    spec.body("rocker", joint=sr.Revolute("x"), at=place, mass=1.0, com=(0, 0, 0.1), inertia=(1e-3,) * 3)
    tip = sr.Pose((float(np.linalg.norm([0.2, 0.5, 0.25])), 0, 0))
    spec.close("ball", "rod", "rocker", sr.Spherical(), at_a=tip, at_b=sr.Pose((0, 0, 0.25)))
    return spec.actuate("crank").compile()


@pytest.mark.parametrize(
    ("rod", "count"),
    [
        ({"com": (0.2, 0, 0), "inertia": (0.0, 0.02, 0.02)}, 2),
        ({"com": (0.2, 0, 0), "inertia": (0.01, 0.02, 0.02)}, 2),
        ({"com": (0.2, 0, 0.01), "inertia": (0.01, 0.02, 0.02)}, 4),
        ({"com": (0.2, 0, 0), "inertia": (0.02, 0.02, 0.03)}, 4),
    ],
)
def test_a_rod_that_looks_the_same_turned_over(rod: dict[str, object], count: int) -> None:
    """The rocker has two angles; the universal joint reaches each in two ways."""
    mech = crank_and_rod(**rod)
    found = mech.assemblies(fixed={"crank": 0.0}, starts=60)
    assert len(found) == count
    angles = found.q[:, mech.index("rocker").q][:, 0]
    assert len(np.unique(np.round(angles, 6))) == 2
    assert ("differ in 4 ways" in found.message) == (count == 2)
    assert len(mech.assemblies(fixed={"crank": 0.0}, starts=60, by="coordinates")) == 4


def test_a_hexapod_has_as_many_modes_as_its_platform_has_poses() -> None:
    """40 are the most that any has; the first is that of the guess."""
    mech = sr.library.stewart()
    found = mech.assemblies(fixed=dict.fromkeys(mech.actuators, 0.0))
    poses = [mech.pose(q, "platform").matrix for q in found.q]
    apart = [np.abs(a - b).max() for i, a in enumerate(poses) for b in poses[:i]]
    assert len(found) == 8 and min(apart) > 1e-3 and "8 assembly modes" in found.message
    assert max(np.abs(mech.terms(q, np.zeros(mech.nv)).phi).max() for q in found.q) < 1e-9
    np.testing.assert_allclose(found.q[0], mech.default.q, atol=1e-9)


def test_a_wrist_that_turns_over_is_another_pose() -> None:
    """Links of a wrist are no rods: turned over they stand elsewhere, though all joints are at one place."""
    spec = sr.MechanismSpec()
    for k, axis in enumerate("zyz"):
        parent = "ground" if k == 0 else f"link{k - 1}"
        inertia = (0.01, 0.02, 0.025)
        spec.body(f"link{k}", parent, joint=sr.Revolute(axis), mass=1.0, inertia=inertia)
    spec.close("tool", "link2", "ground", sr.Fixed(), at_b=sr.Pose(rpy=(0.2, 0.5, -0.3)))
    found = spec.compile().assemblies(starts=30)
    assert len(found) == 2 and "differ" not in found.message


def test_what_modes_are_counted_by() -> None:
    with pytest.raises(sr.InputError, match=r"by must be one of 'bodies', 'coordinates', got 'poses'"):
        sr.library.four_bar().assemblies({"crank": 0.3}, by="poses")
