"""The mechanisms that all rivals move: where they start, how long they run, what is known of their motion."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt

import sarrus as sr

Array = npt.NDArray[np.float64]

STEP = 1e-3  # [s]: of every run, RK4 on both sides


class UnsupportedError(Exception):
    """A peer has no counterpart for a joint, a constraint or a force."""


def refuse_forces(mech: sr.Mechanism) -> None:
    """The twins carry bodies, joints and loops; a force that they left out would spoil every comparison."""
    if mech.model.forces or np.any(mech.model.damping) or np.any(mech.model.friction):
        raise UnsupportedError(
            f"{mech.name!r} has springs, dampers, friction or wrenches, which the twins lack"
        )


def drawn_four_bar(
    gravity: float, pins: Mapping[str, Mapping[str, Any]] = MappingProxyType({})
) -> sr.MechanismSpec:
    """A four-bar as drawn whose crank, of length "a", turns all the way round; options of pins by name."""
    spec = sr.MechanismSpec(gravity=(0, -gravity, 0), name="four_bar")
    a = spec.parameter("a", 0.1)
    spec.point("A", (0, 0, 0)).point("B", (0, a, 0)).point("C", (0.35, 0.3, 0)).point("D", (0.4, 0, 0))
    spec.link("crank", "A", "B", mass=1.0).link("coupler", "B", "C", mass=1.0).link(
        "rocker", "D", "C", mass=1.0
    )
    ends = {
        "A": ("ground", "crank"),
        "B": ("crank", "coupler"),
        "C": ("coupler", "rocker"),
        "D": ("ground", "rocker"),
    }
    for name, pair in ends.items():
        spec.joint(name, *pair, sr.Revolute("z"), at=name, **pins.get(name, {}))
    return spec


@dataclass(frozen=True)
class Case:
    """One run from the default state of a mechanism.

    Attributes:
        name: What `--only` takes.
        title: One line for the table.
        build: Makes the mechanism.
        span: Length of the run [s].
        solref: MuJoCo's stiffness and damping of the loops, the best for energy of those tried by hand.
        tau: Constant applied force, by index into v [N m, N].
        branch: From q (n, nq), how far a motion has left the smooth branch [rad], (n,); None: it cannot.
        at_most: Largest accepted ratio of time per step to MuJoCo's; None: it is printed only.
    """

    name: str
    title: str
    build: Callable[[], sr.Mechanism]
    span: float
    solref: str
    tau: tuple[tuple[int, float], ...] = ()
    branch: Callable[[Array], Array] | None = None
    at_most: float | None = None

    def force(self, mech: sr.Mechanism) -> Array:
        """Applied generalized force [N m, N], (nv,)."""
        tau = np.zeros(mech.nv)
        for index, value in self.tau:
            tau[index] = value
        return tau


def _isosceles(q: Array) -> Array:
    """The slider-crank's tip moves: crank and rod make equal angles with the rail."""
    deviation: Array = np.abs(np.remainder(2.0 * q[:, 0] + q[:, 1] + math.pi, 2.0 * math.pi) - math.pi)
    return deviation


def _couplers_level(q: Array) -> Array:
    """The N-four-bar's couplers translate: each turns back as much as its upright turns forward."""
    deviation: Array = np.abs(q[:, :-1:2] + q[:, 1::2]).max(axis=1)
    return deviation


def _row(n: int) -> Callable[[], sr.Mechanism]:
    return lambda: sr.library.n_four_bar(n)


CRANK = ((0, 1.0),)  # 1 N m

CASES = (
    Case(
        "five_bar_rest",
        "five-bar, at rest in its singular pose",
        lambda: sr.library.five_bar("singular"),
        5.0,
        "-1e6 -2e3",
    ),
    Case(
        "five_bar_moving",
        "five-bar moving through it",
        lambda: sr.library.five_bar("raised"),
        5.0,
        "-1e6 -1e3",
    ),
    Case("slider_crank", "slider-crank, gravity", sr.library.slider_crank, 5.0, "0.002 1", CRANK, _isosceles),
    Case(
        "slider_crank_free",
        "slider-crank, no gravity",
        lambda: sr.library.slider_crank(gravity=0.0),
        5.0,
        "-1e6 -1e3",
        CRANK,
        _isosceles,
    ),
    Case("n_four_bar_2", "N-four-bar, N = 2", _row(2), 10.0, "-1.5e6 -2.4e3", (), _couplers_level, 1.0),
    Case("n_four_bar_10", "N = 10", _row(10), 10.0, "-1.5e6 -2.4e3", (), _couplers_level),
    Case("n_four_bar_40", "N = 40", _row(40), 10.0, "-1.5e6 -2.4e3", (), _couplers_level, 1.0),
    Case("n_four_bar_100", "N = 100", _row(100), 2.0, "-1.5e6 -2.4e3", (), _couplers_level),
    Case(
        "bricard",
        "Bricard, 0.1 m square section",
        lambda: sr.library.bricard(section=0.1),
        10.0,
        "-1e5 -6e2",
        at_most=1.0,
    ),
    Case("dual_arm", "welded arms", sr.library.dual_arm, 2.0, "-1e6 -1e3", at_most=0.6),
    Case("stewart", "Stewart 6-UPS", sr.library.stewart, 2.0, "0.005 1"),
)
