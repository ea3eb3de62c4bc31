"""Machines whose contacts are known from books: Painleve's rod, a rattleback, chains of loops that fall."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

import sarrus as sr

from .machines import G, kinds

Array = NDArray[np.float64]


def test_a_cylinder_slips_down_an_incline() -> None:
    """tan(slope) = 1 > 3 mu: a = g (sin - mu cos) and alpha = 2 mu g cos / r."""
    mu, r, slope = 0.2, 0.1, np.pi / 4
    spec = sr.MechanismSpec(name="cylinder", gravity=(G * np.sin(slope), 0.0, -G * np.cos(slope)))
    lying = sr.Pose(rpy=(np.pi / 2, 0, 0))
    spec.body("roller", joint=sr.Free(), mass=2.0, inertia=(0.02, r * r, 0.02))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=mu)
    spec.surface("roller", "roller", sr.Cylinder(r, 0.2), at=lying).contact("floor", "roller")
    mech = spec.compile()
    q = mech.neutral()
    q[2] = r
    run = sr.simulate(mech, (0, 1), q, rtol=1e-10)
    assert run.success, run.message
    world = mech.velocity(run.q[-1], run.v[-1], "roller")
    np.testing.assert_allclose(run.q[-1, 0], 0.5 * G * (np.sin(slope) - mu * np.cos(slope)), rtol=1e-9)
    np.testing.assert_allclose(np.linalg.norm(world[3:]), 2 * mu * G * np.cos(slope) / r, rtol=1e-9)
    lost = 0.5 * mu * 2.0 * G**2 * np.cos(slope) * (np.sin(slope) - 3 * mu * np.cos(slope))
    np.testing.assert_allclose(run.energy[0] - run.energy[-1], lost, rtol=1e-8)
    np.testing.assert_allclose(-np.sum(run.contacts.work), lost, rtol=1e-8)


def rod(mu: float, angle: float) -> tuple[sr.Mechanism, Array]:
    """A slender rod of length 2 and mass 1 in a plane, whose lower end touches the floor."""
    spec = sr.MechanismSpec(name="rod")
    spec.body("rod", joint=sr.Planar("y"), mass=1.0, inertia=(1e-3, 1 / 3, 1 / 3))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=mu)
    spec.surface("tip", "rod", sr.Sphere(1e-9), at=sr.Pose((-1.0, 0, 0))).contact("floor", "tip")
    mech = spec.compile()
    q = np.zeros(3)
    q[2] = -angle
    up = [mech.pose(q + np.eye(3)[k], "rod").xyz[2] - mech.pose(q, "rod").xyz[2] for k in range(2)]
    k = int(np.argmax(np.abs(up)))
    q[k] = -mech.contacts(q).gap[0] / up[k]
    return mech, q


@pytest.mark.parametrize("way", [-1.0, 1.0])
def test_painleves_rod_is_named(way: float) -> None:
    """1 + 3 cos (cos - mu sin) < 0 at 60 degrees and mu = 2 where the tip is pushed ahead of its rod: there a
    push on the tip pulls it down. Where it is drawn behind there is no paradox."""
    mech, q = rod(2.0, np.pi / 3)
    along = [mech.velocity(q, np.eye(3)[k], "rod")[0] for k in range(2)]
    v = np.zeros(3)
    k = int(np.argmax(np.abs(along)))
    v[k] = way * along[k]
    run = sr.simulate(mech, (0, 0.05), q, v)
    ahead = mech.pose(q, "rod").xyz[0] * way > mech.contacts(q).point_b[0, 0] * way
    named = "CONTACT_PAINLEVE" in run.message or "Painlev" in run.message
    assert named == (not ahead)
    assert run.success == ahead


def test_three_balls_a_micrometre_apart_hand_on_their_momentum() -> None:
    """With gaps of 1e-6 m one flies out; touching, Newton's law gives (-1/3, 2/3, 2/3)."""
    spec = sr.MechanismSpec(name="three balls", gravity=(0, 0, 0))
    for name in "abc":
        spec.body(name, joint=sr.Prismatic("x"), mass=1.0)
        spec.surface(name, name, sr.Sphere(0.1), friction=0.0, restitution=1.0)
    spec.contact("a", "b").contact("b", "c")
    run = sr.simulate(spec.compile(), (0, 1e-3), [0, 0.2 + 1e-6, 0.4 + 2e-6], [1.0, 0, 0])
    assert kinds(run) == ["impact", "impact"]
    np.testing.assert_allclose(run.v[-1], [0, 0, 1], atol=1e-12)
    np.testing.assert_allclose([e.t for e in run.events], [1e-6, 2e-6], rtol=0, atol=1e-12)


