"""docs/papers.md: every row names calls or scripts that exist, and tests that exist."""

from __future__ import annotations

import inspect
import re
from typing import Any

import pytest

import sarrus as sr
from sarrus import results

from .sources import ROOT

PAGE = ROOT / "docs" / "papers.md"
KEYS = ("Aghili2005", "Lin2018", "Spencer2004", "DeSapio2010", "Aghili2011")
OPTIONS = (sr.simulate, sr.linearize, sr.Mechanism.forward_dynamics, sr.Mechanism.constraint_inertia)


def tables() -> dict[str, list[list[str]]]:
    """Rows of the tables "where | what | call | test", by the paper of their section."""
    found: dict[str, list[list[str]]] = {}
    paper = ""
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if line.startswith("## "):
            paper = next((key for key in KEYS if f"[{key}]" in line), "")
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if paper and line.startswith("|") and len(cells) == 4 and cells[0] not in ("where", "---"):
            found.setdefault(paper, []).append(cells)
    return found


TESTS = {
    test
    for path in (ROOT / "tests").rglob("test_*.py")
    for test in re.findall(r"^def (test_\w+)", path.read_text(encoding="utf-8"), re.M)
}
ROWS = [(paper, row) for paper, rows in tables().items() for row in rows]


def resolve(name: str) -> Any:
    """What a name on the page stands for; an AttributeError or an assertion where it stands for nothing."""
    if "/" in name:
        folder = ROOT / "examples" if name.startswith("gallery/") else ROOT
        assert (folder / name).is_file(), f"{name} does not exist"
        return name
    option = re.fullmatch(r'(\w+)="(\w+)"', name)
    if option:
        assert any(option[1] in inspect.signature(call).parameters for call in OPTIONS), name
        return name
    first, *rest = re.sub(r"\(.*", "", name).split(".")
    start = {"sr": sr, "mech": sr.Mechanism}.get(first) or getattr(results, first, None) or getattr(sr, first)
    for part in rest:
        known = getattr(start, "__annotations__", {}) | getattr(start, "__dataclass_fields__", {})
        start = getattr(start, part) if hasattr(start, part) else known[part]
    return start


def test_all_five_papers_have_a_table() -> None:
    assert set(tables()) == set(KEYS)
    assert all(len(rows) >= 8 for rows in tables().values())


@pytest.mark.parametrize(("paper", "row"), ROWS, ids=[f"{paper} {row[0]}" for paper, row in ROWS])
def test_every_row_leads_to_a_call_and_a_test(paper: str, row: list[str]) -> None:
    where, what, calls, tests = row
    assert where and what
    names = re.findall(r"`([^`]+)`", calls)
    assert names, "a row needs a call or a script"
    for name in names:
        resolve(name)
    proofs = re.findall(r"`([^`]+)`", tests)
    assert proofs, "a row needs a test"
    for proof in proofs:
        assert proof in TESTS, f"no test is called {proof}"
