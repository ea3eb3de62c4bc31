"""Sweep: a path of poses along one coordinate, on one branch, or a batch of such paths.

The kernel predicts along the tangent and closes the constraints (kernels/solve/sweep.hpp). Here are the
result and its words.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .assembly import AboutAssembly, Assembly


class SweptArrays(NamedTuple):
    """One path, or a batch with its axes in front.

    The values asked for (n,), poses (n, nq), which of them are singular (n,), the value at which the path
    ended, how many values were reached, the guess (nq,), what is left of the rows at the first pose (nc,).
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
    """Result of `sweep`: poses along one coordinate. What is read is computed when read.

    Of a batch of B paths every shape has B in front: values and poses that were not reached are NaN,
    `success` and `reached` are arrays (B,), `message` and `undetermined` object arrays (B,), and `path[i]` is
    one of them.

    Attributes:
        coordinate: name of the swept coordinate.
        values: those reached (n,); all that were asked for when `success`.
        q: poses (n, nq).
        singular: whether the pose is (nearly) singular, (n,) bool.
        success: whether every value was reached.
        reached: how many values were reached.
    """

    coordinate: str
    values: Array
    q: Array
    singular: npt.NDArray[np.bool_]
    success: bool | Any
    reached: int | Any
    _found: SweptArrays = field(repr=False)
    _about: AboutAssembly = field(repr=False)

    def __getitem__(self, i: Any) -> Sweep:
        """One path of a batch, or some."""
        return swept(self.coordinate, SweptArrays(*(part[i] for part in self._found)), self._about)

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

    @property
    def _first(self) -> Assembly:
        """The assembly of the first pose."""
        found, about = self._found, self._about
        text = f"{self.coordinate} = {found.asked[0]:g}{about.held_text}"
        about = replace(about, held_text=text)
        return Assembly(found.q[0], np.nan, 0, self.reached > 0, found.guess, _r=found.r, _about=about)

    def _loose(self) -> tuple[str, ...]:
        if self.reached == 0 or (self.reached == 1 and self.singular[0]):
            return ()
        loose: tuple[str, ...] = self._first.undetermined
        return loose

    def _text(self) -> str:
        name, note, found = self.coordinate, self._about.note(self.q), self._found
        if self.reached == 0:
            return f"No start. {self._first._failure()}{note}"
        text = f"Swept '{name}' through {self.reached} values."
        if not self.success:
            text = (
                f"Stopped at '{name}' = {found.end:.6g} on the way to {found.asked[self.reached]:.6g}: the"
                " constraints do not close beyond it on this branch (a dead centre, or a singular pose that"
                " this motion does not pass). The poses before it are kept."
            )
        if self.undetermined:
            text += (
                f" Nothing determines {', '.join(self.undetermined)}: moved as little as possible, which"
                " depends on the path; hold them with fixed=."
            )
        return text + note


def swept(coordinate: str, found: SweptArrays, about: AboutAssembly) -> Sweep:
    """The result of one path, cut where it ended, or of a batch."""
    asked, q, singular, reached = found.asked, found.q, found.singular, found.reached
    if q.ndim == 2:
        n = int(reached)
        return Sweep(
            coordinate, asked[:n], q[:n], singular[:n], n == len(asked), reached=n, _found=found, _about=about
        )
    missing = np.arange(asked.shape[-1]) >= reached[..., None]
    values, q = np.where(missing, np.nan, asked), np.where(missing[..., None], np.nan, q)
    success = reached == asked.shape[-1]
    return Sweep(coordinate, values, q, singular, success, reached=reached, _found=found, _about=about)
