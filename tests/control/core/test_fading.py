"""Laws where a rank changes: torques are bounded and continuous in the measured state, and it is said."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus import _kernel

C = sr.control
POSE = np.array([np.pi / 2, np.pi])  # of the slider-crank: its row vanishes, two branches cross
ALONG = np.array([1.0, -2.0])  # the branch on which the crank turns the slider
EXACTLY = (0.0, 0.0)


def crank() -> sr.Mechanism:
    return sr.library.slider_crank()


LAWS: dict[str, Callable[[sr.Mechanism], Any]] = {
    "inverse dynamics": lambda m: C.ProjectedInverseDynamics(m, "crank", 2.0, kp=10),
    "one motor": lambda m: C.ProjectedInverseDynamics(m, "crank", 2.0, kp=10, actuated="rod"),
    "a point": lambda m: C.ProjectedInverseDynamics(m, C.Position("rod", (1, 0, 0), axes="x"), 0.1, kp=10),
    "limits": lambda m: C.ForceLimits(m, "crank", 2.0, C.TorqueBounds((-60, 60)), kp=10),
    "limits that give way": lambda m: C.ForceLimits(m, "crank", 2.0, C.TorqueBounds((-6, 6)), kp=10),
    "hybrid": lambda m: C.HybridForceMotion(m, "crank", 2.0, force={"slider.ty": 3.0}, kp=10),
    "hierarchy": lambda m: C.TaskHierarchy(m, C.PriorityTask("crank", 2.0, kp=10)),
    "limited hierarchy": lambda m: C.TaskHierarchy(
        m, C.PriorityTask("crank", 2.0, kp=10), limits=C.TorqueBounds((-6, 6))
    ),
}


def near(distances: np.ndarray, noise: float, speed: float, seed: int) -> Iterator[tuple[Any, Any]]:
    """Measured states on the branch ALONG at these distances from the pose."""
    random = np.random.default_rng(seed)
    for x in distances:
        off, slow = noise * random.normal(size=2), 1e-3 * (noise > 0.0) * random.normal(size=2)
        yield POSE + x * ALONG + off, speed * ALONG + slow


@pytest.mark.parametrize("speed", [1.0, 1e-2, 0.0])
@pytest.mark.parametrize("name", LAWS)
def test_torques_are_bounded_whatever_the_noise(name: str, speed: float) -> None:
    """1e11 N m before. The largest torque of the law at exact states off the band bounds all others."""
    law = LAWS[name](crank())
    far = np.concatenate([-np.logspace(-2, -0.5, 8), np.logspace(-2, -0.5, 8)])
    largest = max(np.abs(law.solve(0.0, q, v).u).max() for q, v in near(far, 0.0, speed, 0))
    random = np.random.default_rng(1)
    for noise in (0.0, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3):
        distances = random.choice([-1.0, 1.0], size=40) * 10 ** random.uniform(-9, -2, size=40)
        for q, v in near(distances, noise, speed, 2):
            found = law.solve(0.0, q, v)
            assert found.status != C.Status.FAILED
            assert np.abs(found.u).max() < 1.2 * largest


@pytest.mark.parametrize("noise", [0.0, 1e-6, 1e-5, 1e-4, 1e-3])
@pytest.mark.parametrize("speed", [1.0, 0.1, 1e-3, 0.0])
def test_inputs_do_not_jump(speed: float, noise: float) -> None:
    """Along lines of measured states past the pose the inputs change by less the finer the steps are."""
    law = LAWS["inverse dynamics"](crank())
    size = max(1e-4, 3.0 * noise)

    def largest_change(n: int) -> float:
        u = [
            law.solve(0.0, POSE + s * size * ALONG + noise * np.array([0.0, 1.0]), speed * ALONG).u
            for s in np.linspace(-1.0, 1.0, n)
        ]
        return float(np.abs(np.diff(u, axis=0)).max())

    coarse, fine = largest_change(201), largest_change(1601)
    assert fine < 0.05 or fine < 0.3 * coarse


@pytest.mark.parametrize("control_dt", [None, 1e-3])
def test_the_law_takes_the_slider_crank_through_the_pose(control_dt: float | None) -> None:
    """[Aghili2005] (63)-(71): 60 to 120 degrees, law at the stages of RK4 and sampled, against (71)."""
    mech, T = crank(), 1.0
    q0 = mech.assemble([np.pi / 3, 2 * np.pi - 2 * np.pi / 3]).q
    path = C.MinimumJerk(np.pi / 3, 2 * np.pi / 3, T)

    def closed(t: float, q: Any, v: Any) -> Any:
        r = path(t)
        wanted = r.a[0] + 20 * (r.v[0] - v[0]) + 100 * (r.x[0] - q[0])
        f = 0.2 * (3 - 2 * np.cos(q[1])) * wanted + 0.2 * 9.81 * np.cos(q[0]) - 0.4 * np.sin(q[1]) * v[0] ** 2
        return np.array([f, -2 * f])

    law = C.ProjectedInverseDynamics(mech, "crank", path, kp=100)
    runs = [
        sr.simulate(mech, (0, 1.1 * T), q0, control=u, dt=1e-3, control_dt=control_dt) for u in (law, closed)
    ]
    assert all(run.success for run in runs)
    ours, known = (float(np.abs(run.u).max()) for run in runs)
    assert ours == pytest.approx(known, rel=1e-3)
    np.testing.assert_allclose(runs[0].q, runs[1].q, atol=2e-6)
    assert max(abs(q[0] - path(t).x[0]) for t, q in zip(runs[0].t, runs[0].q, strict=True)) < 3e-4


@pytest.mark.parametrize("dt", [2e-4, 1e-4])
def test_steps_may_end_at_the_pose(dt: float) -> None:
    """Where rounding turns the row of the last stage: 2e-5 rad off, and on the other branch, before."""
    mech = crank()
    path = C.MinimumJerk(np.pi / 3, 2 * np.pi / 3, 1.0)
    start, speed = path(0.45).x[0], path(0.45).v[0]
    q0, v0 = np.array([start, 2 * np.pi - 2 * start]), np.array([speed, -2 * speed])
    law = C.ProjectedInverseDynamics(mech, "crank", path, kp=100)
    run = sr.simulate(mech, (0.45, 0.55), q0, v0, control=law, dt=dt)
    assert run.success and run.t == pytest.approx(np.linspace(0.45, 0.55, len(run)))
    assert max(abs(q[0] - path(t).x[0]) for t, q in zip(run.t, run.q, strict=True)) < 1e-8


@pytest.mark.parametrize(("noise", "slow"), [(1e-7, 0.0), (1e-5, 1e-3), (1e-4, 1e-3), (1e-3, 1e-3)])
def test_encoder_noise_does_not_reach_the_motors(noise: float, slow: float) -> None:
    """746 N m at 1e-7 rad and 7e5 at 1e-5 before; 12.6 without noise. 100 e + 20 e' pass on the noise."""
    mech = crank()
    q0 = mech.assemble([np.pi / 3, 2 * np.pi - 2 * np.pi / 3]).q
    path = C.MinimumJerk(np.pi / 3, 2 * np.pi / 3, 1.0)
    law = C.ProjectedInverseDynamics(mech, "crank", path, kp=100)
    real = C.Hardware(law, mech, sample=1e-3, q_noise=noise, v_noise=slow, seed=3)
    run = sr.simulate(mech, (0, 1.1), q0, control=real, dt=1e-3)
    assert run.success and np.abs(run.u).max() < 12.7 + 5 * (100 * noise + 20 * slow)
    off = max(abs(q[0] - path(t).x[0]) for t, q in zip(run.t, run.q, strict=True))
    assert off < 2e-4 + 3 * noise


