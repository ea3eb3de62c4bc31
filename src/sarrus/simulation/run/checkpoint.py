"""Checkpoint: a state from which a run can be resumed with bit-identical results, and its options as data.

A checkpoint is a state of the compiled run together with what the integrator remembers of earlier steps. It
is the last state, or the one before the first step that was shortened to end at t1: a resumed run does not
shorten that step.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...arrays import Array
from ...errors import InputError
from ..stepping.options import Options

STORED = """
    t0 t1 control_dt method dt rtol atol formulation coordinates
    correction baumgarte energy store_every jacobian
""".split()
LATER = {"projection_metric": "mass", "softness": 0.0}  # what files without them mean
WORDS = (
    "method",
    "formulation",
    "coordinates",
    "correction",
    "jacobian",
    "projection_metric",
)  # the others are numbers
POSITIVE = ("control_dt", "dt", "rtol", "atol", "store_every")
OPEN = ("control_dt", "dt", "atol")  # that may be None


@dataclass(frozen=True)
class Checkpoint:
    """A state of a compiled run.

    Attributes:
        numbers: t, q, v, tau and the memory of earlier steps, in the order of `Run.checkpoint`.
        u: inputs of the actuators there (nu,).
        energy: the energy that is kept [J].
    """

    numbers: Array
    u: Array
    energy: float

    @property
    def t(self) -> float:
        """Time [s]."""
        return float(self.numbers[0])

    @property
    def steps(self) -> int:
        """Number of steps before it."""
        return int(self.numbers[-1])

    def state(self, nq: int, nv: int) -> tuple[Array, Array]:
        """q (nq,) and v (nv,)."""
        return self.numbers[1 : 1 + nq], self.numbers[1 + nq : 1 + nq + nv]


def stored_options(options: Options | None) -> dict[str, Any] | None:
    """Options as plain data, functions by name only; None where a run cannot be resumed."""
    if options is None or not isinstance(options.coordinates, str):
        return None
    head: dict[str, Any] = {name: getattr(options, name) for name in (*STORED, *LATER)}
    tau = options.tau
    head["tau"] = tau.tolist() if isinstance(tau, np.ndarray) else None
    given: dict[str, Any] = {"control": options.control, "tau": tau if callable(tau) else None}
    given |= {"external": options.external or None, "events": options.events or None}
    head["functions"] = [name for name, value in given.items() if value is not None]
    return head


def restored_options(head: Mapping[str, Any]) -> tuple[Options, tuple[str, ...]]:
    """Options from plain data, and the names of the functions that are missing in them."""
    values: dict[str, Any] = {name: head[name] for name in STORED}
    values |= {name: head.get(name, value) for name, value in LATER.items()}
    for name, value in values.items():
        numbers = value if isinstance(value, list) else [value]
        right: Any = str if name in WORDS else (float, int, type(None)) if name in OPEN else (float, int)
        sound = isinstance(value, list) == (name == "baumgarte") and all(
            isinstance(x, right) for x in numbers
        )
        if sound and name in POSITIVE and value is not None:
            sound = 0.0 < value < math.inf
        if not sound:
            raise InputError(f"the stored option {name} is {value!r:.80}; the file is damaged.")
    values["baumgarte"] = tuple(values["baumgarte"])
    tau = None if head["tau"] is None else np.array(head["tau"])
    none: dict[str, Any] = {"control": None, "t_eval": None, "events": (), "external": {}, "progress": False}
    return Options(**values, **none, tau=tau), tuple(head["functions"])
