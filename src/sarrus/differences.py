"""Central differences: derivatives at zero of a function of one number, from its values at 0, +-h, +-2h, ...

    f'(0)  = sum_k w_k (f(k h) - f(-k h)) / h            + O(h^order)                                 (1)
    f''(0) = (w_0 f(0) + sum_k w_k (f(k h) + f(-k h))) / h^2 + O(h^order)                             (2)

`slope` and `curvature` add numerators and divide once. `slope_of_terms` divides every weight by h first. The
two round differently; each caller keeps its way, so that results stay the same to the last bit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from .arrays import Array

Value = TypeVar("Value", float, Array)
Term = tuple[int, float]  # k and the weight of f(k h)

# by order: the common divisor, and numerators of w_0, w_1, ...
SLOPE = {4: (12.0, (0.0, 8.0, -1.0)), 6: (60.0, (0.0, 45.0, -9.0, 1.0))}
CURVATURE = {4: (12.0, (-30.0, 16.0, -1.0)), 6: (180.0, (-490.0, 270.0, -27.0, 2.0))}

RESOLVED = 1e-8  # relative change of derivatives under halving, below which they are taken
CORNER = 0.1  # relative change above which a function has a corner, or is too fast for the step
ROUNDING = 1e-14  # of the values of a function, relative
HALVINGS = 10


def slope(f: Callable[[float], Value], h: float) -> Value:
    """f'(0) of order 4, (1)."""
    divisor, (_, *weights) = SLOPE[4]
    total: Any = sum(w * (f(k * h) - f(-k * h)) for k, w in enumerate(weights, start=1))
    return total / (divisor * h)  # type: ignore[no-any-return]


def curvature(f: Callable[[float], Value], h: float, order: int) -> Value:
    """f''(0), (2)."""
    divisor, (middle, *weights) = CURVATURE[order]
    total: Any = sum(w * (f(k * h) + f(-k * h)) for k, w in enumerate(weights, start=1))
    return (total + middle * f(0.0)) / (divisor * h * h)  # type: ignore[no-any-return]


def resolved(f: Callable[[float], float], h: float) -> tuple[float, float]:
    """f'(0), f''(0) of order 4, with h halved until that changes them by 1e-8.

    At a corner halving the step doubles f'': then both are those of the step given, which round it off.
    """
    middle = f(0.0)
    pairs = [(f(k * h), f(-k * h)) for k in (2.0, 1.0)]
    first = coarse = _from_pairs(middle, pairs, h)
    for _ in range(HALVINGS):
        h *= 0.5
        pairs = [pairs[1], (f(h), f(-h))]
        fine = _from_pairs(middle, pairs, h)
        change = abs(fine[0] - coarse[0]) + h * abs(fine[1] - coarse[1])
        size = abs(fine[0]) + h * abs(fine[1])
        if change <= RESOLVED * size + ROUNDING * max(abs(middle), abs(pairs[0][0])) / h:
            return coarse
        if change > CORNER * size:
            break
        coarse = fine
    return first


def _from_pairs(middle: float, pairs: list[tuple[float, float]], h: float) -> tuple[float, float]:
    """f'(0) and f''(0), (1) and (2) of order 4, from f(0) and f(+-2h), f(+-h)."""
    (far, far_back), (near, near_back) = pairs
    first = (8.0 * (near - near_back) - (far - far_back)) / (12.0 * h)
    return first, (16.0 * (near + near_back) - (far + far_back) - 30.0 * middle) / (12.0 * h * h)


def slope_terms(order: int) -> list[Term]:
    """k = 1, -1, 2, -2, ... with the weights of (1)."""
    divisor, (_, *weights) = SLOPE[order]
    return [(sign * k, sign * w / divisor) for k, w in enumerate(weights, start=1) for sign in (1, -1)]


def curvature_terms(order: int) -> list[Term]:
    """k = 0, 1, -1, 2, -2, ... with the weights of (2)."""
    divisor, (middle, *weights) = CURVATURE[order]
    pairs = [(sign * k, w / divisor) for k, w in enumerate(weights, start=1) for sign in (1, -1)]
    return [(0, middle / divisor), *pairs]


def slope_of_terms(f: Callable[[float], Array], h: float, terms: Iterable[Term]) -> Array:
    """f'(0), (1), of weights divided by h."""
    return sum(w / h * f(k * h) for k, w in terms)  # type: ignore[return-value]