def test_rows_are_told_that_fade_out() -> None:
    """In the middle of the band, below it and at the pose itself: status, names, shares and words."""
    mech = crank()
    law = LAWS["inverse dynamics"](mech)
    for x, share in ((3e-5, 0.5), (2e-6, 0.0), (0.0, 0.0)):
        found = law.solve(0.0, POSE + x * ALONG, ALONG)
        assert found.status == C.Status.SINGULAR and list(found.faded) == ["slider.ty"]
        assert (
            found.faded["slider.ty"] == pytest.approx(share, abs=0.45)
            if share
            else not any(found.faded.values())
        )
        assert "slider.ty" in found.message and "1e-05" in found.message
        np.testing.assert_allclose(found.missed, 0.0, atol=1e-3)
    calm = law.solve(0.0, POSE + 1e-3 * ALONG, ALONG)
    assert calm.status == C.Status.OK and calm.faded == {} and calm.message == ""


def test_a_row_that_is_lost_at_rest_is_told() -> None:
    """At rest at the pose nothing tells the branch: the row is left out, and said to be."""
    mech = crank()
    found = LAWS["one motor"](mech).solve(0.0, POSE, np.zeros(2))
    assert found.status == C.Status.SINGULAR and found.faded == {"slider.ty": 0.0}
    assert not found.controllable and found.uncontrollable


