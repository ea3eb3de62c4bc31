"""Control laws of mechanisms with dry friction: tracking with and without compensation, no chatter."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control
from sarrus.control.core.friction_compensation import CHOICES

Array = npt.NDArray[np.float64]
POINTS = {"A": (0, 0, 0), "B": (0.2, 0.25, 0), "C": (0.9, 0.5, 0), "D": (0.8, 0, 0)}
PINS = (("A", "ground", "crank", 0.3), ("B", "crank", "rod", 0.2), ("C", "rod", "rocker", 0.5),
        ("D", "ground", "rocker", 0.1))  # fmt: skip


def four_bar(friction: float = 1.0, breakaway: float = 1.0) -> sr.Mechanism:
    """A linkage whose four pins are dry, driven at A."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="linkage")
    for name, p in POINTS.items():
        spec.point(name, p)
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=2.0).link("rocker", "D", "C", mass=1.5)
    for name, a, b, c in PINS:
        dry: dict[str, Any] = {"friction": friction * c, "breakaway": friction * breakaway * c}
        spec.joint(name, a, b, sr.Revolute("z"), at=name, friction_model="coulomb", **dry)
    return spec.actuate("A").compile()


def reversal(t: float) -> tuple[Array, Array, Array]:
    """A slow swing of the crank that turns round at t = 1 s and ends where it began."""
    w = np.pi
    x = 0.2 * (1 - np.cos(w * t)) / 2
    return np.array([x]), np.array([0.1 * w * np.sin(w * t)]), np.array([0.1 * w * w * np.cos(w * t)])


def track(mech: sr.Mechanism, **options: Any) -> tuple[sr.Trajectory, float, Any]:
    """The run, its largest error [rad] and the law."""
    law = control.ProjectedInverseDynamics(mech, "A", reversal, kp=100.0, **options)
    run = sr.simulate(mech, (0, 2), mech.neutral(), np.zeros(mech.nv), control=law, control_dt=2e-3)
    assert run.success, run.message
    k = mech.names.index("A")
    wanted = np.array([reversal(t)[0][0] for t in run.t])
    return run, float(np.max(np.abs(run.q[:, k] - wanted))), law


def test_a_four_bar_with_dry_pins_tracks_a_slow_reversal() -> None:
    """Without compensation friction holds the crank back; with it sampling alone is left."""
    run, error, law = track(four_bar())
    _, ignored, _ = track(four_bar(), friction="ignore")
    _, without, _ = track(four_bar(0.0))
    assert error < 1.05 * without < 1.1e-4 and ignored > 200 * error, (without, error, ignored)
    turns = [e.t for e in run.events if e.name == "A"]
    # it comes to rest between two samples, and the next one moves it: once each, it does not chatter there
    assert turns == pytest.approx([1.0, 1.0, 2.0, 2.0], abs=2e-3)
    assert all(status >= 0 for _, status, _ in law.events)


def test_breakaway_is_overcome() -> None:
    _, error, _ = track(four_bar(1.0, 1.5))
    assert error < 1e-3


def torques(law: Any, mech: sr.Mechanism, v: Array, t: float = 0.5) -> float:
    return float(law(t, mech.neutral(), v)[0])


def test_torque_in_motion_holds_the_power_of_friction() -> None:
    """Virtual work: the torque on A times its rate is the work done on friction, sum of c |rate|."""
    mech = four_bar()
    at = {name: mech.names.index(name) for name in "ABCD"}
    rates = mech.decompose(mech.neutral()).N[:, 0]
    rates = rates / rates[at["A"]]
    loss = sum(c * abs(rates[at[name]]) for name, _, _, c in PINS)
    both = [
        control.ProjectedInverseDynamics(mech, "A", reversal, friction=f) for f in ("compensate", "ignore")
    ]
    for speed in (0.3, -0.3):
        more = torques(both[0], mech, speed * rates) - torques(both[1], mech, speed * rates)
        assert more == pytest.approx(np.sign(speed) * loss, rel=1e-9)


def test_torque_at_rest_goes_the_way_that_the_law_moves_it() -> None:
    mech = four_bar()
    rates, rest = mech.decompose(mech.neutral()).N[:, 0], np.zeros(mech.nv)
    k = mech.names.index("A")
    loss = sum(c * abs(rates[mech.names.index(name)] / rates[k]) for name, _, _, c in PINS)
    for way in (1.0, -1.0):
        ahead = np.array([mech.neutral()[k] + 0.1 * way])
        both = [control.ProjectedInverseDynamics(mech, "A", ahead, friction=f) for f in CHOICES]
        more = torques(both[0], mech, rest) - torques(both[1], mech, rest)
        assert more == pytest.approx(way * loss, rel=1e-9)


@pytest.mark.parametrize("size", [1e-17, 1e-13, 1e-7])
def test_rounding_of_velocities_does_not_make_torques_jump(size: float) -> None:
    """At the set-point, with velocities and errors of the size of rounding, of either sign."""
    mech, random = four_bar(), np.random.default_rng(3)
    k, rates = mech.names.index("A"), mech.decompose(mech.neutral()).N[:, 0]
    law = control.ProjectedInverseDynamics(mech, "A", np.array([mech.neutral()[k]]))
    found = []
    for _ in range(20):
        q = mech.integrate(mech.neutral(), size * random.standard_normal() * rates)
        found.append(float(law(0.0, q, size * random.standard_normal() * rates)[0]))
    assert np.ptp(found) <= 1e5 * size + 1e-12  # RAMP: c per acceleration is 1 / (1e-2 G)


def test_dead_zone_is_a_hundredth() -> None:
    """A step within it stays, one beyond it moves: the crank is held where RAMP says."""
    mech = four_bar()
    k, rest = mech.names.index("A"), np.zeros(mech.nv)

    def moves(step: float, **options: Any) -> bool:
        target = np.array([mech.neutral()[k] + step])
        law = control.ProjectedInverseDynamics(mech, "A", target, kp=100.0, **options)
        u = law(0.0, mech.neutral(), rest)
        tau = np.eye(mech.nv)[k] * u[0]
        return bool(abs(mech.forward_dynamics(mech.neutral(), rest, tau).a[k]) > 1e-9)

    assert moves(0.01) and not moves(0.01, friction="ignore")
    assert not moves(1e-5)


def test_other_laws_accept_it() -> None:
    mech = four_bar()
    free = control.ProjectedInverseDynamics(mech, "A", reversal)
    bounds = control.ForceLimits(mech, "A", reversal, control.TorqueBounds((-4.6, 4.6)), gives="motion")
    wanted, held = (law.solve(0.0, mech.neutral(), np.zeros(mech.nv)).u[0] for law in (free, bounds))
    assert wanted > 4.6 and held == pytest.approx(4.6)  # friction counts within the bounds
    stack = control.TaskHierarchy(mech, [control.PriorityTask(control.Coordinates("A"), reversal)])
    one = control.ProjectedInverseDynamics(mech, "A", reversal)
    v = 0.2 * mech.decompose(mech.neutral()).N[:, 0]
    for state in (v, 0 * v):
        np.testing.assert_allclose(
            stack(0.5, mech.neutral(), state), one(0.5, mech.neutral(), state), rtol=1e-9
        )


def test_bad_input() -> None:
    mech = four_bar()
    with pytest.raises(sr.InputError, match="friction must be one of"):
        control.ProjectedInverseDynamics(mech, "A", reversal, friction="half")
    with pytest.raises(sr.InputError, match="WrenchEstimator, which would take it for an external wrench"):
        control.WrenchEstimator(mech, "rocker")
