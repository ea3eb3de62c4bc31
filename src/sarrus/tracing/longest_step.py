"""How long a step an exported `step` takes: tried on states beside the one that it was recorded at."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .._kernel import GUARDS
from ..arrays import Array
from .evaluation import evaluated
from .program import Program

LENGTHS = tuple(m * 10.0**-k for k in (2, 3, 4, 5) for m in (1.0, 0.5, 0.2))  # [s], the longest first
SHARE = 0.95  # of the states that take a step, the others being guarded
USUAL = 1e-3  # [s]


@dataclass(frozen=True)
class LongestStep:
    """What was found.

    Attributes:
        dt: The longest step that nearly all states take [s]; 0.0 where there is none of at least 2e-6 s.
        refused: Share of the states that refuse a step of 1 ms.
        bits: Names of the guards that refuse it, the most frequent first.
        states: How many were tried.
    """

    dt: float
    refused: float
    bits: tuple[str, ...]
    states: int


def longest_step(program: Program, q: Array, v: Array, numbers: Array) -> LongestStep:
    """Try steps of the lengths 1e-2, 5e-3, 2e-3, 1e-3, ... s without inputs.

    Args:
        program: The recorded functions.
        q, v: States on the constraints (B, nq), (B, nv).
        numbers: Entries of the model that stay variable (n,).
    """

    def guards(dt: float) -> np.ndarray:
        parts = {"q": q.T, "v": v.T, "tau": np.zeros_like(v.T), "dt": np.full((1, len(q)), dt)}
        parts["parameters"] = np.repeat(numbers[:, None], len(q), axis=1)
        arguments = np.concatenate([parts[name] for name, _ in program.functions["step"].inputs])
        return evaluated(program, "step", arguments)[1]

    at_usual = guards(USUAL)
    bits = sorted(GUARDS, key=lambda name: -int(np.sum(at_usual & GUARDS[name] > 0)))
    found = next((dt for dt in LENGTHS if np.mean(guards(dt) == 0) >= SHARE), 0.0)
    named = tuple(name for name in bits if np.any(at_usual & GUARDS[name]))
    return LongestStep(found, float(np.mean(at_usual != 0)), named, len(q))