@pytest.mark.parametrize(
    ("name", "outputs"),
    [
        ("slider_crank", ["crank"]),
        ("five_bar", ["link1", "link2"]),
        ("four_bar", ["crank"]),
        ("dual_arm", ["left1", "right2"]),
        ("pantograph_leg", ["thigh", "crank"]),
    ],
)
def test_nothing_changes_outside_the_band(name: str, outputs: list[str]) -> None:
    """Inputs and status are those of a law that takes the state for exact."""
    mech, rng, compared = getattr(sr.library, name)(), np.random.default_rng(5), 0
    for _ in range(6):
        q = mech.project(mech.integrate(mech.default.q, 0.2 * mech.model.unit * rng.normal(size=mech.nv))).q
        v = mech.consistent_velocity(q, mech.model.unit * rng.normal(size=mech.nv))
        for kind in (C.ProjectedInverseDynamics, hierarchy):
            one, other = (
                kind(mech, outputs, [0.1, 0.2][: len(outputs)], measurement=m).solve(0.0, q, v)
                for m in ((1e-5, 1e-3), EXACTLY)
            )
            if one.faded:
                continue
            compared += 1
            np.testing.assert_allclose(one.u, other.u, rtol=0.0, atol=1e-12 * (1.0 + np.abs(other.u).max()))
            assert one.status == other.status
    assert compared >= 10


def hierarchy(mech: sr.Mechanism, outputs: list[str], targets: list[float], **options: Any) -> Any:
    tasks = [C.PriorityTask(o, x, priority=i) for i, (o, x) in enumerate(zip(outputs, targets, strict=True))]
    return C.TaskHierarchy(mech, tasks, **options)


def conflicting(tilt: float, **options: Any) -> Any:
    """Two levels on a double pendulum whose rows differ by an angle."""
    mech = sr.library.double_pendulum()
    first = C.Coordinates({mech.names[0]: 1.0})
    second = C.Coordinates({mech.names[0]: float(np.cos(tilt)), mech.names[1]: float(np.sin(tilt))})
    tasks = [
        C.PriorityTask(first, acceleration=[1.0], priority=1),
        C.PriorityTask(second, acceleration=[-5.0], priority=2),
    ]
    return C.TaskHierarchy(mech, tasks, **options).solve(0.0, *mech.default)


