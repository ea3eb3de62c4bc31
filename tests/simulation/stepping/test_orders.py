"""Convergence orders, measured: also with quaternions and on constraint manifolds. Oracle: a finer run."""

from __future__ import annotations

import math
from functools import cache

import numpy as np
import pytest

import sarrus as sr
from sarrus.simulation.stepping.methods import METHODS
from tests.simulation.machines import (
    four_bar_moving,
    held_ball,
    shaken_pendulum,
    spherical_pendulum,
    spinning_top,
)

MACHINES = {
    "double_pendulum": sr.library.double_pendulum,
    "four_bar": four_bar_moving,
    "slider_crank": sr.library.slider_crank,
    "top": spinning_top,
    "spherical_pendulum": spherical_pendulum,
    "held_ball": held_ball,
    "shaken_pendulum": shaken_pendulum,  # depends on time: the nodes c of a tableau count
}
END = 0.5
COMMON = 0.025  # samples of the exact run [s]; all steps of given size end there too
COARSE = {1: 2e-4}  # larger one of two steps [s], by order
SAMPLED = 0.0125  # of methods that choose their steps


def idle(mech, sample):
    """Options of a run whose steps end at every sample of a controller that does nothing."""
    return {"control": lambda t, q, v: np.zeros(mech.nu), "control_dt": sample}


@cache
def exact(name):
    mech = MACHINES[name]()
    tight = {"method": "dopri5", "rtol": 1e-13, "atol": 1e-14}
    return sr.simulate(mech, (0.0, END), **tight, **idle(mech, COMMON))


def error(name, run):
    """Largest difference of q and v from the exact run, over the times that both have."""
    mech, reference = MACHINES[name](), exact(name)
    times = np.round(run.t, 9), np.round(reference.t, 9)
    _, mine, theirs = np.intersect1d(*times, return_indices=True)
    dq = mech.difference(reference.q[theirs], run.q[mine])
    return max(np.abs(dq).max(), np.abs(run.v[mine] - reference.v[theirs]).max())


def fixed_steps(mech, method):
    """Errors with a step and with half of it."""
    sizes = [COARSE.get(method.order, 5e-3) / k for k in (1, 2)]
    runs = [sr.simulate(mech, (0.0, END), dt=dt, method=method.name) for dt in sizes]
    return sizes, runs


def sampled_steps(mech, method):
    """Steps never pass a sample of the controller: without tolerances the samples are the steps."""
    sizes = [SAMPLED, SAMPLED / 2]
    loose = {"rtol": 1e6, "atol": 1e6, "method": method.name}
    runs = [sr.simulate(mech, (0.0, END), dt=dt, **loose, **idle(mech, dt)) for dt in sizes]
    assert all(len(run) == round(END / dt) + 1 for run, dt in zip(runs, sizes, strict=True))
    return sizes, runs


def chosen_steps(mech, method):
    """Mean steps at two tolerances: those of implicit methods also end the iteration for the stages."""
    common = {"method": method.name, **idle(mech, 4 * COMMON)}
    runs = [sr.simulate(mech, (0.0, END), rtol=tol, atol=tol, **common) for tol in (1e-5, 1e-7)]
    return [END / (len(run) - 1) for run in runs], runs


# with drives the steps of "auto" are limited; its parts, dopri5 and radau, have cases of their own
FREE_STEPS = [(m, n) for m in METHODS for n in MACHINES if not (m == "auto" and n == "shaken_pendulum")]


@pytest.mark.parametrize(("method", "name"), FREE_STEPS)
def test_every_method_has_its_order(method, name):
    """As registered in kernels/integrate/methods.hpp; chosen steps come down to it from above."""
    mech, method = MACHINES[name](), METHODS[method]
    steps = chosen_steps if method.implicit else sampled_steps if method.adaptive else fixed_steps
    sizes, runs = steps(mech, method)
    coarse, fine = (error(name, run) for run in runs)
    order = math.log(coarse / fine) / math.log(sizes[0] / sizes[1])
    below, above = (0.5, math.inf) if method.implicit else (0.3, 1.0) if method.adaptive else (0.2, 0.2)
    assert method.order - below < order < method.order + above


@pytest.mark.parametrize("name", MACHINES)
@pytest.mark.parametrize("method", [name for name, method in METHODS.items() if method.adaptive])
def test_adaptive_methods_meet_their_tolerance(method, name):
    """Coefficients `e` of a tableau: errors and numbers of steps are those of an estimate of its order."""
    mech, steps = MACHINES[name](), []
    for tol in (1e-5, 1e-8):
        run = sr.simulate(mech, (0.0, END), method=method, rtol=tol, atol=tol)
        assert error(name, run) < 300 * tol
        steps.append(len(run) - 1)
    assert steps[1] < steps[0] * 1000 ** (1 / (METHODS[method].order - 1))


def test_a_body_on_a_loop_moves_as_on_a_joint():
    """Coordinates differ, the motion does not: rotations of the two pendulums agree to rounding."""
    free = sr.simulate(spherical_pendulum(), (0.0, 1.0), dt=1e-3)
    held = sr.simulate(held_ball(), (0.0, 1.0), dt=1e-3)
    np.testing.assert_allclose(held.q[:, 3:], free.q, atol=1e-9)
    assert held.drift.max() <= 1e-12
    assert np.abs(np.linalg.norm(held.q[:, 3:], axis=1) - 1.0).max() < 1e-14


def test_angular_momentum_of_a_free_body_is_kept():
    mech = spinning_top().with_(gravity=(0.0, 0.0, 0.0))
    run = sr.simulate(mech, (0.0, 1.0))
    momentum = []
    for q, v in zip(run.q[[0, -1]], run.v[[0, -1]], strict=True):
        pose = mech.pose(q, "top")
        generalized = mech.mass_matrix(q) @ v  # [linear; angular about the body's origin], body axes
        p, L = pose.rotation @ generalized[:3], pose.rotation @ generalized[3:]
        momentum.append(np.concatenate([p, L + np.cross(pose.xyz, p)]))
    np.testing.assert_allclose(momentum[1], momentum[0], atol=1e-10)
