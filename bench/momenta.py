"""Momenta as states, [Spencer2004] 5.1: does RK4 keep energy better in (q, p = M v) than in (q, v)?

    python -m bench.momenta

Largest energy error over 4 s of a double pendulum and of a slider-crank in its crank angle, with
p' = M a + M' v. docs/papers.md has the verdict.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

import sarrus as sr

T_END, STEPS = 4.0, (4e-3, 8e-3)
CRANK = np.array([[1.0], [-2.0]])  # dq of the slider-crank per unit of its crank angle


def worst(
    system: Callable[[np.ndarray], tuple], y: np.ndarray, rate: np.ndarray, dt: float, momenta: bool
) -> float:
    """Largest change of the energy [J] over T_END; `system` gives M, h and energy as functions of (y, y')."""
    M, h, energy = system

    def slope(y: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        v = np.linalg.solve(M(y), x) if momenta else x
        a = np.linalg.solve(M(y), -h(y, v))
        if not momenta:
            return v, a
        turned = (M(y + 1e-5 * v) - M(y - 1e-5 * v)) / 2e-5
        return v, M(y) @ a + turned @ v

    x, first, found = (M(y) @ rate if momenta else rate), energy(y, rate), 0.0
    for _ in range(round(T_END / dt)):
        k = [slope(y, x)]
        for part in (0.5, 0.5, 1.0):
            k.append(slope(y + part * dt * k[-1][0], x + part * dt * k[-1][1]))
        y, x = (
            z + dt / 6.0 * (a + 2.0 * b + 2.0 * c + d)
            for z, (a, b, c, d) in zip((y, x), zip(*k, strict=True), strict=True)
        )
        v = np.linalg.solve(M(y), x) if momenta else x
        found = max(found, abs(energy(y, v) - first))
    return found


def pendulum() -> tuple:
    mech = sr.library.double_pendulum()
    return mech.mass_matrix, mech.bias, lambda q, v: mech.energy(q, v).total


def slider_crank() -> tuple:
    mech = sr.library.slider_crank()

    def q(y: np.ndarray) -> np.ndarray:
        return np.array([y[0], 2.0 * np.pi - 2.0 * y[0]])

    return (
        lambda y: CRANK.T @ mech.mass_matrix(q(y)) @ CRANK,
        lambda y, v: CRANK.T @ mech.bias(q(y), CRANK @ v),
        lambda y, v: mech.energy(q(y), CRANK @ v).total,
    )


def main() -> None:
    """Print energy errors [J] in velocities and in momenta."""
    cases = {
        "double pendulum, low": (pendulum(), [1.0, 0.5], [0.5, -1.0]),
        "double pendulum, high": (pendulum(), [2.5, -1.0], [0.5, -1.0]),
        "slider-crank": (slider_crank(), [0.4], [1.0]),
    }
    for name, (system, y, rate) in cases.items():
        for dt in STEPS:
            v, p = (worst(system, np.array(y), np.array(rate), dt, momenta) for momenta in (False, True))
            print(f"{name:22} dt {dt:g} s: velocities {v:.1e} J, momenta {p:.1e} J, ratio {v / p:.2f}")


if __name__ == "__main__":
    main()
