"""Contacts whose forces end slowly: pushes and friction that reach their limits without a jump."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .machines import G, kinds


@pytest.mark.parametrize("aside", [0.0, 1e-4, 1e-2])
@pytest.mark.parametrize("friction", [0.0, 0.01])
def test_a_sliding_box_is_lifted_at_one_edge_first(aside: float, friction: float) -> None:
    """Pulled up by 10 t, a little beside its middle: the push there ends first, at (g - F) a / 2 = moment."""
    spec = sr.MechanismSpec(name="pulled box", gravity=(0, -G, 0))
    spec.body("box", joint=sr.Planar("z"), mass=1.0, inertia=(0.01, 0.01, 0.01))
    outline = [(-0.1, -0.05), (0.1, -0.05), (0.1, 0.05), (-0.1, 0.05)]
    spec.surface("box", "box", sr.Profile(outline))
    spec.surface("floor", "ground", sr.HalfSpace("y"), friction=friction)
    spec.contact("floor", "box").actuate("box")
    mech = spec.compile()

    def pull(t: float, q: np.ndarray, v: np.ndarray) -> np.ndarray:
        return np.array([0.0, 10 * t, 10 * t * aside])

    run = sr.simulate(mech, (0, 1.5), [0, 0.05, 0], [1.0, 0, 0], tau=pull)
    assert run.success
    assert kinds(run) == ["lift", "lift"]
    if not friction:
        assert run.events[0].t == pytest.approx(G * 0.1 / (0.1 + aside) / 10, abs=1e-8)


def crank_between_walls(tilt: float) -> sr.Mechanism:
    """A slider-crank whose slider has play between two walls, one of them turned by hand."""
    l1, l2, half, play = 0.153, 0.306, 0.025, 0.001
    spec = sr.MechanismSpec(name="slider with play", gravity=(0, -G, 0))
    spec.body("crank", joint=sr.Revolute("z"), mass=0.038, com=(l1 / 2, 0, 0), inertia=(7.4e-5,) * 3)
    pin = {"joint": sr.Revolute("z")}
    spec.body(
        "rod", "crank", at=sr.Pose((l1, 0, 0)), mass=0.038, com=(l2 / 2, 0, 0), inertia=(5.9e-4,) * 3, **pin
    )
    spec.body("slider", "rod", at=sr.Pose((l2, 0, 0)), mass=0.076, inertia=(2.7e-6,) * 3, **pin)
    outline = [(-0.05, -half), (0.05, -half), (0.05, half), (-0.05, half)]
    spec.surface("slider", "slider", sr.Profile(outline), restitution=0.4)
    spec.surface("bottom", "ground", sr.HalfSpace("y"), sr.Pose((0, -half - play, 0)), friction=0.01)
    turned = sr.Pose((0, half + play, 0), rpy=(tilt, 0, 0))
    spec.surface("top", "ground", sr.HalfSpace("y"), turned, friction=0.01)
    return spec.contact("bottom", "slider").contact("top", "slider").compile()


def test_pushes_end_at_zero_and_sliding_turns_round_at_dead_centres() -> None:
    """np.pi is no half turn to the last bit: responses across the plane are rounding, no size of forces."""
    run = sr.simulate(crank_between_walls(np.pi), (0, 0.2), [0, 0, 0], [150.0, -225.0, 75.0])
    assert run.success, run.message
    assert {"impact", "lift", "slip"} <= set(kinds(run))
    # near dead centres what would stop the free motion, with which pushes are compared, is 100 times the push
    push = run.contacts.force @ np.array([0, 1.0, 0])
    assert push[:, :4].min() >= -1e-6 * push.max()  # the bottom pushes up
    assert push[:, 4:].max() <= 1e-6 * push.max()
    assert np.diff(run.energy).max() <= 1e-7 * run.energy[0]


def test_friction_that_gives_way_slowly_turns_as_it_slides() -> None:
    """A capsule rolls over on one end until friction is just not enough. There friction turns with the
    direction of sliding, faster than steps can follow; a run once took 100,000 of them for a microsecond."""
    spec = sr.MechanismSpec(name="capsule")
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.body("rod", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.13, 0.16))
    spec.surface("rod", "rod", sr.Capsule(0.2, 0.6)).contact("floor", "rod")
    mech = spec.compile()
    rng = np.random.default_rng([1, 9, 0, 5, 0])
    q = mech.neutral()
    turned = rng.normal(size=4)
    q[2], q[3:] = 1.5, turned / np.linalg.norm(turned)
    v = np.r_[rng.normal(size=3), 3 * rng.normal(size=3)]
    run = sr.simulate(mech, (0, 0.7), q, v)
    assert run.success
    assert "slip" in kinds(run)
    assert len(run.t) < 400
    tight = sr.simulate(mech, (0, 0.7), q, v, rtol=1e-10)
    np.testing.assert_allclose(run.q[-1], tight.q[-1], rtol=0, atol=1e-7)
    assert np.diff(run.energy).max() <= 1e-8 * np.ptp(run.energy)
