"""U10 and U11: rest poses that do not close, loops that cannot, and which of my constraints is redundant."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr


def four_bar(lengths: tuple[float, float, float, float], closing: sr.Revolute | sr.Fixed) -> sr.Mechanism:
    """Ground, crank, coupler, rocker; neutral is a straight line, which does not close."""
    ground, *moving = lengths
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    parent, at = "ground", sr.Pose()
    for name, length in zip(("crank", "coupler", "rocker"), moving, strict=True):
        spec.body(name, parent=parent, joint=sr.Revolute("z"), at=at, mass=length, com=(length / 2, 0, 0),
                  inertia=(0.0, length**3 / 12, length**3 / 12))  # fmt: skip
        parent, at = name, sr.Pose((length, 0, 0))
    spec.close("loop", "rocker", "ground", joint=closing, at_a=at, at_b=sr.Pose((ground, 0, 0)))
    return spec.compile()


def test_u10_a_rest_pose_that_does_not_close() -> None:
    """simbody#162: assembly is explicit, compile never moves anything, and the near branch is found."""
    mech = four_bar((1.0, 0.4, 0.9, 0.8), sr.Revolute("z"))
    assert not mech.neutral().any()
    assert np.max(np.abs(mech.terms(mech.neutral(), np.zeros(3)).phi)) > 0.5
    ends = []
    for guess in ([1.0, -0.7, -1.7], [1.0, -2.0, 1.7]):
        found = mech.assemble(guess, fixed={"crank": 1.0})
        assert found.success, found.message
        assert found.q[0] == 1.0
        assert found.residual < 1e-12
        assert set(found.gaps) == {"loop"}
        ends.append(found.q)
    one, other = ends
    assert one[2] < 0 < other[2]  # two branches, each near its guess
    assert np.max(np.abs(mech.assemble(one).q - one)) < 1e-12


def test_u10_a_small_gap_moves_the_pose_little() -> None:
    mech = four_bar((1.0, 0.4, 0.9, 0.8), sr.Revolute("z"))
    q = mech.assemble([1.0, -0.7, -1.7]).q
    rng = np.random.default_rng(0)
    for _ in range(20):
        start = q + 1e-3 * rng.normal(size=3)
        found = mech.assemble(start)
        assert found.success
        assert np.linalg.norm(found.q - start) < 1e-2


def test_u10_a_weld_is_never_assembled_flipped() -> None:
    """newton#4248: half a turn is not an assembly; the gap counts the whole angle."""
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    spec.close("weld", "arm", "box", joint=sr.Fixed(), at_a=sr.Pose((1, 0, 0)))
    mech = spec.compile()
    for angle in (0.5, 2.0, 3.0, math.pi - 1e-3):
        guess = mech.neutral()
        guess[-4:] = [0, math.sin(angle / 2), 0, math.cos(angle / 2)]
        found = mech.assemble(guess)
        assert found.success, (angle, found.message)
        arm, box = mech.pose(found.q, "arm"), mech.pose(found.q, "box")
        np.testing.assert_allclose(box.rotation, arm.rotation, atol=1e-10)
    hinge = sr.MechanismSpec()
    hinge.body("lid", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    hinge.close("hinge", "ground", "lid", joint=sr.Revolute("z"))
    lid = hinge.compile()
    upside_down = np.array([0.0, 0, 0, 1, 0, 0, 0])
    axis = lid.pose(lid.assemble(upside_down).q, "lid").rotation[:, 2]
    found = lid.assemble(upside_down)
    assert not found.success or axis[2] == pytest.approx(1.0)
    assert found.success or found.gaps["hinge"] > 1.0


def test_u10_a_loop_that_cannot_close_names_the_worst_gap() -> None:
    """opensim-creator#629: links 0.4 + 0.3 cannot span 2 m; the other loop is fine."""
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.body(
        "b", parent="a", joint=sr.Revolute("z"), at=sr.Pose((0.4, 0, 0)), mass=1.0, inertia=(0.1, 0.1, 0.1)
    )
    spec.body(
        "c", joint=sr.Revolute("y"), at=sr.Pose((0, 0, 1)), mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1)
    )
    spec.close(
        "too far", "b", "ground", joint=sr.Spherical(), at_a=sr.Pose((0.3, 0, 0)), at_b=sr.Pose((2, 0, 0))
    )
    spec.close(
        "good", "c", "ground", joint=sr.Spherical(), at_a=sr.Pose((0.3, 0, 0)), at_b=sr.Pose((0, 0, 0.7))
    )
    found = spec.compile().assemble()
    assert not found.success
    assert "too far" in found.message
    assert max(found.gaps, key=found.gaps.__getitem__) == "too far"
    assert found.gaps["too far"] == pytest.approx(2 - 0.7, rel=1e-6)
    assert found.gaps["good"] < 1e-3
    assert found.residual == max(found.gaps.values())


