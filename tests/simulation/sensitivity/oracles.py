"""Oracles for derivatives along runs: closed forms in 40 digits, and differences of accurate runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from mpmath import mp

import sarrus as sr
from sarrus.arrays import Array
from sarrus.design import Run
from sarrus.differences import slope_terms

GRAVITY = 9.81


def slopes(mech: sr.Mechanism, over: Run, *names: str) -> Any:
    """Of all measures; all of them exact."""
    found = over.slopes(mech, names)
    assert found is not None and not found.differences
    return found.slopes


def by_closed_form(f: Callable[..., Any], times: Array, values: tuple[float, ...]) -> Array:
    """Derivatives (n, P) of f(t, *values) by the values, in 40 digits."""
    mp.dps = 40
    exact = [mp.mpf(repr(x)) for x in values]
    orders = np.eye(len(values) + 1, dtype=int)[1:].tolist()
    rows = [[mp.diff(f, (mp.mpf(t), *exact), tuple(order)) for order in orders] for t in times.tolist()]
    return np.array(rows, dtype=float)


def by_runs(mech: sr.Mechanism, over: Run, name: str, step: float = 2e-3, at: float | None = None) -> Any:
    """Derivatives of all measures by a parameter: differences of order six of accurate runs."""
    accurate = replace(over, options={**over.options, "rtol": 1e-13, "atol": 1e-15})
    value = mech.parameters[name] if at is None else at
    h = step * abs(value)
    terms = [(w / h, accurate.measures(mech.with_(**{name: value + k * h}))) for k, w in slope_terms(6)]
    return {key: sum(w * measures[key] for w, measures in terms) for key in terms[0][1]}


def assert_same(found: Any, expected: Any, part: float) -> None:
    """Equal to a part of the largest entry."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=part * np.max(np.abs(expected)))


def oscillator(k: float, m: float, c: float) -> sr.Mechanism:
    spec = sr.MechanismSpec(gravity=(0, 0, 0), name="oscillator")
    stiffness, mass, damping = (spec.parameter(name, x) for name, x in (("k", k), ("m", m), ("c", c)))
    spec.body("b", joint=sr.Prismatic("x"), mass=mass, damping=damping)
    spec.force("spring", sr.JointSpring("b", stiffness=stiffness))
    return spec.measure("x", sr.Coordinate("b")).compile()