def test_a_rattleback_turns_back() -> None:
    """An ellipsoid whose axes of inertia are turned by 5 degrees against those of its shape: spun one way it
    begins to rattle, stops and turns back; it slides nowhere and loses nothing."""
    a, b, c, turned = 0.2, 0.03, 0.02, np.deg2rad(5)
    spec = sr.MechanismSpec(name="rattleback")
    R = np.array([[np.cos(turned), -np.sin(turned), 0], [np.sin(turned), np.cos(turned), 0], [0, 0, 1]])
    inertia = R @ np.diag([2e-4, 1.6e-3, 1.7e-3]) @ R.T
    spec.body("stone", joint=sr.Free(), mass=1.0, com=(0, 0, -0.01), inertia=inertia)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=20.0)
    spec.surface("stone", "stone", sr.Ellipsoid((a, b, c))).contact("floor", "stone")
    mech = spec.compile()
    q = mech.neutral()
    q[2] = c
    spins = []
    for way in (1.0, -1.0):
        run = sr.simulate(mech, (0, 4), q, [0, 0, 0, 0.02, 0.02, 5.0 * way], rtol=1e-7)
        assert run.success, run.message
        np.testing.assert_allclose(run.energy, run.energy[0], rtol=1e-5)
        spins.append(
            np.array([mech.velocity(x, y, "stone")[5] for x, y in zip(run.q, run.v, strict=True)]) * way
        )
    least = [spin.min() for spin in spins]
    assert min(least) < -0.5, least
    assert max(least) > min(least) + 0.5, least


def chain(name: str, axes: list[tuple[float, float, float]], ends: list[Array], loops: int) -> sr.Mechanism:
    """A ring of links of unit mass, each hinged to the next about an axis at a corner of a closed polygon.

    The first one is free, and the last hinge closes the ring, `loops` times."""
    spec = sr.MechanismSpec(name=name)
    n = len(ends)
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.4)
    for k in range(n):
        at = ends[k] - (ends[k - 1] if k else np.zeros(3))
        to = ends[(k + 1) % n] - ends[k]
        spec.body(
            f"link{k}",
            parent=f"link{k - 1}" if k else "ground",
            joint=sr.Revolute(axes[k]) if k else sr.Free(),
            at=sr.Pose(tuple(at)) if k else sr.Pose(),
            mass=1.0,
            com=tuple(to / 2),
            inertia=(0.01, 0.01, 0.01),
        )
        spec.surface(f"ball{k}", f"link{k}", sr.Sphere(0.05), restitution=0.3, at=sr.Pose(tuple(to / 2)))
        spec.contact("floor", f"ball{k}")
    last = sr.Pose(tuple(ends[0] - ends[-1]))
    for k in range(loops):
        spec.close(f"pin{k}", f"link{n - 1}", "link0", sr.Revolute(axes[0]), at_a=last, at_b=sr.Pose())
    return spec.compile()


def five_bar(loops: int) -> sr.Mechanism:
    """Five links in an upright plane."""
    turn = 2 * np.pi * np.arange(5) / 5 + 0.1
    return chain(
        "five-bar", [(0.0, 1.0, 0.0)] * 5, [np.array([np.cos(x), 0, np.sin(x)]) for x in turn], loops
    )


