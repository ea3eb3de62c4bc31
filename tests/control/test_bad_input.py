"""What controllers refuse when they are built, and what they report, without raising, while they run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

C = sr.control


@pytest.fixture(scope="module")
def mech() -> sr.Mechanism:
    return sr.library.pantograph_leg()


def pid(mech: Any, *args: Any, **more: Any) -> C.ProjectedInverseDynamics:
    return C.ProjectedInverseDynamics(mech, *args, **more)


@pytest.mark.parametrize(
    ("outputs", "reference", "more", "message"),
    [
        (
            "knee",
            0.0,
            {},
            "Coordinates: unknown coordinate 'knee'; existing names: 'thigh', 'shank', 'crank', 'rod'",
        ),
        ([], 0.0, {}, "outputs must be the name of a coordinate, a list of names, or outputs such as"),
        (7, 0.0, {}, "outputs must be the name of a coordinate"),
        (C.Position("foot"), 0.0, {}, "Position: unknown body 'foot'"),
        (C.Position("shank", (1.0, 2.0)), 0.0, {}, r"point of Position\('shank'\) must have shape \(3,\)"),
        (
            C.Position("shank", axes="xw"),
            0.0,
            {},
            "Position: unknown axis 'w'; existing names: 'x', 'y', 'z'",
        ),
        (C.Position("shank", axes="xx"), 0.0, {}, "axes of Position must be different axes, at least one"),
        (C.Position("shank", axes="xy"), [1.0], {}, r"x must have shape \(2,\), one entry each for"),
        (C.Position("shank", axes="xy"), [1.0, np.nan], {}, "SetPoint must be finite"),
        ("thigh", lambda t: (np.nan, 0.0, 0.0), {}, "x of the reference must be a finite number, got nan"),
        ("thigh", lambda t: ([1.0], [1.0, 2.0], [0.0]), {}, r"x' must have shape \(1,\)"),
        ("thigh", lambda t: 1 / t, {}, "reference of output thigh at t = 0 s: it raised ZeroDivisionError"),
        ("thigh", sr.Pose(), {}, "got a Pose"),
        (C.BodyPose("shank"), [0.0] * 6, {}, "x must be a Pose, got ndarray"),
        (
            C.BodyPose("shank"),
            lambda t: (sr.Pose(), [0.0] * 3, [0.0] * 6),
            {},
            r"x' must be \[linear; angular\]",
        ),
        (["thigh", C.Position("shank")], [0.0], {}, "reference must be a list of 2, one per output, got 1"),
        (["thigh", C.Position("shank")], 0.0, {}, "reference must be a list of 2, one per output, got float"),
        ("thigh", 0.0, {"kp": 0.0}, "kp must be positive definite: its smallest eigenvalue is 0"),
        ("thigh", 0.0, {"kp": -3.0}, "kp must be positive definite"),
        ("thigh", 0.0, {"kd": [1.0, 2.0]}, r"kd must have shape \(1,\)"),
        (["thigh", "crank"], [0.0, 0.0], {"kp": [[1.0, 2.0], [0.0, 1.0]]}, "kp must be symmetric"),
        (["thigh", "crank"], [0.0, 0.0], {"kp": [[1.0, 2.0], [2.0, 1.0]]}, "smallest eigenvalue is -1"),
        ("thigh", 0.0, {"kp": np.nan}, "kp must be finite"),
        (
            "thigh",
            0.0,
            {"metric": "weight"},
            'metric must be None, "length", "limits", "mass" or positive weights',
        ),
        ("thigh", 0.0, {"metric": [1.0, -1.0, 1.0, 1.0]}, "metric must be 4 positive numbers"),
        ("thigh", 0.0, {"metric": np.zeros((4, 4))}, "must be positive definite"),
        ("thigh", 0.0, {"metric": "limits"}, "but these have none: thigh, crank"),
        ("thigh", 0.0, {"actuated": []}, "actuated must name at least one actuator"),
        (
            "thigh",
            0.0,
            {"actuated": ["shank"]},
            "actuated: unknown actuator 'shank'; existing names: 'thigh', 'crank'",
        ),
        ("thigh", 0.0, {"leftover_damping": -1.0}, "leftover_damping must not be negative"),
        ("thigh", 0.0, {"least_feel": -1.0}, "least_feel must not be negative"),
        ("thigh", 0.0, {"transition": np.inf}, "transition must be a finite number"),
        (C.Function(3.0), 0.0, {}, r"Function needs a function x\(q\)"),  # type: ignore[arg-type]
        (C.Function(lambda q: np.nan), 0.0, {}, "must return k finite numbers, got"),
        (C.Function(lambda q: q, names=["a"]), 0.0, {}, "names of a Function must be 4 names"),
        (C.Function(lambda q: q[:2], unit=[1.0]), 0.0, {}, r"unit of a Function must have shape \(2,\)"),
        (C.Function(lambda q: q[:2], unit=-1.0), 0.0, {}, "unit of a Function must be positive"),
    ],
)
def test_refused_when_built(
    mech: sr.Mechanism, outputs: Any, reference: Any, more: dict[str, Any], message: str
) -> None:
    with pytest.raises(sr.SarrusError, match=message):
        pid(mech, outputs, reference, **more)


def test_refused_mechanisms() -> None:
    with pytest.raises(
        sr.InputError, match=r"takes a Mechanism \(compile a MechanismSpec first\) or a CustomSystem"
    ):
        pid(sr.MechanismSpec(), "a", 0.0)
    spec = sr.MechanismSpec(name="loose")
    spec.body("arm", joint=sr.Revolute("z"), mass=1.0, com=(1.0, 0.0, 0.0))
    spec.actuate()
    with pytest.raises(sr.InputError, match="'loose' has no actuated joint; name some"):
        pid(spec.compile(), "arm", 0.0)
    system = sr.CustomSystem(1, 1, M=[[1.0]])
    with pytest.raises(
        sr.InputError, match="Position needs bodies, and 'custom system' is a system of functions"
    ):
        pid(system, C.Position("q0"), [0.0, 0.0, 0.0])
    with pytest.raises(sr.InputError, match=r"Coordinates needs at least one name"):
        C.Coordinates()


@pytest.mark.parametrize(
    ("t", "q", "v", "message"),
    [
        (0.0, [np.nan, 0.0, 0.0, 0.0], [0.0] * 4, "not finite"),
        (0.0, [0.0] * 4, [np.inf] * 4, "not finite"),
        (np.nan, [0.0] * 4, [0.0] * 4, "not finite"),
    ],
)
def test_bad_measurements_hold_the_last_input(
    mech: sr.Mechanism, t: float, q: Any, v: Any, message: str
) -> None:
    law = pid(mech, "thigh", 0.0)
    assert law.solve(t, q, v).u.tolist() == [0.0, 0.0]
    good = law.solve(0.0, *mech.default)
    bad = law.solve(t, q, v)
    assert bad.status == C.Status.FAILED and not bad.success and np.array_equal(bad.u, good.u)
    with pytest.raises(sr.InputError, match=message):
        raise sr.InputError(bad.message)
    assert bad.message.startswith("held the last input: ")
    assert np.isnan(bad.errors).all() and np.isnan(bad.tau_tangent).all() and bad.rank == -1
    assert np.isnan(bad.missed).all() and np.isnan(bad.constraint_force).all() and bad.lam.size == 0
    assert not bad.controllable and bad.uncontrollable == () and bad.margins == {} and not bad.decoupled


@pytest.mark.parametrize(
    ("t", "q", "v", "message"),
    [
        (0.0, [0.0] * 3, [0.0] * 4, r"needs q with shape \(4,\) and v with shape \(4,\), got \(3,\) and"),
        (0.0, [[0.0] * 4], [0.0] * 4, r"got \(1, 4\) and \(4,\)"),
        (0.0, "here", [0.0] * 4, "not made of numbers"),
        ([0.0] * 4, [0.0] * 4, 0.0, "not made of numbers"),  # t last
    ],
)
def test_wrong_arguments_raise(mech: sr.Mechanism, t: Any, q: Any, v: Any, message: str) -> None:
    """0.1.0 returned the last input, zeros at first, with a status that nobody has to read."""
    hierarchy = C.TaskHierarchy(mech, C.PriorityTask("thigh", 0.0))
    for law in (pid(mech, "thigh", 0.0), hierarchy):
        with pytest.raises(sr.InputError, match=message):
            law(t, q, v)
        good = law.solve(0.0, *mech.default)
        with pytest.raises(sr.InputError, match=message):
            law(t, q, v)
        assert law.last is good


def test_references_and_functions_that_fail_on_the_way(mech: sr.Mechanism) -> None:
    def reference(t: float) -> Any:
        if t > 0.02:
            raise RuntimeError("planner died")
        return 0.0, 0.0, 0.0

    law = pid(mech, "thigh", reference)
    run = sr.simulate(mech, (0.0, 0.03), control=law, dt=1e-3)
    assert not run.success and run.t[-1] >= 0.02
    assert "it raised RuntimeError: planner died" in run.message

    def x(q: np.ndarray) -> Any:
        if abs(q[0] - mech.default.q[0]) > 0.01:
            return np.array([np.nan])
        return q[:1]

    broken = pid(mech, C.Function(x, lambda q: np.eye(4)[:1]), 0.0)
    moved = np.array(mech.default.q) + 0.1
    with pytest.raises(sr.InputError, match=r"x\(q\) of a Function must be finite"):
        broken.solve(0.0, moved, np.zeros(4))
    shapes = pid(mech, C.Function(lambda q: q[:1], lambda q: np.eye(3)), 0.0)
    with pytest.raises(sr.InputError, match=r"of a Function must have shape \(1, 4\), got \(3, 3\)"):
        shapes.solve(0.0, *mech.default)

    def raises(q: np.ndarray) -> Any:
        raise KeyError("no such thing")

    failing = pid(mech, C.Function(lambda q: q[:1], raises), 0.0)
    with pytest.raises(sr.InputError, match=r"output x\[0\]: it raised KeyError"):
        failing.solve(0.0, *mech.default)


def test_active_constraints_that_do_not_exist_are_reported(mech: sr.Mechanism) -> None:
    law = pid(mech, "thigh", 0.0, active=lambda t, q, v: ["glue"])
    with pytest.raises(sr.UnknownNameError, match="unknown constraint 'glue'; existing names: 'pin'"):
        law.solve(0.0, *mech.default)
    with pytest.raises(sr.UnknownNameError, match=r"unknown constraint \[1.0\]; existing names: 'pin'"):
        C.ProjectedInverseDynamics(sr.library.four_bar(), "crank", 0.0, active=[[1.0]])
