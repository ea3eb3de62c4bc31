"""Limits on multipliers as rows on inputs, and inputs within rows, against NumPy."""

from __future__ import annotations

import numpy as np

from sarrus import _kernel

RNG = np.random.default_rng


def test_limits_become_rows() -> None:
    rng = RNG(3)
    lam, u, Lam, lam0 = (rng.normal(size=shape) for shape in ((7, 4), (7, 5), (4, 5), (4,)))
    lower, upper, unknown = -rng.random(7), np.full(7, np.inf), rng.normal(size=(4, 6))
    upper[:2] = 1.0
    given = {"on_lam": lam, "on_u": u, "lam0": lam0, "Lam": Lam, "lower": lower, "upper": upper}
    found = _kernel.rows_on_inputs(**given, disturbance=unknown)
    R, low, high, reserve = (found[part] for part in ("R", "lower", "upper", "reserve"))
    np.testing.assert_allclose(R, lam @ Lam + u, atol=1e-14)
    change = np.where(np.isfinite(upper), 0.0, np.linalg.norm(lam @ unknown, axis=1))
    np.testing.assert_allclose(reserve, change, atol=1e-14)
    np.testing.assert_allclose(low, lower - lam @ lam0 + change, atol=1e-14)
    np.testing.assert_allclose(high, upper - lam @ lam0, atol=1e-14)
    plain = _kernel.rows_on_inputs(**{**given, "on_u": None}, disturbance=None)
    np.testing.assert_allclose(plain["R"], lam @ Lam, atol=1e-14)
    assert plain["reserve"] is None


def test_inputs_within_rows_are_those_of_the_program() -> None:
    rng = RNG(4)
    x, Z, C = rng.normal(size=6), np.linalg.qr(rng.normal(size=(6, 4)))[0], rng.normal(size=(6, 6))
    R, z = rng.normal(size=(9, 6)), rng.normal(size=4)
    y = R @ C @ (x + Z @ z)
    tolerances = {"H": None, "touch": 1e-7, "tol": 1e-9}
    given = {"x": x, "Z": Z, "z0": z, "metric": C, "R": R, **tolerances}
    found = _kernel.limited_inputs(**given, lower=y - 1.0, upper=y + 1.0)
    assert found["status"] == "inside" and found["active"] == []
    np.testing.assert_allclose((found["x"], found["u"]), (x + Z @ z, C @ (x + Z @ z)), atol=1e-12)
    A, at = R @ C @ Z, R @ C @ x
    lower, upper = np.full(9, -np.inf), y + 0.5
    upper[:3] = y[:3] - 0.2
    found = _kernel.limited_inputs(**given, lower=lower, upper=upper)
    best = _kernel.solve_program(z0=z, H=None, A=A, lower=lower - at, upper=upper - at, tol=1e-9)
    assert found["status"] == best["status"] == "optimal"
    assert found["active"] == best["active"] and len(found["active"]) > 0
    np.testing.assert_allclose(found["x"], x + Z @ best["z"], atol=1e-12)
    np.testing.assert_allclose(found["z"], best["z"], atol=1e-12)
    one = np.ones(18)
    both = _kernel.limited_inputs(**{**given, "R": np.vstack([R, -R])}, lower=one, upper=one)
    assert both["status"] == "infeasible"
