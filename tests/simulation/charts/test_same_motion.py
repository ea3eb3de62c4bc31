"""Minimal coordinates give the motion of the full ones, on every mechanism of the library."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

KINDS = ("partition", "tangent", "nullspace")
# fast or stiff; others (0.06, 2e-3)
SPANS = dict.fromkeys(("andrews", "flyball_governor", "toggle_clamp"), (2e-3, 4e-5))


def distance(mech: sr.Mechanism, a: sr.Trajectory, b: sr.Trajectory) -> float:
    """Largest difference of the last states, velocities relative to the speeds."""
    speed = max(1.0, float(np.abs(b.v[-1]).max()))
    apart = np.abs(mech.difference(a.q[-1], b.q[-1])).max()
    return max(float(apart), float(np.abs(a.v[-1] - b.v[-1]).max()) / speed)


# surfaces that touch go with all coordinates only: refused by name (docs/contacts.md)
TOUCHING = ("geneva_drive", "flying_follower", "ratchet", "spring_latch", "escapement")


BY_LOAD = ("overhung_gearbox", "screw_jack", "worm_hoist")  # stages with all coordinates know the loads


@pytest.mark.parametrize("name", [name for name in sr.library.MECHANISMS if name not in TOUCHING + BY_LOAD])
def test_every_mechanism(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    t_end, dt = SPANS.get(name, (0.06, 2e-3))
    full, fine = (sr.simulate(mech, (0.0, t_end), dt=h) for h in (dt, dt / 4))
    truncation = distance(mech, full, fine)
    for kind in KINDS:
        run = sr.simulate(mech, (0.0, t_end), dt=dt, coordinates=kind)
        assert run.success
        assert distance(mech, run, fine) < 10.0 * truncation + 1e-10, kind
        assert run.drift.max() <= 1e-12 * mech.length
        assert run.velocity_drift.max() <= 1e-12 * mech.length * max(1.0, np.abs(run.v).max())


@pytest.mark.parametrize("kind", KINDS)
def test_order(kind: str) -> None:
    mech = sr.library.four_bar(angle=1.2)
    fine = sr.simulate(mech, (0.0, 0.32), dt=2.5e-4)
    errors = [
        distance(mech, sr.simulate(mech, (0.0, 0.32), dt=dt, coordinates=kind), fine) for dt in (0.02, 0.01)
    ]
    assert 3.5 < np.log2(errors[0] / errors[1]) < 5.5


def test_order_of_semi_implicit_euler() -> None:
    mech = sr.library.four_bar(angle=1.2)
    fine = sr.simulate(mech, (0.0, 0.2), dt=5e-4)
    options = {"method": "semi_implicit_euler", "coordinates": "tangent"}
    errors = [distance(mech, sr.simulate(mech, (0.0, 0.2), dt=dt, **options), fine) for dt in (2e-3, 1e-3)]
    assert 0.7 < np.log2(errors[0] / errors[1]) < 1.3


def test_adaptive_steps_meet_the_tolerance() -> None:
    mech = sr.library.four_bar()
    fine = sr.simulate(mech, (0.0, 0.6), dt=2e-4)
    run = sr.simulate(mech, (0.0, 0.6), method="dopri5", coordinates="partition", rtol=1e-9, atol=1e-11)
    assert distance(mech, run, fine) < 1e-6
    assert len(run) < 200


def test_tall_turns_change_charts_and_say_so() -> None:
    mech = sr.library.rolling_disk()
    full = sr.simulate(mech, (0.0, 0.6), dt=3e-3)
    for kind in ("partition", "tangent"):
        run = sr.simulate(mech, (0.0, 0.6), dt=3e-3, coordinates=kind)
        changes = [event for event in run.events if event.kind == "chart"]
        assert len(changes) >= 2
        assert all(event.note.startswith(("partition in", "tangent space")) for event in changes)
        assert "chart change at t" in str(changes[0])
        assert distance(mech, run, full) < 1e-8


def test_through_a_singular_pose_in_full_coordinates() -> None:
    mech = sr.library.n_four_bar(2)
    full = sr.simulate(mech, (0.0, 1.0), dt=2e-3)
    run = sr.simulate(mech, (0.0, 1.0), dt=2e-3, coordinates="tangent")
    assert distance(mech, run, full) < 1e-10
    kinds = [event.kind for event in run.events]
    assert kinds == ["chart", "singular", "chart"]
    assert "singular pose" in run.events[0].note


def test_from_rest_at_a_singular_pose() -> None:
    mech = sr.library.five_bar()
    full = sr.simulate(mech, (0.0, 0.5), dt=2e-3)
    run = sr.simulate(mech, (0.0, 0.5), dt=2e-3, coordinates="partition")
    assert distance(mech, run, full) < 1e-4 * np.abs(full.v).max()
    assert np.ptp(run.energy) < 10.0 * np.ptp(full.energy) + 1e-6


def test_drives_and_controllers() -> None:
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0))
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.body("b", parent="a", joint=sr.Revolute("z"), at=sr.Pose((1.0, 0.0, 0.0)), mass=1.0, com=(1.0, 0, 0))
    spec.constrain("drive", sr.Drive("a", np.sin, np.cos, lambda t: -np.sin(t)))
    mech = spec.compile()
    options = {"control": lambda t, q, v: [0.0, -0.3 * v[1]], "control_dt": 0.01, "dt": 2e-3}
    full = sr.simulate(mech, (0.0, 0.4), **options)
    for kind in KINDS:
        run = sr.simulate(mech, (0.0, 0.4), coordinates=kind, **options)
        assert distance(mech, run, full) < 1e-8
        np.testing.assert_allclose(run.u, full.u, atol=1e-7)


@pytest.mark.parametrize("formulation", ["svd", "projection_gamma"])
def test_any_formulation(formulation: str) -> None:
    mech = sr.library.bennett()
    full = sr.simulate(mech, (0.0, 0.05))
    run = sr.simulate(mech, (0.0, 0.05), formulation=formulation, coordinates="nullspace")
    assert distance(mech, run, full) < 1e-11
