"""Mobility of mechanisms whose mobility is known by geometry; redundant rows against rank by brute force."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sarrus as sr
from sarrus.projection.mobility import dependent_rows, listed


@pytest.mark.parametrize(
    ("closure", "dof", "redundant"), [("point", 1, 1), ("revolute", 1, 3), ("weld", 0, 3)]
)
def test_four_bar_closed_by_point_revolute_and_weld(closure: str, dof: int, redundant: int) -> None:
    mech = sr.library.four_bar(closure=closure)
    m = mech.mobility(mech.default.q)
    assert (m.dof, len(m.redundant)) == (dof, redundant)
    assert m.gruebler == mech.nv - mech.nc
    assert m.rank + len(m.redundant) == mech.nc
    assert not m.is_singular


@pytest.mark.parametrize("name", ["sarrus", "bennett", "bricard", "scott_russell"])
def test_overconstrained_linkages_move_and_name_their_redundant_rows(name: str) -> None:
    mech = getattr(sr.library, name)()
    m = mech.mobility(mech.default.q)
    assert m.dof == 1
    assert m.redundant
    assert set(m.redundant) <= set(mech.row_names)
    assert not m.is_singular
    assert "Gruebler" in m.explain()
    assert m.redundant[0] in m.explain()


def test_redundant_rows_are_the_same_all_along_the_motion() -> None:
    mech = sr.library.bricard()
    path = mech.sweep(mech.names[0], np.linspace(0.0, 1.5, 12))
    assert {mech.mobility(q).redundant for q in path.q} == {mech.mobility(path.q[0]).redundant}


@given(st.integers(0, 10**6), st.integers(1, 12), st.integers(1, 6), st.integers(0, 6))
def test_dependent_rows_are_those_that_add_no_rank(seed: int, nc: int, nv: int, inner: int) -> None:
    rng = np.random.default_rng(seed)
    J = rng.normal(size=(nc, inner)) @ rng.normal(size=(inner, nv))
    J[rng.random(nc) < 0.3] = 0.0
    ranks = [np.linalg.matrix_rank(J[:i], tol=1e-9) if i else 0 for i in range(nc + 1)]
    assert dependent_rows(J, 1e-9) == [i for i in range(nc) if ranks[i + 1] == ranks[i]]


def test_duplicated_loops_make_the_later_one_redundant() -> None:
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    for name in ("first", "second"):
        spec.constrain(name, sr.Coupling({"arm": 1.0}))
    m = spec.compile().mobility()
    assert m.redundant == ("second",)
    assert m.dof == 0
    assert "structure" in m.explain()


@pytest.mark.parametrize(
    ("name", "q", "dof"),
    [
        ("slider_crank", [math.pi / 2, math.pi], 2),
        ("five_bar", None, 3),
        ("parallelogram", [0.0, 0.0, 0.0], 2),
        ("n_four_bar", [math.pi / 2, -math.pi / 2, math.pi / 2, -math.pi / 2, math.pi / 2], 3),
    ],
)
def test_singular_poses_are_told_from_permanent_redundancy(
    name: str, q: list[float] | None, dof: int
) -> None:
    make = getattr(sr.library, name)
    mech = make(2) if name == "n_four_bar" else make()
    pose = mech.default.q if q is None else np.array(q)
    m = mech.mobility(pose)
    assert m.dof == dof
    assert m.is_singular
    assert "The pose is singular" in m.explain()


def test_near_a_singular_pose_the_condition_tells() -> None:
    mech = sr.library.parallelogram()
    path = mech.sweep("left", [0.5, 1e-6])
    m = mech.mobility(path.q[-1])
    assert not m.is_singular
    assert m.condition > 1e5
    assert "close to a singular" in m.explain()


def test_passive_spin_is_mobility_and_said_so() -> None:
    spec = sr.MechanismSpec()
    bar = {"mass": 1.0, "com": (0.0, 0.0, 0.5), "inertia": (0.1, 0.1, 0.01)}
    spec.body("rod", joint=sr.Spherical(), **bar)
    spec.close(
        "tip", "ground", "rod", joint=sr.Spherical(), at_a=sr.Pose((0, 0, 1.0)), at_b=sr.Pose((0, 0, 1.0))
    )
    m = spec.compile().mobility()
    assert m.dof == 1
    assert m.free == ("rod.wz",)
    assert m.locked == ("rod.wx", "rod.wy")
    assert "Moves on its own, all else at rest: rod.wz" in m.explain()
    assert "Locked by the constraints: rod.wx, rod.wy" in m.explain()


def test_open_tree_and_drives_and_rolling_are_explained() -> None:
    assert "no constraint" in sr.library.double_pendulum().mobility().explain()
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    spec.constrain("motor", sr.Drive("arm", math.sin, math.cos, lambda t: -math.sin(t)))
    assert "drives prescribe" in spec.compile().mobility().explain()
    assert "velocities only" in sr.library.rolling_disk().mobility().explain()


def test_open_loops_are_warned_about() -> None:
    mech = sr.library.bricard()
    q = np.array(mech.default.q) + 1e-4 * np.arange(mech.nq)
    m = mech.mobility(q)
    assert m.gap > 1e-6
    assert "assemble first" in m.explain()


def test_long_lists_are_cut() -> None:
    assert listed(tuple(f"r{i}" for i in range(30))).endswith("r11 and 18 more")


def test_mobility_does_not_depend_on_the_size_of_the_mechanism() -> None:
    for size in (1e-3, 1.0, 1e3):
        mech = sr.library.four_bar(size, 0.3 * size, 0.9 * size, 0.7 * size)
        m = mech.mobility(mech.default.q)
        assert (m.dof, m.is_singular) == (1, False)


def crank_and_slider() -> sr.MechanismSpec:
    """A crank of 1 m and a rod of 3 m; the slider is at its dead centre where the crank is at zero."""
    solid = {"mass": 1.0, "inertia": (0.1, 0.1, 0.1)}
    spec = sr.MechanismSpec().body("crank", joint=sr.Revolute("y"), **solid)
    spec.body("slider", joint=sr.Prismatic("x"), **solid)
    return spec.constrain("rod", sr.Distance("crank", (1, 0, 0), "slider", (0, 0, 0), 3.0))


def test_a_slider_at_its_dead_centre_rests_but_is_not_locked() -> None:
    mech = crank_and_slider().compile()
    stretched = mech.assemble([0.0, 4.0], fixed={"crank": 0.0})
    assert stretched.success
    m = mech.mobility(stretched.q)
    assert m.dof == 1 and m.at_rest == ("slider",) and m.locked == ()
    assert "At rest at this pose only (as at a dead centre), moving nearby: slider." in m.explain()
    assert "Locked" not in m.explain()
    elsewhere = mech.mobility(mech.assemble(stretched.q, fixed={"crank": 0.7}).q)
    assert elsewhere.at_rest == elsewhere.locked == ()


def test_a_lock_is_a_lock_at_a_dead_centre_too() -> None:
    spec = crank_and_slider()
    spec.body("guide", "slider", joint=sr.Prismatic("y"), mass=1.0)
    spec.constrain("held", sr.Coupling({"guide": 1.0}))
    mech = spec.compile()
    m = mech.mobility(mech.assemble([0.0, 4.0, 0.0], fixed={"crank": 0.0}).q)
    assert m.locked == ("guide",) and m.at_rest == ("slider",)
    assert "Locked by the constraints: guide. At rest" in m.explain()
