"""When runs in minimal coordinates change their chart: by quality or by condition number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

CASES: list[dict[str, Any]] = [
    {"chart_rule": "quality"},
    {"chart_rule": "quality", "chart_thresholds": (0.9, 0.95)},
    {"chart_rule": "condition"},
    {"chart_rule": "condition", "chart_thresholds": (3.0, 2.0)},
]


def circle() -> sr.CustomSystem:
    """A particle on the unit circle: q1 and q2 are charts, each fails twice a turn. J = 2 q.T has norm 2."""
    rows: dict[str, Any] = {
        "phi": lambda q, v, t: [q @ q - 1.0],
        "J": lambda q, v, t: 2.0 * q[None],
        "gamma": lambda q, v, t: [-2.0 * v @ v],
        "b": lambda q, v, t: [0.0],
    }
    return sr.CustomSystem(2, 2, M=np.eye(2), **rows)


@pytest.mark.parametrize("how", CASES)
@pytest.mark.parametrize("coordinates", ["partition", "tangent"])
def test_every_rule_gives_the_same_motion(coordinates: str, how: dict[str, Any]) -> None:
    mech = sr.library.four_bar()
    whole = sr.simulate(mech, (0.0, 0.3), dt=2e-3)
    run = sr.simulate(mech, (0.0, 0.3), dt=2e-3, coordinates=coordinates, **how)
    assert run.success and np.max(np.abs(run.q[-1] - whole.q[-1])) < 1e-7


def test_tighter_thresholds_change_charts_more_often() -> None:
    system, q0, v0 = circle(), [1.0, 0.0], [0.0, 1.0]
    changes = {}
    for leave in (4.0, 2.5):
        options: dict[str, Any] = {"chart_rule": "condition", "chart_thresholds": (leave, leave)}
        run = sr.simulate(system, (0.0, 1.6), q0, v0, dt=0.01, coordinates="tangent", **options)
        assert np.max(np.abs(run.q[-1] - [np.cos(1.6), np.sin(1.6)])) < 1e-7
        changes[leave] = [event.t for event in run.events if event.kind == "chart"]
    assert len(changes[2.5]) > len(changes[4.0]) >= 1


def test_a_users_chart_is_left_at_its_condition_number() -> None:
    """Of [1, 0; 2 q1, 2 q2] for the coordinate q1, [Spencer2004] eq. (2.22), compared with NumPy."""
    system, limit = circle(), 6.0
    chart = sr.Chart(lambda q, y: q[:1] - y, 1, lambda q, y: [[1.0, 0.0]], lambda q, y: [[-1.0]], name="q1")
    run = sr.simulate(
        system, (0.0, 1.4), [0.0, 1.0], [1.0, 0.0], dt=1e-2, coordinates=chart,
        chart_rule="condition", chart_thresholds=(limit, limit),
    )  # fmt: skip
    left = next(event for event in run.events if event.kind == "chart")
    at = int(np.argmin(np.abs(run.t - left.t)))

    def condition(q: np.ndarray) -> float:
        return float(np.linalg.cond(np.array([[1.0, 0.0], 2.0 * q])))

    assert condition(run.q[at - 1]) <= limit * (1.0 + 1e-9) < condition(run.q[at]) * (1.0 + 1e-9)
