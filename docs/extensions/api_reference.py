"""Sphinx extension: the reference pages, from the docstrings of the public names.

    ```{public} sarrus
    sarrus.models.tree.joints
    ```

documents the names in `sarrus.__all__` that are defined in these modules (all names where none is given). A
name that several packages export is documented once. Docstrings are plain text, with `code` in quotes and
sections such as `Args:`; autodoc wants reStructuredText, which `plain_to_rst` makes of them.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import re
from types import ModuleType
from typing import Any

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

import sarrus
from sarrus import results

SECTIONS = {"Args": "Arguments", "Attributes": "Attributes", "Returns": "Returns", "Raises": "Raises"}
# members of these bases are Python's, not ours
FOREIGN = "object, tuple, dict, list, int, str, float, Env, VectorEnv"
MANY = 10  # methods of a class that are listed at the top of the page
FIRST = ("sarrus", "sarrus.control")  # packages whose names other packages do not document again


def setup(app: Sphinx) -> dict[str, Any]:
    """Called by Sphinx."""
    app.add_directive("public", Public)
    app.connect("autodoc-process-docstring", rewrite_docstring)
    app.connect("autodoc-process-signature", hide_signature)
    return {"version": "1", "parallel_read_safe": True, "parallel_write_safe": True}


def chosen(package: ModuleType, modules: list[str]) -> list[str]:
    """Names that a package documents: defined in one of these modules, or anywhere."""
    found = []
    for name in dict.fromkeys(package.__all__):
        thing = getattr(package, name)
        homes = f"{getattr(thing, '__module__', '')}.", f"{package.__name__}.{name}."
        elsewhere = [m for m in map(importlib.import_module, FIRST) if m is not package]
        if (
            not isinstance(thing, ModuleType)
            and (not modules or any(x.startswith(f"{m}.") for m in modules for x in homes))
            and (package.__name__ == "sarrus" or not any(getattr(m, name, None) is thing for m in elsewhere))
        ):
            found.append(name)
    return found


class Public(SphinxDirective):
    """Documents public names of a package."""

    required_arguments = 1
    has_content = True

    def run(self) -> list[nodes.Node]:
        package = importlib.import_module(self.arguments[0])
        names = chosen(package, [line.strip() for line in self.content])
        lines = ["```{eval-rst}"]
        for name in names:
            thing = getattr(package, name)
            lines += contents(f"{package.__name__}.{name}", thing)
        lines += [""]
        for name in names:
            lines += entry(f"{package.__name__}.{name}", getattr(package, name))
        return self.parse_text_to_nodes("\n".join([*lines, "```"]))


def contents(path: str, thing: Any) -> list[str]:
    """An item of the list at the top of a page: link, first sentence, methods of large classes."""
    said = re.split(r"(?<=\.) |\n\n", inspect.getdoc(thing) or "", maxsplit=1)[0].replace("\n", " ")
    lines = [link(path, path.rpartition(".")[2]) + (f" {escape(said)}" if callable(thing) else "")]
    methods = [x for x, f in inspect.getmembers(thing, inspect.isfunction) if not x.startswith("_")]
    if inspect.isclass(thing) and len(methods) > MANY:
        lines += ["", "  " + ", ".join(link(f"{path}.{name}", name) for name in methods)]
    return ["- " + lines[0], *lines[1:]]


def link(path: str, text: str) -> str:
    """A link to what is documented under this path."""
    return f":py:obj:`{text} <{path}>`"


def entry(path: str, thing: Any) -> list[str]:
    """The directive for one name."""
    if not callable(thing):
        return [f".. py:data:: {path}", ""]
    if not inspect.isclass(thing):
        return [f".. autofunction:: {path}", ""]
    lines = [f".. autoclass:: {path}"]
    if issubclass(thing, sarrus._FAMILIES):  # their methods are for the library
        return [*lines, ""]
    lines += ["   :members:"]
    if issubclass(thing, enum.Enum):
        lines += ["   :undoc-members:"]
    elif not issubclass(thing, BaseException):
        lines += [f"   :inherited-members: {FOREIGN}"]
    return [*lines, ""]


def hide_signature(
    app: Sphinx, what: str, name: str, thing: Any, options: Any, signature: str | None, returned: str | None
) -> tuple[str, None] | None:
    """Users do not construct results, errors and mechanisms: no arguments are shown."""
    made = {sarrus.Mechanism, *(getattr(results, x) for x in results.__all__ if x != "Pose")}
    return ("", None) if what == "exception" or (what == "class" and thing in made) else None


def rewrite_docstring(app: Sphinx, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Called by autodoc for every docstring."""
    lines[:] = plain_to_rst(lines)


def plain_to_rst(lines: list[str]) -> list[str]:
    """A docstring in plain text as reStructuredText."""
    out: list[str] = []
    section, code = False, False
    for before, line in zip(["", *lines], lines, strict=False):
        title = re.fullmatch(r"(\w+):", line)
        if title and title[1] in SECTIONS:
            section = True
            out += ["", f"**{SECTIONS[title[1]]}**", ""]
            continue
        section = section and (not line or line.startswith(" "))
        if section:
            out += section_line(line)
            continue
        indented = line.startswith("    ")
        if indented and not before and not code:
            out += ["::", ""]
        code = indented or (code and not line)
        out.append(line if code else escape(line))
    return out


def section_line(line: str) -> list[str]:
    """One line of a section, "    name: text" or what follows it, as a definition list."""
    head = re.fullmatch(r"    ([\w*][^:]*?): (.*)", line)
    if head:
        return ["", f"``{head[1]}``", f"    {escape(head[2])}"]
    return [escape(re.sub("^ {4,}", "    ", line))]


def escape(line: str) -> str:
    """Text of a line with `code` as ``code`` and other signs taken literally."""
    parts = re.split(r"`+([^`]+)`+", line)
    parts[::2] = [re.sub(r"([*|\\]|(?<=\w)_(?!\w))", r"\\\1", part) for part in parts[::2]]
    parts[1::2] = [f"``{part}``" for part in parts[1::2]]
    return "".join(parts)
