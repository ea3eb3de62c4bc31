"""Exported C as firmware uses it: machines that turn for hours, measured states, numbers that are none."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr

from .compiled_c import STRICT, CompiledC, compiler, random_states, run

TURNS = 2 * np.pi * 30_000  # ten minutes at 3000 rpm [rad]


@pytest.fixture(scope="module")
def four_bar(tmp_path_factory: pytest.TempPathFactory) -> CompiledC:
    return CompiledC(sr.library.four_bar(), tmp_path_factory.mktemp("four_bar"))


def geared() -> sr.Mechanism:
    """A crank with its piston, and a wheel that turns 43 / 17 times as fast."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="geared pump")
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, com=(0.05, 0, 0), inertia=(0.01,) * 3)
    rod = sr.Pose((0.1, 0, 0))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=rod, mass=0.5, com=(0.2, 0, 0), inertia=(0.01,) * 3)
    spec.body("wheel", joint=sr.Revolute("z"), mass=1.0, inertia=(0.02,) * 3)
    spec.constrain("rail", sr.PointOnLine("ground", (0, 0, 0), "rod", (0.4, 0, 0), (1, 0, 0)))
    spec.constrain("gear", sr.Coupling({"crank": 43.0, "wheel": -17.0}))
    return spec.compile()


def test_angles_that_have_turned_often(tmp_path: Path) -> None:
    """The rounding of closures grows with angles: steps are taken all the same, by gears too."""
    mech = geared()
    code = CompiledC(mech, tmp_path)
    for angle in np.linspace(0.0, 6.0, 25):
        q = mech.assemble(fixed={"crank": angle}).q + TURNS * np.array([1.0, -1.0, 43 / 17])
        q = mech.project(q).q
        v = mech.consistent_velocity(q, fixed={"crank": 314.0})
        q1, v1, guards = code.step(q, v, None, None, 1e-4)
        assert guards == 0
        known = mech.step(q, v, dt=1e-4)
        # positions of 1e6 rad have 1e-10; the gear sees 43 times that
        np.testing.assert_allclose(q1, known.q, rtol=0, atol=1e-8)
        np.testing.assert_allclose(v1, known.v, rtol=1e-8)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_numbers_that_are_none(four_bar: CompiledC, bad: float) -> None:
    """Every function says so, whichever argument it is, and leaves the state; dt must be positive."""
    mech = four_bar.mech
    q, v, tau = mech.default.q, np.zeros(mech.nv), np.zeros(mech.nv)
    for k in range(3):
        given = [x.copy() for x in (q, v, tau)]
        given[k][0] = bad
        a, guards = four_bar.acceleration(*given)
        assert guards and np.isnan(a).all()  # as it was
        q1, v1, guards = four_bar.step(given[0], given[1], None, given[2], 1e-3)
        assert guards and np.array_equal(np.r_[q1, v1], np.r_[given[0], given[1]], equal_nan=True)
        if k < 2:
            assert four_bar.terms(*given[:2])[1] and four_bar.project(*given[:2])[2]
    for dt in (0.0, -1e-3, bad):
        assert four_bar.step(q, v, None, tau, dt)[2]


def test_angles_without_meaning(four_bar: CompiledC) -> None:
    """At 1e200 rad no closure means anything."""
    mech = four_bar.mech
    q = mech.default.q + np.array([1e200, 0.0, 0.0])
    assert four_bar.step(q, np.zeros(mech.nv), None, None, 1e-3)[2] and four_bar.project(q, 0 * q)[2]


