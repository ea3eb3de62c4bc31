"""What tests of bridges to automatic differentiation share: states, and laws that hold for all of them."""

from __future__ import annotations

import numpy as np

import sarrus as sr

MACHINES = ["four_bar", "dual_arm_box", "bricard"]


def moving(name: str) -> tuple[sr.Mechanism, np.ndarray, np.ndarray, np.ndarray]:
    """A library mechanism 0.05 s after its default state, with inputs."""
    mech = getattr(sr.library, name)()
    run = sr.simulate(mech, (0.0, 0.05), dt=1e-3, method="rk4")
    return mech, run.q[-1], run.v[-1], np.linspace(-1.0, 1.0, mech.nu)


def with_python_function() -> sr.Mechanism:
    """A mechanism with a constraint in Python."""
    spec = sr.MechanismSpec()
    for name in ("a", "b"):
        spec.body(name, joint=sr.Revolute("z"), mass=1.0, inertia=(0.1,) * 3)
    spec.constrain("equal", sr.CustomConstraint(lambda q, t: [q[0] - q[1]], 1))
    return spec.compile()


def with_a_parameter() -> sr.Mechanism:
    """A pendulum whose length is a parameter."""
    spec = sr.MechanismSpec()
    length = spec.parameter("length", 0.7)
    spec.body("arm", joint=sr.Revolute("y"), mass=1.0, com=(0, 0, -length), inertia=(0.01,) * 3)
    return spec.compile()
