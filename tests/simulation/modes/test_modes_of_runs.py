"""Runs as data: the mode of a run survives checkpoints, singular poses, latches and terminal events."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import sarrus as sr

from .machines import table, two_bars

G = 9.81
FIELDS = ("t", "q", "v", "a", "u", "tau", "rank", "friction", "friction_unique")


def block(friction: float, **limits: Any) -> sr.Mechanism:
    spec = sr.MechanismSpec(name="block")
    spec.body(
        "block", joint=sr.Prismatic("x"), mass=2.0, friction=friction, friction_model="coulomb", **limits
    )
    return spec.compile()


def shake(t: float, q: Any, v: Any) -> list[float]:
    return [9.0 * math.sin(7.0 * t)]


def latched_bars() -> tuple[sr.Mechanism, dict[str, Any]]:
    mech = two_bars()
    names = [name for name, _ in mech.model.constraints]
    return mech, {"switches": [sr.Switch(name, on=0.1, off=0.35, latch=True) for name in names]}


CASES: dict[str, Any] = {
    "friction": lambda: (block(4.0), {"control": shake}),
    "friction, sampled": lambda: (block(4.0), {"control": shake, "control_dt": 0.05}),
    "friction, rk4": lambda: (block(4.0), {"control": shake, "dt": 1e-3}),
    "stops": lambda: (block(0.5, limits=(-0.1, 0.1)), {"control": shake, "stops": True}),
    "stops, radau": lambda: (
        block(0.5, limits=(-0.1, 0.1)),
        {"tau": shake, "stops": True, "method": "radau"},
    ),
    "latches": latched_bars,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("half", [0.2003, 0.5])
def test_a_resumed_run_has_the_bits_of_one_run(name: str, half: float) -> None:
    mech, options = CASES[name]()
    whole = sr.simulate(mech, (0.0, 0.8), v0=np.zeros(mech.nv), **options)
    first = sr.simulate(mech, (0.0, half), v0=np.zeros(mech.nv), **options)
    resumed = first.resume(0.8)
    assert whole.success and resumed.success and type(resumed) is type(whole), resumed.message
    for field in FIELDS:
        np.testing.assert_array_equal(getattr(resumed, field), getattr(whole, field), err_msg=field)
    assert [(e.kind, e.t, e.name) for e in resumed.events] == [(e.kind, e.t, e.name) for e in whole.events]
    if isinstance(whole, sr.SwitchedTrajectory):
        assert isinstance(resumed, sr.SwitchedTrajectory)
        np.testing.assert_array_equal(resumed.active, whole.active)
        np.testing.assert_array_equal(resumed.lam, whole.lam)


def test_a_saved_run_with_modes_is_not_resumed(tmp_path: Any) -> None:
    run = sr.simulate(block(4.0), (0.0, 0.2), control=shake)
    path = run.save(tmp_path / "run.npz")
    with pytest.raises(sr.InputError, match="those with switches or dry friction not from"):
        sr.Trajectory.load(path).resume(0.4, control=shake)


def test_a_latch_that_closes_twice_holds_two_poses() -> None:
    """Offsets of a latch are data of the mode: each closing has its own, and results know them."""
    spec = sr.MechanismSpec(gravity=(0.0, -G, 0.0))
    spec.body("rod", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.constrain("brake", sr.Coupling({"rod": 1.0}))
    brake = sr.Switch("brake", on=[0.2, 0.6], off=[0.4, 0.8], closed=False, latch=True)
    run = sr.simulate(spec.compile(), (0.0, 1.0), [0.0], [0.0], switches=brake)
    assert run.success and len(run.segments) == 5
    held = [s for s in run.segments if s.system.nc]
    poses = [s.q[0, 0] for s in held]
    assert poses[0] - poses[1] > 0.1
    for segment, pose in zip(held, poses, strict=True):
        np.testing.assert_allclose(segment.q[:, 0], pose, atol=1e-14)
        assert segment.drift.max() < 1e-14  # against the offset that the mechanism of the segment has
        np.testing.assert_allclose(segment.lam[:, 0], G * np.cos(pose), rtol=1e-10)


def test_a_coordinate_that_sticks_in_a_singular_pose_keeps_the_rank_of_the_loop() -> None:
    """A flat parallelogram loses a row; pins that stick and slide there change rows of friction only."""
    spec = sr.MechanismSpec(gravity=(0.0, 0.0, 0.0), name="flat")
    for name, p in (("A", (0, 0)), ("B", (0.2, 0.0)), ("C", (0.7, 0.0)), ("D", (0.5, 0))):
        spec.point(name, (*p, 0))
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=2.0).link("rocker", "D", "C", mass=1.0)
    for name, a, b in (("A", "ground", "crank"), ("B", "crank", "rod"), ("C", "rod", "rocker")):
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    spec.joint("D", "ground", "rocker", sr.Revolute("z"), at="D", friction=0.4, friction_model="coulomb")
    flat = spec.compile()
    k, q = flat.names.index("D"), flat.neutral()
    push = lambda t, q, v: 3.0 * max(t - 0.1, 0.0) * np.eye(flat.nv)[k]  # noqa: E731
    run = sr.simulate(flat, (0.0, 0.2), q, np.zeros(flat.nv), tau=push)
    full = flat.mobility(q).rank
    assert run.rank[0] == full  # rows of friction do not count
    resting = run.t < 0.1 + 0.4 / 3.0 - 1e-6
    assert not run.v[resting].any() and np.all(run.rank[resting] == full)


@pytest.mark.parametrize("dt", [None, 1e-3])
def test_controllers_are_not_called_after_a_terminal_event(dt: float | None) -> None:
    """Contacts take steps again, back in time; what a terminal event ends is not seen by the controller."""
    seen: list[float] = []

    def push(t: float, q: Any, v: Any) -> list[float]:
        seen.append(t)
        return [6.0]

    def far(t: float, q: Any, v: Any) -> float:
        return float(q[0]) - 0.05

    far.terminal = True  # type: ignore[attr-defined]
    mech = block(1.0, limits=(-0.2, 0.2))
    run = sr.simulate(mech, (0.0, 2.0), [-0.2], [0.0], control=push, stops=True, events=far, dt=dt)
    assert run.status == 1 and run.q[-1, 0] == pytest.approx(0.05, abs=1e-9)
    longest = float(np.diff(run.t).max()) if dt is None else dt
    assert max(seen) <= run.t[-1] + longest + 1e-12


@pytest.mark.parametrize("options", [{}, {"dt": 2e-3}, {"method": "radau"}, {"coordinates": "tangent"}])
def test_what_is_held_stays_held_until_the_next_sample(options: dict[str, Any]) -> None:
    """A block slides into its stop between two samples: the controller is asked at samples only."""
    seen: list[float] = []

    def push(t: float, q: Any, v: Any) -> list[float]:
        seen.append(t)
        return [10.0 if v[0] >= 0.0 else 1.0]

    mech = block(0.0 if "coordinates" in options else 2.0, limits=(-1.0, 0.3))
    run = sr.simulate(mech, (0.0, 1.0), [0.0], [0.5], control=push, control_dt=0.1, stops=True, **options)
    assert run.success and len(run.impacts) >= 1
    assert {round(t, 12) for t in seen} <= {round(0.1 * k, 12) for k in range(11)}
    between = run.t[np.isin(run.t, [event.t for event in run.events])]
    for t in between:  # u is that of the sample before
        at = np.flatnonzero(run.t == t)
        sample = int(np.searchsorted(run.t, math.floor(t / 0.1 + 1e-9) * 0.1 - 1e-12))
        assert np.all(run.u[at] == run.u[sample]), t


@pytest.mark.parametrize("method", ["rk4", "dopri5"])
def test_a_run_is_a_rollout_of_one_copy(method: str) -> None:
    """The same loop in the kernel: states at the same times differ by rounding only."""
    feet = [sr.Contact(f"leg{i}") for i in range(4)]
    tilted = np.array([0, 0, 1.0, *sr.Pose(rpy=(0.1, 0.05, 0.0)).quat])
    run = sr.simulate(table(), (0.0, 0.6), tilted, dt=2e-3, method=method, switches=feet, rtol=1e-8)
    many = sr.rollout(table(), tilted, dt=2e-3, steps=300, method="rk4", switches=feet)
    at = np.searchsorted(run.t, many.t, side="right") - 1
    same = np.abs(run.t[at] - many.t) < 1e-12
    if method == "rk4":
        assert same.all()
        np.testing.assert_allclose(many.q[0], run.q[at], atol=1e-9)
    assert run.success and many.success
