"""Signature motions: every mechanism of the library has one, and none of them breaks its machine."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.showcase.motions import Cycle, Turn
from sarrus.showcase.signatures import SIGNATURES


def test_every_mechanism_of_the_library_has_a_signature_motion() -> None:
    assert sr.showcase.names().keys() == sr.library.names().keys()
    assert all(words for words in sr.showcase.names().values())


@pytest.mark.parametrize("name", ["four_bar", "cable_robot", "ratchet"])
def test_signature_motions_end_well(name: str) -> None:
    run = sr.showcase.run(name)
    assert run.success and np.ptp(run.q, axis=0).max() > 0.05
    assert run.drift.max() < 1e-9


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(SIGNATURES))
def test_all_signature_motions_end_well(name: str) -> None:
    run = sr.showcase.run(name)
    assert run.success and np.ptp(run.q, axis=0).max() > 0.01


@pytest.mark.parametrize("name", ["sarrus"])
def test_cycles_come_back(name: str) -> None:
    """Each is driven in all its freedoms along a closed curve; runs keep rtol = 1e-6 per step."""
    assert isinstance(SIGNATURES[name].motion, Cycle)
    run = sr.showcase.run(name)
    np.testing.assert_allclose(run.q[-1], run.q[0], atol=1e-5)


def test_motors_turn_at_constant_speed() -> None:
    motion = SIGNATURES["four_bar"].motion
    assert isinstance(motion, Turn)
    run = sr.showcase.run("four_bar")
    crank = run.system.names.index("crank")
    np.testing.assert_allclose(run.v[:, crank], 2.0 * np.pi / motion.duration, rtol=1e-6)
    assert run.q[-1, crank] - run.q[0, crank] == pytest.approx(2.0 * np.pi, rel=1e-6)


def test_the_mechanism_of_a_motion_is_that_of_its_run() -> None:
    assert sr.showcase.mechanism("net").nv == sr.library.net(4).nv


def test_an_unknown_name_lists_what_there_is() -> None:
    with pytest.raises(sr.UnknownNameError, match=r"unknown mechanism 'stewrt'.*Did you mean 'stewart'"):
        sr.showcase.run("stewrt")
