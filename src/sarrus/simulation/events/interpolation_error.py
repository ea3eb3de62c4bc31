"""How far states between kept ones may be off, from the kept states alone.

The quintic polynomial (1) of `interpolation.py` over a step h errs by p6 / 720 s^3 (1 - s)^3 h^6 at the part
s of it. Laid over two neighbouring steps it misses the state between them, which is known; from that p6
follows.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ...arrays import Array
from ..system.step_records import Steps
from .interpolation import Manifold, quintic

LARGEST = 1 / 64  # of s^3 (1 - s)^3
LARGEST_SLOPE = 0.0537  # of its derivative
SMOOTH, JUMPS = 6, 2  # powers of the step in the error, where accelerations are smooth and where inputs jump


def between_error(manifold: Manifold, steps: Steps, t: Array, unit: Array, sample: float | None) -> float:
    """Error of states at times t (k,) between steps: positions [rad, L], velocities over the largest speed.

    Infinite where too few states are kept to tell.

    Args:
        manifold: of the configurations.
        steps: those that were kept.
        t: within their range [s].
        unit: of the coordinates (nv,).
        sample: of a controller whose inputs are held in between [s]; None.
    """
    inside = t[~np.isin(t, steps.t)]
    which = np.unique(np.clip(np.searchsorted(steps.t, inside, side="right") - 1, 0, len(steps.t) - 2))
    h = np.diff(steps.t)[which]
    missed = _missed(manifold, steps, which, unit)
    power = np.where((sample or np.inf) < h, JUMPS, SMOOTH)
    found = []
    for distance, ratio, place in missed:
        shape = np.maximum(place**3 * (1.0 - place) ** 3, 1e-300)
        found.append(distance * ratio**power * LARGEST / shape)
    error = np.nanmax(np.array(found), axis=0, initial=0.0) if len(which) else np.zeros(0)
    error[np.all(np.isnan(found), axis=0)] = np.inf
    speed = max(float(np.max(np.abs(steps.v / unit), initial=0.0)), 1e-300)
    faster = error * (LARGEST_SLOPE / LARGEST) / (h * speed)
    return float(np.max(np.maximum(error, np.minimum(faster, 1.0)), initial=0.0))


def _missed(
    manifold: Manifold, steps: Steps, which: npt.NDArray[np.int64], unit: Array
) -> list[tuple[Array, Array, Array]]:
    """For the two pairs of steps that hold each step: the distance of the polynomial over both from the state
    between them, the step over both, and the part of both at which that state lies; NaN where there is none.
    """
    out = []
    for middle in (which, which + 1):
        distance, ratio, place = (np.full(len(which), np.nan) for _ in range(3))
        inner = np.clip(middle, 1, max(len(steps.t) - 2, 1))
        ends = (steps.t[np.minimum(inner + k, len(steps.t) - 1)] for k in (-1, 0, 1))
        before, there, after = ends
        known = (inner == middle) & (before < there) & (there < after)  # no jump of the velocity
        m = inner[known]
        both = (after - before)[known]
        place[known] = (there - before)[known] / both
        ratio[known] = (steps.t[which + 1] - steps.t[which])[known] / both
        distance[known] = _apart(manifold, steps, m, place[known][:, None], unit)
        out.append((distance, ratio, place))
    return out


def _apart(manifold: Manifold, steps: Steps, m: npt.NDArray[np.int64], place: Array, unit: Array) -> Array:
    """Distances of states m from the polynomials from the states before to those after them."""
    if not len(m):
        return np.zeros(0)
    first, last, h = steps[m - 1], steps[m + 1], (steps.t[m + 1] - steps.t[m - 1])[:, None]
    end = manifold.difference(first.q, last.q)
    v1, a1 = manifold.rates(end, last.v, last.a)
    u, _, _ = quintic(place, h, v0=first.v, a0=first.a, u1=end, v1=v1, a1=a1)
    missed = manifold.difference(manifold.integrate(first.q, u), steps.q[m]) / unit
    return np.asarray(np.max(np.abs(missed), axis=1, initial=0.0))
