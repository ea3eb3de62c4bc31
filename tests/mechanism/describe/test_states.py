"""States of first order against closed forms: filters, oil columns, motors; in runs, models, equilibria."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError, ModelError

AREA, BULK, VOLUME, FLOW, MASS = 1e-3, 1e9, 1e-3, 1e-4, 50.0
KINDS = pytest.mark.parametrize("kind", ["recorded", "function", "expression"])


def cylinder(kind: str, leak: float = 0.0, spring: float = 0.0, start: float = 0.0) -> sr.Mechanism:
    """A piston on a column of oil, fed by a constant flow."""
    spec = sr.MechanismSpec(name="cylinder", gravity=(0, 0, 0))
    spec.body("piston", joint=sr.Prismatic("x"), mass=MASS)

    def rate(t: Any, at: Any) -> Any:
        return BULK / VOLUME * (FLOW - leak * at["pressure"] - AREA * at.speed("piston"))

    given: Any = {"recorded": sr.recorded(rate), "function": rate}.get(kind)
    if given is None:
        oil, speed = spec.coordinate("pressure"), spec.speed("piston")
        given = BULK / VOLUME * (FLOW - leak * oil - AREA * speed)
    p = spec.state("pressure", given, start=start, size=1e6)
    spec.force("oil", sr.FormulaForce([AREA * p], coordinate="piston"))
    if spring:
        spec.force("spring", sr.JointSpring("piston", spring))
    return spec.compile()


@KINDS
def test_a_column_of_oil(kind: str) -> None:
    """x'' = A p / m and p' = K/V (Q - A x'): x' = Q/A (1 - cos w t), w^2 = K A^2 / (V m)."""
    run = sr.simulate(cylinder(kind), (0, 0.1), rtol=1e-11)
    w = AREA * math.sqrt(BULK / VOLUME / MASS)
    speed, pressure = FLOW / AREA * (1 - np.cos(w * run.t)), MASS * w * FLOW / AREA**2 * np.sin(w * run.t)
    np.testing.assert_allclose(run.v[:, 0], speed, atol=1e-9 * FLOW / AREA)
    np.testing.assert_allclose(run.v[:, 1], pressure, atol=1e-9 * np.max(pressure))


@KINDS
def test_linear_models_equilibria_and_freedoms(kind: str) -> None:
    leak, spring = 1e-11, 1e5
    mech = cylinder(kind, leak, spring, start=1e5)
    assert mech.mobility().dof == 1 and mech.states == ("pressure",) and mech.passive == ()
    rest = sr.equilibrium(mech)
    assert rest.states["pressure"] == pytest.approx(FLOW / leak, rel=1e-9) and rest.stable
    assert rest.q[0] == pytest.approx(AREA * FLOW / leak / spring, rel=1e-9)
    model = sr.linearize(mech, rest.q, rest.v)
    assert model.names == ("q.piston", "v.piston", "pressure")
    A = [[0, 1, 0], [-spring / MASS, 0, AREA / MASS], [0, -BULK / VOLUME * AREA, -BULK / VOLUME * leak]]
    np.testing.assert_allclose(model.A, A, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rest.eigenvalues, model.eigenvalues, rtol=1e-9)
    outputs = sr.linearize(mech, rest.q, rest.v, outputs=["pressure", "piston"])
    np.testing.assert_allclose(outputs.C, [[0, 0, 1], [1, 0, 0]], atol=1e-15)
    chosen = sr.linearize(mech, rest.q, rest.v, independent=["piston"])
    np.testing.assert_allclose(chosen.A, A, rtol=1e-9, atol=1e-9)
    batch = sr.linearize(mech, np.tile(rest.q, (2, 1)), np.tile(rest.v, (2, 1)))
    np.testing.assert_allclose(batch.A[1], A, rtol=1e-9, atol=1e-9)
    for form in ("full", "descriptor"):
        other = sr.linearize(mech, rest.q, rest.v, form=form)
        assert "q.pressure" not in other.names
        np.testing.assert_allclose(
            np.sort_complex(other.eigenvalues), np.sort_complex(model.eigenvalues), rtol=1e-8
        )


def test_rollouts_and_files(tmp_path: Any) -> None:
    mech = cylinder("recorded", 1e-11, 1e5, start=1e5)
    run = sr.simulate(mech, (0, 0.05), dt=1e-4, method="rk4")
    many = sr.rollout(mech, np.tile(mech.default.q, (3, 1)), dt=1e-4, steps=500)
    np.testing.assert_allclose(many.v[2, -1], run.v[-1], rtol=1e-12)
    sr.save(mech, tmp_path / "m.json")
    for again in (sr.load(tmp_path / "m.json"), pickle.loads(pickle.dumps(mech))):
        assert again.default.v[1] == 1e5 and again.states == mech.states
        np.testing.assert_array_equal(sr.simulate(again, (0, 0.05), dt=1e-4, method="rk4").v, run.v)
    with pytest.raises(InputError, match="has no states of first order"):
        sr.save(mech, tmp_path / "m.xml")
    assert "pressure" in str(mech) and mech.energy(mech.default.q, mech.default.v).kinetic == 0.0


