"""Assembly: a pose that closes every loop, near a guess, with chosen coordinates held.

The iteration starts at the guess. Where it stalls without closing (a straight chain that has to bend is
stationary to first order) it starts again from guesses perturbed by fixed patterns of growing size: the
smallest perturbation that closes stays on the branch nearest to the guess.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..arrays import Array
from .closing import Closing, Indices, close
from .system_kinematics import Kinematics, undetermined

PERTURBATIONS = (1e-3, 0.1, 0.3, 0.6, 1.0, 1.5)  # [rad], or times L [m]
PATTERNS = 4  # of each size
ROUNDED_DATA = 1e-3  # times L: gaps below this look like data with too few digits


@dataclass(frozen=True)
class Assembly:
    """Result of `assemble`.

    Attributes:
        q: pose (nq,); where assembly failed, the one with the smallest gaps found.
        residual: largest |phi| [m], angles multiplied by the length L.
        iterations: evaluations of the constraints and their Jacobian, all attempts together.
        success: whether every constraint closes.
        message: what happened, in words.
        gaps: largest |phi| [m] of each constraint by its name, angles multiplied by the length L; the whole
            angle counts, so that axes pointing opposite ways are a gap, too.
        undetermined: a coordinate for each freedom that neither constraints nor `fixed` determine: they ended
            somewhere near the guess.
    """

    q: Array
    residual: float
    iterations: int
    success: bool
    message: str
    gaps: Mapping[str, float]
    undetermined: tuple[str, ...] = ()


def assemble(
    system: Kinematics, q_guess: Array, t: float = 0.0, held: npt.ArrayLike = (), held_text: str = ""
) -> Assembly:
    """Close all constraints near q_guess.

    Args:
        system: what to assemble.
        q_guess: where to start (nq,), held coordinates at their values, quaternions of unit length.
        t: time of the drives [s].
        held: indices of the velocity coordinates that must not move.
        held_text: how to name the held coordinates in the message.
    """
    rows = np.flatnonzero(system.holonomic)
    columns = np.setdiff1d(np.arange(system.nv), np.asarray(held, dtype=int))
    best, iterations = _attempts(system, q_guess, t, rows, columns)
    gaps = _gaps(system, rows, best.r)
    residual = max(gaps.values(), default=0.0)
    loose: tuple[str, ...] = ()
    if best.closed:
        J = system.constraints(best.q, np.zeros(system.nv), t)[1][rows]
        loose = undetermined(system, J, rows, np.asarray(held, dtype=int).tolist())
        message = f"Assembled: largest gap {residual:.1e} m after {iterations} iterations."
        if loose:
            message += f" Not determined, left near the guess: {', '.join(loose)}."
    else:

        def closes(some: Indices, free: Indices) -> bool:
            return any(close(system, q, t, some, free).closed for q in (best.q, q_guess))

        def closes_alone(name: str) -> bool:
            """Whether a constraint closes when all others are left out."""
            alone = np.arange(system.nc)[system.constraint_rows[name]]
            return closes(alone[system.holonomic[alone]], columns)

        if held_text and closes(rows, np.arange(system.nv)):
            message = _open(system, best, gaps)[1] + (
                f" Held all the while: {held_text}. It closes where nothing is held: hold fewer, or other"
                " values."
            )
        else:
            message = _failure(system, best, gaps, closes_alone, held_text)
    return Assembly(
        q=best.q,
        residual=residual,
        iterations=iterations,
        success=best.closed,
        message=message,
        gaps=gaps,
        undetermined=loose,
    )


def _attempts(system: Kinematics, q: Array, t: float, rows: Indices, columns: Indices) -> tuple[Closing, int]:
    """From the guess, then from perturbed ones until some of one size close: the result nearest to it."""
    best = close(system, q, t, rows, columns)
    iterations = best.iterations
    pattern = np.random.default_rng(1853)
    for size in PERTURBATIONS:
        if best.closed or len(columns) == 0:
            break
        found = []
        for _ in range(PATTERNS):
            dv = np.zeros(system.nv)
            dv[columns] = size * system.unit[columns] * pattern.uniform(-1.0, 1.0, len(columns))
            found.append(close(system, system.integrate(q, dv), t, rows, columns))
        iterations += sum(end.iterations for end in found)
        best = min([best, *found], key=lambda end: _merit(system, q, end))
    return best, iterations


def _merit(system: Kinematics, guess: Array, end: Closing) -> tuple[float, float]:
    """Closed results first, by distance from the guess; then open ones, by their gap."""
    if end.closed:
        return 0.0, float(np.linalg.norm(system.difference(guess, end.q) / system.unit))
    return 1.0, float(np.linalg.norm(end.r))


def _gaps(system: Kinematics, rows: Indices, r: Array) -> dict[str, float]:
    """Largest |r| L of every constraint that has rows among `rows`."""
    whole = np.zeros(system.nc)
    whole[rows] = np.abs(r) * system.length
    kept = np.isin(np.arange(system.nc), rows)
    return {
        name: float(np.max(whole[where], initial=0.0))
        for name, where in system.constraint_rows.items()
        if np.any(kept[where])
    }


def _open(system: Kinematics, best: Closing, gaps: Mapping[str, float]) -> tuple[list[str], str]:
    """The constraints that stay open, the worst first, and a sentence on them."""
    tol = 1e-6 * system.length
    names = sorted((name for name in gaps if gaps[name] > tol), key=lambda name: -gaps[name])
    names = names or [max(gaps, key=lambda name: gaps[name])]
    text = f"Not assembled: '{names[0]}' stays open by {_describe(system, names[0], best)}."
    if len(names) > 1:
        others = [f"'{name}' by {_describe(system, name, best)}" for name in names[1:6]]
        text += f" Also open: {', '.join(others)}."
    return names, text


def _failure(
    system: Kinematics,
    best: Closing,
    gaps: Mapping[str, float],
    closes_alone: Callable[[str], bool],
    held_text: str,
) -> str:
    """The worst gap, whether the open loops contradict each other, and what to try."""
    still_open, text = _open(system, best, gaps)
    worst = still_open[0]
    alone = [name for name in still_open if closes_alone(name)]
    if alone == still_open and len(gaps) > 1:
        names = ", ".join(f"'{name}'" for name in still_open[:6])
        text += f" Each closes on its own ({names}), but they contradict each other or the other constraints."
    elif worst not in alone:
        text += f" '{worst}' does not close even on its own: check its frames, lengths and offsets."
    if held_text:
        text += f" Held all the while: {held_text}."
    if gaps[worst] < ROUNDED_DATA * system.length:
        return (
            text + " So small a gap comes from rounded data: give frames and axes in full (pi/2, not 1.5708),"
            " or let compile(loop_tolerance=1e-4) displace frames until the loops fit."
        )
    return text + " If it should close, give a guess (q_guess) nearer to the closed pose."


def _describe(system: Kinematics, name: str, best: Closing) -> str:
    """The gap of a constraint in metres and degrees; anti-parallel axes said so."""
    rows = np.flatnonzero(system.holonomic)
    r = np.zeros(system.nc)
    r[rows] = best.r * system.row_unit[rows]
    mine = range(system.nc)[system.constraint_rows[name]]
    size = {
        kind: np.linalg.norm([r[i] for i in mine if system.row_kind[i] == kind]) for kind in ("m", "rad", "")
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
