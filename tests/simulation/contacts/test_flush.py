"""Boxes and profiles whose sides are exactly flush: stacks at rest, landings, floors of many boxes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

from .machines import G

SIDE = 0.4
SQUARE = [(-SIDE / 2, -SIDE / 2), (SIDE / 2, -SIDE / 2), (SIDE / 2, SIDE / 2), (-SIDE / 2, SIDE / 2)]
WAYS: dict[str, dict[str, Any]] = {"events": {}, "steps": {"contacts": "steps", "dt": 0.01}}


def boxes(count: int, drop: float) -> tuple[sr.Mechanism, np.ndarray]:
    """Cubes one above the other on a fixed one, all alike; gaps between them at first."""
    spec = sr.MechanismSpec(name="stack of boxes")
    spec.surface("box0", "ground", sr.Box((SIDE,) * 3), friction=0.5)
    q = []
    for k in range(1, count + 1):
        spec.body(f"box{k}", joint=sr.Free(), mass=1.0, inertia=(SIDE**2 / 6,) * 3)
        spec.surface(f"box{k}", f"box{k}", sr.Box((SIDE,) * 3), friction=0.5)
        spec.contact(f"box{k - 1}", f"box{k}")
        q += [0.0, 0.0, k * (SIDE + drop), 0.0, 0.0, 0.0, 1.0]
    return spec.compile(), np.array(q)


def outlines(count: int, drop: float) -> tuple[sr.Mechanism, np.ndarray]:
    """The same of profiles in a plane; the lowest one is fixed."""
    spec = sr.MechanismSpec(name="stack of profiles", gravity=(0, -G, 0))
    spec.surface("box0", "ground", sr.Profile(SQUARE), friction=0.5)
    q = []
    for k in range(1, count + 1):
        spec.body(f"box{k}", joint=sr.Planar("z"), mass=1.0, inertia=(SIDE**2 / 6,) * 3)
        spec.surface(f"box{k}", f"box{k}", sr.Profile(SQUARE), friction=0.5)
        spec.contact(f"box{k - 1}", f"box{k}")
        q += [0.0, k * (SIDE + drop), 0.0]
    return spec.compile(), np.array(q)


STACKS = {"boxes": boxes, "profiles": outlines}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", STACKS)
@pytest.mark.parametrize("count", [2, 5])
def test_a_stack_with_flush_sides_rests(kind: str, count: int, way: str) -> None:
    """Nothing moves by more than rounding in a second, and nothing happens."""
    mech, q = STACKS[kind](count, 0.0)
    run = sr.simulate(mech, (0, 1), q, **WAYS[way])
    assert run.success and not run.events, run.message
    np.testing.assert_allclose(run.q[-1], q, atol=1e-12)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", STACKS)
@pytest.mark.parametrize("count", [2, 5])
def test_boxes_land_on_flush_boxes(kind: str, count: int, way: str) -> None:
    """One after the other, without rebound: they come to rest exactly above each other."""
    mech, q = STACKS[kind](count, 0.02)
    run = sr.simulate(mech, (0, 1), q, **WAYS[way])
    assert run.success, run.message
    assert {event.kind for event in run.events} <= {"impact", "touch"}
    np.testing.assert_allclose(run.q[-1], STACKS[kind](count, 0.0)[1], atol=1e-9)
    np.testing.assert_allclose(run.v[-1], 0.0, atol=1e-9)


@pytest.mark.parametrize("way", WAYS)
def test_thirty_boxes(way: str) -> None:
    """725 slots; the lowest box carries 30 of them."""
    mech, q = boxes(30, 0.0)
    run = sr.simulate(mech, (0, 0.02), q, **WAYS[way])
    assert run.success and not run.events, run.message
    np.testing.assert_allclose(run.q[-1], q, atol=1e-12)
    carried = run.contacts.force[-1, :, 2].reshape(30, -1).sum(axis=1)
    np.testing.assert_allclose(carried, G * np.arange(30, 0, -1), rtol=1e-9)


def test_a_box_slides_across_a_floor_of_boxes() -> None:
    """Their tops are flush: it comes as far as on one plane, v^2 / (2 mu g)."""
    spec = sr.MechanismSpec(name="box on two boxes")
    for k in range(2):
        spec.surface(f"floor{k}", "ground", sr.Box((1, 1, 1)), at=sr.Pose((k, 0, -0.5)), friction=0.5)
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(SIDE**2 / 6,) * 3)
    spec.surface("box", "box", sr.Box((SIDE,) * 3)).contact("floor*", "box")
    mech = spec.compile()
    run = sr.simulate(mech, (0, 0.4), [0.2, 0, SIDE / 2, 0, 0, 0, 1], [1.5, 0, 0, 0, 0, 0])
    assert run.success, run.message
    assert {event.kind for event in run.events} <= {"touch", "lift", "stick", "slip"}
    place = [0.2 + 1.5**2 / (2 * 0.5 * G), 0.0, SIDE / 2]
    np.testing.assert_allclose(run.q[-1, :3], place, atol=1e-8)
