"""CustomSystem: a system written down as functions runs as the mechanism that it describes."""

from __future__ import annotations

import math

import numpy as np
import pytest

import sarrus as sr
from tests.simulation.machines import spherical_pendulum

G = 9.81


def M(q, v, t):
    """[Aghili2005] eq. (66) with m = l = 1."""
    c2 = math.cos(q[1])
    return [[3.0 + 2.0 * c2, 1.0 + c2], [1.0 + c2, 1.0]]


def h(q, v, t):
    c1, s2, c12 = math.cos(q[0]), math.sin(q[1]), math.cos(q[0] + q[1])
    return [-s2 * (v[1] ** 2 + 2.0 * v[0] * v[1]) + G * (c12 + 2.0 * c1), s2 * v[0] ** 2 + G * c12]


def phi(q, v, t):
    """[Aghili2005] eq. (67): the tip runs on the x axis."""
    return [math.sin(q[0]) + math.sin(q[0] + q[1])]


def J(q, v, t):
    return [[math.cos(q[0]) + math.cos(q[0] + q[1]), math.cos(q[0] + q[1])]]


def gamma(q, v, t):
    return [math.sin(q[0]) * v[0] ** 2 + math.sin(q[0] + q[1]) * (v[0] + v[1]) ** 2]


def potential(q, v, t):
    return G * (2.0 * math.sin(q[0]) + math.sin(q[0] + q[1]))


def slider_crank(**given):
    given = {"phi": phi, "J": J, "gamma": gamma, **given}
    return sr.CustomSystem(2, 2, M=M, h=h, potential=potential, names=("crank", "rod"), **given)


@pytest.mark.parametrize("given", [{}, {"gamma": None}, {"J": None, "gamma": None}], ids=["all", "J", "phi"])
def test_the_equations_of_the_paper_give_the_trajectory_of_the_library(given):
    system, mech = slider_crank(**given), sr.library.slider_crank()
    q, v = mech.default
    mine, theirs = (sr.simulate(s, (0.0, 1.6), q, v, dt=4e-3) for s in (system, mech))
    np.testing.assert_allclose(mine.q, theirs.q, atol=1e-10)
    np.testing.assert_allclose(mine.v, theirs.v, atol=1e-9)
    assert mine.drift.max() <= 1e-12
    assert len(mine.events) == len(theirs.events) == 1
    assert mine.events[0].t == pytest.approx(theirs.events[0].t, abs=1e-8)
    np.testing.assert_allclose(mine.energy, theirs.energy, atol=1e-8)
    np.testing.assert_allclose(mine.constraint_force, theirs.constraint_force, atol=1e-5)


@pytest.mark.parametrize("method", ["dopri5", "semi_implicit_euler"])
def test_every_method_runs_it(method):
    q, v = sr.library.slider_crank().default
    mine, theirs = (
        sr.simulate(s, (0.0, 0.5), q, v, dt=5e-3, method=method)
        for s in (slider_crank(), sr.library.slider_crank())
    )
    np.testing.assert_allclose(mine.q[-1], theirs.q[-1], atol=1e-9)


@pytest.mark.parametrize("formulation", ["svd", "lagrange", "projection", "partition"])
def test_every_formulation_runs_it(formulation):
    q, v = sr.library.slider_crank().default
    mine = sr.simulate(slider_crank(), (0.0, 0.2), q, v, dt=5e-3, formulation=formulation)
    plain = sr.simulate(slider_crank(), (0.0, 0.2), q, v, dt=5e-3)
    np.testing.assert_allclose(mine.q, plain.q, atol=1e-10)


