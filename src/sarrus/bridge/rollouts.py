"""Rollouts as functions with derivatives: chains of steps, swept forwards or backwards."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sarrus.arrays import Array
from sarrus.bridge.functions import Arrays, Function, Functions, Stepping


def rollout(functions: Functions, how: Stepping, n: int) -> Function:
    """(q, v, u (n, nu)) -> states (n + 1, nq), (n + 1, nv) along n steps; the start is projected."""
    first = functions.project(how.t)
    steps = [functions.consistent_step(replace(how, t=how.t + k * how.dt)) for k in range(n)]
    nq, nv, nu = (shape[0] for shape in functions.consistent_step(how).shapes)

    def value(given: Arrays) -> Arrays:
        states = [first.value(given[:2])]
        for k, step in enumerate(steps):
            states.append(step.value((*states[-1], given[2][:, k])))
        return _stacked(states)

    def pushforward(given: Arrays, changes: Arrays) -> Arrays:
        q, v = value(given)
        moved = [first.pushforward(given[:2], changes[:2])]
        for k, step in enumerate(steps):
            at = q[:, k], v[:, k], given[2][:, k]
            moved.append(step.pushforward(at, (*moved[-1], changes[2][:, k])))
        return _stacked(moved)

    def pullback(given: Arrays, gradients: Arrays) -> Arrays:
        (q, v), u, by_u = value(given), given[2], np.zeros_like(given[2])
        by_q, by_v = (g[:, -1] for g in gradients)
        for k, step in reversed(list(enumerate(steps))):
            back = step.pullback((q[:, k], v[:, k], u[:, k]), (by_q, by_v))
            by_q, by_v = (one + g[:, k] for one, g in zip(back[:2], gradients, strict=True))
            by_u[:, k] = back[2]
        return *first.pullback(given[:2], (by_q, by_v)), by_u

    outputs = (n + 1, nq), (n + 1, nv)
    return Function("rollout", ((nq,), (nv,), (n, nu)), outputs, value, pushforward, pullback)


def _stacked(states: list[Arrays]) -> tuple[Array, Array]:
    return np.stack([x for x, _ in states], axis=1), np.stack([x for _, x in states], axis=1)
