"""Assembly: a pose that closes every loop, near a guess, with chosen coordinates held.

The kernel iterates from the guess; where that stalls without closing (a straight chain that has to bend is
stationary to first order) it starts again from guesses perturbed by fixed patterns of growing size
(kernels/solve/search/assembly.hpp). Here are the result, of one guess or of a batch, and its words.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernel import MOST_ATTEMPTS
from ..arrays import Array
from ..blas_threads import one_blas_thread
from .closing import Indices, close
from .system_kinematics import Kinematics, undetermined

ROUNDED_DATA = 1e-3  # times L: gaps below this look like data with too few digits

Which = tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], Array]


@dataclass(frozen=True)
class AboutAssembly:
    """What words about an assembly need.

    Attributes:
        mech: whose.
        t: when [s].
        held: coordinates that were held, indices into v.
        held_text: the same in words.
        note: what else is to be said about poses (n, nq).
        spins: whether the freedoms left at (q, held, t) displace nothing.
        measured: a measure by its name, of each (mechanism, poses (k, nq)).
    """

    mech: Any
    t: float
    held: tuple[int, ...]
    held_text: str
    note: Callable[[Array], str]
    spins: Callable[[Array, Sequence[int], float], bool]
    measured: Callable[[str, list[tuple[Any, Array]]], list[Array]]

    @property
    def system(self) -> Kinematics:
        """Its constraints."""
        found: Kinematics = self.mech.evaluator
        return found

    def which(self) -> Which:
        """Rows to close, coordinates to move and perturbations of guesses, as the kernel takes them."""
        return rows_and_columns(self.system, self.held)


SPINS = "Free to spin, whatever its position"
Abouts = AboutAssembly | npt.NDArray[np.object_]  # of all of a batch, or of each: variants of a mechanism


def about_first(about: Abouts) -> AboutAssembly:
    """What is said of all of a batch: structure and names."""
    first: Any = about if isinstance(about, AboutAssembly) else about.flat[0]
    return first  # type: ignore[no-any-return]


def about_some(about: Abouts, i: Any) -> Abouts:
    """Of some of a batch."""
    return about if isinstance(about, AboutAssembly) else about[i]


def each_of(about: Sequence[AboutAssembly]) -> npt.NDArray[np.object_]:
    """An array (B,) of them."""
    found = np.empty(len(about), dtype=object)
    found[:] = about
    return found


def rows_and_columns(system: Kinematics, held: tuple[int, ...] = ()) -> Which:
    """Indices of rows that restrict positions, of coordinates that are not held; perturbations of these."""
    rows = np.flatnonzero(system.holonomic).astype(np.int32)
    columns = np.setdiff1d(np.arange(system.nv), np.asarray(held, dtype=int)).astype(np.int32)
    return rows, columns, perturbations(len(columns))


@cache
def perturbations(n: int) -> Array:
    """Fixed patterns in [-1, 1], (attempts, n)."""
    return np.random.default_rng(1853).uniform(-1.0, 1.0, (MOST_ATTEMPTS, n))


@dataclass(frozen=True)
class Assembly:
    """Result of `assemble`, of one guess or of a batch. What is read is computed when read.

    Of a batch (B, nq) every number is an array (B,), texts and names are object arrays (B,), and
    `assembly[i]` is the result of one guess.

    Attributes:
        q: pose (nq,); where assembly failed, the one with the smallest gaps found.
        residual: largest |phi| [m], angles multiplied by the length L.
        iterations: evaluations of the constraints and their Jacobian, all attempts together.
        success: whether every constraint closes.
    """

    q: Array
    residual: float | Any
    iterations: int | Any
    success: bool | Any
    _guess: Array = field(repr=False)
    _r: Array = field(repr=False)  # what is left of the rows, without units
    _about: Any = field(repr=False)  # Abouts

    def __getitem__(self, i: Any) -> Assembly:
        """The result of one guess of a batch, or of some."""
        parts = self.q, self.residual, self.iterations, self.success, self._guess, self._r
        q, residual, iterations, success, guess, r = (np.asarray(part)[i] for part in parts)
        if q.ndim == 1:
            residual, iterations, success = float(residual), int(iterations), bool(success)
        about = about_some(self._about, i)
        return Assembly(q, residual, iterations, success, guess, _r=r, _about=about)

    @cached_property
    def gaps(self) -> dict[str, float | Any]:
        """Largest |phi| [m] of each constraint by its name, angles multiplied by the length L.

        The whole angle counts, so that axes pointing opposite ways are a gap, too.
        """
        system = about_first(self._about).system
        each = self._about if isinstance(self._about, np.ndarray) else np.array(self._about)
        lengths = np.array([about.system.length for about in each.flat]).reshape(*each.shape, 1)
        r = np.where(np.isfinite(self._r), np.abs(self._r), np.inf) * lengths
        rows = np.flatnonzero(system.holonomic)
        found = {
            name: np.max(r[..., inside], axis=-1)
            for name, where in system.constraint_rows.items()
            if np.any(inside := np.isin(rows, np.arange(system.nc)[where]))
        }
        return {name: gap if self.q.ndim > 1 else float(gap) for name, gap in found.items()}

    @cached_property
    def undetermined(self) -> tuple[str, ...] | Any:
        """A coordinate for each freedom that neither constraints nor `fixed` determine.

        They ended somewhere near the guess.
        """
        return self._one_by_one(Assembly._loose)

    @cached_property
    def message(self) -> str | Any:
        """What happened, in words."""
        return self._one_by_one(Assembly._text)

    def _one_by_one(self, what: Callable[[Assembly], Any]) -> Any:
        """what(assembly) of one guess; of a batch an object array."""
        if self.q.ndim == 1:
            return what(self)
        found = np.empty(self.q.shape[:-1], dtype=object)
        for i in np.ndindex(found.shape):
            found[i] = what(self[i])
        return found

    @one_blas_thread
    def _loose(self) -> tuple[str, ...]:
        if not self.success:
            return ()
        about = self._about
        rows = np.flatnonzero(about.system.holonomic)
        J = about.system.constraints(self.q, np.zeros(about.system.nv), about.t)[1][rows]
        return undetermined(about.system, J, rows, about.held)

    @one_blas_thread
    def _text(self) -> str:
        if not self.success:
            return f"{self._failure()}{self._about.note(self.q[None])}"
        text = f"Assembled: largest gap {self.residual:.1e} m after {self.iterations} iterations."
        if self.undetermined:
            about, names = self._about, ", ".join(self.undetermined)
            spins = about.spins(self.q, about.held, about.t)
            text += f" {SPINS if spins else 'Not determined, left near the guess'}: {names}."
        return f"{text}{self._about.note(self.q[None])}"

    def _open(self) -> tuple[list[str], str]:
        """The constraints that stay open, the worst first, and a sentence on them."""
        gaps, tol = self.gaps, 1e-6 * self._about.system.length
        names = sorted((name for name in gaps if gaps[name] > tol), key=lambda name: -gaps[name])
        names = names or [max(gaps, key=lambda name: gaps[name])]
        text = f"Not assembled: '{names[0]}' stays open by {self._describe(names[0])}."
        if len(names) > 1:
            others = [f"'{name}' by {self._describe(name)}" for name in names[1:6]]
            text += f" Also open: {', '.join(others)}."
        return names, text

    def _failure(self) -> str:
        """The worst gap, whether the open loops contradict each other, and what to try."""
        about, system = self._about, self._about.system
        still_open, text = self._open()
        rows: Indices = np.flatnonzero(system.holonomic)
        if about.held_text and self._closes(rows, np.arange(system.nv)):
            return text + (
                f" Held all the while: {about.held_text}. It closes where nothing is held: hold fewer, or"
                " other values."
            )
        worst = still_open[0]
        alone = [name for name in still_open if self._closes_alone(name)]
        if alone == still_open and len(self.gaps) > 1:
            names = ", ".join(f"'{name}'" for name in still_open[:6])
            text += (
                f" Each closes on its own ({names}), but they contradict each other or the other constraints."
            )
        elif worst not in alone:
            text += f" '{worst}' does not close even on its own: check its frames, lengths and offsets."
        if about.held_text:
            text += f" Held all the while: {about.held_text}."
        if self.gaps[worst] < ROUNDED_DATA * system.length:
            return text + (
                " So small a gap comes from rounded data: give frames and axes in full (pi/2, not 1.5708),"
                " or let compile(loop_tolerance=1e-4) displace frames until the loops fit."
            )
        return text + " If it should close, give a guess (q_guess) nearer to the closed pose."

    def _closes(self, rows: Indices, columns: Indices) -> bool:
        """Whether rows close from here or from the guess when these coordinates move."""
        about = self._about
        return any(close(about.system, q, about.t, rows, columns).closed for q in (self.q, self._guess))

    def _closes_alone(self, name: str) -> bool:
        """Whether a constraint closes when all others are left out."""
        about, system = self._about, self._about.system
        rows: Indices = np.arange(system.nc)[system.constraint_rows[name]]
        return self._closes(rows[system.holonomic[rows]], about.which()[1].astype(np.intp))

    def _describe(self, name: str) -> str:
        """The gap of a constraint in metres and degrees; anti-parallel axes said so."""
        system = self._about.system
        rows = np.flatnonzero(system.holonomic)
        r = np.zeros(system.nc)
        r[rows] = np.where(np.isfinite(self._r), self._r, np.inf) * system.row_unit[rows]
        mine = range(system.nc)[system.constraint_rows[name]]
        size = {
            kind: np.linalg.norm([r[i] for i in mine if system.row_kind[i] == kind])
            for kind in ("m", "rad", "")
        }
        said = []
        if size["m"] > 1e-6 * system.length:
            said.append(f"{size['m']:.3g} m")
        if size["rad"] > 1e-6:
            said.append(f"{np.degrees(size['rad']):.3g} degrees")
        if abs(size["rad"] - np.pi) < 1e-3:
            said.append("is flipped (turn one of its frames by 180 degrees)")
        if size[""] > 0.0:
            said.append(f"{size['']:.3g}")
        return " and ".join(said) or f"{size['m'] + size['rad'] * system.length:.1e} m"
