"""Equilibria on contacts, and linear models where contacts stick."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import sarrus as sr

from ..mechanism.query.test_contact_slopes import standing_leg
from ..simulation.contacts.machines import G, ball, block


def table(feet: int = 4) -> tuple[sr.Mechanism, Any]:
    """A heavy top on feet with round or square ends, its mass beside the middle."""
    spec = sr.MechanismSpec(name="table")
    spec.body("top", joint=sr.Free(), mass=10.0, com=(0.1, 0.05, 0), inertia=(1.0, 1.0, 1.5))
    spec.surface("floor", "ground", sr.HalfSpace(), friction=0.5)
    for k, (x, y) in enumerate([(0.5, 0.3), (-0.5, 0.3), (-0.5, -0.3), (0.5, -0.3)][:feet]):
        spec.surface(f"foot{k}", "top", sr.Sphere(0.02), at=sr.Pose((x, y, -0.7)))
    spec.contact("foot*", "floor")
    mech = spec.compile()
    q = mech.neutral()
    q[2] = 0.75
    return mech, q


def test_a_table_comes_to_rest_on_four_feet() -> None:
    """Least norm of four pushes with force and moments: p = weight/4 (1 + x x0/0.5^2 + y y0/0.3^2)."""
    mech, q = table()
    rest = sr.equilibrium(mech, q)
    np.testing.assert_allclose(mech.contacts(rest.q).gap, 0.0, atol=1e-12)
    push = np.array([f[2] for f in rest.contact_force]) * -np.sign(rest.contact_force[0, 2])
    weight = 10.0 * G / 4
    wanted = [
        weight * (1 + sx * 0.1 / 0.5 + sy * 0.05 / 0.3) for sx, sy in ((1, 1), (-1, 1), (-1, -1), (1, -1))
    ]
    np.testing.assert_allclose(np.abs(push), wanted, rtol=1e-6)
    assert not rest.contact_unique.any()
    assert rest.residual <= 1e-6


def test_a_block_that_is_held_by_friction_is_in_equilibrium() -> None:
    mech, q = block(0.5, slope=0.3)
    rest = sr.equilibrium(mech, q)
    np.testing.assert_array_equal(rest.q, q)
    assert rest.stable is True
    assert "Contacts that stick hold it" in rest.message
    held = 2 * G * np.array([-np.sin(0.3), 0, np.cos(0.3)])
    np.testing.assert_allclose(rest.contact_force[:4].sum(axis=0), held, atol=1e-12)
    with pytest.raises(sr.InputError, match="no surfaces touch"):
        _ = sr.equilibrium(sr.library.pendulum(), [-1.5]).contact_force


def test_a_leg_on_its_sole_is_that_leg_on_the_ground() -> None:
    """What moves above a foot that stands has the eigenvalues of the same leg fixed to the ground."""
    mech, q = standing_leg()
    rest = sr.equilibrium(mech, q, u=[0.0, 0.0])
    found = sr.linearize(mech, rest.q)
    spec = sr.MechanismSpec(name="fixed leg")
    rod: dict[str, Any] = {"mass": 1.0, "com": (0, 0, 0.2), "inertia": (0.02, 0.02, 0.02)}
    spec.body("leg", joint=sr.Revolute("y"), **rod)
    spec.body("trunk", "leg", joint=sr.Revolute("y"), at=sr.Pose((0, 0, 0.4)), **rod)
    spec.force("spring", sr.JointSpring("leg", stiffness=60.0))
    fixed = sr.linearize(spec.compile(), rest.q[7:])
    np.testing.assert_allclose(
        np.sort_complex(np.linalg.eigvals(found.A)), np.sort_complex(np.linalg.eigvals(fixed.A)), atol=1e-6
    )
    assert found.A.shape == (4, 4)


def test_what_has_no_linear_model_is_named() -> None:
    mech, q = block(0.3)
    with pytest.raises(sr.InputError, match="slides there"):
        sr.linearize(mech, q, [1.0, 0, 0, 0, 0, 0])
    with pytest.raises(sr.InputError, match="an impact has no derivatives"):
        sr.linearize(mech, q, [0, 0, -1.0, 0, 0, 0])
    steep, q = block(np.tan(0.3), slope=0.3)
    with pytest.raises(sr.InputError, match="limit of its friction"):
        sr.linearize(steep, q)
    round_, q = ball(0.0, friction=0.5)
    with pytest.raises(sr.InputError, match="may roll"):
        sr.linearize(round_, q)
    smooth, q = ball(0.0, friction=0.0)
    assert sr.linearize(smooth, q).A.shape == (10, 10)  # a sphere that slides freely on a plane
