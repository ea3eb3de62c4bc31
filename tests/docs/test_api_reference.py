"""Docstrings in plain text become reStructuredText."""

from __future__ import annotations

from api_reference import plain_to_rst


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
