"""The exceptions of the library, its warning, and the error for an unknown name.

Every message says what is wrong, the rule, the offending value and the way out.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Collection, Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

MOST_NAMES_LISTED = 40
PACKAGE = str(Path(__file__).parent)


class SarrusError(ValueError):
    """Base of every exception that sarrus raises on purpose."""


class InputError(SarrusError):
    """A value has the wrong type, shape, sign or is not finite."""


class ModelError(SarrusError):
    """The parts of a description do not make a mechanism (cycles, duplicates, a singular mass matrix)."""


class UnknownNameError(SarrusError):
    """A name that does not exist; the message lists those that do."""


class AssemblyError(SarrusError):
    """A closed loop cannot be assembled."""


class EquilibriumError(SarrusError):
    """There is no static pose under the given forces, or none was found."""


class SingularConstraintError(SarrusError):
    """A formulation that needs independent constraint rows met dependent ones.

    Attributes:
        rank: Rank of the constraint Jacobian.
        rows: Names of the rows that depend on rows declared before them.
    """

    def __init__(self, message: str, rank: int = -1, rows: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.rank = rank
        self.rows = tuple(rows)

    def __reduce__(self) -> tuple[type, tuple[str, int, tuple[str, ...]]]:
        return type(self), (str(self), self.rank, self.rows)


class SarrusWarning(UserWarning):
    """A description is usable but suspicious; the message names the part."""


def warn(message: str) -> None:
    """A SarrusWarning that points at the line outside this library that led to it."""
    level = 1
    while level < 100:
        try:
            filename = sys._getframe(level).f_code.co_filename
        except ValueError:
            break
        if not filename.startswith(PACKAGE):
            break
        level += 1
    warnings.warn(message, SarrusWarning, stacklevel=level + 1)


def answer_of(who: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """What a user's function returns; an exception of its own becomes an InputError, "who raised ...".

    The message then names the function. Exceptions of sarrus pass unchanged.
    """
    try:
        return function(*arguments)
    except SarrusError:
        raise
    except Exception as error:
        raise InputError(f"{who} raised {type(error).__name__}: {error}") from error


def unknown_name(kind: str, name: object, existing: Iterable[str], where: str = "") -> UnknownNameError:
    """The error for a name that does not exist.

    Args:
        kind: What the name should denote, such as "body".
        name: The name as given.
        existing: The names that exist.
        where: Where the name was used, such as "loop 'knee'".
    """
    names = list(existing)
    shown = ", ".join(repr(n) for n in names[:MOST_NAMES_LISTED]) or "none"
    if len(names) > MOST_NAMES_LISTED:
        shown += f", ... ({len(names)} in all)"
    close = get_close_matches(name, names, n=1) if isinstance(name, str) else []
    hint = f" Did you mean {close[0]!r}?" if close else ""
    prefix = f"{where}: " if where else ""
    return UnknownNameError(f"{prefix}unknown {kind} {name!r}; existing names: {shown}.{hint}")


def require_known(kind: str, name: object, existing: Collection[str], where: str = "") -> str:
    """A name that exists; arguments as in `unknown_name`."""
    if not isinstance(name, str) or name not in existing:
        raise unknown_name(kind, name, existing, where)
    return name


def require_all_known(kind: str, given: Iterable[object], existing: Collection[str], where: str = "") -> None:
    """Refuse names that do not exist."""
    for name in given:
        require_known(kind, name, existing, where)
