"""Parameters: a changed copy is the mechanism that the same calls make with other numbers."""

from __future__ import annotations

import inspect
import math
import pickle
from typing import Any

import numpy as np
import pytest

import sarrus as sr


def drawn(a: float = 0.18, h: float = 0.15, parameters: bool = True) -> sr.MechanismSpec:
    """A four-bar of which lengths, masses, springs and frames depend on two numbers."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    one, two = (spec.parameter("a", a), spec.parameter("h", h)) if parameters else (a, h)
    spec.point("A", (0, 0, 0)).point("B", (np.sqrt(one * one - two**2), two, 0))
    spec.point("C", np.array([0.45, 2 * two, 0.0])).point("D", (0.4, 0, 0))
    for name, ends in (("crank", "AB"), ("coupler", "BC"), ("rocker", "CD")):
        spec.link(name, *ends, mass=1.0 + one / 2)
    for name, a_, b_ in (("A", "ground", "crank"), ("B", "crank", "coupler"), ("C", "coupler", "rocker"),
                         ("D", "rocker", "ground")):  # fmt: skip
        spec.joint(name, a_, b_, sr.Revolute("z"), at=name, damping=-one + 1.0)
    spring = sr.PointSpring("coupler", (one, 0, 0), "ground", "A", 100 * one, rest=0.1)
    spec.force("k", spring, frame="body")
    spec.measure("reach", sr.Length("coupler", (abs(one) / 2, 0, 0), "ground", "A"), frame="body")
    return spec


def same(one: sr.Mechanism, other: sr.Mechanism) -> None:
    """Bit for bit: the same calls with the same numbers."""
    assert one.names == other.names
    for name, array in one.model.fields.items():
        np.testing.assert_array_equal(array, other.model.fields[name], err_msg=name)
    q = one.default.q
    assert one.measure(q) == other.measure(q)


def test_a_changed_parameter_makes_the_mechanism_again() -> None:
    mech = drawn().compile()
    assert mech.parameters == {"a": 0.18, "h": 0.15}
    same(mech, drawn(parameters=False).compile())
    changed = mech.with_(a=0.25)
    assert changed.parameters == {"a": 0.25, "h": 0.15}
    same(changed, drawn(0.25, parameters=False).compile())
    same(changed.with_(h=0.1), drawn(0.25, 0.1, parameters=False).compile())
    assert mech.parameters == {"a": 0.18, "h": 0.15}


def test_other_changes_stay() -> None:
    mech = drawn().compile().with_(mass={"crank": 3.0}).with_(a=0.2).with_(gravity=(0, 0, 0))
    expected = drawn(0.2, parameters=False).compile().with_(mass={"crank": 3.0}, gravity=(0, 0, 0))
    np.testing.assert_array_equal(mech.model.mass, expected.model.mass)
    again = mech.with_(a=0.21, damping={"A": 0.5})
    np.testing.assert_array_equal(again.model.gravity, 0.0)
    assert dict(zip(again.names, again.model.tree.each("damping"), strict=True))["A"] == 0.5
    assert pickle.loads(pickle.dumps(again)).with_(a=0.18).parameters == {"a": 0.18, "h": 0.15}


def test_poses_and_kinds_keep_what_they_are_made_of() -> None:
    spec = sr.MechanismSpec()
    a = spec.parameter("a", 0.3)
    b = spec.parameter("b", 2 * a)
    assert spec.parameter("c", 5).value == 5.0
    frame = sr.Pose((a, 0, 0)) @ sr.Pose((0, b, 0), rpy=(0, 0, a)).inverse()
    spec.body(
        "x",
        joint=sr.Revolute((a, 0, b)),
        at=frame,
        mass=a * b,
        com=[a, 0, 0],
        inertia=np.array([1, 1, 1]) * a,
    )
    spec.body(
        "y",
        "x",
        joint=sr.Helical("z", pitch=a / 10),
        at=sr.Pose.from_points((0, 0, 0), (a, b, 0)),
        mass=1.0,
        inertia=(1, 1, 1),
    )
    spec.constrain("gear", sr.Coupling({"x": 1.0, "y": -b}, offset=a))
    spec.constrain("rod", sr.Distance("ground", (0, 0, 0), "y", (a, 0, 0), length=1 + a))
    mech = spec.compile()
    for value in (0.3, 0.45):
        one = mech.with_(a=value)
        assert one.parameters == {"a": value, "b": 2 * value, "c": 5.0}
        plain = sr.MechanismSpec()
        at = sr.Pose((value, 0, 0)) @ sr.Pose((0, 2 * value, 0), rpy=(0, 0, value)).inverse()
        inertia = np.array([1, 1, 1]) * value
        plain.body(
            "x",
            joint=sr.Revolute((value, 0, 2 * value)),
            at=at,
            mass=value * (2 * value),
            com=[value, 0, 0],
            inertia=inertia,
        )
        far = sr.Pose.from_points((0, 0, 0), (value, 2 * value, 0))
        plain.body("y", "x", joint=sr.Helical("z", pitch=value / 10), at=far, mass=1.0, inertia=(1, 1, 1))
        plain.constrain("gear", sr.Coupling({"x": 1.0, "y": -2 * value}, offset=value))
        plain.constrain("rod", sr.Distance("ground", (0, 0, 0), "y", (value, 0, 0), length=1 + value))
        for name, array in plain.compile().model.fields.items():
            np.testing.assert_array_equal(one.model.fields[name], array, err_msg=name)
    assert mech.with_(b=1.0).parameters == {"a": 0.3, "b": 1.0, "c": 5.0}


def test_arithmetic() -> None:
    spec = sr.MechanismSpec()
    a, b = spec.parameter("a", 0.7), spec.parameter("b", 1.3)
    x, y = 0.7, 1.3
    cases: list[tuple[Any, float]] = [
        (a + b, x + y), (2 - a, 2 - x), (a * 3 / b, x * 3 / y), (1 / a, 1 / x), (-a, -x), (+a, x),
        (abs(-a), x), (a**2, x**2), (2**a, 2**x),
        (np.sin(a), math.sin(x)), (np.cos(a), math.cos(x)), (np.tan(a), math.tan(x)),
        (np.sqrt(a), math.sqrt(x)), (np.arctan2(a, b), math.atan2(x, y)), (np.hypot(a, b), math.hypot(x, y)),
        (np.exp(a), math.exp(x)), (np.log(b), math.log(y)), (np.radians(a), math.radians(x)),
        (np.float64(2.0) * a, 2 * x),
    ]  # fmt: skip
    for expression, value in cases:
        assert expression.value == pytest.approx(value, rel=1e-15), expression
    assert repr(np.sin(a) * 2 + b) == "((sin(a) * 2) + b)"
    uses: list[Any] = [
        math.sin, bool, float, int, round, lambda x: x == 0.7, lambda x: x > 0.1, lambda x: x // 2,
        lambda x: max(x, b), lambda x: x in (0.7,),
    ]  # fmt: skip
    for use in uses:
        with pytest.raises(sr.InputError, match=r"stands for a number that may change.*np\.sin"):
            use(a)
    assert f"{a:.3f} {a}" == "0.700 a"
    with pytest.raises(sr.InputError, match=r"sqrt\(\(a - 2\)\) has no value"):
        np.sqrt(a - 2).evaluate({})
    with pytest.raises(sr.InputError, match=r"has no value at a = 0 "):
        spec.body("x", joint=sr.Prismatic("x"), mass=1 / a).compile().with_(a=0.0)


def test_bad_parameters() -> None:
    spec = sr.MechanismSpec()
    spec.parameter("a", 1.0)
    for name in ("mass", "gravity", "damping", "two words", ""):
        with pytest.raises(sr.InputError):
            spec.parameter(name, 1.0)
    with pytest.raises(sr.ModelError, match="exists already"):
        spec.parameter("a", 2.0)
    with pytest.raises(sr.InputError, match="parameter 'b' must be a finite number"):
        spec.parameter("b", float("nan"))
    mech = drawn().compile()
    with pytest.raises(sr.SarrusError, match="'c'"):
        mech.with_(c=1.0)
    with pytest.raises(sr.InputError, match="parameter 'a' must be a finite number"):
        mech.with_(a="long")
    with pytest.raises(sr.InputError, match="coincide"):
        mech.with_(a=0.15, h=0.15).with_(a=0.0, h=0.0)
    other = sr.MechanismSpec().parameter("a", 0.0)
    with pytest.raises(sr.InputError, match="parameter 'a' belongs to another description"):
        spec.body("x", joint=sr.Prismatic("x"), mass=1.0, com=(2 * other, 0, 0))
    with pytest.raises(sr.InputError, match="apply takes numbers"):
        sr.Pose((spec.parameter("d", 1.0), 0, 0)).apply((0, 0, 0))


def test_signatures_are_those_of_the_constructors() -> None:
    assert list(inspect.signature(sr.PointSpring).parameters)[:4] == ["a", "p_a", "b", "p_b"]
    assert next(iter(inspect.signature(sr.Pose).parameters)) == "xyz"


def test_the_default_pose_stays_on_its_branch() -> None:
    """Of the two ways to assemble a slider-crank the one chosen by with_default, also after a pickle."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0))
    r = spec.parameter("r", 0.2)
    spec.body("crank", joint=sr.Revolute("z"), mass=1.0, inertia=(1, 1, 1))
    spec.body("rod", "crank", joint=sr.Revolute("z"), at=sr.Pose((r, 0, 0)), mass=1.0, inertia=(1, 1, 1))
    spec.body("piston", joint=sr.Prismatic("x"), mass=1.0)
    spec.close("pin", "rod", "piston", joint=sr.Revolute("z"), at_a=sr.Pose((0.5, 0, 0)))
    mech = spec.compile()
    back = mech.with_default(mech.assemble([1.0, 1.9, -0.3], fixed={"crank": 1.0}).q)
    assert back.default.q[2] < 0.0
    for copy in (
        back.with_(r=0.25),
        pickle.loads(pickle.dumps(back.with_(r=0.25))),
        back.with_(r=0.22).with_(r=0.25),
    ):
        assert copy.default.q[2] < 0.0
        assert np.abs(copy.terms(copy.default.q, np.zeros(3)).phi).max() < 1e-9


def test_functions_of_numpy_in_any_order() -> None:
    spec = sr.MechanismSpec()
    a = spec.parameter("a", 0.2)
    for found, expected in (
        (np.hypot(0.3, a), math.hypot(0.3, 0.2)),
        (np.arctan2(1.0, a), math.atan2(1.0, 0.2)),
        (np.arctan2(np.array([1.0, 2.0]), a)[1], math.atan2(2.0, 0.2)),
        (np.linalg.norm([a, 0.3]), math.hypot(0.3, 0.2)),
        ((np.array([1.0, 2.0]) * a)[1] - np.float64(1.0), -0.6),
    ):
        assert found.evaluate({}) == pytest.approx(expected, rel=1e-15)
    with pytest.raises(sr.InputError, match=r"sqrt\(\(a - 1\)\) has no value at a = 0.2"):
        spec.point("P", (np.sqrt(a - 1.0), 0, 0))
