"""Decompositions of many Jacobians at once: the parts of `Decomposition` with batch axes in front."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ..arrays import Array, BoolArray, numbers, one_of
from ..errors import InputError
from .decomposition import Decomposition, Kind


@dataclass(frozen=True)
class Decompositions:
    """Tangent and normal parts of vectors for many constraint Jacobians, each in its metric.

    Attributes:
        rank: numbers of independent rows (...,).
        singular_values: of each J in the metric, descending, (..., min(nc, nv)).
        metric: the metric (nv, nv) of all, or of each (..., nv, nv); None for the Euclidean one.
    """

    rank: npt.NDArray[np.int64]
    singular_values: Array
    metric: Array | None
    _V: Array = field(repr=False)  # as in Decomposition, with batch axes
    _R: Array = field(repr=False)

    @classmethod
    def of(cls, parts: Any) -> Decompositions:
        """Of the parts of a `Decomposition` with batch axes."""
        rank = np.asarray(parts.rank, dtype=np.int64)
        return cls(rank, parts.singular_values, parts.metric, _V=parts._V, _R=parts._R)

    @classmethod
    def stacked(cls, each: Sequence[Decomposition], batch: tuple[int, ...]) -> Decompositions:
        """Of single ones in one metric, at least one, in the order of the batch axes."""
        rank = np.array([one.rank for one in each], dtype=np.int64).reshape(batch)
        values, V, R = (
            np.array(parts).reshape(*batch, *parts[0].shape)
            for parts in zip(*((one.singular_values, one._V, one._R) for one in each), strict=True)
        )
        return cls(rank, values, each[0].metric, _V=V, _R=R)

    def __len__(self) -> int:
        return len(self.rank)

    def __getitem__(self, index: Any) -> Decomposition:
        """One of them; give an index for every batch axis."""
        try:
            rank = self.rank[index]
        except (IndexError, TypeError) as error:
            raise InputError(f"decompositions have batch axes {self.rank.shape}: {error}.") from None
        if np.ndim(rank):
            raise InputError(f"give an index for each batch axis of {self.rank.shape}, got {index!r}.")
        metric = self.metric
        if metric is not None and metric.ndim > 2:
            metric = metric[index]
        return Decomposition(int(rank), self.singular_values[index], metric, self._V[index], self._R[index])

    @property
    def dof(self) -> npt.NDArray[np.int64]:
        """nv - rank of each (...,)."""
        return np.asarray(self._V.shape[-1] - self.rank)

    @property
    def N(self) -> Array:
        """Null-space bases (..., nv, k), k the largest dof; columns beyond the dof of one are zero."""
        k = int(np.max(self.dof, initial=0))
        shifted = np.minimum(self.rank[..., None] + np.arange(k), self._V.shape[-1] - 1)
        found = np.take_along_axis(self._V, shifted[..., None, :], axis=-1)
        return np.asarray(found * (np.arange(k) < self.dof[..., None])[..., None, :])

    @property
    def P(self) -> Array:
        """Projectors onto the tangent directions (..., nv, nv)."""
        V = self._V * ~self._is_normal[..., None, :]
        return np.asarray(V @ np.swapaxes(self._dual(V), -1, -2))

    @property
    def pinv(self) -> Array:
        """Pseudoinverses of each J in the metric (..., nv, nc)."""
        k = self._R.shape[-1]
        V = (self._V * self._is_normal[..., None, :])[..., :k]
        return np.asarray(V @ np.swapaxes(self._R * self._is_normal[..., None, :k], -1, -2))

    def tangent(self, x: npt.ArrayLike, kind: Kind = "velocity") -> Array:
        """Parts of x (..., nv) along the tangent directions; `kind` as for `Decomposition.tangent`."""
        return self._split(~self._is_normal, x, kind)

    def normal(self, x: npt.ArrayLike, kind: Kind = "velocity") -> Array:
        """Parts of x (..., nv) across the tangent directions, x = tangent(x) + normal(x)."""
        return self._split(self._is_normal, x, kind)

    def solve(self, b: npt.ArrayLike) -> Array:
        """The smallest x (..., nv) in the metric with J x = b (..., nc), or nearest to it."""
        b = self._rows(b, "b", self._R.shape[-2])
        return np.asarray((self.pinv @ b[..., None])[..., 0])

    @property
    def _is_normal(self) -> BoolArray:
        """Which columns of V are normal (..., nv)."""
        return np.asarray(np.arange(self._V.shape[-1]) < self.rank[..., None])

    def _dual(self, basis: Array) -> Array:
        return basis if self.metric is None else np.asarray(self.metric @ basis)

    def _split(self, kept: BoolArray, x: npt.ArrayLike, kind: Kind) -> Array:
        one_of(kind, "kind", ("velocity", "force"))
        x = self._rows(x, "x", self._V.shape[-1])[..., None]
        V = self._V * kept[..., None, :]
        if kind == "velocity":
            return np.asarray((V @ (np.swapaxes(self._dual(V), -1, -2) @ x))[..., 0])
        return np.asarray((self._dual(V) @ (np.swapaxes(V, -1, -2) @ x))[..., 0])

    def _rows(self, x: npt.ArrayLike, name: str, n: int) -> Array:
        x = numbers(x, name)
        if x.ndim == 0 or x.shape[-1] != n:
            raise InputError(f"`{name}` must have shape (..., {n}), got {x.shape}.")
        return x
