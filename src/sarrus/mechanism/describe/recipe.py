"""Recipe: the calls that made a description, to be made again with other values of its parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Concatenate, ParamSpec, TypeVar

from ...arrays import number
from ...errors import InputError, require_all_known
from ...models.base.expressions import PLAIN, Parameter, is_parametric, parameters_in, resolved
from ...models.base.restore import restore

P = ParamSpec("P")
S = TypeVar("S", bound="Recorded")
Call = tuple[str, tuple[Any, ...], dict[str, Any], bool]  # method, arguments, whether they have parameters


class Recorded:
    """Base of descriptions: keeps the calls that declare something."""

    def __init__(self) -> None:
        self._parameters: dict[str, Parameter] = {}
        self._calls: list[Call] = []
        self._recording, self._replayed = True, False
        self._start: Mapping[str, Any] | None = None  # what it was begun with, where that is no call


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
        head: Arguments of its constructor; "start": what it was begun with; "said": what files say besides.
        parameters: By name.
        calls: In order.
        values: Values of parameters that were changed.
        changes: Arguments of `with_` that are no parameters, in order.
        templates: Ways through the description that were recorded (`design_variants`), shared by recipes
            that differ in values only.
    """

    make: Any
    head: Mapping[str, Any]
    parameters: Mapping[str, Parameter]
    calls: tuple[Call, ...]
    values: Mapping[str, float]
    changes: tuple[Mapping[str, Any], ...] = ()
    templates: list[Any] = field(default_factory=list, compare=False, repr=False)

    def __reduce__(self) -> tuple[Any, ...]:
        return restore, ("Recipe", (self.head, self.parameters, self.calls, self.values, self.changes))

    def current(self) -> dict[str, float]:
        """The value of each parameter."""
        return {name: one.evaluate(self.values) for name, one in self.parameters.items()}

    def with_values(self, given: Mapping[str, Any]) -> Recipe:
        """The recipe with other values."""
        require_all_known("parameter", given, self.parameters)
        checked = {name: number(x, f"parameter {name!r}") for name, x in given.items()}
        copy = object.__new__(Recipe)
        copy.__dict__.update(self.__dict__, values={**self.values, **checked})
        return copy

    def with_changes(self, changes: Mapping[str, Any]) -> Recipe:
        """The recipe with further changes by `with_`."""
        return replace(self, changes=(*self.changes, dict(changes)), templates=[])

    def model(self) -> Any:
        """The model of the description with its present values, and the changes after that."""
        model = self.made().model(self)
        for one in self.changes:
            model = model.replace(**one)
        return model

    def made(self) -> Any:
        """The description with its present values."""
        head = dict(self.head)
        start, said = head.pop("start", None), head.pop("said", {})
        spec = self.make(**head) if start is None else self.make.from_declared(start)
        spec._recording, spec._replayed = False, True
        for name, args, named, changes in self.calls:
            if changes:
                args, named = resolved(args, self.values), resolved(named, self.values)
            getattr(spec, name)(*args, **named)
        shown = {one.body for one in spec.visuals}
        spec.visuals += [one for one in said.get("visuals", ()) if one.body not in shown]
        spec.omitted, spec.laws = said.get("omitted", ()), said.get("laws", {})
        return spec
