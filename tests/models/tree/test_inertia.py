"""Inertia of nodes: bodies merged by Fixed joints, and mass matrices that cannot be inverted.

The oracle is the mass matrix of the NumPy twin, and point masses summed one by one.
"""

from __future__ import annotations

import numpy as np
import pytest

from sarrus.errors import ModelError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import (
    Cylindrical,
    Fixed,
    Free,
    Helical,
    Planar,
    Prismatic,
    Revolute,
    Spherical,
    Universal,
)
from tests.oracles.twin import Twin


def test_fixed_bodies_are_merged_by_the_parallel_axis_theorem() -> None:
    rng = np.random.default_rng(3)
    spec = MechanismSpec().body("hub", joint=Free())
    at = Pose((0.1, 0.2, -0.3), rpy=(0.3, 0.2, 0.1))
    spec.body("plate", "hub", joint=Fixed(), at=at).body("deep", "plate", joint=Fixed(), at=at)
    frames = {"hub": Pose(), "plate": at, "deep": at @ at}
    masses, points = rng.uniform(0.1, 1.0, 12), rng.normal(size=(12, 3))
    for k in range(12):
        parent = ("hub", "plate", "deep")[k % 3]
        spec.body(f"m{k}", parent, joint=Fixed(), at=Pose(points[k]), mass=masses[k])
    model = spec.model()
    world = np.array([frames[("hub", "plate", "deep")[k % 3]].apply(points[k]) for k in range(12)])
    com = masses @ world / masses.sum()
    d = world - com
    inertia = np.einsum(
        "k,kij->ij", masses, np.einsum("kl,kl,ij->kij", d, d, np.eye(3)) - np.einsum("ki,kj->kij", d, d)
    )
    assert len(model.mass) == 2
    assert model.mass[1] == pytest.approx(masses.sum())
    np.testing.assert_allclose(model.com[1], com, atol=1e-14)
    np.testing.assert_allclose(model.inertia[1], inertia[np.triu_indices(3)], atol=1e-13)


def test_what_is_fixed_to_the_ground_has_no_inertia() -> None:
    spec = MechanismSpec().body("wall", joint=Fixed(), mass=100.0, inertia=(1, 1, 1))
    spec.body("door", "wall", joint=Revolute(), mass=1.0, com=(1, 0, 0))
    model = spec.model()
    assert model.mass.tolist() == [0.0, 1.0]
    assert model.body_node.tolist() == [0, 0, 1]


HEAVY = {"mass": 1.0, "com": (0.2, 0.3, 0.4), "inertia": (0.01, 0.02, 0.03)}


@pytest.mark.parametrize(
    ("joint", "values", "coordinate"),
    [
        (Revolute("z"), {}, "part"),
        (Revolute("z"), {"mass": 1.0}, "part"),
        (Revolute("z"), {"mass": 1.0, "com": (0, 0, 2.0), "inertia": (1, 1, 0)}, "part"),
        (Revolute((1, 1, 0)), {"mass": 1.0, "com": (2, 2, 0)}, "part"),
        (Prismatic("x"), {"inertia": (1, 1, 1)}, "part"),
        (Cylindrical("z"), {"mass": 1.0}, "part.angle"),
        (Planar("z"), {"mass": 1.0}, "part.angle"),
        (Universal("x", "y"), {"mass": 1.0}, "part.angle2"),
        (Spherical(), {"mass": 1.0, "com": (0, 0, 1.0)}, "part.wz"),
        (Spherical(), {"mass": 1.0, "com": (0, 0, 1.0), "inertia": (1, 1, 0)}, "part.wz"),
        (Free(), {"inertia": (1, 1, 1)}, "part.v[xyz]"),
        (Free(), {"mass": 1.0}, "part.w[xyz]"),
        (Helical("z", 0.0), {"mass": 1.0}, "part"),
    ],
)
def test_a_joint_without_inertia_is_named(joint: Joint, values: dict[str, object], coordinate: str) -> None:
    spec = MechanismSpec().body("part", joint=joint, **values)  # type: ignore[arg-type]
    with pytest.raises(
        ModelError,
        match=f"body 'part' has no inertia along its coordinate '{coordinate}' .*mass matrix would be sing",
    ):
        spec.model()


def test_a_massless_body_may_carry_a_heavy_one() -> None:
    spec = (
        MechanismSpec().body("cross", joint=Revolute("x")).body("rod", "cross", joint=Revolute("y"), **HEAVY)
    )
    assert spec.model().nv == 2


