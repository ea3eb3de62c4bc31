"""Surfaces that touch in `mech.step` and in copies: sr.rollout."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

from .machines import Array, G, ball, block
from .test_steps import falling_four_bar


def hopper() -> tuple[sr.Mechanism, Array]:
    """A leg with an actuator that hops on a floor, and its pose: foot 5 mm above the floor."""
    spec = sr.MechanismSpec(name="hopper")
    spec.body("trunk", joint=sr.Prismatic("z"), mass=2.0)
    spec.body("leg", "trunk", joint=sr.Prismatic("z"), mass=0.3)
    spec.actuate("leg", limits=[-100.0, 100.0])
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("foot", "leg", sr.Sphere(0.05), at=sr.Pose((0, 0, -0.5)))
    spec.contact("floor", "foot")
    return spec.compile(), np.array([0.6, -0.045])


def thrown(count: int) -> tuple[sr.Mechanism, Array, Array]:
    """Boxes thrown onto a floor."""
    rng = np.random.default_rng(1)
    mech, q = block(0.4, restitution=0.3)
    qs = np.tile(q, (count, 1))
    qs[:, 2] += 0.1 + 0.1 * rng.random(count)
    return mech, qs, np.hstack([rng.normal(size=(count, 3)), 3 * rng.normal(size=(count, 3))])


def test_copies_move_as_runs_of_fixed_steps_do() -> None:
    """To ten times what a change of the last digit of the start does: sliding begins in directions that
    depend on speeds of 1e-9, and where copies share lanes their last digits are others."""
    mech, q, v = thrown(6)
    many = sr.rollout(mech, q, v, dt=1e-3, steps=600)
    nudged = sr.rollout(mech, q, v * (1 + 4e-16), dt=1e-3, steps=600)
    assert many.success, many.message
    for i in range(6):
        run = sr.simulate(mech, (0, 0.6), q[i], v[i], contacts="steps", dt=1e-3)
        after = np.searchsorted(run.t, many.t + 1e-9) - 1  # of two states at a change the second
        for ours, other, theirs in ((many.q, nudged.q, run.q), (many.v, nudged.v, run.v)):
            spread = np.abs(other[i] - ours[i]).max()
            assert spread <= 1e-7
            np.testing.assert_allclose(ours[i], theirs[after], rtol=0, atol=1e-12 + 10 * spread)
    assert set(many.mode.contacts) == set(mech.model.structure.slots)  # type: ignore[union-attr]


def test_bits_of_a_copy_do_not_depend_on_others_nor_on_threads() -> None:
    mech, q, v = thrown(9)
    u = np.zeros((9, 300, 0))
    together = sr.rollout(mech, q, v, u, dt=2e-3, steps=300, threads=2)
    for i in (0, 4, 8):
        alone = sr.rollout(mech, q[i], v[i], dt=2e-3, steps=300, threads=1)
        np.testing.assert_array_equal(alone.q[0], together.q[i])
        np.testing.assert_array_equal(alone.v[0], together.v[i])


def test_without_contact_bits_are_those_without_surfaces() -> None:
    mech = falling_four_bar()
    rng = np.random.default_rng(0)
    q = np.array([3.0, 0.3, -0.3, 0.3]) + np.outer(rng.random(5), [1.0, 0, 0, 0])
    v = np.tile([0.2, 1.0, -1.0, 1.0], (5, 1))
    for method in ("rk4", "verlet"):
        found, free = (
            sr.rollout(mech, q, v, dt=1e-3, steps=200, method=method, contacts=way)
            for way in ("steps", "ignore")
        )
        np.testing.assert_array_equal(found.q, free.q)
        np.testing.assert_array_equal(found.v, free.v)
        one, other = (
            mech.step(q, v, dt=5e-3, substeps=2, method=method, contacts=way) for way in ("steps", "ignore")
        )
        np.testing.assert_array_equal(one.q, other.q)
        np.testing.assert_array_equal(one.v, other.v)
        assert not np.any(one.mode.touches)


def test_steps_in_a_loop_are_the_rollout() -> None:
    """Given back, a mode goes on up to rounding; without it a step does not know of rebounds summed up."""
    mech, q = ball(0.5, friction=0.3, height=0.02)
    v = np.array([1.0, 0.5, 0, 0, 0, 3.0])
    many = sr.rollout(mech, q, v, dt=1e-3, steps=500)
    for keeps, tol in ((True, 1e-11), (False, 1e-3)):
        state: Any = q, v
        mode = None
        for _ in range(500):
            state = mech.step(state[0], state[1], dt=1e-3, mode=mode)
            mode = state.mode if keeps else None
        np.testing.assert_allclose(state[0], many.q[0, -1], atol=tol)
        assert state.mode.contacts == many.mode[0].contacts  # type: ignore[index]


def test_a_single_step_is_that_of_a_batch() -> None:
    mech, q = block(0.5, slope=0.3)
    v = np.zeros(6)
    one = mech.step(q, v, dt=1e-2)
    assert one.mode.contacts["floor/block.0"] == "stick"
    np.testing.assert_allclose(one.q, q, atol=1e-14)
    many = mech.step(np.tile(q, (3, 1)), np.tile(v, (3, 1)), dt=1e-2)
    np.testing.assert_array_equal(many.q, np.tile(one.q, (3, 1)))
    assert many.mode.contacts["floor/block.0"].tolist() == ["stick"] * 3
    assert many.mode[0].contacts == one.mode.contacts
    pushed = mech.step(q, v, dt=1e-2, tau=[30.0, 0, 0, 0, 0, 0])
    assert pushed.mode.contacts["floor/block.0"] == "slip"


def test_pieces_of_a_rollout_do_not_matter() -> None:
    """Inputs that jump while a foot stands: one call, two calls, and a policy that is asked at each step."""
    mech, q = hopper()
    phase = np.arange(400)[:, None] % 100
    u = np.where(phase < 30, -60.0, np.where(phase < 45, 20.0, 0.0))  # push off, then pull the leg up
    whole = sr.rollout(mech, q, np.zeros(2), u, dt=1e-3, steps=400)
    first = sr.rollout(mech, q, np.zeros(2), u[:200], dt=1e-3, steps=200)
    then = sr.rollout(mech, first.q[:, -1], first.v[:, -1], u[200:], dt=1e-3, steps=200, mode0=first.mode)
    np.testing.assert_allclose(then.q[0, -1], whole.q[0, -1], atol=1e-9)
    policy = sr.rollout(mech, q, np.zeros(2), policy=lambda t, q, v: u[[round(t / 1e-3)]], dt=1e-3, steps=400)
    np.testing.assert_allclose(policy.q, whole.q, atol=1e-9)
    assert mech.contacts(whole.q[0]).gap[50:].max() > 0.01
    assert mech.contacts(whole.q[0]).gap.min() >= -1e-12


def test_what_fails_says_so_alone() -> None:
    mech, q = ball(0.0, friction=0.5)
    inside = q - np.array([0, 0, 0.03, 0, 0, 0, 0])
    batch = mech.step(np.array([q, inside, q * np.nan]), np.zeros((3, 6)))
    assert batch.status[0] == 0
    assert all(batch.status[1:] != 0)
    assert np.isnan(batch.q[1:]).all()
    with pytest.raises(sr.InputError, match=r"inside by 0\.03 m.*mech\.separate"):
        mech.step(inside, np.zeros(6))
    many = sr.rollout(mech, np.array([q, inside]), dt=1e-3, steps=5)
    assert many.status.tolist() == [0, -1]
    assert "inside each other by 0.03 m" in many.messages[1]
    np.testing.assert_allclose(many.q[0], np.tile(q, (6, 1)), atol=1e-14)


def test_small_depths_are_moved_out() -> None:
    mech, q = ball(0.0, friction=0.5)
    found = mech.step(q - np.array([0, 0, 5e-4, 0, 0, 0, 0]), np.zeros(6))
    assert abs(mech.contacts(found.q).gap.min()) <= 1e-12
    np.testing.assert_allclose(found.v, 0.0, atol=1e-14)


def test_what_does_not_go_with_surfaces_is_named() -> None:
    mech, q = ball(0.5, height=1.0)
    for call in (
        lambda method: mech.step(q, np.zeros(6), method=method),
        lambda method: sr.rollout(mech, q, dt=1e-3, steps=2, method=method),
    ):
        for method in ("dopri5", "radau"):
            with pytest.raises(sr.InputError, match=f"fixed steps.*{method}"):
                call(method)
    with pytest.raises(sr.InputError, match="switches and stops"):
        sr.rollout(mech, q, dt=1e-3, steps=2, stops=True)
    with pytest.raises(sr.InputError, match="mode must be the mode of another state"):
        mech.step(q, np.zeros(6), mode=3)  # type: ignore[arg-type]
    with pytest.raises(sr.InputError, match='device="cuda" does not know surfaces'):
        sr.rollout(mech, q, dt=1e-3, steps=2, device="cuda")


def test_energy_does_not_grow_and_nothing_sinks() -> None:
    mech, q, v = thrown(20)
    many = sr.rollout(mech, q, v, dt=1e-3, steps=2000, every=20)
    assert many.success, many.message
    energy = mech.energy(many.q, many.v).total
    lifted = 2.0 * G * (G * 1e-3**2)  # by what a contact falls within a step, [J]
    assert np.all(np.diff(energy, axis=1) <= lifted)
    assert mech.contacts(many.q).gap.min() >= -1e-12
    assert np.abs(many.v[:, -1]).max() <= 1e-9


@pytest.mark.parametrize("share", [1e-6, -1e-6])
def test_a_grasped_box_holds_or_slips_as_the_formula_says(share: float) -> None:
    """Two fingers press with (1 + share) m g / (2 mu): the box holds, or falls with share g."""
    mu, mass = 0.5, 1.0
    spec = sr.MechanismSpec(name="grasp")
    for side, x in (("left", -0.15), ("right", 0.15)):
        spec.body(side, joint=sr.Prismatic("x"), at=sr.Pose((x, 0, 0)), mass=0.2)
        spec.surface(side, side, sr.Sphere(0.05), friction=mu)
    spec.body("box", joint=sr.Free(), mass=mass, inertia=(0.01, 0.01, 0.01))
    spec.surface("box", "box", sr.Box((0.2, 0.2, 0.2)), friction=mu)
    spec.contact("left", "box").contact("right", "box")
    mech = spec.compile()
    press = (1.0 + share) * mass * G / (2.0 * mu)
    tau = np.r_[press, -press, np.zeros(6)]
    state: Any = mech.neutral(), np.zeros(8)
    mode = None
    for _ in range(500):
        state = mech.step(*state[:2], dt=2e-3, tau=tau, mode=mode)
        mode = state.mode
    assert state[1][4] == pytest.approx(min(share, 0.0) * G, abs=1e-12)
    assert set(state.mode.contacts.values()) == {"stick" if share > 0.0 else "slip"}
