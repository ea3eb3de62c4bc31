"""optimize: against closed forms and a published synthesis."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.design import Poses, Run, Sweep
from sarrus.errors import InputError, UnknownNameError

from .test_tolerances import four_bar


def hoeken(ground: float = 2.0, coupler: float = 2.5) -> sr.Mechanism:
    """Hoeken's linkage with a crank of 1 m: rocker and both halves of the coupler have the same length."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="hoeken")
    g, c = spec.parameter("ground", ground), spec.parameter("coupler", coupler)
    half = (g + 1.0) / 2  # crank drawn at 180 degrees, symmetric
    spec.point("A", (0, 0, 0)).point("B", (-1.0, 0, 0)).point("D", (g, 0, 0))
    top = np.sqrt(c * c - half * half)
    spec.point("C", (g - half, top, 0)).point("P", (2 * (g - half) + 1.0, 2 * top, 0))
    spec.link("crank", "A", "B", mass=1.0).link("bar", "B", "C", "P", mass=1.0).link(
        "rocker", "D", "C", mass=1.0
    )
    ends = {
        "A": ("ground", "crank"),
        "B": ("crank", "bar"),
        "C": ("bar", "rocker"),
        "D": ("ground", "rocker"),
    }
    for name, (a, b) in ends.items():
        spec.joint(name, a, b, sr.Revolute("z"), at=name)
    return spec.measure("P", sr.Position("bar", "P")).compile()


def waviness(measures: Any) -> float:
    """Height of the path over its length, in percent."""
    P = measures["P"]
    return float(100.0 * np.ptp(P[:, 1]) / np.ptp(P[:, 0]))


def smooth_waviness(measures: Any) -> float:
    """A power mean instead of the largest height."""
    x, y = measures["P"][:, 0], measures["P"][:, 1]
    return float(np.mean((y - y.mean()) ** 8) ** (1 / 8) / np.ptp(x))


HALF_TURN = Sweep("A", np.radians(np.linspace(-90.0, 90.0, 25)))
RANGES = {"ground": (1.8, 2.6), "coupler": (2.3, 3.2)}


def test_straight_line_against_norton() -> None:
    """Norton, Design of Machinery, table 3-1: for 180 degrees of crank, ground 2.2, coupler 2.8 cranks, and a
    path that is straight to 0.096 percent of its length. The table has steps of 0.025 and 0.0375."""
    fine = Sweep("A", np.radians(np.linspace(-90.0, 90.0, 91)))
    assert waviness(fine.measures(hoeken(2.2, 2.8))) == pytest.approx(0.096, abs=5e-4)
    best = sr.optimize(hoeken(2.1, 2.65), RANGES, smooth_waviness, over=HALF_TURN, tol=1e-5)
    assert best.success and waviness(fine.measures(best.mech)) < 0.096
    assert best.parameters["ground"] == pytest.approx(2.2, abs=0.025)
    assert best.parameters["coupler"] == pytest.approx(2.8, abs=0.0375)
    assert best.mech.parameters == pytest.approx(best.parameters) and best.objective < best.before


