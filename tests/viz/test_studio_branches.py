"""Ways out of singular poses in studios, run by node, are those that Python finds."""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.arrays import Array
from sarrus.viz.studio_data import drive_table
from tests.studio_kernel import needs_kernel
from tests.viz.test_studio_kernel import case, needs_node, run_cases

pytestmark = [needs_kernel, needs_node]
SAME = 1e-4  # of directions of unit size: double zeros are found to half the digits
MOST = 12  # directions up to sign that a studio offers
HINGE = sr.Revolute("z")
Posed = tuple[sr.Mechanism, Array]


def flat_row(n: int) -> Posed:
    """n parallelograms in a row, all links on the base line."""
    flat = np.array([-0.5, 0.5]) * np.pi
    return sr.library.n_four_bar(n), np.append(np.tile(flat, n), flat[0])


def bars(crank: float, coupler: float, rocker: float, driven: bool = False) -> sr.Mechanism:
    """A four-bar with feet 1 m apart, all bars on x at zero angles; the second foot stands or is driven."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    foot = "ground"
    if driven:
        foot = "cart"
        spec.body("cart", joint=sr.Prismatic("x"), mass=1.0)
        drive = sr.Drive("cart", lambda t: 0.3 * np.sin(2 * t))
        spec.constrain("motion", drive)
    places = {"crank": ("ground", 0.0), "coupler": ("crank", crank), "rocker": (foot, 1.0)}
    for name, (parent, x) in places.items():
        at = sr.Pose(xyz=(x, 0, 0))
        spec.body(name, parent=parent, joint=HINGE, at=at, mass=1.0, com=(0.1, 0, 0), inertia=(0.1, 0.1, 0.1))
    ends = sr.Pose(xyz=(coupler, 0, 0)), sr.Pose(xyz=(rocker, 0, 0))
    spec.close("pin", "coupler", "rocker", HINGE, *ends)
    return spec.compile()


def doubled_parallelogram() -> Posed:
    """Three equal cranks on one bar, all on the base line: it leaves this pose in one way only."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    for i in range(3):
        at = sr.Pose(xyz=(i, 0, 0))
        spec.body(f"crank{i}", joint=HINGE, at=at, mass=1.0, com=(0.2, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.body("bar", parent="crank0", joint=HINGE, at=sr.Pose(xyz=(0.4, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    for i in (1, 2):
        ends = sr.Pose(xyz=(i, 0, 0)), sr.Pose(xyz=(0.4, 0, 0))
        spec.close(f"pin{i}", "bar", f"crank{i}", HINGE, *ends)
    return spec.compile(), np.zeros(4)


def at(name: str, q: list[float] | None = None) -> Posed:
    mech = getattr(sr.library, name)()
    return mech, mech.neutral() if q is None else np.array(q)


FOLDED = [0.0, np.pi, np.pi]
POSES: dict[str, Callable[[], Posed]] = {
    "a parallelogram": lambda: at("parallelogram"),
    "one four-bar lying flat": lambda: flat_row(1),
    "two four-bars lying flat": lambda: flat_row(2),
    "three four-bars lying flat": lambda: flat_row(3),
    "a doubled parallelogram": doubled_parallelogram,
    "a folded kite": lambda: (bars(0.6, 0.6, 1.0), np.array(FOLDED)),
    "a four-bar on a driven foot": lambda: (bars(0.4, 1.0, 0.4, driven=True), np.zeros(4)),
    "a slider-crank": lambda: at("slider_crank", [np.pi / 2, np.pi]),
    "a pantograph": lambda: at("pantograph_leg"),
    "a scissor": lambda: at("scissor"),
    "a five-bar": lambda: at("five_bar", sr.library.five_bar().default.q.tolist()),
    "chain mail": lambda: at("chain_mail"),
    "a regular pose": lambda: at("bricard"),
}


def offered(mech: sr.Mechanism, q: Array, v: Array, rank: int = 0) -> tuple[Array, list[Array]]:
    """The pose and directions (nv,), without units, that a studio offers there: at q, or where a rank of most
    poses is given at the singular pose that it reaches from q."""
    data = {"unit": mech.model.unit.tolist(), "row_unit": mech.model.row_unit.tolist(), "rank": rank}
    more: dict[str, Any] = {"data": data}
    if (table := drive_table(mech, 0.0, 1.0)) is not None:
        values = np.frombuffer(base64.b64decode(table["values"]))
        more["drives"] = {"first": table["first"], "step": table["step"], "values": values.tolist()}
    (found,) = run_cases([case(mech, q, v, "branches", **more)])
    assert rank == 0 or found["found"]["found"]
    return np.array(found["q"]), [np.array(x) for x in found["branches"]]


def agree(mech: sr.Mechanism, q: Array, found: list[Array]) -> None:
    """Both ways along a basis of each linear branch, and nothing else; some directions of curved ones."""
    branches = mech.branches(q)
    tangents = [np.linalg.qr(b.tangent / mech.model.unit[:, None])[0] for b in branches]
    hits = [[np.linalg.norm(x - T @ (T.T @ x)) < SAME for x in found] for T in tangents]
    for branch, hit in zip(branches, hits, strict=True):
        assert branch.two_sided
        if not branch.curved:
            assert np.linalg.matrix_rank(np.array(found)[hit], tol=0.1) == branch.tangent.shape[1]
    if any(b.curved for b in branches):
        assert len(found) == 2 * MOST
    else:
        assert np.any(hits, axis=0).all()
        assert len(found) == 2 * sum(b.tangent.shape[1] for b in branches)


@pytest.mark.parametrize("name", POSES)
def test_branches_are_those_of_python(name: str) -> None:
    """The velocity of the state has no say, and drives are held."""
    mech, q = POSES[name]()
    for v in (np.zeros(mech.nv), np.linspace(0.3, 1.0, mech.nv)):
        pose, found = offered(mech, q, v)
        assert pose == pytest.approx(q)
        agree(mech, q, found)


@pytest.mark.parametrize("name", [name for name in POSES if name != "a regular pose"])
def test_branches_of_poses_that_were_searched(name: str) -> None:
    """The singular pose is reached to about 1e-11 from some way along each branch, then left alike."""
    mech, q = POSES[name]()
    for branch in mech.branches(q):
        start = branch.path(0.06, 3)[-1]
        rank = mech.mobility(start).rank
        if rank > mech.mobility(q).rank:
            agree(mech, *offered(mech, start, np.zeros(mech.nv), rank))