def test_it_can_do_what_a_mechanism_can():
    system, mech = slider_crank(), sr.library.slider_crank()
    q, v = np.array([0.4, 2 * math.pi - 0.8]), np.array([1.0, -2.0])
    assert (system.nq, system.nv, system.nc, system.nu) == (2, 2, 1, 2)
    assert system.names == ("crank", "rod") and system.actuators == ("crank", "rod")
    for name in ("M", "h", "phi", "J", "gamma"):
        np.testing.assert_allclose(
            getattr(system.terms(q, v), name), getattr(mech.terms(q, v), name), atol=1e-12
        )
    one, two = (s.forward_dynamics(q, v, [1.0, 0.0]) for s in (system, mech))
    np.testing.assert_allclose(one.a, two.a, atol=1e-11)
    np.testing.assert_allclose(one.lam, two.lam, atol=1e-10)
    np.testing.assert_allclose(system.acceleration(q, v, [1.0, 0.0]), two.a, atol=1e-11)
    assert system.mobility(q).dof == mech.mobility(q).dof == 1
    assert system.mobility([math.pi / 2, math.pi]).is_singular
    np.testing.assert_allclose(system.assemble([0.4, 5.0]).q, mech.assemble([0.4, 5.0]).q, atol=1e-9)
    wish = [3.0, 1.0]
    np.testing.assert_allclose(
        system.consistent_velocity(q, wish), mech.consistent_velocity(q, wish), atol=1e-11
    )
    np.testing.assert_array_equal(system.integrate(q, v), q + v)
    np.testing.assert_array_equal(system.difference(q, q + v), q + v - q)
    assert system.energy(q, v).total == pytest.approx(float(mech.energy(q, v).total), abs=1e-12)
    assert "CustomSystem" in repr(system)


def test_controllers_drive_it():
    system, mech = slider_crank(actuated=["crank"]), sr.library.slider_crank()
    q, v = mech.default
    assert system.nu == 1
    mine = sr.simulate(system, (0.0, 0.2), q, v, dt=2e-3, control=lambda t, q, v: [2.0 * t], control_dt=0.01)
    theirs = sr.simulate(
        mech, (0.0, 0.2), q, v, dt=2e-3, control=lambda t, q, v: [2.0 * t, 0.0], control_dt=0.01
    )
    np.testing.assert_allclose(mine.q, theirs.q, atol=1e-11)


def test_a_system_without_constraints():
    """A harmonic oscillator: cos(3 t)."""
    oscillator = sr.CustomSystem(1, 1, M=[[2.0]], h=lambda q, v, t: 18.0 * q)
    run = sr.simulate(oscillator, (0.0, 1.0), [1.0], [0.0])
    np.testing.assert_allclose(run.q[:, 0], np.cos(3.0 * run.t), atol=1e-9)
    assert np.isnan(run.energy).all()  # nobody said what the potential is


def test_constraints_that_move_in_time():
    """A bead on a turning straight wire: r'' = w^2 r, r = cosh(w t)."""
    w = 1.5
    bead = sr.CustomSystem(
        2,
        2,
        M=np.eye(2),
        phi=lambda q, v, t: [math.sin(w * t) * q[0] - math.cos(w * t) * q[1]],
    )
    run = sr.simulate(bead, (0.0, 1.0), [1.0, 0.0], [0.0, w], dt=2e-3)
    np.testing.assert_allclose(np.linalg.norm(run.q, axis=1), np.cosh(w * run.t), atol=1e-8)
    assert run.drift.max() <= 1e-12


def test_constraints_on_velocities_only():
    """A skate on a slope, J v = 0 without phi: it cuts cycloids, x = (g sin / 2 w^2) sin^2(w t)."""
    w, g = 2.0, 3.0
    skate = sr.CustomSystem(
        3,
        3,
        M=np.eye(3),
        h=lambda q, v, t: [-g, 0.0, 0.0],
        J=lambda q, v, t: [[math.sin(q[2]), -math.cos(q[2]), 0.0]],
        names=("x", "y", "heading"),
    )
    run = sr.simulate(skate, (0.0, 2.0), np.zeros(3), [0.0, 0.0, w], dt=2e-3)
    np.testing.assert_allclose(run.q[:, 0], g / (2 * w * w) * np.sin(w * run.t) ** 2, atol=1e-8)
    assert run.velocity_drift.max() < 1e-12


