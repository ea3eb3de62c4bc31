"""States of a batch whose numbers are not finite: they stop alone, the others take their step."""

from __future__ import annotations

from typing import Any, TypeGuard

import numpy as np

from ...arrays import Array, BoolArray

Given = tuple[Any, Any, Any, Any]  # q, v, u, tau


def without_unusable(given: Given, usual: tuple[Array, Array]) -> tuple[Given, BoolArray] | None:
    """The arguments of a batch with `usual` (q, v) and no inputs in the place of unusable states, and which.

    None where they are no batch of numbers, or all of them are finite: then something else is wrong.
    """
    try:
        arrays = [None if x is None else np.asarray(x, dtype=float) for x in given]
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in arrays if x is not None and x.ndim))
    except (TypeError, ValueError):
        return None
    widths = [x.shape[-1:] for x in arrays[:2] if x is not None]
    if widths != [x.shape for x in usual]:
        return None
    bad = np.zeros(batch, dtype=bool)
    for x in filter(_is_batch, arrays):
        bad |= ~np.isfinite(x).all(axis=-1)
    if not bad.any():
        return None
    fills: tuple[Any, ...] = (*usual, 0.0, 0.0)
    q, v, u, tau = (
        np.where(_like(bad, x)[..., None], fill, x) if _is_batch(x) else x
        for x, fill in zip(arrays, fills, strict=True)
    )
    return (q, v, u, tau), bad


def _is_batch(x: Array | None) -> TypeGuard[Array]:
    """Whether an argument has a row for each of several states."""
    return x is not None and x.ndim > 1


def _like(bad: BoolArray, x: Array) -> BoolArray:
    """Rows of x that are not finite, or belong to a state that is not usable."""
    return bad if x.shape[:-1] == bad.shape else np.asarray(~np.isfinite(x).all(axis=-1))
