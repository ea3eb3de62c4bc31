"""What `print(twin)` shows: joints, motors, torques, and how far the tree's motion is from the robot's."""

from __future__ import annotations

from typing import Any

import numpy as np

STATES = 100
POSE, SPEED = 0.2, 0.5  # of states beside the reference [rad, rad/s], lengths divided by L
FAST = 10.0  # accelerations [rad/s^2]


def report(twin: Any) -> str:
    """Several lines."""
    limits = twin.limits(twin.tree.default.q)
    lines = [f"Twin of {twin.mech.name!r}: {twin.tree.nv} coordinates, {len(twin.motor_names)} motors", ""]
    lines += ["joint                 torque at the reference pose [N m, N]"]
    for name, low, high in zip(twin.serial, limits.torque.lower, limits.torque.upper, strict=True):
        lines.append(f"  {name:<20}{low:10.4g} ... {high:.4g}")
    lines += [f"motors: {', '.join(twin.motor_names)}", *errors(twin)]
    return "\n".join([*lines, *(f"left out: {text}" for text in twin.left_out)])


def errors(twin: Any) -> list[str]:
    """Errors of the tree's acceleration at states beside the reference, under torques that accelerate it."""
    rng, tree = np.random.default_rng(0), twin.tree
    unit, q0 = np.asarray(tree.units.unit), tree.default.q
    q = np.array(
        [q0, *(tree.integrate(q0, POSE * unit * rng.uniform(-1, 1, tree.nv)) for _ in range(STATES))]
    )
    v = SPEED * unit * rng.uniform(-1, 1, (len(q), tree.nv))
    v[0] = 0.0
    q, v = (x[twin.status(q) == 0] for x in (q, v))
    a = FAST * unit * rng.uniform(-1, 1, v.shape)
    tau = np.einsum("bij,bj->bi", tree.mass_matrix(q), a) + tree.bias(q, v)
    error = twin.error(q, v, tau)
    found = np.linalg.norm((error.a - error.a_tree) / unit, axis=1) / (FAST * np.sqrt(tree.nv))
    median, largest = np.median(found[1:]), np.max(found[1:], initial=0.0)
    return [
        f"torques that accelerate the tree by up to {FAST:g} rad/s^2 accelerate the closed robot otherwise:",
        f"  off by {found[0]:.2%} at the reference; {median:.2%} (median) and {largest:.2%} (largest) of"
        f" {len(q) - 1} states within {POSE:g} rad and {SPEED:g} rad/s",
        "  twin.correction(q_s, v_s, tau_s) is the torque that makes it exact",
    ]
