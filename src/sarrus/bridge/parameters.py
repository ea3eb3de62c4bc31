"""Functions of a mechanism with parameters of its description as a further argument."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np

from sarrus.bridge.functions import Arrays, Function, Functions
from sarrus.differences import slope_terms
from sarrus.errors import require_all_known

APART = 2e-3  # of a parameter: values of the differences of order six
MOST_COPIES = 256  # mechanisms with other values that are kept
TERMS = slope_terms(6)


def with_parameters(functions: Functions, names: tuple[str, ...], make: Callable[..., Function]) -> Function:
    """make(functions) with one more argument: values (k,) of the named parameters.

    Each row of a batch may have values of its own. Derivatives by parameters are differences of order six.
    """
    require_all_known("parameter", names, functions.mech.parameters)
    varied = _Varied(functions, names, make)
    return replace(
        varied.plain,
        shapes=(*varied.plain.shapes, (len(names),)),
        value=varied.value,
        pushforward=varied.pushforward,
        pullback=varied.pullback,
        jacobian=None,
    )


class _Varied:
    """The function of copies with other values of parameters."""

    def __init__(self, functions: Functions, names: tuple[str, ...], make: Callable[..., Function]) -> None:
        self.functions, self.names, self.make = functions, names, make
        self.plain, self.made = make(functions), lru_cache(MOST_COPIES)(self._made)

    def _made(self, values: tuple[float, ...]) -> Function:
        changes = dict(zip(self.names, values, strict=True))
        return self.make(Functions(self.functions.mech.with_(**changes), self.functions.contacts))

    def value(self, given: Arrays) -> Arrays:
        found = self._results(len(given[0]))
        for rows, state, values in _groups(given):
            _put(found, rows, self.made(values).value(state))
        return found

    def pushforward(self, given: Arrays, changes: Arrays) -> Arrays:
        found = self._results(len(given[0]))
        for rows, state, values in _groups(given):
            _put(found, rows, self.made(values).pushforward(state, tuple(dx[rows] for dx in changes[:-1])))
            for k in range(len(self.names)):
                for x, slope in zip(found, self._slopes(state, values, k), strict=True):
                    x[rows] += slope * changes[-1][rows, k].reshape(-1, *(1,) * (x.ndim - 1))
        return found

    def pullback(self, given: Arrays, gradients: Arrays) -> Arrays:
        found = tuple(np.zeros_like(x) for x in given)
        for rows, state, values in _groups(given):
            ends = tuple(g[rows] for g in gradients)
            _put(found[:-1], rows, self.made(values).pullback(state, ends))
            for k in range(len(self.names)):
                parts = zip(ends, self._slopes(state, values, k), strict=True)
                found[-1][rows, k] = sum((g * x).reshape(len(rows), -1).sum(axis=1) for g, x in parts)
        return found

    def _slopes(self, state: Arrays, values: tuple[float, ...], k: int) -> Arrays:
        """Derivatives of the results by parameter k."""
        h, total = APART * (abs(values[k]) or 1.0), self._results(len(state[0]))
        for step, weight in TERMS:
            moved = (*values[:k], values[k] + step * h, *values[k + 1 :])
            for part, x in zip(total, self.made(moved).value(state), strict=True):
                part += weight / h * x
        return total

    def _results(self, count: int) -> Arrays:
        return tuple(np.zeros((count, *shape)) for shape in self.plain.outputs)


def _groups(given: Arrays) -> Iterator[tuple[Any, Arrays, tuple[float, ...]]]:
    """Rows that have the same values of parameters, their other arguments, and these values."""
    values, which = np.unique(given[-1], axis=0, return_inverse=True)
    for i, row in enumerate(values):
        rows = np.flatnonzero(which.ravel() == i)
        yield rows, tuple(x[rows] for x in given[:-1]), tuple(row.tolist())


def _put(found: Arrays, rows: Any, parts: Arrays) -> None:
    """Puts results of some rows in."""
    for x, part in zip(found, parts, strict=True):
        x[rows] = part
