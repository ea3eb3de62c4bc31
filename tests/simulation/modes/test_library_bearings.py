"""Friction by load in every bearing of machines of the library: compiled steps against reactions.

The reactions are balances of bodies in Python (dynamics/bearings.py), the steps sums over columns in the
kernel, by dense factorizations, by entries and by articulated inertias.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import sarrus as sr

Array = npt.NDArray[np.float64]
MU, R, GUIDE = 0.05, 0.01, 0.3
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


def hanging(n: int) -> sr.Mechanism:
    """A chain of n links without loops."""
    spec, under = sr.MechanismSpec(name=f"chain{n}"), "ground"
    for i in range(n):
        at = sr.Pose((0.1, 0, 0), rpy=(0.3, 0, 0.1))
        solid: dict[str, Any] = {"mass": 1.0, "com": (0.05, 0.01, 0.02), "inertia": (1e-3,) * 3}
        spec.body(f"l{i}", under, joint=sr.Revolute("z"), at=at, **solid)
        under = f"l{i}"
    return spec.compile()


def short_crank() -> sr.Mechanism:
    """A crank of 0.05 mm on a coupler of 1 m: accelerations are refined."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0), name="short_crank")
    points = {"A": (0, 0), "B": (3e-5, 4e-5), "C": (1.0, 0.4), "D": (1.3, 0)}
    for name, p in points.items():
        spec.point(name, (*p, 0))
    spec.link("crank", "A", "B", mass=1.0).link("rod", "B", "C", mass=1.0).link("rocker", "D", "C", mass=1.0)
    pairs = (
        ("A", "ground", "crank"),
        ("B", "crank", "rod"),
        ("C", "rod", "rocker"),
        ("D", "ground", "rocker"),
    )
    for name, a, b in pairs:
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    return spec.compile()


def bearings(mech: sr.Mechanism, folder: Path, radius: float) -> sr.Mechanism:
    """The mechanism with friction by load in all hinges, of journals of this radius, and all slides."""
    sr.save(mech, folder / "bare.json")
    data = json.loads((folder / "bare.json").read_text())
    spec = sr.MechanismSpec.from_dict({key: value for key, value in data.items() if key != "default"})
    for body in mech.model.bodies[1:]:
        kind = type(body.joint).__name__
        if kind == "Revolute":
            spec.force(f"journal {body.name}", sr.BearingFriction(body.name, MU, radius))
        elif kind == "Prismatic":
            spec.force(f"guide {body.name}", sr.BearingFriction(body.name, MU, length=GUIDE))
    return spec.compile()


def by_reactions(mech: sr.Mechanism, motion: sr.Motion, v: Array) -> Array:
    out = np.zeros(mech.nv)
    for _, force in mech.model.forces:
        if isinstance(force, sr.BearingFriction):
            k, W = mech.names.index(force.coordinate), motion.reaction(force.coordinate, frame="b")
            joint: Any = mech.model.joint_of(force.coordinate)
            e = np.array(AXES.get(joint.axis, joint.axis) if isinstance(joint.axis, str) else joint.axis)
            e = e / np.linalg.norm(e)
            F, couple = W[:3] - e * (e @ W[:3]), np.cross(e, W[3:]) / GUIDE
            guide = np.linalg.norm(F / 2 + couple) + np.linalg.norm(F / 2 - couple)
            out[k] = -np.sign(v[k]) * MU * (force.radius * np.linalg.norm(F) if force.radius else guide)
    return out


library = sr.library
MACHINES: dict[str, Callable[[], sr.Mechanism]] = {
    "four_bar": library.four_bar, "slider_crank": library.slider_crank, "sarrus": library.sarrus,
    "bricard": library.bricard, "stewart": library.stewart, "andrews": library.andrews,
    "jansen_leg": lambda: library.jansen_leg(2), "n_four_bar": lambda: library.n_four_bar(40),
    "delta": library.delta, "dual_arm": library.dual_arm, "loader": library.loader,
    "quadruped": library.quadruped, "flyball_governor": library.flyball_governor,
    "chain": lambda: hanging(36), "short_crank": short_crank,
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::sarrus.SarrusWarning")
@pytest.mark.parametrize("name", MACHINES)
def test_steps_find_mu_times_the_reactions(name: str, tmp_path: Path) -> None:
    bare = MACHINES[name]()
    radius = 1e-7 if name == "short_crank" else R
    mech, q, rng = bearings(bare, tmp_path, radius), bare.default.q, np.random.default_rng(1)
    N = mech.decompose(q).N
    v = N @ rng.normal(size=N.shape[1])
    v = np.where(np.abs(v) < 1e-13 * np.abs(v).max(), 0.0, v) / np.abs(v).max()
    run = sr.simulate(mech, (0, 1e-5), q, v, dt=1e-6)
    motion = mech.forward_dynamics(run.q[0], run.v[0])
    expected = by_reactions(mech, motion, v)
    size = np.abs(expected).max()
    digits = 1e-7 if name == "short_crank" else 1e-11  # a crank of 5e-5: rounding times 1 / (5e-5)^2
    assert size > 0.0 and run.success
    np.testing.assert_allclose(motion.friction, expected, rtol=0, atol=digits * size)
    np.testing.assert_allclose(run.friction[0], expected, rtol=0, atol=digits * size)
    np.testing.assert_allclose(run.a[0], motion.a, rtol=0, atol=digits * np.abs(motion.a).max())


@pytest.mark.parametrize("share", [1.0, 0.0])
def test_journals_larger_than_the_crank_jam(share: float, tmp_path: Path) -> None:
    """Friction that grows beyond all numbers is no force, in motion and where some coordinates rest."""
    mech = bearings(short_crank(), tmp_path, R)
    q = mech.default.q
    v = mech.decompose(q).N[:, 0]
    v = np.where(np.abs(v) < 1e-3 * np.abs(v).max(), share * v, v)
    with pytest.raises(sr.InputError, match="finds no force: more friction makes more load"):
        mech.forward_dynamics(q, v)
