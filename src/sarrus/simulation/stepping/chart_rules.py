"""ChartRule: when a run in minimal coordinates leaves its chart.

Two rules, each with a threshold for leaving a chart and one for entering a chart of the user's again:

    quality     smallest singular value of R N, relative to its best
    condition   condition number of [R; J], lengths divided by L             [Spencer2004] 2.3.3.1, remark 1

The quality does not depend on J itself; the condition number grows near every singular pose of J, too. That
of J S, which the thesis names beside it, is 1 for a single row, however close to zero that is.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ...arrays import state
from ...errors import InputError


@dataclass(frozen=True)
class ChartRule:
    """A rule with its thresholds.

    Attributes:
        kind: "quality" or "condition".
        leave, enter: for charts of the user: left beyond the one, entered again within the other.
        leave_own: for charts that the library makes.
    """

    kind: str
    leave: float
    enter: float
    leave_own: float


QUALITY = ChartRule("quality", 0.6, 0.7, 0.5)
RULES = {"quality": QUALITY, "condition": ChartRule("condition", 20.0, 10.0, 20.0)}


def chart_rule(given: Mapping[str, Any]) -> ChartRule:
    """The rule from the arguments `chart_rule` and `chart_thresholds` of `simulate`."""
    kind, thresholds = given["chart_rule"], given["chart_thresholds"]
    if not isinstance(kind, str) or kind not in RULES:
        raise InputError(f'chart_rule must be "quality" or "condition"; got {kind!r}.')
    full = isinstance(given["coordinates"], str) and given["coordinates"] == "full"
    if full and (kind != "quality" or thresholds is not None):
        raise InputError(
            "chart_rule and chart_thresholds are for runs in minimal coordinates; give coordinates= too."
        )
    if thresholds is None:
        return RULES[kind]
    leave, enter = state(thresholds, "chart_thresholds (leave, enter)", 2).tolist()
    sound = 0.0 < leave <= enter < 1.0 if kind == "quality" else 1.0 < enter <= leave
    if not sound:
        order = "0 < leave <= enter < 1" if kind == "quality" else "1 < enter <= leave"
        raise InputError(
            f'chart_thresholds (leave, enter) of chart_rule="{kind}" must satisfy {order}; got'
            f" {thresholds!r}."
        )
    return ChartRule(kind, leave, enter, leave)
