"""sweep and assemble say which freedoms nothing determines, and hold them with fixed=."""

from __future__ import annotations

import numpy as np
import pytest

import sarrus as sr


def steered() -> sr.Mechanism:
    """A parallelogram whose base slides: two freedoms, the crank and the rack."""
    spec = sr.MechanismSpec()
    R = sr.Revolute("z")
    spec.body("rack", joint=sr.Prismatic("x"), mass=1.0)
    spec.body("crank", joint=R, mass=1.0, com=(0.5, 0, 0), inertia=(1, 1, 1))
    spec.body("rod", "crank", joint=R, at=sr.Pose((1, 0, 0)), mass=1.0, com=(1, 0, 0), inertia=(1, 1, 1))
    spec.body(
        "rocker", "rack", joint=R, at=sr.Pose((2.0, 0, 0)), mass=1.0, com=(0.6, 0, 0), inertia=(1, 1, 1)
    )
    spec.close("pin", "rod", "rocker", joint=R, at_a=sr.Pose((2, 0, 0)), at_b=sr.Pose((1.2, 0, 0)))
    return spec.compile()


START = [0.0, 1.0, -0.6, 1.2]


def test_sweep_names_and_holds_the_second_freedom() -> None:
    """0.1.0 drifted along the free rack, with success and without a word."""
    mech = steered()
    values = np.linspace(1.0, 1.5, 6)
    loose = mech.sweep("crank", values, START)
    assert loose.success and len(loose.undetermined) == 1
    assert "Nothing determines" in loose.message and "hold them with fixed=" in loose.message
    held = mech.sweep("crank", values, START, fixed={"rack": 0.1})
    assert held.success and held.undetermined == () and "Nothing determines" not in held.message
    assert np.array_equal(held.q[:, 0], np.full(6, 0.1))
    assert np.max(np.abs(mech.terms(held.q, np.zeros((6, 4))).phi)) < 1e-12
    alone = mech.with_constraints().sweep("crank", values[::-1], held.q[-1], fixed={"rack": 0.1})
    np.testing.assert_allclose(alone.q[::-1], held.q, atol=1e-9)  # no path dependence is left
    with pytest.raises(sr.InputError, match="'crank' is swept and cannot be held"):
        mech.sweep("crank", values, START, fixed={"crank": 1.0})


def test_assemble_names_what_it_left_near_the_guess() -> None:
    mech = steered()
    free = mech.assemble(START)
    assert free.success and len(free.undetermined) == 2 and "Not determined" in free.message
    assert len(mech.assemble(START, fixed={"crank": 1.0}).undetermined) == 1
    assert mech.assemble(START, fixed={"crank": 1.0, "rack": 0.0}).undetermined == ()


@pytest.mark.parametrize(
    ("name", "count"), [("stewart", 6), ("delta", 3), ("dual_planar_arms", 3), ("bricard", 1)]
)
def test_as_many_as_the_mobility_says(name: str, count: int) -> None:
    mech = getattr(sr.library, name)()
    found = mech.assemble(mech.default.q)
    assert len(set(found.undetermined)) == len(found.undetermined) == count == mech.mobility().dof