def ladder(n: int) -> sr.Mechanism:
    """n parallelograms side by side on one crank: every loop after the first adds rows, but no freedom."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    rod = {"mass": 1.0, "com": (0.25, 0, 0), "inertia": (0.001, 0.02, 0.02)}
    spec.body("crank", joint=sr.Revolute("z"), **rod)
    spec.body(
        "bar",
        parent="crank",
        joint=sr.Revolute("z"),
        at=sr.Pose((0.5, 0, 0)),
        mass=2.0,
        inertia=(0.1, 0.1, 0.1),
    )
    for k in range(1, n + 1):
        spec.body(f"follower{k}", joint=sr.Revolute("z"), at=sr.Pose((k, 0, 0)), **rod)
        spec.close(
            f"loop{k}",
            "bar",
            f"follower{k}",
            joint=sr.Revolute("z"),
            at_a=sr.Pose((k, 0, 0)),
            at_b=sr.Pose((0.5, 0, 0)),
        )
    return spec.compile()


@pytest.mark.parametrize("n", [1, 2, 5, 12])
def test_u11_any_number_of_loops(n: int) -> None:
    """biorbd#326: "as soon as there are several loop constraints it does not work"."""
    mech = ladder(n)
    q = np.array([0.9, -0.9, *[0.9] * n])
    m = mech.mobility(q)
    assert m.dof == 1
    assert m.rank == n + 1
    assert len(m.redundant) == mech.nc - m.rank == 5 * n - n - 1
    v = mech.consistent_velocity(q, fixed={"crank": 2.0})
    np.testing.assert_allclose(v, [2.0, -2.0, *[2.0] * n], atol=1e-12)
    a = mech.acceleration(q, v, np.zeros(mech.nv))
    one = ladder(1)
    assert np.max(np.abs(mech.terms(q, v).J @ a - mech.terms(q, v).gamma)) < 1e-10
    if n == 1:
        np.testing.assert_allclose(a, one.acceleration(q, v, np.zeros(3)), rtol=1e-12)


def test_u11_the_dependent_rows_are_stable_while_dragging() -> None:
    """SolveSpace#671: "which of my constraints is the redundant one?" The answer does not flicker."""
    mech = ladder(3)
    seen = set()
    for angle in np.linspace(0.2, 2.9, 60):
        q = np.array([angle, -angle, *[angle] * 3])
        m = mech.mobility(q)
        seen.add(m.redundant)
    assert len(seen) == 1
    (rows,) = seen
    out_of_plane = [f"loop{k}.{r}" for k in (1, 2, 3) for r in ("tz", "rx", "ry")]
    assert set(out_of_plane) <= set(rows)
    assert all(name.startswith(("loop2.t", "loop3.t")) for name in set(rows) - set(out_of_plane))
    assert all(name in m.explain() for name in rows[:5])


def test_u11_the_later_of_two_equal_loops_is_the_redundant_one() -> None:
    mech = sr.library.four_bar()
    first = set(mech.row_names)
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for body in mech.model.bodies[1:]:
        spec.body(
            body.name,
            parent=body.parent,
            joint=body.joint,
            at=body.at,
            mass=body.mass,
            com=body.com,
            inertia=body.inertia,
        )
    for name, loop in mech.model.constraints:
        spec.constrain(name, loop)
        spec.constrain(name + " again", loop)
    twice = spec.compile()
    assert twice.nc == 2 * mech.nc
    q = mech.default.q
    extra = set(twice.mobility(q).redundant) - set(mech.mobility(q).redundant)
    assert extra == {name for name in twice.row_names if name not in first}
