"""What a body refuses, in words, and what it spreads over the coordinates of its joint."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError, SarrusWarning
from sarrus.mechanism.spec import MechanismSpec
from sarrus.models.tree.bodies import UNLIMITED, Body
from sarrus.models.tree.joint import Joint
from sarrus.models.tree.joints import Cylindrical, Fixed, Revolute, Spherical

NAN, INF = float("nan"), float("inf")


def rod(joint: Joint | None = None, **values: Any) -> Body:
    return Body("rod", "ground", joint or Revolute(), **values)


def test_scalars_are_spread_over_coordinates() -> None:
    body = rod(Cylindrical(), damping=0.1, armature=(0.2, 0.3), limits=[(-1, 1), None])
    assert body.damping == (0.1, 0.1)
    assert body.armature == (0.2, 0.3)
    assert body.limits == ((-1.0, 1.0), UNLIMITED)
    assert body.friction_speed == (0.01, 0.01)


def test_limits_may_be_open_on_one_side() -> None:
    assert rod(limits=(None, 1.0)).limits == ((-math.inf, 1.0),)
    assert rod(limits=(0.5, math.inf)).limits == ((0.5, math.inf),)
    assert rod(limits=[(0.5, 1)]).limits == ((0.5, 1.0),)
    assert rod(limits=np.array([0.5, 1])).limits == ((0.5, 1.0),)


def test_inertia_is_diagonal_or_full() -> None:
    np.testing.assert_array_equal(rod(inertia=(1, 2, 3)).inertia_matrix, np.diag([1, 2, 3]))
    full = [[2, 0.1, 0], [0.1, 2, 0], [0, 0, 2]]
    np.testing.assert_array_equal(rod(inertia=full).inertia_matrix, full)
    np.testing.assert_array_equal(rod(inertia=np.array(full)).inertia_matrix, full)


def test_a_violated_triangle_inequality_is_a_warning_that_names_the_body() -> None:
    with pytest.warns(
        SarrusWarning, match=r"inertia of body 'rod' violates the triangle inequality: .* 5 exceeds 1 \+ 2"
    ):
        MechanismSpec().body("rod", joint=Revolute(), inertia=(1, 2, 5))
    with pytest.warns(
        SarrusWarning, match="inertia of body 'rod' violates the triangle inequality"
    ) as caught:
        MechanismSpec().body("rod", joint=Revolute(), inertia=(1, 1, 2)).compile().with_(
            inertia={"rod": (1, 2, 5)}
        )
    assert [w.filename for w in caught] == [__file__]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for inertia in ((1, 1, 2), (0, 1, 1), (0, 0, 0)):
            MechanismSpec().body("rod", joint=Revolute(), inertia=inertia)


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"mass": -1.0}, "mass of body 'rod' must not be negative, got -1"),
        ({"mass": NAN}, "mass of body 'rod' must be a finite number, got nan"),
        ({"mass": INF}, "mass of body 'rod' must be a finite number, got inf"),
        ({"mass": "heavy"}, "mass of body 'rod' must be a finite number, got 'heavy'"),
        ({"mass": None}, "mass of body 'rod' must be a finite number, got None"),
        ({"mass": True}, "mass of body 'rod' must be a finite number, got True"),
        ({"mass": (1.0, 2.0)}, r"mass of body 'rod' must be a finite number, got \(1.0, 2.0\)"),
        ({"mass": 1e60}, "mass of body 'rod' must be at most 1e.50 in size"),
        ({"com": (0, 0)}, r"com of body 'rod' must have shape \(3,\), got shape \(2,\)"),
        ({"com": (0, 0, NAN)}, "com of body 'rod' must be finite"),
        ({"inertia": (1, 2)}, r"inertia of body 'rod' must have shape \(3,\)"),
        ({"inertia": 1.0}, r"inertia of body 'rod' must have shape \(3,\), got shape \(\)"),
        ({"inertia": ((1, 0), (0, 1))}, r"inertia of body 'rod' must have shape \(3, 3\)"),
        (
            {"inertia": (1, 1, -1)},
            "inertia of body 'rod' must be positive semidefinite, got principal moments",
        ),
        (
            {"inertia": ((1, 2, 0), (2, 1, 0), (0, 0, 1))},
            "inertia of body 'rod' must be positive semidefinite",
        ),
        ({"inertia": ((1, 2, 0), (0, 1, 0), (0, 0, 1))}, "inertia of body 'rod' must be symmetric"),
        ({"inertia": (1, 1, INF)}, "inertia of body 'rod' must be finite"),
        ({"armature": -0.1}, "armature of body 'rod' must not be negative"),
        ({"damping": (0.1, 0.2)}, r"damping of body 'rod' must have shape \(1,\), got shape \(2,\)"),
        ({"damping": [-0.1]}, "damping of body 'rod', coordinate 0 must not be negative"),
        ({"friction": NAN}, "friction of body 'rod' must be a finite number"),
        ({"friction_speed": 0.0}, "friction_speed of body 'rod' must be positive"),
        ({"limits": (1, -1)}, r"limits of body 'rod' must have lower < upper, got \(1, -1\)"),
        ({"limits": (NAN, 1)}, "limits of body 'rod' must be a finite number, got nan"),
        ({"limits": 3.0}, r"limits of body 'rod' must be a pair \(lower, upper\), got 3.0"),
        ({"limits": (1, 2, 3)}, r"limits of body 'rod' must be a pair \(lower, upper\), got \(1, 2, 3\)"),
        ({"limits": "ab"}, "limits of body 'rod'"),
        ({"stop_stiffness": 10.0}, "stops of body 'rod' need limits to stand at"),
        ({"stop_damping": 10.0}, "stops of body 'rod' need limits to stand at"),
        ({"at": (1, 0, 0)}, r"at of body 'rod' must be a Pose, got \(1, 0, 0\); write at=sr.Pose"),
    ],
)
def test_bad_values_say_what_is_wrong(values: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        rod(**values)


def test_joints_without_coordinates_take_no_joint_values() -> None:
    with pytest.raises(InputError, match="damping of body 'rod' must be zero because its joint is Fixed"):
        rod(Fixed(), damping=1.0)
    with pytest.raises(
        InputError, match="limits of body 'rod' must be None: a Fixed joint has no coordinate"
    ):
        rod(Fixed(), limits=(0, 1))
    with pytest.raises(
        InputError, match="limits of body 'rod' must be None: a Spherical joint has no coordinate"
    ):
        rod(Spherical(), limits=(0, 1))
    with pytest.raises(
        InputError, match=r"limits of body 'rod' must be 2 pairs \(lower, upper\), one for each"
    ):
        rod(Cylindrical(), limits=(0, 1, 2))
    assert rod(Fixed()).damping == ()


def test_names_must_be_text() -> None:
    with pytest.raises(InputError, match="the name of a body must be a non-empty string, got ''"):
        Body("", "ground", Revolute())
    with pytest.raises(InputError, match="parent of body 'rod' must be a non-empty string, got 3"):
        Body("rod", 3, Revolute())  # type: ignore[arg-type]
    with pytest.raises(InputError, match="joint of body 'rod' must be one of Revolute"):
        Body("rod", "ground", None)  # type: ignore[arg-type]


def test_armature_that_no_drive_has_is_refused() -> None:
    """0.1.0 added it to M without the forces that go with it: a force-free box accelerated sideways."""
    spec = sr.MechanismSpec()
    with pytest.raises(sr.InputError, match="armature of body 'box' must be zero along the translations"):
        spec.body("box", joint=sr.Free(), mass=1.0, inertia=(1, 1, 1), armature=1.0)
    with pytest.raises(sr.InputError, match="must be equal about all axes of a Spherical joint"):
        spec.body("ball", joint=sr.Spherical(), mass=1.0, inertia=(1, 1, 1), armature=(1.0, 2.0, 1.0))
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.3, 0.4, 0.5), armature=(0, 0, 0, 2, 2, 2))
    mech = spec.compile()
    v = np.array([1.0, -2.0, 0.5, 0.3, 0.2, 2.0])
    a = mech.with_(gravity=(0, 0, 0)).acceleration(mech.neutral(), v, np.zeros(6))
    np.testing.assert_allclose(a[:3] + np.cross(v[3:], v[:3]), 0.0, atol=1e-14)  # no force, no acceleration


def test_limits_may_be_numpy_numbers() -> None:
    for lower, upper in ((np.float64(-1.0), np.float64(2.0)), (np.float64(-np.inf), np.float32(np.inf))):
        body = Body("a", "ground", Revolute("z"), limits=(lower, upper))
        assert body.limits == ((float(lower), float(upper)),)
