"""Random mechanisms against the laws of motion: balance of forces, rows, energy along a short run.

`python -m bench.fuzz --what mechanisms` runs this; the mechanisms are those of tests/laws.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.laws.families import FAMILIES
from tests.oracles.states import mechanism, random_force, tangent_velocity

NAMES = tuple(FAMILIES)
BALANCE, ROWS = 1e-10, 1e-9  # relative; of tests/laws with ten times the room for a hundred thousand seeds
WELL = 1e7  # condition of J up to which accelerations are asked to these tolerances
DRIFT = 1e-12  # of L, at every step [docs/motion.md]


class Fuzzer:
    """Makes the mechanisms of one seed and holds them against the laws."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def content(self, run: int) -> bytes:
        """How to make the mechanism of one run."""
        return f"tests.laws.families.FAMILIES[{self._family(run)!r}]({self._number(run)})\n".encode()

    def _family(self, run: int) -> str:
        return NAMES[run % len(NAMES)]

    def _number(self, run: int) -> int:
        return 1_000_003 * self.seed + run

    def __call__(self, run: int) -> tuple[str, str]:
        """The family and "result", or "BAD" and the law that does not hold."""
        import sarrus as sr

        family = self._family(run)
        try:
            return family, self._judge(sr, FAMILIES[family](self._number(run)))
        except sr.SarrusError as error:
            return family, f"{type(error).__name__} {error}"[:200]
        except BaseException as error:
            return family, f"BAD {type(error).__name__}: {error}"[:300]

    def _judge(self, sr: Any, description: Any) -> str:
        mech, q = mechanism(description), description.q
        seed = self.seed
        v, tau = tangent_velocity(mech, q, seed), random_force(mech, seed)
        singular = np.linalg.svd(mech.terms(q, v).J, compute_uv=False)
        live = singular[singular > 1e-8]
        if live.size and live.max() / live.min() > WELL:
            return "ill-conditioned"
        if problem := _accelerations(mech, q, v, tau):
            return f"BAD {problem}"
        run = sr.simulate(mech, (0.0, 2e-3), q, v, method="rk4", dt=1e-3, tau=tau)
        if run.success and run.drift.max() > DRIFT * mech.length:
            return f"BAD drift of {run.drift.max():.1e} m with success"
        return "result" if run.success else "stopped"


def _accelerations(mech: Any, q: Any, v: Any, tau: Any) -> str:
    """Which law forward dynamics breaks, or nothing."""
    terms, motion = mech.terms(q, v), mech.forward_dynamics(q, v, tau)
    size = max(1.0, *(np.max(np.abs(x), initial=0.0) for x in (terms.M @ motion.a, terms.h, tau)))
    error = np.max(np.abs(terms.M @ motion.a + terms.h - tau - terms.J.T @ motion.lam), initial=0.0)
    if not error <= BALANCE * size:
        return f"M a + h = tau + J' lam misses by {error / size:.1e}"
    wanted = terms.gamma
    miss = np.max(np.abs(terms.J @ motion.a - wanted), initial=0.0) / max(
        1.0, np.max(np.abs(wanted), initial=0.0)
    )
    if not miss <= ROWS * max(1.0, float(np.max(np.abs(motion.a), initial=0.0))):
        return f"J a = gamma misses by {miss:.1e}"
    again = mech.acceleration(q, v, tau)
    return "" if np.array_equal(again, motion.a) else "acceleration() differs from forward_dynamics().a"
