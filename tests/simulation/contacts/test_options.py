"""The table of docs/contacts.md: what goes with surfaces that touch, and what is refused by its name."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sarrus as sr

PAGE = Path(__file__).parents[3] / "docs" / "contacts.md"
HEAD = '| `sr.simulate(...)` | `contacts="events"` | `contacts="steps"` |'


def rows() -> dict[str, tuple[str, str]]:
    """The rows of the table."""
    lines = PAGE.read_text().splitlines()
    begin = lines.index(HEAD) + 2
    table = []
    for line in lines[begin:]:
        if not line.startswith("|"):
            break
        table.append([cell.strip() for cell in line.strip("|").split("|")])
    return {name: (events, steps) for name, events, steps in table}


def ball(rod: bool = False, **joint: Any) -> sr.Mechanism:
    """A ball on an upright guide above a floor, and a rod from above that may hold it."""
    spec = sr.MechanismSpec(name="ball")
    spec.body("ball", joint=sr.Prismatic("z"), mass=1.0, limits=(0.0, 0.4), **joint)
    if rod:
        spec.constrain("rod", sr.Distance("ground", (0, 0, 1), "ball", (0, 0, 0), 0.7))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("ball", "ball", sr.Sphere(0.1), restitution=0.3).contact("floor", "ball")
    return spec.compile()


def run(mech: sr.Mechanism | None = None, way: str = "events", **options: Any) -> sr.Trajectory:
    if way == "steps":
        options.setdefault("dt", 1e-3)
    return sr.simulate(ball() if mech is None else mech, (0, 0.3), [0.3], [0.0], contacts=way, **options)


def ended(t: float, q: Any, v: Any) -> float:
    return float(q[0] - 0.2)


ended.terminal = True  # type: ignore[attr-defined]
DRY = {"friction": 0.5, "friction_model": "coulomb"}


def bearing() -> sr.Mechanism:
    spec = sr.MechanismSpec(name="bearing")
    spec.body("ball", joint=sr.Prismatic("z"), mass=1.0)
    spec.force("bearing", sr.BearingFriction("ball", mu=0.1))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    spec.surface("ball", "ball", sr.Sphere(0.1)).contact("floor", "ball")
    return spec.compile()


TRIED: dict[str, Callable[[str], Any]] = {
    '`method="auto"`, `"dopri5"`': lambda way: [run(way=way, method=m) for m in ("auto", "dopri5")],
    '`method="rk4"` with `dt`': lambda way: run(way=way, method="rk4", dt=1e-3),
    '`method="radau"`': lambda way: run(way=way, method="radau"),
    "`stops=True`": lambda way: run(way=way, stops=True),
    "`switches=` (`sr.Switch`, `sr.Contact`, latches)": lambda way: sr.simulate(
        ball(rod=True),
        (0, 0.3),
        [0.3],
        contacts=way,
        dt=1e-3,
        switches=[sr.Switch("rod", on=0.1, latch=True)],
    ),
    "constant dry friction of joints": lambda way: run(ball(**DRY), way),
    "`sr.BearingFriction`": lambda way: sr.simulate(bearing(), (0, 0.1), [0.3], contacts=way, dt=1e-3),
    "`control=`, `control_dt=`, `tau=`, `external=`": lambda way: run(
        way=way, control=lambda t, q, v: [1.0], control_dt=0.01, external={"ball": np.zeros(6)}
    ),
    "`events=`, terminal ones too": lambda way: run(way=way, events=ended),
    "`t_eval=`, `store_every=`": lambda way: [run(way=way, t_eval=[0.1, 0.3]), run(way=way, store_every=3)],
    "`resume`": lambda way: run(way=way).resume(0.4),
    '`coordinates=` other than `"full"`': lambda way: run(way=way, coordinates="tangent"),
    '`formulation=` other than `"nullspace"`': lambda way: run(way=way, formulation="svd"),
    '`correction=` other than `"project"`': lambda way: run(way=way, correction="baumgarte"),
    "`energy=True`": lambda way: run(way=way, energy=True),
}


def test_every_row_is_tried() -> None:
    assert set(rows()) == {*TRIED, "`sr.CustomSystem`"}


@pytest.mark.parametrize("way", ["events", "steps"])
@pytest.mark.parametrize("name", TRIED)
def test_what_the_table_says(name: str, way: str) -> None:
    if rows()[name][way == "steps"] == "yes":
        found = TRIED[name](way)
        for one in found if isinstance(found, list) else [found]:
            assert one.success, one.message
    else:
        with pytest.raises(sr.SarrusError):
            TRIED[name](way)