def test_quaternions():
    """The heavy body on a ball joint, its terms handed over from a mechanism."""
    mech = spherical_pendulum()
    system = sr.CustomSystem(
        4, 3, M=lambda q, v, t: mech.mass_matrix(q), h=lambda q, v, t: mech.bias(q, v), quaternions=[0]
    )
    mine, theirs = (sr.simulate(s, (0.0, 0.3), *mech.default, dt=2e-3) for s in (system, mech))
    np.testing.assert_allclose(mine.q, theirs.q, atol=1e-12)


# ---------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"nq": 2, "nv": 2}, "CustomSystem needs a mass matrix"),
        ({"nq": 0, "nv": 1, "M": M}, "nq of CustomSystem must be a positive whole number, got 0"),
        ({"nq": 3, "nv": 2, "M": M}, "nq must be nv plus one per quaternion, got nq = 3, nv = 2"),
        ({"nq": 5, "nv": 4, "M": M, "quaternions": [3]}, r"quaternions \(3,\) do not fit into 5 positions"),
        ({"nq": 2, "nv": 2, "M": M, "names": ["a"]}, "names must be 2 names"),
        ({"nq": 2, "nv": 2, "M": M, "actuated": ["a"]}, "unknown .* 'a'"),
        ({"nq": 2, "nv": 2, "M": M, "gamma": gamma}, "gamma and b belong to constraints"),
        ({"nq": 2, "nv": 2, "M": M, "unit": [1.0]}, r"unit must have shape \(2,\)"),
        ({"nq": 2, "nv": 2, "M": M, "phi": lambda q, v, t: 1 / 0}, "phi raised ZeroDivisionError .*Give nc="),
        ({"nq": 2, "nv": 2, "M": M, "phi": phi, "nc": 0}, "nc of CustomSystem must be a positive"),
    ],
)
def test_what_is_no_system(arguments, said):
    with pytest.raises(sr.SarrusError, match=said):
        sr.CustomSystem(**arguments)


def test_functions_that_answer_badly():
    q, v = np.zeros(2), np.zeros(2)
    with pytest.raises(sr.InputError, match=r"M of 'custom system' must return an array of shape \(2, 2\)"):
        sr.CustomSystem(2, 2, M=lambda q, v, t: [1.0, 2.0]).terms(q, v)
    with pytest.raises(sr.InputError, match=r"h of 'arm' must return finite numbers"):
        sr.CustomSystem(2, 2, M=M, h=lambda q, v, t: [math.nan, 0.0], name="arm").terms(q, v)
    with pytest.raises(sr.ModelError, match=r"must be symmetric; it differs from M\.T by 1"):
        sr.CustomSystem(2, 2, M=[[1.0, 1.0], [0.0, 1.0]]).terms(q, v)
    with pytest.raises(sr.ModelError, match="not positive definite"):
        sr.CustomSystem(2, 2, M=[[1.0, 0.0], [0.0, -1.0]]).forward_dynamics(q, v)


def test_functions_that_fail_in_a_run_stop_it_with_the_data_kept():
    def fragile(q, v, t):
        return M(q, v, t) if t < 0.1 else [[math.nan]]

    system = sr.CustomSystem(2, 2, M=fragile, h=h)
    run = sr.simulate(system, (0.0, 1.0), dt=0.01)
    assert run.status == -3 and "M of 'custom system'" in run.message
    assert run.t[-1] == pytest.approx(0.09)
    bad = sr.simulate(
        sr.CustomSystem(1, 1, M=lambda q, v, t: [[0.05 - t]]), (0.0, 1.0), [0.0], [1.0], dt=0.01
    )
    assert bad.status == -1 and "not positive definite" in bad.message
