"""Contacts of the held box: expected and true wrenches, limits under pushes, squeeze; [Lin2018]."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc

from .held_box import fingers, held, loaded, patches, run

Array = npt.NDArray[np.float64]

PUSH = np.array([0.0, 0.0, -40.0, 0.0, 0.0, 0.0])


def pushed(t: float) -> Array:
    """Down with up to 40 N, on for half a second and off again, smoothly."""
    return PUSH * np.sin(np.pi * min(max(t / 0.8, 0.0), 1.0)) ** 2


def test_internal_forces_do_not_move_the_object() -> None:
    """Torques J_c.T F_c of eq. (13) change contact forces only."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp)
    rng = np.random.default_rng(3)
    done = run(mech, law, 0.3, pushed)
    q, v = done.q[-1], done.v[-1]
    u = law.solve(0.3, q, v).u
    squeeze = (grasp.internal_jacobian(q).T @ rng.normal(size=12) * 20.0)[:14]
    before, after = (mech.forward_dynamics(q, v, u=x) for x in (u, u + squeeze))
    np.testing.assert_allclose(after.a, before.a, atol=1e-10)
    change = grasp.components(after.lam - before.lam)
    assert np.abs(change).max() > 1.0
    np.testing.assert_allclose(grasp.map() @ change, 0.0, atol=1e-10)


