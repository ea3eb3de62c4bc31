"""The report: what users look for must be in it, by name."""

from __future__ import annotations

import sarrus as sr


def test_an_overconstrained_linkage_is_explained() -> None:
    mech = sr.library.sarrus()
    text = str(mech)
    assert text.startswith(f"Mechanism '{mech.name}'")
    for name in (*mech.body_names[1:], *mech.names, *mech.actuators):
        assert name in text
    m = mech.mobility()
    assert f"Mobility at the default pose: {m.dof} (rank {m.rank} of {mech.nc}" in text
    assert f"Redundant rows ({len(m.redundant)}): {', '.join(m.redundant)}" in text
    assert all(len(line) <= 110 for line in text.splitlines())


def test_passive_joints_limits_and_forces_are_listed() -> None:
    spec = sr.MechanismSpec(name="arm")
    bar = {"mass": 1.0, "com": (0.5, 0, 0), "inertia": (0.1, 0.1, 0.1)}
    spec.body("upper", joint=sr.Revolute("y"), limits=(-1.0, 2.0), **bar)
    spec.body("lower", parent="upper", joint=sr.Revolute("y"), at=sr.Pose((1.0, 0, 0)), **bar)
    spec.force("coil", sr.JointSpring("lower", 3.0))
    spec.actuate("upper", limits=(-5, 5))
    text = str(spec.compile())
    assert "Constraints: none (an open tree)" in text
    assert "Actuated (1): upper" in text
    assert "Passive (1): lower" in text
    assert "Input limits (1): upper [-5, 5]" in text
    assert "Joint limits (1): upper [-1, 2]" in text
    assert "coil   JointSpring" in text


def test_a_mechanism_that_does_not_close_says_so() -> None:
    spec = sr.MechanismSpec(name="short")
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.close(
        "far", "ground", "arm", joint=sr.Spherical(), at_a=sr.Pose((3.0, 0, 0)), at_b=sr.Pose((1.0, 0, 0))
    )
    text = str(spec.compile())
    assert "Mobility: unknown, because the loops do not close." in text
    assert "'far' stays open by 2 m" in text


def test_rolling_rows_are_marked_and_long_tables_are_cut() -> None:
    assert "restrict velocities only" in str(sr.library.rolling_disk())
    text = str(sr.library.n_four_bar(40))
    assert "more" in text
    assert len(text.splitlines()) < 170


def test_the_short_form() -> None:
    assert repr(sr.library.four_bar()) == "Mechanism('four_bar', nq=3, nv=3, nc=5, nu=1)"


def test_a_description_says_what_it_holds() -> None:
    spec = sr.MechanismSpec(name="crank drive")
    assert "Bodies: none" in str(spec) and "every coordinate except those of Free joints" in str(spec)
    spec.body("crank", joint=sr.Revolute("y"), mass=2.0).body("slider", joint=sr.Prismatic("x"), mass=1.0)
    spec.constrain("rod", sr.Distance("crank", (1, 0, 0), "slider", (0, 0, 0), 2.0))
    spec.force("spring", sr.JointSpring("slider", 5.0))
    spec.constrain("law", sr.Coupling({"crank": 1.0, "slider": 2.0})).actuate("crank")
    assert repr(spec) == "MechanismSpec('crank drive', bodies=2, constraints=2, forces=1)"
    text = str(spec)
    for words in ("crank drive", "Revolute y", "Distance", "crank - slider", "JointSpring", "crank, slider"):
        assert words in text
    assert "Actuated (1): crank" in text


def test_reports_of_large_mechanisms_are_short_and_name_their_solver() -> None:
    text = str(sr.library.n_four_bar(1100))  # J would have 4.8 million entries
    assert len(text) < 20_000
    assert "large: steps by the augmented inertia away from singular poses" in text
    assert "Mobility: not computed here for 2200 rows and 2201 coordinates" in text
    assert "... 2141 more" in text
    assert "large:" not in str(sr.library.n_four_bar(15))
