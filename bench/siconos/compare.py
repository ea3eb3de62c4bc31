"""Runs of ours beside the published values, coordinate by coordinate."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import sarrus as sr

from . import values
from .four_bar import L0, four_bar
from .machines import CRANK, PLAY, ROD, Start, friction_oscillator, rocking_block, slider_crank, woodpecker

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Comparison:
    """Of one coordinate: the largest difference, the range of the published values, their step [s]."""

    run: str
    coordinate: str
    events: int
    step: float
    size: float
    difference: float


@dataclass(frozen=True)
class Case:
    """A published run: what starts it, at which times, what is compared of q, and the step of its source."""

    title: str
    start: Callable[[], Start]
    step: float  # [s]
    coordinates: tuple[str, ...]
    published: tuple[tuple[float, ...], ...]
    of: Callable[[sr.Mechanism, Array], Array]  # coordinates (n, ...) at poses (n, nq)

    def path(self, t: Array, rtol: float = 1e-8) -> tuple[Array, sr.Trajectory]:
        """Coordinates at times t, and the run."""
        mech, q, v, tau = self.start()
        run = sr.simulate(mech, (0.0, t[-1]), q, v, tau=tau, t_eval=np.append(0.0, t), rtol=rtol)
        assert run.success, run.message
        return self.of(mech, run.q[1:]), run

    def compare(self) -> list[Comparison]:
        """With the published values."""
        table = np.array(self.published)
        found, run = self.path(table[:, 0])
        size, off = np.ptp(table[:, 1:], axis=0), np.abs(found - table[:, 1:]).max(axis=0)
        return [
            Comparison(self.title, name, len(run.events), self.step, float(size[k]), float(off[k]))
            for k, name in enumerate(self.coordinates)
        ]


def _crank_and_slider(mech: sr.Mechanism, q: Array) -> Array:
    angle = np.cumsum(q, axis=1)
    height = CRANK * np.sin(angle[:, 0]) + ROD * np.sin(angle[:, 1])
    return np.stack([angle[:, 0] / (2 * np.pi), height / PLAY], axis=1)


def _by_name(*names: str) -> Callable[[sr.Mechanism, Array], Array]:
    return lambda mech, q: q[:, [mech.names.index(name) for name in names]]


CASES = (
    Case("friction oscillator", friction_oscillator, 1e-2, ("x [m]",), values.OSCILLATOR,
         lambda mech, q: q[:, :1]),
    Case("woodpecker", woodpecker, 2e-5, ("height [m]", "sleeve [rad]", "bird [rad]"), values.WOODPECKER,
         _by_name("sleeve", "tilt", "bird")),
    Case("slider-crank with play", slider_crank, 1e-4, ("turns of the crank", "height in plays"),
         values.SLIDER_CRANK, _crank_and_slider),
    Case("four-bar with three plays", four_bar, 1e-4,
         ("crank [rad]", "rod [rad]", "rocker [rad]",
          "rod x [m]", "rod y [m]", "rocker x [m]", "rocker y [m]"),
         values.FOUR_BAR, lambda mech, q: q[:, [0, 3, 6, 1, 2, 4, 5]] - np.array([0, 0, 0, 0, 0, L0, 0])),
)  # fmt: skip


def rocking() -> list[Comparison]:
    """From each published state after an impact to the next impact: its time, and the state there.

    The law of impacts of that example (by stiffnesses of the corners) is not Newton's, so impacts themselves
    are not compared.
    """
    mech, start, _, _ = rocking_block()
    late, off, events = [], [], 0
    for t0, y, angle, y_rate, rate, t1, *there in values.ROCKING_BLOCK:
        span = 1.2 * (t1 - t0) + 1e-3
        run = sr.simulate(mech, (0.0, span), [start[0], y, angle], [0.0, y_rate, rate], rtol=1e-10)
        hit = next(event for event in run.events if event.kind == "impact")
        late.append(abs(hit.t + t0 - t1))
        off.append(float(np.abs(run.at(hit.t).q[1:] - there).max()))
        events += 1
    title = "rocking block, impact to impact"
    return [
        Comparison(title, "time of impact [s]", events, 1e-2, values.ROCKING_BLOCK[-1][5], max(late)),
        Comparison(title, "height, angle there", events, 1e-2, 1.0, max(off)),
    ]
