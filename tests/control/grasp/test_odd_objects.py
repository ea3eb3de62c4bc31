"""Held objects that nobody drew: lopsided, light, heavy, by fingers, by arms without elbows, late."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc

from .held_box import fingers, held, patches, run

Array = npt.NDArray[np.float64]
Held = tuple[sr.Mechanism, sc.Grasp]

OPPOSED = [(0.0, 0.1, 0.0), (0.0, -0.1, 0.0)], [(0.0, -1.0, 0.0), (0.0, 1.0, 0.0)]
AROUND = [(0.1 * np.cos(x), 0.1 * np.sin(x), 0.0) for x in 2.0 * np.pi / 3.0 * np.arange(3)]


def pushed(t: float) -> Array:
    """Aside and down with up to 20 N within 0.4 s."""
    size = np.sin(np.pi * min(max(t / 0.4, 0.0), 1.0)) ** 2
    return size * np.array([8.0, -5.0, -20.0, 0.0, 0.3, 0.0])


def lopsided() -> Held:
    """Centre of mass far off, hands of different size and friction."""
    mech = sr.library.dual_arm_box().with_(com={"box": (0.05, 0.08, 0.1)})
    left = sc.Patch("grip_left", 0.8, torsion=0.03, half=(0.05, 0.03))
    return mech, sc.Grasp(mech, "box", [left, sc.Patch("grip_right", 0.3, torsion=0.02, half=(0.03, 0.05))])


def of_mass(mass: float) -> Callable[[], Held]:
    def make() -> Held:
        mech = sr.library.dual_arm_box(mass=mass)
        return mech, sc.Grasp(mech, "box", patches(least=0.0))

    return make


def three_points() -> Held:
    mech = fingers(sr.Spherical(), AROUND, [(-x, -y, -z) for x, y, z in AROUND])
    return mech, sc.Grasp(mech, "box", [sc.PointContact(f"tip{k}", 0.6) for k in range(3)])


def two_soft_fingers() -> Held:
    mech = fingers(sr.Universal("x", "y"), *OPPOSED)
    return mech, sc.Grasp(mech, "box", [sc.SoftFinger(f"tip{k}", 0.6, torsion=0.03) for k in range(2)])


def arms_without_elbows() -> Held:
    """Six joints each: nothing is left over."""
    mech = sr.library.arms_around_box(("ur5", "ur5"))
    loops = [name for name, _ in mech.model.constraints]
    return mech, sc.Grasp(mech, "box", [sc.Patch(n, 0.5, torsion=0.03, half=(0.05, 0.05)) for n in loops])


ODD = {
    "lopsided": lopsided,
    "10 g": of_mass(0.01),
    "30 kg": of_mass(30.0),
    "three points": three_points,
    "two soft fingers": two_soft_fingers,
    "without elbows": arms_without_elbows,
}


@pytest.mark.parametrize("name", ODD)
def test_odd_grasps_hold_with_default_arguments(name: str) -> None:
    """Under a push that nothing measures no contact leaves its limits, and the object gives way."""
    mech, grasp = ODD[name]()
    law = sc.ObjectImpedance(mech, grasp, damping_ratio=1.0)
    done = run(mech, law, 0.6, pushed)
    assert min(min(grasp.margins(f).values()) for f in grasp.components(done.lam)) > 0.0
    place = mech.pose(mech.default.q, "box")
    way = np.array([np.linalg.norm(one.xyz - place.xyz) for one in mech.pose(done.q, "box")])
    assert 1e-3 < way.max() < 0.1
    assert isinstance(law.last, sc.ImpedanceSolution) and law.last.success
    assert law.last.reserve_left == pytest.approx(1.0, abs=1e-6)


def test_one_sample_late_and_noise() -> None:
    """Velocities with 1 mrad/s of noise, inputs one sample late: inside from the second sample on."""
    mech, grasp = held(least=0.0)
    law = sc.ObjectImpedance(mech, grasp)
    real = sc.Hardware(law, mech, sample=2e-3, delay=2e-3, v_noise=1e-3, q_noise=1e-5)
    done = run(mech, real, 0.6, pushed)
    assert min(min(grasp.margins(f).values()) for f in grasp.components(done.lam)[3:]) > 0.0


def test_one_hand_held_twice() -> None:
    """Two loops to the same hand: twelve redundant rows, said so; least multipliers, and the box is held."""
    base = fingers(sr.Fixed(), *OPPOSED)
    spec = sr.MechanismSpec(name="twice")
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.01, 0.01, 0.01))
    for k, (_, loop) in enumerate(base.model.constraints):
        face, shift = loop.at_a, np.array([0.03, 0.0, 0.0])
        spec.body(f"finger{k}", joint=sr.Free(), at=face, mass=0.2, inertia=(1e-3, 1e-3, 1e-3))
        spec.actuate(*(f"finger{k}.{axis}" for axis in ("vx", "vy", "vz", "wx", "wy", "wz")))
        spec.close(f"tip{k}", "box", f"finger{k}", joint=sr.Fixed(), at_a=face)
        beside = sr.Pose(face.xyz + face.rotation @ shift, matrix=face.rotation)
        spec.close(f"tap{k}", "box", f"finger{k}", joint=sr.Fixed(), at_a=beside, at_b=sr.Pose(shift))
    mech = spec.compile()
    assert mech.nc - mech.mobility(mech.default.q).rank == 12
    names = ("tip0", "tip1", "tap0", "tap1")
    grasp = sc.Grasp(mech, "box", [sc.Patch(n, 0.5, torsion=0.01, half=(0.02, 0.02)) for n in names])
    law = sc.ObjectImpedance(mech, grasp, stiffness=(300.0, 15.0))
    run(mech, law, 0.2, lambda t: 0.5 * pushed(t))
    assert law.last is not None and law.last.success and "undetermined" in law.last.message


def test_a_box_larger_than_the_reach() -> None:
    with pytest.raises(sr.AssemblyError, match=r"grip_left.*open by"):
        sr.library.dual_arm_box(size=(0.2, 3.0, 0.4))


def test_one_hand_alone_holds_nothing() -> None:
    """A patch pushes only: no squeeze without another one."""
    mech = sr.library.dual_arm_box()
    grasp = sc.Grasp(mech, "box", patches()[:1])
    assert not grasp.force_closure()
    with pytest.raises(sr.SarrusError, match=r"cannot hold 'box': no squeeze.*require_closure=False"):
        sc.ObjectImpedance(mech, grasp)
