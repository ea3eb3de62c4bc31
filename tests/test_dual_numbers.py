"""Dual numbers: derivatives of functions in Python and NumPy, and what happens where these know none."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sarrus.dual_numbers import Dual, jacobian

X = np.array([0.3, -0.7, 0.9])

FUNCTIONS: dict[str, tuple[Any, npt.NDArray[np.float64]]] = {
    "sum": (lambda x: [x[0] + 2 - x[1] - (1 - x[2])], np.array([[1.0, -1.0, 1.0]])),
    "product": (lambda x: [3 * x[0] * x[1] / x[2]], np.array([[-7 / 3, 1.0, 7 / 9]])),
    "quotient": (lambda x: [2 / x[0]], np.array([[-2 / 0.09, 0.0, 0.0]])),
    "powers": (lambda x: [x[0] ** 3, x[2] ** x[0], 2 ** x[0]], np.array([
        [0.27, 0.0, 0.0], [math.log(0.9) * 0.9**0.3, 0.0, 0.3 * 0.9**-0.7], [math.log(2) * 2**0.3, 0.0, 0.0],
    ])),
    "norm": (lambda x: [np.linalg.norm(x)], (X / np.linalg.norm(X))[None]),
    "absolute": (lambda x: np.abs(x) * x, np.diag(2 * np.abs(X))),
    "branch": (lambda x: [x[1] if x[0] > 0 else 0.0, np.maximum(x, 0.5)[2]], np.eye(3)[1:]),
    "angle": (lambda x: [np.arctan2(x[0], x[2]), np.hypot(x[0], x[2])], np.array([
        [0.9 / 0.9, 0.0, -0.3 / 0.9], [0.3 / math.hypot(0.3, 0.9), 0.0, 0.9 / math.hypot(0.3, 0.9)],
    ])),
    "matrix": (lambda x: np.array([[1.0, 2, 0], [0, 1, 3]]) @ x, np.array([[1.0, 2, 0], [0, 1, 3]])),
    "constant": (lambda x: [4.0, x[1]], np.array([[0.0, 0, 0], [0, 1, 0]])),
}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONS)
def test_derivatives(name: str) -> None:
    function, expected = FUNCTIONS[name]
    found, exact = jacobian(function, X)
    assert exact
    np.testing.assert_allclose(found, expected, atol=1e-14)


@pytest.mark.parametrize(
    "name",
    [
        "sin",
        "cos",
        "tan",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "exp",
        "log",
        "sqrt",
        "square",
    ],
)
def test_functions_of_numpy(name: str) -> None:
    function, x = getattr(np, name), 0.37
    found, exact = jacobian(lambda z: function(z), np.array([x]))
    step = 1e-3
    near, far = ((function(x + k * step) - function(x - k * step)) / (2 * k * step) for k in (1, 2))
    assert exact and found[0, 0] == pytest.approx((4 * near - far) / 3, rel=1e-10)


@pytest.mark.parametrize(
    "function",
    [
        lambda x: [math.sin(x[0]) * x[1]],
        lambda x: [float(x[0]) * float(x[1])],
        lambda x: np.asarray(x, dtype=float) ** 2,
    ],
)
def test_code_without_dual_numbers_is_differentiated_numerically(function: Any) -> None:
    found, exact = jacobian(function, X)
    assert not exact
    step = 1e-5
    for k, unit in enumerate(np.eye(3)):
        slope = (np.asarray(function(X + step * unit)) - np.asarray(function(X - step * unit))) / (2 * step)
        np.testing.assert_allclose(found[:, k], slope, atol=1e-9)


def test_what_is_no_number_is_refused() -> None:
    x = Dual(1.0, np.ones(1))
    for act in (
        lambda: x + "a",
        lambda: x < "a",
        lambda: np.hypot(np.array([x]), np.array(["a"], dtype=object)),
    ):
        with pytest.raises(TypeError):
            act()
    assert repr(x).startswith("Dual(1.0") and bool(x) and x == 1.0 and x != 2.0 and +x is x
