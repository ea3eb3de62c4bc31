"""Runs with contacts: what goes with them, what is refused, balances of energy and forces."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

from .machines import G, ball, block, kinds


def thrown(seed: int) -> sr.Trajectory:
    """A box that is thrown onto a rough floor."""
    rng = np.random.default_rng(seed)
    mech, q = block(0.4, restitution=0.3)
    q[2] += 0.1
    return sr.simulate(mech, (0, 1.5), q, np.r_[rng.normal(size=3), 3 * rng.normal(size=3)])


@pytest.mark.parametrize("seed", range(4))
def test_a_thrown_box_comes_to_rest_and_gains_no_energy(seed: int) -> None:
    run = thrown(seed)
    assert run.success, run.message
    assert np.diff(run.energy).max() <= 1e-8 * run.energy[0]
    assert np.abs(run.v[-1]).max() <= 1e-9
    assert run.system.contacts(run.q[-1]).gap.min() >= -1e-12
    for i in range(0, len(run), 7):
        assert run.system.contacts(run.q[i]).gap.min() >= -1e-9


@pytest.mark.parametrize("seed", range(2))
def test_forces_of_contacts_balance_the_motion(seed: int) -> None:
    """M a + h = tau + forces of contacts, at every state; none leaves its cone."""
    run = thrown(seed)
    found = run.contacts
    assert np.abs(run.constraint_force).max() <= 1e-9 * np.abs(found.force).max()
    push, friction = found.force[..., 2], np.linalg.norm(found.force[..., :2], axis=-1)
    assert push.min() >= -1e-6
    assert np.all(friction <= 0.4 * push + 1e-6)
    assert found.work.max() <= 1e-9


def test_a_run_that_goes_on_is_the_run_in_one_piece() -> None:
    mech, q = ball(0.5, height=1.0)
    whole = sr.simulate(mech, (0, 2), q)
    again = sr.simulate(mech, (0, 0.9), q).resume(2.0)
    np.testing.assert_array_equal(again.q, whole.q)
    assert kinds(again) == kinds(whole)
    np.testing.assert_array_equal(again.contacts.force, whole.contacts.force)


def test_saved_runs_keep_their_contacts(tmp_path: Path) -> None:
    run = thrown(1)
    run.save(tmp_path / "thrown.npz")
    again = sr.Trajectory.load(tmp_path / "thrown.npz")
    for name in ("force", "moment", "point", "slip", "mode", "work", "generalized"):
        np.testing.assert_array_equal(getattr(again.contacts, name), getattr(run.contacts, name))
    assert again.contacts.names == run.contacts.names
    np.testing.assert_array_equal(again.constraint_force, run.constraint_force)
    np.testing.assert_array_equal(again.reaction("block"), run.reaction("block"))


def test_runs_with_contacts_are_pickled() -> None:
    run = thrown(1)
    again = pickle.loads(pickle.dumps(run))
    np.testing.assert_array_equal(again.contacts.force, run.contacts.force)


def test_the_floor_is_ignored_where_it_is_to_be() -> None:
    mech, q = ball(0.5, height=1.0)
    run = sr.simulate(mech, (0, 1), q, contacts="ignore")
    assert run.q[-1, 2] == pytest.approx(1.1 - G / 2)
    with pytest.raises(sr.InputError, match="nothing could touch"):
        _ = run.contacts


def test_loops_beside_contacts_may_be_doubled() -> None:
    """A parallelogram of two bars falls onto a floor: with its loop twice the same motion."""
    found = []
    for loops in (1, 2):
        spec = sr.MechanismSpec(name="falling four-bar")
        spec.body("frame", joint=sr.Prismatic("z"), mass=1.0)
        spec.body("left", "frame", joint=sr.Revolute("y"), mass=0.3, com=(0.1, 0, 0), inertia=(0.01,) * 3)
        at = sr.Pose((0.2, 0, 0))
        spec.body(
            "bar", "left", at=at, joint=sr.Revolute("y"), mass=0.4, com=(0.1, 0, 0), inertia=(0.01,) * 3
        )
        spec.body(
            "right", "frame", at=at, joint=sr.Revolute("y"), mass=0.3, com=(0.1, 0, 0), inertia=(0.01,) * 3
        )
        for k in range(loops):
            spec.close(f"pin{k}", "bar", "right", sr.Revolute("y"), at_a=at, at_b=at)
        spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
        spec.surface("foot", "bar", sr.Sphere(0.05), at=sr.Pose((0.1, 0, 0)), restitution=0.4)
        spec.contact("floor", "foot")
        mech = spec.compile()
        run = sr.simulate(mech, (0, 0.6), [0.3, 0.3, -0.3, 0.3], rtol=1e-10, t_eval=np.linspace(0, 0.6, 7))
        assert run.success, run.message
        found.append(run)
    np.testing.assert_allclose(found[1].q, found[0].q, atol=1e-10)
    assert kinds(found[1]) == kinds(found[0])


REFUSED: list[tuple[dict[str, Any], str]] = [
    ({"method": "radau"}, "radau"),
    ({"formulation": "svd"}, "formulation"),
    ({"coordinates": "tangent"}, "coordinates"),
    ({"correction": "baumgarte"}, "correction"),
    ({"energy": True}, "energy"),
    ({"stops": True}, "stops"),
    ({"contacts": "steps"}, "needs dt"),
]


@pytest.mark.parametrize(("options", "named"), REFUSED, ids=lambda x: str(x))
def test_options_that_do_not_go_with_contacts_are_named(options: dict[str, Any], named: str) -> None:
    mech, q = ball(0.5, height=1.0)
    with pytest.raises(sr.InputError, match=named):
        sr.simulate(mech, (0, 1), q, **options)


def test_a_start_inside_is_refused_with_its_depth() -> None:
    mech, q = ball(0.5, height=-0.02)
    with pytest.raises(sr.InputError, match=r"floor/ball.0.*starts inside by 0.02 m"):
        sr.simulate(mech, (0, 1), q)


def test_a_driven_part_in_an_obstacle_ends_the_run() -> None:
    spec = sr.MechanismSpec(name="press")
    spec.body("ram", joint=sr.Prismatic("z"), mass=1.0)
    spec.constrain("drive", sr.Drive("ram", lambda t: 0.5 - t))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("ram", "ram", sr.Sphere(0.1))
    spec.contact("floor", "ram")
    run = sr.simulate(spec.compile(), (0, 1))
    assert not run.success
    assert run.t[-1] == pytest.approx(0.4, abs=1e-9)
    assert "CONTACT_PRESSED" in run.message
    assert "'floor/ram.0'" in run.message and "'drive'" in run.message


def test_forces_at_a_state() -> None:
    mech, q = block(0.5)
    motion = mech.forward_dynamics(q, np.zeros(6), [5.0, 0, 0, 0, 0, 0])
    assert np.abs(motion.a).max() <= 1e-12
    np.testing.assert_allclose(motion.contact_force.sum(axis=0), [-5.0, 0, 2 * G], atol=1e-11)
    assert not motion.contact_unique[:4].any()
    assert motion.contact_unique[4:].all()
    assert motion.contact_status == "SOLVED"
    assert motion.contact_residual <= 1e-10
    pushed = mech.forward_dynamics(q, np.zeros(6), [15.0, 0, 0, 0, 0, 0])
    assert pushed.a[0] == pytest.approx((15.0 - 0.5 * 2 * G) / 2)
    both = mech.forward_dynamics([q, q], np.zeros((2, 6)), [[5.0, 0, 0, 0, 0, 0], [15.0, 0, 0, 0, 0, 0]])
    np.testing.assert_array_equal(both.contact_force[0], motion.contact_force)
    np.testing.assert_array_equal(
        mech.acceleration(q, np.zeros(6), np.zeros(6)), mech.forward_dynamics(q, np.zeros(6)).a
    )


def test_what_does_not_know_contacts_says_so() -> None:
    mech, q = block(0.5)
    apart = q + np.array([0, 0, 0.1, 0, 0, 0, 0])
    for use in (
        lambda at: sr.linearize(mech, at, tau=[0, 0, 2 * G, 0, 0, 0]),
        lambda at: mech.inverse_dynamics(at, np.zeros(6), np.zeros(6), actuated=["block"]),
        lambda at: mech.derivatives(at, np.zeros(6)),
    ):
        use(apart)
        with pytest.raises(sr.InputError, match=r"floor/block\.0"):
            use(q)
    with pytest.raises(sr.InputError, match="study"):
        sr.study(mech)
