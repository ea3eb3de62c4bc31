"""Loads that coordinates at rest share."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]


def linkage(latched: bool) -> sr.Mechanism:
    """Four dry pins and one freedom, which a Coupling holds where it is latched."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="linkage")
    for name, p in (("A", (0, 0)), ("B", (0.2, 0.25)), ("C", (0.9, 0.5)), ("D", (0.8, 0))):
        spec.point(name, (*p, 0))
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=2.0).link("rocker", "D", "C", mass=1.5)
    pins = (("A", "ground", "crank", 9.0), ("B", "crank", "rod", 8.0), ("C", "rod", "rocker", 15.0))
    for name, a, b, c in (*pins, ("D", "ground", "rocker", 7.0)):
        spec.joint(name, a, b, sr.Revolute("z"), at=name, friction=c, friction_model="coulomb")
    if latched:
        spec.constrain("latch", sr.Coupling({"A": 1.0}))
    return spec.compile()


@pytest.mark.parametrize("latched", [False, True])
def test_runs_and_states_share_loads_alike(latched: bool) -> None:
    """Least norm of friction: by virtual work n (n.w) / (n.n) with the rates n; none beside a latch."""
    mech = linkage(latched)
    q, v = mech.neutral(), np.zeros(mech.nv)
    tau = np.array([4.0, 0.0, -1.0, 0.0])
    rates = linkage(False).decompose(q).N[:, 0]
    load = tau - mech.bias(q, v)
    expected = np.zeros(4) if latched else -rates * (rates @ load) / (rates @ rates)
    run = sr.simulate(mech, (0, 0.01), q, v, tau=tau, dt=1e-3)
    assert run.success and not run.v.any() and not run.friction_unique.any()
    motion = mech.forward_dynamics(q, v, tau)
    np.testing.assert_allclose(motion.friction, expected, atol=1e-9)
    np.testing.assert_allclose(run.friction, np.tile(expected, (len(run.t), 1)), atol=1e-9)
    if latched:  # the latch carries the load
        along = mech.terms(q, v).J.T @ run.lam[0]
        np.testing.assert_allclose(along, -load, atol=1e-9)


def beside(brake: float) -> sr.Mechanism:
    """A four-bar that turns beside one that its brake holds; journals in all pins."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="beside")
    for k, x in (("m", 0.0), ("r", 1.0)):
        for name, p in (("A", (0, 0)), ("B", (0, 0.1)), ("C", (0.35, 0.3)), ("D", (0.4, 0))):
            spec.point(k + name, (x + p[0], p[1], 0))
        spec.link(k + "crank", k + "A", k + "B", mass=1.0).link(k + "rod", k + "B", k + "C", mass=1.0)
        spec.link(k + "rocker", k + "D", k + "C", mass=1.0)
        pairs = ("ground", k + "crank"), (k + "crank", k + "rod"), (k + "rod", k + "rocker")
        for name, (a, b) in zip("ABCD", (*pairs, ("ground", k + "rocker")), strict=True):
            spec.joint(k + name, a, b, sr.Revolute("z"), at=k + name)
            spec.force("journal " + k + name, sr.BearingFriction(k + name, 1e-3, 0.01))
    return spec.force("brake", sr.CoulombFriction("rA", brake)).compile()


def started(mech: sr.Mechanism) -> tuple[Array, Array]:
    q, at = mech.neutral(), [mech.names.index(name) for name in ("mA", "rA")]
    N = mech.decompose(q).N
    v = N @ np.linalg.lstsq(N[at], [20.0, 0.0], rcond=None)[0]
    v[[name.startswith("r") for name in mech.names]] = 0.0
    return q, v


def test_linkage_at_rest_beside_a_moving_one_stays_at_rest() -> None:
    mech = beside(5.0)
    run = sr.simulate(mech, (0, 0.02), *started(mech), dt=1e-4)
    resting = [name.startswith("r") for name in mech.names]
    assert run.success and not run.events and np.abs(run.v[:, resting]).max() < 1e-25
    assert np.all(np.abs(run.v[:, mech.names.index("mA")]) > 10.0)


def test_brake_gives_way_where_virtual_work_says() -> None:
    """The brake alone holds the weight but for what journals hold: less than mu r times a few weights."""
    mech = beside(5.0)
    q = mech.neutral()
    N = mech.decompose(q).N
    at = [mech.names.index("mA"), mech.names.index("rA")]
    along = N @ np.linalg.lstsq(N[at], [0.0, 1.0], rcond=None)[0]
    needed = abs(along @ mech.bias(q, np.zeros(mech.nv)))
    journals = 1e-3 * 0.01 * 4 * 10 * 9.81 * np.abs(along).max()
    for brake, holds in ((needed + 1e-6, True), (needed - journals, False)):
        run = sr.simulate(beside(brake), (0, 0.002), *started(mech), dt=1e-4)
        assert run.success and bool(np.abs(run.v[:, at[1]]).max() > 1e-20) != holds
