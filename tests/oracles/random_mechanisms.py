"""Random mechanisms: trees of every joint, loops that close at a given pose, redundant and singular ones.

Everything is made from a seed (`tree(seed)`, `loops(seed)`, ...), so that a failure is one number; the
strategies at the end let Hypothesis choose and shrink the structure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from .description import ALL_JOINTS, Body, Closure, Description, Joint, body_poses, motion, width_q
from .lie import exponential, homogeneous, twist_matrix

Array = npt.NDArray[np.float64]
LETTERS = ("x", "y", "z")


def random_pose(rng: np.random.Generator, reach: float = 0.5) -> Array:
    """A frame (4, 4) somewhere within reach [m], turned any way."""
    X = exponential(twist_matrix(np.append(np.zeros(3), rng.uniform(-2, 2, 3))))
    X[:3, 3] = rng.uniform(-reach, reach, 3)
    return X


def random_axis(rng: np.random.Generator) -> str | tuple[float, ...]:
    """A letter half of the time, an oblique unit vector otherwise."""
    if rng.random() < 0.5:
        return LETTERS[rng.integers(3)]
    a = rng.normal(size=3)
    return tuple(float(x) for x in a / np.linalg.norm(a))


def random_joint(rng: np.random.Generator, kind: str) -> Joint:
    """A joint of the given kind with random axes; the planar normal is a letter."""
    axis = LETTERS[rng.integers(3)] if kind == "planar" else random_axis(rng)
    axis_b: str | tuple[float, ...] = "x"
    if kind == "universal":
        a = Joint("revolute", axis)
        across = np.cross(_vector(a), rng.normal(size=3))
        axis_b = tuple(float(x) for x in across / np.linalg.norm(across))
    return Joint(kind, axis, axis_b, float(rng.uniform(0.05, 0.3)))


def random_inertia(rng: np.random.Generator, mass: float, size: float = 0.2) -> Array:
    """Inertia (3, 3) of a cloud of points about its centre: physically possible by construction."""
    points = rng.normal(scale=size, size=(6, 3))
    points -= points.mean(axis=0)
    return mass / 6 * sum(p @ p * np.eye(3) - np.outer(p, p) for p in points)


def random_q(rng: np.random.Generator, bodies: Sequence[Body]) -> Array:
    """Coordinates: angles and travels of order one, unit quaternions."""
    out = [np.zeros(0)]
    for body in bodies:
        q = rng.uniform(-1.5, 1.5, width_q(body.joint))
        if body.joint.kind in ("spherical", "free"):
            q[-4:] = rng.normal(size=4)
            q[-4:] /= np.linalg.norm(q[-4:])
        out.append(q)
    return np.concatenate(out)


def tree_of(
    kinds: Sequence[str], parents: Sequence[int], seed: int, massless: Sequence[int] = ()
) -> Description:
    """The tree with these joints; parents[i] < i counts the ground as -1; some bodies without mass."""
    rng = np.random.default_rng(seed)
    bodies = []
    for i, (kind, parent) in enumerate(zip(kinds, parents, strict=True)):
        mass = 0.0 if i in massless else float(rng.uniform(0.3, 3.0))
        bodies.append(
            Body(
                name=f"b{i}",
                parent="ground" if parent < 0 else f"b{parent}",
                joint=random_joint(rng, kind),
                X=random_pose(rng),
                mass=mass,
                com=rng.uniform(-0.3, 0.3, 3) if mass else np.zeros(3),
                inertia=random_inertia(rng, mass) if mass else np.zeros((3, 3)),
                armature=float(rng.choice([0.0, 0.05])) * (kind != "free") if kind != "fixed" else 0.0,
            )
        )
    return Description(tuple(bodies), q=random_q(rng, bodies))


def tree(seed: int, n: int | None = None, joints: Sequence[str] = ALL_JOINTS) -> Description:
    """A branching tree of n bodies (1 to 8 by default)."""
    rng = np.random.default_rng([seed, 1])
    n = int(rng.integers(1, 9)) if n is None else n
    kinds = [str(rng.choice(joints)) for _ in range(n)]
    parents = [int(rng.integers(max(-1, i - 4), i)) for i in range(n)]
    return tree_of(kinds, parents, seed)


def closed_at(description: Description, name: str, a: str, b: str, joint: Joint, seed: int) -> Closure:
    """A closure that holds at the description's q, its free coordinates at random values."""
    rng = np.random.default_rng([seed, 2])
    X = body_poses(description.bodies, description.q)
    X_a = random_pose(rng)
    free = random_q(rng, [Body("", "", joint, X_a, 0.0, np.zeros(3), np.zeros((3, 3)))])
    return Closure(name, a, b, joint, X_a, np.linalg.inv(X[b]) @ X[a] @ X_a @ motion(joint, free))


def loops(
    seed: int, kinds: Sequence[str] = ("spherical",), n: int = 6, joints: Sequence[str] = ALL_JOINTS
) -> Description:
    """A tree of n bodies with one closure of each of the given kinds between random bodies."""
    base = tree(seed, n, joints)
    rng = np.random.default_rng([seed, 3])
    names = ["ground", *(b.name for b in base.bodies)]
    closures = []
    for k, kind in enumerate(kinds):
        a, b = (names[i] for i in rng.choice(len(names), 2, replace=False))
        closures.append(closed_at(base, f"loop{k}", a, b, random_joint(rng, kind), seed + 7919 * k))
    return base.with_(closures=tuple(closures))


