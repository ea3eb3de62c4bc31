"""What a library for automatic differentiation calls: values and derivatives, with any batch axes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sarrus.arrays import Array
from sarrus.bridge.functions import Arrays, Function, Shapes
from sarrus.errors import InputError


@dataclass(frozen=True)
class Operation:
    """A function of arrays with any batch axes in front.

    Attributes:
        name: for messages.
        function: of arguments with one batch axis.
        shapes: of the arguments; outputs: of the results; without batch axes.
        source: what it is the value of; None of derivatives, which have none themselves.
    """

    name: str
    function: Callable[[Arrays], Arrays]
    shapes: Shapes
    outputs: Shapes
    source: Function | None = None

    def __call__(self, *given: Any) -> Arrays:
        """Results, float64, with the batch axes that the arguments have in common."""
        arrays = [np.asarray(x, dtype=np.float64) for x in given]
        batch = self.batch(tuple(x.shape for x in arrays))
        flat = [
            np.ascontiguousarray(np.broadcast_to(x, (*batch, *shape)).reshape(-1, *shape))
            for x, shape in zip(arrays, self.shapes, strict=True)
        ]
        found: list[Array] = [np.asarray(x) for x in self.function(tuple(flat))]
        return tuple(x.reshape(*batch, *shape) for x, shape in zip(found, self.outputs, strict=True))

    def batch(self, shapes: Shapes) -> tuple[int, ...]:
        """The batch axes that arguments of these shapes have in common."""
        parts = []
        for i, (shape, own) in enumerate(zip(shapes, self.shapes, strict=True)):
            if shape[len(shape) - len(own) :] != own:
                raise InputError(
                    f"{self.name}: argument {i + 1} must have the shape {own}, with batch axes in front, got"
                    f" {shape}."
                )
            parts.append(shape[: len(shape) - len(own)])
        try:
            return np.broadcast_shapes(*parts)
        except ValueError:
            raise InputError(
                f"{self.name}: batch axes must broadcast against each other, got shapes"
                f" {', '.join(map(str, shapes))}."
            ) from None

    @cached_property
    def pushforward(self) -> Operation:
        """Changes of the results, of arguments and their changes."""
        f, n = self._differentiable, len(self.shapes)
        return Operation(
            f"derivatives of {self.name}",
            lambda x: f.pushforward(x[:n], x[n:]),
            self.shapes + self.shapes,
            self.outputs,
        )

    @cached_property
    def pullback(self) -> Operation:
        """Gradients by the arguments, of arguments and gradients by the results."""
        f, n = self._differentiable, len(self.shapes)
        return Operation(
            f"gradients of {self.name}",
            lambda x: f.pullback(x[:n], x[n:]),
            self.shapes + self.outputs,
            self.shapes,
        )

    @property
    def _differentiable(self) -> Function:
        if self.source is None:
            raise self.no_second()
        return self.source

    def no_second(self) -> InputError:
        """The error of second derivatives."""
        return InputError(
            f"{self.name} have no derivatives themselves: bridges give first derivatives. Take a method of"
            " first order, such as iLQR, Gauss-Newton or BFGS, or differences of gradients."
        )


def operation(function: Function) -> Operation:
    """The values of a function, with its derivatives."""
    return Operation(function.name, function.value, function.shapes, function.outputs, function)
