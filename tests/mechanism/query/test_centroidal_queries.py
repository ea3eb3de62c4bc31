"""Centre of mass and momentum: differences along motions, momentum balance, batches, and what is refused."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

import sarrus as sr
from tests.laws.families import FAMILIES
from tests.oracles.states import mechanism, relative

STEP = 1e-6
ROUGH = 1e-7  # of differences with STEP: truncation 1e-12, rounding 1e-10, times the curvature of chains


def moved(mech: sr.Mechanism, q: np.ndarray, dv: np.ndarray, f: object) -> np.ndarray:
    """Central difference of f(q) along dv."""
    ahead, behind = (f(mech.integrate(q, s * STEP * dv)) for s in (1.0, -1.0))  # type: ignore[operator]
    return (ahead - behind) / (2.0 * STEP)


@pytest.mark.parametrize("family", FAMILIES)
def test_derivatives_are_those_of_differences(family: str) -> None:
    for seed in range(4):
        d = FAMILIES[family](seed)
        mech, q = mechanism(d), d.q
        v = np.random.default_rng([seed, 22]).normal(size=mech.nv)
        rate = moved(mech, q, v, mech.center_of_mass)
        assert relative(mech.center_of_mass_jacobian(q) @ v, rate) < ROUGH
        assert relative(mech.center_of_mass_velocity(q, v), rate) < ROUGH
        rate_A = moved(mech, q, v, mech.centroidal_momentum_matrix)
        assert relative(mech.centroidal_momentum_matrix_rate(q, v), rate_A) < ROUGH
        momentum = partial(lambda mech, v, x: mech.centroidal_momentum(x, v), mech, v)
        columns = [moved(mech, q, e, momentum) for e in np.eye(mech.nv)]
        assert relative(mech.centroidal_momentum_derivative(q, v), np.transpose(columns)) < ROUGH


def test_a_thrown_chain_falls_freely() -> None:
    """No external force but gravity: c'' = g, and the momentum about c is constant."""
    spec = sr.MechanismSpec()
    spec.body("base", joint=sr.Free(), mass=2.0, com=(0.1, 0.2, 0.0), inertia=(0.1, 0.2, 0.25))
    spec.body("arm", "base", joint=sr.Revolute((1, 1, 0)), mass=1.0, com=(0.0, 0.3, 0.1), inertia=(0.1,) * 3)
    spec.body("hand", "arm", joint=sr.Spherical(), at=sr.Pose((0, 0.5, 0)), mass=0.5, inertia=(0.02,) * 3)
    spec.actuate("arm")
    mech = spec.compile()
    v = np.random.default_rng(3).normal(size=mech.nv)
    q = mech.integrate(mech.neutral(), v)
    a = mech.forward_dynamics(q, v, u=[1.7]).a
    assert np.allclose(mech.center_of_mass_acceleration(q, v, a), [0.0, 0.0, -9.81], rtol=0, atol=1e-12)
    weight = [0.0, 0.0, -9.81 * 3.5, 0.0, 0.0, 0.0]
    assert np.allclose(mech.centroidal_momentum_rate(q, v, a), weight, rtol=0, atol=1e-11)
    sum_ = mech.centroidal_momentum_matrix(q) @ a + mech.centroidal_momentum_matrix_rate(q, v) @ v
    assert np.allclose(sum_, weight, rtol=0, atol=1e-11)


def test_two_bodies_by_hand() -> None:
    """Masses of 1 and 3 kg on a rail, 2 m apart, the second one sliding away at 4 m/s."""
    spec = sr.MechanismSpec()
    spec.body("near", joint=sr.Prismatic("x"), mass=1.0, inertia=(0.1,) * 3)
    spec.body("far", "near", joint=sr.Prismatic("x"), at=sr.Pose((2, 0, 0)), mass=3.0, inertia=(0.1,) * 3)
    mech = spec.compile()
    assert np.allclose(mech.center_of_mass([0.5, 0.0]), [2.0, 0.0, 0.0])
    assert np.allclose(mech.centroidal_momentum([0.5, 0.0], [0.0, 4.0]), [12.0, 0, 0, 0, 0, 0])
    assert np.allclose(mech.center_of_mass_jacobian([0.5, 0.0]), [[1.0, 0.75], [0, 0], [0, 0]])


def test_batches_are_the_states_one_by_one() -> None:
    mech = sr.library.quadruped()
    rng = np.random.default_rng(4)
    v, a = rng.normal(size=(2, 2, 3, mech.nv))
    q = mech.integrate(mech.default.q, v)
    calls = {
        "center_of_mass": (q,),
        "center_of_mass_jacobian": (q,),
        "center_of_mass_velocity": (q, v),
        "center_of_mass_acceleration": (q, v, a),
        "centroidal_momentum": (q, v),
        "centroidal_momentum_rate": (q, v, a),
        "centroidal_momentum_matrix": (q,),
        "centroidal_momentum_matrix_rate": (q, v),
        "centroidal_momentum_derivative": (q, v),
    }
    for name, given in calls.items():
        whole = getattr(mech, name)(*given)
        for i in np.ndindex(2, 3):
            assert np.array_equal(whole[i], getattr(mech, name)(*(x[i] for x in given))), name


def test_without_mass_there_is_no_centre() -> None:
    spec = sr.MechanismSpec()
    spec.body("rotor", joint=sr.Revolute("z"), inertia=(0.1,) * 3)
    mech = spec.compile()
    for call in (mech.center_of_mass, mech.center_of_mass_jacobian, mech.centroidal_momentum_matrix):
        with pytest.raises(sr.InputError, match="no centre of mass: no body that moves has mass"):
            call([0.0])


def test_index_gives_slices_of_q_and_v() -> None:
    spec = sr.MechanismSpec()
    spec.body("base", joint=sr.Free(), mass=1.0, inertia=(0.1,) * 3)
    spec.body("plate", "base", joint=sr.Fixed(), mass=1.0, inertia=(0.1,) * 3)
    spec.body("hip", "base", joint=sr.Universal("x", "y"), mass=1.0, inertia=(0.1,) * 3)
    mech = spec.compile()
    assert mech.index("base") == (slice(0, 7), slice(0, 6))
    assert mech.index("hip").q == slice(7, 9) and mech.index("hip").v == slice(6, 8)
    assert mech.index("hip.angle2") == (slice(8, 9), slice(7, 8))
    assert mech.index("plate") == (slice(7, 7), slice(6, 6))
    assert [mech.names[mech.index(name).v] for name in mech.names[6:]] == [("hip.angle1",), ("hip.angle2",)]
    with pytest.raises(sr.InputError, match="Free joint, whose position has no coordinates"):
        mech.index(mech.names[0])
    with pytest.raises(sr.UnknownNameError, match=r"index: .*existing names: .*'hip\.angle1'"):
        mech.index("knee")