@pytest.mark.parametrize("name", ["four_bar", "bricard", "dual_arm"])
def test_measured_states(tmp_path: Path, name: str) -> None:
    """States beside the constraints, with redundant rows too: closed to rounding, as near as `project`."""
    mech = getattr(sr.library, name)()
    code = CompiledC(mech, tmp_path)
    rng, unit = np.random.default_rng(1), np.asarray(mech.units.unit)
    q, v = random_states(mech, 8, away=0.2)
    found = 0
    for x, y in zip(q, v, strict=True):
        away = mech.integrate(x, 0.005 * unit * rng.normal(size=mech.nv))
        faster = y + 0.01 * unit * rng.normal(size=mech.nv)
        q1, v1, guards = code.project(away, faster)
        if guards:
            continue
        found += 1
        terms = mech.terms(q1, v1)
        assert np.max(np.abs(terms.phi) / mech.units.row_unit) < 1e-12
        assert np.max(np.abs(terms.J @ v1) / mech.units.row_unit) < 1e-11
        nearest = mech.project(away, faster)
        apart = np.max(np.abs(mech.difference(q1, nearest.q)) / unit)
        assert apart < 0.2 * np.max(np.abs(mech.difference(away, nearest.q)) / unit)
        assert code.step(q1, v1, None, None, 1e-4)[2] == 0
    assert found >= len(q) // 2


def test_default_state_of_the_header_can_be_stepped(tmp_path: Path) -> None:
    """A singular default pose and an open one: the header has a state beside it."""
    singular = sr.library.five_bar()
    four = sr.library.four_bar()
    opened = four.with_default(four.default.q + np.array([0.0, 0.01, 0.0]))
    for k, mech in enumerate((singular, opened)):
        source, _, main = mech.export_code(tmp_path / str(k))
        run(compiler(), *STRICT, "-O1", main, source, "-o", tmp_path / f"example{k}", "-lm")
        text = run(tmp_path / f"example{k}")
        assert "acceleration: guards 0" in text and "\n0 steps" not in text


def test_names_of_entries(tmp_path: Path) -> None:
    spec = sr.MechanismSpec(name="leg")
    spec.body("upper arm", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.body("upper-arm", "upper arm", joint=sr.Spherical(), mass=1.0, inertia=(0.1,) * 3)
    spec.actuate("upper arm")
    _, header, _ = spec.compile().export_code(tmp_path, parameters={"mass": {"upper arm": [1.0, 2.0]}})
    text = header.read_text()
    for line in ("LEG_Q_UPPER_ARM = 0", "LEG_U_UPPER_ARM = 0", "LEG_P_MASS_UPPER_ARM = 0", "ARM_QW = 4"):
        assert line in text


def test_files_of_others_stay(tmp_path: Path) -> None:
    """A main.c that somebody wrote is not touched; files of its own are replaced."""
    mech = sr.library.pendulum()
    mech.export_code(tmp_path / "own")
    mech.export_code(tmp_path / "own")
    (tmp_path / "main.c").write_text("int main(void) { return 0; }\n")
    with pytest.raises(sr.InputError, match=r"main\.c' is not a file that it wrote"):
        mech.export_code(tmp_path)
    assert "return 0" in (tmp_path / "main.c").read_text() and not (tmp_path / "pendulum.c").exists()
    for name in ("main", "math"):
        spec = sr.MechanismSpec(name=name)
        spec.body("bar", joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
        source, *_ = spec.compile().export_code(tmp_path / name)
        assert source.name == f"mechanism_{name}.c"


def test_folders_that_cannot_be_written(tmp_path: Path) -> None:
    mech = sr.library.pendulum()
    (tmp_path / "file").write_text("")
    with pytest.raises(sr.InputError, match="or one above it, is a file"):
        mech.export_code(tmp_path / "file" / "below")
    with pytest.raises(sr.InputError, match="must be a path"):
        mech.export_code("")
    with pytest.raises(sr.InputError, match="cannot make the folder"):
        mech.export_code("/proc/nothing/here")
    (tmp_path / "taken" / "pendulum.h").mkdir(parents=True)
    with pytest.raises(sr.InputError, match="not a file that it wrote"):
        mech.export_code(tmp_path / "taken")
    if os.geteuid() != 0:
        (tmp_path / "closed").mkdir(mode=0o500)
        with pytest.raises(sr.InputError, match="cannot write into"):
            mech.export_code(tmp_path / "closed")


@pytest.mark.parametrize("values", [[0.5, np.nan], [0.5, 0.5], [np.inf, 1.0]])
def test_parameters_need_different_numbers(tmp_path: Path, values: list[float]) -> None:
    with pytest.raises(sr.InputError, match="two different finite values"):
        sr.library.four_bar().export_code(tmp_path, parameters={"mass": {"crank": values}})
