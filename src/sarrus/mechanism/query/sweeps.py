"""Paths of poses along coordinates, for one mechanism or for variants of it: what `Mechanism.sweep` does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ...arrays import Array, numbers
from ...errors import InputError
from ...projection.assembly import AboutAssembly, Abouts, each_of
from ...projection.sweep import Sweep, SweptArrays, swept
from ..core.access import arguments_of, default_guess, known_default, queries_of
from .constraint_queries import about_assembly, assemble_each
from .held_coordinates import hold

if TYPE_CHECKING:
    from ..mechanism import Mechanism

MOST_FREE = 32  # coordinates that follow, of paths whose branch is tested
FINE = 2001  # values between two, where the branch is in doubt
OTHER_POSE = 1e-6  # [rad, or L]: poses that differ by more are on different branches


class PosePath(NamedTuple):
    """Poses along coordinates, or a batch of such paths, and what words about them need."""

    names: tuple[str, ...]
    arrays: SweptArrays
    about: Abouts

    @property
    def success(self) -> bool:
        """Whether a single path reached every value."""
        return int(self.arrays.reached) == len(self.arrays.asked)

    @property
    def poses(self) -> Array:
        """Of a single path those that were reached; of a batch all, NaN where they were not."""
        q, reached = self.arrays.q, self.arrays.reached
        if q.ndim == 2:
            return q[: int(reached)]
        return np.where((np.arange(q.shape[-2]) < reached[..., None])[..., None], q, np.nan)

    def result(self) -> Sweep:
        """What users read."""
        return swept(self.names[0] if len(self.names) == 1 else self.names, self.arrays, self.about)


@dataclass(frozen=True)
class Sweeping:
    """What stays the same along paths.

    Attributes:
        mech: whose poses.
        t: time [s].
        fixed: positions that are held.
        copies: variants of the mechanism, one for each path; None: the mechanism itself.
    """

    mech: Mechanism
    t: float
    fixed: Mapping[str, Any]
    copies: tuple[Mechanism, ...] | None = None

    def starts(self, q0: npt.ArrayLike | None) -> Array:
        """Poses to start near: that given, else the default pose, of variants that of each."""
        mech, copies = self.mech, self.copies
        if copies is None:
            return arguments_of(mech).positions(mech.default.q if q0 is None else q0, "q0")
        if q0 is None:
            return _default_poses(mech, copies, self.t)
        start = arguments_of(mech).positions(q0, "q0")
        return np.broadcast_to(start, (len(copies), mech.nq)) if start.ndim == 1 else start

    def along(self, names: tuple[str, ...], targets: Array, start: Array) -> PosePath:
        """Paths through targets (..., n, m) from poses near start (..., nq).

        Single ones of the mechanism itself are tested for jumps between branches.
        """
        path, still = self._followed(names, targets, start)
        single = self.copies is None and path.arrays.q.ndim == 2
        return self._on_one_branch(path, still) if single else path

    def grid(self, targets: Mapping[str, Array], start: Array) -> PosePath:
        """All combinations of values: the last coordinate along rows that start where the others lead."""
        *others, last = targets
        lead = {name: targets[name] for name in others}
        first = replace(self, fixed={**self.fixed, last: float(targets[last][0])})
        if len(lead) > 1:
            way = first.grid(lead, start)
        else:
            way = first.along((others[0],), lead[others[0]][:, None], start)
        led = way.poses
        full = (*led.shape[: -len(others) - 1], *map(len, lead.values()))
        poses = np.full((*full, self.mech.nq), np.nan)
        poses[tuple(map(slice, led.shape[:-1]))] = led  # a single path may have ended early
        reached: Any = np.isfinite(poses).all(axis=-1)
        if not reached.any():
            return way
        starts = np.where(reached[..., None], poses, poses[reached][0])
        mesh = np.meshgrid(*lead.values(), targets[last], indexing="ij")
        found = self.along(tuple(targets), np.stack(mesh, axis=-1), starts)
        arrays = found.arrays._replace(reached=np.where(reached, found.arrays.reached, 0))
        return found._replace(arrays=arrays)

    def _followed(
        self, names: tuple[str, ...], targets: Array, start: Array
    ) -> tuple[PosePath, tuple[int, ...]]:
        """Paths as the kernel follows them, and the coordinates that are swept or held."""
        mech = self.mech
        batch = self._batch(targets, start)
        start = np.array(np.broadcast_to(start, (*batch, mech.nq)))
        targets = np.ascontiguousarray(np.broadcast_to(targets, (*batch, *targets.shape[-2:])))
        scalars = [mech.model.structure.tree.scalar(name, "sweep") for name in names]
        positions, indices = (np.array(x, dtype=np.int32) for x in zip(*scalars, strict=True))
        held = hold(mech, start, self.fixed)
        _refuse_held(names, indices.tolist(), held)
        told = "".join(f", {mech.names[k]} held" for k in held)
        still = (*indices.tolist(), *held)
        which = indices, positions, np.array(held, dtype=np.int32)
        abouts = [about_assembly(one, self.t, still, told) for one in self.copies or (mech,)]
        if self.copies is None:
            about: Abouts = abouts[0]
            parts = _by_kernel(abouts[0], start, targets, which)
        else:
            each = [_by_kernel(*one, which) for one in zip(abouts, start, targets, strict=True)]
            parts = tuple(np.array(part) for part in zip(*each, strict=True))
            about = np.broadcast_to(each_of(abouts).reshape(-1, *(1 for _ in batch[1:])), batch)
        start[..., positions] = targets[..., 0, :]
        q, singular, end, reached, r = parts
        return PosePath(
            names, SweptArrays(targets, q, singular, end, reached, guess=start, r=r), about
        ), still

    def _batch(self, targets: Array, start: Array) -> tuple[int, ...]:
        """Batch axes of values and poses in common."""
        of_values, of_poses = targets.shape[:-2], start.shape[:-1]
        try:
            batch = np.broadcast_shapes(of_values, of_poses)
        except ValueError:
            raise InputError(
                f"batch axes of values {of_values} and of q0 {of_poses} do not go together."
            ) from None
        if self.copies is not None and batch[:1] != (len(self.copies),):
            raise InputError(
                f"with parameters= rows of values and of q0 belong to the {len(self.copies)} variants, got"
                f" batch axes {batch}."
            )
        return batch

    def _on_one_branch(self, way: PosePath, still: Sequence[int]) -> PosePath:
        """The path, or another where it went over to another assembly without a singular pose between them.

        Many short steps then lead through the pose, or past it on the branch where the path was.
        """
        mech, arrays = self.mech, way.arrays
        for i in self._turned(way, still):
            fine = np.linspace(arrays.asked[i], arrays.asked[i + 1], FINE)
            near, _ = self._followed(way.names, fine, arrays.q[i])
            if not near.success:
                continue
            apart = np.abs(mech.difference(arrays.q[i + 1], near.arrays.q[-1]) / mech.units.unit)
            if np.max(apart) > OTHER_POSE:
                rest = self.along(way.names, arrays.asked[i + 1 :], near.arrays.q[-1]).arrays
                spliced = arrays._replace(
                    q=np.concatenate([arrays.q[: i + 1], rest.q]),
                    singular=np.concatenate([arrays.singular[: i + 1], rest.singular]),
                    end=rest.end,
                    reached=i + 1 + rest.reached,
                    r=rest.r,
                )
                return way._replace(arrays=spliced)
        return way

    def _turned(self, way: PosePath, still: Sequence[int]) -> npt.NDArray[np.intp]:
        """Steps of a path between regular poses, after which it may be on another branch.

        With A the columns of J that belong to coordinates which follow, det(A_i^T A_i+1) of neighbours is
        negative only where a singular pose lies between them, or where the path jumped.
        """
        mech, (q, singular), none = self.mech, way.arrays[1:3], np.zeros(0, dtype=np.intp)
        free = np.setdiff1d(np.arange(mech.nv), still)
        if not 0 < len(free) <= min(mech.nc, MOST_FREE) or not way.success or len(q) < 2:
            return none
        A = mech.terms(q, np.zeros((len(q), mech.nv)), self.t).J[..., free] * mech.units.unit[free]
        if np.linalg.matrix_rank(A[0]) < len(free):
            return none
        turned = np.linalg.slogdet(np.swapaxes(A[:-1], 1, 2) @ A[1:])[0] < 0.0
        return np.flatnonzero(turned & ~singular[:-1] & ~singular[1:])


def swept_targets(coordinate: Any, values: Any, grid: bool) -> dict[str, Array]:
    """Where the swept coordinates go, by name: (..., n), in a grid (n,)."""
    wanted = _wanted(coordinate, values)
    given = {}
    for name, x in wanted.items():
        told = "values" if len(wanted) == 1 else f"values of {name!r}"
        given[name] = targets = np.atleast_1d(numbers(x, told))
        if targets.size == 0:
            raise InputError(f"{told} must be a list of at least one number, got shape {targets.shape}.")
        if grid and targets.ndim > 1:
            raise InputError(
                f"values of {name!r} in a grid must be one list (n,), got shape {targets.shape}."
            )
    return given


def moved_together(targets: Mapping[str, Array]) -> Array:
    """Values (..., n, m) of m coordinates that move together."""
    try:
        return np.stack(np.broadcast_arrays(*targets.values()), axis=-1)
    except ValueError:
        sizes = ", ".join(f"{name!r} {x.shape}" for name, x in targets.items())
        raise InputError(
            f"coordinates that are swept together need as many values each, got shapes {sizes};"
            " grid=True takes all combinations."
        ) from None


def _wanted(coordinate: Any, values: Any) -> Mapping[str, Any]:
    """{name: values}, in whichever way the arguments said it."""
    if isinstance(coordinate, str):
        if values is None:
            raise InputError(
                "sweep takes a coordinate and its values, or {coordinate: values} of several; got no values."
            )
        return {coordinate: values}
    if not isinstance(coordinate, Mapping):
        raise InputError(
            f"sweep takes the name of a coordinate, or {{name: values}} of several, got {coordinate!r:.80}."
        )
    if values is not None:
        raise InputError("sweep takes {coordinate: values}, or a coordinate and its values, not both.")
    if not coordinate:
        raise InputError("sweep needs at least one coordinate, got {}.")
    return coordinate


def _refuse_held(names: tuple[str, ...], indices: list[int], held: list[int]) -> None:
    """A swept coordinate cannot be held, nor be swept twice."""
    for name, index in zip(names, indices, strict=True):
        if index in held or indices.count(index) > 1:
            raise InputError(f"fixed: {name!r} is swept and cannot be held; leave it out.")


def _by_kernel(about: AboutAssembly, start: Array, targets: Array, which: Any) -> tuple[Any, ...]:
    """Poses, which are singular, ends, numbers of values reached and rows left, of one mechanism."""
    outside = about.mech.evaluator, about.t
    found: tuple[Any, ...] = queries_of(about.mech).sweep(start, targets, outside, about.which(), which)
    return found


def _default_poses(mech: Mechanism, copies: Sequence[Mechanism], t: float) -> Array:
    """The default pose of each variant; where it is not known, assembled near the pose for it."""
    near = np.array([default_guess(one) for one in copies])
    found = assemble_each(copies, near, about_assembly(mech, t)).q
    known = [known_default(one) for one in copies]
    return np.array([q if state is None else state.q for q, state in zip(found, known, strict=True)])
