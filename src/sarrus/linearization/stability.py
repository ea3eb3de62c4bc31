"""Stability of an equilibrium: the eigenvalues of its minimal linear model, in words."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ..mechanism.mechanism import Mechanism
from .model import LinearModel

FINITE = " Derivatives by finite differences, because of CustomConstraint rows."
ZERO = 1e-6  # of the largest eigenvalue: rounding splits a double zero by its square root, 1e-8


@dataclass(frozen=True)
class Stability:
    """stable: True, False, or None where linear terms do not decide; eigenvalues [1/s]; in words."""

    stable: bool | None
    eigenvalues: npt.NDArray[np.complex128]
    message: str


def stability(model: LinearModel) -> Stability:
    """Stability of an equilibrium under constant inputs, from its minimal linear model."""
    mech, values = model.mechanism, model.eigenvalues
    note = FINITE if mech.model.customs and isinstance(mech, Mechanism) else ""
    if len(values) == 0:
        return Stability(True, values, "Rigid: the constraints leave no motion." + note)
    tol = ZERO * max(float(np.max(np.abs(values))), 1e-3)
    found = model.modes
    leaving = [m for m in found if m.eigenvalue.real > tol]
    if leaving:
        worst = max(leaving, key=lambda m: m.eigenvalue.real)
        text = f"Unstable: a motion of {_moving(mech.names, worst.shape, mech.units.unit)} {worst.text}."
        return Stability(False, values, text + note)
    loose = [m for m in found if m.frequency <= tol]
    if loose:
        moving = _moving(mech.names, loose[0].shape, mech.units.unit)
        text = f"Neutral: nothing brings back a motion of {moving}."
        return Stability(None, values, text + note)
    slowest = min(found, key=lambda m: m.frequency)
    if all(m.eigenvalue.real < -tol for m in found):
        late = max(found, key=lambda m: m.eigenvalue.real)
        within = -1.0 / late.eigenvalue.real
        text = f"Asymptotically stable: every small motion decays, the slowest within {within:.3g} s."
        return Stability(True, values, text + note)
    text = f"Stable: small motions oscillate about it; the slowest {slowest.text}."
    return Stability(True, values, text + note)


def _moving(names: tuple[str, ...], shape: npt.NDArray[np.complex128], unit: npt.NDArray[np.float64]) -> str:
    """The coordinates that move most in a mode."""
    size = np.abs(shape / unit)
    return ", ".join(names[i] for i in np.argsort(-np.round(size, 6), kind="stable")[:3] if size[i] > 0.1)
