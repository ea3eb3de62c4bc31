"""Arguments of public calls: plain arrays, which the kernel takes as they are, and everything else.

The oracle of unusual arguments is the same call with plain ones, state by state.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import sarrus as sr
from sarrus.errors import SarrusError

Call = Callable[..., object]


def mechanism() -> sr.Mechanism:
    """A free body that carries a hinge: quaternion, lengths and angles."""
    spec = sr.MechanismSpec(name="pair")
    spec.body("base", joint=sr.Free(), mass=2.0, inertia=(0.1, 0.2, 0.3))
    spec.body(
        "arm", parent="base", joint=sr.Revolute("y"), at=sr.Pose((0.1, 0.0, 0.2)), mass=1.0, com=(0, 0, 1)
    )
    return spec.compile()


MECH = mechanism()
RNG = np.random.default_rng(3)
CALLS: dict[str, Call] = {
    "integrate": lambda q, v, a: MECH.integrate(q, v),
    "difference": lambda q, v, a: MECH.difference(q, MECH.integrate(q, v)),
    "mass_matrix": lambda q, v, a: MECH.mass_matrix(q),
    "rnea": lambda q, v, a: MECH.rnea(q, v, a),
    "bias": lambda q, v, a: MECH.bias(q, v),
    "jacobian": lambda q, v, a: MECH.jacobian(q, "arm", (0.1, 0.2, 0.3), "local"),
    "velocity": lambda q, v, a: MECH.velocity(q, v, "arm", [0.1, 0.2, 0.3], "world"),
    "body_acceleration": lambda q, v, a: MECH.body_acceleration(q, v, a, "arm", (0.1, 0.2, 0.3), "local"),
    "acceleration": lambda q, v, a: MECH.acceleration(q, v, a),
    "kinetic": lambda q, v, a: MECH.energy(q, v).kinetic,
    "lam": lambda q, v, a: MECH.forward_dynamics(q, v, a).constraint_force,
    "h": lambda q, v, a: MECH.terms(q, v).h,
    "project": lambda q, v, a: MECH.project(q, v).v,
}


def states(*batch: int) -> tuple[np.ndarray, ...]:
    q = RNG.normal(size=(*batch, MECH.nq))
    q[..., 3:7] /= np.linalg.norm(q[..., 3:7], axis=-1, keepdims=True)
    return q, RNG.normal(size=(*batch, MECH.nv)), RNG.normal(size=(*batch, MECH.nv))


@pytest.mark.parametrize("name", CALLS)
def test_unusual_arrays_mean_the_same(name: str) -> None:
    call, plain = CALLS[name], states()
    expected = np.asarray(call(*plain))
    spaced = [np.repeat(x, 2)[::2] for x in plain]
    turned = [x[None].astype(">f8")[0] for x in plain]
    for given in ([x.tolist() for x in plain], spaced, turned, [x[None] for x in plain]):
        np.testing.assert_allclose(
            np.asarray(call(*given)).reshape(expected.shape), expected, rtol=1e-13, atol=1e-13
        )


@pytest.mark.parametrize("name", CALLS)
def test_batch_axes_broadcast(name: str) -> None:
    call = CALLS[name]
    (q, _, _), (_, v, _), (_, _, a) = states(3, 1), states(2), states()
    found = np.asarray(call(q, v, a))
    for i, j in np.ndindex(3, 2):
        one = found[i, j] if found.shape[:2] == (3, 2) else found[i, 0]  # of calls that take q only
        np.testing.assert_allclose(one, call(q[i, 0], v[j], a), rtol=1e-13, atol=1e-13)


def test_one_batch_axis_and_an_empty_one() -> None:
    q, v, a = states(4)
    assert MECH.rnea(q, v, a).shape == (4, MECH.nv)
    assert MECH.rnea(q[:0], v[:0], a[:0]).shape == (0, MECH.nv)
    np.testing.assert_array_equal(MECH.rnea(q, v, a)[2], MECH.rnea(q[2], v[2], a[2]))


def test_quaternions_are_normalized() -> None:
    q, v, a = states()
    longer = q.copy()
    longer[3:7] *= 1.5
    for given in (longer, longer.tolist(), longer[None]):
        np.testing.assert_allclose(np.ravel(MECH.rnea(given, v, a)), MECH.rnea(q, v, a), rtol=1e-13)
    assert longer[3] == 1.5 * q[3], "arguments are not changed"
    with pytest.raises(SarrusError, match=r"quaternion .* must not have zero norm"):
        MECH.rnea(np.zeros(MECH.nq), v, a)


def test_a_motion_keeps_its_own_state() -> None:
    q, v, a = states()
    motion = MECH.forward_dynamics(q, v, a)
    before = motion.reaction("arm")
    again = MECH.forward_dynamics(q.copy(), v.copy(), a)
    q[:] = v[:] = 7.0
    np.testing.assert_array_equal(again.reaction("arm"), before)
    np.testing.assert_array_equal(motion.reaction("arm"), before)


def test_poses_are_read_only() -> None:
    q, *_ = states()
    pose = MECH.pose(q, "arm")
    assert not pose.xyz.flags.writeable and not pose.rotation.flags.writeable
    assert sr.Pose(pose.xyz, matrix=pose.rotation) == pose or np.allclose(
        pose.rotation @ pose.rotation.T, np.eye(3)
    )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q, v, a: MECH.rnea(q[:-1], v, a), r"q must have shape \(8,\) or \(..., 8\) for "),
        (lambda q, v, a: MECH.rnea(q, np.r_[v[1:], np.nan], a), r"v must be finite .* at index \(6,\)"),
        (lambda q, v, a: MECH.rnea(q, v, "fast"), "a must be an array of finite numbers"),
        (lambda q, v, a: MECH.rnea(None, v, a), "q must be an array of finite numbers"),
        (lambda q, v, a: MECH.rnea(np.tile(q, (2, 1)), np.tile(v, (3, 1)), a), "batch axes must broadcast"),
        (lambda q, v, a: MECH.jacobian(q, "leg"), "unknown body 'leg'; existing names: "),
        (lambda q, v, a: MECH.jacobian(q, ["arm"]), "unknown body"),
        (lambda q, v, a: MECH.jacobian(q, "arm", frame="body"), "`frame` must be one of 'local', 'world', "),
        (lambda q, v, a: MECH.jacobian(q, "arm", frame=3), "`frame` must be one of"),
        (lambda q, v, a: MECH.body_acceleration(q, v, a, "arm", frame="world"), "`frame` must be one of"),
        (lambda q, v, a: MECH.velocity(q, v, "arm", (1.0, 2.0)), r"point must have shape \(3,\)"),
        (lambda q, v, a: MECH.velocity(q, v, "arm", np.zeros((2, 3))), r"shape \(3,\), got \(2, 3\)"),
        (lambda q, v, a: MECH.terms(q, v, "now"), "`t` must be a time in seconds, got 'now'"),
        (lambda q, v, a: MECH.terms(q, v, np.inf), "`t` must be a finite time"),
        (lambda q, v, a: MECH.project(q, v, np.nan), "`t` must be a finite time"),
    ],
)  # fmt: skip
def test_wrong_arguments_are_refused(call: Call, message: str) -> None:
    with pytest.raises(SarrusError, match=message):
        call(*states())
