"""Docstrings in plain text become reStructuredText."""

from __future__ import annotations

import re
from pathlib import Path
from types import ModuleType

import sarrus as sr
from api_reference import chosen, plain_to_rst

API = Path(__file__).parents[2] / "docs" / "api"


def test_every_public_name_is_on_a_page() -> None:
    """As the site finds them, without building it."""
    found: set[str] = set()
    for page in API.glob("*.md"):
        for modules in re.findall(
            r"^```\{public\} sarrus\n(.*?)^```", page.read_text(encoding="utf-8"), re.M | re.S
        ):
            found |= set(chosen(sr, modules.split()))
    names = {x for x in sr.__all__ if not isinstance(getattr(sr, x), ModuleType)}
    missing = sorted((getattr(getattr(sr, name), "__module__", ""), name) for name in names - found)
    lines = ", ".join(f"{module} ({name})" for module, name in missing)
    assert not missing, f"the reference has no place for these: add the module to a page in docs/api: {lines}"


def test_code_signs_and_names_with_underscores_are_taken_literally() -> None:
    assert plain_to_rst(["Sum of |phi| * `a_b`, with_ (nq,)."]) == [
        r"Sum of \|phi\| \* ``a_b``, with\_ (nq,)."
    ]


def test_sections_become_definition_lists() -> None:
    out = plain_to_rst(
        ["Text.", "", "Args:", "    q, v: state (nq,) [rad]:", "        more.", "", "Returns:", "    It."]
    )
    assert out == [
        *("Text.", "", "", "**Arguments**", "", "", "``q, v``", "    state (nq,) [rad]:", "    more.", ""),
        *("", "**Returns**", "", "    It."),
    ]


def test_indented_lines_are_code() -> None:
    assert plain_to_rst(["Text:", "", "    a * b", "", "    c", "", "End."]) == [
        *("Text:", "", "::", "", "    a * b", "", "    c", "", "End."),
    ]
