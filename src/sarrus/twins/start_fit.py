"""Where generated code starts Newton's method: polynomials of the given coordinates, fitted block by block.

The polynomial decides nothing but where Newton's method begins: what it leaves is removed, and guards say
where it was too far off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from typing import Any

import numpy as np

from ..arrays import Array
from ..errors import InputError
from .loop_map import LoopMap
from .partition import Block

REACH = 0.6  # half a range where joints have no limits [rad], lengths divided by L
DEGREES = (2, 3, 4, 5, 6, 7)
MOST_TERMS = 130  # of a polynomial
CLOSE = 2e-3  # error that is small enough [rad], lengths divided by L
SHARE = 0.9  # of poses in a range at which the loops must close
SHRINK = 0.85
TRIES = 24
SAMPLES = 4  # poses for each term of the largest polynomial


@dataclass(frozen=True)
class StartFit:
    """A polynomial for the coordinates of a block.

    Attributes:
        block: The block.
        exponents: Which of z are multiplied in each term, as indices with repetition.
        coefficients: (terms, columns): charts of what follows.
        middle, half: z = (chart of the given - middle) / half (n,).
        error: Largest error that was seen [rad], lengths divided by L.
    """

    block: Block
    exponents: tuple[tuple[int, ...], ...]
    coefficients: Array
    middle: Array
    half: Array
    error: float


def fits(mech: Any, loops: LoopMap, limits: Array) -> tuple[StartFit, ...]:
    """One fit for each block; limits (nv, 2) of the coordinates, infinite where there are none."""
    return tuple(_fit(mech, loops, block, limits[block.given]) for block in loops.split.blocks)


def _fit(mech: Any, loops: LoopMap, block: Block, limits: Array) -> StartFit:
    own = LoopMap(mech, replace(loops.split, blocks=(block,)), loops.chart.q0)
    lower, upper = _range(mech, loops, block, limits)
    terms = _terms(len(block.given), DEGREES[-1])
    rng, count = np.random.default_rng(0), SAMPLES * max(len(terms), 20)
    for _ in range(TRIES):
        x = _samples(rng, lower, upper, count)
        chart = np.zeros((count, mech.nv))
        chart[:, block.given] = x
        found = own.solve(loops.chart.pose(chart)[:, loops.split.given_q])
        fine = found.status == 0
        if np.mean(fine) >= SHARE:
            break
        lower, upper = SHRINK * lower, SHRINK * upper
    else:
        raise InputError(
            f"export_code: the loops of {mech.name!r} close in a small part of the range of its joints only;"
            " give ranges within which they close, ranges={{name: (lower, upper)}}, or another default pose."
        )
    return _polynomial(block, (lower, upper), x[fine], loops.chart.of(found.q[fine])[:, block.columns], mech)


def _range(mech: Any, loops: LoopMap, block: Block, limits: Array) -> tuple[Array, Array]:
    """Charts of the given coordinates between which the fit is made."""
    unit = np.array(mech.units.unit)[block.given]
    at = np.array([mech.model.coordinate_q[k] for k in block.given])
    here = np.where(at >= 0, loops.chart.q0[at], 0.0)
    ends = np.where(np.isfinite(limits), limits - here[:, None], np.inf)
    wide = REACH * unit
    lower = np.where(np.isfinite(ends[:, 0]), np.minimum(ends[:, 0], -0.05 * wide), -wide)
    upper = np.where(np.isfinite(ends[:, 1]), np.maximum(ends[:, 1], 0.05 * wide), wide)
    return np.maximum(lower, -3.0 * unit), np.minimum(upper, 3.0 * unit)


def _samples(rng: Any, lower: Array, upper: Array, count: int) -> Array:
    """Poses, denser towards the ends of the range."""
    share = 0.5 - 0.5 * np.cos(np.pi * rng.uniform(size=(count, len(lower))))
    return np.asarray(lower + share * (upper - lower))


def _terms(n: int, degree: int) -> tuple[tuple[int, ...], ...]:
    """Products of up to `degree` of n numbers, fewest factors first; MOST_TERMS, or the linear ones."""
    found: tuple[tuple[int, ...], ...] = ()
    for d in range(degree + 1):
        more = tuple(combinations_with_replacement(range(n), d))
        if d > 1 and len(found) + len(more) > MOST_TERMS:
            break
        found += more
    return found


def _polynomial(block: Block, ends: tuple[Array, Array], x: Array, y: Array, mech: Any) -> StartFit:
    lower, upper = ends
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    z, unit = (x - middle) / half, np.array(mech.units.unit)[block.columns]
    n = len(z) * 3 // 4
    for degree in DEGREES:
        terms = _terms(len(block.given), degree)
        A = np.stack([np.prod(z[:, list(term)], axis=1) for term in terms], axis=1)
        coefficients = np.linalg.lstsq(A[:n], y[:n], rcond=None)[0]
        error = float(np.max(np.abs((A @ coefficients - y) / unit), initial=0.0))
        if error < CLOSE or len(_terms(len(block.given), degree + 1)) == len(terms):
            break
    return StartFit(block, terms, coefficients, middle, half, error)


def range_text(loops: LoopMap, fit: StartFit) -> list[str]:
    """Names and ranges of given coordinates, for comments; of balls and Free joints from the reference."""
    names, place = loops.mech.names, loops.mech.model.coordinate_q
    here = [loops.chart.q0[place[k]] if place[k] >= 0 else 0.0 for k in fit.block.given]
    ends = zip(fit.block.given, fit.middle - fit.half + here, fit.middle + fit.half + here, strict=True)
    return [f"{names[k]} {lower:.3g} .. {upper:.3g}" for k, lower, upper in ends]
