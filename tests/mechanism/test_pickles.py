"""Pickles hold what was declared: every bit comes back, nothing in them names the layout of the library."""

from __future__ import annotations

import copy
import math
import pickle
import pickletools
import warnings
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.models.model import Model

DATA = Path(__file__).parents[1] / "data"


def wave(t: float) -> float:
    return 0.1 * math.sin(t)


def height(q: Any, t: float) -> Any:
    return np.array([math.sin(q[0]) - 0.5])


@dataclass(frozen=True)
class Loose(sr.Revolute):
    """A joint that is not of the library."""


def driven() -> sr.Mechanism:
    spec = sr.MechanismSpec(name="driven").body("a", joint=sr.Revolute("y"), mass=1.0, com=(0.3, 0, 0))
    spec.body("b", "a", joint=Loose((0.6, 0.8, 0)), at=sr.Pose((1, 0, 0), rpy=(0.1, 0.2, 0.3)), armature=0.1)
    spec.constrain("drive", sr.Drive("a", wave)).constrain("rows", sr.CustomConstraint(height, 1, scale=2.0))
    return spec.force("spring", sr.JointSpring("b", 3.0)).actuate("b", limits=(None, 2.0)).compile()


def latched() -> sr.Mechanism:
    mech = sr.library.quadruped()
    q = mech.integrate(mech.default.q, 0.03 * np.sin(np.arange(mech.nv)))
    replaced = {name: mech.latched(name, q) for name in ("front_left", "rear_right")}
    return mech.with_constraints(["front_left", "rear_right"], replaced).with_default(q)


def odd_inertia() -> sr.Mechanism:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sr.MechanismSpec().body("a", joint=sr.Free(), mass=1.0, inertia=(1, 2, 5)).compile()


MECHANISMS = {
    **{name: make for name, make in sr.library.MECHANISMS.items() if name != "n_four_bar"},
    "changed": lambda: sr.library.loader().with_(mass={"boom": 500.0}, gravity=(0, 0, -1.62)),
    "driven": driven,
    "latched": latched,
    "MJCF": lambda: sr.load(DATA / "leg.xml"),
    "URDF": lambda: sr.load(DATA / "arm.urdf"),
    "odd inertia": odd_inertia,
}


def names_of_sarrus(data: bytes) -> set[str]:
    """What a pickle looks up by name in this library."""
    words = [str(value) for _, value, _ in pickletools.genops(data) if isinstance(value, str)]
    return {word for word in words if word.split(".")[0] == "sarrus"}


def assert_same(a: sr.Mechanism, b: sr.Mechanism) -> None:
    for name, array in a.model.fields.items():
        assert np.array_equal(array, b.model.fields[name]), name
    for one in ("name", "row_names", "groups", "constraints", "forces", "actuators", "tree"):
        assert getattr(a.model, one) == getattr(b.model, one), one
    assert (a._default is None) == (b._default is None)
    if a._default is not None and b._default is not None:
        assert np.array_equal(a._default.q, b._default.q) and np.array_equal(a._default.v, b._default.v)


@pytest.mark.parametrize("name", MECHANISMS)
@pytest.mark.filterwarnings("ignore::sarrus.SarrusWarning")
def test_every_bit_comes_back_through_one_public_function(name: str) -> None:
    mech = MECHANISMS[name]()
    data = pickle.dumps(mech)
    assert names_of_sarrus(data) == {"sarrus"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        again = pickle.loads(data)
    assert_same(mech, again)
    assert str(again) == str(mech)
    assert not again.model.mass.flags.writeable
    assert_same(mech, copy.deepcopy(mech))


def test_declarations_and_poses_pickle_alike() -> None:
    things = [sr.Pose((1, 2, 3), rpy=(0.1, 0.2, 0.3)), sr.Helical((1, 2, 2), 0.1), sr.Drive("a", wave)]
    things += [sr.Coupling({"type": 1.0, "b": -2.0}), sr.PointSpring("a", (0, 0, 0), "b", (1, 0, 0), 5.0)]
    data = pickle.dumps(things)
    assert names_of_sarrus(data) == {"sarrus"}
    assert pickle.loads(data) == things


def test_results_share_the_model_that_they_are_pickled_with() -> None:
    mech = sr.library.four_bar()
    again, motion = pickle.loads(pickle.dumps((mech, mech.forward_dynamics(*mech.default))))
    assert motion._model is again.model
    assert np.array_equal(motion.reaction("pin"), mech.forward_dynamics(*mech.default).reaction("pin"))


def test_many_threads_read_one_pickle() -> None:
    mech = sr.library.stewart()
    data = pickle.dumps(mech)
    with ThreadPoolExecutor(8) as pool:
        for again in pool.map(pickle.loads, [data] * 32):
            assert_same(mech, again)


def test_a_pickle_of_a_later_version_says_so() -> None:
    with pytest.raises(
        sr.UnknownNameError, match="a pickle, perhaps of a later version of sarrus: unknown class"
    ):
        sr.restore("Ratchet", {})


def test_pickles_of_0_1_0_load_with_the_arrays_of_today() -> None:
    again = pickle.loads((DATA / "pantograph_leg_0_1_0.pickle").read_bytes())
    assert_same(again, sr.library.pantograph_leg().with_(mass={"shank": 0.4}))


def test_arrays_of_another_layout_are_made_anew() -> None:
    model = sr.library.four_bar().model
    state = {name: value for name, value in vars(model).items() if not name.startswith("cl_")}
    old = object.__new__(Model)
    old.__setstate__(state | {"forgotten": 1})
    assert_same(sr.Mechanism(old), sr.Mechanism(model))