def test_joints_that_undo_each_other_are_singular() -> None:
    spec = MechanismSpec().body("one", joint=Revolute("z")).body("two", "one", joint=Revolute("z"), **HEAVY)
    with pytest.raises(ModelError, match="body 'one' has no inertia along its coordinate 'one'"):
        spec.model()


def test_armature_counts() -> None:
    assert MechanismSpec().body("wheel", joint=Revolute(), armature=1e-3).model().nv == 1
    spec = MechanismSpec().body("ball", joint=Spherical(), armature=1e-3)
    assert spec.model().nv == 3


def test_a_helical_joint_moves_mass_along_its_axis() -> None:
    assert MechanismSpec().body("nut", joint=Helical("z", 0.1), mass=1.0).model().nv == 1


def test_the_check_agrees_with_the_mass_matrix_on_random_chains() -> None:
    rng = np.random.default_rng(5)
    kinds: list[Joint] = [Revolute("z"), Revolute("x"), Prismatic("y"), Spherical(), Universal()]
    outcomes = set()
    for _ in range(60):
        spec, parent = MechanismSpec(), "ground"
        for i in range(4):
            inertia = (1.0, 1.0, 1.0) if rng.random() < 0.4 else (0.0, 0.0, 0.0)
            values = {"mass": float(rng.random() < 0.7), "com": rng.integers(0, 2, 3), "inertia": inertia}
            at = Pose(rng.integers(0, 2, 3))
            spec.body(f"b{i}", parent, joint=kinds[rng.integers(5)], at=at, **values)
            parent = f"b{i}"
        try:
            model = spec.model()
        except ModelError:
            model = None
        outcomes.add(model is None)
        if model is None:
            continue
        q = rng.normal(size=model.nq)
        for i in model.quaternions:
            q[i : i + 4] /= np.linalg.norm(q[i : i + 4])
        M = Twin(model.sizes, model.fields).mass_matrix(q[None])[0]
        scale = np.sqrt(np.diag(M))
        assert np.linalg.eigvalsh(M / scale / scale[:, None])[0] > 1e-10
    assert outcomes == {True, False}


@pytest.mark.parametrize("joint", [Spherical(), Universal("x", "y"), Revolute((1, 2, 3))])
def test_long_chains_compile(joint: Joint) -> None:
    spec = MechanismSpec()
    for k in range(60):
        at = Pose() if k == 0 else Pose((0, 0, -0.1))
        spec.body(
            f"link{k}", f"link{k - 1}" if k else "ground", joint=joint, at=at,
            mass=0.1, com=(0, 0, -0.05), inertia=(1e-4, 1e-4, 1e-6),
        )  # fmt: skip
    assert spec.model().nv == 60 * len(joint.coordinate_names("x"))


@pytest.mark.parametrize("axis", np.random.default_rng(9).normal(size=(8, 3)).round(3).tolist())
@pytest.mark.parametrize("kind", [Prismatic, Revolute])
def test_a_seventh_joint_that_six_others_undo_is_singular(kind: type[Joint], axis: list[float]) -> None:
    """What is left of its inertia is rounding, of either sign."""
    six = [Prismatic("x"), Prismatic("y"), Prismatic("z"), Revolute("x"), Revolute("y"), Revolute("z")]
    spec = MechanismSpec().body("first", joint=kind(axis))
    for k, joint in enumerate(six):
        values = HEAVY if k == 5 else {}
        spec.body(f"joint{k}", f"joint{k - 1}" if k else "first", joint=joint, **values)
    with pytest.raises(ModelError, match="body 'first' has no inertia along its coordinate 'first'"):
        spec.model()


def test_a_massless_coupler_of_a_loop_is_told_of_the_rod() -> None:
    spec = MechanismSpec().body("crank", joint=Revolute("y"), **HEAVY)
    spec.body("coupler", "crank", joint=Revolute("y"), at=Pose((1, 0, 0)))
    with pytest.raises(ModelError) as open_chain:
        spec.model()
    assert "Distance" not in str(open_chain.value)
    spec.body("rocker", joint=Revolute("y"), at=Pose((2, 0, 0)), **HEAVY)
    spec.close("pin", "coupler", "rocker", Revolute("y"), at_a=Pose((1, 0, 0)), at_b=Pose((0, 0, 1)))
    with pytest.raises(ModelError, match=r"rod that only joins two points .* sr\.Distance"):
        spec.model()
