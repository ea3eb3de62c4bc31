"""Kinds of joints, forces and constraints: one class says everything about its kind, found by its name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

from ...errors import InputError
from .expressions import KeepsParameters
from .restore import Restored

Checks = dict[str, Callable[[object, str], Any]]


class Kind(Restored, metaclass=KeepsParameters):
    """Base of the three families: `Joint`, `Force`, `Constraint`.

    A subclass of a family is registered by its definition, unless it says base=True: what several kinds
    share. Files, messages, pictures and tests/gates/test_kinds.py read the registry.

    Attributes:
        kinds: The registered classes of a family by name, ordered by module, then as defined.
        holds_functions: Whether its fields are Python functions, which cannot be written as data.
        lengths: Names of fields that are lengths of the mechanism [m], which count in its length L; of forces
            on coordinates only where these slide.
        checks: What checks a field and converts it, by the name of the field: check(value, "mass of Spring").
    """

    kinds: ClassVar[dict[str, type[Any]]]
    holds_functions: ClassVar[bool] = False
    lengths: ClassVar[tuple[str, ...]] = ()
    checks: ClassVar[Checks] = {}

    def __init_subclass__(cls, base: bool = False, **options: Any) -> None:
        super().__init_subclass__(**options)
        if Kind in cls.__bases__:
            cls.kinds = {}
        elif not base:
            known = cls.kinds.get(cls.__name__, cls)
            if (known.__module__, known.__qualname__) != (cls.__module__, cls.__qualname__):
                raise InputError(f"a kind called {cls.__name__!r} exists already, in {known.__module__}.")
            found = cls.kinds | {cls.__name__: cls}  # replaces a class that is defined again, in a notebook
            cls.kinds.clear()
            cls.kinds.update(sorted(found.items(), key=lambda item: item[1].__module__))

    def __post_init__(self) -> None:
        for name, check in self.checks.items():
            object.__setattr__(self, name, check(getattr(self, name), f"{name} of {type(self).__name__}"))

    def reads(self) -> tuple[str, ...]:
        """Names of further coordinates whose values it needs."""
        return ()

    @classmethod
    def written(cls) -> dict[str, type[Any]]:
        """Those classes of a family that can be written as data, by name."""
        return {name: kind for name, kind in cls.kinds.items() if not kind.holds_functions}