def test_python_rates_are_refused_by_name() -> None:
    mech = cylinder("function")
    with pytest.raises(InputError, match=r"Python functions of\s+'pressure'"):
        sr.rollout(mech, [mech.default.q], dt=1e-3, steps=2)
    with pytest.raises(InputError, match="'pressure'"):
        mech.export_code("nowhere")


def test_a_motor_with_a_current() -> None:
    """L i' = U - R i - k w, J w' = k i: the speed of a motor without load."""
    L, R, k, J, U = 1e-3, 0.5, 0.02, 1e-4, 12.0
    spec = sr.MechanismSpec(name="motor", gravity=(0, 0, 0))
    spec.body("rotor", joint=sr.Revolute("z"), inertia=(J, J, J), mass=0.1)
    i = spec.state("current", sr.recorded(lambda t, at: (U - R * at["current"] - k * at.speed("rotor")) / L))
    mech = spec.force("torque", sr.FormulaForce([k * i], coordinate="rotor")).compile()
    run = sr.simulate(mech, (0, 1.0), rtol=1e-11)
    M = np.array([[0, k / J], [-k / L, -R / L]])
    values, V = np.linalg.eig(M)
    rest = np.array([U / k, 0.0])
    exact = rest + (V @ (np.linalg.solve(V, -rest) * np.exp(values * run.t[-1]))).real
    np.testing.assert_allclose(run.v[-1], exact, rtol=1e-9, atol=1e-9)


def test_a_filter_in_a_loop_with_rows() -> None:
    """A state beside a closed loop follows a coordinate of it: z' = (x - z) / T, by a run of its own."""
    plain = sr.library.four_bar()
    spec = sr.MechanismSpec.from_model(plain.model)
    spec.state("seen", sr.recorded(lambda t, at: (at[plain.names[0]] - at["seen"]) / 0.05), start=0.2)
    mech = spec.compile()
    q0, v0 = (np.append(x, 0.0) for x in plain.default)
    v0[-1] = 0.2
    run, alone = sr.simulate(mech, (0, 0.5), q0, v0, rtol=1e-10), sr.simulate(plain, (0, 0.5), rtol=1e-10)
    np.testing.assert_allclose(run.q[-1, :-1], alone.q[-1], atol=1e-8)
    t = np.linspace(0, 0.5, 4001)
    x = alone.at(t).q[:, 0]
    weight = np.exp((t - 0.5) / 0.05) / 0.05
    exact = 0.2 * math.exp(-10.0) + np.trapezoid(weight * x, t)
    assert run.v[-1, -1] == pytest.approx(exact, abs=1e-6)
    assert mech.mobility(q0).dof == plain.mobility(plain.default.q).dof


def test_holding_leaves_states_alone() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("mass", joint=sr.Prismatic("z"), mass=10.0)
    p = spec.state("p", sr.recorded(lambda t, at: 5.0 - at["p"]), start=2.0)
    spec.force("lift", sr.FormulaForce([3.0 * p], coordinate="mass")).actuate("mass")
    held = spec.compile().hold([0.0, 0.0])
    assert held.success and held.motors["mass"][0] == pytest.approx(10.0 * 9.81 - 6.0, rel=1e-12)
    assert "p" not in held.message.split()


def test_pictures_do_not_show_states() -> None:
    import matplotlib

    matplotlib.use("agg")
    from sarrus.viz.scenes.skeleton import skeleton

    assert not any("pressure" in part.element for part in skeleton(cylinder("recorded")).parts)


def test_refusals() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Prismatic("x"), mass=1.0).force("f", sr.JointSpring("a", 1.0))
    with pytest.raises(InputError, match="a force called 'f' exists already"):
        spec.state("f", 1.0)
    with pytest.raises(ModelError, match="'a' exists already"):
        spec.state("a", 1.0)
    with pytest.raises(InputError, match="cannot be given to a state"):
        spec.state("ground", 1.0)
    with pytest.raises(InputError, match=r"rate of state 'p' must be a function of \(t, at\)"):
        spec.state("p", lambda t: 0.0)
    with pytest.raises(InputError, match="size of state 'p' must be positive"):
        spec.state("p", 1.0, size=-1.0)
    spec.state("p", lambda t, at: at.speed("p"))
    mech = spec.compile()
    with pytest.raises(InputError, match="is a state; its value is known"):
        mech.bias([0.0, 0.0], [0.0, 0.0])