def test_expected_contact_wrenches_are_those_of_the_plant() -> None:
    """Under a push that a sensor sees, at every sample, to 1e-9; and always inside cones and patches."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, external=lambda t, q, v: pushed(t))
    done = run(mech, law, 0.8, pushed)
    past = law.history(done, every=5)
    for one, q, v in zip(past.solutions, done.q[::5], done.v[::5], strict=True):
        assert isinstance(one, sc.ImpedanceSolution) and one.success
        plant = mech.forward_dynamics(q, v, u=one.u, external={"box": pushed(one.t)})
        f = grasp.components(plant.lam)
        np.testing.assert_allclose(one.contact_forces, f, atol=1e-9)
        assert min(grasp.margins(f).values()) > -1e-7
        np.testing.assert_allclose(one.internal + one.load_share, f, atol=1e-9)
    assert past.summary()


def test_without_sensor_the_displacement_is_enough() -> None:
    """Held down at rest the displacement tells the wrench: the expected contact forces are exact."""
    mech, grasp = held()
    law = sc.ObjectImpedance(mech, grasp, damping_ratio=1.0, external="displacement")
    done = run(mech, law, 4.0, PUSH, dt=4e-3)
    found = law.solve(4.0, done.q[-1], done.v[-1])
    assert isinstance(found, sc.ImpedanceSolution)
    np.testing.assert_allclose(found.external, PUSH, atol=1e-2)
    plant = mech.forward_dynamics(done.q[-1], done.v[-1], u=found.u, external={"box": PUSH})
    np.testing.assert_allclose(found.contact_forces, grasp.components(plant.lam), atol=1e-2)


WITHOUT = [
    ("momentum", (0.0, 0.0), -2.5),
    ("displacement", (0.0, 0.0), -14.0),
    ("displacement", (10.0, 1.0), -8.0),
]


class Person:
    """A stiff spring that moves the box down by 0.4 m within 0.9 s, holds it, and lets go at 1.4 s."""

    def __init__(self, mech: sr.Mechanism) -> None:
        self.mech, self.top = mech, mech.pose(mech.default.q, "box").xyz[2]

    def __call__(self, t: float, q: Array, v: Array) -> Array:
        s, J = min(max((t - 0.1) / 0.9, 0.0), 1.0), self.mech.jacobian(q, "box")[2]
        hand = self.top - 0.43 * s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
        push = 6000.0 * (hand - self.mech.pose(q, "box").xyz[2]) - 60.0 * (J @ v)
        return J * (min(push, 0.0) if 0.1 < t < 1.4 else 0.0)


def least_margin(
    mech: sr.Mechanism, law: sc.ObjectImpedance, true: sc.Grasp, control_dt: float | None
) -> tuple[float, float]:
    """The least margin of all contacts at all steps, and how far down the box was [m]."""
    done = sr.simulate(mech, (0.0, 1.9), control=law, control_dt=control_dt, dt=4e-3, tau=Person(mech))
    assert done.success
    down = min(one.xyz[2] for one in mech.pose(done.q, "box")) - mech.pose(mech.default.q, "box").xyz[2]
    return min(min(true.margins(f).values()) for f in true.components(done.lam)), down


@pytest.mark.parametrize("control_dt", [4e-3, None])
def test_the_push_of_the_paper_with_default_arguments(control_dt: float | None) -> None:
    """Pushed down by 0.4 m, released at once: the simulated contact wrenches never leave cones and patches.

    The limits that the law knows are the true ones. Sampled, and asked at every stage of every step. Read off
    the displacement, and without a reserve, hands slip.
    """
    mech, grasp = held(least=0.0)
    true = held(least=0.0, edges=None)[1]
    margin, down = least_margin(mech, sc.ObjectImpedance(mech, grasp), true, control_dt)
    assert margin > 0.0 and down < -0.4
    if control_dt is None:
        return
    assert margin == pytest.approx(0.3, abs=0.1)  # this and what follows: the table of docs/grasp.md
    for external, reserve, known in WITHOUT:
        law = sc.ObjectImpedance(mech, grasp, external=external, reserve=reserve)
        assert least_margin(mech, law, true, control_dt)[0] == pytest.approx(known, abs=0.2)


@pytest.mark.parametrize("method", ["rk4", "dopri5", "radau"])
def test_what_is_known_of_the_push_moves_nothing(method: str) -> None:
    """Asked at every stage the observer decides only how hard to squeeze: same motion, same steps."""
    mech, grasp = held()
    found = {}
    for external in ("momentum", None):
        law = sc.ObjectImpedance(mech, grasp, external=external)
        found[external] = sr.simulate(
            mech, (0.0, 0.1), control=law, method=method, dt=2e-3, external={"box": lambda t: pushed(4.0 * t)}
        )
    ours, blind = found["momentum"], found[None]
    np.testing.assert_allclose(ours.q[-1], blind.q[-1], atol=1e-12)
    assert ours.success and ours.nfev == blind.nfev
    margins = [min(min(grasp.margins(f).values()) for f in grasp.components(x.lam)) for x in (ours, blind)]
    assert margins[0] > margins[1] + 5.0


def test_a_law_that_doubts_friction_stays_inside_under_the_push() -> None:
    """With estimated wrenches (momentum) and limits assumed 20% tighter the true ones are never left."""
    mech, grasp = held(mu=0.4, least=8.0)
    true = sc.Grasp(
        mech, "box", [sc.Patch(one.loop, 0.5, torsion=0.036, half=(0.06, 0.06)) for one in patches()]
    )
    law = sc.ObjectImpedance(mech, grasp, external=sc.WrenchEstimator(mech, "box"))
    done = run(mech, law, 0.8, pushed)
    worst = min(
        min(
            true.margins(
                true.components(mech.forward_dynamics(q, v, u=u, external={"box": pushed(t)}).lam)
            ).values()
        )
        for t, q, v, u in zip(done.t[2:-1:4], done.q[2:-1:4], done.v[2:-1:4], done.u[2:-1:4], strict=True)
    )
    assert worst > 0.0


def test_squeeze_rises_with_load() -> None:
    """[Lin2018] figure 6: hands press harder as weights of 0.5 kg are added, without being told."""
    mech, grasp = held(least=0.0)
    law = sc.ObjectImpedance(mech, grasp, massless=True)
    squeeze = []
    for mass in (0.0, 1.0, 2.0):
        plant = loaded(mech, sc.Payload(mass, (0.0, 0.0, 0.2)))
        law.reset()
        done = run(plant, law, 1.5, dt=4e-3)
        found = law.solve(1.5, done.q[-1], done.v[-1])
        assert isinstance(found, sc.ImpedanceSolution)
        squeeze.append(found.normal_forces.min())
        # mu (f_left + f_right) has to carry the weight; contacts settle with it
        assert found.normal_forces.sum() * 0.5 > 0.98 * (0.7 + mass) * 9.81
    assert np.all(np.diff(squeeze) > 5.0)


def test_too_little_friction_is_said_beforehand() -> None:
    """Friction that would need more squeeze than the motors have: the status says so, nothing is raised."""
    mech, grasp = held(mu=0.02, least=0.0)
    law = sc.ObjectImpedance(mech, grasp, limits=sc.TorqueBounds((-40.0, 40.0)))
    found = law.solve(0.0, *mech.default)
    assert found.status == sc.Status.INFEASIBLE and not found.success
    assert "friction" in found.message and found.violations


def test_three_hands_of_another_kind() -> None:
    """Three free-flying fingers with point contacts hold, and the exact cone is kept."""
    angles = 2.0 * np.pi / 3.0 * np.arange(3)
    points = [(0.1 * np.cos(x), 0.1 * np.sin(x), 0.0) for x in angles]
    mech = fingers(sr.Spherical(), points, [(-x, -y, -z) for x, y, z in points])
    grasp = sc.Grasp(mech, "box", [sc.PointContact(f"tip{k}", 0.6, edges=None, least=1.0) for k in range(3)])
    law = sc.ObjectImpedance(mech, grasp, stiffness=(200.0, 10.0))
    done = run(mech, law, 0.2, np.array([1.0, 0.0, -2.0, 0.0, 0.1, 0.0]))
    found = law.solve(0.2, done.q[-1], done.v[-1])
    assert isinstance(found, sc.ImpedanceSolution) and found.success
    assert min(grasp.margins(found.contact_forces).values()) > -1e-6


def test_pushes_means_the_same_for_friction_and_contacts_of_a_grasp() -> None:
    """The second body, the hand, is pushed out of the object: normal "z" of a contact, "-z" of Friction."""
    mech = held()[0]
    hand = {"mu": 0.5, "torsion": 0.03, "half": (0.05, 0.05)}
    for side in ("left", "right"):
        loop = f"grip_{side}"
        inward = sc.Patch(loop, **hand).bind(mech, "box").limit_rows(mech)
        outward = sc.Patch(loop, pushes="-z", **hand).bind(mech, "box").limit_rows(mech)
        friction = sc.Friction(loop, 0.5, pushes="-z").rows(mech)
        old = sc.Friction(loop, 0.5, "-z").rows(mech)
        for rows in (inward, outward, friction, old):
            assert rows[0].name == f"contact {loop}" and rows[0].lam is not None
        faces = [
            sorted(np.round(row.lam[0], 12).tolist() for row in rows[:9])
            for rows in (inward, outward, friction, old)
        ]
        for one in faces[1:]:
            np.testing.assert_allclose(one, faces[0], atol=1e-12)
    with pytest.raises(sr.SarrusError, match="unknown pushes 'w'"):
        sc.Patch("grip_left", pushes="w", **hand).bind(mech, "box")


def test_nothing_is_damped_where_that_is_asked_for() -> None:
    """An arm almost stretched: with `least_feel=0` the object has the chosen inertia exactly."""
    mech, grasp = held()
    q = np.array(mech.default.q)
    start = mech.pose(q, "box")
    for _ in range(30):  # 30 cm outwards, to where an arm is almost stretched
        N = mech.decompose(q).N
        way = np.linalg.lstsq(mech.jacobian(q, "box") @ N, np.r_[0.01, np.zeros(5)], rcond=1e-3)[0]
        q = mech.project(mech.integrate(q, N @ way)).q
    inertia, v = np.diag([3.0, 3.0, 3.0, 0.1, 0.1, 0.1]), np.zeros(mech.nv)
    shaped = {"inertia": inertia, "external": lambda t, q, v: np.zeros(6), "reserve": (0.0, 0.0)}
    shaped |= {"stiffness": (5.0, 0.5), "error": "split"}
    found = {
        feel: sc.ObjectImpedance(mech, grasp, start, least_feel=feel, **shaped).solve(0.0, q, v)
        for feel in (1e-3, 0.0)
    }
    e = found[0.0].errors
    expected = np.linalg.solve(inertia, np.r_[5.0 * e[:3], 0.5 * e[3:]])
    achieved = {feel: mech.jacobian(q, "box", grasp.com) @ one.a for feel, one in found.items()}
    np.testing.assert_allclose(achieved[0.0], expected, atol=1e-6 * np.abs(expected).max())
    assert np.abs(achieved[1e-3] - expected).max() > 0.01 * np.abs(expected).max()
    assert found[1e-3].status == sc.Status.SINGULAR and found[0.0].status != sc.Status.SINGULAR
