"""The headers stay what design.md says: no standard library outside platform.hpp, no state, one direction."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

KERNELS = Path(__file__).parents[2] / "kernels"
HEADERS = sorted(KERNELS.rglob("*.hpp"))


def code_of(path: Path) -> str:
    """Source without comments and string literals."""
    text = path.read_text(encoding="utf-8")
    text = re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)
    return re.sub(r'"(?:\\.|[^"\\\n])*"', '""', text)


def test_there_are_headers() -> None:
    assert (KERNELS / "base" / "platform.hpp") in HEADERS
    assert len(HEADERS) > 5


@pytest.mark.parametrize("path", [p for p in HEADERS if p.name != "platform.hpp"], ids=lambda p: p.name)
def test_only_the_platform_names_the_standard_library(path: Path) -> None:
    code = code_of(path)
    assert "std::" not in code
    assert not re.findall(r"#\s*include\s*<", code)
    assert not re.findall(r"\b(throw|new|malloc|delete)\b", code)


@pytest.mark.parametrize("path", HEADERS, ids=lambda p: p.name)
def test_no_state(path: Path) -> None:
    code = code_of(path)
    assert "thread_local" not in code
    loose = re.findall(r"\bstatic\b(?!\s+(?:constexpr|const|SARRUS_HD)\b)", code)
    assert not loose, "static objects are state; only static constexpr members and functions are fine"
    inline_objects = re.findall(
        r"^\s*inline\s+(?!namespace\b)(?!.*\bconstexpr\b)[\w:<>,* ]+[=;{]", code, flags=re.MULTILINE
    )
    assert not inline_objects, "compiled objects are looked at in tests/kernels; inline ones only show here"


def test_includes_have_one_direction() -> None:
    graph = {
        str(p.relative_to(KERNELS)): set(re.findall(r'#\s*include\s*"([^"]+)"', p.read_text()))
        for p in HEADERS
    }
    assert set().union(*graph.values()) <= set(graph), "a kernel includes kernels only"
    assert graph["base/platform.hpp"] == set()
    placed: set[str] = set()
    while len(placed) < len(graph):
        ready = {name for name, needs in graph.items() if name not in placed and needs <= placed}
        assert ready, f"a cycle of includes among {sorted(set(graph) - placed)}"
        placed |= ready


@pytest.mark.parametrize("path", HEADERS, ids=lambda p: p.name)
def test_headers_are_guarded_and_in_the_namespace(path: Path) -> None:
    text = path.read_text()
    assert "#pragma once" in text
    assert path.name == "platform.hpp" or re.search(
        r"^(SARRUS_BEGIN|namespace sarrus \{)$", text, re.MULTILINE
    )
