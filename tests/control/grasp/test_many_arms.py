"""Three and four whole arms on one box: of one kind, of different kinds, one stretched, one that lets go."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc

Array = npt.NDArray[np.float64]

DT = 4e-3
STIFFNESS = np.array([400.0, 600.0, 500.0, 40.0, 50.0, 60.0])
WRENCH = np.array([4.0, -5.0, -8.0, 0.3, -0.2, 0.25])
TEAMS: list[int | tuple[str, ...]] = [
    3,
    4,
    ("panda", "ur5", "lwr"),
    ("lwr", "ur5", "panda", "ur5"),
]
each_team = pytest.mark.parametrize("arms", TEAMS, ids=lambda arms: "-".join(np.atleast_1d(arms).astype(str)))


def push(t: float, begin: float = 0.0) -> Array:
    """Down and aside with up to 40 N, within 0.4 s, smoothly on and off."""
    way = np.array([10.0, 5.0, -40.0, 0.0, 0.5, 0.0])
    return way * np.sin(np.pi * min(max((t - begin) / 0.4, 0.0), 1.0)) ** 2


def held(arms: int | Sequence[str], mu: float = 0.5) -> tuple[sr.Mechanism, sc.Grasp]:
    """Arms with the box between them, and its grasp by patches of 10 x 10 cm."""
    mech = sr.library.arms_around_box(arms)
    return mech, sc.Grasp(mech, "box", patches(len(mech.model.constraints), mu))


def patches(count: int, mu: float = 0.5) -> list[sc.Patch]:
    return [sc.Patch(f"grip{k + 1}", mu, torsion=0.03, half=(0.05, 0.05), least=5.0) for k in range(count)]


@each_team
def test_pushed_boxes_feel_as_commanded_and_stay_in_the_cones(arms: int | tuple[str, ...]) -> None:
    """At every sample: contact wrenches as expected to 1e-9, inside all limits, all joints within theirs."""
    mech, grasp = held(arms)
    assert grasp.force_closure()
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, external=lambda t, q, v: push(t))
    done = sr.simulate(mech, (0.0, 0.4), control=law, control_dt=DT, dt=DT, external={"box": push})
    assert done.success and done.drift.max() < 1e-12
    assert np.linalg.norm(mech.pose(done.q[-1], "box").xyz - mech.pose(done.q[0], "box").xyz) > 0.02
    for one, q, v in zip(law.history(done, every=5).solutions, done.q[::5], done.v[::5], strict=True):
        assert isinstance(one, sc.ImpedanceSolution) and one.success
        f = grasp.components(mech.forward_dynamics(q, v, u=one.u, external={"box": push(one.t)}).lam)
        np.testing.assert_allclose(one.contact_forces, f, atol=1e-9)
        assert min(grasp.margins(f).values()) > -1e-7
    low, high = mech.model.limits[: mech.nv - 6].T
    assert np.all((done.q[:, :-7] > low) & (done.q[:, :-7] < high))
    assert np.all(np.abs(done.u) < [motor.upper for motor in mech.model.actuators])


@each_team
def test_default_laws_stay_inside_without_a_sensor(arms: int | tuple[str, ...]) -> None:
    """The wrench estimated, a reserve kept for what is not known yet: no limit is passed at any step."""
    mech, grasp = held(arms)
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS)
    done = sr.simulate(mech, (0.0, 0.4), control=law, control_dt=DT, dt=DT, external={"box": push})
    assert min(min(grasp.margins(f).values()) for f in grasp.components(done.lam)) > 0.0


@each_team
def test_measured_stiffness(arms: int | tuple[str, ...]) -> None:
    """Under a wrench in six directions at once the box comes to rest where the stiffness says, to 1%."""
    mech, grasp = held(arms)
    law = sc.ObjectImpedance(mech, grasp, stiffness=STIFFNESS, damping_ratio=1.0, error="split")
    done = sr.simulate(mech, (0.0, 3.0), control=law, control_dt=2 * DT, dt=2 * DT, external={"box": WRENCH})
    found = law.solve(3.0, done.q[-1], done.v[-1])
    assert np.abs(done.v[-1]).max() < 3e-3
    np.testing.assert_allclose(STIFFNESS * -found.errors, WRENCH, rtol=0.01)


@each_team
def test_internal_forces_move_nothing(arms: int | tuple[str, ...]) -> None:
    """Torques J_c.T F_c of [Lin2018] eq. (13) change contact forces only, to 1e-10, in motion too."""
    mech, grasp = held(arms)
    law = sc.ObjectImpedance(mech, grasp)
    done = sr.simulate(mech, (0.0, 0.1), control=law, control_dt=DT, dt=DT, external={"box": push})
    q, v, u = done.q[-1], done.v[-1], done.u[-1]
    squeeze = grasp.internal_jacobian(q).T @ np.random.default_rng(3).normal(size=grasp.size) * 20.0
    before, after = (mech.forward_dynamics(q, v, u=x) for x in (u, u + squeeze[: mech.nu]))
    np.testing.assert_allclose(after.a, before.a, atol=1e-10)
    change = grasp.components(after.lam - before.lam)
    assert np.abs(change).max() > 10.0
    np.testing.assert_allclose(grasp.map() @ change, 0.0, atol=1e-10)


@pytest.mark.parametrize(("shoulder", "lost"), [(1.0, 1), (0.5 * np.pi, 2)], ids=["elbow", "all in one line"])
def test_a_stretched_arm_while_holding(shoulder: float, lost: int) -> None:
    """The first elbow is straight, its wrist bent or straight too: the box loses motions and is held."""
    angles = (0.0, shoulder, 0.0, 0.0, 0.0, 0.5 * np.pi - shoulder, 0.0)
    mech = sr.library.arms_around_box(("lwr", "panda", "ur5"), angles={1: angles})
    grasp = sc.Grasp(mech, "box", patches(3))
    law = sc.ObjectImpedance(mech, grasp, damping=(80.0, 5.0), external=lambda t, q, v: push(t))
    first = law.solve(0.0, *mech.default)
    assert isinstance(first, sc.ImpedanceSolution) and first.success
    moves, ways = np.linalg.eigh(first.mobility)
    assert np.all(np.abs(moves[:lost]) < 1e-9) and moves[lost] > 0.01
    line = np.array([0.0, -np.sin(shoulder), np.cos(shoulder)])  # from the shoulder to the wrist
    assert np.linalg.norm(ways[:3, :lost].T @ line) > 0.99
    done = sr.simulate(mech, (0.0, 0.3), control=law, control_dt=DT, dt=DT, external={"box": push})
    assert done.success and done.drift.max() < 1e-12 and np.abs(done.u).max() < 50.0
    assert law.events[0][1] == sc.Status.SINGULAR
    for one, q, v in zip(law.history(done, every=5).solutions, done.q[::5], done.v[::5], strict=True):
        f = grasp.components(mech.forward_dynamics(q, v, u=one.u, external={"box": push(one.t)}).lam)
        np.testing.assert_allclose(grasp.components(one.lam), f, atol=1e-9)
        assert min(grasp.margins(f).values()) > -1e-7


def test_a_hand_lets_go_and_takes_the_box_again() -> None:
    """In plant and law: three hands carry on without a jerk of the box, the fourth is back when it closes."""
    mech, grasp = held(4)
    off, on = 0.1, 0.2

    def holds(t: float, q: Array, v: Array) -> list[str]:
        return [f"grip{k}" for k in (1, 2, 3, 4) if k < 4 or not off <= t < on]

    def later(t: float) -> Array:
        return push(t, on + 0.02)

    law = sc.ObjectImpedance(mech, grasp, external=lambda t, q, v: later(t), active=holds)
    switch = sr.Switch("grip4", off=off, on=on)
    done = sr.simulate(
        mech, (0.0, 0.4), control=law, control_dt=DT, dt=DT, external={"box": later}, switches=[switch]
    )
    assert done.success and [event.t for event in done.events] == [off, on]
    assert np.linalg.norm(mech.pose(done.at(on).q, "box").xyz - (0.0, 0.0, 0.8)) < 1e-9
    law.reset()
    fourth = np.array([grasp.normal_forces(f)[3] for f in grasp.components(done.lam)])
    away = (done.t > off) & (done.t < on)
    assert np.all(fourth[away] == 0.0) and np.all(fourth[(done.t < off) | (done.t > on)] > 5.0 - 1e-7)
    assert mech.pose(done.q[-1], "box").xyz[2] < 0.795
    for t, q, v, lam in list(zip(done.t, done.q, done.v, done.lam, strict=True))[::4]:
        if t not in (off, on):
            np.testing.assert_allclose(law.solve(t, q, v).lam, lam, atol=1e-9)
