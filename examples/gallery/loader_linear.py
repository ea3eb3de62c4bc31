# /// script
# requires-python = ">=3.11"
# dependencies = ["sarrus[viz]"]
# ///
"""A loader linearized in two sets of coordinates, [Spencer2004] 4.5: out/loader_linear.png.

Angles of boom and bucket, then the strokes of the two cylinders; at rest without forces, which is no
equilibrium, the two sets have different eigenvalues, at the equilibrium that the cylinders hold the same
(theorem 4.1.1). The thesis gives no dimensions, these are the library's.
"""

from __future__ import annotations

from pathlib import Path

import matplotlib
import numpy as np

import sarrus as sr

PICTURE = Path("out/loader_linear.png")


def main(duration: float = 1.0, step: float = 200.0) -> dict[str, float]:
    """Linearize and step; returns differences of eigenvalues and of responses."""
    mech = sr.library.loader()
    sets = {"angles": ["boom", "bucket"], "strokes": list(mech.actuators)}
    q, where = mech.default.q, [mech.names.index(name) for name in sets["angles"]]
    held = sr.equilibrium(mech, fixed=dict(zip(sets["angles"], q[where], strict=True)))
    falling = {name: sr.linearize(mech, q, np.zeros(mech.nv), coordinates=y) for name, y in sets.items()}
    resting = {name: sr.linearize(mech, held.q, u=held.u, coordinates=y) for name, y in sets.items()}
    for title, models in (("falling", falling), ("held", resting)):
        for name, model in models.items():
            print(f"{title:8} {name:8} eigenvalues {np.array2string(model.eigenvalues, precision=4)}")
    pairs = [[np.sort_complex(m.eigenvalues) for m in models.values()] for models in (falling, resting)]
    u = held.u + step * np.eye(mech.nu)[0]
    run = sr.simulate(mech, (0.0, duration), held.q, control=lambda t, q, v: u)
    responses = {name: response(model, run.t, step)[:, where[0]] for name, model in resting.items()}
    moved = run.q[:, where[0]] - held.q[where[0]]
    off = max(float(np.abs(x - moved).max() / np.abs(moved).max()) for x in responses.values())
    same = float(np.abs(responses["angles"] - responses["strokes"]).max() / np.abs(moved).max())
    print(f"step of {step:g} N on {mech.actuators[0]}: linear and nonlinear boom apart by {100 * off:.1f} %")
    draw(falling, resting, run.t, moved, responses)
    apart = [float(np.abs(a - b).max()) for a, b in pairs]
    return {"falling": apart[0], "resting": apart[1], "off": off, "same": same}


def response(model: sr.LinearModel, t: np.ndarray, step: float) -> np.ndarray:
    w = step * np.eye(len(model.inputs))[0]
    x, found = np.zeros(len(model.names)), []
    for dt in np.diff(t, prepend=t[0]):
        discrete = model.discretize(max(float(dt), 1e-12))
        x = discrete.A @ x + discrete.B @ w + discrete.rate
        found.append((model.lift @ x)[: model.mechanism.nv])
    return np.array(found)


def draw(falling: dict, resting: dict, t: np.ndarray, moved: np.ndarray, responses: dict) -> None:
    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(16.0, 4.4), layout="constrained")
    figure.suptitle("Loader linearized in two sets of coordinates [Spencer2004] 4.5")
    falling["angles"].mechanism.plot(falling["angles"].point.q, axes[0])
    for ax, models, title in ((axes[1], falling, "no equilibrium"), (axes[2], resting, "equilibrium")):
        for mark, (name, model) in zip("ox", models.items(), strict=True):
            ax.plot(model.eigenvalues.real, model.eigenvalues.imag, mark, label=name, fillstyle="none")
        ax.set(xlabel="real [1/s]", ylabel="imaginary [1/s]", title=f"eigenvalues, {title}")
    axes[3].plot(t, 1e3 * moved, "k", label="nonlinear")
    for name, x in responses.items():
        axes[3].plot(t, 1e3 * x, "--", label=f"linear, {name}")
    axes[3].set(xlabel="t [s]", ylabel="boom [mrad]", title="step of a cylinder force")
    for ax in axes[1:]:
        ax.legend(fontsize=8)
    PICTURE.parent.mkdir(exist_ok=True)
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
