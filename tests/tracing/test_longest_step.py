"""How long a step exported code takes, and the functions run by NumPy that it is found with."""

from __future__ import annotations

import re
import warnings
from pathlib import Path

import numpy as np
import pytest

import sarrus as sr
from sarrus.mechanism.query.recorded_code import program_of
from sarrus.tracing.evaluation import evaluated


def states(mech: sr.Mechanism, count: int, away: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(1)
    q = np.array([mech.integrate(mech.default.q, away * rng.standard_normal(mech.nv)) for _ in range(count)])
    found = mech.project(q, away * rng.standard_normal((count, mech.nv)))
    return np.asarray(found.q), np.asarray(found.v)


@pytest.mark.parametrize("name", ["four_bar", "stewart", "dual_arm", "pendulum"])
def test_recorded_steps_by_numpy_are_the_library_s(name: str) -> None:
    mech = getattr(sr.library, name)()
    q, v = states(mech, 5, 0.05)
    arguments = np.concatenate([q.T, v.T, np.zeros_like(v.T), np.full((1, 5), 1e-4)])
    found, guards = evaluated(program_of(mech, "float64", "a test"), "step", arguments)
    expected = mech.step(q, v, dt=1e-4)
    assert not guards.any()
    np.testing.assert_allclose(found[: mech.nq].T, expected.q, atol=1e-13)
    np.testing.assert_allclose(found[mech.nq : mech.nq + mech.nv].T, expected.v, atol=1e-11)


def exported(mech: sr.Mechanism, folder: Path) -> float:
    header = mech.export_code(folder)[1].read_text()
    (found,) = re.findall(r"_LONGEST_STEP (\S+)", header)
    return float(found)


def heavy_four_bar() -> sr.Mechanism:
    """A four-bar of the library in 1e4 times its gravity, which moves it far within a millisecond."""
    return sr.library.four_bar().with_(gravity=(0.0, -1e5, 0.0))


def test_the_header_says_how_long_a_step_is_taken(tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error", sr.SarrusWarning)
        assert exported(sr.library.four_bar(), tmp_path / "slow") == 1e-2
    with pytest.warns(sr.SarrusWarning, match=r"exported step refuses 1 ms in .*CLOSURE.*; steps of"):
        fast = exported(heavy_four_bar(), tmp_path / "fast")
    assert 1e-5 < fast < 1e-3
    program = program_of(heavy_four_bar(), "float64", "a test")
    q, v = (np.array(x)[:, None] for x in program.reference)
    for dt, refused in ((fast, False), (20.0 * fast, True)):  # the state itself, at either length
        guards = evaluated(program, "step", np.concatenate([q, v, 0.0 * v, [[dt]]]))[1]
        assert bool(guards[0]) == refused


def test_parameters_have_their_usual_values(tmp_path: Path) -> None:
    mech = sr.library.four_bar()
    header = mech.export_code(tmp_path, parameters={"mass": {"coupler": [0.9, 2.0]}})[1].read_text()
    assert "FOUR_BAR_LONGEST_STEP 0.01" in header
