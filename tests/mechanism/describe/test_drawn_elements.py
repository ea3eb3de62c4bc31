"""Cylinders as drawn; bushings and planetary sets are tested with their forces and gears."""

from __future__ import annotations

import math
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import InputError


def boom(measures: Mapping[str, Any] = MappingProxyType({}), **given: Any) -> sr.Mechanism:
    """A boom of 2 m, 100 kg, on a pin at the origin, lifted by a cylinder from (0.8, -0.6) to its middle."""
    spec = sr.MechanismSpec(gravity=(0.0, -9.81, 0.0), name="boom")
    spec.point("foot", (0, 0, 0)).point("base", (0.8, -0.6, 0)).point("eye", (1.0, 0, 0)).point(
        "tip", (2.0, 0, 0)
    )
    spec.link("boom", "foot", "tip", mass=100.0)
    spec.joint("pin", "ground", "boom", sr.Revolute("z"), at="foot")
    for name, measure in measures.items():
        spec.measure(name, measure)
    return spec.cylinder(
        "lift", "ground", "base", "boom", "eye", **({"axis": "z", "mass": (1e-3, 1e-3)} | given)
    ).compile()


def test_force_of_a_cylinder_by_its_lever() -> None:
    """Moments about the pin: m g x = F (lever of the line of the cylinder)."""
    mech = boom()
    assert mech.actuators == ("lift",)
    line = np.array([0.2, 0.6])
    lever = line[1] / np.linalg.norm(line)  # of a force at (1, 0)
    torques = mech.inverse_dynamics(mech.neutral(), np.zeros(mech.nv), np.zeros(mech.nv))
    assert torques.u[0] == pytest.approx(100.0 * 9.81 * 1.0 / lever, rel=1e-4)  # 2 g of cylinder neglected


def test_cylinder_in_space_has_no_idle_freedom() -> None:
    mech = boom(axis=None)
    assert mech.mobility(mech.neutral()).dof == 1
    flat, space = (
        m.inverse_dynamics(m.neutral(), np.zeros(m.nv), np.zeros(m.nv)).u[0] for m in (boom(), mech)
    )
    assert flat == pytest.approx(space, rel=1e-6)


def test_stroke_and_length() -> None:
    drawn = math.hypot(0.2, 0.6)
    mech = boom(stroke=(0.5, 0.9), slide={"friction": 5.0, "friction_model": "coulomb"})
    k = mech.names.index("lift")
    assert mech.model.limits[k] == pytest.approx([0.5 - drawn, 0.9 - drawn])
    driven = boom(length=_longer)
    assert driven.mobility(driven.default.q).dof == 0
    run = sr.simulate(driven, (0.0, 1.0))
    assert run.q[-1, k] == pytest.approx(_longer(1.0) - drawn, abs=1e-9)


def _longer(t: float) -> float:
    return math.hypot(0.2, 0.6) + 0.1 * t * t


def test_force_in_a_cylinder_whatever_drives_it() -> None:
    """Held at its drawn length: by force and by length the same, that of its lever."""
    drawn = math.hypot(0.2, 0.6)
    wanted = 100.0 * 9.81 * drawn / 0.6
    pushed, driven = ({"push": sr.ForceIn("lift")} for _ in range(2))
    by_force, by_length = boom(measures=pushed), boom(length=lambda t: drawn, measures=driven)
    assert by_force.measure(by_force.neutral(), u=[wanted])["push"] == pytest.approx(wanted)
    assert by_length.measure(by_length.neutral())["push"] == pytest.approx(wanted, rel=1e-4)
    assert sr.simulate(by_length, (0.0, 0.1))["push"] == pytest.approx(wanted, rel=1e-4)


def test_lengths_that_do_not_fit_the_drawing() -> None:
    with pytest.raises(InputError, match=r"length of cylinder 'lift' must be a function.*got 0\.65"):
        boom(length=0.65)
    with pytest.raises(InputError, match="length of cylinder 'lift' at t = 0"):
        boom(length=lambda t: float("nan"))
    for start in (0.0, 632.4555):
        with pytest.raises(
            InputError, match=rf"drawn 0\.632456 m long, but its length at t = 0 is {start:.6g} m"
        ):
            boom(length=lambda t, start=start: start + 0.1 * t)
    with pytest.warns(
        sr.SarrusWarning, match=r"drawn 0\.632455532 m long, but .* is 0\.64 m: it starts there"
    ):
        mech = boom(length=lambda t: 0.64)
    assert mech.default.q[mech.names.index("lift")] == pytest.approx(0.64 - math.hypot(0.2, 0.6))
    with pytest.raises(InputError, match=r"stroke of cylinder 'lift' must be distances .* -0\.1 to 0\.9"):
        boom(stroke=(-0.1, 0.9))


def test_bad_cylinders() -> None:
    with pytest.raises(InputError, match=r"drawn 0\.632456 m long, outside its stroke 0\.7 to 0\.9 m"):
        boom(stroke=(0.7, 0.9))
    with pytest.raises(InputError, match="mass of cylinder 'lift' must be two numbers"):
        boom(mass=(1.0, 2.0, 3.0))
    with pytest.raises(InputError, match="two eyes coincide"):
        sr.MechanismSpec().cylinder("c", "ground", (0, 0, 0), "ground", (0, 0, 0))
