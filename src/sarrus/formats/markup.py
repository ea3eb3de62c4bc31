"""XML as a plain tree that remembers its lines.

The standard library's expat does the reading. Document type declarations are refused before anything in
them is looked at: entities declared there are how a file of a kilobyte becomes gigabytes in memory, and no
robot description needs them.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from sarrus.errors import SarrusError
from sarrus.formats.messages import FormatError

MAX_DEPTH = 200


@dataclass
class Element:
    """One element: its attributes, its children, and the line it starts on."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: str
    children: list[Element] = field(default_factory=list)

    def all(self, tag: str) -> list[Element]:
        """Children with this tag, in the order of the file."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """First child with this tag, or None."""
        return next((child for child in self.children if child.tag == tag), None)

    def one(self, tag: str) -> Element:
        """The child with this tag; an error if there is none."""
        child = self.first(tag)
        if child is None:
            self.fail(f"<{self.tag}> needs a <{tag}> inside it")
        return child

    def fail(self, reason: str) -> NoReturn:
        """Raise a FormatError that points at this element."""
        name = self.attributes.get("name")
        where = f"<{self.tag}>" if name is None else f"<{self.tag} name={name!r}>"
        raise FormatError(f"{self.source}, line {self.line}, {where}: {reason}.")

    @contextmanager
    def context(self) -> Iterator[None]:
        """Errors raised inside point at this element as well."""
        try:
            yield
        except FormatError:
            raise
        except SarrusError as error:
            self.fail(str(error).rstrip("."))

    def text(self, name: str, default: str | None = None) -> str:
        """Attribute as text; an error if it is missing and has no default."""
        value = self.attributes.get(name, default)
        if value is None:
            self.fail(f"the attribute {name!r} is missing")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Attribute as one finite number."""
        if name not in self.attributes and default is not None:
            return default
        return self.vector(name, 1)[0]

    def vector(self, name: str, n: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Attribute as n finite numbers separated by spaces."""
        if name not in self.attributes and default is not None:
            return default
        words = self.text(name).split()
        try:
            values = tuple(float(word) for word in words)
        except ValueError:
            values = ()
        if len(values) != n or not all(math.isfinite(value) for value in values):
            count = "one finite number" if n == 1 else f"{n} finite numbers"
            self.fail(f"{name} must be {count}, got {self.text(name)!r}")
        return values


class _Builder:
    """Receives expat's events and keeps the stack of open elements."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.StartDoctypeDeclHandler = self.refuse
        self.parser.EntityDeclHandler = self.refuse

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.parser.CurrentLineNumber, self.source)
        if len(self.stack) >= MAX_DEPTH:
            element.fail(f"elements are nested deeper than {MAX_DEPTH} levels")
        if self.stack:
            self.stack[-1].children.append(element)
        elif self.root is None:
            self.root = element
        self.stack.append(element)

    def end(self, tag: str) -> None:
        self.stack.pop()

    def refuse(self, *_: object) -> None:
        raise FormatError(
            f"{self.source}, line {self.parser.CurrentLineNumber}: a document type declaration (DTD, "
            "entities) is not accepted. Remove the <!DOCTYPE ...> block; robot descriptions do not need one."
        )


def parse(data: bytes, source: str) -> Element:
    """Read XML from bytes.

    Args:
        data: Content of the file.
        source: Name of the file, for messages.

    Returns:
        The root element.

    Raises:
        FormatError: Where the text is not well-formed XML (with line and reason), or declares a DTD.
    """
    builder = _Builder(source)
    try:
        builder.parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FormatError(
            f"{source}, line {error.lineno}, column {error.offset + 1}: not well-formed XML ({reason})."
        ) from None
    except FormatError:
        raise
    except (LookupError, ValueError) as error:  # unknown or impossible encoding declaration
        raise FormatError(f"{source}: its text cannot be decoded ({error}).") from None
    if builder.root is None:
        raise FormatError(f"{source}: not well-formed XML (no element found).")
    return builder.root
