"""Tolerances: how much deviations of parameters change the measures of a mechanism.

First order: with S the derivatives of a measure by the parameters and s their standard deviations,

    deviation^2 = sum_i (S_i s_i)^2                                                                       (1)

Monte Carlo: mechanisms with random parameters, made and moved together (along runs one by one).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, mapping, numbers, one_of, positive_whole
from ..errors import InputError, require_known
from ..mechanism.mechanism import Mechanism
from .evaluation import (
    Evaluation,
    Variables,
    check_evaluation,
    check_mechanism,
    check_names,
    evaluated_slopes,
    why_not,
)
from .measure_slopes import Measures

STEP = 0.5  # of the standard deviation: step of the differences
DISTRIBUTIONS = ("normal", "uniform")


@dataclass(frozen=True)
class Tolerances:
    """The result of `tolerances`; n states, measures of one number (n,) or of several (n, k).

    Attributes:
        parameters: names of the parameters (p).
        deviations: their standard deviations (p,).
        nominal: measures of the given mechanism, {measure: (n,)}.
        sensitivity: their derivatives by the parameters, {measure: (n, ..., p)}.
        deviation: standard deviations of the measures by (1), {measure: (n, ...)}.
        differences: names of measures whose sensitivity is a difference of order six; the others are exact.
        samples: measures of random mechanisms, {measure: (samples, n, ...)}; NaN where there is none.
        values: parameters of these (samples, p).
        failed: how many could not be built.
    """

    parameters: tuple[str, ...]
    deviations: Array
    nominal: Measures
    sensitivity: Measures
    deviation: Measures
    differences: tuple[str, ...]
    samples: Measures
    values: Array
    failed: int
    _mech: Mechanism = field(repr=False)

    def shares(self, measure: str) -> dict[str, Array]:
        """Part of the variance (n, ...) that each parameter causes, by (1); they add up to 1."""
        parts = (known_measure(self.sensitivity, measure) * self.deviations) ** 2
        total = parts.sum(axis=-1)
        shared = parts / np.where(total > 0.0, total, 1.0)[..., None]
        return {name: shared[..., i] for i, name in enumerate(self.parameters)}

    def spread(self, measure: str) -> Array:
        """Standard deviation of the random mechanisms (n, ...)."""
        return np.asarray(np.nanstd(known_measure(self.samples, measure), axis=0))

    def quantiles(self, measure: str, levels: npt.ArrayLike = (0.025, 0.975)) -> Array:
        """Quantiles of the random mechanisms (levels, n, ...)."""
        wanted = numbers(levels, "levels of quantiles")
        if not np.all((wanted >= 0.0) & (wanted <= 1.0)):
            raise InputError(f"levels of quantiles must be between 0 and 1, got {levels!r:.80}.")
        return np.asarray(np.nanquantile(known_measure(self.samples, measure), wanted, axis=0))

    def plot(self, measure: str, ax: Any = None) -> Any:
        """Deviations of a measure (n,) over the states: first order, and random mechanisms; returns Axes."""
        from ..viz.figures.tolerances import draw_tolerances

        return draw_tolerances(self, measure, ax)


def known_measure(values: Measures, measure: str) -> Array:
    """The values of a measure, whose name users gave."""
    require_known("measure", measure, values, "tolerances")
    return values[measure]


def tolerances(
    mech: Mechanism,
    deviations: Mapping[str, float],
    *,
    over: Evaluation,
    samples: int = 200,
    distribution: str = "normal",
    seed: int = 0,
) -> Tolerances:
    """How deviations of parameters change measures, to first order and by random samples; see `Tolerances`.

    Args:
        mech: a mechanism with parameters and measures.
        deviations: standard deviations, {parameter: value}, positive. A tolerance of plus or minus t that
            three standard deviations shall keep is t / 3; evenly distributed within t it is t / sqrt(3).
        over: where measures are taken: `design.Poses`, `design.Sweep` or `design.Run`.
        samples: number of random mechanisms.
        distribution: "normal" or "uniform", with these standard deviations.
        seed: of the random numbers.
    """
    check_mechanism(mech, "tolerances")
    given = mapping(deviations, "deviations", "{parameter: standard deviation}")
    names = check_names(mech, given, "deviations of tolerances")
    sizes = numbers(list(given.values()), "deviations of tolerances", 1)
    if not len(names) or not np.all(sizes > 0.0):
        raise InputError(
            f"deviations of tolerances must be positive numbers by parameter, got {dict(given)!r:.120}."
        )
    over, count = check_evaluation(over, mech, "tolerances"), positive_whole(samples, "samples")
    one_of(distribution, "distribution", DISTRIBUTIONS)
    variables, centre = Variables(names, -sizes, sizes), np.array([mech.parameters[name] for name in names])
    nominal = {name: np.asarray(values) for name, values in over.measures(mech).items()}
    flat = _Flat(nominal, {name for name, one in mech.model.measures if one.continues})
    slopes, differences = _sensitivity(mech, over, variables, flat)
    rng, shape = np.random.default_rng(seed), (count, len(names))
    drawn = rng.normal(size=shape) if distribution == "normal" else rng.uniform(-(3**0.5), 3**0.5, shape)
    values = centre + sizes * drawn
    rows = np.array([flat.row_or_nan(one) for one in variables.together(mech, over, values)])
    return Tolerances(
        parameters=names,
        deviations=sizes,
        nominal=nominal,
        sensitivity=flat.split(slopes.T, last=True),
        deviation=flat.split(np.sqrt(np.sum((slopes * sizes) ** 2, axis=-1))[None], single=True),
        differences=tuple(name for name in nominal if name in differences),
        samples=flat.split(rows),
        values=values,
        failed=int(np.sum(np.isnan(rows).all(axis=1))),
        _mech=mech,
    )


def _sensitivity(
    mech: Mechanism, over: Evaluation, variables: Variables, flat: _Flat
) -> tuple[Array, frozenset[str]]:
    """Derivatives (size, p) of all measures, and the names of those that are differences."""
    sizes, centre = variables.upper, np.array([mech.parameters[name] for name in variables.names])
    near = variables.around(centre, STEP * sizes)
    around = [flat.row(one) for one in variables.together(mech, over, near) if one is not None]
    if len(around) < len(near):
        raise InputError(
            f"tolerances: {len(near) - len(around)} of {len(near)} mechanisms within 1.5 standard deviations"
            " cannot be built or moved; give smaller deviations." + why_not(over, mech, variables, centre)
        )
    exact = evaluated_slopes(over, mech, variables, centre)
    if exact is None:
        return variables.slopes(np.array(around), STEP * sizes), frozenset(dict(mech.model.measures))
    parts = [exact.slopes[name].reshape(-1, len(sizes)) for name in exact.measures]
    return np.concatenate(parts), exact.differences


class _Flat:
    """Measures as one row of numbers, and back."""

    def __init__(self, like: Measures, angles: set[str]) -> None:
        self._like, self._angles = like, angles
        self._shapes = {name: np.shape(values) for name, values in like.items()}
        self.size = sum(int(np.prod(shape)) for shape in self._shapes.values())

    def row(self, measures: Mapping[str, Any]) -> Array:
        """Angles are those within half a turn of the nominal ones."""
        parts = []
        for name, like in self._like.items():
            values = np.asarray(measures[name])
            if values.shape != like.shape:
                raise InputError(
                    f"tolerances: measure {name!r} has {len(values)} values instead of {len(like)} where"
                    " parameters deviate; runs must not end by events."
                )
            turns = np.round((values - like) / (2.0 * np.pi)) if name in self._angles else 0.0
            parts.append(np.ravel(values - 2.0 * np.pi * turns))
        return np.concatenate(parts)

    def row_or_nan(self, measures: Mapping[str, Any] | None) -> Array:
        return np.full(self.size, np.nan) if measures is None else self.row(measures)

    def split(self, rows: Array, last: bool = False, single: bool = False) -> Measures:
        """Measures of rows (m, size): (m, *shape), with the axis m last, or without it."""
        found, begin = {}, 0
        for name, shape in self._shapes.items():
            end = begin + int(np.prod(shape))
            part = rows[:, begin:end].reshape(len(rows), *shape)
            found[name], begin = np.moveaxis(part, 0, -1) if last else part[0] if single else part, end
        return found
