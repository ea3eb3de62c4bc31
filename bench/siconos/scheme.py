"""Three of the machines written by hand for the scheme of Moreau and Jean, and the error of its steps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..twins.moreau_jean import PlaneContacts, moreau_jean
from .compare import CASES
from .machines import (
    BEFORE_BEAK,
    CRANK,
    CRANK_INERTIAS,
    CRANK_MASSES,
    H_M,
    H_S,
    HALF_HEIGHT,
    HALF_LENGTH,
    J_BIRD,
    J_SLEEVE,
    L_G,
    L_M,
    L_S,
    M_BIRD,
    M_SLEEVE,
    PLAY,
    R_M,
    R_O,
    ROD,
    TWIST,
    G,
)  # fmt: skip

Array = NDArray[np.float64]


def oscillator() -> PlaneContacts:
    """x along the table, and the height."""
    return PlaneContacts(
        lambda q: np.eye(2),
        lambda q, v: np.array([-q[0], -1.0]),
        lambda q: q[1:] - 1e-30,
        lambda q: np.array([[[0.0, 1.0], [1.0, 0.0]]]),
        np.ones(1), np.zeros(1),
    )  # fmt: skip


def woodpecker() -> PlaneContacts:
    """Height, angle of the sleeve, angle of the bird."""
    height = np.array([1.0, L_M, L_G])
    M = M_BIRD * np.outer(height, height) + np.diag([M_SLEEVE, J_SLEEVE, J_BIRD])
    twist = np.array([0.0, -1.0, 1.0])
    weight = -G * (M_BIRD * height + M_SLEEVE * np.array([1.0, 0, 0]))
    W = np.array([
        [[0, 0, -H_S], [1, L_M, L_G - L_S]], [[0, H_M, 0], [1, R_M, 0]], [[0, -H_M, 0], [1, R_M, 0]],
    ])  # fmt: skip
    gap = np.array([L_M + L_G - L_S - R_O, R_M - R_O, R_M - R_O])
    return PlaneContacts(
        lambda q: M,
        lambda q, v: weight - TWIST * (twist @ q) * twist,
        lambda q: W[:, 0] @ q + gap,
        lambda q: W,
        np.full(3, 0.3), np.array([0.5, 0.0, 0.0]),
    )  # fmt: skip


def slider_crank() -> PlaneContacts:
    """Angles of crank, rod and slider from the line of the guide."""
    (m1, m2, m3), (j1, j2, j3) = CRANK_MASSES, CRANK_INERTIAS
    both = (m2 / 2 + m3) * CRANK * ROD
    weights = G * np.array([(m1 / 2 + m2 + m3) * CRANK, (m2 / 2 + m3) * ROD])
    corners = [(x, y) for y in (1, -1) for x in (-HALF_LENGTH, HALF_LENGTH)]

    def mass(q: Array) -> Array:
        x = both * np.cos(q[1] - q[0])
        own = [j1 + (m1 / 4 + m2 + m3) * CRANK**2, j2 + (m2 / 4 + m3) * ROD**2, j3]
        return np.diag(own) + np.array([[0, x, 0], [x, 0, 0], [0, 0, 0.0]])

    def force(q: Array, v: Array) -> Array:
        s = both * np.sin(q[0] - q[1])
        return np.array(
            [-s * v[1] ** 2 - weights[0] * np.cos(q[0]), s * v[0] ** 2 - weights[1] * np.cos(q[1]), 0]
        )

    def gaps(q: Array) -> Array:
        y = CRANK * np.sin(q[0]) + ROD * np.sin(q[1])
        above = HALF_HEIGHT + PLAY - HALF_HEIGHT * np.cos(q[2])
        return np.array([above - side * (y + x * np.sin(q[2])) for x, side in corners])

    def rows(q: Array) -> Array:
        arm = np.array([[CRANK, ROD] * np.cos(q[:2]), [CRANK, ROD] * -np.sin(q[:2])])
        found = []
        for x, side in corners:
            px = x * np.cos(q[2]) - side * HALF_HEIGHT * np.sin(q[2])
            py = x * np.sin(q[2]) + side * HALF_HEIGHT * np.cos(q[2])
            found.append([[*(-side * arm[0]), -side * px], [*arm[1], -py]])
        return np.array(found)

    return PlaneContacts(mass, force, gaps, rows, np.full(4, 0.01), np.full(4, 0.4))


@dataclass(frozen=True)
class Scheme:
    """A machine for the scheme, where it starts, and how long it is followed [s]."""

    machine: Callable[[], PlaneContacts]
    q: tuple[float, ...]
    v: tuple[float, ...]
    until: float
    of: Callable[[Array], Array]  # the coordinates of the case


SCHEMES = {
    "friction oscillator": Scheme(oscillator, (12.0, 0.0), (6.0, 0.0), 30.0, lambda q: q[:, :1]),
    "woodpecker": Scheme(woodpecker, *BEFORE_BEAK, 0.15, lambda q: q),
    "slider-crank with play": Scheme(
        slider_crank, (0, 0, 0), (150.0, -75.0, 0.0), 0.2,
        lambda q: np.stack(
            [q[:, 0] / (2 * np.pi), (CRANK * np.sin(q[:, 0]) + ROD * np.sin(q[:, 1])) / PLAY], axis=1
        ),
    ),
}  # fmt: skip


def step_errors(name: str, until: float | None = None) -> list[dict[str, Any]]:
    """Largest differences at the published times: theirs from the scheme, the scheme from ours."""
    case, scheme = next(one for one in CASES if one.title == name), SCHEMES[name]
    end = scheme.until if until is None else until
    table = np.array([row for row in case.published if row[0] <= end])
    ours = case.path(table[:, 0], rtol=1e-10)[0]
    found = []
    for step in (case.step, case.step / 2):
        q, _ = moreau_jean(
            scheme.machine(), np.array(scheme.q), np.array(scheme.v), step, round(table[-1, 0] / step)
        )
        found.append(scheme.of(q[np.rint(table[:, 0] / step).astype(int)]))
    differences = (found[0] - table[:, 1:], found[0] - ours, found[1] - ours)
    theirs, whole, half = (np.abs(each).max(axis=0) for each in differences)
    return [
        {
            "run": name,
            "until": end,
            "coordinate": what,
            "theirs": theirs[k],
            "whole": whole[k],
            "half": half[k],
        }
        for k, what in enumerate(case.coordinates)
    ]
