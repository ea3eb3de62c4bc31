"""Static poses, and what is said about them."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr

from .mechanisms import bar


def test_near_the_guess_or_downhill() -> None:
    mech = sr.library.pendulum()
    hanging = sr.equilibrium(mech)
    assert hanging.stable and hanging.residual < 1e-12
    up = sr.equilibrium(mech, hanging.q + np.pi - 0.3)
    assert up.stable is False and abs(abs(up.q[0] - hanging.q[0]) - np.pi) < 1e-9
    down = sr.equilibrium(mech, hanging.q + 2.0)
    assert down.stable and abs(np.sin(down.q[0] - hanging.q[0])) < 1e-9


def test_spring_and_inputs() -> None:
    """k (theta - rest) + m g l / 2 cos(theta) = u."""
    spec = sr.MechanismSpec(gravity=(0, -9.81, 0))
    spec.body("arm", joint=sr.Revolute("z"), damping=0.1, **bar(2.0, 1.0))
    spec.force("spring", sr.JointSpring("arm", 30.0, 0.2))
    mech = spec.compile()
    for u in (0.0, 5.0):
        found = sr.equilibrium(mech, [0.0], [u])
        theta = found.q[0]
        assert 30.0 * (theta - 0.2) + 9.81 * np.cos(theta) == pytest.approx(u, abs=1e-11)
        assert found.stable and found.message.startswith("Asymptotically stable")
        assert found.u == pytest.approx([u]) and len(found.eigenvalues) == 2


def test_holding_torque_of_the_parallelogram() -> None:
    mech = sr.library.parallelogram()
    held = sr.equilibrium(mech, fixed={"left": 0.7})
    assert held.u == pytest.approx([67.53], abs=5e-3)
    assert held.q == pytest.approx([0.7, -0.7, 0.7]) and "Held by u" in held.message


@pytest.mark.parametrize(
    "name", ["bricard", "delta", "loader", "dual_planar_arms", "quadruped", "pantograph_leg"]
)
def test_library_comes_to_rest(name: str) -> None:
    mech = sr.library.MECHANISMS[name]()
    found = sr.equilibrium(mech)
    assert found.stable
    motion = mech.forward_dynamics(found.q, np.zeros(mech.nv), u=found.u)
    assert np.max(np.abs(motion.a)) < 1e-9
    assert np.max(np.abs(mech.terms(found.q, np.zeros(mech.nv)).phi)) < 1e-12


def test_neutral_and_rigid() -> None:
    found = sr.equilibrium(sr.library.flyball_governor())
    assert found.stable is None and "Neutral" in found.message and "shaft" in found.message
    rigid = sr.library.parallelogram(closure="weld")
    locked = sr.equilibrium(rigid)
    assert locked.stable and locked.message.startswith("Rigid")


def test_none_exists() -> None:
    spec = sr.MechanismSpec(gravity=(0, 0, -9.81))
    spec.body("box", joint=sr.Free(), mass=1.0, inertia=(0.1, 0.1, 0.1))
    with pytest.raises(sr.EquilibriumError, match=r"no equilibrium of .* 9.81 .* unbalanced along box.vz"):
        sr.equilibrium(spec.compile())


def test_singular_pose_on_the_way() -> None:
    with pytest.raises(sr.EquilibriumError, match=r"singular pose \(rank 1\).*q_guess"):
        sr.equilibrium(sr.library.five_bar())


def test_guess_that_does_not_close() -> None:
    mech = sr.library.four_bar()
    with pytest.raises(sr.AssemblyError, match="cannot be assembled"):
        sr.equilibrium(mech, fixed={"crank": 0.0, "rocker": 3.0})
    with pytest.raises(sr.InputError, match="q_guess"):
        sr.equilibrium(mech, [np.nan, 0.0, 0.0])
    with pytest.raises(sr.InputError, match="takes a Mechanism"):
        sr.equilibrium(sr.MechanismSpec())


def geared(constraint: object, gravity: tuple[float, float, float] = (0, -9.81, 0)) -> sr.Mechanism:
    """Two pendulums whose angles are coupled, a spring on one of them."""
    spec = sr.MechanismSpec(gravity=gravity)
    for name, mass, x in (("a", 1.0, 0.0), ("b", 2.0, 1.0)):
        spec.body(name, joint=sr.Revolute("z"), at=sr.Pose((x, 0, 0)), mass=mass, com=(0.5, 0, 0))
    spec.force("spring", sr.JointSpring("a", stiffness=3.0, rest=0.4))
    spec.constrain("gear", constraint)
    return spec.compile()


@pytest.mark.parametrize("guess", [-1.2, 0.3, 2.0])
def test_rows_of_the_user_have_the_equilibria_of_compiled_ones(guess: float) -> None:
    """Differences of accelerations in the search, against their derivatives."""
    compiled = geared(sr.Coupling({"a": 1.0, "b": -2.0}, offset=0.3))
    mine = geared(sr.CustomConstraint(lambda q, t: np.array([q[0] - 2.0 * q[1] - 0.3]), 1))
    start = [guess, (guess - 0.3) / 2.0]
    np.testing.assert_allclose(compiled.terms(start, [0, 0]).phi, mine.terms(start, [0, 0]).phi, atol=1e-12)
    first, second = sr.equilibrium(compiled, start), sr.equilibrium(mine, start)
    np.testing.assert_allclose(second.q, first.q, atol=1e-8)  # differences of order 4 with steps of 1e-3
    assert second.stable is first.stable
    assert second.message.endswith("because of CustomConstraint rows.")


def test_moving_drives_have_no_equilibrium() -> None:
    spec = sr.MechanismSpec()
    spec.body("a", joint=sr.Revolute("z"), mass=1.0, com=(0.5, 0, 0))
    spec.constrain("motor", sr.Drive("a", lambda t: 0.2 * t, lambda t: 0.2, lambda t: 0.0))
    with pytest.raises(sr.InputError, match="breaks the constraints"):
        sr.equilibrium(spec.compile())


def test_a_static_pose_balances_potential_energy() -> None:
    """The tangent part of the gradient of the potential, by differences over closed poses, vanishes."""
    mech = sr.library.loader()
    rest = sr.equilibrium(mech)
    for name in rest.model.independent:
        k = mech.names.index(name)
        step = 1e-4 * mech.units.unit[k]
        ends = mech.sweep(name, rest.q[k] + step * np.array([0.0, 1.0]), rest.q, fixed=_others(mech, rest, k))
        starts = mech.sweep(
            name, rest.q[k] - step * np.array([0.0, 1.0]), rest.q, fixed=_others(mech, rest, k)
        )
        energy = [mech.energy(p.q[-1], np.zeros(mech.nv)).potential for p in (ends, starts)]
        scale = abs(mech.energy(rest.q, np.zeros(mech.nv)).potential)
        assert abs(energy[0] - energy[1]) < 1e-9 * scale  # rounding of potentials


def _others(mech: sr.Mechanism, rest: sr.results.Equilibrium, k: int) -> dict[str, float]:
    """The other independent coordinates, held."""
    return {n: float(rest.q[mech.names.index(n)]) for n in rest.model.independent if n != mech.names[k]}
