"""docs/howto/messages.md explains every status, every message of a run and every warning of the library."""

from __future__ import annotations

import ast
import re

import pytest

from sarrus.mechanism.query.time_steps import TROUBLE
from sarrus.results import ControlStatus, Status

from .sources import ROOT, SOURCE, python_files

PAGE = (ROOT / "docs" / "howto" / "messages.md").read_text(encoding="utf-8")
WORDS = 4  # consecutive words of a message that must be on the page
# functions below src/sarrus/simulation whose texts are sentences of `Trajectory.message`
SPEAKERS = {"_untested", "_verdict", "added_to", "many_steps", "sentence", "trouble"}


def texts(tree: ast.AST) -> list[str]:
    """Fixed texts of an expression or a function, without its docstrings; "…" for what is inserted."""
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.JoinedStr):
            found.append("".join(str(x.value) if isinstance(x, ast.Constant) else "…" for x in node.values))
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.append(node.value)
    return found


def spoken() -> list[str]:
    """Longest fixed text of every call of `warn`, and of every sentence of a run."""
    found = []
    for path in python_files():
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("warn", "warnings.warn"):
                found.append(max(texts(node.args[0]), key=len, default=""))
            in_runs = path.is_relative_to(SOURCE / "simulation")
            if in_runs and isinstance(node, ast.FunctionDef) and node.name in SPEAKERS:
                body = node.body[1:] if ast.get_docstring(node) else node.body
                found += [text for part in body for text in texts(part)]
    return sorted({text for text in found if len(plain(text)) >= WORDS})


def plain(text: str) -> list[str]:
    """Words of a text without signs."""
    return re.findall(r"\w+", text)


def explained(text: str) -> bool:
    """Whether some consecutive words of a message are on the page."""
    page, said = " ".join(plain(PAGE)), plain(text)
    return any(" ".join(said[i : i + WORDS]) in page for i in range(len(said) - WORDS + 1))


@pytest.mark.parametrize("text", [*spoken(), *TROUBLE.values()], ids=lambda text: text[:40])
def test_every_message_is_explained(text: str) -> None:
    assert explained(text), f"docs/howto/messages.md does not explain: {text}"


@pytest.mark.parametrize("status", [*Status, *ControlStatus], ids=lambda status: status.name)
def test_every_status_is_explained(status: Status | ControlStatus) -> None:
    assert re.search(rf"^(- \*\*|\| )`{status.name}`", PAGE, re.M)
