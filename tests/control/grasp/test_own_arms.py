"""Arms and an object that are in no library: bent links, a lopsided lump, contacts of all kinds."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr
from sarrus import control as sc

Array = npt.NDArray[np.float64]

STEPS = [(0, 0, 0.2), (0, 0.03, 0.15), (0.05, 0, 0.22), (0.1, 0, 0.12), (0.12, 0.02, -0.05), (0.05, 0, -0.04)]
AXES, ANGLES, PALM = "zyxyzyx", (0.2, 0.4, -0.3, 0.5, 0.3, 0.4, 0.1), sr.Pose((0.05, 0.0, 0.0))
COM = (0.02, -0.03, 0.04)
INERTIA = [[0.021, 0.001, -0.002], [0.001, 0.024, 0.0015], [-0.002, 0.0015, 0.023]]
STIFFNESS = np.array([400.0, 600.0, 500.0, 40.0, 50.0, 60.0])
DAMPING = np.array([80.0, 100.0, 90.0, 6.0, 7.0, 8.0])
MASS = np.array([3.0, 4.0, 5.0, 0.1, 0.15, 0.2])
WRENCH = np.array([3.0, -4.0, -6.0, 0.3, 0.2, -0.25])
KINDS = {"patch": sr.Fixed(), "soft": sr.Universal("y", "z"), "point": sr.Spherical()}
TEAMS = [("patch",) * 2, ("patch",) * 4, ("patch", "soft", "point"), ("point",) * 3]


def arm(spec: sr.MechanismSpec, k: int, count: int, joints: int) -> tuple[str, sr.Pose, list[float]]:
    """One arm on a ring of feet; its last body, where its palm is in the world, its angles."""
    around, parent, angles = 2.0 * np.pi * k / count + 0.3, "ground", []
    foot = sr.Pose((0.75 * np.cos(around), 0.75 * np.sin(around), 0.1 * k), rpy=(0.0, 0.0, around + np.pi))
    palm = foot
    for i, axis in enumerate(AXES[:joints]):
        at = sr.Pose((*STEPS, (0.06, 0, 0))[i])
        solid = {"mass": 2.0 - 0.2 * i, "com": (0.03, 0.0, 0.04), "inertia": (0.02, 0.02, 0.01)}
        spec.body(f"arm{k}_{i}", parent=parent, joint=sr.Revolute(axis), at=at if i else foot @ at, **solid)
        spec.actuate(f"arm{k}_{i}")
        parent = f"arm{k}_{i}"
        angles.append(ANGLES[i] * (1.0 if k % 2 else -0.8))
        palm = palm @ at @ sr.Pose(rpy=[angles[-1] * (axis == one) for one in "xyz"])
    return parent, palm @ PALM, angles


def team(kinds: tuple[str, ...], joints: int) -> tuple[sr.Mechanism, sc.Grasp, Array]:
    """Arms around the lump, x of the contact frames out of it; the grasp; where they stand."""
    spec, contacts = sr.MechanismSpec(name="own"), []
    arms = [arm(spec, k, len(kinds), joints) for k in range(len(kinds))]
    middle = np.mean([palm.xyz for _, palm, _ in arms], axis=0)
    spec.body("lump", joint=sr.Free(), at=sr.Pose(middle), mass=1.7, com=COM, inertia=INERTIA)
    for k, (kind, (last, palm, _)) in enumerate(zip(kinds, arms, strict=True)):
        x = (palm.xyz - middle) / np.linalg.norm(palm.xyz - middle)
        y = np.cross([0.0, 0.0, 1.0], x) / np.linalg.norm(np.cross([0.0, 0.0, 1.0], x))
        R = np.column_stack([x, y, np.cross(x, y)])
        at_a, at_b = sr.Pose(palm.xyz - middle, matrix=R), sr.Pose(PALM.xyz, matrix=palm.rotation.T @ R)
        spec.close(f"c{k}", "lump", last, KINDS[kind], at_a=at_a, at_b=at_b)
        if kind == "patch":
            contacts.append(sc.Patch(f"c{k}", 0.6, "-x", least=3.0, torsion=0.03, half=(0.04, 0.06)))
        elif kind == "soft":
            contacts.append(sc.SoftFinger(f"c{k}", 0.6, "-x", least=3.0, torsion=0.03))
        else:
            contacts.append(sc.PointContact(f"c{k}", 0.6, "-x", least=3.0))
    mech = spec.compile()
    q = np.concatenate([*(angles for _, _, angles in arms), [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0]])
    assert np.abs(mech.terms(q, np.zeros(mech.nv)).phi).max() < 1e-14
    return mech, sc.Grasp(mech, "lump", contacts), q


@pytest.mark.parametrize(("kinds", "joints"), list(zip(TEAMS, (7, 6, 7, 7), strict=True)))
def test_any_arms_make_any_object_feel_as_commanded(kinds: tuple[str, ...], joints: int) -> None:
    """In motion, an inertia of our own: eq. (7) of [Lin2018] for the place to 1e-8, forces as expected."""
    mech, grasp, q = team(kinds, joints)
    place = mech.pose(q, "lump") @ sr.Pose(grasp.com)

    push = {"lump": (WRENCH, grasp.com)}  # at the centre of mass, where the law means it
    form = {"inertia": MASS, "error": "split", "external": lambda t, q, v: WRENCH}
    law = sc.ObjectImpedance(mech, grasp, place, STIFFNESS, DAMPING, **form)
    done = sr.simulate(mech, (0.0, 0.2), q, control=law, control_dt=4e-3, dt=4e-3, external=push)
    law.reset()
    for t, q, v in zip(done.t[::10], done.q[::10], done.v[::10], strict=True):
        one = law.solve(t, q, v)
        assert isinstance(one, sc.ImpedanceSolution) and one.success
        plant = mech.forward_dynamics(q, v, u=one.u, external=push)
        f = grasp.components(plant.lam)
        np.testing.assert_allclose(one.contact_forces, f, atol=1e-9)
        assert min(grasp.margins(f).values()) > -1e-9
        e, rate = one.errors, -(mech.jacobian(q, "lump", grasp.com) @ v)
        wanted = (WRENCH + DAMPING * rate + STIFFNESS * e)[:3] / MASS[:3]
        np.testing.assert_allclose(acceleration(mech, grasp, q, v, plant.a), wanted, atol=1e-8)
    assert np.linalg.norm(e[:3]) > 2e-3


def acceleration(mech: sr.Mechanism, grasp: sc.Grasp, q: Array, v: Array, a: Array) -> Array:
    """Of the centre of mass (3,), by central differences of its velocity along the motion."""
    h = 1e-5
    ahead, behind = ((mech.integrate(q, s * v), v + s * a) for s in (h, -h))
    one, two = (mech.jacobian(x, "lump", grasp.com)[:3] @ y for x, y in (ahead, behind))
    return np.asarray((one - two) / (2.0 * h))


def test_a_hand_that_takes_hold_elsewhere() -> None:
    """Latched 2 cm aside: a law of the mechanism with that contact knows its forces again."""
    mech = sr.library.arms_around_box(4)
    q, v = np.array(mech.default.q), np.zeros(mech.nv)
    q[mech.names.index("arm4_1")] += 0.02
    new = mech.with_constraints(replaced={"grip4": mech.latched("grip4", q)})
    hands = [sc.Patch(f"grip{k}", 0.5, torsion=0.03, half=(0.05, 0.05), least=5.0) for k in (1, 2, 3, 4)]
    grasp = sc.Grasp(new, "box", hands)
    law = sc.ObjectImpedance(new, grasp, mech.pose(q, "box"), external=lambda t, q, v: WRENCH)
    one = law.solve(0.0, q, v)
    assert isinstance(one, sc.ImpedanceSolution) and one.success
    plant = new.forward_dynamics(q, v, u=one.u, external={"box": WRENCH})
    np.testing.assert_allclose(one.contact_forces, grasp.components(plant.lam), atol=1e-9)
    with pytest.raises(sr.SarrusError, match="belongs to another mechanism"):
        sc.ObjectImpedance(mech, grasp)