def test_levels_that_nearly_conflict() -> None:
    """|u| = 2e6, status OK before. The higher level is met, the lower one fades out with the angle."""
    tilts = np.logspace(-1, -9, 400)
    found = [conflicting(tilt) for tilt in tilts]
    exact = [conflicting(tilt, measurement=EXACTLY) for tilt in tilts]
    clear = [f.status == C.Status.OK for f in found]
    bound = max(np.abs(f.u).max() for f, ok in zip(found, clear, strict=True) if ok)
    for f, e, ok in zip(found, exact, clear, strict=True):
        assert next(iter(f.tasks.values())).lost == pytest.approx(0.0, abs=1e-6)
        assert np.abs(f.u).max() <= 1.2 * bound
        if ok:
            np.testing.assert_allclose(f.u, e.u, rtol=1e-12)
        else:
            assert f.status in (C.Status.SINGULAR, C.Status.PARTIAL) and "level 2" in f.message
    assert clear[0] and not clear[-1] and sorted(clear, reverse=True) == clear
    sizes = np.array([np.abs(f.u).max() for f in found])
    assert np.abs(np.diff(sizes)).max() < 0.3 * bound  # with steps of 5 % of the tilt


def test_a_motor_that_loses_its_hold() -> None:
    """One motor, two freedoms: past a pose where it does not accelerate the output, torques stay bounded."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0), inertia=(0.1, 0.1, 0.1))
    place = sr.Pose((1.0, 0, 0))
    spec.body(
        "b", "a", joint=sr.Revolute("z"), at=place, mass=1.0, com=(0.5, 0, 0), inertia=(0.01, 0.01, 0.01)
    )
    spec.actuate("b")
    mech = spec.compile()
    zero = np.arccos(-(0.25 + 0.01) / 0.5)  # M_ab = 0: the motor at b does not move a
    law = C.ProjectedInverseDynamics(mech, "a", 1.0, kp=10)
    turns = np.concatenate([-np.logspace(-1, -9, 200), np.logspace(-9, -1, 200)])
    found = [law.solve(0.0, np.array([0.0, zero + x]), np.zeros(2)) for x in turns]
    sizes = np.array([np.abs(f.u).max() for f in found])
    clear = np.array([not f.faded and f.rank == 0 and abs(f.missed).max() < 1e-6 for f in found])
    assert sizes.max() <= 1.2 * sizes[clear].max() and sizes[199] < 1e-6
    assert all(
        f.status in (C.Status.SINGULAR, C.Status.PARTIAL)
        for f, ok in zip(found, clear, strict=True)
        if not ok
    )


def test_guides_of_fixed_mechanisms_are_closed() -> None:
    """A point of a crank mechanism on a plane of the ground is no foot: the state is projected onto it."""
    law = LAWS["inverse dynamics"](crank())
    found = law.solve(0.0, POSE + 0.3 * ALONG + np.array([0.0, 1e-4]), ALONG)
    assert found.gap > 1e-5
    terms = crank().terms(found._step.now.q, found._step.now.v)
    assert np.abs(terms.phi).max() < 1e-13


@pytest.mark.parametrize(
    ("measurement", "says"),
    [(1e-5, "measurement must be"), ((1e-5, -1.0), "speed of measurement"), ((np.nan, 1.0), "angle of")],
)
def test_bad_accuracies_are_refused(measurement: Any, says: str) -> None:
    with pytest.raises(sr.SarrusError, match=says):
        C.ProjectedInverseDynamics(crank(), "crank", 2.0, measurement=measurement)


def test_weights_of_ranks_add_to_one() -> None:
    """Two levels and rows in doubt at once: the results of all choices, and their weights."""
    mech = crank()
    tasks = [
        C.PriorityTask("crank", acceleration=[1.0], priority=1),
        C.PriorityTask(C.Coordinates({"crank": 1.0, "rod": 1e-4}), acceleration=[-1.0], priority=2),
    ]
    law = C.TaskHierarchy(mech, tasks)
    found = law.solve(0.0, POSE + 1.5e-5 * ALONG, 2e-3 * ALONG)
    results = [found._step, *found._step.others]
    assert len(results) >= 3 and isinstance(results[0].found, _kernel.StepResult)
    weights = [one.found.weight for one in results]
    assert sum(weights) == pytest.approx(1.0, abs=1e-12) and weights[0] == max(weights)
    mean = sum(w * one.found.inputs_used for w, one in zip(weights, results, strict=True))
    np.testing.assert_allclose(found.u, mean, rtol=1e-12)
