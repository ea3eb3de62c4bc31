"""The compiled step: the same law stage by stage, at states on and off the constraints."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.control.core.force_metric import applied
from sarrus.control.core.least_norm_inputs import least_norm_inputs
from sarrus.control.state.measured_state import measured_state
from sarrus.dynamics.input_response import respond

C = sr.control
EXACTLY = (0.0, 0.0)  # nothing is in doubt
EXACT = 1e-11  # relative: the same formulas, matrices stored with other strides


def arms(metric: Any = None, **options: Any) -> Any:
    mech = sr.library.dual_arm_box()
    X = mech.pose(mech.default.q, "box")
    goal = sr.Pose(X.xyz + 0.1, matrix=X.rotation)
    outputs = [
        C.BodyPose("box"),
        C.Position("left3", (0.0, 0.1, 0.0), "xz"),
        "right2",
        C.Orientation("right3"),
    ]
    hand = mech.pose(mech.default.q, "right3")
    references = [goal, [0.2, 0.4], C.Sinusoid(0.1, 0.2, 3.0), hand]
    return C.ProjectedInverseDynamics(mech, outputs, references, kp=50.0, metric=metric, **options)


def with_python_output() -> Any:
    """At a singular pose, with a velocity that has no smooth continuation: states known exactly."""
    mech = sr.library.five_bar()
    tip = C.Function(lambda q: np.array([np.sin(q[0]), q[1] * q[0]]), unit=2.0)
    return C.ProjectedInverseDynamics(mech, [tip, "link2"], [[0.1, 0.2], 0.3], measurement=EXACTLY)


def with_user_rows() -> Any:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    spec.body("b", joint=sr.Revolute("z"), mass=2.0, com=(0.2, 0.0, 0.0), inertia=(0.1, 0.2, 0.3))
    spec.constrain("cam", sr.CustomConstraint(lambda q, t: [np.sin(q[0]) - q[1]], 1))
    return C.ProjectedInverseDynamics(spec.compile(), C.Position("b", (1.0, 0.0, 0.0), "y"), 0.4)


def of_functions() -> Any:
    system = sr.CustomSystem(
        2,
        2,
        M=lambda q, v, t: np.diag([1.0, 2.0 + q[0] ** 2]),
        h=lambda q, v, t: np.array([0.3, v[0]]),
        phi=lambda q, v, t: [q @ q - 1.0],
    )
    return C.ProjectedInverseDynamics(system, system.names[1], 0.5)


LAWS = {
    "arms": arms,
    "in the mass metric": lambda: arms("mass"),
    "null space damped": lambda: arms("length", leftover_damping=3.0),
    "redundant rows": lambda: C.ProjectedInverseDynamics(sr.library.four_bar(), "crank", 0.1),
    "some constraints open": lambda: arms(active=["grip_left"]),
    "an output in Python": with_python_output,
    "rows of the user's": with_user_rows,
    "a system of functions": of_functions,
}


def staged(law: Any, t: float, q: Any, v: Any) -> tuple[Any, Any, Any]:
    """Inputs of least norm by the functions that the compiled step replaces, and predicted acceleration."""
    active = law._active.at(measured_state(law.system, t, q, v))
    response = respond(active.terms, law._columns, active.units, active.now if active.rows is None else None)
    task, metric = law._task.track(active.now), law._metric.factor(active.terms)
    least = least_norm_inputs(
        response, task.J, task.wanted, law._task.unit, active.now.v, metric, **law._damping
    )
    u = applied(metric, least.x)
    return u, response.a0 + response.B @ u, (task, response, active.now)


@pytest.mark.parametrize("off", [0.0, 1e-3])
@pytest.mark.parametrize("name", LAWS)
def test_one_call_gives_what_its_stages_give(name: str, off: float) -> None:
    law = LAWS[name]()
    mech, random = law.system, np.random.default_rng(3)
    q = np.array([0.6, 0.8] if name == "a system of functions" else mech.default.q)
    v = 0.3 * random.normal(size=mech.nv)
    q = mech.integrate(q, off * random.normal(size=mech.nv))
    if off == 0.0:
        v = mech.consistent_velocity(q, v)
    found = law.solve(0.2, q, v)
    u, a, (task, response, now) = staged(law, 0.2, q, v)
    size = 1.0 + np.abs(u).max()
    np.testing.assert_allclose(found.u[law._used], u, atol=EXACT * size)
    np.testing.assert_allclose(found.a, a, atol=EXACT * (1.0 + np.abs(a).max()))
    for part in ("x", "desired", "e", "rate", "J", "wanted"):
        np.testing.assert_allclose(
            getattr(found._task, part), getattr(task, part), atol=EXACT * 100.0, err_msg=part
        )
    np.testing.assert_allclose(found._step.now.q, now.q, atol=1e-13)
    lam = response.lam0 + response.Lam @ u
    rows = slice(None) if found._step.rows is None else found._step.rows
    np.testing.assert_allclose(found.lam[rows], lam, atol=EXACT * (1.0 + np.abs(lam).max()))


def test_results_outlive_the_next_step() -> None:
    law = arms()
    q, v = (np.array(x) for x in law.system.default)
    first = law.solve(0.0, q, v)
    lam = first.lam.copy()
    kept = law.solve(0.0, q, v)
    law.solve(1.0, law.system.integrate(q, np.full(law.system.nv, 1e-3)), v)
    del first
    np.testing.assert_array_equal(kept.lam, lam)


def test_a_function_that_fails_inside_the_call_is_named() -> None:
    mech = sr.library.five_bar()
    calls = []

    def broken(q: Any) -> Any:
        calls.append(q)
        if len(calls) > 3:
            raise RuntimeError("sensor gone")
        return q[:1]

    law = C.ProjectedInverseDynamics(mech, C.Function(broken, names=["tip"]), 0.1)
    with pytest.raises(sr.InputError, match="output tip: it raised RuntimeError: sensor gone"):
        law(0.0, *mech.default)
