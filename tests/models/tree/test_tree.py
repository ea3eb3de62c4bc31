"""Lowering of bodies to nodes, against forward kinematics by plain 4 x 4 products of body frames."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from sarrus.errors import ModelError, UnknownNameError
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.base.pose import Pose
from sarrus.models.model import Model
from sarrus.models.tree.bodies import Body
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
from tests.oracles.declared import Array, body_frames, random_configuration, transform, turn

OBLIQUE = (0.3, -0.5, -0.8)


def node_frames(model: Model, q: Array) -> list[Array]:
    """World frames of the nodes, from the flat arrays alone."""
    frames = [np.eye(4)]
    z = np.array([0.0, 0.0, 1.0])
    for i in range(1, len(model.parent)):
        x = q[model.iq[i] :]
        moved = {
            1: lambda x: turn(z, x[0]),
            2: lambda x: transform(p=z * x[0]),
            3: lambda x, i=i: transform(p=z * model.pitch[i] * x[0]) @ turn(z, x[0]),
            4: lambda x: transform(Rotation.from_quat(x[:4]).as_matrix()),
            5: lambda x: transform(Rotation.from_quat(x[3:7]).as_matrix(), x[:3]),
        }[int(model.joint[i])](x)
        frames.append(frames[model.parent[i]] @ transform(model.R_PJ[i], model.p_PJ[i]) @ moved)
    return frames


joints = st.sampled_from(
    [
        *(
            Revolute("x"),
            Revolute("y"),
            Revolute("z"),
            Revolute(OBLIQUE),
            Revolute((0, 0, -1)),
            Prismatic("x"),
        ),
        *(
            Prismatic(OBLIQUE),
            Helical("y", 0.2),
            Helical(OBLIQUE, -0.3),
            Cylindrical("x"),
            Cylindrical(OBLIQUE),
        ),
        *(Universal("x", "y"), Universal("z", "x"), Universal("y", (1, 0, 1)), Spherical(), Free(), Fixed()),
        *(Planar("x"), Planar("y"), Planar("z")),
    ]
)


@given(st.lists(st.tuples(joints, st.integers(0, 10)), min_size=1, max_size=7), st.integers(0, 2**31))
def test_nodes_put_bodies_where_their_declarations_say(parts: list[tuple[Joint, int]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    spec = MechanismSpec()
    spec.body("root", joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    names = ["ground", "root"]
    for i, (joint, parent) in enumerate(parts):
        at = Pose(rng.normal(size=3), quat=rng.normal(size=4))
        spec.body(f"b{i}", names[parent % len(names)], joint=joint, at=at, mass=1.0, inertia=(1, 1, 1))
        names.append(f"b{i}")
    model = spec.model()
    q = random_configuration(model, rng)
    nodes, expected = node_frames(model, q), body_frames(model, q)
    for i, name in enumerate(model.body_names):
        X = nodes[model.body_node[i]] @ transform(model.R_NB[i], model.p_NB[i])
        np.testing.assert_allclose(X, expected[name], atol=1e-12)
    assert all(model.parent[i] < i for i in range(1, len(model.parent)))


def test_an_oblique_planar_joint_moves_in_its_plane() -> None:
    spec = MechanismSpec().body("b", joint=Planar(OBLIQUE), mass=1.0, inertia=(1, 1, 1))
    model = spec.model()
    normal = np.array(OBLIQUE) / np.linalg.norm(OBLIQUE)
    rng = np.random.default_rng(0)
    for q in rng.normal(size=(5, 3)):
        X = node_frames(model, q)[-1] @ transform(model.R_NB[1], model.p_NB[1])
        assert abs(X[:3, 3] @ normal) < 1e-15
        assert np.linalg.norm(X[:3, 3]) == pytest.approx(np.hypot(q[0], q[1]))
        np.testing.assert_allclose(X[:3, :3], turn(normal, q[2])[:3, :3], atol=1e-15)


def test_bodies_may_be_declared_before_their_parents() -> None:
    spec = MechanismSpec()
    for name, parent in (("tip", "arm"), ("other", "ground"), ("arm", "ground"), ("hand", "tip")):
        spec.add(Body(name, parent, Revolute(), mass=1.0, inertia=(1, 1, 1)))  # as files may
    assert spec.model().body_names == ("ground", "other", "arm", "tip", "hand")


def test_declared_order_is_kept() -> None:
    spec = MechanismSpec()
    for name, parent in (("a", "ground"), ("b", "ground"), ("a1", "a"), ("b1", "b"), ("c", "ground")):
        spec.body(name, parent, joint=Revolute(), mass=1.0, inertia=(1, 1, 1))
    assert spec.model().coordinate_names == ("a", "b", "a1", "b1", "c")


def test_a_body_that_is_its_own_ancestor_is_named_with_the_cycle() -> None:
    spec = MechanismSpec()
    for name, parent in (("a", "c"), ("b", "a"), ("c", "b"), ("d", "c"), ("free", "ground")):
        spec.add(Body(name, parent, Revolute(), mass=1.0))
    with pytest.raises(
        ModelError, match=r"body 'a' is its own ancestor: parents run a -> c -> b -> a\. Give"
    ):
        spec.model()


def test_an_unknown_parent_lists_the_bodies() -> None:
    """At the call; in a file, where bodies come in any order, when it is compiled."""
    spec = MechanismSpec().body("crank", joint=Revolute(), mass=1.0)
    with pytest.raises(
        UnknownNameError,
        match=r"parent of body 'rod': unknown body 'crnk'; existing names: 'ground', 'crank'\. Did you mean",
    ):
        spec.body("rod", "crnk", joint=Revolute())
    assert [body.name for body in spec.bodies] == ["crank"]
    spec.add(Body("rod", "crnk", Revolute()))
    with pytest.raises(
        UnknownNameError,
        match=r"'rod': unknown parent 'crnk'; existing names: 'ground', 'crank', 'rod'\. Did you mean 'cr",
    ):
        spec.model()


def test_coordinates_know_their_kind_and_place_in_q() -> None:
    spec = MechanismSpec()
    spec.body("ball", joint=Spherical(), mass=1.0, inertia=(1, 1, 1))
    spec.body("slide", joint=Cylindrical(), mass=1.0, inertia=(1, 1, 1))
    spec.body("free", joint=Free(), mass=1.0, inertia=(1, 1, 1))
    tree = spec.model().tree
    assert tree.coordinate_is_angle == (True,) * 3 + (False, True) + (False,) * 3 + (True,) * 3
    assert tree.coordinate_q == (-1,) * 3 + (4, 5) + (-1,) * 6
    assert tree.scalar("slide.angle") == (5, 4)
    assert (tree.nq, tree.nv) == (13, 11)
