"""Limits on multipliers as rows on inputs, and inputs within rows, against NumPy."""

from __future__ import annotations

import numpy as np

import sarrus as sr
from sarrus import _kernel
from sarrus.models.base.rotation import hat

from ..grasp.held_box import held

RNG = np.random.default_rng


def test_limits_become_rows() -> None:
    """Of a law with a reserve, from its response: R = lam Lam + u, one-sided rows drawn in."""
    mech, grasp = held()
    lam, tau = RNG(3).normal(size=(7, mech.nc)), 0.1 * RNG(4).normal(size=(7, mech.nv))
    upper = np.where(np.arange(7) < 2, 1e4, np.inf)
    more = sr.control.LinearLimits("more", lam=lam, tau=tau, lower=-1e4, upper=upper)
    law = sr.control.ObjectImpedance(mech, grasp, external=None, limits=more, reserve=(10.0, 1.0))
    step = law.solve(0.0, *mech.default)._step
    response, found = step.response, step.limits
    mine = [i for i, name in enumerate(found.names) if name == "more"]
    own = mech.model.v_slices[mech.model.body_index("box", "test")]
    at_origin = np.eye(6)
    at_origin[3:, :3] = hat(grasp.com)
    unknown = response.lam_per_force[:, own] @ (at_origin * np.repeat([10.0, 1.0], 3))
    actuated = [one.index for one in mech.model.actuators]
    change = np.where(np.isfinite(upper), 0.0, np.linalg.norm(lam @ unknown, axis=1))
    at = lam @ response.lam0
    size = 1e-12 * (1.0 + np.abs(at).max())
    np.testing.assert_allclose(found.R[mine], lam @ response.Lam + tau[:, actuated], atol=size)
    np.testing.assert_allclose(found.reserve[mine], change, atol=size)
    np.testing.assert_allclose(found.lower[mine], -1e4 - at + change, atol=size)
    np.testing.assert_allclose(found.upper[mine], upper - at, atol=size)


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