def bricard(loops: int) -> sr.Mechanism:
    """Bricard's trihedral linkage: six hinges along edges of a cube, one freedom where rows leave none."""
    corners = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (1, 1, 1), (0, 1, 1), (0, 0, 1)]
    axes = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0, 0)]
    return chain(
        "Bricard", [tuple(map(float, x)) for x in axes], [np.array(x, dtype=float) for x in corners], loops
    )


def falling_stewart(loops: int) -> sr.Mechanism:
    """A platform on six legs of two parts between two plates, all of it free, with every loop `loops` times.

    Balls below the lower plate land on a floor; legs are held by springs."""
    spec = sr.MechanismSpec(name="Stewart platform")
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.4)
    spec.body("base", joint=sr.Free(), mass=2.0, inertia=(0.1, 0.1, 0.2))
    turn = 2 * np.pi * np.arange(3) / 3
    for k, x in enumerate(turn):
        spec.surface(
            f"ball{k}", "base", sr.Sphere(0.05), restitution=0.3, at=sr.Pose((np.cos(x), np.sin(x), 0))
        )
        spec.contact("floor", f"ball{k}")
    feet = np.repeat(turn, 2) + np.tile([-0.3, 0.3], 3)
    heads = np.repeat(turn, 2) + np.tile([-0.7, 0.7], 3)
    for k in range(6):
        a = np.array([np.cos(feet[k]), np.sin(feet[k]), 0.0])
        b = np.array([0.6 * np.cos(heads[k]), 0.6 * np.sin(heads[k]), 1.0])
        along = (b - a) / np.linalg.norm(b - a)
        spec.body(
            f"foot{k}",
            "base",
            joint=sr.Universal("x", "y"),
            at=sr.Pose(tuple(a)),
            mass=0.2,
            inertia=(0.01,) * 3,
        )
        spec.body(
            f"rod{k}",
            f"foot{k}",
            joint=sr.Prismatic(tuple(along)),
            mass=0.1,
            com=tuple(along),
            inertia=(0.01,) * 3,
        )
        spec.force(f"spring{k}", sr.JointSpring(f"rod{k}", 400.0, 0.0))
    top = np.array([0.0, 0.0, 1.0])
    spec.body("platform", "rod0", joint=sr.Spherical(), at=sr.Pose(tuple(head(0, heads, feet))), mass=1.0,
              com=tuple(top - joint(0, heads)), inertia=(0.05, 0.05, 0.1))  # fmt: skip
    for k in range(1, 6):
        at_a, at_b = sr.Pose(tuple(head(k, heads, feet))), sr.Pose(tuple(joint(k, heads) - joint(0, heads)))
        for n in range(loops):
            spec.close(f"ball joint {k} {n}", f"rod{k}", "platform", sr.Spherical(), at_a, at_b)
    return spec.compile()


def joint(k: int, heads: Array) -> Array:
    """Where rod k holds the platform, in the drawing."""
    return np.array([0.6 * np.cos(heads[k]), 0.6 * np.sin(heads[k]), 1.0])


def head(k: int, heads: Array, feet: Array) -> Array:
    """The same from the foot of the leg."""
    return joint(k, heads) - np.array([np.cos(feet[k]), np.sin(feet[k]), 0.0])


@pytest.mark.parametrize("make", [five_bar, bricard, falling_stewart])
def test_falling_loops_may_be_doubled(make: object) -> None:
    """With every loop twice the same motion, through impacts and sliding, to 1e-10."""
    found = []
    for loops in (1, 2):
        mech = make(loops)  # type: ignore[operator]
        q = mech.neutral()
        q[2] = 0.2 - min(0.0, float(mech.contacts(q).gap.min()))
        v = mech.project(q, np.r_[0.3, 0.1, 0, 0.2, 0.1, 0.3, np.zeros(mech.nv - 6)]).v
        run = sr.simulate(mech, (0, 0.45), q, v, rtol=1e-10, t_eval=np.linspace(0, 0.45, 10))
        assert run.success, run.message
        assert "impact" in kinds(run)
        found.append(run)
    assert kinds(found[0]) == kinds(found[1])
    np.testing.assert_allclose(found[1].q, found[0].q, rtol=0, atol=1e-10)
