"""Kinds of joints, forces and constraints: one class says everything about its kind, found by its name."""

from __future__ import annotations

from abc import ABC
from typing import Any, ClassVar

from ..errors import InputError
from .restore import Restored


class Kind(Restored, ABC):
    """Base of the three families: `Joint`, `Force`, `Constraint`.

    A subclass of a family is registered by its definition, unless it says base=True: what several kinds
    share. Files, messages, pictures and tests/gates/test_kinds.py read the registry.

    Attributes:
        kinds: The registered classes of a family by name, ordered by module, then as defined.
        holds_functions: Whether its fields are Python functions, which cannot be written as data.
    """

    kinds: ClassVar[dict[str, type[Any]]]
    holds_functions: ClassVar[bool] = False

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

    @classmethod
    def written(cls) -> dict[str, type[Any]]:
        """Those classes of a family that can be written as data, by name."""
        return {name: kind for name, kind in cls.kinds.items() if not kind.holds_functions}
