"""Linear models in general coordinates [Spencer2004] 2.3, 4.1: combinations, matrices, charts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr


def moving(name: str, seed: int = 1) -> tuple[sr.Mechanism, np.ndarray, np.ndarray]:
    """A mechanism in motion, away from equilibrium."""
    mech = getattr(sr.library, name)()
    q = mech.default.q
    return mech, q, mech.consistent_velocity(q, np.random.default_rng(seed).normal(size=mech.nv))


def absolute(mech: sr.Mechanism, model: Any, chart: Any, q: np.ndarray, v: np.ndarray) -> np.ndarray:
    """(y, y') of a state for coordinates y = R dq."""
    dq = mech.difference(model.point.q, q)
    return np.concatenate([chart @ dq, chart @ v])


@pytest.mark.parametrize("name", ["four_bar", "five_bar", "loader", "slider_crank", "stewart"])
def test_names_are_the_independent_coordinates(name: str) -> None:
    mech, q, v = moving(name) if name != "five_bar" else (sr.library.five_bar("raised"), None, None)
    usual = sr.linearize(mech, q, v)
    same = sr.linearize(mech, q, v, coordinates=list(usual.independent))
    size = np.max(np.abs(usual.A))
    for part in ("A", "B", "C", "D", "rate", "lift", "reduce"):
        np.testing.assert_allclose(getattr(same, part), getattr(usual, part), atol=1e-9 * size, err_msg=part)
    assert same.names == usual.names and same.outputs == usual.outputs
    assert same.independence > 0.0


def by_differences(mech: Any, model: Any, to_y: Any, h: float = 1e-4) -> tuple[np.ndarray, np.ndarray]:
    """A and B from the nonlinear equations: (y', y'') of neighbours on the constraints, by differences."""
    p, n = model.point, model.A.shape[0]

    def rate(x: np.ndarray, u: np.ndarray) -> np.ndarray:
        q = mech.integrate(p.q, (model.lift @ x)[: mech.nv])
        for _ in range(5):  # onto phi = 0 and y = y_0 + x
            miss = np.concatenate(
                [to_y(q, p.v)[: n // 2] - y0[: n // 2] - x[: n // 2], mech.terms(q, p.v).phi]
            )
            rows = np.vstack([slope_y(q), mech.terms(q, p.v).J])
            q = mech.integrate(q, -np.linalg.lstsq(rows, miss, rcond=None)[0])
        rows = np.vstack([slope_y(q), mech.terms(q, p.v).J])
        v = np.linalg.lstsq(
            rows, np.concatenate([y0[n // 2 :] + x[n // 2 :], np.zeros(mech.nc)]), rcond=None
        )[0]
        a = mech.forward_dynamics(q, v, u=u).a
        e = 1e-4
        ahead, behind = (to_y(mech.integrate(q, s * e * v + e * e / 2 * a), v + s * e * a) for s in (1, -1))
        second = (ahead[n // 2 :] - behind[n // 2 :]) / (2 * e)
        return np.concatenate([to_y(q, v)[n // 2 :], second])

    def slope_y(q: np.ndarray) -> np.ndarray:
        e = 1e-5
        columns = [
            (to_y(mech.integrate(q, e * i), p.v) - to_y(mech.integrate(q, -e * i), p.v))[: n // 2] / (2 * e)
            for i in np.eye(mech.nv)
        ]
        return np.array(columns).T

    y0 = to_y(p.q, p.v)
    A = np.array([(rate(h * e, p.u) - rate(-h * e, p.u)) / (2 * h) for e in np.eye(n)]).T
    B = np.array([(rate(np.zeros(n), p.u + e) - rate(np.zeros(n), p.u - e)) / 2.0 for e in np.eye(mech.nu)]).T
    return A, B


def test_combinations_against_differences() -> None:
    """Absolute angles of a five-bar in motion; away from equilibrium eigenvalues differ."""
    mech = sr.library.five_bar("raised")
    q = mech.default.q
    v = mech.consistent_velocity(q, [0.5, -0.3, 0.2, 0.1])
    names = mech.names
    R = np.array([[1.0, 1.0, 0.0, 0.0], [1.0, 1.0, 1.0, 0.0]])
    sums = [{names[0]: 1, names[1]: 1}, {names[0]: 1, names[1]: 1, names[2]: 1}]
    model = sr.linearize(mech, q, v, coordinates=sums)
    A, B = by_differences(mech, model, lambda q, v: np.concatenate([R @ q, R @ v]))
    np.testing.assert_allclose(model.A, A, atol=1e-5 * np.abs(A).max())
    np.testing.assert_allclose(model.B, B, atol=1e-5 * np.abs(B).max())
    again = sr.linearize(mech, q, v, coordinates=R)
    np.testing.assert_allclose(again.A, model.A, atol=1e-10 * np.abs(A).max())
    assert model.names[0] == f"q.{names[0]} + {names[1]}" and again.names[0] == "q.y0"
    other = sr.linearize(mech, q, v)
    assert not np.allclose(np.sort(other.eigenvalues), np.sort(model.eigenvalues), rtol=1e-3)


def test_a_chart_against_differences() -> None:
    """Coordinates that are no linear functions: where a point of the coupler is, the linkage in motion."""
    mech = sr.library.five_bar("raised")
    q = mech.default.q
    v = mech.consistent_velocity(q, [0.5, -0.3, 0.2, 0.1])
    body = mech.body_names[2]

    def place(q: np.ndarray) -> np.ndarray:
        return np.asarray(mech.pose(q, body).apply((1.5, 0.0, 0.0))[:2])

    chart = sr.Chart(lambda q, y: place(q) - y, 2, y0=place(q), name="pin")
    model = sr.linearize(mech, q, v, coordinates=chart)
    J = lambda q: mech.jacobian(q, body, (1.5, 0.0, 0.0))[:2]  # noqa: E731
    A, B = by_differences(mech, model, lambda q, v: np.concatenate([place(q), J(q) @ v]))
    np.testing.assert_allclose(model.A, A, atol=1e-4 * np.abs(A).max())
    np.testing.assert_allclose(model.B, B, atol=1e-4 * np.abs(B).max())
    assert model.names == ("q.pin0", "q.pin1", "v.pin0", "v.pin1")
    np.testing.assert_allclose(model.reduce @ model.lift, np.eye(4), atol=1e-8)
    np.testing.assert_allclose(model.rate[:2], J(q) @ v, atol=1e-12)


def test_at_an_equilibrium_all_coordinates_have_the_same_eigenvalues() -> None:
    mech = sr.library.five_bar("raised")
    rest = sr.equilibrium(mech)
    usual = sr.linearize(mech, rest.q, u=rest.u)
    body = mech.body_names[2]
    place = lambda q: mech.pose(q, body).apply((1.5, 0.0, 0.0))[:2]  # noqa: E731
    chart = sr.Chart(lambda q, y: place(q) - y, 2, y0=place(rest.q))
    for coordinates in ([{mech.names[0]: 1, mech.names[3]: -2}, mech.names[1]], np.eye(4)[[0, 2]], chart):
        model = sr.linearize(mech, rest.q, u=rest.u, coordinates=coordinates)
        # real parts are rounding here
        order, usual_order = np.argsort(model.eigenvalues.imag), np.argsort(usual.eigenvalues.imag)
        # a pair of eigenvalues on the imaginary axis moves by the root of the rounding at most
        np.testing.assert_allclose(model.eigenvalues[order], usual.eigenvalues[usual_order], atol=1e-6)


def test_models_convert_into_each_other() -> None:
    mech, q, v = moving("loader")
    outputs = [f"a.{mech.names[0]}", f"v.{mech.names[1]}"]
    usual = sr.linearize(mech, q, v, u=0.1 * np.ones(mech.nu), outputs=outputs)
    R = np.random.default_rng(3).normal(size=(2, mech.nv))
    other = usual.in_coordinates(R)
    back = other.in_coordinates(list(usual.independent))
    for part in ("A", "B", "C", "D", "lift"):
        size = 1.0 + np.max(np.abs(getattr(usual, part)))
        np.testing.assert_allclose(getattr(back, part), getattr(usual, part), atol=1e-8 * size, err_msg=part)
    S = other.reduce @ usual.lift  # x of the other model from x of this one
    np.testing.assert_allclose(other.C @ S, usual.C, atol=1e-8 * np.abs(usual.C).max())
    assert other.outputs == usual.outputs and back.names == usual.names
    np.testing.assert_allclose(other.lift @ S, usual.lift, atol=1e-8 * np.abs(usual.lift).max())


def test_quaternions_by_tangent_increments() -> None:
    mech, q, v = moving("stewart")
    usual = sr.linearize(mech, q, v)
    R = np.random.default_rng(5).normal(size=(6, mech.nv))
    model = sr.linearize(mech, q, v, coordinates=R)
    back = model.in_coordinates(list(usual.independent))
    np.testing.assert_allclose(back.A, usual.A, atol=1e-7 * np.abs(usual.A).max())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"coordinates": ["crank"], "independent": ["crank"]}, "both choose the states; give one"),
        ({"coordinates": ["crank"], "form": "full"}, 'is for form="minimal"'),
        ({"coordinates": ["handle"]}, "unknown coordinate 'handle'"),
        ({"coordinates": [{"crank": "much"}]}, "coefficient of 'crank' must be a finite number"),
        ({"coordinates": ["crank", "coupler"]}, "coordinates must be 1, the degrees of freedom"),
        ({"coordinates": [{"crank": 0.0}]}, "a coefficient that is not zero"),
        ({"coordinates": np.ones((1, 7))}, r"a matrix R \(p, 3\) of finite numbers"),
        ({"coordinates": 3.0}, "must be names, combinations"),
        ({"coordinates": sr.Chart(lambda q, y: q[:1] * 0.0 - y, 1)}, "cannot be used here"),
    ],
)
def test_wrong_coordinates_are_refused(arguments: dict[str, Any], said: str) -> None:
    mech = sr.library.four_bar()
    with pytest.raises(sr.SarrusError, match=said):
        sr.linearize(mech, **arguments)


@pytest.mark.parametrize("method", ["analytic", "finite_difference"])
def test_rolling(method: str) -> None:
    """A disc in motion: positions and velocities mixed by matrices of their own, A' = L A L^-1."""
    disk = sr.library.rolling_disk()
    rng = np.random.default_rng(2)
    q, v = disk.project(disk.default.q, disk.default.v + rng.normal(size=disk.nv))
    usual = sr.linearize(disk, q, v, method=method)
    names = [[name[2:] for name in usual.names if name.startswith(role)] for role in ("q.", "v.")]
    assert len(names[0]) > len(names[1])
    L, R = np.zeros(usual.A.shape), []
    for some, at in zip(names, (0, len(names[0])), strict=True):
        mix = np.eye(len(some)) + 0.3 * rng.normal(size=(len(some), len(some)))
        L[at : at + len(some), at : at + len(some)] = mix
        R.append(mix @ np.eye(disk.nv)[[disk.names.index(name) for name in some]])
    apart = {"positions": R[0], "velocities": R[1]}
    model = sr.linearize(disk, q, v, method=method, coordinates=apart)
    expected = L @ usual.A @ np.linalg.inv(L)
    np.testing.assert_allclose(model.A, expected, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(model.rate, L @ usual.rate, atol=1e-9)
    with pytest.raises(sr.InputError, match=r"restrict velocities only.*coordinates=\{\"positions\""):
        sr.linearize(disk, coordinates=np.eye(disk.nv)[:3])
    for given in (
        {"positions": R[0]},
        {"positions": sr.Chart(lambda q, y: q[:1] - y, 1), "velocities": R[1]},
    ):
        with pytest.raises(sr.InputError, match="needs both, each as names, combinations or a matrix"):
            sr.linearize(disk, q, v, coordinates=given)
    with pytest.raises(sr.InputError, match=r"coordinates must be 3.*\(velocities\)"):
        sr.linearize(disk, q, v, coordinates={"positions": R[0], "velocities": R[0]})


def test_discrete_models_are_refused() -> None:
    model = sr.linearize(sr.library.four_bar()).discretize(0.01)
    with pytest.raises(sr.InputError, match="before discretize"):
        model.in_coordinates([model.independent[0]])


def test_coordinates_that_stand_still_are_refused() -> None:
    mech = sr.library.five_bar("raised")
    with pytest.raises(sr.InputError, match="are not independent at this pose"):
        sr.linearize(mech, coordinates=np.ones((2, 4)))
