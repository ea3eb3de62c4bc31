"""Contacts that stick at the corners of a tilted box chatter; the message names what does not."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

HALF = np.array([0.1, 0.15, 0.05])


@pytest.fixture
def start() -> np.ndarray:
    pose = sr.Pose((0.0, 0.0, 0.3), rpy=(0.05, 0.0, 0.0))
    return np.r_[pose.xyz, pose.quat]


def box() -> sr.MechanismSpec:
    spec = sr.MechanismSpec(name="box")
    return spec.body("box", joint=sr.Free(), mass=2.0, inertia=(0.0167, 0.0083, 0.0217)).actuate()


def test_four_sticking_corners_stop_with_a_way_out_that_applies(start: np.ndarray) -> None:
    spec = box()
    corners = [np.array([a, b, -1]) * HALF for a in (-1, 1) for b in (-1, 1)]
    for k, corner in enumerate(corners):
        spec.close(f"c{k}", "ground", "box", sr.Spherical(), at_b=sr.Pose(corner))
    contacts = [sr.Contact(f"c{k}", row=f"c{k}.tz", latch=True) for k in range(4)]
    run = sr.simulate(spec.compile(), (0.0, 1.0), start, switches=contacts)
    assert run.success or "Give the bodies surfaces that touch (spec.surface, spec.contact)" in run.message


@pytest.mark.parametrize("way", ["events", "steps"])
def test_surfaces_do_not_chatter(way: str, start: np.ndarray) -> None:
    spec = box()
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.9).surface("box", "box", sr.Box(2.0 * HALF))
    mech = spec.contact("floor", "box").compile()
    options = {"dt": 1e-3} if way == "steps" else {}
    run = sr.simulate(mech, (0.0, 1.5), start, contacts=way, **options)  # type: ignore[arg-type]
    assert run.success and run.q[-1, 2] == pytest.approx(HALF[2], abs=1e-9)
    assert np.max(np.abs(run.v[-1])) < 1e-9
