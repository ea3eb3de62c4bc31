"""Queries of Mechanism along paths: sweeps over coordinates, for one mechanism or for variants of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from ..arrays import Array, mapping, numbers, truth
from ..errors import InputError
from ..projection.assembly import AboutAssembly, each_of
from ..projection.sweep import Sweep, SweptArrays, swept
from .constraint_queries import ConstraintQueries, assemble_each

MOST_FREE = 32  # coordinates that follow, of paths whose branch is tested
FINE = 2001  # values between two, where the branch is in doubt
OTHER_POSE = 1e-6  # [rad, or L]: poses that differ by more are on different branches


class SweepQueries(ConstraintQueries):
    """Sweeps."""

    def sweep(
        self,
        coordinate: str | Mapping[str, npt.ArrayLike],
        values: npt.ArrayLike | None = None,
        q0: npt.ArrayLike | None = None,
        t: float = 0.0,
        fixed: Mapping[str, Any] | None = None,
        grid: bool = False,
        parameters: Mapping[str, Any] | None = None,
    ) -> Sweep:
        """Follow the mechanism along one coordinate or several, on one branch; see `Sweep`.

        Batch axes allowed: a path for each row of values (..., n), for each pose of q0 (..., nq), or both.

        Args:
            coordinate: name of an angle or a displacement; or {name: values} of several that move together,
                each linearly from one of its values to the next.
            values: where to go, in order (n,) [rad, m]; the first is assembled near q0.
            q0: pose to start near (nq,); default `default.q`.
            t: time of the drives [s].
            fixed: further positions to hold all along, as for `assemble`; freedoms that nothing determines
                move as little as possible, and `undetermined` names them.
            grid: with {name: values} (n1,), (n2,), ...: all combinations, poses (n1, n2, ..., nq). The first
                coordinates move with the others at their first values; then the last one, along each row.
            parameters: keywords of `with_`, each with a leading axis B: sweeps these variants, each from
                its default pose. Poses are (B, n, nq), of a grid (B, n1, n2, ..., nq); rows of values and of
                q0 go to the variants.

        Example:

            >>> import numpy as np
            >>> import sarrus as sr
            >>> turn = sr.library.four_bar().sweep("crank", np.linspace(1.0, 1.0 + 2 * np.pi, 25))
            >>> turn.success, turn.q.shape
            (True, (25, 3))
        """
        names, targets = _targets(coordinate, values, truth(grid, "grid"))
        for name in names:
            self.model.structure.tree.scalar(name, "sweep")
        if not np.all(self.model.holonomic):
            raise InputError(
                f"sweep follows positions, but {self._owner} has rows that restrict velocities only"
                " (rolling): where it ends depends on the path; simulate it instead."
            )
        copies = None if parameters is None else self.variants(parameters)
        kept = mapping(fixed, "fixed", "{coordinate: value}")
        start = self._starts(copies, q0, self._time(t))
        if grid and len(names) > 1:
            return self._grid(targets, start, self._time(t), kept, copies)
        one_name = names[0] if isinstance(coordinate, str) or len(names) == 1 else names
        return self._along(one_name, targets, start, self._time(t), kept, copies)

    def _along(
        self,
        coordinate: str | tuple[str, ...],
        targets: Array,
        start: Array,
        t: float,
        kept: dict[str, Any],
        copies: tuple[Self, ...] | None,
        *,
        tested: bool = True,
    ) -> Sweep:
        """Paths through targets (..., n, m) from poses near start (..., nq), of it or of copies.

        Single ones are `tested` for jumps between branches.
        """
        names = (coordinate,) if isinstance(coordinate, str) else coordinate
        scalars = [self.model.structure.tree.scalar(name, "sweep") for name in names]
        batch = _common_axes(targets.shape[:-2], start.shape[:-1])
        if copies is not None and batch[:1] != (len(copies),):
            raise InputError(
                f"with parameters= rows of values and of q0 belong to the {len(copies)} variants, got batch"
                f" axes {batch}."
            )
        start = np.array(np.broadcast_to(start, (*batch, self.nq)))
        targets = np.ascontiguousarray(np.broadcast_to(targets, (*batch, *targets.shape[-2:])))
        positions, indices = (np.array(x, dtype=np.int32) for x in zip(*scalars, strict=True))
        held = [k for name, value in kept.items() for k in self._hold(start, name, value)]
        for name, index in zip(names, indices, strict=True):
            if index in held or list(indices).count(index) > 1:
                raise InputError(f"fixed: {name!r} is swept and cannot be held; leave it out.")
        told = "".join(f", {self.names[k]} held" for k in held)
        path = indices, positions, np.array(held, dtype=np.int32)
        still = (*indices.tolist(), *held)
        abouts = [AboutAssembly(one, t, still, told, one._beyond) for one in copies or (self,)]
        parts = _followed(abouts if copies else abouts[0], start, targets, path)
        start[..., positions] = targets[..., 0, :]
        q, singular, end, reached, r = parts
        found = SweptArrays(targets, q, singular, end, reached, guess=start, r=r)
        if not copies:
            way = swept(coordinate, found, abouts[0])
            return self._on_one_branch(way, still, t, kept) if tested and not batch else way
        each = each_of(abouts).reshape(-1, *(1 for _ in batch[1:]))
        return swept(coordinate, found, np.broadcast_to(each, batch))

    def _on_one_branch(self, way: Sweep, still: Sequence[int], t: float, kept: dict[str, Any]) -> Sweep:
        """The path, or another where it went over to another assembly without a singular pose between them.

        With A the columns of J that belong to coordinates which follow, det(A_i^T A_i+1) of neighbours is
        negative only where a singular pose lies between them, or where the path jumped. Many short steps
        then lead through the pose, or past it on the branch where the path was.
        """
        free = np.setdiff1d(np.arange(self.nv), still)
        if not 0 < len(free) <= min(self.nc, MOST_FREE) or not way.success or len(way.q) < 2:
            return way
        A = self.terms(way.q, np.zeros((len(way.q), self.nv)), t).J[..., free] * self.units.unit[free]
        if np.linalg.matrix_rank(A[0]) < len(free):
            return way
        turned = np.linalg.slogdet(np.swapaxes(A[:-1], 1, 2) @ A[1:])[0] < 0.0
        regular = ~way.singular[:-1] & ~way.singular[1:]
        for i in np.flatnonzero(turned & regular):
            fine = np.linspace(way._found.asked[i], way._found.asked[i + 1], FINE)
            near = self._along(way.coordinate, fine, way.q[i], t, kept, None, tested=False)
            apart = np.abs(self.difference(way.q[i + 1], near.q[-1]) / self.units.unit)
            if near.success and np.max(apart) > OTHER_POSE:
                rest = self._along(way.coordinate, way._found.asked[i + 1 :], near.q[-1], t, kept, None)
                parts = way._found
                spliced = parts._replace(
                    q=np.concatenate([parts.q[: i + 1], rest._found.q]),
                    singular=np.concatenate([parts.singular[: i + 1], rest._found.singular]),
                    end=rest._found.end,
                    reached=i + 1 + rest._found.reached,
                    r=rest._found.r,
                )
                return swept(way.coordinate, spliced, way._about)
        return way

    def _starts(self, copies: tuple[Self, ...] | None, q0: npt.ArrayLike | None, t: float) -> Array:
        """Poses to start near: that given, else the default pose, of variants that of each."""
        if copies is None:
            return self._positions(self.default.q if q0 is None else q0, "q0")
        if q0 is not None:
            start = self._positions(q0, "q0")
            return np.broadcast_to(start, (len(copies), self.nq)) if start.ndim == 1 else start
        near = [one.neutral() if one._near is None else one._near for one in copies]
        known = [None if one._default is None else one._default.q for one in copies]
        found = assemble_each(copies, np.array(near), AboutAssembly(self, t, (), "", self._beyond)).q
        return np.array([q if at is None else at for q, at in zip(found, known, strict=True)])

    def _grid(
        self,
        targets: dict[str, Array],
        start: Array,
        t: float,
        kept: dict[str, Any],
        copies: tuple[Self, ...] | None,
    ) -> Sweep:
        """All combinations of values: the last coordinate along rows that start where the others lead."""
        *others, last = targets
        lead = {name: targets[name] for name in others}
        held = kept | {last: float(targets[last][0])}
        if len(lead) > 1:
            way = self._grid(lead, start, t, held, copies)
        else:
            way = self._along(others[0], lead[others[0]][:, None], start, t, held, copies)
        full = (*way.q.shape[: -len(others) - 1], *map(len, lead.values()))
        poses = np.full((*full, self.nq), np.nan)
        poses[tuple(map(slice, way.q.shape[:-1]))] = way.q  # a single path may have ended early
        reached: Any = np.isfinite(poses).all(axis=-1)
        if not reached.any():
            return way
        starts = np.where(reached[..., None], poses, poses[reached][0])
        mesh = np.meshgrid(*lead.values(), targets[last], indexing="ij")
        found = self._along(tuple(targets), np.stack(mesh, axis=-1), starts, t, kept, copies)
        parts = found._found._replace(reached=np.where(reached, found._found.reached, 0))
        return swept(found.coordinate, parts, found._about)


Paths = tuple[Any, ...]


def _followed(about: Any, start: Array, targets: Array, path: Paths) -> Paths:
    """Poses, which are singular, ends, numbers of values reached and rows left, of one mechanism or each."""
    if isinstance(about, AboutAssembly):
        outside = about.mech.evaluator, about.t
        found: Paths = about.mech._queries.sweep(start, targets, outside, about.which(), path)
        return found
    which = about[0].which()
    each = [
        one.mech._queries.sweep(q, goal, (one.mech.evaluator, one.t), which, path)
        for one, q, goal in zip(about, start, targets, strict=True)
    ]
    return tuple(np.array(part) for part in zip(*each, strict=True))


def _targets(coordinate: Any, values: Any, grid: bool) -> tuple[Any, Any]:
    """Names of the swept coordinates and where they go, (..., n, m); of a grid {name: (n,)}."""
    if not isinstance(coordinate, (str, Mapping)):
        raise InputError(
            f"sweep takes the name of a coordinate, or {{name: values}} of several, got {coordinate!r:.80}."
        )
    if isinstance(coordinate, str):
        if values is None:
            raise InputError(
                "sweep takes a coordinate and its values, or {coordinate: values} of several; got no values."
            )
        coordinate = {coordinate: values}
    elif values is not None:
        raise InputError("sweep takes {coordinate: values}, or a coordinate and its values, not both.")
    elif not coordinate:
        raise InputError("sweep needs at least one coordinate, got {}.")
    told = {name: "values" if len(coordinate) == 1 else f"values of {name!r}" for name in coordinate}
    given = {name: np.atleast_1d(numbers(x, told[name])) for name, x in coordinate.items()}
    for name, x in given.items():
        if x.size == 0:
            raise InputError(f"{told[name]} must be a list of at least one number, got shape {x.shape}.")
        if grid and x.ndim > 1:
            raise InputError(f"values of {name!r} in a grid must be one list (n,), got shape {x.shape}.")
    names = tuple(given)
    if grid and len(names) > 1:
        return names, given
    try:
        together = np.broadcast_arrays(*given.values())
    except ValueError:
        sizes = ", ".join(f"{name!r} {x.shape}" for name, x in given.items())
        raise InputError(
            f"coordinates that are swept together need as many values each, got shapes {sizes};"
            " grid=True takes all combinations."
        ) from None
    return names, np.stack(together, axis=-1)


def _common_axes(a: Sequence[int], b: Sequence[int]) -> tuple[int, ...]:
    """Batch axes of values and poses in common."""
    try:
        return np.broadcast_shapes(tuple(a), tuple(b))
    except ValueError:
        raise InputError(f"batch axes of values {a} and of q0 {b} do not go together.") from None
