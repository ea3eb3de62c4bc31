# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""An elastic arm slides along a wall, [Aghili2005] X, "rigid-body or flexible alike": out/elastic_arm.png.

A motor turns a beam that bends as s^2 and s^3, its tip on a wall: a `CustomSystem` of M, h and the wall.
Projected inverse dynamics turns the hub, the bends are passive; projected direct dynamics simulates it.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/elastic_arm.png")
LENGTH, DENSITY, EI, LOSS, WALL = 1.0, 2.0, 20.0, 0.01, 0.7  # m, kg/m, N m^2, s, m
X, W = np.polynomial.legendre.leggauss(8)
POINTS, MASS, TIP = 0.5 * LENGTH * (X + 1.0), 0.5 * LENGTH * W * DENSITY, np.array([LENGTH])
K = EI / LENGTH**3 * np.array([[4.0, 6.0], [6.0, 12.0]])


def beam(q: np.ndarray, v: np.ndarray, s: np.ndarray) -> tuple[np.ndarray, ...]:
    """Points as complex numbers, their derivatives (3, n), their acceleration at a = 0."""
    shapes, turned = (s / LENGTH) ** np.array([[2], [3]]), np.exp(1j * q[0])
    p = turned * (s + 1j * (q[1:] @ shapes))
    drift = -p * v[0] ** 2 - 2.0 * turned * v[0] * (v[1:] @ shapes)
    return p, np.array([1j * p, *(1j * turned * shapes)]), drift


def inertia(q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    slopes = beam(q, v, POINTS)[1]
    return np.real((slopes.conj() * MASS) @ slopes.T) + np.diag([0.1, 0.0, 0.0])  # rotor [kg m^2]


def bias(q: np.ndarray, v: np.ndarray, t: float) -> np.ndarray:
    _, slopes, drift = beam(q, v, POINTS)
    return np.real((slopes.conj() * MASS) @ drift) + np.append(0.0, K @ (q[1:] + LOSS * v[1:]))


def main(duration: float = 1.5, dt: float = 2e-3) -> dict[str, float]:
    """Turn the hub; returns errors, the wall's force and the lowest frequency at the start."""
    phi, J = (lambda q, v, t: beam(q, v, TIP)[0].real - WALL), (lambda q, v, t: beam(q, v, TIP)[1].real.T)
    gamma, names = (lambda q, v, t: -beam(q, v, TIP)[2].real), ["hub", "bend2", "bend3"]
    arm = sr.CustomSystem(3, 3, inertia, bias, phi, J, gamma, b=[0.0], names=names, actuated=["hub"])
    rest = sr.equilibrium(arm, [np.arccos(WALL), 0.0, 0.0], fixed={"hub": np.arccos(WALL) + 0.05})
    path = sr.control.MinimumJerk(rest.q[0], rest.q[0] + 0.05, 0.8 * duration)
    law = sr.control.ProjectedInverseDynamics(arm, "hub", path, kp=400.0)
    run = sr.simulate(arm, (0.0, duration), rest.q, control=law, control_dt=dt, dt=dt)
    off = np.abs(run.q[:, 0] - [path(t).x[0] for t in run.t]).max()
    draw(run)
    print(f"hub off by {off:.0e} rad, force {np.abs(run.lam).max():.1f} N; at rest there: {rest.message}")
    force, frequency = np.abs(run.lam).max(), sr.linearize(arm, rest.q, u=rest.u).natural_frequencies.min()
    return {"off": off, "drift": run.drift.max(), "force": force, "frequency": frequency}


def draw(run: sr.Trajectory) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13.0, 4.2), layout="constrained")
    figure.suptitle("Elastic arm along a wall: projected inverse and direct dynamics of a CustomSystem")
    line = [beam(q, 0 * q, np.linspace(0, LENGTH, 30))[0] for q in run.q[[0, len(run) // 2, -1]]]
    axes[0].plot(np.real(line).T, np.imag(line).T, label=["start", "halfway", "end"])
    axes[0].axvline(WALL, color="k", label="wall")
    axes[1].plot(run.t, 1e3 * run.q[:, 1:], label=["bend s^2 [mm]", "bend s^3 [mm]"])
    axes[2].plot(run.t, np.column_stack([run.u, run.lam]), label=["torque of the hub [N m]", "wall, lam [N]"])
    for ax in axes:
        ax.set(xlabel="x [m]" if ax is axes[0] else "t [s]", ylabel="y [m]" if ax is axes[0] else "")
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
