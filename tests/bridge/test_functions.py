"""Functions that bridges wrap: their derivatives beside differences, off the constraints too."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr
from sarrus.bridge.functions import Function, Functions, Stepping
from sarrus.bridge.parameters import with_parameters
from sarrus.bridge.rollouts import rollout
from tests.bridge.checks import MACHINES, moving, with_a_parameter

E = 1e-3  # of differences of order six
HOW = Stepping(2e-3, 0.0, "rk4", 1)


def slopes(f: Function, given: tuple[np.ndarray, ...], changes: tuple[np.ndarray, ...]) -> np.ndarray:
    """Derivative along changes, by differences of order six."""

    def at(e: float) -> np.ndarray:
        found = f.value(tuple(x + e * dx for x, dx in zip(given, changes, strict=True)))
        return np.concatenate([x.ravel() for x in found])

    return (45.0 * (at(E) - at(-E)) - 9.0 * (at(2 * E) - at(-2 * E)) + at(3 * E) - at(-3 * E)) / (60.0 * E)


def agrees(f: Function, given: tuple[np.ndarray, ...], tol: float) -> None:
    """Both modes agree with each other to rounding, and with differences within `tol`."""
    rng = np.random.default_rng(0)
    changes = tuple(rng.standard_normal(x.shape) for x in given)
    along = f.pushforward(given, changes)
    flat = np.concatenate([x.ravel() for x in along])
    scale = 1.0 + np.abs(flat).max()
    assert np.abs(flat - slopes(f, given, changes)).max() <= tol * scale
    gradients = tuple(rng.standard_normal(x.shape) for x in along)
    back = f.pullback(given, gradients)
    there = sum(float(np.sum(x * y)) for x, y in zip(along, gradients, strict=True))
    assert sum(float(np.sum(x * y)) for x, y in zip(back, changes, strict=True)) == pytest.approx(
        there, abs=1e-10 * scale * len(flat)
    )


@pytest.mark.parametrize("off", [0.0, 3e-2])
@pytest.mark.parametrize("name", [*MACHINES, "stewart", "rolling_disk", "three_rrr"])
def test_derivatives_at_and_off_the_constraints(name: str, off: float) -> None:
    """`off`: how far states are from closed ones. Differences inherit the 1e-12 at which projections end."""
    mech, q, v, u = moving(name)
    rng = np.random.default_rng(1)
    pose = (q + off * rng.standard_normal(q.shape))[None]
    state = pose, v[None]
    functions, tol = Functions(mech, "steps"), 2e-8
    agrees(functions.project(0.0), state, tol)
    agrees(functions.step(HOW), (*state, u[None]), tol)
    agrees(functions.acceleration(0.0), (*state, rng.standard_normal((1, mech.nv))), tol)
    agrees(rollout(functions, HOW, 3), (*state, np.tile(u, (1, 3, 1))), tol)
    if name != "rolling_disk":  # it has no motors
        agrees(functions.inverse_dynamics(0.0), (*state, rng.standard_normal((1, mech.nv))), tol)


def test_assembly_by_the_fixed_positions() -> None:
    mech = sr.library.four_bar()
    agrees(Functions(mech, "steps").assemble(("crank",), None, 0.0), (np.array([[0.3], [0.5]]),), 1e-10)
    five = sr.library.five_bar()
    guess = five.assemble([1.9, 1.0, 2.0, 1.0]).q
    one = Functions(five, "steps").assemble((five.names[0],), guess, 0.0)
    with pytest.raises(sr.InputError, match=r"leave 1 freedoms.*Fix as many"):
        one.jacobian((guess[None, :1],))
    q = mech.assemble(fixed={"crank": 0.3}).q
    two = Functions(mech, "steps").assemble(tuple(mech.names[:2]), None, 0.0)
    with pytest.raises(sr.InputError, match="more than 'four_bar' has freedoms"):
        two.jacobian((q[None, :2],))


def test_inputs_that_do_not_suffice_have_no_derivatives() -> None:
    mech = sr.library.rolling_disk()
    f = Functions(mech, "steps").inverse_dynamics(0.0)
    with pytest.raises(sr.InputError, match="cannot produce this acceleration"):
        f.jacobian((mech.default.q[None], mech.default.v[None], np.ones((1, mech.nv))))


def test_by_parameters() -> None:
    """Each row of a batch with values of its own, in both modes."""
    functions = Functions(with_a_parameter(), "steps")
    f = with_parameters(functions, ("length",), lambda one: one.step(Stepping(2e-2, 0.0, "rk4", 1)))
    q, length = np.array([[0.5], [0.3], [0.4]]), np.array([[0.6], [0.8], [0.6]])
    agrees(f, (q, 0.4 * q, np.zeros((3, 1)), length), 1e-10)
