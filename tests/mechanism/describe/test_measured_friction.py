"""ForceIn of friction and of user forces, by hand: sliding, sticking, shared by two, along runs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


def block(*forces: Any, **properties: Any) -> sr.Mechanism:
    """A block of 2 kg on a level slide, 9.81 m/s^2 across it, with measured forces."""
    spec = sr.MechanismSpec().body("block", joint=sr.Prismatic("x"), mass=2.0, **properties)
    for k, force in enumerate(forces):
        spec.force(f"force{k}", force).measure(f"measured{k}", sr.ForceIn(f"force{k}"))
    return spec.compile()


@pytest.mark.parametrize(
    ("v", "pull", "measured"), [(1.0, 0.0, 3.0), (-1.0, 0.0, -3.0), (0.0, 2.0, 2.0), (0.0, 9.0, 4.0)]
)
def test_friction_of_a_drive(v: float, pull: float, measured: float) -> None:
    """Sliding it resists with 3 N; at rest with what pulls, up to the breakaway force of 4 N."""
    mech = block(sr.CoulombFriction("block", 3.0, breakaway=4.0))
    assert mech.measure([0.0], [v], tau=[pull])["measured0"] == pytest.approx(measured, abs=1e-12)
    mech = block(sr.BearingFriction("block", 0.2))
    weight = 0.2 * 2.0 * 9.81
    assert mech.measure([0.0], [v], tau=[pull])["measured0"] == pytest.approx(
        weight * np.sign(v) if v else min(pull, weight), abs=1e-9
    )


@pytest.mark.parametrize(("v", "pull"), [(1.0, 0.0), (0.0, 2.0), (0.0, 7.0), (0.0, 30.0)])
def test_parts_of_the_friction_of_one_joint(v: float, pull: float) -> None:
    """Two brakes, a bearing and the joint itself add up to its friction, none beyond its bound."""
    own = {"friction": 1.5, "friction_model": "coulomb"}
    brakes = sr.CoulombFriction("block", 3.0), sr.CoulombFriction("block", 1.5)
    mech = block(*brakes, sr.BearingFriction("block", 0.2), **own)
    parts = mech.measure([0.0], [v], tau=[pull])
    whole = -mech.forward_dynamics([0.0], [v], [pull]).friction[0]
    bounds = np.array([3.0, 1.5, 0.2 * 2.0 * 9.81])
    found = np.array([parts[f"measured{k}"] for k in range(3)])
    assert found.sum() + 0.5 * found[0] == pytest.approx(whole, abs=1e-9)  # the joint has half of the first
    assert np.all(found <= bounds + 1e-9) and found[0] == pytest.approx(2.0 * found[1], abs=1e-9)
    if v or pull == 30.0:
        np.testing.assert_allclose(found, bounds, atol=1e-9)


def test_friction_along_a_run() -> None:
    """A block that slides to rest: 3 N, then nothing. With a pull that grows: what holds, then 3 N."""
    run = sr.simulate(block(sr.CoulombFriction("block", 3.0)), (0.0, 1.0), [0.0], [1.0])
    stop = run.events[0].t
    assert stop == pytest.approx(2.0 / 3.0, rel=1e-9)
    np.testing.assert_allclose(run["measured0"], np.where(run.v[:, 0] != 0.0, 3.0, 0.0), atol=1e-9)
    mech = block(sr.CoulombFriction("block", 3.0))
    pull, times = (lambda t, q, v: [6.0 * t]), np.linspace(0, 1, 11)
    run = sr.simulate(mech, (0.0, 1.0), [0.0], [0.0], tau=pull, t_eval=times)
    np.testing.assert_allclose(run["measured0"], np.minimum(6.0 * run.t, 3.0), atol=1e-6)


def test_friction_that_is_one_of_many_warns() -> None:
    """Two pins of a parallelogram carry a torque at rest: the motion leaves open how they share it."""
    mech = sr.library.parallelogram()
    spec = sr.MechanismSpec.from_model(mech.model)
    for name in mech.names[:2]:
        spec.force(f"brake {name}", sr.CoulombFriction(name, 500.0))
    spec.measure("brake", sr.ForceIn(f"brake {mech.names[0]}"))
    with pytest.warns(sr.SarrusWarning, match="joints at rest leave open how they share this load"):
        spec.compile().measure(mech.default.q, u=np.full(mech.nu, 0.3))


def test_user_forces() -> None:
    """What the function returns: one number on one coordinate, an array on several and between points."""
    mech = block(sr.UserForce(lambda t, x, rate: -4.0 * x - 0.5 * rate + t, "block"))
    assert mech.measure([0.3], [2.0], t=1.0)["measured0"] == pytest.approx(-1.2)
    two = sr.MechanismSpec()
    for name in "ab":
        two.body(name, joint=sr.Prismatic("x"), mass=1.0)
    two.force("both", sr.UserForce(lambda t, x, rate: [x[0] + x[1], x[0] - x[1]], ["a", "b"]))
    ends = {"a": "a", "p_a": (0, 1, 0), "b": "b", "p_b": (0, 0, 2)}
    two.force("between", sr.UserForce(lambda t, r, rate: 10.0 * r, **ends))
    for name in ("both", "between"):
        two.measure(name, sr.ForceIn(name))
    found = two.compile().measure([0.5, 0.2])
    np.testing.assert_allclose(found["both"], [0.7, 0.3], atol=1e-15)
    np.testing.assert_allclose(found["between"], [-3.0, -10.0, 20.0], atol=1e-14)
    many = two.compile().measure(np.zeros((4, 3, 2)))
    assert many["both"].shape == (4, 3, 2) and many["between"].shape == (4, 3, 3)


def test_a_wrench_is_refused_by_its_kind() -> None:
    with pytest.raises(sr.InputError, match="'force0' is a ConstantWrench, a wrench, which ForceIn"):
        block(sr.ConstantWrench("block", (1.0, 0.0, 0.0, 0.0, 0.0, 0.0)))
