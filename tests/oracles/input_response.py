"""Responses to inputs, and least-norm inputs, through singular values: what the kernel must give.

a = a0 + B u,   lam = lam0 + Lam u,   N the null space of J,   Mr = N.T M N
B = N Mr^-1 N.T S.T,   a0 = a_normal - N Mr^-1 N.T (h + M a_normal)
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import sarrus as sr
from sarrus.dynamics.formulations import split, with_limit
from sarrus.dynamics.input_response import Response, respond
from sarrus.dynamics.singular_limit import limit_rows

Array = np.ndarray


@dataclasses.dataclass
class Expected:
    """The maps, as in `sarrus.dynamics.input_response.Response`."""

    a0: Array
    B: Array
    lam0: Array
    Lam: Array
    N: Array
    inverse_inertia: Array
    prescribed: Array
    rank: int


def library_response(name: str, seed: int = 0) -> Response:
    """The response of a library mechanism in motion, all its actuators in use."""
    mech = getattr(sr.library, name)()
    q = np.array(mech.default.q)
    v = mech.consistent_velocity(q, np.random.default_rng(seed).normal(size=mech.nv))
    columns = np.array([actuator.index for actuator in mech.model.actuators], dtype=int)
    return respond(mech.terms(q, v), columns, mech.units)


def expected_response(system: Any, q: Array, v: Array, columns: Array, tol: float | None = None) -> Expected:
    """The response of a system with dependent rows; lost rows are replaced by their limits."""
    terms, units = system.terms(q, v), system.units
    if tol is not None:
        units = dataclasses.replace(units, rank_tol=tol)
    state = split(terms, np.zeros(len(v)), units)
    if state.rank < min(terms.J.shape):
        limit = limit_rows(system.evaluator, q, v, 0.0, state.lost)
        state = state if limit is None else with_limit(state, limit, units)
    N, a_normal = units.unit[:, None] * state.N, units.unit * state.x_normal
    inverse = N @ np.linalg.solve(N.T @ terms.M @ N, N.T) if N.shape[1] else N @ N.T
    a0, B = a_normal - inverse @ (terms.h + terms.M @ a_normal), inverse[:, columns]
    U, s, Vt = np.linalg.svd(terms.J)
    r = state.rank
    to_lam = (U[:, :r] / s[:r]) @ Vt[:r]  # least norm
    S = np.eye(len(v))[:, columns]
    lam0, Lam = to_lam @ (terms.M @ a0 + terms.h), to_lam @ (terms.M @ B - S)
    return Expected(a0, B, lam0, Lam, N, inverse, a_normal, state.rank)


def expected_inputs(G: Array, g: Array, controllability: float, least: float) -> tuple[Array, Array, int]:
    """x, Z and rank: singular values below 1e-9 of the largest are zero, damped near a lost motion."""
    U, s, Vt = np.linalg.svd(G)
    rank = int(np.count_nonzero(s > 1e-9 * s[0]))
    s, d2 = s[:rank], 0.0
    if controllability < least:
        d2 = (1.0 - (controllability / least) ** 2) * (least * s[0]) ** 2
    return (s / (s * s + d2) * (g @ U[:, :rank])) @ Vt[:rank], Vt[rank:].T, rank
