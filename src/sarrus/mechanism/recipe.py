"""Recipe: the calls that made a description, to be made again with other values of its parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from ..arrays import number
from ..errors import InputError, unknown_name
from ..models.expressions import PLAIN, Parameter, is_parametric, parameters_in, resolved
from ..models.restore import restore

P = ParamSpec("P")
S = TypeVar("S", bound="Recorded")
Call = tuple[str, tuple[Any, ...], dict[str, Any], bool]  # method, arguments, whether they have parameters


class Recorded:
    """Base of descriptions: keeps the calls that declare something."""

    def __init__(self) -> None:
        self._parameters: dict[str, Parameter] = {}
        self._calls: list[Call] = []
        self._recording = True


def declares(method: Callable[Concatenate[S, P], S]) -> Callable[Concatenate[S, P], S]:
    """A method of a description that is recorded where it succeeds and is given numbers for expressions."""

    @functools.wraps(method)
    def call(self: S, *args: P.args, **named: P.kwargs) -> S:
        if not self._recording:
            return method(self, *args, **named)
        changes = any(type(x) not in PLAIN and is_parametric(x) for x in (*args, *named.values()))
        for one in parameters_in((args, named)) if changes else ():
            if self._parameters.get(one.name) is not one:
                raise InputError(
                    f"parameter {one.name!r} belongs to another description; declare it on this one."
                )
        plain, plain_named = (resolved(args, {}), resolved(named, {})) if changes else (args, named)
        self._recording = False
        try:
            method(self, *plain, **plain_named)
        finally:
            self._recording = True
        self._calls.append((method.__name__, args, dict(named), changes))
        return self

    return call  # type: ignore[return-value]


@dataclass(frozen=True)
class Recipe:
    """How to make a mechanism again.

    Attributes:
        make: The class of the description.
        head: Arguments of its constructor.
        parameters: By name.
        calls: In order.
        values: Values of parameters that were changed.
        changes: Arguments of `with_` that are no parameters, in order.
    """

    make: Callable[..., Any]
    head: Mapping[str, Any]
    parameters: Mapping[str, Parameter]
    calls: tuple[Call, ...]
    values: Mapping[str, float]
    changes: tuple[Mapping[str, Any], ...] = ()

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Recipe", (self.head, self.parameters, self.calls, self.values, self.changes))

    def current(self) -> dict[str, float]:
        """The value of each parameter."""
        return {name: one.evaluate(self.values) for name, one in self.parameters.items()}

    def with_values(self, given: Mapping[str, Any]) -> Recipe:
        """The recipe with other values."""
        for name in given:
            if name not in self.parameters:
                raise unknown_name("parameter", name, self.parameters)
        checked = {name: number(x, f"parameter {name!r}") for name, x in given.items()}
        return replace(self, values={**self.values, **checked})

    def with_changes(self, changes: Mapping[str, Any]) -> Recipe:
        """The recipe with further changes by `with_`."""
        return replace(self, changes=(*self.changes, dict(changes)))

    def made(self) -> Any:
        """The description with its present values."""
        spec = self.make(**self.head)
        spec._recording = False
        for name, args, named, changes in self.calls:
            if changes:
                args, named = resolved(args, self.values), resolved(named, self.values)
            getattr(spec, name)(*args, **named)
        return spec
