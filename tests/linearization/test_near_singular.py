"""Linear models beside singular poses: right, or refused or warned about with the singular value."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import sarrus as sr

POSE, ALONG = np.array([np.pi / 2, np.pi]), np.array([1.0, -2.0])
METHODS = ("analytic", "dual", "finite_difference")


def reduced(angle: float, speed: float) -> float:
    """Acceleration of the crank of the slider-crank in closed form, on the branch rod = 2 pi - 2 crank."""
    q2 = 2 * np.pi - 2 * angle
    c, s, v = np.cos(q2), np.sin(q2), ALONG * speed
    M = np.array([[3 + 2 * c, 1 + c], [1 + c, 1]])
    weight = 9.81 * np.array([np.cos(angle + q2) + 2 * np.cos(angle), np.cos(angle + q2)])
    h = weight + s * np.array([-(v[1] ** 2 + 2 * v[0] * v[1]), v[0] ** 2])
    return float(-(ALONG @ h) / (ALONG @ M @ ALONG))


def stiffness(angle: float, speed: float) -> float:
    step = 1e-4
    both = [reduced(angle + x, speed) for x in (-2 * step, -step, step, 2 * step)]
    return float(both[0] - 8 * both[1] + 8 * both[2] - both[3]) / (12 * step)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("speed", [1.0, 0.1, 0.0])
@pytest.mark.parametrize("beside", [1e-2, 1e-3, 3e-4, 1e-4, 1e-5, 1e-6, 1e-8])
def test_right_or_told(method: str, speed: float, beside: float) -> None:
    """A21 at 1e-6 rad was -193 without a word, 2.76 is right."""
    model, said = linearized(method, speed, beside)
    if model is None:
        assert beside < 1e-4 and speed and "singular value" in said
        return
    accuracy = 1e-3 if method == "finite_difference" else 1e-5  # its steps reach as far as the pose
    right = abs(model.A[1, 0] - stiffness(np.pi / 2 - beside, speed)) < accuracy
    assert right or "singular value" in said


def linearized(method: str, speed: float, beside: float) -> tuple[Any, str]:
    """The model, None where it is refused, and what was said."""
    mech = sr.library.slider_crank()
    state: Any = (mech, POSE - beside * ALONG, speed * ALONG, [0, 0])
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            model = sr.linearize(*state, independent=["crank"], method=method)
        except sr.SingularConstraintError as error:
            return None, str(error)
    return model, " ".join(str(one.message) for one in told)


@pytest.mark.parametrize("beside", [1e-2, 1e-6])
def test_batches(beside: float) -> None:
    mech = sr.library.slider_crank()
    far = POSE + 0.3 * ALONG
    q = np.array([far, POSE - beside * ALONG])
    v = np.array([ALONG, ALONG])
    if beside < 1e-3:
        with pytest.raises(sr.SingularConstraintError, match="state 1 of"):
            sr.linearize(mech, q, v, independent=["crank"])
    else:
        models = sr.linearize(mech, q, v, independent=["crank"])
        assert models.A[1, 1, 0] == pytest.approx(stiffness(np.pi / 2 - beside, 1.0), abs=1e-6)


def test_regular_poses_do_not_warn() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for name in ("four_bar", "delta", "pantograph_leg", "dual_arm", "flyball_governor", "loader"):
            sr.linearize(getattr(sr.library, name)())
