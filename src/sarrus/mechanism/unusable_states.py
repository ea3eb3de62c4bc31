"""States of a batch whose numbers are not finite: they stop alone, the others take their step."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..arrays import Array, BoolArray

Given = tuple[Any, Any, Any, Any]  # q, v, u, tau


def without_unusable(given: Given, usual: tuple[Array, Array]) -> tuple[Given, BoolArray] | None:
    """The arguments of a batch with `usual` (q, v) and no inputs in the place of unusable states, and which.

    None where they are no batch of numbers, or all of them are finite: then something else is wrong.
    """
    try:
        arrays = [None if x is None else np.asarray(x, dtype=float) for x in given]
        known = [x for x in arrays if x is not None and x.ndim]
        batch = np.broadcast_shapes(*(x.shape[:-1] for x in known))
    except (TypeError, ValueError):
        return None
    if any(x is not None and x.shape[-1:] != (len(usual[i]),) for i, x in enumerate(arrays[:2])):
        return None
    bad = np.zeros(batch, dtype=bool)
    for x in known:
        if x.ndim > 1:
            bad |= ~np.isfinite(x).all(axis=-1)
    if not bad.any():
        return None
    fills: tuple[Any, ...] = (*usual, 0.0, 0.0)
    mended = tuple(
        x if x is None or x.ndim == 1 else np.where(_like(bad, x)[..., None], fill, x)
        for x, fill in zip(arrays, fills, strict=True)
    )
    return (mended[0], mended[1], mended[2], mended[3]), bad


def _like(bad: BoolArray, x: Array) -> BoolArray:
    """Rows of x that are not finite, or belong to a state that is not usable."""
    return bad if x.shape[:-1] == bad.shape else np.asarray(~np.isfinite(x).all(axis=-1))
