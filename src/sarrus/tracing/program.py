"""Programs: the arithmetic of one mechanism as straight-line functions, recorded by the kernel.

A program holds at the rank and with the pivots of its reference state. Its functions return guards: bits
that say where something else than recorded would have to be done. See docs/code.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from .._kernel import OPERATIONS
from ..arrays import Array
from ..errors import InputError
from ..models.model import Model
from .entries import Entries

IntArray = npt.NDArray[np.int32]

# Without units: residuals of closed constraints, and the length of a row that counts as dependent.
TOLERANCES = {"float64": (1e-12, 1e-9), "float32": (2e-4, 1e-3)}
# Roundings of each coordinate, times its lever, in residuals; programs in float32 keep angles within a turn.
ROUNDINGS = {"float64": 4.0, "float32": 0.0}
NEWTON_STEPS = {"float64": 3, "float32": 2}
MOST_OPERATIONS = 60_000  # of one function: longer ones compile for minutes (docs/code.md)


@dataclass(frozen=True)
class Function:
    """One recorded function. Arguments and results stand one behind the other, in named parts.

    Attributes:
        name: accelerate, close, acceleration, step, project or terms.
        inputs, outputs: names and sizes of the parts.
        operations: operation and three operands, in an order in which few values live at once (n, 4);
            operands are positions, of INPUT and CALL numbers.
        constants: values of CONSTANT operations (n,).
        results: positions of the results.
        guards: position of a comparison, what it must be, and the bit otherwise (k, 3).
        calls: positions of the arguments of each CALL.
    """

    name: str
    inputs: list[tuple[str, int]]
    outputs: list[tuple[str, int]]
    operations: IntArray
    constants: Array
    results: IntArray
    guards: IntArray
    calls: list[IntArray]

    def __len__(self) -> int:
        """Number of arithmetic operations."""
        free = [OPERATIONS.index(name) for name in ("CONSTANT", "INPUT", "RESULT")]
        return int(np.sum(~np.isin(self.operations[:, 0], free)))


@dataclass(frozen=True)
class Program:
    """The functions of one mechanism.

    Attributes:
        functions: `accelerate` and `close`, which others call; `acceleration`, `step`, `project` and `terms`.
        rank: rank of J at the reference state, and wherever the guards pass.
        precision: "float64" or "float32", which its guards are made for.
        entries: entries of the model that are inputs of every function, as its part `parameters`.
        reference: the state (q, v) at which it was recorded, on the constraints and away from singular poses.
    """

    functions: dict[str, Function]
    rank: int
    precision: str
    entries: Entries
    reference: tuple[Array, Array]

    def operations(self, names: tuple[str, ...]) -> int:
        """Arithmetic operations of these functions and of those that they call, as text."""
        return sum(len(self.functions[name]) for name in self.with_called(names))

    def with_called(self, names: tuple[str, ...]) -> list[str]:
        """The functions and those that they call, called ones first."""
        order, call = list(self.functions), OPERATIONS.index("CALL")
        called = {order[op[2]] for name in names for op in self.functions[name].operations if op[0] == call}
        return [name for name in order if name in called or name in names]


class TooLongError(InputError):
    """A recorded function would be too long to be compiled."""


def refuse_callables(model: Model, what: str) -> None:
    """Refuse a mechanism with parts that only Python can evaluate."""
    declared = (*model.constraints, *model.forces)
    functions = [name for name, one in declared if one.holds_functions]
    if functions:
        listed = ", ".join(repr(name) for name in functions)
        raise InputError(
            f"{what} has no Python inside and cannot call the functions of {listed}; drive actuators with u"
            " instead, or use the constraints and forces that sarrus offers."
        )


def record(
    model: Model,
    references: list[tuple[Array, Array]],
    precision: str,
    what: str,
    entries: Entries,
    lever: float,
) -> Program:
    """The program of a mechanism at the first of these reference states (q, v) that passes its own guards.

    Args:
        model: of the mechanism.
        references: states (q, v).
        precision: "float64" or "float32".
        what: what the program is for, in messages.
        entries: entries of the model that stay variables.
        lever: largest entry of J, without the units of its rows.

    Raises:
        TooLongError: the mechanism is too large.
        InputError: it has Python functions, or all references are near a singular pose.
    """
    refuse_callables(model, what)
    rounding = ROUNDINGS[precision] * float(np.finfo(precision).eps) * lever
    options = (*TOLERANCES[precision], rounding), NEWTON_STEPS[precision], 4 * MOST_OPERATIONS
    for state in references:
        try:
            found = model.kernel.record(state, *options, entries.indices)
        except OverflowError:
            found = None
        if found is None or max(_count(one) for one in found[0]) > MOST_OPERATIONS:
            raise TooLongError(
                f"mechanism {model.name!r} with {model.nv} coordinates and {model.nc} constraint rows is too"
                f" large for {what}: a function would have more than {MOST_OPERATIONS} operations. Step it"
                ' with mech.step, or sr.rollout(..., device="cpu").'
            )
        if found[2]:
            functions = {one["name"]: Function(**one) for one in found[0]}
            return Program(functions, found[1], precision, entries, state)
    raise InputError(
        f"{what} needs a reference state away from singular poses and with positive inertia, and the default"
        f" state of mechanism {model.name!r} is none; give another: mech.with_default(q)."
    )


def _count(one: dict[str, Any]) -> int:
    return len(one["operations"])