def duplicated(description: Description) -> Description:
    """The same with every closure declared twice."""
    again = tuple(Closure(c.name + "_again", c.a, c.b, c.joint, c.X_a, c.X_b) for c in description.closures)
    return description.with_(closures=description.closures + again)


def planar_loop(seed: int, n: int = 3, closing: str = "revolute") -> Description:
    """n parallel hinges in a plane that is oblique in space, closed to the ground: three rows too many."""
    rng = np.random.default_rng([seed, 4])
    lengths = rng.uniform(0.4, 1.0, n)
    plane = random_pose(rng)
    bodies = []
    for i in range(n):
        X = plane if i == 0 else homogeneous(np.eye(3), np.array([lengths[i - 1], 0, 0]))
        mass = float(rng.uniform(0.5, 2.0))
        bodies.append(
            Body(
                f"link{i}",
                "ground" if i == 0 else f"link{i - 1}",
                Joint("revolute", "z"),
                X,
                mass,
                np.array([lengths[i] / 2, 0, 0]),
                random_inertia(rng, mass),
            )
        )
    q = rng.uniform(0.3, 1.2, n)
    last = f"link{n - 1}"
    tip = homogeneous(np.eye(3), np.array([lengths[-1], 0, 0]))
    end = body_poses(tuple(bodies), q)[last] @ tip
    anchor = plane.copy()
    anchor[:3, 3] = end[:3, 3]
    closure = Closure("loop", last, "ground", Joint(closing, "z"), tip, anchor)
    return Description(tuple(bodies), (closure,), q=q)


def stretched(seed: int, n: int = 4) -> Description:
    """A planar loop whose links lie on one line: the closure loses a row there."""
    base = planar_loop(seed, n)
    rng = np.random.default_rng([seed, 5])
    q = np.append(rng.uniform(-1, 1), rng.choice([0.0, np.pi], n - 1))
    q[-1] = np.pi
    c = base.closures[0]
    anchor = c.X_b.copy()
    anchor[:3, 3] = (body_poses(base.bodies, q)[c.a] @ c.X_a)[:3, 3]
    return base.with_(closures=(Closure(c.name, c.a, c.b, c.joint, c.X_a, anchor),), q=q)


def clamped(seed: int) -> Description:
    """A body tied to the ground by two oblique hinges: rows in metres depend on rows in radians."""
    base = tree_of(["spherical", "spherical", "universal", "free"], [-1, 0, 1, 0], seed)
    rng = np.random.default_rng([seed, 6])
    ties = [
        closed_at(base, f"tie{k}", "b3", "ground", random_joint(rng, "revolute"), seed + k) for k in range(2)
    ]
    return base.with_(closures=tuple(ties))


def stretched_weld(seed: int, n: int = 5) -> Description:
    """Links on one line, welded at a frame beside it: the lost row mixes forces with a moment."""
    base = stretched(seed, n)
    c = base.closures[0]
    aside = homogeneous(np.eye(3), np.array([0.1, 0.35, 0.0]))
    end = body_poses(base.bodies, base.q)[c.a] @ c.X_a @ aside
    weld = Closure("weld", c.a, c.b, Joint("fixed"), c.X_a @ aside, end)
    return base.with_(closures=(weld,))


def massless_between(seed: int) -> Description:
    """Bodies without mass in the middle of a chain; every coordinate still moves some mass."""
    kinds = ["revolute", "prismatic", "revolute", "spherical"]
    base = tree_of(kinds, [-1, 0, 1, 2], seed, massless=(1, 2))
    return base.with_(bodies=tuple(_without_armature(b) for b in base.bodies))


def empty() -> Description:
    """No body at all."""
    return Description(())


def tree_strategy(max_bodies: int = 6, joints: Sequence[str] = ALL_JOINTS) -> st.SearchStrategy[Description]:
    """Trees whose structure Hypothesis draws and shrinks; numbers come from a drawn seed."""

    @st.composite
    def build(draw: st.DrawFn) -> Description:
        n = draw(st.integers(1, max_bodies))
        kinds = [draw(st.sampled_from(list(joints))) for _ in range(n)]
        parents = [draw(st.integers(-1, i - 1)) for i in range(n)]
        return tree_of(kinds, parents, draw(st.integers(0, 2**20)))

    return build()


def loop_strategy(max_bodies: int = 6, max_loops: int = 3) -> st.SearchStrategy[Description]:
    """Trees with one to three closures of any kind, sometimes declared twice."""

    @st.composite
    def build(draw: st.DrawFn) -> Description:
        base = draw(tree_strategy(max_bodies))
        names = ["ground", *(b.name for b in base.bodies)]
        closures = []
        for k in range(draw(st.integers(1, max_loops))):
            a = draw(st.sampled_from(names))
            b = draw(st.sampled_from([n for n in names if n != a]))
            kind = draw(st.sampled_from([j for j in ALL_JOINTS if j != "free"]))
            seed = draw(st.integers(0, 2**20))
            joint = random_joint(np.random.default_rng(seed), kind)
            closures.append(closed_at(base, f"loop{k}", a, b, joint, seed))
        mechanism = base.with_(closures=tuple(closures))
        return duplicated(mechanism) if draw(st.booleans()) else mechanism

    return build()


def _vector(joint: Joint) -> Array:
    from .description import axis_vector

    return axis_vector(joint.axis)


def _without_armature(body: Body) -> Body:
    from dataclasses import replace

    return replace(body, armature=0.0)
