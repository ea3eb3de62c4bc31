"""The benchmark of task hierarchies measures what it says."""

from __future__ import annotations

from bench.hierarchy import run, show


def test_steps_and_limits() -> None:
    found = run(True, 2)
    titles = [row["title"] for row in found["steps"]]
    assert titles[0] == "three levels, whole step" and found["steps"][0]["share"] == 1.0
    assert all(row["sarrus_us"] > 0.0 for row in [*found["steps"], *found["limits"]])
    assert "limits that bite" in show(found)