def test_spring_that_balances_an_arm() -> None:
    """Closed form: k = m g l / (a b) balances it in every pose."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="arm")
    k = spec.parameter("k", 300.0)
    spec.body("arm", joint=sr.Revolute("y"), mass=2.0, com=(0.5, 0, 0), inertia=(0.01, 0.1, 0.1))
    spec.force("spring", sr.PointSpring("ground", (0, 0, 0.4), "arm", (0.25, 0, 0), stiffness=k))
    spec.constrain("hold", sr.Coupling({"arm": 1.0}))
    spec.measure("holding", sr.Reaction("arm"))
    mech = spec.compile()
    over = Poses([{}])
    best = sr.optimize(
        mech, {"k": (10.0, 1000.0)}, lambda m: float(np.sum(m["holding"][:, 4] ** 2)), over=over
    )
    assert best.success and best.parameters["k"] == pytest.approx(2.0 * 9.81 * 0.5 / (0.4 * 0.25), rel=1e-6)


def crank(counterweight: float = 0.0) -> sr.Mechanism:
    """A rotor out of balance, with a counterweight of adjustable mass at 0.1 m on the other side."""
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="rotor")
    m = spec.parameter("m", counterweight)
    spec.body("rotor", joint=sr.Revolute("z"), mass=3.0, com=(0.02, 0, 0), inertia=(0.1, 0.1, 0.1))
    spec.body(
        "weight", "rotor", joint=sr.Fixed(), at=sr.Pose((-0.1, 0, 0)), mass=m, inertia=(1e-4, 1e-4, 1e-4)
    )
    return spec.measure("bearing", sr.Reaction("rotor", "world")).compile()


def test_balancing_along_a_run() -> None:
    """The shaking force vanishes where m r = M e."""
    over = Run(np.linspace(0.0, 0.5, 11), {"v0": [20.0]})
    best = sr.optimize(
        crank(), {"m": (0.0, 2.0)}, lambda m: float(np.sum(m["bearing"][:, :2] ** 2)), over=over, tol=1e-12
    )
    assert best.parameters["m"] == pytest.approx(3.0 * 0.02 / 0.1, rel=1e-5)


def test_limits_are_kept_and_named() -> None:
    """A longer path than the straightest one has, 4.2 m: on the limit, and less straight."""
    limits = {"reach": (lambda m: np.ptp(m["P"][:, 0]), 4.3, None)}
    options: Any = {"over": HALF_TURN, "tol": 1e-4, "max_iterations": 40}
    free = sr.optimize(hoeken(2.1, 2.65), RANGES, smooth_waviness, **options)
    best = sr.optimize(hoeken(2.3, 2.95), RANGES, smooth_waviness, limits=limits, starts=2, **options)
    assert np.ptp(free.measures["P"][:, 0]) < 4.3 and best.objective > free.objective
    assert np.ptp(best.measures["P"][:, 0]) == pytest.approx(4.3, rel=1e-5) and best.active == ("reach",)
    assert len(best.history) == 2 and best.history[1] <= best.history[0]


def test_parameters_that_nothing_depends_on() -> None:
    """The left arm of a wiper does not know of the rod to the right one."""
    mech, over = sr.library.wiper(), Sweep("motor", np.linspace(0.0, 6.0, 7))

    def swing(measures: Any) -> float:
        return float((np.ptp(measures["left_tip"][:, 0]) - 0.5) ** 2)

    with pytest.raises(InputError, match="no freedom: neither the objective nor a limit depends on 'tandem'"):
        sr.optimize(mech, {"tandem": (0.43, 0.45)}, swing, over=over)
    best = sr.optimize(mech, {"crank": (0.03, 0.052), "tandem": (0.44, 0.45)}, swing, over=over)
    assert best.message == "Converged. Nothing depends on 'tandem'." and best.objective < 1e-8


def test_designs_that_cannot_be_assembled_are_avoided() -> None:
    """A coupler too short to turn all the way: the search stays where it turns."""
    best = sr.optimize(hoeken(), {"coupler": (1.2, 3.5)}, smooth_waviness, over=HALF_TURN, tol=1e-4)
    assert np.isfinite(best.objective) and best.parameters["coupler"] > 1.5


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"parameters": {}}, InputError, "optimize has no freedom"),
        (
            {"parameters": {"ground": (2.0, 2.0)}},
            InputError,
            "lower < upper, finite, got .2, 2.: it leaves no freedom",
        ),
        ({"parameters": {"ground": 2.0}}, InputError, "must be a pair"),
        ({"parameters": {"span": (1.0, 2.0)}}, UnknownNameError, "span"),
        ({"objective": "height"}, UnknownNameError, "height"),
        ({"objective": lambda m: "low"}, InputError, "must return a number"),
        ({"over": None}, InputError, "over of optimize must be"),
        ({"limits": {"P": (None, None)}}, InputError, "open on both sides"),
        ({"limits": {"height": (0.0, 1.0)}}, UnknownNameError, "height"),
        ({"limits": {"P": 1.0}}, InputError, "must be .lower, upper. of a measure"),
        ({"limits": {"P": (2.0, 1.0)}}, InputError, "lower <= upper, got .2, 1."),
        ({"limits": {"Q": (lambda m: m["Q"], 0.0, 1.0)}}, UnknownNameError, "unknown measure 'Q'; .*'P'"),
        ({"objective": lambda m: m["Q"]}, UnknownNameError, "unknown measure 'Q'; existing names: 'P'"),
        ({"objective": lambda m: np.nan}, InputError, "must be a finite number, got nan at {'ground': "),
        ({"parameters": {"coupler": (0.1, 0.5)}}, InputError, "no design within .*'coupler': 0.5"),
    ],
)
def test_bad_problems(change: dict[str, Any], error: Any, message: str) -> None:
    given: dict[str, Any] = {
        "parameters": {"ground": (1.8, 2.6)},
        "objective": waviness,
        "over": Sweep("A", [0.0, 0.1]),
    }
    given |= change
    with pytest.raises(error, match=message):
        sr.optimize(hoeken(), given.pop("parameters"), given.pop("objective"), **given)


def test_mechanisms_without_parameters_or_measures() -> None:
    with pytest.raises(InputError, match="has no parameters to vary"):
        sr.optimize(sr.library.pendulum(), {"a": (0, 1)}, waviness, over=Sweep("A", [0.0]))
    spec = sr.MechanismSpec()
    spec.body("arm", joint=sr.Revolute("y"), mass=spec.parameter("m", 1.0), inertia=(1, 1, 1))
    with pytest.raises(InputError, match="has no measures"):
        sr.optimize(spec.compile(), {"m": (0.5, 1)}, waviness, over=Sweep("arm", [0.0]))
    with pytest.raises(InputError, match="takes a Mechanism"):
        sr.optimize(spec, {"m": (0.5, 1)}, waviness, over=Sweep("arm", [0.0]))  # type: ignore[arg-type]


@pytest.mark.parametrize("given", [[], {"A": 0.1}])
def test_poses_are_a_list_of_mappings(given: Any) -> None:
    with pytest.raises(InputError, match="Poses takes a list of at least one mapping"):
        Poses(given)


def test_why_a_start_cannot_be_evaluated_is_said() -> None:
    """A crank longer than 0.2569 m turns only a part of the way, docs/kinematics.md."""
    mech, turn = four_bar().with_(a=0.27), Sweep("A", np.linspace(0.0, 2 * np.pi, 37))
    with pytest.raises(InputError, match=r"no design within the ranges .* Stopped at 'A' = .*a dead centre"):
        sr.optimize(mech, {"a": (0.265, 0.28)}, "reach", over=turn)


def test_a_gradient_stays_exact_where_other_starts_cannot_be_built() -> None:
    """Those have no gradient at all."""
    options: Any = {"over": HALF_TURN, "starts": 4, "seed": 3, "tol": 1e-3}
    best = sr.optimize(hoeken(2.1, 2.65), {"coupler": (0.2, 3.2)}, lambda m: np.var(m["P"][:, 1]), **options)
    assert best.gradient == {"objective": "exact"} and best.success


def test_a_start_that_keeps_no_limit_and_has_no_size() -> None:
    """A lid that stays open: its objective is zero, linear steps towards the limit leave the range."""
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81), name="lid")
    c = spec.parameter("c", 15.0)
    spec.body("lid", joint=sr.Revolute("y"), mass=4.0, com=(0.3, 0, 0), inertia=(1e-3,) * 3, damping=c)
    spec.measure("angle", sr.Coordinate("lid")).measure("hit", lambda q, v, t: np.maximum(q[0], 0.0))
    lid = spec.compile().with_default([np.radians(-80.0)])
    over, limits = Run(np.linspace(0.0, 1.0, 21)), {"shut": (lambda x: x["angle"][-1], -0.02, 0.02)}
    found = sr.optimize(lid, {"c": (0.5, 20.0)}, lambda x: np.sum(x["hit"] ** 2), over=over, limits=limits)
    assert found.success and abs(found.measures["angle"][-1]) < 0.0201


def test_runs_that_events_end_are_refused() -> None:
    """Runs of designs would end at different times; the last state kept was one before the event."""

    def down(t: float, q: Any, v: Any) -> float:
        return float(q[0])

    down.terminal = True  # type: ignore[attr-defined]
    with pytest.raises(sr.InputError, match="would end runs of designs at different times"):
        sr.design.Run([0.0, 1.0], {"events": [down]})
