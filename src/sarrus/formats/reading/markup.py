"""XML as a plain tree that remembers its lines.

The standard library's expat does the reading. Document type declarations are refused before anything in
them is looked at: entities declared there are how a file of a kilobyte becomes gigabytes in memory, and no
robot description needs them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

from sarrus.errors import SarrusError
from sarrus.formats.reading.messages import FormatError

MAX_DEPTH = 200
TEXT = ("sarrus_declarations", "gazebo")  # whose content is text, in a URDF


@dataclass(slots=True, eq=False)
class Element:
    """One element: its attributes, its children, and the line it starts on."""

    tag: str
    attributes: dict[str, str]
    line: int
    source: str
    children: list[Element] = field(default_factory=list)
    content: str = ""  # text between the tags, of SDF and of TEXT only

    def all(self, tag: str) -> list[Element]:
        """Children with this tag, in the order of the file."""
        return [child for child in self.children if child.tag == tag]

    def first(self, tag: str) -> Element | None:
        """First child with this tag, or None."""
        for child in self.children:
            if child.tag == tag:
                return child
        return None

    def one(self, tag: str) -> Element:
        """The child with this tag; an error if there is none."""
        child = self.first(tag)
        if child is None:
            self.fail(f"<{self.tag}> needs a <{tag}> inside it")
        return child

    def word(self, tag: str, default: str | None = None) -> str:
        """Text inside the child with this tag; an error if there is none and no default."""
        child = self.first(tag)
        if child is None:
            return self.one(tag).content if default is None else default
        return child.content.strip()

    def values(self, n: int) -> tuple[float, ...]:
        """The text inside as n finite numbers."""
        self.attributes.setdefault("text", self.content)
        return self.vector("text", n)

    def value(self, tag: str, default: float | None = None) -> float:
        """The text inside the child with this tag as one finite number."""
        child = self.first(tag)
        if child is None and default is not None:
            return default
        return self.one(tag).values(1)[0]

    def fail(self, reason: str) -> NoReturn:
        """Raise a FormatError that points at this element."""
        name = self.attributes.get("name")
        where = f"<{self.tag}>" if name is None else f"<{self.tag} name={name!r}>"
        raise FormatError(f"{self.source}, line {self.line}, {where}: {reason}.")

    def context(self) -> Element:
        """For `with`: errors raised inside point at this element as well."""
        return self

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, SarrusError) and not isinstance(error, FormatError):
            self.fail(str(error).rstrip("."))

    def text(self, name: str, default: str | None = None) -> str:
        """Attribute as text; an error if it is missing and has no default."""
        value = self.attributes.get(name, default)
        if value is None:
            self.fail(f"the attribute {name!r} is missing")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """Attribute as one finite number."""
        given = self.attributes.get(name)
        if given is None and default is not None:
            return default
        try:
            value = float(given or "")
        except ValueError:
            value = math.nan
        return value if math.isfinite(value) else self.vector(name, 1)[0]

    def vector(self, name: str, n: int, default: tuple[float, ...] | None = None) -> tuple[float, ...]:
        """Attribute as n finite numbers separated by spaces."""
        if name not in self.attributes and default is not None:
            return default
        words = self.text(name).split()
        try:
            values = tuple(map(float, words))
        except ValueError:
            values = ()
        if len(values) != n or not all(map(math.isfinite, values)):
            count = "one finite number" if n == 1 else f"{n} finite numbers"
            self.fail(f"{name} must be {count}, got {self.text(name)!r}")
        return values


def _build(parser: expat.XMLParserType, source: str) -> Element:
    """An element around the document, which grows while the parser reads."""
    document = Element("", {}, 0, source)
    stack = [document]

    def start(tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, parser.CurrentLineNumber, source)
        if len(stack) > MAX_DEPTH:
            element.fail(f"elements are nested deeper than {MAX_DEPTH} levels")
        if (tag == "sdf" and len(stack) == 1) or tag in TEXT:
            parser.CharacterDataHandler = text
        stack[-1].children.append(element)
        stack.append(element)

    def text(data: str) -> None:
        stack[-1].content += data

    def end(tag: str) -> None:
        stack.pop()

    def refuse(*_: object) -> None:
        raise FormatError(
            f"{source}, line {parser.CurrentLineNumber}: a document type declaration (DTD, "
            "entities) is not accepted. Remove the <!DOCTYPE ...> block; robot descriptions do not need one."
        )

    parser.StartElementHandler, parser.EndElementHandler = start, end
    parser.StartDoctypeDeclHandler = parser.EntityDeclHandler = refuse
    return document


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
    parser = expat.ParserCreate()
    document = _build(parser, source)
    try:
        parser.Parse(data, True)
    except expat.ExpatError as error:
        reason = expat.ErrorString(error.code)
        raise FormatError(
            f"{source}, line {error.lineno}, column {error.offset + 1}: not well-formed XML ({reason})."
        ) from None
    except FormatError:
        raise
    except (LookupError, ValueError) as error:  # unknown or impossible encoding declaration
        raise FormatError(f"{source}: its text cannot be decoded ({error}).") from None
    if not document.children:
        raise FormatError(f"{source}: not well-formed XML (no element found).")
    return document.children[0]
