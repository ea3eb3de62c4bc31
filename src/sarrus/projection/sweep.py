"""Sweep: a path of poses along one coordinate or several, on one branch, or a batch of such paths.

The kernel predicts along the tangent and closes the constraints (kernels/solve/search/sweep.hpp). Here are
the result, its words, and what users read along it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from ..models.tables import data_frames, named_columns, position_names
from .assembly import SPINS, Assembly, about_first, about_some


class SweptArrays(NamedTuple):
    """One path, or a batch with its axes in front.

    The values asked for (n, m) of m swept coordinates, poses (n, nq), which of them are singular (n,), the
    value at which the path ended (of several coordinates the number of values, with a fraction), how many
    values were reached, the guess (nq,), what is left of the rows at the first pose (nc,).
    """

    asked: Array
    q: Array
    singular: npt.NDArray[np.bool_]
    end: Array
    reached: npt.NDArray[np.int_]
    guess: Array
    r: Array


@dataclass(frozen=True)
class Sweep:
    """Result of `sweep`: poses along one coordinate, or several. What is read is computed when read.

    `path["name"]` is a measure of the mechanism along the path. Of a batch of B paths every shape has B in
    front: values and poses that were not reached are NaN, `success` and `reached` are arrays (B,), `message`
    and `undetermined` object arrays (B,), and `path[i]` is one of them.

    Attributes:
        coordinate: name of the swept coordinate, or the names of several (m).
        values: those reached (n,), of several coordinates (n, m); all that were asked for when `success`.
        q: poses (n, nq).
        singular: whether the pose is (nearly) singular, (n,) bool.
        success: whether every value was reached.
        reached: how many values were reached.
    """

    coordinate: str | tuple[str, ...]
    values: Array
    q: Array
    singular: npt.NDArray[np.bool_]
    success: bool | Any
    reached: int | Any
    _found: SweptArrays = field(repr=False)
    _about: Any = field(repr=False)  # Abouts

    def __getitem__(self, i: Any) -> Any:
        """A measure along the path by its name, (n,) or (n, k); or one path of a batch, or some.

        Measured at rest, without inputs. Angles go on beyond pi, by less than half a turn from pose to pose.
        """
        if isinstance(i, str):
            found = self._each_mechanism(lambda parts: about_first(self._about).measured(i, parts))
            return measures_of(self)[i].along_sweep(found)
        parts = SweptArrays(*(part[i] for part in self._found))
        return swept(self.coordinate, parts, about_some(self._about, i))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the swept coordinates."""
        return (self.coordinate,) if isinstance(self.coordinate, str) else self.coordinate

    def curve(self, body: str, point: npt.ArrayLike | str = (0.0, 0.0, 0.0)) -> Array:
        """The path of a point of a body in the world [m], (n, 3): a coupler curve. Batch axes in front.

        Args:
            body: its name.
            point: in its frame [m], (3,), or the name of a point of the drawing.
        """
        return self._each_mechanism(lambda parts: [mech.position(q, body, point) for mech, q in parts])

    def to_dataframe(self) -> Any:
        """A pandas.DataFrame, one row per pose: "q.name" for each position, "singular", and all measures.

        The index holds the values of the swept coordinates; of a batch the numbers of the path come first.
        """
        pandas = data_frames("to_dataframe")
        mech = mechanism_of(self)
        batch = self.q.shape[:-2]
        columns: dict[str, Any] = {
            f"q.{name}": self.q[..., i] for i, name in enumerate(position_names(mech.model))
        }
        columns["singular"] = self.singular
        for name in measures_of(self):
            columns |= named_columns(name, self[name], self.q.ndim - 1)
        values = self.values.reshape(*self.q.shape[:-1], len(self.names))
        index = {"path" if len(batch) == 1 else f"path{k}": place for k, place in enumerate(
            np.indices(self.q.shape[:-1])[: len(batch)])}  # fmt: skip
        index |= {name: values[..., k] for k, name in enumerate(self.names)}
        arrays, names = [np.ravel(x) for x in index.values()], list(index)
        labels = pandas.MultiIndex.from_arrays(arrays, names=names)
        if len(names) == 1:
            labels = pandas.Index(arrays[0], name=names[0])
        return pandas.DataFrame({key: np.ravel(x) for key, x in columns.items()}, index=labels)

    def plot(self, what: str | Sequence[str] | None = None, ax: Any = None) -> Any:
        """Plot positions and measures over the swept coordinate; see `sarrus.viz.figures.sweep.plot`."""
        from ..viz.figures.sweep import plot

        return plot(self, what, ax)

    def plot_curve(self, body: str, point: npt.ArrayLike | str = (0.0, 0.0, 0.0), ax: Any = None) -> Any:
        """Draw the mechanism at the first pose and the path of a point of it; returns the Axes."""
        from ..viz.figures.sweep import plot_curve

        return plot_curve(self, body, point, ax)

    @cached_property
    def undetermined(self) -> tuple[str, ...] | Any:
        """A coordinate for each further freedom that nothing determines.

        They move as little as possible, and where they end depends on the path.
        """
        return self._one_by_one(Sweep._loose)

    @cached_property
    def message(self) -> str | Any:
        """What happened, in words."""
        return self._one_by_one(Sweep._text)

    def _one_by_one(self, what: Callable[[Sweep], Any]) -> Any:
        """what(path) of one path; of a batch an object array."""
        if self.q.ndim == 2:
            return what(self)
        found = np.empty(self.q.shape[:-2], dtype=object)
        for i in np.ndindex(found.shape):
            found[i] = what(self[i])
        return found

    def _each_mechanism(self, of: Callable[[list[tuple[Any, Array]]], list[Array]]) -> Array:
        """of([(mechanism, poses (k, nq))]) in the shape of the poses; NaN where one was not reached."""
        q = self.q.reshape(-1, *self.q.shape[-2:])
        there: Any = np.isfinite(q).all(axis=-1)
        each = self._about.ravel().tolist() if isinstance(self._about, np.ndarray) else [self._about]
        paths = zip(each, np.array_split(q, len(each)), np.array_split(there, len(each)), strict=True)
        found = of([(about.mech, poses[reached]) for about, poses, reached in paths])
        filled = [x for x in found if len(x)] or found[:1]
        out = np.full((*there.shape, *filled[0].shape[1:]), np.nan)
        out[there] = np.concatenate(filled)
        return out.reshape(*self.q.shape[:-1], *out.shape[2:])

    @property
    def _first(self) -> Assembly:
        """The assembly of the first pose."""
        found, about = self._found, self._about
        told = [f"{name} = {value:g}" for name, value in zip(self.names, found.asked[0], strict=True)]
        about = replace(about, held_text=", ".join(told) + about.held_text)
        return Assembly(found.q[0], np.nan, 0, self.reached > 0, found.guess, _r=found.r, _about=about)

    def _loose(self) -> tuple[str, ...]:
        if self.reached == 0 or (self.reached == 1 and self.singular[0]):
            return ()
        loose: tuple[str, ...] = self._first.undetermined
        return loose

    def _text(self) -> str:
        note, shown = self._about.note(self.q), ", ".join(f"'{name}'" for name in self.names)
        if self.reached == 0:
            return f"No start. {self._first._failure()}{note}"
        text = f"Swept {shown} through {self.reached} values."
        if not self.success:
            text = (
                f"Stopped at {self._end()}: the constraints do not close beyond it on this branch (a dead"
                " centre, or a singular pose that this motion does not pass). The poses before it are kept."
            )
        about, names = self._about, ", ".join(self.undetermined)
        if names and about.spins(self.q[0], about.held, about.t):
            text += f" {SPINS}: {names}."
        elif names:
            text += (
                f" Nothing determines {names}: moved as little as possible, which depends on the path; hold"
                " them with fixed=."
            )
        return f"{text}{note}"

    def _end(self) -> str:
        """Where the path ended, and on the way to what."""
        last, following = self._found.asked[self.reached - 1], self._found.asked[self.reached]
        share = float(self._found.end) - (self.reached - 1)
        here = [float(self._found.end)] if len(self.names) == 1 else last + share * (following - last)
        both = zip(self.names, here, following, strict=True)
        return ", ".join(f"'{name}' = {x:.6g} on the way to {goal:.6g}" for name, x, goal in both)


def mechanism_of(sweep: Sweep) -> Any:
    """The mechanism of a path; of a batch of variants the first one."""
    return about_first(sweep._about).mech


def measures_of(sweep: Sweep) -> dict[str, Any]:
    """Its measures by name."""
    return dict(mechanism_of(sweep).model.measures)


def swept(coordinate: str | tuple[str, ...], found: SweptArrays, about: Any) -> Sweep:
    """The result of one path, cut where it ended, or of a batch."""
    asked = found.asked[..., 0] if isinstance(coordinate, str) else found.asked
    q, singular, reached = found.q, found.singular, found.reached
    parts: dict[str, Any] = {"_found": found, "_about": about}
    if q.ndim == 2:
        n = int(reached)
        success = n == len(asked)
        return Sweep(coordinate, asked[:n], q[:n], singular[:n], success, reached=n, **parts)
    missing = np.arange(q.shape[-2]) >= reached[..., None]
    values = np.where(missing if isinstance(coordinate, str) else missing[..., None], np.nan, asked)
    success = reached == q.shape[-2]
    poses = np.where(missing[..., None], np.nan, q)
    return Sweep(coordinate, values, poses, singular, success, reached=reached, **parts)
