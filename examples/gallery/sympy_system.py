# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]", "sympy"]
# ///
"""Equations derived by SymPy run as a CustomSystem: the slider-crank once more, out/sympy_system.png.

From the positions of two masses SymPy derives M, h, phi, J and gamma of the slider-crank of [Aghili2005]
section VIII. The run is compared with the one of the library's mechanism, built from bodies.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np
import sympy as sp

import sarrus as sr

PICTURE = Path("out/sympy_system.png")


def slider_crank() -> sr.CustomSystem:
    """Crank and rod of 1 m with 1 kg at their ends; the far end stays on the x axis."""
    g = sp.Symbol("g")
    q, v = sp.Matrix(sp.symbols("q1 q2")), sp.Matrix(sp.symbols("v1 v2"))
    knee = sp.Matrix([sp.cos(q[0]), sp.sin(q[0])])
    tip = knee + sp.Matrix([sp.cos(q[0] + q[1]), sp.sin(q[0] + q[1])])
    speeds = [p.jacobian(q) * v for p in (knee, tip)]
    kinetic = sum((s.dot(s) for s in speeds), sp.Integer(0)) / 2
    potential = g * (knee[1] + tip[1])
    M = sp.hessian(kinetic, list(v))
    # Lagrange: d/dt dT/dv - dT/dq + dV/dq = M a + h
    momentum = sp.Matrix([kinetic]).jacobian(v)
    h = momentum.jacobian(q) * v - sp.Matrix([kinetic - potential]).jacobian(q).T
    phi = sp.Matrix([tip[1]])
    J = phi.jacobian(q)
    gamma = -(J * v).jacobian(q) * v

    def numeric(expression: sp.Matrix, flat: bool = True):
        function = sp.lambdify((q, v), sp.simplify(expression.subs(g, 9.81)), "numpy", cse=True)
        return lambda q, v, t: function(q, v).ravel() if flat else function(q, v)

    matrices = {"M": numeric(M, flat=False), "J": numeric(J, flat=False)}
    vectors = {"h": numeric(h), "phi": numeric(phi), "gamma": numeric(gamma)}
    return sr.CustomSystem(
        2, 2, **matrices, **vectors, potential=numeric(sp.Matrix([potential])), names=("crank", "rod")
    )


def main(duration: float = 1.5) -> dict[str, float]:
    """Run both from rest under 1 N m; returns how far they are apart."""
    mech, derived = sr.library.slider_crank(), slider_crank()
    runs = [sr.simulate(s, (0.0, duration), mech.default.q, tau=[1.0, 0.0], dt=1e-3) for s in (mech, derived)]
    apart = np.abs(runs[0].q - runs[1].q).max(axis=1)
    print(f"{duration:g} s through the singular pose at t = {runs[1].events[0].t:.6f} s:")
    print(f"SymPy's equations and the library's bodies stay within {apart.max():.0e} rad of each other")
    draw(runs[1], apart)
    print(f"Picture: {PICTURE}")
    return {"apart": float(apart.max()), "singular": runs[1].events[0].t, "drift": float(runs[1].drift.max())}


def draw(run: sr.Trajectory, apart: np.ndarray) -> None:
    """Angles, and the difference of the two runs."""
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, (above, below) = plt.subplots(2, 1, figsize=(8.0, 5.5), sharex=True, layout="constrained")
    run.plot("q", above).set(xlabel="", title="Slider-crank from equations derived by SymPy")
    below.semilogy(run.t, np.maximum(apart, 1e-17), color="k", linewidth=1.0)
    below.set(xlabel="t [s]", ylabel="apart from the\nlibrary's run [rad]", xlim=(0.0, run.t[-1]))
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)
    plt.close(figure)


if __name__ == "__main__":
    main()
