"""The benchmark of the held box runs and says what it measured."""

from __future__ import annotations

from bench import grasp


def test_quick_benchmark_of_the_held_box() -> None:
    found = grasp.run(quick=True, rounds=1)
    assert all(row["sarrus_us"] > 0.0 for row in found["steps"])
    text = grasp.show(found)
    assert "whole step" in text and "wrench and payload estimated" in text
